// Compiles a kernel's body both for any x86-64 processor and for AVX2. Each call chooses one by
// asking the processor, which is a load and a test.
#ifndef DISPATCH_H
#define DISPATCH_H

// Frames come from memory beyond the caches, and two rows at a time are more than the processor
// fetches ahead by itself. Fetching this many bytes ahead makes halving a picture cost a quarter
// less.
#define FETCH_AHEAD(bytes) __builtin_prefetch((bytes) + 1024)

#if defined(__x86_64__)
#define HAS_AVX2 __builtin_cpu_supports("avx2")
#define AVX2 __attribute__((target("avx2")))
#define CHOSEN(scope, features, has_features, name, parameters, arguments)             \
    static inline __attribute__((always_inline)) void name##_body parameters;          \
    __attribute__((target(features))) static void name##_avx2 parameters               \
    {                                                                                  \
        name##_body arguments;                                                         \
    }                                                                                  \
    static void name##_plain parameters { name##_body arguments; }                     \
    scope void name parameters                                                         \
    {                                                                                  \
        if (has_features) name##_avx2 arguments;                                       \
        else name##_plain arguments;                                                   \
    }                                                                                  \
    static inline void name##_body parameters
#define DISPATCHED(name, parameters, arguments)                                        \
    CHOSEN(, "avx2", HAS_AVX2, name, parameters, arguments)
// A part of a kernel, or of several, that computes with fractions, and gains from multiplying and
// adding in one step.
#define HAS_FMA (HAS_AVX2 && __builtin_cpu_supports("fma"))
#define PART(name, parameters, arguments)                                              \
    CHOSEN(static, "avx2,fma", HAS_FMA, name, parameters, arguments)
#define SHARED(name, parameters, arguments)                                            \
    CHOSEN(, "avx2,fma", HAS_FMA, name, parameters, arguments)
#else
#define DISPATCHED(name, parameters, arguments) void name parameters
#define PART(name, parameters, arguments) static void name parameters
#define SHARED(name, parameters, arguments) void name parameters
#endif

#endif
