#include "CKernels.h"

#include <math.h>
#include <string.h>

#include "dispatch.h"

// Places are in 2^-7 samples, so that two weights and the mixture of two mixtures fit words.
#define ONE 128

// Returns the place along one axis of `count` samples, so that it and its next neighbour are there.
static inline int32_t place(float numerator, float scale, int count)
{
    // Comparisons with NaN are false, so that it becomes 0.
    float at = numerator * scale, last = (float)((count - 1) * ONE - 1);
    at = at > 0 ? at : 0;
    return (int32_t)lrintf(at < last ? at : last);
}

static void warp_plain(uint8_t *row, const uint8_t *plane, int stride, int width, int height,
                       struct kernel_warp warp, int from, int to)
{
    for (int i = from; i < to; i++) {
        float scale = ONE / (warp.d + warp.d_step * i);
        int32_t x = place(warp.x + warp.x_step * i, scale, width);
        int32_t y = place(warp.y + warp.y_step * i, scale, height);
        const uint8_t *at = plane + (y / ONE) * (int64_t)stride + x / ONE;
        int right = x % ONE, below = y % ONE;
        int upper = at[0] * (ONE - right) + at[1] * right;
        int lower = at[stride] * (ONE - right) + at[stride + 1] * right;
        row[i] = (uint8_t)((upper * (ONE - below) + lower * below + ONE * ONE / 2) / (ONE * ONE));
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

// Returns eight places along one axis, limited as in `place`.
AVX2 static inline __m256i places(float first, float step, __m256 index, __m256 scale, int count)
{
    __m256 at = _mm256_add_ps(_mm256_mul_ps(index, _mm256_set1_ps(step)), _mm256_set1_ps(first));
    at = _mm256_max_ps(_mm256_mul_ps(at, scale), _mm256_setzero_ps());
    return _mm256_cvtps_epi32(_mm256_min_ps(at, _mm256_set1_ps((float)((count - 1) * ONE - 1))));
}

// Returns eight mixtures of two neighbouring samples, out of the four that begin at each offset;
// `shift` is the number of bits before the first of the two.
AVX2 static inline __m256i mixed(const uint8_t *row, __m256i offsets, __m256i shift,
                                 __m256i weights)
{
    const __m256i pick = _mm256_set_epi8(
        -1, 13, -1, 12, -1, 9, -1, 8, -1, 5, -1, 4, -1, 1, -1, 0,
        -1, 13, -1, 12, -1, 9, -1, 8, -1, 5, -1, 4, -1, 1, -1, 0);
    __m256i four = _mm256_srlv_epi32(_mm256_i32gather_epi32((const int *)row, offsets, 1), shift);
    return _mm256_madd_epi16(_mm256_shuffle_epi8(four, pick), weights);
}

// Returns the pairs of weights of eight fractions.
AVX2 static inline __m256i weights(__m256i places)
{
    __m256i second = _mm256_and_si256(places, _mm256_set1_epi32(ONE - 1));
    __m256i first = _mm256_sub_epi32(_mm256_set1_epi32(ONE), second);
    return _mm256_or_si256(first, _mm256_slli_epi32(second, 16));
}

AVX2 static int warp_avx2(uint8_t *row, const uint8_t *plane, int stride, int width, int height,
                          struct kernel_warp warp, int count)
{
    // Four samples are loaded at once, all of them within the row.
    if (width < 4) return 0;
    __m256 index = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256 d = _mm256_add_ps(_mm256_mul_ps(index, _mm256_set1_ps(warp.d_step)),
                                 _mm256_set1_ps(warp.d));
        __m256 scale = _mm256_div_ps(_mm256_set1_ps(ONE), d);
        __m256i x = places(warp.x, warp.x_step, index, scale, width);
        __m256i y = places(warp.y, warp.y_step, index, scale, height);
        __m256i column = _mm256_srli_epi32(x, 7);
        __m256i start = _mm256_min_epi32(column, _mm256_set1_epi32(width - 4));
        __m256i shift = _mm256_slli_epi32(_mm256_sub_epi32(column, start), 3);
        __m256i offsets = _mm256_add_epi32(
            start, _mm256_mullo_epi32(_mm256_srli_epi32(y, 7), _mm256_set1_epi32(stride)));
        __m256i across = weights(x);
        __m256i upper = mixed(plane, offsets, shift, across);
        __m256i lower = mixed(plane + stride, offsets, shift, across);
        __m256i both = _mm256_or_si256(upper, _mm256_slli_epi32(lower, 16));
        __m256i sums = _mm256_add_epi32(_mm256_madd_epi16(both, weights(y)),
                                        _mm256_set1_epi32(ONE * ONE / 2));
        __m256i values = _mm256_srli_epi32(sums, 14);
        __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(values),
                                         _mm256_extracti128_si256(values, 1));
        _mm_storel_epi64((__m128i *)(row + i), _mm_packus_epi16(words, words));
        index = _mm256_add_ps(index, _mm256_set1_ps(8));
    }
    return i;
}
#endif

void kernel_warp(uint8_t *row, const uint8_t *plane, int stride, int width, int height,
                 struct kernel_warp warp, int count)
{
    int i = 0;
#if defined(__x86_64__)
    if (HAS_AVX2) i = warp_avx2(row, plane, stride, width, height, warp, count);
#endif
    warp_plain(row, plane, stride, width, height, warp, i, count);
}
