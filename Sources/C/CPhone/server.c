#define _GNU_SOURCE
#include "CPhone.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

static void *server_library, *tls_library;

#define MHD(name, ...) ((__typeof__(&MHD_##name))dlsym(server_library, "MHD_" #name))(__VA_ARGS__)
#define TLS(name, ...) ((__typeof__(&gnutls_##name))dlsym(tls_library, "gnutls_" #name))(__VA_ARGS__)

bool cphone_load(const char *server_file, const char *tls_file)
{
    server_library = dlopen(server_file, RTLD_NOW | RTLD_LOCAL);
    tls_library = dlopen(tls_file, RTLD_NOW | RTLD_LOCAL);
    return server_library && tls_library && MHD(is_feature_supported, MHD_FEATURE_TLS) == MHD_YES;
}

// MARK: The certificate

bool cphone_make_certificate(const char *host, char *pem, size_t room)
{
    struct in_addr address;
    char text[INET_ADDRSTRLEN] = "";
    sscanf(host, "%15[^:]", text);
    gnutls_x509_privkey_t key = NULL;
    gnutls_x509_crt_t certificate = NULL;
    gnutls_datum_t texts[2] = {{NULL, 0}, {NULL, 0}};
    uint8_t serial[16];
    time_t day = 24 * 60 * 60, now = time(NULL);
    // Browsers refuse a serial number that another certificate of the same name has.
    bool is_made = inet_pton(AF_INET, text, &address) == 1
                   && getrandom(serial, sizeof serial, 0) == sizeof serial;
    serial[0] = (serial[0] & 0x7F) | 1;
#define TRY(name, ...) is_made = is_made && TLS(name, __VA_ARGS__) == 0
    TRY(x509_privkey_init, &key);
    TRY(x509_privkey_generate, key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    TRY(x509_crt_init, &certificate);
    TRY(x509_crt_set_version, certificate, 3);
    TRY(x509_crt_set_serial, certificate, serial, sizeof serial);
    TRY(x509_crt_set_activation_time, certificate, now - day);
    // Safari takes at most 825.
    TRY(x509_crt_set_expiration_time, certificate, now + 800 * day);
    TRY(x509_crt_set_dn_by_oid, certificate, GNUTLS_OID_X520_COMMON_NAME, 0, "DualCam", 7);
    TRY(x509_crt_set_subject_alt_name, certificate, GNUTLS_SAN_IPADDRESS, &address, 4, GNUTLS_FSAN_SET);
    TRY(x509_crt_set_basic_constraints, certificate, 0, -1);
    TRY(x509_crt_set_key_usage, certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
    TRY(x509_crt_set_key_purpose_oid, certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
    TRY(x509_crt_set_key, certificate, key);
    TRY(x509_crt_sign2, certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
    TRY(x509_privkey_export2, key, GNUTLS_X509_FMT_PEM, &texts[0]);
    TRY(x509_crt_export2, certificate, GNUTLS_X509_FMT_PEM, &texts[1]);
    is_made = is_made && texts[0].size + texts[1].size < room;
    if (is_made) snprintf(pem, room, "%s%s", (char *)texts[0].data, (char *)texts[1].data);
    // The library's own function is a pointer.
    void (**release)(void *) = dlsym(tls_library, "gnutls_free");
    for (int index = 0; index < 2; index++)
        if (texts[index].data && release) (*release)(texts[index].data);
    if (certificate) TLS(x509_crt_deinit, certificate);
    if (key) TLS(x509_privkey_deinit, key);
    return is_made;
}

bool cphone_is_valid(const char *pem)
{
    gnutls_datum_t text = {(unsigned char *)pem, (unsigned)strlen(pem)};
    gnutls_x509_crt_t certificate = NULL;
    gnutls_x509_privkey_t key = NULL;
    unsigned char ids[2][64] = {0};
    size_t sizes[2] = {sizeof ids[0], sizeof ids[1]};
    // Its end is a week away, and the key is its own.
    bool is_valid = TLS(x509_crt_init, &certificate) == 0 && TLS(x509_privkey_init, &key) == 0
                    && TLS(x509_crt_import, certificate, &text, GNUTLS_X509_FMT_PEM) == 0
                    && TLS(x509_privkey_import, key, &text, GNUTLS_X509_FMT_PEM) == 0
                    && TLS(x509_crt_get_key_id, certificate, 0, ids[0], &sizes[0]) == 0
                    && TLS(x509_privkey_get_key_id, key, 0, ids[1], &sizes[1]) == 0
                    && memcmp(ids[0], ids[1], sizeof ids[0]) == 0
                    && TLS(x509_crt_get_expiration_time, certificate) > time(NULL) + 7 * 24 * 60 * 60;
    if (certificate) TLS(x509_crt_deinit, certificate);
    if (key) TLS(x509_privkey_deinit, key);
    return is_valid;
}

// MARK: Limits

enum {
    // Of one request: bytes of a picture and of words, milliseconds to arrive and of waiting.
    most_picture = 4 << 20, most_words = 1024, most_upload_time = 10000, most_wait = 20000,
    // Pictures that arrive at a time.
    most_uploads = 4,
    // Connections, all and of one address, their seconds of silence, and memory for their headers.
    most_connections = 16, most_of_one = 8, silence = 5, header_memory = 32 << 10,
    // Milliseconds in which a connection has to show the key.
    most_strange_time = 10000,
    // Wrong secrets of one address, in milliseconds, before it is left alone for as long.
    most_guesses = 20, guess_time = 60000, most_guests = 64,
    // Milliseconds by which a picture may come later than usual, and for which later ones are left
    // out one after the other: then the network, or the phone's clock, is another. The stream waits
    // for a picture for longer than that.
    most_delay = 500, most_late_time = 800,
};

struct guest {
    uint32_t address;
    int guesses;
    int64_t since;
};

// A connection that has not shown the key.
struct stranger {
    struct MHD_Connection *connection;
    int64_t start;
};

enum kind { pairing, picture, words, waiting };

// A request that has passed all checks of what comes before its body.
struct request {
    enum kind kind;
    struct MHD_Connection *connection;
    int64_t start;
    uint64_t number;
    // That of the page.
    unsigned session;
    bool has_waited;
    size_t count, room;
    uint8_t body[];
};

struct cphone {
    struct MHD_Daemon *daemon;
    const char *page, *script, *style;
    char host[24];
    void *context;
    void (*happen)(void *, enum cphone_event, const void *, size_t);
    char code[cphone_code_length + 1];
    // Of the key; empty without one.
    char hash[cphone_hash_length + 1];
    // The page that sends: of several with the key the last one that was opened.
    char current[33];
    uint64_t last_picture;
    // The usual difference between our clock and a picture's time; since when all were late, and
    // when the last of these came.
    int64_t delay, late_since, late_last;
    char text[most_words];
    uint64_t number;
    // Those with the key that are being answered, and those of them that bring pictures.
    int requests, uploads;
    // The number of pages that have come.
    unsigned session;
    // The page's that waits for other words.
    struct request *waiting;
    struct guest guests[most_guests];
    struct stranger strangers[most_connections];
};

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static struct guest *guest(struct cphone *phone, uint32_t address)
{
    struct guest *oldest = phone->guests;
    for (int index = 0; index < most_guests; index++) {
        if (phone->guests[index].address == address) oldest = &phone->guests[index];
        else if (oldest->address != address && phone->guests[index].since < oldest->since)
            oldest = &phone->guests[index];
    }
    if (oldest->address != address || now() - oldest->since > guess_time)
        *oldest = (struct guest){address, 0, now()};
    return oldest;
}

static enum MHD_Result accepts(void *context, const struct sockaddr *address, socklen_t length)
{
    if (address->sa_family != AF_INET) return MHD_NO;
    uint32_t number = ((const struct sockaddr_in *)address)->sin_addr.s_addr;
    return guest(context, number)->guesses < most_guesses ? MHD_YES : MHD_NO;
}

static void forget_stranger(struct cphone *phone, struct MHD_Connection *connection)
{
    for (int index = 0; index < most_connections; index++)
        if (phone->strangers[index].connection == connection) phone->strangers[index].connection = NULL;
}

static void notice(void *context, struct MHD_Connection *connection, void **state,
                   enum MHD_ConnectionNotificationCode code)
{
    struct cphone *phone = context;
    forget_stranger(phone, connection);
    for (int index = 0; code == MHD_CONNECTION_NOTIFY_STARTED && index < most_connections; index++) {
        if (phone->strangers[index].connection) continue;
        phone->strangers[index] = (struct stranger){connection, now()};
        break;
    }
}

// The library ends a connection that is silent, but not one whose headers drip: those of two
// addresses would keep the phone out.
static void end_strangers(struct cphone *phone)
{
    for (int index = 0; index < most_connections; index++) {
        struct stranger *stranger = &phone->strangers[index];
        if (!stranger->connection || now() - stranger->start < most_strange_time) continue;
        const union MHD_ConnectionInfo *info =
            MHD(get_connection_info, stranger->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (info) shutdown(info->connect_fd, SHUT_RDWR);
        stranger->connection = NULL;
    }
}

// MARK: Answers

// Answers; an error ends the connection, so that the rest of the request is not read.
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              const char *body)
{
    struct MHD_Response *response =
        MHD(create_response_from_buffer, strlen(body), (void *)body, MHD_RESPMEM_MUST_COPY);
    if (!response) return MHD_NO;
    const char *headers[][2] = {
        {"Content-Type", type},
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
         "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"},
        {"Cache-Control", "no-store"}, {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Permissions-Policy", "camera=(self), screen-wake-lock=(self), microphone=(), geolocation=()"},
    };
    for (size_t index = 0; index < sizeof headers / sizeof *headers; index++)
        MHD(add_response_header, response, headers[index][0], headers[index][1]);
    if (status >= 400) MHD(add_response_header, response, "Connection", "close");
    enum MHD_Result result = MHD(queue_response, connection, status, response);
    MHD(destroy_response, response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status)
{
    return answer(connection, status, "text/plain", "");
}

static enum MHD_Result refuse_guess(struct cphone *phone, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD(get_connection_info, connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info) guest(phone, ((struct sockaddr_in *)info->client_addr)->sin_addr.s_addr)->guesses++;
    return refuse(connection, MHD_HTTP_UNAUTHORIZED);
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD(lookup_connection_value, connection, MHD_HEADER_KIND, name);
}

// Returns 0 for what is no number of a page's, which are below 2 to the power of 53.
static uint64_t number(struct MHD_Connection *connection, const char *name)
{
    const char *text = MHD(lookup_connection_value, connection, MHD_GET_ARGUMENT_KIND, name);
    uint64_t value = text ? strtoull(text, NULL, 10) : 0;
    return value < 1ull << 53 ? value : 0;
}

// Writes 32 bytes as digits, with an end.
static void write_digits(char *digits, const uint8_t *bytes)
{
    for (int index = 0; index < 32; index++) snprintf(digits + 2 * index, 3, "%02x", bytes[index]);
}

static bool hash_key(const char *key, char *digits)
{
    uint8_t hash[32];
    if (TLS(hash_fast, GNUTLS_DIG_SHA256, key, 64, hash) != 0) return false;
    write_digits(digits, hash);
    return true;
}

static bool has_key(struct cphone *phone, struct MHD_Connection *connection)
{
    const char *key = header(connection, "X-DualCam-Key");
    char hash[sizeof phone->hash];
    return phone->hash[0] && key && strlen(key) == 64 && hash_key(key, hash)
           && TLS(memcmp, hash, phone->hash, sizeof hash) == 0;
}

// Has the request that waits be answered.
static void stop_waiting(struct cphone *phone)
{
    struct request *request = phone->waiting;
    if (!request) return;
    phone->waiting = NULL;
    request->has_waited = true;
    MHD(resume_connection, request->connection);
}

// The code is worth a key once.
static enum MHD_Result pair(struct cphone *phone, struct MHD_Connection *connection, struct request *request)
{
    bool is_right = phone->code[0] && request->count == cphone_code_length
                    && TLS(memcmp, request->body, phone->code, cphone_code_length) == 0;
    uint8_t random[32];
    if (!is_right || getrandom(random, sizeof random, 0) != sizeof random)
        return refuse_guess(phone, connection);
    char key[65];
    write_digits(key, random);
    if (!hash_key(key, phone->hash)) return MHD_NO;
    phone->code[0] = phone->current[0] = 0;
    phone->session++;
    phone->happen(phone->context, cphone_paired, phone->hash, cphone_hash_length);
    return answer(connection, MHD_HTTP_OK, "text/plain", key);
}

// Returns true for a picture that was under way much longer than the others.
static bool is_late(struct cphone *phone, uint64_t time)
{
    int64_t arrival = now(), delay = arrival - (int64_t)time;
    if (phone->last_picture && delay - phone->delay > most_delay) {
        // Those before a pause say nothing of the network after it.
        if (!phone->late_since || arrival - phone->late_last > most_delay) phone->late_since = arrival;
        phone->late_last = arrival;
        if (arrival - phone->late_since < most_late_time) return true;
        phone->delay = delay;
    }
    // The least; a millisecond more with each picture, since clocks differ.
    phone->delay = phone->last_picture && delay > phone->delay ? phone->delay + 1 : delay;
    phone->late_since = 0;
    return false;
}

// Answers a request that is there as a whole.
static enum MHD_Result finish(struct cphone *phone, struct MHD_Connection *connection, struct request *request)
{
    // Another page, or another phone, has come since it began.
    if (request->kind != pairing && request->session != phone->session)
        return refuse(connection, MHD_HTTP_CONFLICT);
    switch (request->kind) {
    case pairing: return pair(phone, connection, request);
    case picture:
        // One that another has overtaken is of no use.
        if (request->number > phone->last_picture && request->count > 2 && request->body[0] == 0xFF
            && request->body[1] == 0xD8 && !is_late(phone, request->number)) {
            phone->last_picture = request->number;
            phone->happen(phone->context, cphone_picture, request->body, request->count);
        }
        break;
    case words: phone->happen(phone->context, cphone_told, request->body, request->count); break;
    case waiting:
        if (request->has_waited || request->number != phone->number)
            return answer(connection, MHD_HTTP_OK, "application/json", phone->text);
        // A page waits once.
        stop_waiting(phone);
        phone->waiting = request;
        MHD(suspend_connection, connection);
        return MHD_YES;
    }
    return answer(connection, MHD_HTTP_OK, "text/plain", "");
}

// MARK: Requests

// Answers a request for a page, with any code: which is right is not said to who only looks.
static enum MHD_Result give_page(struct cphone *phone, struct MHD_Connection *connection, const char *path)
{
    const char *type = "text/html; charset=utf-8", *text = NULL;
    if (!strcmp(path, "/") || strlen(path) == cphone_code_length + 1) text = phone->page;
    if (!strcmp(path, "/app.js")) type = "text/javascript; charset=utf-8", text = phone->script;
    if (!strcmp(path, "/style.css")) type = "text/css; charset=utf-8", text = phone->style;
    if (!text) return refuse(connection, MHD_HTTP_NOT_FOUND);
    if (text == phone->page) phone->happen(phone->context, cphone_seen, NULL, 0);
    return answer(connection, MHD_HTTP_OK, type, text);
}

// Checks all that comes before a request's body, and gives it room.
static enum MHD_Result begin(struct cphone *phone, struct MHD_Connection *connection, const char *path,
                             const char *method, struct request **result)
{
    const char *host = header(connection, "Host"), *origin = header(connection, "Origin");
    if (!host || strcmp(host, phone->host)) return refuse(connection, MHD_HTTP_MISDIRECTED_REQUEST);
    if (origin && (strncmp(origin, "https://", 8) || strcmp(origin + 8, phone->host)))
        return refuse(connection, MHD_HTTP_FORBIDDEN);
    bool gets = !strcmp(method, "GET");
    if (!gets && strcmp(method, "POST")) return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED);
    enum kind kind = waiting;
    if (gets && strcmp(path, "/wait")) return give_page(phone, connection, path);
    if (!gets) {
        if (!strcmp(path, "/picture")) kind = picture;
        else if (!strcmp(path, "/pair")) kind = pairing;
        else if (!strcmp(path, "/state")) kind = words;
        else return refuse(connection, MHD_HTTP_NOT_FOUND);
    }
    const char *name = header(connection, "X-DualCam-Page");
    uint64_t after = number(connection, kind == waiting ? "after" : "n");
    if (kind != pairing) {
        // This is no guess: pages of others cannot send a key, and must not shut the phone out.
        if (!header(connection, "X-DualCam-Key")) return refuse(connection, MHD_HTTP_UNAUTHORIZED);
        if (!has_key(phone, connection)) return refuse_guess(phone, connection);
        forget_stranger(phone, connection);
        if (!name || !name[0] || strlen(name) >= sizeof phone->current)
            return refuse(connection, MHD_HTTP_BAD_REQUEST);
        bool is_other = strcmp(name, phone->current);
        if (is_other && phone->current[0] && (kind != waiting || after != 0))
            return refuse(connection, MHD_HTTP_CONFLICT);
        if (is_other) {
            strcpy(phone->current, name);
            phone->session++;
            phone->last_picture = 0;
            stop_waiting(phone);
        }
    }
    const char *length = header(connection, "Content-Length");
    char *end = NULL;
    unsigned long long count = length && !gets ? strtoull(length, &end, 10) : 0;
    if (!gets && (!length || *end || header(connection, "Transfer-Encoding")))
        return refuse(connection, MHD_HTTP_LENGTH_REQUIRED);
    if (count > (kind == picture ? most_picture : most_words))
        return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE);
    if (kind == picture && phone->uploads >= most_uploads)
        return refuse(connection, MHD_HTTP_TOO_MANY_REQUESTS);

    struct request *request = calloc(1, sizeof *request + count);
    if (!request) return MHD_NO;
    *request = (struct request){
        .kind = kind, .connection = connection, .start = now(), .number = after, .room = count,
        .session = phone->session};
    if (kind != pairing) phone->requests++;
    if (kind == picture) phone->uploads++;
    *result = request;
    return MHD_YES;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *bytes,
                              size_t *count, void **state)
{
    struct cphone *phone = context;
    struct request *request = *state;
    if (!request) return begin(phone, connection, path, method, (struct request **)state);
    if (*count == 0) return finish(phone, connection, request);
    // The library ends a connection that is silent, but not one that drips.
    if (*count > request->room - request->count || now() - request->start > most_upload_time) return MHD_NO;
    memcpy(request->body + request->count, bytes, *count);
    request->count += *count;
    *count = 0;
    return MHD_YES;
}

static void completed(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode code)
{
    struct cphone *phone = context;
    struct request *request = *state;
    if (!request) return;
    if (phone->waiting == request) phone->waiting = NULL;
    if (request->kind != pairing) phone->requests--;
    if (request->kind == picture) phone->uploads--;
    free(request);
    *state = NULL;
}

struct cphone *cphone_make(int listener, const char *pem, const char *host, const void *page,
                           const void *script, const void *style, void *context,
                           void (*happen)(void *context, enum cphone_event, const void *bytes, size_t count))
{
    struct cphone *phone = calloc(1, sizeof *phone);
    if (!phone) return NULL;
    *phone = (struct cphone){.page = page, .script = script, .style = style, .context = context,
                             .happen = happen, .text = "{}"};
    snprintf(phone->host, sizeof phone->host, "%s", host);
    phone->daemon = MHD(
        start_daemon, MHD_USE_TLS | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, accepts, phone, handle, phone,
        MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_HTTPS_MEM_KEY, pem, MHD_OPTION_HTTPS_MEM_CERT, pem,
        MHD_OPTION_HTTPS_PRIORITIES, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2",
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)most_connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)most_of_one,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)silence,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)header_memory,
        MHD_OPTION_NOTIFY_CONNECTION, notice, phone, MHD_OPTION_NOTIFY_COMPLETED, completed, phone,
        MHD_OPTION_END);
    if (phone->daemon) return phone;
    free(phone);
    return NULL;
}

void cphone_admit(struct cphone *phone, const char *code)
{
    snprintf(phone->code, sizeof phone->code, "%s", code);
}

void cphone_know(struct cphone *phone, const char *hash)
{
    snprintf(phone->hash, sizeof phone->hash, "%s", hash);
}

void cphone_tell(struct cphone *phone, const char *text, uint64_t number)
{
    snprintf(phone->text, sizeof phone->text, "%s", text);
    phone->number = number;
    stop_waiting(phone);
}

void cphone_wait(struct cphone *phone, int other, unsigned most)
{
    const union MHD_DaemonInfo *info = MHD(get_daemon_info, phone->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    unsigned MHD_LONG_LONG left;
    if (MHD(get_timeout, phone->daemon, &left) != MHD_YES || left > most) left = most;
    struct pollfd watched[] = {{info ? info->epoll_fd : -1, POLLIN, 0}, {other, POLLIN, 0}};
    poll(watched, 2, (int)left);
}

int cphone_run(struct cphone *phone)
{
    if (phone->waiting && now() - phone->waiting->start >= most_wait) stop_waiting(phone);
    end_strangers(phone);
    MHD(run, phone->daemon);
    return phone->requests;
}
