#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

// Memory that lives as long as a picture: taken from the front, and released as a whole.
struct chunk {
    struct chunk *next;
    size_t size, used;
};
// The library's own alignment, which its vector code needs.
enum { ALIGNMENT = 64, CHUNK = 1 << 16 };

struct cjpeg_decoder {
    struct jpeg_decompress_struct library;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf fault;
    // What the last fault was, and its message.
    int result;
    char message[JMSG_LENGTH_MAX];
    int is_made;
    // The picture that was read last is whole, but not as the standard has it.
    int is_noisy;
    struct chunk *chunks, *current;
    // The library's own functions, for memory that lives longer.
    struct jpeg_memory_mgr own;
    // What was done of the picture, in pixels of all its scans, and by each step.
    size_t work, step;
    bool (*proceed)(void *);
    void *context;
    // The writer of a picture that is written again, its memory, and the stream to that.
    struct jpeg_compress_struct writer;
    char *copy;
    size_t copied;
    FILE *stream;
};

static struct cjpeg_decoder *decoder_of(j_common_ptr library) { return library->client_data; }

static void *take(struct cjpeg_decoder *decoder, size_t size)
{
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct chunk *chunk = decoder->current;
    while (chunk && chunk->size - chunk->used < size) chunk = chunk->next;
    if (!chunk) {
        size_t room = size > CHUNK ? size : CHUNK;
        chunk = aligned_alloc(ALIGNMENT, room + ALIGNMENT);
        if (!chunk) ERREXIT1(&decoder->library, JERR_OUT_OF_MEMORY, 0);
        *chunk = (struct chunk){0, room, 0};
        struct chunk **last = &decoder->chunks;
        while (*last) last = &(*last)->next;
        *last = chunk;
    }
    decoder->current = chunk;
    uint8_t *memory = (uint8_t *)chunk + ALIGNMENT + chunk->used;
    chunk->used += size;
    return memory;
}

static void *alloc(j_common_ptr library, int pool, size_t size)
{
    struct cjpeg_decoder *decoder = decoder_of(library);
    if (pool != JPOOL_IMAGE) return decoder->own.alloc_small(library, pool, size);
    return take(decoder, size);
}

static JSAMPARRAY alloc_samples(j_common_ptr library, int pool, JDIMENSION width, JDIMENSION rows)
{
    struct cjpeg_decoder *decoder = decoder_of(library);
    if (pool != JPOOL_IMAGE) return decoder->own.alloc_sarray(library, pool, width, rows);
    size_t stride = ((size_t)width + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    JSAMPARRAY array = take(decoder, rows * sizeof *array);
    uint8_t *memory = take(decoder, rows * stride);
    for (JDIMENSION y = 0; y < rows; y++) array[y] = memory + y * stride;
    return array;
}

static JBLOCKARRAY alloc_blocks(j_common_ptr library, int pool, JDIMENSION width, JDIMENSION rows)
{
    struct cjpeg_decoder *decoder = decoder_of(library);
    if (pool != JPOOL_IMAGE) return decoder->own.alloc_barray(library, pool, width, rows);
    JBLOCKARRAY array = take(decoder, rows * sizeof *array);
    JBLOCK *memory = take(decoder, (size_t)rows * width * sizeof *memory);
    for (JDIMENSION y = 0; y < rows; y++) array[y] = memory + (size_t)y * width;
    return array;
}

static void free_pool(j_common_ptr library, int pool)
{
    struct cjpeg_decoder *decoder = decoder_of(library);
    // Progressive pictures have arrays that the library manages itself.
    decoder->own.free_pool(library, pool);
    if (pool != JPOOL_IMAGE) return;
    for (struct chunk *chunk = decoder->chunks; chunk; chunk = chunk->next) chunk->used = 0;
    decoder->current = decoder->chunks;
}

static _Noreturn void give_up(struct cjpeg_decoder *decoder, int result, const char *words)
{
    decoder->result = result;
    snprintf(decoder->message, sizeof decoder->message, "%s", words);
    longjmp(decoder->fault, 1);
}

static void fail(j_common_ptr library)
{
    struct cjpeg_decoder *decoder = decoder_of(library);
    switch (decoder->errors.msg_code) {
    case JERR_ARITH_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_NOTIMPL:
    case JERR_SOF_UNSUPPORTED: give_up(decoder, CJPEG_UNSUPPORTED, "they are neither baseline nor progressive");
    case JERR_BAD_PRECISION: give_up(decoder, CJPEG_UNSUPPORTED, "they do not have 8 bits per colour");
    case JERR_CCIR601_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL: give_up(decoder, CJPEG_UNSUPPORTED, "the sizes of their colour planes do not match");
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL: give_up(decoder, CJPEG_UNSUPPORTED, "their colours are unknown");
    case JERR_EMPTY_IMAGE: give_up(decoder, CJPEG_UNSUPPORTED, "they do not say how large they are");
    case JERR_IMAGE_TOO_BIG:
    case JERR_NO_BACKING_STORE:
    case JERR_OUT_OF_MEMORY:
    case JERR_WIDTH_OVERFLOW: give_up(decoder, CJPEG_TOO_LARGE, "they are too large");
    }
    decoder->errors.format_message(library, decoder->message);
    decoder->result = CJPEG_DAMAGED;
    longjmp(decoder->fault, 1);
}

// The most stray bytes before a restart marker that count as noise: cameras that leave some leave
// one to nine, and a fault in the data, from which the decoder finds back, hundreds.
enum { STRAY = 16 };

// Tells whether every pixel is there in spite of the library's warning. Data that is missing always
// brings another one (JWRN_HIT_MARKER).
static int is_noise(const struct jpeg_error_mgr *errors, j_decompress_ptr library)
{
    switch (errors->msg_code) {
    case JWRN_EXTRANEOUS_DATA: {
        int count = errors->msg_parm.i[0], marker = errors->msg_parm.i[1];
        return marker == JPEG_EOI || (marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7 && count <= STRAY);
    }
    // There is no end marker. A picture in several scans may then lack some of them.
    case JWRN_JPEG_EOF: return !jpeg_has_multiple_scans(library);
    // Metadata.
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_ICC: return 1;
    default: return 0;
    }
}

static void warn(j_common_ptr library, int level)
{
    if (level >= 0) return;
    struct cjpeg_decoder *decoder = decoder_of(library);
    if (!is_noise(&decoder->errors, &decoder->library)) fail(library);
    decoder->is_noisy = 1;
}

// A progressive picture may have any number of scans, each of which costs as much as a picture. Ten
// are usual, and the largest picture may have them. What costs more than one of 4096x4096 is worth
// a question.
enum { MOST_WORK = 10 << 26, SOME_WORK = 1 << 24, LEAST_STEP = 1 << 12 };
// Coefficients of 8192x4320 pixels in 4:4:4 fit, which a progressive picture keeps until its end.
enum { MOST_MEMORY = 1 << 28 };

static void count_work(j_common_ptr library)
{
    struct cjpeg_decoder *decoder = decoder_of(library);
    decoder->work += decoder->step > LEAST_STEP ? decoder->step : LEAST_STEP;
    if (decoder->work > MOST_WORK) give_up(decoder, CJPEG_UNSUPPORTED, "they take too long to decode");
    if (decoder->work > SOME_WORK && decoder->proceed && !decoder->proceed(decoder->context)) {
        give_up(decoder, CJPEG_DAMAGED, "it is not wanted any more");
    }
}

static void silence(j_common_ptr library) { (void)library; }

// Creates the library's state. Returns 0, or -1 without memory.
static int make(struct cjpeg_decoder *decoder)
{
    memset(&decoder->library, 0, sizeof decoder->library);
    decoder->library.err = jpeg_std_error(&decoder->errors);
    decoder->errors.error_exit = fail;
    decoder->errors.emit_message = warn;
    decoder->errors.output_message = silence;
    decoder->library.client_data = decoder;
    if (setjmp(decoder->fault)) return -1;
    jpeg_create_decompress(&decoder->library);
    decoder->is_made = 1;
    struct jpeg_memory_mgr *memory = decoder->library.mem;
    decoder->own = *memory;
    memory->alloc_small = alloc;
    memory->alloc_large = alloc;
    memory->alloc_sarray = alloc_samples;
    memory->alloc_barray = alloc_blocks;
    memory->free_pool = free_pool;
    memory->max_memory_to_use = MOST_MEMORY;
    decoder->progress.progress_monitor = count_work;
    decoder->library.progress = &decoder->progress;
    return 0;
}

static void unmake(struct cjpeg_decoder *decoder)
{
    if (decoder->is_made) jpeg_destroy_decompress(&decoder->library);
    decoder->is_made = 0;
    for (struct chunk *chunk = decoder->chunks; chunk; chunk = chunk->next) chunk->used = 0;
    decoder->current = decoder->chunks;
}

struct cjpeg_decoder *cjpeg_create(void)
{
    struct cjpeg_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder && make(decoder)) {
        cjpeg_destroy(decoder);
        return 0;
    }
    return decoder;
}

void cjpeg_destroy(struct cjpeg_decoder *decoder)
{
    unmake(decoder);
    while (decoder->chunks) {
        struct chunk *chunk = decoder->chunks;
        decoder->chunks = chunk->next;
        free(chunk);
    }
    free(decoder);
}

const char *cjpeg_message(const struct cjpeg_decoder *decoder) { return decoder->message; }

int cjpeg_read_header(struct cjpeg_decoder *decoder, const uint8_t *bytes, size_t count,
                      struct cjpeg_header *header)
{
    decoder->message[0] = 0;
    decoder->is_noisy = 0;
    if (!decoder->is_made && make(decoder)) return CJPEG_TOO_LARGE;
    j_decompress_ptr library = &decoder->library;
    if (setjmp(decoder->fault)) {
        // Tables of a damaged picture would stay, and spoil the next ones.
        unmake(decoder);
        return decoder->result;
    }
    jpeg_abort_decompress(library);
    jpeg_mem_src(library, bytes, count);
    jpeg_read_header(library, TRUE);
    header->width = library->image_width;
    header->height = library->image_height;
    header->is_ycc = library->jpeg_color_space == JCS_YCbCr && library->num_components == 3;
    header->is_gray = library->jpeg_color_space == JCS_GRAYSCALE && library->num_components == 1;
    header->has_restarts = library->restart_interval > 0;
    header->is_color = library->jpeg_color_space != JCS_UNKNOWN && !header->is_gray;
    for (int i = 0; i < 3; i++) {
        int is_there = i < library->num_components;
        header->across[i] = is_there ? library->comp_info[i].h_samp_factor : 0;
        header->down[i] = is_there ? library->comp_info[i].v_samp_factor : 0;
    }
    return 0;
}

static void read_planes(struct cjpeg_decoder *decoder, const struct cjpeg_plane *planes)
{
    j_decompress_ptr library = &decoder->library;
    // The rows of one call: a row of blocks of each component, at most four blocks high.
    JSAMPROW rows[3][4 * DCTSIZE];
    JSAMPARRAY components[3] = {rows[0], rows[1], rows[2]};
    int height[3];
    size_t widest = 0;
    for (int i = 0; i < library->num_components; i++) {
        const jpeg_component_info *info = &library->comp_info[i];
        height[i] = info->v_samp_factor * info->DCT_scaled_size;
        size_t width = (size_t)info->width_in_blocks * (size_t)info->DCT_scaled_size;
        if (height[i] > 4 * DCTSIZE || width > planes[i].stride) ERREXIT(library, JERR_BAD_BUFFER_MODE);
        if (width > widest) widest = width;
    }
    // The target of rows below the picture.
    uint8_t *below = take(decoder, widest);
    int step = library->max_v_samp_factor * library->min_DCT_scaled_size;
    for (size_t call = 0; library->output_scanline < library->output_height; call++) {
        for (int i = 0; i < library->num_components; i++) {
            size_t first = call * (size_t)height[i];
            for (int y = 0; y < height[i]; y++) {
                size_t row = first + (size_t)y;
                rows[i][y] = row < planes[i].rows ? planes[i].base + row * planes[i].stride : below;
            }
        }
        if (jpeg_read_raw_data(library, components, (JDIMENSION)step) == 0) {
            ERREXIT(library, JERR_CANT_SUSPEND);
        }
    }
}

// Reads rows of pixels, and makes them planes of YCbCr as JFIF has it.
static void read_pixels(struct cjpeg_decoder *decoder, const struct cjpeg_plane *planes)
{
    j_decompress_ptr library = &decoder->library;
    int samples = library->out_color_components;
    size_t width = library->output_width;
    if (width > planes[0].stride || library->output_height > planes[0].rows) {
        ERREXIT(library, JERR_BAD_BUFFER_MODE);
    }
    uint8_t *row = take(decoder, width * (size_t)samples);
    while (library->output_scanline < library->output_height) {
        size_t y = library->output_scanline;
        if (jpeg_read_scanlines(library, &row, 1) == 0) ERREXIT(library, JERR_CANT_SUSPEND);
        const uint8_t *from = row;
        for (size_t x = 0; x < width; x++, from += samples) {
            int r = from[0], g = from[1], b = from[2], pixel[3] = {r, g, b};
            // For print: stored inverted, as by Adobe's programs.
            if (samples == 4) r = r * from[3] / 255, g = g * from[3] / 255, b = b * from[3] / 255;
            if (library->out_color_space != JCS_YCbCr) {
                pixel[0] = (19595 * r + 38470 * g + 7471 * b + (1 << 15)) >> 16;
                pixel[1] = (-11059 * r - 21709 * g + 32768 * b + (257 << 15) - 1) >> 16;
                pixel[2] = (32768 * r - 27439 * g - 5329 * b + (257 << 15) - 1) >> 16;
            }
            for (int i = 0; i < 3; i++) planes[i].base[y * planes[i].stride + x] = (uint8_t)pixel[i];
        }
    }
}

static void begin(struct cjpeg_decoder *decoder, bool (*proceed)(void *), void *context)
{
    decoder->proceed = proceed;
    decoder->context = context;
    decoder->work = 0;
    // The library reports each row of blocks, but each row of pixels where it makes those.
    decoder->step = (size_t)decoder->library.image_width * (size_t)decoder->library.max_v_samp_factor * DCTSIZE;
}

int cjpeg_decode(struct cjpeg_decoder *decoder, int denominator, bool is_raw, const struct cjpeg_plane *planes,
                 bool (*proceed)(void *), void *context)
{
    j_decompress_ptr library = &decoder->library;
    if (!decoder->is_made) return CJPEG_DAMAGED;
    if (setjmp(decoder->fault)) {
        unmake(decoder);
        return decoder->result;
    }
    begin(decoder, proceed, context);
    library->raw_data_out = is_raw;
    library->out_color_space =
        library->jpeg_color_space == JCS_YCCK ? JCS_CMYK : library->jpeg_color_space;
    library->scale_num = 1;
    library->scale_denom = (unsigned)denominator;
    jpeg_start_decompress(library);
    if (is_raw) {
        read_planes(decoder, planes);
    } else {
        decoder->step = (size_t)library->image_width * (size_t)denominator;
        read_pixels(decoder, planes);
    }
    jpeg_finish_decompress(library);
    return decoder->is_noisy;
}

int cjpeg_rewrite(struct cjpeg_decoder *decoder, char **bytes, size_t *count)
{
    j_decompress_ptr library = &decoder->library;
    j_compress_ptr writer = &decoder->writer;
    if (!decoder->is_made) return CJPEG_DAMAGED;
    memset(writer, 0, sizeof *writer);
    decoder->stream = NULL;
    decoder->copy = NULL;
    if (setjmp(decoder->fault)) {
        jpeg_destroy_compress(writer);
        if (decoder->stream) fclose(decoder->stream);
        free(decoder->copy);
        unmake(decoder);
        return decoder->result;
    }
    begin(decoder, NULL, NULL);
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(library);
    if (decoder->is_noisy) {
        decoder->stream = open_memstream(&decoder->copy, &decoder->copied);
        if (!decoder->stream) ERREXIT1(library, JERR_OUT_OF_MEMORY, 0);
        writer->err = library->err;
        writer->client_data = decoder;
        jpeg_create_compress(writer);
        jpeg_stdio_dest(writer, decoder->stream);
        jpeg_copy_critical_parameters(library, writer);
        jpeg_write_coefficients(writer, coefficients);
        jpeg_finish_compress(writer);
        jpeg_destroy_compress(writer);
        FILE *stream = decoder->stream;
        decoder->stream = NULL;
        // Without memory for the last bytes.
        if (fclose(stream)) ERREXIT1(library, JERR_OUT_OF_MEMORY, 0);
    }
    jpeg_finish_decompress(library);
    *bytes = decoder->copy;
    *count = decoder->copied;
    return decoder->is_noisy;
}
