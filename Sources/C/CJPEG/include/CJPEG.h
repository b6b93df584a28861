// libjpeg-turbo's own API, for JPEGs as planes. It is in C since the library's errors have to leave
// a function by longjmp(3), which Swift cannot do.
//
// Compared with the TurboJPEG API it saves a dozen calls of malloc per picture: what lives as long
// as a picture lies in memory that is kept. One thread at a time.
#ifndef CJPEG_H
#define CJPEG_H

#include <stddef.h>
#include <stdint.h>

struct cjpeg_decoder;

// The properties by a header. A block of `across[0]` x `down[0]` pixels has `across[i]` x `down[i]`
// samples of component i.
struct cjpeg_header {
    unsigned width, height;
    int components;
    int is_ycc, is_gray;
    int across[3], down[3];
};

// A plane to write: rows of `stride` bytes, with room for whole blocks of eight samples.
struct cjpeg_plane {
    uint8_t *base;
    size_t stride;
    unsigned rows;
};

// Returns NULL without memory.
struct cjpeg_decoder *cjpeg_create(void);
void cjpeg_destroy(struct cjpeg_decoder *decoder);

// Reads the header of a JPEG. Returns 0, or -1 if it is damaged.
int cjpeg_read_header(struct cjpeg_decoder *decoder, const uint8_t *bytes, size_t count,
                      struct cjpeg_header *header);

// Decodes the JPEG whose header was read last, and whose bytes have not moved, at 1 / `denominator`
// (1, 2, 4 or 8) of its size. Returns 0; 1 if the file has noise that leaves the picture whole,
// such as stray bytes before a marker or no end marker; or -1 for anything less than a whole
// picture.
int cjpeg_decode(struct cjpeg_decoder *decoder, int denominator, const struct cjpeg_plane *planes);

// Returns the library's message for the last fault; valid until the next call.
const char *cjpeg_message(const struct cjpeg_decoder *decoder);

#endif
