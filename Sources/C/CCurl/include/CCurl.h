// libcurl: pictures of cameras over HTTP. Loaded when it is first needed, and behind functions of a
// fixed form: curl_easy_setopt is variadic, which Swift does not import.
#ifndef CCURL_H
#define CCURL_H

#include <stdbool.h>
#include <stddef.h>

/// A request that can be made again and again.
struct ccurl;

/// The result of `ccurl_get`, by what can be done about it.
enum ccurl_result {
    ccurl_done,
    /// The callback ended it.
    ccurl_stopped,
    /// There is no connection.
    ccurl_unreached,
    /// There is none any more.
    ccurl_lost,
    /// The certificate, or another part of TLS, is refused.
    ccurl_untrusted,
    /// What comes is no HTTP.
    ccurl_failed,
};

/// Loads libcurl with the certificate authorities in the file at `authorities`, or those that it
/// has by default. Returns false without libcurl. To be called once.
bool ccurl_load(const char *authorities);

/// Creates a request. `resolved` is HOST:PORT:ADDRESS,… or NULL, `credentials` USER:PASSWORD or
/// NULL. A connection takes `connecting` milliseconds at most. Returns NULL without memory.
struct ccurl *ccurl_make(const char *resolved, const char *credentials, long connecting);
void ccurl_free(struct ccurl *request);

/// Gets `url`: calls `receive` for each line of the headers, of all answers, and each piece of the
/// body, until it returns false, and `proceed` once a second and more, until it returns false.
enum ccurl_result ccurl_get(struct ccurl *request, const char *url, void *context,
                            bool (*receive)(void *context, bool is_header, const void *bytes, size_t count),
                            bool (*proceed)(void *context));

/// The status of the response, or 0.
long ccurl_status(const struct ccurl *request);
/// The Content-Type of the response, or NULL.
const char *ccurl_type(const struct ccurl *request);
/// The errno of the last failure to connect, or 0.
int ccurl_errno(const struct ccurl *request);
/// The reason of the last failure.
const char *ccurl_reason(const struct ccurl *request);

#endif
