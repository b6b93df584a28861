// Functions of libav that are looked up at run time, by the names and with the types of its headers:
// what is declared there and used without a line here does not link.

#include <dlfcn.h>
#include <pthread.h>

// Hidden, so that the libraries do not take these for their own.
#pragma GCC visibility push(hidden)
#include "shim.h"

static void *util, *codec, *format, *scale;

static void load(void) {
    int flags = RTLD_NOW | RTLD_LOCAL;
    util = dlopen("libavutil.so." AV_STRINGIFY(LIBAVUTIL_VERSION_MAJOR), flags);
    codec = dlopen("libavcodec.so." AV_STRINGIFY(LIBAVCODEC_VERSION_MAJOR), flags);
    format = dlopen("libavformat.so." AV_STRINGIFY(LIBAVFORMAT_VERSION_MAJOR), flags);
    scale = dlopen("libswscale.so." AV_STRINGIFY(LIBSWSCALE_VERSION_MAJOR), flags);
}

_Bool cav_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return util && codec && format && scale;
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
