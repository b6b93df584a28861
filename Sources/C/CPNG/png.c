#include "CPNG.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct output {
    int descriptor, error;
};
struct input {
    const uint8_t *bytes;
    size_t count;
};
// The most texts of a file that are read.
enum { TEXTS = 32 };

static void fail(png_structp png, png_const_charp words)
{
    (void)words;
    png_longjmp(png, 1);
}

static void pass(png_structp png, png_const_charp words) { (void)png, (void)words; }

static void put(png_structp png, png_bytep bytes, size_t count)
{
    struct output *output = png_get_io_ptr(png);
    while (count > 0) {
        ssize_t written = write(output->descriptor, bytes, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            output->error = errno;
            png_error(png, "write");
        }
        bytes += written;
        count -= (size_t)written;
    }
}

static void get(png_structp png, png_bytep bytes, size_t count)
{
    struct input *input = png_get_io_ptr(png);
    if (count > input->count) png_error(png, "end");
    memcpy(bytes, input->bytes, count);
    input->bytes += count;
    input->count -= count;
}

static void flush(png_structp png) { (void)png; }

int cpng_write(int descriptor, const uint32_t *pixels, uint32_t width, uint32_t height,
               const struct cpng_text *texts, int count)
{
    struct output output = {descriptor, 0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, 0, fail, pass);
    png_infop info = png ? png_create_info_struct(png) : 0;
    png_textp words = calloc((size_t)count + 1, sizeof *words);
    if (!info || !words || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        free(words);
        return output.error ? output.error : -1;
    }
    png_set_write_fn(png, &output, put, flush);
    png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    // Twice as fast as the default level, and hardly larger.
    png_set_compression_level(png, 4);
    for (int i = 0; i < count; i++) {
        words[i].compression = PNG_TEXT_COMPRESSION_NONE;
        words[i].key = (char *)texts[i].key;
        words[i].text = (char *)texts[i].value;
        words[i].text_length = strlen(texts[i].value);
    }
    png_set_text(png, info, words, count);
    png_write_info(png, info);
    png_set_filler(png, 0, PNG_FILLER_AFTER);
    for (uint32_t y = 0; y < height; y++) {
        png_write_row(png, (png_const_bytep)(pixels + (size_t)y * width));
    }
    png_write_end(png, 0);
    png_destroy_write_struct(&png, &info);
    free(words);
    return 0;
}

int cpng_read(const uint8_t *bytes, size_t count, uint32_t *width, uint32_t *height, void *context,
              void (*tell)(void *context, const char *key, const char *value))
{
    struct input input = {bytes, count};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, 0, fail, pass);
    png_infop info = png ? png_create_info_struct(png) : 0;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_read_struct(&png, &info, 0);
        return -1;
    }
    png_set_read_fn(png, &input, get);
    png_set_user_limits(png, 1 << 14, 1 << 14);
    png_set_chunk_cache_max(png, TEXTS);
    png_set_chunk_malloc_max(png, 1 << 16);
    png_read_info(png, info);
    *width = png_get_image_width(png, info);
    *height = png_get_image_height(png, info);
    png_textp texts = 0;
    int found = 0;
    png_get_text(png, info, &texts, &found);
    for (int i = 0; i < found; i++) {
        if (texts[i].key && texts[i].text) tell(context, texts[i].key, texts[i].text);
    }
    png_destroy_read_struct(&png, &info, 0);
    return 0;
}
