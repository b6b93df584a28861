#include <string.h>

#include "CKernels.h"
#include "dispatch.h"

// Four packed pixels, and as many words to compute with.
typedef uint8_t bytes __attribute__((vector_size(8)));
typedef uint16_t words __attribute__((vector_size(16)));
typedef int16_t signed_words __attribute__((vector_size(16)));

void kernel_shadow_add(uint16_t *cells, const uint8_t *mask, int count, int step)
{
    for (int i = 0; i < count; i += step) {
        int sum = 0;
        for (int x = i; x < count && x < i + step; x++) sum += mask[2 * x];
        *cells++ += (uint16_t)sum;
    }
}

// Blurs numbers in place by 1 2 1, as if the first and the last went on.
static void smooth(uint16_t *at, int count, int stride)
{
    int before = at[0];
    for (int i = 0; i < count; i++, at += stride) {
        int now = at[0], after = i + 1 < count ? at[stride] : now;
        at[0] = (uint16_t)((before + 2 * now + after + 2) / 4);
        before = now;
    }
}

void kernel_shadow_blur(uint16_t *cells, int columns, int rows, float scale)
{
    // Twice 1 2 1 has a standard deviation of one.
    for (int twice = 0; twice < 2; twice++) {
        for (int y = 0; y < rows; y++) smooth(cells + y * columns, columns, 1);
        for (int x = 0; x < columns; x++) smooth(cells + x, rows, columns);
    }
    for (int i = 0; i < columns * rows; i++) cells[i] = (uint16_t)((float)cells[i] * scale);
}

// Darkens four pixels by a share, in 2^-16, that grows by `slope` with each.
static inline __attribute__((always_inline)) void darken(uint8_t *there, int share, int slope)
{
    const words black = {16, 128, 16, 128, 16, 128, 16, 128};
    const words place = {0, 0, 1, 1, 2, 2, 3, 3};
    bytes some;
    memcpy(&some, there, sizeof some);
    words light = __builtin_convertvector(some, words);
    signed_words shares = (signed_words)(((uint16_t)share + place * (uint16_t)slope) >> 8);
    signed_words less = ((signed_words)(light - black) * shares + 128) >> 8;
    some = __builtin_convertvector(light - (words)less, bytes);
    memcpy(there, &some, sizeof some);
}

DISPATCHED(kernel_shadow_lay,
           (uint8_t *there, const uint16_t *upper, const uint16_t *lower, int mix, int hidden,
            int count, int step),
           (there, upper, lower, mix, hidden, count, step))
{
    int columns = (count + step - 1) / step, part = 65536 / step, right = 0;
    for (int i = -1; i < columns; i++) {
        // From the middle of one cell to the middle of the next the shares form a slope.
        int left = right, next = i + 1 < columns ? i + 1 : columns - 1;
        right = upper[next] + ((lower[next] - upper[next]) * mix >> 8);
        if (i < 0) left = right;
        if (!(left | right) || (left == hidden && right == hidden)) continue;
        int from = i * step + step / 2, to = from + step;
        if (from < 0) from = 0;
        if (to > count) to = count;
        int slope = (right - left) * part / 65536, share = left + slope / 2;
        for (; from + 4 <= to; from += 4, share += 4 * slope)
            darken(there + 2 * from, share, slope);
        if (from == to) continue;
        uint8_t rest[8] = {0};
        memcpy(rest, there + 2 * from, 2 * (size_t)(to - from));
        darken(rest, share, slope);
        memcpy(there + 2 * from, rest, 2 * (size_t)(to - from));
    }
}
