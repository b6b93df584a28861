// libav: movies as cameras, and recordings. Declarations that differ between versions have one name
// here, from FFmpeg 5.1 (Debian 12) to 9 (forky).
#include <libavformat/avformat.h>
#include <libavcodec/avcodec.h>
#include <libavutil/display.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/spherical.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

/// Loads the libraries, once, and returns `true` if all are there. Call it before any of their
/// functions. They load a hundred others, which would take most of the memory of an idle daemon,
/// and few cameras are files.
_Bool cav_load(void);

/// The end of a movie. In libav it is a macro of casts, which Swift does not import.
static const int cav_end_of_file = AVERROR_EOF;
static const int cav_invalid = AVERROR_INVALIDDATA;
static const int cav_unknown = AVERROR_UNKNOWN;

/// The refusals of a server, and what is none of its answers. Macros of casts, too.
static const int cav_unauthorized = AVERROR_HTTP_UNAUTHORIZED;
static const int cav_forbidden = AVERROR_HTTP_FORBIDDEN;
static const int cav_bad_request = AVERROR_HTTP_BAD_REQUEST;
static const int cav_not_found = AVERROR_HTTP_NOT_FOUND;
static const int cav_refused = AVERROR_HTTP_OTHER_4XX;
static const int cav_server_error = AVERROR_HTTP_SERVER_ERROR;

/// AV_NOPTS_VALUE, an unknown time; a macro of casts, too.
static const int64_t cav_no_time = AV_NOPTS_VALUE;

/// avio_alloc_context, for writing only. From libavformat 61 on (FFmpeg 7) the bytes to write are
/// const; the shim can go when that is the oldest version.
AVIOContext *cav_alloc_output(unsigned char *buffer, int size, void *context,
                              int (*write)(void *, const uint8_t *, int),
                              int64_t (*seek)(void *, int64_t, int));

/// avio_alloc_context, for reading only; for the same reason.
AVIOContext *cav_alloc_input(unsigned char *buffer, int size, void *context,
                             int (*read)(void *, uint8_t *, int), int64_t (*seek)(void *, int64_t, int));

/// Returns the display matrix of a stream, 9 numbers, or NULL if it has none. From libavcodec 60.31
/// on (FFmpeg 6.1) a stream's side data belongs to its codec parameters; the shim can go when that
/// is the oldest version.
const int32_t *cav_display_matrix(const AVStream *stream);

/// Returns `size` bytes for side data of a stream, or NULL without memory. See
/// `cav_display_matrix`.
uint8_t *cav_add_side_data(AVStream *stream, enum AVPacketSideDataType type, size_t size);

/// Adds a chapter to a file to be written, and returns `true` unless there is no memory. Its title
/// is its number. libavformat has the function for itself alone.
_Bool cav_add_chapter(AVFormatContext *file, AVRational unit, int64_t start, int64_t end);

/// A struct SwsContext under a name of its own. libswscale 9 (FFmpeg 8) shows its fields, so that
/// Swift would import another type; its flags become an enum there, too. The type and its functions
/// can go when that is the oldest version.
struct cav_scaler;

/// sws_getCachedContext, between pictures of one size.
struct cav_scaler *cav_scaler_get(struct cav_scaler *scaler, int width, int height, enum AVPixelFormat from,
                                  enum AVPixelFormat to, _Bool is_exact);
/// sws_setColorspaceDetails.
void cav_scaler_set_colors(struct cav_scaler *scaler, const int *from, _Bool from_is_full, const int *to,
                           _Bool to_is_full);
/// sws_scale, for a whole picture.
int cav_scaler_convert(struct cav_scaler *scaler, const uint8_t *const *from, const int *from_strides, int rows,
                       uint8_t *const *to, const int *to_strides);
/// sws_freeContext.
void cav_scaler_free(struct cav_scaler *scaler);

/// swr_alloc_set_opts2, at one rate. From libswresample 5 on (FFmpeg 7) layouts and pointers are
/// const; the shim can go when that is the oldest version.
int cav_resampler_make(struct SwrContext **resampler, const AVChannelLayout *to, enum AVSampleFormat to_format,
                       const AVChannelLayout *from, enum AVSampleFormat from_format, int rate);
/// swr_convert, for the same reason.
int cav_resampler_convert(struct SwrContext *resampler, uint8_t **to, int room, const uint8_t **from, int count);
