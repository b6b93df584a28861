// PipeWire. Shims stand here for what Swift cannot import: variadic functions and macros.
//
// In PipeWire 0.3 every method of a loop, core or registry is a macro; in 1.4 the same names are
// inline functions. Under names of our own the same Swift code is built against both.
#include <pipewire/pipewire.h>
#include <spa/param/audio/format-utils.h>
#include <spa/param/props.h>
#include <spa/param/video/format-utils.h>

/// The descriptor that is readable when `cpw_loop_iterate` has something to do.
static inline int cpw_loop_get_fd(struct pw_loop *loop) { return pw_loop_get_fd(loop); }

/// Makes the calling thread the loop's own.
static inline void cpw_loop_enter(struct pw_loop *loop) { pw_loop_enter(loop); }

/// Takes the loop from the calling thread.
static inline void cpw_loop_leave(struct pw_loop *loop) { pw_loop_leave(loop); }

/// Waits at most `timeout` milliseconds and calls those concerned; a negative errno on failure.
static inline int cpw_loop_iterate(struct pw_loop *loop, int timeout) {
    return pw_loop_iterate(loop, timeout);
}

/// Has the core answer with `done` when all before this is done.
static inline int cpw_core_sync(struct pw_core *core, uint32_t id, int seq) { return pw_core_sync(core, id, seq); }

/// What PipeWire calls for one connection, and the hooks that hang there. It stays where it is while they do.
struct cpw_listeners {
    struct pw_core_events core;
    struct pw_registry_events registry;
    struct pw_stream_events stream;
    struct spa_hook core_hook, registry_hook, stream_hook;
};

/// Has what `listeners` says of the core called with `data`, until `cpw_unlisten`.
static inline void cpw_listen_core(struct cpw_listeners *listeners, struct pw_core *core, void *data) {
    listeners->core.version = PW_VERSION_CORE_EVENTS;
    pw_core_add_listener(core, &listeners->core_hook, &listeners->core, data);
}

/// The same for what comes into the registry and goes.
static inline void cpw_listen_registry(struct cpw_listeners *listeners, struct pw_registry *registry, void *data) {
    listeners->registry.version = PW_VERSION_REGISTRY_EVENTS;
    pw_registry_add_listener(registry, &listeners->registry_hook, &listeners->registry, data);
}

/// The same for a stream.
static inline void cpw_listen_stream(struct cpw_listeners *listeners, struct pw_stream *stream, void *data) {
    listeners->stream.version = PW_VERSION_STREAM_EVENTS;
    pw_stream_add_listener(stream, &listeners->stream_hook, &listeners->stream, data);
}

/// No more calls. Harmless where nothing was hung.
static inline void cpw_unlisten(struct cpw_listeners *listeners) {
    struct spa_hook *hooks[] = {&listeners->stream_hook, &listeners->registry_hook, &listeners->core_hook};
    for (int i = 0; i < 3; i++) {
        if (hooks[i]->link.next) spa_hook_remove(hooks[i]);
        *hooks[i] = (struct spa_hook){0};
    }
}

/// SPA_IO_CLOCK_FLAG_NO_RATE: time follows `nsec` alone, as it does for PipeWire's own cameras. Since PipeWire 1.4;
/// the headers of 0.3 lack it, and there it is ignored.
static const uint32_t CPW_CLOCK_NO_RATE = 1u << 3;

/// Whether a global's type is Link. The constant is two literals side by side, which Swift drops.
static inline bool cpw_is_link(const char *type) {
    return spa_streq(type, PW_TYPE_INTERFACE_Link);
}

// The count of a buffer's readers lies in memory that other processes change; Swift's atomics
// cannot be laid over memory that is not theirs.

/// Sets the count of readers to 0 and returns what it was.
static inline uint32_t cpw_busy_take(struct spa_meta_busy *busy) {
    return __atomic_exchange_n(&busy->count, 0, __ATOMIC_SEQ_CST);
}

/// Adds `count` readers, or takes some away when it is negative.
static inline void cpw_busy_add(struct spa_meta_busy *busy, int64_t count) {
    __atomic_fetch_add(&busy->count, (uint32_t)count, __ATOMIC_SEQ_CST);
}

/// Builds in `memory` the format that a stream of `channels` interleaved floats, `rate` times a second, takes;
/// NULL where that has no room. The builder is a macro.
static inline const struct spa_pod *cpw_build_sound_format(void *memory, uint32_t size, uint32_t rate,
                                                           uint32_t channels) {
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, size);
    struct spa_audio_info_raw info = {.format = SPA_AUDIO_FORMAT_F32, .rate = rate, .channels = channels};
    info.position[0] = channels == 1 ? SPA_AUDIO_CHANNEL_MONO : SPA_AUDIO_CHANNEL_FL;
    info.position[1] = SPA_AUDIO_CHANNEL_FR;
    return spa_format_audio_raw_build(&builder, SPA_PARAM_EnumFormat, &info);
}
