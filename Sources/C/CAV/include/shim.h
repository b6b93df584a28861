// libav: movies as cameras, and recordings. What its versions declare differently has one name here:
// FFmpeg 5.1 (Debian 12) to 9 (forky).
#include <libavformat/avformat.h>
#include <libavcodec/avcodec.h>
#include <libavutil/display.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/spherical.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

/// Loads the libraries, once, and tells whether they are all there. Nothing of them may be called
/// before. They bring a hundred others, which make up most of the memory of a daemon at rest, and few
/// cameras are files.
_Bool cav_load(void);

/// The end of a movie. A macro of casts, which Swift does not import.
static const int cav_end_of_file = AVERROR_EOF;

/// Follows avio_alloc_context, for writing alone. From libavformat 61 on (FFmpeg 7) the bytes to write are const.
AVIOContext *cav_alloc_output(unsigned char *buffer, int size, void *context,
                              int (*write)(void *, const uint8_t *, int),
                              int64_t (*seek)(void *, int64_t, int));

/// How a stream's pictures lie: 9 numbers, or NULL where it does not say. From libavcodec 60.31 on (FFmpeg 6.1) a
/// stream's side data belongs to its codec parameters.
const int32_t *cav_display_matrix(const AVStream *stream);

/// Room for `size` bytes of side data of a stream; NULL without memory. See `cav_display_matrix`.
uint8_t *cav_add_side_data(AVStream *stream, enum AVPacketSideDataType type, size_t size);

/// A struct SwsContext, whose fields libswscale 9 (FFmpeg 8) shows: Swift would import another type. There its flags
/// are an enum, too.
struct cav_scaler;

/// Follows sws_getCachedContext, between pictures of one size.
struct cav_scaler *cav_scaler_get(struct cav_scaler *scaler, int width, int height, enum AVPixelFormat from,
                                  enum AVPixelFormat to, _Bool is_exact);
/// Follows sws_setColorspaceDetails.
void cav_scaler_set_colors(struct cav_scaler *scaler, const int *from, _Bool from_is_full, const int *to,
                           _Bool to_is_full);
/// Follows sws_scale, for a whole picture.
int cav_scaler_convert(struct cav_scaler *scaler, const uint8_t *const *from, const int *from_strides, int rows,
                       uint8_t *const *to, const int *to_strides);
/// Follows sws_freeContext.
void cav_scaler_free(struct cav_scaler *scaler);

/// Follows swr_alloc_set_opts2, at one rate. From libswresample 5 on (FFmpeg 7) layouts and pointers are const.
int cav_resampler_make(struct SwrContext **resampler, const AVChannelLayout *to, enum AVSampleFormat to_format,
                       const AVChannelLayout *from, enum AVSampleFormat from_format, int rate);
/// Follows swr_convert; see above.
int cav_resampler_convert(struct SwrContext *resampler, uint8_t **to, int room, const uint8_t **from, int count);
