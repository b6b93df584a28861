// hostile-client pods NODE SECONDS [SEED]: writes to the PipeWire node with that id whatever a
// client may, as fast as the daemon answers: properties that are no numbers, that are no
// properties, that end before they should, and none at all. Binds the node anew again and again,
// and prints how many parameters it wrote.
// hostile-client calls RATE SECONDS [SEED]: calls the daemon on the session bus (hostile.h).
#include "hostile.h"
#include <math.h>
#include <pipewire/pipewire.h>
#include <spa/param/props.h>
#include <spa/pod/builder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint32_t keys[] = {SPA_PROP_exposure, SPA_PROP_gain, SPA_PROP_START_CUSTOM + 1, SPA_PROP_START_CUSTOM + 2};
static uint8_t memory[1 << 17];
static float zeros[16384];
static int answered, lost;

static void done(void *data, uint32_t id, int seq) { answered = seq; }
static void failed(void *data, uint32_t id, int seq, int result, const char *message) {
    lost |= id == PW_ID_CORE && result == -EPIPE;
}
static const struct pw_core_events events = {PW_VERSION_CORE_EVENTS, .done = done, .error = failed};

static void add_value(struct spa_pod_builder *builder, int kind) {
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, -0.0f};
    struct spa_pod_frame frame;
    switch (kind % 14) {
    case 6: spa_pod_builder_int(builder, INT32_MIN); break;
    case 7: spa_pod_builder_string(builder, "1e999"); break;
    case 8: spa_pod_builder_double(builder, NAN); break;
    case 9: spa_pod_builder_array(builder, sizeof(float), SPA_TYPE_Float, 16384, zeros); break;
    case 10: spa_pod_builder_none(builder); break;
    case 11: spa_pod_builder_long(builder, INT64_MAX); break;
    case 12:
        spa_pod_builder_push_choice(builder, &frame, SPA_CHOICE_Range, 0);
        spa_pod_builder_pop(builder, &frame);
        break;
    case 13: spa_pod_builder_fraction(builder, 1, 0); break;
    default: spa_pod_builder_float(builder, odd[kind % 14]);
    }
}

// Returns the pod number `kind`, or NULL.
static const struct spa_pod *make(int kind) {
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    struct spa_pod_frame frame;
    if (kind % 23 == 0) return NULL;
    uint32_t type = kind % 19 == 0 ? SPA_TYPE_OBJECT_Format : SPA_TYPE_OBJECT_Props;
    spa_pod_builder_push_object(&builder, &frame, type, SPA_PARAM_Props);
    for (int i = 0; i < 4; i++) {
        spa_pod_builder_prop(&builder, keys[i], 0);
        add_value(&builder, kind + i);
    }
    struct spa_pod *pod = spa_pod_builder_pop(&builder, &frame);
    // Cut off in the middle of a value, or with a value that claims to be larger than everything.
    if (kind % 17 == 1 && pod->size > 20) pod->size -= 12;
    if (kind % 17 == 2) ((struct spa_pod *)(memory + 24))->size = 0x7fffffff;
    return pod;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    uint32_t id = strtoul(arguments[2], NULL, 10);
    double seconds = strtod(arguments[3], NULL), end = now() + seconds;
    srand(count > 4 ? strtoul(arguments[4], NULL, 10) : 1);
    if (!strcmp(arguments[1], "calls")) return attack_with_calls(seconds, id);
    unsigned long written = 0, connections = 0;
    pw_init(NULL, NULL);
    while (now() < end) {
        struct pw_main_loop *main_loop = pw_main_loop_new(NULL);
        struct pw_loop *loop = pw_main_loop_get_loop(main_loop);
        struct pw_context *context = pw_context_new(loop, NULL, 0);
        struct pw_core *core = context ? pw_context_connect(context, NULL, 0) : NULL;
        if (!core) return 1;
        struct spa_hook hook = {0};
        pw_core_add_listener(core, &hook, &events, NULL);
        struct pw_registry *registry = pw_core_get_registry(core, PW_VERSION_REGISTRY, 0);
        connections++;
        lost = 0;
        while (now() < end && !lost) {
            struct pw_node *node = pw_registry_bind(registry, id, PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, 0);
            for (int i = 0; node && i < 20; i++, written++) {
                pw_node_set_param(node, SPA_PARAM_Props, 0, make(rand()));
            }
            // The answer to this comes after all that was written was read.
            int asked = pw_core_sync(core, PW_ID_CORE, 0);
            for (int i = 0; answered != asked && !lost && i < 100; i++) pw_loop_iterate(loop, 20);
            if (node) pw_proxy_destroy((struct pw_proxy *)node);
        }
        spa_hook_remove(&hook);
        pw_core_disconnect(core);
        pw_context_destroy(context);
        pw_main_loop_destroy(main_loop);
    }
    printf("%lu %lu\n", written, connections);
    return 0;
}
