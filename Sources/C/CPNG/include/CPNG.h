// PNG files with texts, by libpng. It reports errors with longjmp(3), which must not cross Swift
// code.
#ifndef CPNG_H
#define CPNG_H

#include <stddef.h>
#include <stdint.h>

struct cpng_text {
    const char *key, *value;
};

// Writes `pixels` to `descriptor`, with `texts` in Latin-1 before them. Rows have no gaps; a pixel
// is red, green, blue and an unused byte. Returns 0, the errno of write(2), or -1 for an error of
// libpng.
int cpng_write(int descriptor, const uint32_t *pixels, uint32_t width, uint32_t height,
               const struct cpng_text *texts, int count);

// Reads the part of the PNG in `bytes` before its pixels, and calls `tell` with each text. Returns
// 0, or -1 if it is no PNG.
int cpng_read(const uint8_t *bytes, size_t count, uint32_t *width, uint32_t *height, void *context,
              void (*tell)(void *context, const char *key, const char *value));

#endif
