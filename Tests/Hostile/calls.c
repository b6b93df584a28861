// The calls of `hostile-client calls`: see hostile.h.
//
// Each round is a process of its own with a connection of its own, so that callers really vanish:
// some at once after their calls, some without ever reading an answer.
#define _GNU_SOURCE
#include "hostile.h"
#include <dbus/dbus.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME "org.dualcam.DualCam1"
#define ROOT "/org/dualcam/DualCam1"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define COUNT(array) (sizeof(array) / sizeof *(array))
// The calls of one connection, and the connections at once.
enum { CALLS = 40, MOST_CHILDREN = 8 };

static struct member {
    char path[96], interface[96], name[64], signature[64];
    int is_property;
} members[512];
static int member_count;

static const char *const paths[] = {ROOT, ROOT "/camera/back", ROOT "/camera/front", ROOT "/camera", "/", "/nowhere", ROOT "/a/b/c"};
// What a program outside a sandbox may do, and a person would see: the rest is played through. A
// toggle that waits for the one before would begin a recording after the attack has ended.
static const char *const left_out[] = {"Stop", "Toggle", "ToggleRecording", "Restore", "Enabled", "Next"};
static const char *const words[] = {
    "", "back", "front", "stream", "all", "both", "auto", "pip", "stacked", "top-left", "on", "iso", "shutter", "focus",
    "../../etc/passwd", "/dev/stdout", "/", "nan", "1e999", "\342\200\256lab\n\033[2J", "%s%n", "org.dualcam.DualCam1.Scene",
};
static const char *const options[] = {"of", "full", "live", "audio", "encoder", "mp4", "instant", "camera", "at", "ramp-ms", "x", ""};
static const double doubles[] = {0.25, 1, 2, 0, -0.0, -1, 1e-320, 1e308, -1e308, 1e19};
static char *long_text;
static int reader = -1, writer = -1;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int is_one_in(int count) { return rand() % count == 0; }

static uint64_t number(void) {
    static const uint64_t odd[] = {0, 1, 2, 90, 100, 5000, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX, 1u << 31};
    return is_one_in(4) ? (uint64_t)rand() * rand() : odd[rand() % COUNT(odd)];
}

static const char *text(void) { return is_one_in(200) ? long_text : words[rand() % COUNT(words)]; }

static const char *random_signature(int depth) {
    static const char *const all[] = {"y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "h", "as", "a{sv}", "(ss)", "aay", "v", "a{ss}", "(ida{sv})", "aaaaai"};
    // Descriptors may not be in the way too often: each message may have a few.
    return all[rand() % (depth > 3 ? 10 : COUNT(all))];
}

static void append_value(DBusMessageIter *target, DBusSignatureIter *type, int depth);

static void append_signature(DBusMessageIter *target, const char *signature, int depth) {
    if (!*signature) return;
    DBusSignatureIter type;
    dbus_signature_iter_init(&type, signature);
    do append_value(target, &type, depth);
    while (dbus_signature_iter_next(&type));
}

static void append_variant(DBusMessageIter *target, const char *signature, int depth) {
    DBusMessageIter inner;
    dbus_message_iter_open_container(target, DBUS_TYPE_VARIANT, signature, &inner);
    append_signature(&inner, signature, depth + 1);
    dbus_message_iter_close_container(target, &inner);
}

static void append_options(DBusMessageIter *target, int depth) {
    DBusMessageIter inner, entry;
    dbus_message_iter_open_container(target, DBUS_TYPE_ARRAY, "{sv}", &inner);
    int count = is_one_in(300) ? 5000 : is_one_in(2) ? 0 : rand() % 4;
    for (int i = 0; i < count; i++) {
        const char *key = count > 100 ? "x" : options[rand() % COUNT(options)];
        // A photograph of each call would be one of thousands of files.
        if (!strcmp(key, "full") || !strcmp(key, "live")) key = "of";
        dbus_message_iter_open_container(&inner, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
        dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
        append_variant(&entry, count > 100 ? "u" : is_one_in(2) ? "s" : random_signature(depth), depth);
        dbus_message_iter_close_container(&inner, &entry);
    }
    dbus_message_iter_close_container(target, &inner);
}

static void append_value(DBusMessageIter *target, DBusSignatureIter *type, int depth) {
    int kind = dbus_signature_iter_get_current_type(type);
    uint64_t integer = number();
    union { uint8_t y; dbus_bool_t b; uint16_t q; uint32_t u; uint64_t t; double d; const char *s; int h; } value;
    memcpy(&value, &integer, sizeof integer);
    DBusMessageIter inner;
    DBusSignatureIter part;
    switch (kind) {
    case DBUS_TYPE_BOOLEAN: value.b = integer & 1; break;
    case DBUS_TYPE_DOUBLE: value.d = is_one_in(4) ? (is_one_in(2) ? NAN : INFINITY) : doubles[rand() % COUNT(doubles)]; break;
    case DBUS_TYPE_STRING: value.s = text(); break;
    case DBUS_TYPE_OBJECT_PATH: value.s = paths[rand() % COUNT(paths)]; break;
    case DBUS_TYPE_SIGNATURE: value.s = random_signature(0); break;
    case DBUS_TYPE_UNIX_FD: value.h = is_one_in(2) ? reader : writer; break;
    case DBUS_TYPE_VARIANT: append_variant(target, random_signature(depth), depth); return;
    case DBUS_TYPE_ARRAY: {
        dbus_signature_iter_recurse(type, &part);
        char *element = dbus_signature_iter_get_signature(&part);
        if (!strcmp(element, "{sv}")) {
            append_options(target, depth);
        } else if (!strcmp(element, "y")) {
            // The library takes bytes as a whole.
            dbus_message_iter_open_container(target, DBUS_TYPE_ARRAY, element, &inner);
            dbus_message_iter_append_fixed_array(&inner, DBUS_TYPE_BYTE, &long_text, is_one_in(50) ? 150000 : rand() % 100);
            dbus_message_iter_close_container(target, &inner);
        } else {
            dbus_message_iter_open_container(target, DBUS_TYPE_ARRAY, element, &inner);
            int most = depth < 2 && !strchr(element, 'h') && strlen(element) == 1 && is_one_in(150) ? 20000 : 4;
            for (int i = most > 4 ? most : rand() % most; i > 0; i--) append_signature(&inner, element, depth + 1);
            dbus_message_iter_close_container(target, &inner);
        }
        dbus_free(element);
        return;
    }
    case DBUS_TYPE_STRUCT:
    case DBUS_TYPE_DICT_ENTRY:
        dbus_signature_iter_recurse(type, &part);
        dbus_message_iter_open_container(target, kind, NULL, &inner);
        do append_value(&inner, &part, depth + 1);
        while (dbus_signature_iter_next(&part));
        dbus_message_iter_close_container(target, &inner);
        return;
    }
    dbus_message_iter_append_basic(target, kind, &value);
}

static int is_left_out(const char *name) {
    for (size_t i = 0; i < COUNT(left_out); i++)
        if (!strcmp(name, left_out[i])) return 1;
    return 0;
}

static DBusMessage *call_of(const struct member *member) {
    // Of the right form, with another path, interface, member or signature, or of a property.
    int odd = rand() % 12;
    const char *path = odd == 0 ? paths[rand() % COUNT(paths)] : member->path;
    const char *interface = odd == 1 ? "org.dualcam.DualCam1.Nothing" : odd == 2 ? NULL : member->interface;
    const char *name = odd == 3 ? "Dance" : member->name;
    DBusMessage *call;
    DBusMessageIter body;
    if (member->is_property) {
        static const char *const verbs[] = {"Get", "GetAll", "Set", "Set", "Set", "Set"};
        const char *verb = verbs[rand() % COUNT(verbs)];
        call = dbus_message_new_method_call(NAME, path, PROPERTIES, verb);
        dbus_message_iter_init_append(call, &body);
        interface = odd == 2 ? "" : interface;
        dbus_message_iter_append_basic(&body, DBUS_TYPE_STRING, &interface);
        if (strcmp(verb, "GetAll")) dbus_message_iter_append_basic(&body, DBUS_TYPE_STRING, &name);
        if (!strcmp(verb, "Set")) {
            int is_odd = is_left_out(name) || is_one_in(3);
            append_variant(&body, is_odd && strcmp(member->signature, "(bu)") ? "(bu)" : member->signature, 0);
        }
        return call;
    }
    call = dbus_message_new_method_call(NAME, path, interface, name);
    dbus_message_iter_init_append(call, &body);
    // A photograph is refused or taken; a few of them are enough.
    int is_right = is_one_in(3) ? 0 : !is_left_out(name) && (strcmp(name, "TakePhoto") || is_one_in(20));
    if (is_right) {
        append_signature(&body, member->signature, 0);
    } else {
        // Not by chance of the right form.
        append_signature(&body, is_left_out(name) ? "u" : "", 0);
        for (int i = rand() % 4 + 1; i > 0; i--) append_signature(&body, random_signature(0), 0);
    }
    return call;
}

static DBusConnection *connect_bus(void) {
    const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
    DBusConnection *bus = dbus_connection_open_private(address ? address : "", NULL);
    if (!bus || !dbus_bus_register(bus, NULL)) exit(1);
    dbus_connection_set_exit_on_disconnect(bus, FALSE);
    return bus;
}

static DBusHandlerResult ignore(DBusConnection *bus, DBusMessage *message, void *data) { return DBUS_HANDLER_RESULT_HANDLED; }

// One caller. Counts its calls in `count`, and ends its process.
static void call_and_vanish(volatile unsigned long *count) {
    DBusConnection *bus = connect_bus();
    dbus_connection_add_filter(bus, ignore, NULL, NULL);
    int is_deaf = is_one_in(3);
    for (int i = 0; i < CALLS; i++) {
        DBusMessage *call = call_of(&members[rand() % member_count]);
        if (is_one_in(8)) dbus_message_set_no_reply(call, TRUE);
        dbus_connection_send(bus, call, NULL);
        dbus_message_unref(call);
        dbus_connection_flush(bus);
        __sync_fetch_and_add(count, 1);
        if (!is_deaf) while (dbus_connection_read_write_dispatch(bus, 0) && dbus_connection_get_dispatch_status(bus) == DBUS_DISPATCH_DATA_REMAINS) {}
    }
    // Some leave at once, some with their answers unread, some after they had them.
    if (!is_one_in(3)) {
        double end = now() + 0.3;
        while (now() < end) {
            if (is_deaf) usleep(20000);
            else dbus_connection_read_write_dispatch(bus, 50);
        }
    }
    _exit(0);
}

// Adds the members at `path` and below. The document is our own, one element each line.
static void learn(DBusConnection *bus, const char *path) {
    DBusMessage *call = dbus_message_new_method_call(NAME, path, "org.freedesktop.DBus.Introspectable", "Introspect");
    DBusMessage *answer = dbus_connection_send_with_reply_and_block(bus, call, 10000, NULL);
    const char *document = NULL;
    if (!answer || !dbus_message_get_args(answer, NULL, DBUS_TYPE_STRING, &document, DBUS_TYPE_INVALID)) exit(1);
    char *copy = strdup(document), *rest = copy, *line, interface[96] = "", value[96];
    struct member *method = NULL;
    while ((line = strsep(&rest, "\n"))) {
        struct member *member = &members[member_count];
        if (sscanf(line, " <node name=\"%95[^\"]", value) == 1 && *value != '/') {
            char child[200];
            snprintf(child, sizeof child, "%s/%s", path, value);
            learn(bus, child);
        } else if (sscanf(line, " <interface name=\"%95[^\"]", interface) == 1) {
            method = NULL;
        } else if (sscanf(line, " <method name=\"%63[^\"]", value) == 1 || sscanf(line, " <property name=\"%63[^\"]", value) == 1) {
            if (member_count >= (int)COUNT(members) - 1) exit(1);
            snprintf(member->path, sizeof member->path, "%s", path);
            snprintf(member->interface, sizeof member->interface, "%s", interface);
            snprintf(member->name, sizeof member->name, "%s", value);
            member->is_property = strstr(line, "<property") != NULL;
            char *type = strstr(line, "type=\"");
            if (member->is_property && type) sscanf(type, "type=\"%63[^\"]", member->signature);
            method = member->is_property ? NULL : member;
            member_count++;
        } else if (method && strstr(line, "<arg ") && strstr(line, "direction=\"in\"")) {
            char *type = strstr(line, "type=\"");
            if (type && sscanf(type, "type=\"%60[^\"]", value) == 1)
                strncat(method->signature, value, sizeof method->signature - strlen(method->signature) - 1);
        } else if (strstr(line, "<signal")) {
            method = NULL;
        }
    }
    free(copy);
    dbus_message_unref(answer);
    dbus_message_unref(call);
}

int attack_with_calls(double seconds, int rate) {
    int ends[2];
    long_text = malloc(1 << 18);
    memset(long_text, 'x', 1 << 18);
    long_text[(1 << 18) - 1] = 0;
    // A pipe that nobody reads, with room for a page.
    if (pipe2(ends, O_CLOEXEC)) return 1;
    reader = ends[0];
    writer = ends[1];
    volatile unsigned long *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (count == MAP_FAILED) return 1;
    DBusConnection *bus = connect_bus();
    learn(bus, ROOT);
    dbus_connection_close(bus);
    if (member_count < 50) return 1;
    double start = now();
    int children = 0, status, failures = 0;
    while (now() < start + seconds) {
        while (children > 0 && waitpid(-1, &status, children < MOST_CHILDREN ? WNOHANG : 0) > 0) {
            children--;
            failures += status != 0;
        }
        if (*count > (now() - start) * rate) {
            usleep(5000);
            continue;
        }
        int seed = rand();
        pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            srand(seed);
            call_and_vanish(count);
        }
        children++;
    }
    while (children > 0 && waitpid(-1, &status, 0) > 0) {
        children--;
        failures += status != 0;
    }
    // A daemon that has gone, or a bus that throws callers out, would be a calm peer.
    if (failures > 0) fprintf(stderr, "%d callers failed\n", failures);
    printf("%lu %d\n", *count, member_count);
    return failures > 0;
}
