// jpeg-node NAME WIDTH HEIGHT FILE [OPTION...]: publishes a PipeWire camera that has the JPEG in
// FILE, 30 times a second, until it is ended. GStreamer's pipewiresink cannot on Debian 13: version
// 1.4.2 has buffers of one byte for whatever is not raw; and none says how a picture lies.
//   raw                        FILE has pixels, as BGRx
//   raw=FORMAT                 FILE has pixels, as FORMAT, one row after the other; what is sent
//                              has each row rounded up to four bytes, as GStreamer does
//   unnamed                    and does not say how long a row is, as older versions of it
//   h264                       FILE has H.264 with access unit delimiters, sent one unit a picture,
//                              and again from the first
//   transform=N                the pictures' SPA_META_VideoTransform
//   crop=X,Y,WIDTH,HEIGHT      the part of them to show
//   good=N                     after N pictures to a consumer, it gets rubbish
//   then=N,WIDTH,HEIGHT,FILE   after N pictures, others of another size
#include <pipewire/pipewire.h>
#include <signal.h>
#include <spa/param/video/format-utils.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { largest = 1 << 21 };
static struct pw_main_loop *loop;
static struct pw_stream *stream;
static struct spa_source *timer;
static uint8_t picture[largest];
static size_t length;
static int width, height;
static bool is_h264, is_unnamed;

// Raw pictures: `pixel` bytes for each in the first plane, then `chroma` planes of half the size
// with `pair` bytes for each.
struct raw {
    const char *name;
    uint32_t format;
    int pixel, chroma, pair;
};
static const struct raw forms[] = {
    {"BGRx", SPA_VIDEO_FORMAT_BGRx, 4}, {"RGB", SPA_VIDEO_FORMAT_RGB, 3},
    {"YUY2", SPA_VIDEO_FORMAT_YUY2, 2}, {"UYVY", SPA_VIDEO_FORMAT_UYVY, 2},
    {"NV12", SPA_VIDEO_FORMAT_NV12, 1, 1, 2}, {"I420", SPA_VIDEO_FORMAT_I420, 1, 2, 1},
};
static const struct raw *raw;
static size_t unit;  // where the next access unit begins
static uint32_t transform;
static struct spa_region crop;
static int good = -1, sent;
static int then = -1, next_width, next_height;
static char next_file[256];

static int rounded(int bytes) { return (bytes + 3) / 4 * 4; }
static int stride(void) { return raw ? rounded(width * raw->pixel) : 0; }

// Reads a plane of `rows` rows to the end of the picture.
static bool read_plane(FILE *file, int row, int rows) {
    for (; rows > 0; rows--) {
        if (length + rounded(row) > largest || fread(picture + length, 1, row, file) != (size_t)row)
            return false;
        length += rounded(row);
    }
    return true;
}

static bool read_picture(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    bool is_whole = true;
    length = 0;
    if (raw) {
        is_whole = read_plane(file, width * raw->pixel, height);
        for (int plane = 0; plane < raw->chroma; plane++)
            is_whole = is_whole && read_plane(file, (width + 1) / 2 * raw->pair, (height + 1) / 2);
    } else
        length = fread(picture, 1, largest, file);
    is_whole = is_whole && length > 0 && fgetc(file) == EOF;
    fclose(file);
    return is_whole;
}

// Returns where the access unit ends that begins at `from`: before the next delimiter.
static size_t unit_end(size_t from) {
    static const uint8_t delimiter[] = {0, 0, 0, 1, 9};
    for (size_t at = from + 1; at + sizeof(delimiter) <= length; at++)
        if (!memcmp(picture + at, delimiter, sizeof(delimiter))) return at;
    return length;
}

static const struct spa_pod *format(struct spa_pod_builder *builder) {
    struct spa_rectangle size = SPA_RECTANGLE(width, height);
    struct spa_fraction rate = SPA_FRACTION(30, 1);
    if (!raw)
        return spa_pod_builder_add_object(
            builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat,
            SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
            SPA_FORMAT_mediaSubtype, SPA_POD_Id(is_h264 ? SPA_MEDIA_SUBTYPE_h264 : SPA_MEDIA_SUBTYPE_mjpg),
            SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size),
            SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate));
    return spa_pod_builder_add_object(
        builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat,
        SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
        SPA_FORMAT_VIDEO_format, SPA_POD_Id(raw->format),
        SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size),
        SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate));
}

static void changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    struct timespec interval = {0, 1000000000 / 30}, none = {0, 0};
    struct timespec *value = state == PW_STREAM_STATE_STREAMING ? &interval : &none;
    pw_loop_update_timer(pw_main_loop_get_loop(loop), timer, value, value, false);
    sent = 0;
    if (state == PW_STREAM_STATE_ERROR) fprintf(stderr, "jpeg-node: %s\n", error);
}

static void negotiated(void *data, uint32_t id, const struct spa_pod *chosen) {
    if (id != SPA_PARAM_Format || !chosen) return;
    uint8_t memory[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *parameters[3];
    parameters[0] = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers,
        SPA_PARAM_BUFFERS_buffers, SPA_POD_CHOICE_RANGE_Int(4, 2, 16),
        SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
        SPA_PARAM_BUFFERS_size, SPA_POD_Int(largest),
        SPA_PARAM_BUFFERS_stride, SPA_POD_Int(stride()));
    parameters[1] = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta,
        SPA_PARAM_META_type, SPA_POD_Id(SPA_META_VideoTransform),
        SPA_PARAM_META_size, SPA_POD_Int(sizeof(struct spa_meta_videotransform)));
    parameters[2] = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta,
        SPA_PARAM_META_type, SPA_POD_Id(SPA_META_VideoCrop),
        SPA_PARAM_META_size, SPA_POD_Int(sizeof(struct spa_meta_region)));
    pw_stream_update_params(stream, parameters, 3);
}

static void describe(struct spa_buffer *buffer) {
    struct spa_meta_videotransform *turned =
        spa_buffer_find_meta_data(buffer, SPA_META_VideoTransform, sizeof(*turned));
    if (turned) turned->transform = transform;
    struct spa_meta_region *part = spa_buffer_find_meta_data(buffer, SPA_META_VideoCrop, sizeof(*part));
    if (part) part->region = crop;
}

static void process(void *data) {
    struct pw_buffer *buffer = pw_stream_dequeue_buffer(stream);
    if (!buffer) return;
    struct spa_data *plane = &buffer->buffer->datas[0];
    if (plane->data && plane->maxsize >= length) {
        size_t from = is_h264 ? unit : 0, to = is_h264 ? unit_end(unit) : length;
        unit = to < length ? to : 0;
        if (good >= 0 && sent >= good)
            memset(plane->data, 0x55, to - from);
        else
            memcpy(plane->data, picture + from, to - from);
        *plane->chunk = (struct spa_chunk){.size = to - from, .stride = is_unnamed ? 0 : stride()};
        sent++;
    }
    describe(buffer->buffer);
    pw_stream_queue_buffer(stream, buffer);
}

static void tick(void *data, uint64_t expirations) {
    if (then >= 0 && sent >= then) {
        then = -1;
        width = next_width;
        height = next_height;
        if (!read_picture(next_file)) fprintf(stderr, "jpeg-node: cannot read %s\n", next_file);
        uint8_t memory[512];
        struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
        const struct spa_pod *other = format(&builder);
        pw_stream_update_params(stream, &other, 1);
        return;
    }
    pw_stream_trigger_process(stream);
}

static void end(void *data, int signal) { pw_main_loop_quit(loop); }

static const struct pw_stream_events events = {
    PW_VERSION_STREAM_EVENTS, .state_changed = changed, .param_changed = negotiated, .process = process};

static bool take(const char *option) {
    if (!strcmp(option, "raw")) return take("raw=BGRx");
    if (!strcmp(option, "unnamed")) return is_unnamed = true;
    if (!strncmp(option, "raw=", 4))
        for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
            if (!strcmp(option + 4, forms[i].name)) return raw = &forms[i];
    if (!strcmp(option, "h264")) return is_h264 = true;
    if (sscanf(option, "transform=%u", &transform) == 1) return true;
    if (sscanf(option, "good=%d", &good) == 1) return true;
    if (sscanf(option, "crop=%d,%d,%u,%u", &crop.position.x, &crop.position.y, &crop.size.width,
               &crop.size.height) == 4)
        return true;
    return sscanf(option, "then=%d,%d,%d,%255s", &then, &next_width, &next_height, next_file) == 4;
}

int main(int count, char **arguments) {
    if (count < 5) return 2;
    width = atoi(arguments[2]);
    height = atoi(arguments[3]);
    for (int i = 5; i < count; i++)
        if (!take(arguments[i])) return 2;
    if (!read_picture(arguments[4])) return 2;
    pw_init(NULL, NULL);
    loop = pw_main_loop_new(NULL);
    pw_loop_add_signal(pw_main_loop_get_loop(loop), SIGTERM, end, NULL);
    timer = pw_loop_add_timer(pw_main_loop_get_loop(loop), tick, NULL);
    stream = pw_stream_new_simple(
        pw_main_loop_get_loop(loop), arguments[1],
        pw_properties_new(
            PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE, "Camera",
            PW_KEY_NODE_NAME, arguments[1], NULL),
        &events, NULL);
    if (!stream) return 1;
    uint8_t memory[512];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *first = format(&builder);
    if (pw_stream_connect(
            stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS,
            &first, 1) < 0)
        return 1;
    pw_main_loop_run(loop);
    pw_stream_destroy(stream);
    pw_main_loop_destroy(loop);
    return 0;
}
