#include "CKernels.h"

#include <stddef.h>
#include <string.h>

#include "dispatch.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Each kernel does what fits in whole vectors, if the processor has them, and then the plain loop.

#if defined(__x86_64__)

// Reorders bytes a b a b of each eight as a a b b, so that equal kinds are neighbours.
AVX2 static inline __m256i by_kind(__m256i pairs)
{
    const __m256i order = _mm256_setr_epi8(
        0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15,
        0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
    return _mm256_shuffle_epi8(pairs, order);
}

// Returns the means of two by two neighbours, as sixteen words.
AVX2 static inline __m256i means(__m256i upper, __m256i lower)
{
    const __m256i ones = _mm256_set1_epi8(1);
    __m256i sum =
        _mm256_add_epi16(_mm256_maddubs_epi16(upper, ones), _mm256_maddubs_epi16(lower, ones));
    return _mm256_srli_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(2)), 2);
}

AVX2 static inline __m256i load(const uint8_t *bytes)
{
    return _mm256_loadu_si256((const __m256i *)bytes);
}

AVX2 static int halve_avx2(uint8_t *half, const uint8_t *upper, const uint8_t *lower, int count,
                           int paired)
{
    int i = 0;
    for (; i + 32 <= count; i += 32) {
        FETCH_AHEAD(upper + 2 * i);
        FETCH_AHEAD(lower + 2 * i);
        __m256i a = load(upper + 2 * i), b = load(upper + 2 * i + 32);
        __m256i c = load(lower + 2 * i), d = load(lower + 2 * i + 32);
        if (paired) a = by_kind(a), b = by_kind(b), c = by_kind(c), d = by_kind(d);
        __m256i both = _mm256_packus_epi16(means(a, c), means(b, d));
        _mm256_storeu_si256((__m256i *)(half + i), _mm256_permute4x64_epi64(both, 0xd8));
    }
    return i;
}

AVX2 static int halve_packed_avx2(uint8_t *luma, uint8_t *chroma, const uint8_t *upper,
                                  const uint8_t *lower, int count)
{
    // Lumas go to the lower half of each sixteen bytes, chroma by kind to the upper one.
    const __m256i order = _mm256_setr_epi8(
        0, 2, 4, 6, 8, 10, 12, 14, 1, 5, 3, 7, 9, 13, 11, 15,
        0, 2, 4, 6, 8, 10, 12, 14, 1, 5, 3, 7, 9, 13, 11, 15);
    // From four means of luma, four of chroma and so on to all lumas, then all chroma.
    const __m256i gather = _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7);
    int i = 0;
    for (; i + 16 <= count; i += 16) {
        FETCH_AHEAD(upper + 4 * i);
        FETCH_AHEAD(lower + 4 * i);
        __m256i a = _mm256_shuffle_epi8(load(upper + 4 * i), order);
        __m256i b = _mm256_shuffle_epi8(load(upper + 4 * i + 32), order);
        __m256i c = _mm256_shuffle_epi8(load(lower + 4 * i), order);
        __m256i d = _mm256_shuffle_epi8(load(lower + 4 * i + 32), order);
        __m256i both = _mm256_packus_epi16(means(a, c), means(b, d));
        both = _mm256_permutevar8x32_epi32(both, gather);
        _mm_storeu_si128((__m128i *)(luma + i), _mm256_castsi256_si128(both));
        _mm_storeu_si128((__m128i *)(chroma + i), _mm256_extracti128_si256(both, 1));
    }
    return i;
}

// Loads sixteen bytes from each of two places in a row.
AVX2 static inline __m256i windows(const uint8_t *row, const int32_t *starts)
{
    __m128i low = _mm_loadu_si128((const __m128i *)(row + starts[0]));
    __m128i high = _mm_loadu_si128((const __m128i *)(row + starts[1]));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// Returns the mixtures of the picked samples, in the stream's range, in the upper bytes.
AVX2 static inline __m256i mixtures(__m256i window, const uint8_t *pick, const int8_t *weight,
                                    uint16_t scale, uint16_t offset)
{
    __m256i picked = _mm256_shuffle_epi8(window, load(pick));
    __m256i sums = _mm256_maddubs_epi16(picked, load((const uint8_t *)weight));
    // (sum + 64) / 128
    __m256i values = _mm256_mulhrs_epi16(sums, _mm256_set1_epi16(256));
    return _mm256_add_epi16(_mm256_mullo_epi16(values, _mm256_set1_epi16((short)scale)),
                            _mm256_set1_epi16((short)offset));
}

AVX2 static void scale_avx2(uint8_t *packed, const uint8_t *luma, const uint8_t *chroma,
                            const struct kernel_columns *blocks, int count,
                            struct kernel_gain gain)
{
    for (int i = 0; i < count; i++) {
        const struct kernel_columns *block = blocks + i;
        __m256i y = mixtures(windows(luma, block->luma_start), block->luma_pick,
                             block->luma_weight, gain.luma_scale, gain.luma_offset);
        __m256i c = mixtures(windows(chroma, block->chroma_start), block->chroma_pick,
                             block->chroma_weight, gain.chroma_scale, gain.chroma_offset);
        __m256i high = _mm256_and_si256(c, _mm256_set1_epi16((short)0xff00));
        _mm256_storeu_si256((__m256i *)(packed + 32 * i),
                            _mm256_or_si256(_mm256_srli_epi16(y, 8), high));
    }
}

#endif

static inline uint8_t mean(int a, int b, int c, int d) { return (uint8_t)((a + b + c + d + 2) / 4); }

void kernel_halve(uint8_t *half, const uint8_t *upper, const uint8_t *lower, int count)
{
    int i = 0;
#if defined(__x86_64__)
    if (HAS_AVX2) i = halve_avx2(half, upper, lower, count, 0);
#endif
    for (; i < count; i++) {
        half[i] = mean(upper[2 * i], upper[2 * i + 1], lower[2 * i], lower[2 * i + 1]);
    }
}

void kernel_halve_pairs(uint8_t *half, const uint8_t *upper, const uint8_t *lower, int count)
{
    int i = 0;
#if defined(__x86_64__)
    if (HAS_AVX2) i = halve_avx2(half, upper, lower, 2 * count, 1);
#endif
    for (; i < 2 * count; i++) {
        int from = 2 * i - i % 2;
        half[i] = mean(upper[from], upper[from + 2], lower[from], lower[from + 2]);
    }
}

void kernel_halve_packed(uint8_t *luma, uint8_t *chroma, const uint8_t *upper,
                         const uint8_t *lower, int count)
{
    int i = 0;
#if defined(__x86_64__)
    if (HAS_AVX2) i = halve_packed_avx2(luma, chroma, upper, lower, count);
#endif
    for (; i < count; i++) {
        int from = 4 * i;
        luma[i] = mean(upper[from], upper[from + 2], lower[from], lower[from + 2]);
        from = 4 * (i - i % 2) + (i % 2 ? 3 : 1);
        if (i < count / 2 * 2) {
            chroma[i] = mean(upper[from], upper[from + 4], lower[from], lower[from + 4]);
        }
    }
}

// Plans `count` results of `pair` bytes each, from `first` on, out of `total` along the axis.
static int32_t plan(uint8_t *pick, int8_t *weight, int first, int count, int total, int pair,
                    struct kernel_axis axis, int mirrored)
{
    int32_t at[8], fraction[8], start = INT32_MAX;
    for (int i = 0; i < count; i++) {
        int index = first + i < total ? first + i : total - 1;
        if (mirrored) index = total - 1 - index;
        int64_t last = (int64_t)(axis.count - 1) << 32;
        int64_t place = axis.start + axis.step * index;
        place = place < 0 ? 0 : place > last ? last : place;
        // Rounds to the nearest 128th.
        place += (int64_t)1 << 24;
        at[i] = (int32_t)(place >> 32);
        fraction[i] = (int32_t)(place >> 25) & 127;
        if (at[i] < start) start = at[i];
    }
    for (int i = 0; i < count; i++) {
        int near = pair * (at[i] - start);
        int far = fraction[i] ? near + pair : near;
        for (int k = 0; k < pair; k++) {
            int place = 2 * (pair * i + k);
            pick[place] = (uint8_t)(near + k < 16 ? near + k : 16 - pair + k);
            pick[place + 1] = (uint8_t)(far + k < 16 ? far + k : 16 - pair + k);
            weight[place] = (int8_t)(fraction[i] ? 128 - fraction[i] : 64);
            weight[place + 1] = (int8_t)(fraction[i] ? fraction[i] : 64);
        }
    }
    return pair * start;
}

void kernel_plan(struct kernel_columns *blocks, int count, struct kernel_axis luma,
                 struct kernel_axis chroma, int mirrored)
{
    for (int x = 0; x < (count + 15) / 16 * 16; x += 8) {
        struct kernel_columns *block = blocks + x / 16;
        int half = x / 8 % 2;
        block->luma_start[half] = plan(block->luma_pick + 16 * half, block->luma_weight + 16 * half,
                                       x, 8, count, 1, luma, mirrored);
        block->chroma_start[half] =
            plan(block->chroma_pick + 16 * half, block->chroma_weight + 16 * half, x / 2, 4,
                 count / 2, 2, chroma, mirrored);
    }
}

void kernel_scale(uint8_t *packed, const uint8_t *luma, const uint8_t *chroma,
                  const struct kernel_columns *blocks, int count, struct kernel_gain gain)
{
#if defined(__x86_64__)
    if (HAS_AVX2) {
        scale_avx2(packed, luma, chroma, blocks, count, gain);
        return;
    }
#endif
    for (int i = 0; i < 16 * count; i++) {
        const struct kernel_columns *block = blocks + i / 16;
        int half = i / 8 % 2, place = 2 * (i % 16);
        const uint8_t *y = luma + block->luma_start[half];
        const uint8_t *c = chroma + block->chroma_start[half];
        const uint8_t *yp = block->luma_pick + place, *cp = block->chroma_pick + place;
        const int8_t *yw = block->luma_weight + place, *cw = block->chroma_weight + place;
        int light = (y[yp[0]] * yw[0] + y[yp[1]] * yw[1] + 64) / 128;
        int color = (c[cp[0]] * cw[0] + c[cp[1]] * cw[1] + 64) / 128;
        packed[2 * i] = (uint8_t)((light * gain.luma_scale + gain.luma_offset) >> 8);
        packed[2 * i + 1] = (uint8_t)((color * gain.chroma_scale + gain.chroma_offset) >> 8);
    }
}
