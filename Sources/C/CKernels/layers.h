// The layers that networks are made of. A picture is rows of pixels, and a pixel its channels,
// whose counts are multiples of eight.
#ifndef LAYERS_H
#define LAYERS_H

#include <stdint.h>

#include "dispatch.h"

typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));

#define ALWAYS static inline __attribute__((always_inline))

enum activation { LINEAR, RELU, HARD_SWISH };

ALWAYS void load(eight *result, const float *at) { *result = *(const eight *)at; }

ALWAYS void finish(float *out, const eight *sum, enum activation activation, const float *add)
{
    eight value = *sum, zero = {0};
    if (activation == RELU) value = __builtin_elementwise_max(value, zero);
    if (activation == HARD_SWISH) {
        eight inner = __builtin_elementwise_max(value + 3, zero);
        value *= __builtin_elementwise_min(inner, zero + 6) * (1 / 6.0f);
    }
    if (add) value += *(const eight *)add;
    *(eight *)out = value;
}

// Makes numbers of so many half floats, two bytes each.
void unpack_halves(float *numbers, const uint8_t *halves, int count);

// Makes `to` channels of `from` in each pixel. Those of `add`, if it is there, are `added`, and are
// added to the first ones.
void pointwise(float *out, const float *in, int pixels, int from, int to, const float *weights,
               const float *offsets, enum activation activation, const float *add, int added);

// Filters each channel by `size` x `size` pixels; `adds` its middle, where `step` is 1.
void depthwise(float *out, const float *const *rows, int pixels, int channels, int size, int step,
               const float *weights, const float *offsets, enum activation activation, int adds);

#endif
