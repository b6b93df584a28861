// Functions of libav that are looked up at run time, by the names and with the types of its headers:
// what is declared there and used without a line here does not link.

#include <dlfcn.h>
#include <pthread.h>

// Hidden, so that the libraries do not take these for their own.
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
double av_display_rotation_get(const int32_t a[9]) { return CALL(util, av_display_rotation_get, a); }
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
int av_opt_set(void *a, const char *b, const char *c, int d) { return CALL(util, av_opt_set, a, b, c, d); }
int64_t av_rescale_q(int64_t a, AVRational b, AVRational c) { return CALL(util, av_rescale_q, a, b, c); }

// libavcodec
AVPacket *av_packet_alloc(void) { return CALL(codec, av_packet_alloc); }
void av_packet_free(AVPacket **a) { CALL(codec, av_packet_free, a); }
void av_packet_unref(AVPacket *a) { CALL(codec, av_packet_unref, a); }
AVCodecContext *avcodec_alloc_context3(const AVCodec *a) { return CALL(codec, avcodec_alloc_context3, a); }
void avcodec_flush_buffers(AVCodecContext *a) { CALL(codec, avcodec_flush_buffers, a); }
void avcodec_free_context(AVCodecContext **a) { CALL(codec, avcodec_free_context, a); }
int avcodec_open2(AVCodecContext *a, const AVCodec *b, AVDictionary **c) { return CALL(codec, avcodec_open2, a, b, c); }
int avcodec_parameters_to_context(AVCodecContext *a, const AVCodecParameters *b) {
    return CALL(codec, avcodec_parameters_to_context, a, b);
}
int avcodec_receive_frame(AVCodecContext *a, AVFrame *b) { return CALL(codec, avcodec_receive_frame, a, b); }
int avcodec_send_packet(AVCodecContext *a, const AVPacket *b) { return CALL(codec, avcodec_send_packet, a, b); }
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
AVRational av_guess_frame_rate(AVFormatContext *a, AVStream *b, AVFrame *c) {
    return CALL(format, av_guess_frame_rate, a, b, c);
}
int av_read_frame(AVFormatContext *a, AVPacket *b) { return CALL(format, av_read_frame, a, b); }
void avformat_close_input(AVFormatContext **a) { CALL(format, avformat_close_input, a); }
int avformat_find_stream_info(AVFormatContext *a, AVDictionary **b) {
    return CALL(format, avformat_find_stream_info, a, b);
}
int avformat_open_input(AVFormatContext **a, const char *b, const AVInputFormat *c, AVDictionary **d) {
    return CALL(format, avformat_open_input, a, b, c, d);
}
int avformat_seek_file(AVFormatContext *a, int b, int64_t c, int64_t d, int64_t e, int f) {
    return CALL(format, avformat_seek_file, a, b, c, d, e, f);
}
uint8_t *av_stream_get_side_data(const AVStream *a, enum AVPacketSideDataType b, size_t *c) {
    return CALL(format, av_stream_get_side_data, a, b, c);
}
int av_interleaved_write_frame(AVFormatContext *a, AVPacket *b) { return CALL(format, av_interleaved_write_frame, a, b); }
uint8_t *av_stream_new_side_data(AVStream *a, enum AVPacketSideDataType b, size_t c) {
    return CALL(format, av_stream_new_side_data, a, b, c);
}
int av_write_frame(AVFormatContext *a, AVPacket *b) { return CALL(format, av_write_frame, a, b); }
int av_write_trailer(AVFormatContext *a) { return CALL(format, av_write_trailer, a); }
int avformat_alloc_output_context2(AVFormatContext **a, const AVOutputFormat *b, const char *c, const char *d) {
    return CALL(format, avformat_alloc_output_context2, a, b, c, d);
}
void avformat_free_context(AVFormatContext *a) { CALL(format, avformat_free_context, a); }
AVStream *avformat_new_stream(AVFormatContext *a, const AVCodec *b) { return CALL(format, avformat_new_stream, a, b); }
int avformat_write_header(AVFormatContext *a, AVDictionary **b) { return CALL(format, avformat_write_header, a, b); }
AVIOContext *avio_alloc_context(unsigned char *a, int b, int c, void *d, int (*e)(void *, uint8_t *, int),
                                int (*f)(void *, uint8_t *, int), int64_t (*g)(void *, int64_t, int)) {
    return CALL(format, avio_alloc_context, a, b, c, d, e, f, g);
}
void avio_context_free(AVIOContext **a) { CALL(format, avio_context_free, a); }
void avio_flush(AVIOContext *a) { CALL(format, avio_flush, a); }

// libswscale
void sws_freeContext(struct SwsContext *a) { if (a) CALL(scale, sws_freeContext, a); }
struct SwsContext *sws_getCachedContext(struct SwsContext *a, int b, int c, enum AVPixelFormat d, int e, int f,
                                        enum AVPixelFormat g, int h, SwsFilter *i, SwsFilter *j, const double *k) {
    return CALL(scale, sws_getCachedContext, a, b, c, d, e, f, g, h, i, j, k);
}
const int *sws_getCoefficients(int a) { return CALL(scale, sws_getCoefficients, a); }
int sws_scale(struct SwsContext *a, const uint8_t *const b[], const int c[], int d, int e, uint8_t *const f[],
              const int g[]) {
    return CALL(scale, sws_scale, a, b, c, d, e, f, g);
}
int sws_setColorspaceDetails(struct SwsContext *a, const int b[4], int c, const int d[4], int e, int f, int g, int h) {
    return CALL(scale, sws_setColorspaceDetails, a, b, c, d, e, f, g, h);
}

// libswresample
void swr_free(struct SwrContext **a) { CALL(resample, swr_free, a); }
int swr_alloc_set_opts2(struct SwrContext **a, AVChannelLayout *b, enum AVSampleFormat c, int d,
                        AVChannelLayout *e, enum AVSampleFormat f, int g, int h, void *i) {
    return CALL(resample, swr_alloc_set_opts2, a, b, c, d, e, f, g, h, i);
}
int swr_convert(struct SwrContext *a, uint8_t **b, int c, const uint8_t **d, int e) {
    return CALL(resample, swr_convert, a, b, c, d, e);
}
int swr_init(struct SwrContext *a) { return CALL(resample, swr_init, a); }
int64_t swr_next_pts(struct SwrContext *a, int64_t b) { return CALL(resample, swr_next_pts, a, b); }
