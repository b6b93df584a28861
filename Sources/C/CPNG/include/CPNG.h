// PNG files with words in them, by libpng: it reports errors with longjmp(3), which Swift must not be passed over by.
#ifndef CPNG_H
#define CPNG_H

#include <stddef.h>
#include <stdint.h>

struct cpng_text {
    const char *key, *value;
};

// Writes `pixels`, rows without gaps, each pixel red, green, blue and a byte that means nothing, to `descriptor`, with `texts`
// before them, in Latin-1. 0; errno of write(2); or -1 for what libpng says.
int cpng_write(int descriptor, const uint32_t *pixels, uint32_t width, uint32_t height,
               const struct cpng_text *texts, int count);

// Reads what stands before the pixels of the PNG in `bytes`, and has `tell` called with each text. 0, or -1 for what is none.
int cpng_read(const uint8_t *bytes, size_t count, uint32_t *width, uint32_t *height, void *context,
              void (*tell)(void *context, const char *key, const char *value));

#endif
