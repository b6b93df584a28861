#include "CKernels.h"

#include <stddef.h>
#include <string.h>

#include "dispatch.h"

// Sixteen bytes, and as many words to compute with.
typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint16_t words __attribute__((vector_size(32)));

static inline __attribute__((always_inline)) void load(words *result, const uint8_t *source)
{
    bytes loaded;
    memcpy(&loaded, source, sizeof loaded);
    *result = __builtin_convertvector(loaded, words);
}

DISPATCHED(kernel_pack,
           (uint8_t *packed, const uint8_t *luma, const uint8_t *chroma, int count,
            struct kernel_gain gain),
           (packed, luma, chroma, count, gain))
{
    // Two bytes at a time, little endian: luma low, chroma high.
    int i = 0;
    for (; i + 16 <= count; i += 16) {
        FETCH_AHEAD(luma + i);
        words y, c;
        load(&y, luma + i);
        load(&c, chroma + i);
        y = (y * gain.luma_scale + gain.luma_offset) >> 8;
        c = (c * gain.chroma_scale + gain.chroma_offset) & 0xff00;
        words both = y | c;
        memcpy(packed + 2 * i, &both, sizeof both);
    }
    for (; i < count; i++) {
        uint16_t y = luma[i] * gain.luma_scale + gain.luma_offset;
        uint16_t c = chroma[i] * gain.chroma_scale + gain.chroma_offset;
        uint16_t both = (uint16_t)(y >> 8) | (c & 0xff00);
        memcpy(packed + 2 * i, &both, 2);
    }
}

DISPATCHED(kernel_split,
           (uint8_t *restrict luma, uint8_t *restrict chroma, const uint8_t *restrict packed,
            int count, int swapped),
           (luma, chroma, packed, count, swapped))
{
    uint8_t *low = swapped ? chroma : luma;
    uint8_t *high = swapped ? luma : chroma;
    for (int i = 0; i < count; i++) {
        uint16_t both;
        memcpy(&both, packed + 2 * i, 2);
        low[i] = (uint8_t)both;
        high[i] = both >> 8;
    }
}

DISPATCHED(kernel_split_mixed,
           (uint8_t *luma, uint8_t *chroma, const uint8_t *upper, const uint8_t *lower,
            int count, int share),
           (luma, chroma, upper, lower, count, share))
{
    uint16_t above = (uint16_t)(256 - share), below = (uint16_t)share;
    int i = 0;
    for (; i + 16 <= count; i += 16) {
        FETCH_AHEAD(upper + 2 * i);
        FETCH_AHEAD(lower + 2 * i);
        words a, b;
        memcpy(&a, upper + 2 * i, sizeof a);
        memcpy(&b, lower + 2 * i, sizeof b);
        words y = ((a & 255) * above + (b & 255) * below + 128) >> 8;
        words c = ((a >> 8) * above + (b >> 8) * below + 128) >> 8;
        bytes low = __builtin_convertvector(y, bytes), high = __builtin_convertvector(c, bytes);
        memcpy(luma + i, &low, sizeof low);
        memcpy(chroma + i, &high, sizeof high);
    }
    for (; i < count; i++) {
        int place = 2 * i;
        luma[i] = (uint8_t)((upper[place] * above + lower[place] * below + 128) >> 8);
        place++;
        chroma[i] = (uint8_t)((upper[place] * above + lower[place] * below + 128) >> 8);
    }
}

DISPATCHED(kernel_interleave,
           (uint8_t *restrict pairs, const uint8_t *restrict a, const uint8_t *restrict b,
            int count),
           (pairs, a, b, count))
{
    for (int i = 0; i < count; i++) {
        uint16_t both = (uint16_t)(a[i] | b[i] << 8);
        memcpy(pairs + 2 * i, &both, 2);
    }
}

DISPATCHED(kernel_deinterleave,
           (uint8_t *restrict a, uint8_t *restrict b, const uint8_t *restrict pairs, int count),
           (a, b, pairs, count))
{
    for (int i = 0; i < count; i++) {
        uint16_t both;
        memcpy(&both, pairs + 2 * i, 2);
        a[i] = (uint8_t)both;
        b[i] = both >> 8;
    }
}

DISPATCHED(kernel_convert, (uint8_t *packed, int count, struct kernel_matrix m),
           (packed, count, m))
{
    for (int i = 0; i < count / 2; i++) {
        uint32_t pair;
        memcpy(&pair, packed + 4 * i, 4);
        int32_t y0 = pair & 255, u = pair >> 8 & 255, y1 = pair >> 16 & 255, v = pair >> 24;
        int32_t sum = m.y_u * u + m.y_v * v + m.y_offset;
        int32_t out[4] = {
            (m.y_y * y0 + sum) >> 14,
            (m.u_u * u + m.u_v * v + m.u_offset) >> 14,
            (m.y_y * y1 + sum) >> 14,
            (m.v_u * u + m.v_v * v + m.v_offset) >> 14,
        };
        uint32_t result = 0;
        for (int k = 0; k < 4; k++) {
            int32_t value = out[k] < 0 ? 0 : out[k] > 255 ? 255 : out[k];
            result |= (uint32_t)value << 8 * k;
        }
        memcpy(packed + 4 * i, &result, 4);
    }
}

DISPATCHED(kernel_blend,
           (uint8_t *there, const uint8_t *content, const uint8_t *keep, const uint8_t *take,
            const uint8_t *add, int count),
           (there, content, keep, take, add, count))
{
    int i = 0;
    for (; i + 16 <= count; i += 16) {
        words kept, before, taken, value, added;
        load(&kept, keep + i);
        load(&before, there + i);
        load(&taken, take + i);
        load(&value, content + i);
        load(&added, add + i);
        words sum = kept * before + taken * value + 128;
        bytes result = __builtin_convertvector(((sum + (sum >> 8)) >> 8) + added, bytes);
        memcpy(there + i, &result, sizeof result);
    }
    for (; i < count; i++) {
        uint16_t sum = (uint16_t)(keep[i] * there[i] + take[i] * content[i] + 128);
        there[i] = (uint8_t)((uint16_t)(sum + (sum >> 8)) >> 8) + add[i];
    }
}

// Cuts sixteen bytes. Both pixels of a pair have a mean share of chroma.
static inline __attribute__((always_inline)) void cut(uint8_t *there, const uint8_t *content,
                                                      const uint8_t *mask, int share)
{
    words before, value, m;
    load(&before, there);
    load(&value, content);
    load(&m, mask);
    words first = __builtin_shufflevector(m, m, 0, 0, 2, 0, 4, 4, 6, 4, 8, 8, 10, 8, 12, 12, 14, 12);
    words last = __builtin_shufflevector(m, m, 0, 2, 2, 2, 4, 6, 6, 6, 8, 10, 10, 10, 12, 14, 14, 14);
    words gone = (255 - ((first + last + 1) >> 1)) * (uint16_t)share + 128;
    words keep = (gone + (gone >> 8)) >> 8;
    words sum = keep * before + (255 - keep) * value + 128;
    bytes result = __builtin_convertvector((sum + (sum >> 8)) >> 8, bytes);
    memcpy(there, &result, sizeof result);
}

DISPATCHED(kernel_cut,
           (uint8_t *there, const uint8_t *content, const uint8_t *mask, int count, int share),
           (there, content, mask, count, share))
{
    int i = 0;
    for (; i + 16 <= count; i += 16) cut(there + i, content + i, mask + i, share);
    uint8_t rest[3][16] = {0};
    size_t left = (size_t)(count - i);
    memcpy(rest[0], there + i, left);
    memcpy(rest[1], content + i, left);
    memcpy(rest[2], mask + i, left);
    cut(rest[0], rest[1], rest[2], share);
    memcpy(there + i, rest[0], left);
}
