#include "layers.h"

#include <string.h>

void unpack_halves(float *numbers, const uint8_t *halves, int count)
{
    for (int i = 0; i < count; i++) {
        uint32_t half = (uint32_t)(halves[2 * i] | halves[2 * i + 1] << 8);
        // The exponents differ by 112; what is too small for a whole one comes out right as well.
        uint32_t bits = (half & 0x7fff) << 13;
        float value, scale = 0x1p112f;
        memcpy(&value, &bits, sizeof value);
        numbers[i] = half & 0x8000 ? -value * scale : value * scale;
    }
}

// Computes eight channels, `vectors` times, of `pixels` pixels: few enough for the registers.
ALWAYS void tile(float *out, const float *in, int pixels, int vectors, int from, int to,
                 const float *weights, const float *offsets, enum activation activation,
                 const float *add, int stride, int added)
{
    eight sum[6][2];
    for (int p = 0; p < pixels; p++)
        for (int v = 0; v < vectors; v++) {
            load(&sum[p][v], offsets + 8 * v);
            if (8 * v < added) sum[p][v] += *(const eight *)(add + p * stride + 8 * v);
        }
    for (int i = 0; i < from; i++) {
        eight weight[2];
        for (int v = 0; v < vectors; v++) load(&weight[v], weights + i * to + 8 * v);
        for (int p = 0; p < pixels; p++)
            for (int v = 0; v < vectors; v++) sum[p][v] += in[p * from + i] * weight[v];
    }
    for (int p = 0; p < pixels; p++)
        for (int v = 0; v < vectors; v++)
            finish(out + p * to + 8 * v, &sum[p][v], activation, 0);
}

SHARED(pointwise,
       (float *out, const float *in, int pixels, int from, int to, const float *weights,
        const float *offsets, enum activation activation, const float *add, int added),
       (out, in, pixels, from, to, weights, offsets, activation, add, added))
{
    int p = 0;
#define TILES(count, vectors)                                                          \
    tile(out + p * to + c, in + p * from, count, vectors, from, to, weights + c,       \
         offsets + c, activation, add ? add + p * added + c : 0, added,           \
         add ? added - c : 0)
#define PIXELS(count)                                                                  \
    for (; p + count <= pixels; p += count) {                                          \
        int c = 0;                                                                     \
        for (; c + 16 <= to; c += 16) TILES(count, 2);                                 \
        if (c < to) TILES(count, 1);                                                   \
    }
    PIXELS(6)
    PIXELS(2)
    PIXELS(1)
#undef PIXELS
#undef TILES
}

ALWAYS void filter_body(float *out, const float *const *rows, int pixels, int channels, int size,
                        int step, const float *weights, const float *offsets,
                        enum activation activation, int adds)
{
    for (int x = 0; x < pixels; x += 4)
        for (int c = 0; c < channels; c += 8) {
            eight sum[4];
            for (int p = 0; p < 4; p++) load(&sum[p], offsets + c);
            for (int i = 0; i < size * size; i++) {
                eight weight;
                load(&weight, weights + i * channels + c);
                const float *at = rows[i / size] + (x * step + i % size) * channels + c;
                for (int p = 0; p < 4; p++)
                    sum[p] += *(const eight *)(at + p * step * channels) * weight;
            }
            for (int p = 0; p < 4; p++) {
                const float *middle = rows[size / 2] + (x + p + size / 2) * channels + c;
                finish(out + (x + p) * channels + c, &sum[p], activation, adds ? middle : 0);
            }
        }
}

SHARED(depthwise,
       (float *out, const float *const *rows, int pixels, int channels, int size, int step,
        const float *weights, const float *offsets, enum activation activation, int adds),
       (out, rows, pixels, channels, size, step, weights, offsets, activation, adds))
{
#define FILTER(size, step)                                                             \
    filter_body(out, rows, pixels, channels, size, step, weights, offsets, activation, adds)
    if (size == 3 && step == 1) FILTER(3, 1);
    else if (size == 3) FILTER(3, 2);
    else if (step == 1) FILTER(5, 1);
    else FILTER(5, 2);
#undef FILTER
}
