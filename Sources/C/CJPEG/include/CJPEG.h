// libjpeg-turbo's own API, for JPEGs as planes. It is in C since the library's errors have to leave
// a function by longjmp(3), which Swift cannot do.
//
// Compared with the TurboJPEG API it saves a dozen calls of malloc per picture: what lives as long
// as a picture lies in memory that is kept. One thread at a time.
#ifndef CJPEG_H
#define CJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cjpeg_decoder;

// The properties by a header. A block of `across[0]` x `down[0]` pixels has `across[i]` x `down[i]`
// samples of component i.
struct cjpeg_header {
    unsigned width, height;
    bool is_ycc, is_gray;
    // The colours can be made into YCbCr.
    bool is_color;
    int across[3], down[3];
    bool has_restarts;
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

// Why there is no picture. All but the first hold for every picture like this one; their messages
// are words for people.
enum { CJPEG_DAMAGED = -1, CJPEG_UNSUPPORTED = -2, CJPEG_TOO_LARGE = -3 };

// Reads the header of a JPEG. Returns 0, or why it cannot.
int cjpeg_read_header(struct cjpeg_decoder *decoder, const uint8_t *bytes, size_t count,
                      struct cjpeg_header *header);

// Decodes the JPEG whose header was read last, and whose bytes have not moved, at 1 / `denominator`
// (1, 2, 4 or 8) of its size. `is_raw` takes the planes as they are in the file; otherwise three
// planes of YCbCr are made of its colours, all of the picture's size. Returns 0; 1 if the file has
// noise that leaves the picture whole, such as stray bytes before a marker or no end marker; or why
// there is no whole picture. One that takes long is given up once `proceed` returns false.
int cjpeg_decode(struct cjpeg_decoder *decoder, int denominator, bool is_raw, const struct cjpeg_plane *planes,
                 bool (*proceed)(void *), void *context);

// Reads through the JPEG whose header was read last. Returns 0 if it is whole; 1 if it also has
// noise: then `bytes`, to be freed by free(3), has the same picture without it, and nothing else of
// the file; or why there is no whole picture.
int cjpeg_rewrite(struct cjpeg_decoder *decoder, char **bytes, size_t *count);

// Returns the message of the last fault; valid until the next call.
const char *cjpeg_message(const struct cjpeg_decoder *decoder);

#endif
