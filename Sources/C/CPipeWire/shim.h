// PipeWire, with shims for what Swift cannot import: variadic functions and macros.
//
// In PipeWire 0.3 every method of a loop, core or registry is a macro; in 1.4 the same names are
// inline functions. With names of our own the same Swift code builds against both. The shims for
// these methods can go when 1.4 is the oldest version.
#include <pipewire/pipewire.h>
#include <spa/param/audio/format-utils.h>
#include <spa/param/props.h>
#include <spa/param/video/format-utils.h>

/// Returns the descriptor that is readable when `cpw_loop_iterate` has something to do.
static inline int cpw_loop_get_fd(struct pw_loop *loop) { return pw_loop_get_fd(loop); }

/// Makes the calling thread the loop's thread.
static inline void cpw_loop_enter(struct pw_loop *loop) { pw_loop_enter(loop); }

/// Releases the loop from the calling thread.
static inline void cpw_loop_leave(struct pw_loop *loop) { pw_loop_leave(loop); }

/// Waits at most `timeout` milliseconds and calls the handlers; returns a negative errno on
/// failure.
static inline int cpw_loop_iterate(struct pw_loop *loop, int timeout) {
    return pw_loop_iterate(loop, timeout);
}

/// Makes the core answer with `done` when all requests before this one are done.
static inline int cpw_core_sync(struct pw_core *core, uint32_t id, int seq) { return pw_core_sync(core, id, seq); }

/// The callbacks of one connection and their hooks. It must not move while hooks are attached.
struct cpw_listeners {
    struct pw_core_events core;
    struct pw_registry_events registry;
    struct pw_stream_events stream;
    struct spa_hook core_hook, registry_hook, stream_hook;
};

/// Calls the core's callbacks in `listeners` with `data`, until `cpw_unlisten`.
static inline void cpw_listen_core(struct cpw_listeners *listeners, struct pw_core *core, void *data) {
    listeners->core.version = PW_VERSION_CORE_EVENTS;
    pw_core_add_listener(core, &listeners->core_hook, &listeners->core, data);
}

/// Does the same for the registry's callbacks.
static inline void cpw_listen_registry(struct cpw_listeners *listeners, struct pw_registry *registry, void *data) {
    listeners->registry.version = PW_VERSION_REGISTRY_EVENTS;
    pw_registry_add_listener(registry, &listeners->registry_hook, &listeners->registry, data);
}

/// Does the same for a stream's callbacks.
static inline void cpw_listen_stream(struct cpw_listeners *listeners, struct pw_stream *stream, void *data) {
    listeners->stream.version = PW_VERSION_STREAM_EVENTS;
    pw_stream_add_listener(stream, &listeners->stream_hook, &listeners->stream, data);
}

/// Ends all calls. Harmless if nothing was attached.
static inline void cpw_unlisten(struct cpw_listeners *listeners) {
    struct spa_hook *hooks[] = {&listeners->stream_hook, &listeners->registry_hook, &listeners->core_hook};
    for (int i = 0; i < 3; i++) {
        if (hooks[i]->link.next) spa_hook_remove(hooks[i]);
        *hooks[i] = (struct spa_hook){0};
    }
}

/// An object of the registry that is asked for its state, which the registry does not list in full.
/// One of the two kinds of callbacks is used. It must not move.
struct cpw_bound {
    struct pw_node_events node;
    struct pw_link_events link;
    struct spa_hook hook;
    struct pw_proxy *proxy;
};

/// Calls the callbacks of `bound`, those for a link or for a node, with `data` for the global `id`,
/// until `cpw_unbind`. Returns whether that is possible.
static inline bool cpw_bind(struct cpw_bound *bound, struct pw_registry *registry, uint32_t id, bool is_link, void *data) {
    const char *type = is_link ? PW_TYPE_INTERFACE_Link : PW_TYPE_INTERFACE_Node;
    uint32_t version = is_link ? PW_VERSION_LINK : PW_VERSION_NODE;
    bound->node.version = PW_VERSION_NODE_EVENTS;
    bound->link.version = PW_VERSION_LINK_EVENTS;
    bound->proxy = (struct pw_proxy *)pw_registry_bind(registry, id, type, version, 0);
    if (!bound->proxy) return false;
    const void *events = is_link ? (const void *)&bound->link : (const void *)&bound->node;
    pw_proxy_add_object_listener(bound->proxy, &bound->hook, events, data);
    return true;
}

/// Ends what `cpw_bind` began, if it did.
static inline void cpw_unbind(struct cpw_bound *bound) {
    if (!bound->proxy) return;
    spa_hook_remove(&bound->hook);
    pw_proxy_destroy(bound->proxy);
}

/// SPA_IO_CLOCK_FLAG_NO_RATE: time follows `nsec` alone, as for PipeWire's own cameras. The headers
/// have it since PipeWire 1.4; version 0.3 ignores it. It can go when 1.4 is the oldest version.
static const uint32_t CPW_CLOCK_NO_RATE = 1u << 3;

// Whether a global is of a type. The constants are two adjacent literals each, which Swift does not
// import.
static inline bool cpw_is_link(const char *type) { return spa_streq(type, PW_TYPE_INTERFACE_Link); }
static inline bool cpw_is_client(const char *type) { return spa_streq(type, PW_TYPE_INTERFACE_Client); }
static inline bool cpw_is_node(const char *type) { return spa_streq(type, PW_TYPE_INTERFACE_Node); }

// Other processes change the count of a buffer's readers, which is in shared memory; Swift's
// atomics cannot be placed in memory that they do not own.

/// Sets the count of readers to 0 and returns the count before.
static inline uint32_t cpw_busy_take(struct spa_meta_busy *busy) {
    return __atomic_exchange_n(&busy->count, 0, __ATOMIC_SEQ_CST);
}

/// Adds `count` readers, or removes some if it is negative.
static inline void cpw_busy_add(struct spa_meta_busy *busy, int64_t count) {
    __atomic_fetch_add(&busy->count, (uint32_t)count, __ATOMIC_SEQ_CST);
}

/// Builds in `memory` the format of a stream of `channels` interleaved floats at `rate` hertz, or
/// returns NULL if there is no room for it. The builder is a macro, which Swift does not import.
static inline const struct spa_pod *cpw_build_sound_format(void *memory, uint32_t size, uint32_t rate,
                                                           uint32_t channels) {
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, size);
    struct spa_audio_info_raw info = {.format = SPA_AUDIO_FORMAT_F32, .rate = rate, .channels = channels};
    info.position[0] = channels == 1 ? SPA_AUDIO_CHANNEL_MONO : SPA_AUDIO_CHANNEL_FL;
    info.position[1] = SPA_AUDIO_CHANNEL_FR;
    return spa_format_audio_raw_build(&builder, SPA_PARAM_EnumFormat, &info);
}
