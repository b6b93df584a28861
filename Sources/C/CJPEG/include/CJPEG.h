// libjpeg-turbo's own API, for JPEGs as planes: what Swift cannot do of it, which is to return from a
// function by longjmp(3), as the library's errors have to.
//
// Beside the TurboJPEG API it saves a dozen calls of malloc a picture: what lives as long as a picture
// comes from memory that stays. One thread at a time.
#ifndef CJPEG_H
#define CJPEG_H

#include <stddef.h>
#include <stdint.h>

struct cjpeg_decoder;

// What a header says. Samples of component i lie `across[i]` and `down[i]` to a block of
// `across[0]` x `down[0]`.
struct cjpeg_header {
    unsigned width, height;
    int components;
    int is_ycc, is_gray;
    int across[3], down[3];
};

// A plane to be written: rows of `stride` bytes, which whole blocks of eight samples fit into.
struct cjpeg_plane {
    uint8_t *base;
    size_t stride;
    unsigned rows;
};

// Null where there is no memory.
struct cjpeg_decoder *cjpeg_create(void);
void cjpeg_destroy(struct cjpeg_decoder *decoder);

// Reads the header of a JPEG; 0, or -1 for one that is damaged.
int cjpeg_read_header(struct cjpeg_decoder *decoder, const uint8_t *bytes, size_t count,
                      struct cjpeg_header *header);

// Decodes the JPEG whose header was read last, and which lies where it lay, at 1 / `denominator`
// (1, 2, 4 or 8) of its size; 0, or -1 for anything short of a whole picture.
int cjpeg_decode(struct cjpeg_decoder *decoder, int denominator, const struct cjpeg_plane *planes);

// What the last fault was, in the library's words; valid until the next call.
const char *cjpeg_message(const struct cjpeg_decoder *decoder);

#endif
