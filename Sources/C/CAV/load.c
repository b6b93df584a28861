// Functions of libav that are looked up at run time, under the names and types of its headers. A
// function that is used without a line here does not link.

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// Hidden, so that the libraries do not use these in place of their own.
#pragma GCC visibility push(hidden)
#include "shim.h"

static void *util, *codec, *format, *scale, *resample;

static void load(void) {
    int flags = RTLD_NOW | RTLD_LOCAL;
    util = dlopen("libavutil.so." AV_STRINGIFY(LIBAVUTIL_VERSION_MAJOR), flags);
    codec = dlopen("libavcodec.so." AV_STRINGIFY(LIBAVCODEC_VERSION_MAJOR), flags);
    format = dlopen("libavformat.so." AV_STRINGIFY(LIBAVFORMAT_VERSION_MAJOR), flags);
    scale = dlopen("libswscale.so." AV_STRINGIFY(LIBSWSCALE_VERSION_MAJOR), flags);
    resample = dlopen("libswresample.so." AV_STRINGIFY(LIBSWRESAMPLE_VERSION_MAJOR), flags);
}

_Bool cav_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return util && codec && format && scale && resample;
}

#define CALL(library, name, ...) ((__typeof__(&name))dlsym(library, #name))(__VA_ARGS__)

// libavutil
void av_dict_free(AVDictionary **a) { CALL(util, av_dict_free, a); }
int av_dict_set(AVDictionary **a, const char *b, const char *c, int d) { return CALL(util, av_dict_set, a, b, c, d); }
AVFrame *av_frame_alloc(void) { return CALL(util, av_frame_alloc); }
void av_frame_free(AVFrame **a) { CALL(util, av_frame_free, a); }
void av_log_set_level(int a) { CALL(util, av_log_set_level, a); }
const AVPixFmtDescriptor *av_pix_fmt_desc_get(enum AVPixelFormat a) { return CALL(util, av_pix_fmt_desc_get, a); }
int av_strerror(int a, char *b, size_t c) { return CALL(util, av_strerror, a, b, c); }
AVBufferRef *av_buffer_ref(const AVBufferRef *a) { return CALL(util, av_buffer_ref, a); }
void av_buffer_unref(AVBufferRef **a) { CALL(util, av_buffer_unref, a); }
void av_channel_layout_default(AVChannelLayout *a, int b) { CALL(util, av_channel_layout_default, a, b); }
AVDictionaryEntry *av_dict_get(const AVDictionary *a, const char *b, const AVDictionaryEntry *c, int d) {
    return CALL(util, av_dict_get, a, b, c, d);
}
int av_dict_copy(AVDictionary **a, const AVDictionary *b, int c) { return CALL(util, av_dict_copy, a, b, c); }
void av_display_rotation_set(int32_t a[9], double b) { CALL(util, av_display_rotation_set, a, b); }
int av_frame_get_buffer(AVFrame *a, int b) { return CALL(util, av_frame_get_buffer, a, b); }
int av_frame_make_writable(AVFrame *a) { return CALL(util, av_frame_make_writable, a); }
void av_frame_unref(AVFrame *a) { CALL(util, av_frame_unref, a); }
void av_freep(void *a) { CALL(util, av_freep, a); }
int av_hwdevice_ctx_create(AVBufferRef **a, enum AVHWDeviceType b, const char *c, AVDictionary *d, int e) {
    return CALL(util, av_hwdevice_ctx_create, a, b, c, d, e);
}
AVBufferRef *av_hwframe_ctx_alloc(AVBufferRef *a) { return CALL(util, av_hwframe_ctx_alloc, a); }
int av_hwframe_ctx_init(AVBufferRef *a) { return CALL(util, av_hwframe_ctx_init, a); }
int av_hwframe_get_buffer(AVBufferRef *a, AVFrame *b, int c) { return CALL(util, av_hwframe_get_buffer, a, b, c); }
int av_hwframe_transfer_data(AVFrame *a, const AVFrame *b, int c) {
    return CALL(util, av_hwframe_transfer_data, a, b, c);
}
void *av_malloc(size_t a) { return CALL(util, av_malloc, a); }
void *av_mallocz(size_t a) { return CALL(util, av_mallocz, a); }
void *av_realloc_array(void *a, size_t b, size_t c) { return CALL(util, av_realloc_array, a, b, c); }
int av_opt_set(void *a, const char *b, const char *c, int d) { return CALL(util, av_opt_set, a, b, c, d); }
int64_t av_rescale_q(int64_t a, AVRational b, AVRational c) { return CALL(util, av_rescale_q, a, b, c); }

// libavcodec
AVPacket *av_packet_alloc(void) { return CALL(codec, av_packet_alloc); }
void av_packet_free(AVPacket **a) { CALL(codec, av_packet_free, a); }
void av_packet_unref(AVPacket *a) { CALL(codec, av_packet_unref, a); }
AVCodecContext *avcodec_alloc_context3(const AVCodec *a) { return CALL(codec, avcodec_alloc_context3, a); }
const char *avcodec_get_name(enum AVCodecID a) { return CALL(codec, avcodec_get_name, a); }
void avcodec_flush_buffers(AVCodecContext *a) { CALL(codec, avcodec_flush_buffers, a); }
void avcodec_free_context(AVCodecContext **a) { CALL(codec, avcodec_free_context, a); }
int avcodec_open2(AVCodecContext *a, const AVCodec *b, AVDictionary **c) { return CALL(codec, avcodec_open2, a, b, c); }
int avcodec_parameters_to_context(AVCodecContext *a, const AVCodecParameters *b) {
    return CALL(codec, avcodec_parameters_to_context, a, b);
}
int avcodec_receive_frame(AVCodecContext *a, AVFrame *b) { return CALL(codec, avcodec_receive_frame, a, b); }
int avcodec_send_packet(AVCodecContext *a, const AVPacket *b) { return CALL(codec, avcodec_send_packet, a, b); }
const AVCodec *avcodec_find_decoder(enum AVCodecID a) { return CALL(codec, avcodec_find_decoder, a); }
const AVCodec *avcodec_find_encoder_by_name(const char *a) { return CALL(codec, avcodec_find_encoder_by_name, a); }
int avcodec_parameters_copy(AVCodecParameters *a, const AVCodecParameters *b) {
    return CALL(codec, avcodec_parameters_copy, a, b);
}
int avcodec_receive_packet(AVCodecContext *a, AVPacket *b) { return CALL(codec, avcodec_receive_packet, a, b); }
int avcodec_send_frame(AVCodecContext *a, const AVFrame *b) { return CALL(codec, avcodec_send_frame, a, b); }
void av_packet_rescale_ts(AVPacket *a, AVRational b, AVRational c) { CALL(codec, av_packet_rescale_ts, a, b, c); }

// libavformat
int av_find_best_stream(AVFormatContext *a, enum AVMediaType b, int c, int d, const AVCodec **e, int f) {
    return CALL(format, av_find_best_stream, a, b, c, d, e, f);
}
const AVInputFormat *av_find_input_format(const char *a) { return CALL(format, av_find_input_format, a); }
AVRational av_guess_frame_rate(AVFormatContext *a, AVStream *b, AVFrame *c) {
    return CALL(format, av_guess_frame_rate, a, b, c);
}
int av_read_play(AVFormatContext *a) { return CALL(format, av_read_play, a); }
int av_read_frame(AVFormatContext *a, AVPacket *b) { return CALL(format, av_read_frame, a, b); }
void avformat_close_input(AVFormatContext **a) { CALL(format, avformat_close_input, a); }
int avformat_find_stream_info(AVFormatContext *a, AVDictionary **b) {
    return CALL(format, avformat_find_stream_info, a, b);
}
AVFormatContext *avformat_alloc_context(void) { return CALL(format, avformat_alloc_context); }
int avformat_open_input(AVFormatContext **a, const char *b, const AVInputFormat *c, AVDictionary **d) {
    return CALL(format, avformat_open_input, a, b, c, d);
}
int avformat_seek_file(AVFormatContext *a, int b, int64_t c, int64_t d, int64_t e, int f) {
    return CALL(format, avformat_seek_file, a, b, c, d, e, f);
}
int av_interleaved_write_frame(AVFormatContext *a, AVPacket *b) { return CALL(format, av_interleaved_write_frame, a, b); }
int av_write_frame(AVFormatContext *a, AVPacket *b) { return CALL(format, av_write_frame, a, b); }
int av_write_trailer(AVFormatContext *a) { return CALL(format, av_write_trailer, a); }
int avformat_alloc_output_context2(AVFormatContext **a, const AVOutputFormat *b, const char *c, const char *d) {
    return CALL(format, avformat_alloc_output_context2, a, b, c, d);
}
void avformat_free_context(AVFormatContext *a) { CALL(format, avformat_free_context, a); }
AVStream *avformat_new_stream(AVFormatContext *a, const AVCodec *b) { return CALL(format, avformat_new_stream, a, b); }
int avformat_write_header(AVFormatContext *a, AVDictionary **b) { return CALL(format, avformat_write_header, a, b); }
void avio_context_free(AVIOContext **a) { CALL(format, avio_context_free, a); }
void avio_flush(AVIOContext *a) { CALL(format, avio_flush, a); }

// libswscale
const int *sws_getCoefficients(int a) { return CALL(scale, sws_getCoefficients, a); }

// libswresample
void swr_free(struct SwrContext **a) { CALL(resample, swr_free, a); }
int swr_init(struct SwrContext *a) { return CALL(resample, swr_init, a); }
int64_t swr_next_pts(struct SwrContext *a, int64_t b) { return CALL(resample, swr_next_pts, a, b); }

// Functions that the versions declare differently: see shim.h.

AVIOContext *cav_alloc_output(unsigned char *buffer, int size, void *context,
                              int (*write)(void *, const uint8_t *, int),
                              int64_t (*seek)(void *, int64_t, int)) {
#if LIBAVFORMAT_VERSION_MAJOR < 61
    int (*output)(void *, uint8_t *, int) = (int (*)(void *, uint8_t *, int))write;
#else
    int (*output)(void *, const uint8_t *, int) = write;
#endif
    return CALL(format, avio_alloc_context, buffer, size, 1, context, NULL, output, seek);
}

AVIOContext *cav_alloc_input(unsigned char *buffer, int size, void *context,
                             int (*read)(void *, uint8_t *, int), int64_t (*seek)(void *, int64_t, int)) {
    return CALL(format, avio_alloc_context, buffer, size, 0, context, read, NULL, seek);
}

const int32_t *cav_display_matrix(const AVStream *stream) {
    const size_t least = 9 * sizeof(int32_t);
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(60, 31, 0)
    size_t size = 0;
    const uint8_t *data = CALL(format, av_stream_get_side_data, stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return data && size >= least ? (const int32_t *)data : NULL;
#else
    const AVPacketSideData *data =
        CALL(codec, av_packet_side_data_get, stream->codecpar->coded_side_data,
             stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    return data && data->size >= least ? (const int32_t *)data->data : NULL;
#endif
}

uint8_t *cav_add_side_data(AVStream *stream, enum AVPacketSideDataType type, size_t size) {
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(60, 31, 0)
    return CALL(format, av_stream_new_side_data, stream, type, size);
#else
    AVPacketSideData *data =
        CALL(codec, av_packet_side_data_new, &stream->codecpar->coded_side_data,
             &stream->codecpar->nb_coded_side_data, type, size, 0);
    return data ? data->data : NULL;
#endif
}

_Bool cav_add_chapter(AVFormatContext *file, AVRational unit, int64_t start, int64_t end) {
    AVChapter **all = av_realloc_array(file->chapters, file->nb_chapters + 1, sizeof(*all));
    if (!all) return 0;
    file->chapters = all;
    AVChapter *chapter = av_mallocz(sizeof(*chapter));
    if (!chapter) return 0;
    all[file->nb_chapters++] = chapter;
    chapter->id = file->nb_chapters;
    chapter->time_base = unit;
    chapter->start = start;
    chapter->end = end;
    char title[16];
    snprintf(title, sizeof(title), "%u", file->nb_chapters);
    return av_dict_set(&chapter->metadata, "title", title, 0) >= 0;
}

struct cav_scaler *cav_scaler_get(struct cav_scaler *scaler, int width, int height, enum AVPixelFormat from,
                                  enum AVPixelFormat to, _Bool is_exact) {
    return (struct cav_scaler *)CALL(scale, sws_getCachedContext, (struct SwsContext *)scaler, width, height, from,
                                     width, height, to, SWS_BILINEAR | (is_exact ? SWS_ACCURATE_RND : 0), NULL, NULL,
                                     NULL);
}
void cav_scaler_set_colors(struct cav_scaler *scaler, const int *from, _Bool from_is_full, const int *to,
                           _Bool to_is_full) {
    CALL(scale, sws_setColorspaceDetails, (struct SwsContext *)scaler, from, from_is_full, to, to_is_full, 0, 1 << 16,
         1 << 16);
}
int cav_scaler_convert(struct cav_scaler *scaler, const uint8_t *const *from, const int *from_strides, int rows,
                       uint8_t *const *to, const int *to_strides) {
    return CALL(scale, sws_scale, (struct SwsContext *)scaler, from, from_strides, 0, rows, to, to_strides);
}
void cav_scaler_free(struct cav_scaler *scaler) {
    if (scaler) CALL(scale, sws_freeContext, (struct SwsContext *)scaler);
}

int cav_resampler_make(struct SwrContext **resampler, const AVChannelLayout *to, enum AVSampleFormat to_format,
                       const AVChannelLayout *from, enum AVSampleFormat from_format, int rate) {
    return CALL(resample, swr_alloc_set_opts2, resampler, (AVChannelLayout *)to, to_format, rate,
                (AVChannelLayout *)from, from_format, rate, 0, NULL);
}
int cav_resampler_convert(struct SwrContext *resampler, uint8_t **to, int room, const uint8_t **from, int count) {
    return CALL(resample, swr_convert, resampler, to, room, from, count);
}
