#include "CCurl.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;
static struct curl_blob authorities;

#define CALL(name, ...) ((__typeof__(&name))dlsym(library, #name))(__VA_ARGS__)
// The macros of these names check types at compile time, and call the functions.
#undef curl_easy_setopt
#undef curl_easy_getinfo

struct ccurl {
    CURL *handle;
    struct curl_slist *resolved;
    char reason[CURL_ERROR_SIZE];
    void *context;
    bool (*receive)(void *context, bool is_header, const void *bytes, size_t count);
    bool (*proceed)(void *context);
};

static void read_authorities(const char *path)
{
    FILE *file = path ? fopen(path, "re") : NULL;
    if (!file) return;
    size_t room = 1 << 22;
    char *bytes = malloc(room);
    authorities.len = bytes ? fread(bytes, 1, room, file) : 0;
    authorities.data = bytes;
    authorities.flags = CURL_BLOB_NOCOPY;
    fclose(file);
}

bool ccurl_load(const char *path)
{
    library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library || CALL(curl_global_init, CURL_GLOBAL_DEFAULT) != 0) return false;
    const curl_version_info_data *info = CALL(curl_version_info, CURLVERSION_NOW);
    read_authorities(path ? path : info->cainfo);
    return true;
}

static size_t receive(char *bytes, size_t one, size_t count, void *context)
{
    struct ccurl *request = context;
    return request->receive(request->context, false, bytes, count) ? count : 0;
}

static size_t receive_header(char *bytes, size_t one, size_t count, void *context)
{
    struct ccurl *request = context;
    return request->receive(request->context, true, bytes, count) ? count : 0;
}

static int proceed(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct ccurl *request = context;
    return request->proceed(request->context) ? 0 : 1;
}

#define SET(option, value) CALL(curl_easy_setopt, request->handle, option, value)

struct ccurl *ccurl_make(const char *resolved, const char *credentials, long connecting)
{
    struct ccurl *request = calloc(1, sizeof *request);
    if (!request) return NULL;
    request->handle = CALL(curl_easy_init);
    if (!request->handle) {
        free(request);
        return NULL;
    }
    SET(CURLOPT_ERRORBUFFER, request->reason);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_WRITEFUNCTION, receive);
    SET(CURLOPT_WRITEDATA, request);
    SET(CURLOPT_HEADERFUNCTION, receive_header);
    SET(CURLOPT_HEADERDATA, request);
    SET(CURLOPT_XFERINFOFUNCTION, proceed);
    SET(CURLOPT_XFERINFODATA, request);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_USERAGENT, "DualCam");
    // The camera itself and nothing else, whatever the environment says.
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    // CURLOPT_PROTOCOLS_STR is newer than some libcurl.so.4.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_HTTPAUTH, (long)(CURLAUTH_BASIC | CURLAUTH_DIGEST));
    if (credentials) SET(CURLOPT_USERPWD, credentials);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_CAPATH, NULL);
    if (authorities.len) SET(CURLOPT_CAINFO_BLOB, &authorities);
    SET(CURLOPT_CONNECTTIMEOUT_MS, connecting);
    SET(CURLOPT_BUFFERSIZE, 1L << 16);
    // JPEGs are not to be compressed once more. Of a camera that does it, the decoded bytes come.
    SET(CURLOPT_ACCEPT_ENCODING, "identity");
    if (resolved) {
        request->resolved = CALL(curl_slist_append, NULL, resolved);
        SET(CURLOPT_RESOLVE, request->resolved);
    }
    return request;
}

void ccurl_free(struct ccurl *request)
{
    if (!request) return;
    CALL(curl_easy_cleanup, request->handle);
    CALL(curl_slist_free_all, request->resolved);
    free(request);
}

enum ccurl_result ccurl_get(struct ccurl *request, const char *url, void *context,
                            bool (*receive)(void *context, bool is_header, const void *bytes, size_t count),
                            bool (*proceed)(void *context))
{
    request->context = context;
    request->receive = receive;
    request->proceed = proceed;
    request->reason[0] = 0;
    SET(CURLOPT_URL, url);
    CURLcode code = CALL(curl_easy_perform, request->handle);
    if (!request->reason[0])
        snprintf(request->reason, sizeof request->reason, "%s", CALL(curl_easy_strerror, code));
    switch (code) {
    case CURLE_OK: return ccurl_done;
    case CURLE_WRITE_ERROR:
    case CURLE_ABORTED_BY_CALLBACK: return ccurl_stopped;
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_OPERATION_TIMEDOUT: return ccurl_unreached;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE: return ccurl_lost;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE: return ccurl_untrusted;
    default: return ccurl_failed;
    }
}

#define GET(info, value) CALL(curl_easy_getinfo, request->handle, info, value)

long ccurl_status(const struct ccurl *request)
{
    long status = 0;
    GET(CURLINFO_RESPONSE_CODE, &status);
    return status;
}

const char *ccurl_type(const struct ccurl *request)
{
    const char *type = NULL;
    GET(CURLINFO_CONTENT_TYPE, &type);
    return type;
}

int ccurl_errno(const struct ccurl *request)
{
    long number = 0;
    GET(CURLINFO_OS_ERRNO, &number);
    return number;
}

const char *ccurl_reason(const struct ccurl *request) { return request->reason; }
