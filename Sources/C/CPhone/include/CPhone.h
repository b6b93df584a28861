// A phone's page and its pictures over HTTPS, by libmicrohttpd with GnuTLS, and the picture of a
// code, by libqrencode. Both are loaded when they are first needed; their calls are variadic, which
// Swift does not import.
#ifndef CPHONE_H
#define CPHONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The lengths of a code in an address (128 bits in base64url), and of a key's SHA-256 in
/// hexadecimal digits.
enum { cphone_code_length = 22, cphone_hash_length = 64 };

/// What a phone does.
enum cphone_event {
    /// Something on the network has got the page.
    cphone_seen,
    /// A page has traded the code for a key, whose SHA-256 the digits are. The code is used up.
    cphone_paired,
    /// The page says how it is.
    cphone_told,
    /// A JPEG; at least its first two bytes are one's.
    cphone_picture,
};

/// Loads libmicrohttpd and GnuTLS from these files. Returns false without them. To be called once.
bool cphone_load(const char *server_file, const char *tls_file);

/// Makes a private key and a certificate for it, for `host` (ADDRESS:PORT). Writes both to `pem` as
/// text. Returns false without room, or if the library fails.
bool cphone_make_certificate(const char *host, char *pem, size_t room);
/// Returns true if `pem` has a certificate that is valid for another week.
bool cphone_is_valid(const char *pem);

/// Creates a server on `listener`, a socket that listens without waiting, for `host` (ADDRESS:PORT)
/// alone. It serves `page`, `script` and `style`, which are UTF-8 with an end and have to stay.
/// `happen` is called within `cphone_run`. Returns NULL without memory. It is released with the
/// process.
struct cphone *cphone_make(int listener, const char *pem, const char *host, const void *page,
                           const void *script, const void *style, void *context,
                           void (*happen)(void *context, enum cphone_event, const void *bytes, size_t count));

/// Has this code be traded once; an empty one never.
void cphone_admit(struct cphone *, const char *code);
/// Has the key with this SHA-256 be valid; an empty one is none's.
void cphone_know(struct cphone *, const char *hash);
/// Tells the page `text`, JSON of at most 1023 bytes, at once or when it asks next. The text's
/// number is in `number`.
void cphone_tell(struct cphone *, const char *text, uint64_t number);

/// Waits until `cphone_run` has something to do or `other` is readable, at most for `most`
/// milliseconds.
void cphone_wait(struct cphone *, int other, unsigned most);
/// Does what there is to do, also for what was told since it was waited for. Returns the number of
/// requests with the key that are being answered.
int cphone_run(struct cphone *);

/// Makes the picture of a code for `text` in `modules`, row by row, 1 for black, with libqrencode
/// from `file`. Returns the number of modules in a row, 0 without it or if `room` is too small.
int cphone_draw(const char *file, const char *text, uint8_t *modules, size_t room);

#endif
