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

static inline void warp_plain(uint8_t *const *rows, const uint8_t *const *planes, int plane_count,
                              int stride, int width, int height, struct kernel_warp warp, int from,
                              int to)
{
    for (int i = from; i < to; i++) {
        float scale = ONE / (warp.d + warp.d_step * i);
        int32_t x = place(warp.x + warp.x_step * i, scale, width);
        int32_t y = place(warp.y + warp.y_step * i, scale, height);
        int64_t offset = (y / ONE) * (int64_t)stride + x / ONE;
        int right = x % ONE, below = y % ONE;
        for (int p = 0; p < plane_count; p++) {
            const uint8_t *at = planes[p] + offset;
            int upper = at[0] * (ONE - right) + at[1] * right;
            int lower = at[stride] * (ONE - right) + at[stride + 1] * right;
            int mixed = upper + (((lower - upper) * below + ONE / 2) >> 7);
            rows[p][i] = (uint8_t)((mixed + ONE / 2) >> 7);
        }
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

// Returns the lesser of the first and the last of eight numbers, eight times.
AVX2 static inline __m256i least(__m256i values)
{
    return _mm256_min_epi32(_mm256_broadcastd_epi32(_mm256_castsi256_si128(values)),
                            _mm256_permutevar8x32_epi32(values, _mm256_set1_epi32(7)));
}

// Returns eight numbers below 2^16 as words.
AVX2 static inline __m128i words(__m256i values)
{
    return _mm_packus_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
}

// Returns eight mixtures of mixtures, whose second ones have these weights.
AVX2 static inline __m128i samples(__m128i upper, __m128i lower, __m128i below)
{
    __m128i change = _mm_mulhrs_epi16(_mm_sub_epi16(lower, upper), _mm_slli_epi16(below, 8));
    __m128i mixed = _mm_add_epi16(_mm_add_epi16(upper, change), _mm_set1_epi16(ONE / 2));
    __m128i values = _mm_srli_epi16(mixed, 7);
    return _mm_packus_epi16(values, values);
}

// The places of eight samples within 16 columns and three rows.
struct near {
    __m128i left, right;  // The two columns of each, for a shuffle of bytes to words.
    __m128i across;       // The weight of the right one.
    __m128i is_second;    // All bits of those whose rows are the second and the third.
};

// Returns eight mixtures of two neighbours in the 16 samples of a row.
AVX2 static inline __m128i mixed_near(const uint8_t *row, const struct near *near)
{
    __m128i all = _mm_loadu_si128((const __m128i *)row);
    __m128i left = _mm_shuffle_epi8(all, near->left);
    __m128i change = _mm_sub_epi16(_mm_shuffle_epi8(all, near->right), left);
    return _mm_add_epi16(_mm_slli_epi16(left, 7), _mm_mullo_epi16(change, near->across));
}

AVX2 static inline int warp_avx2(uint8_t *const *rows, const uint8_t *const *planes,
                                 int plane_count, int stride, int width, int height,
                                 struct kernel_warp warp, int count)
{
    // 16 samples are loaded at once, all of them within the row.
    if (width < 16) return 0;
    const __m256i fraction = _mm256_set1_epi32(ONE - 1);
    __m256 index = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256 d = _mm256_add_ps(_mm256_mul_ps(index, _mm256_set1_ps(warp.d_step)),
                                 _mm256_set1_ps(warp.d));
        __m256 scale = _mm256_div_ps(_mm256_set1_ps(ONE), d);
        __m256i x = places(warp.x, warp.x_step, index, scale, width);
        __m256i y = places(warp.y, warp.y_step, index, scale, height);
        __m256i column = _mm256_srli_epi32(x, 7), line = _mm256_srli_epi32(y, 7);
        index = _mm256_add_ps(index, _mm256_set1_ps(8));
        __m128i across = words(_mm256_and_si256(x, fraction));
        __m128i down = words(_mm256_and_si256(y, fraction));
        // Along a row of the result both only rise or only fall.
        __m256i left = _mm256_min_epi32(least(column), _mm256_set1_epi32(width - 16));
        __m256i top = least(line);
        __m256i beyond = _mm256_sub_epi32(column, left), below = _mm256_sub_epi32(line, top);
        // As numbers without a sign, so that neither is less than 0.
        __m256i is_near = _mm256_and_si256(
            _mm256_cmpeq_epi32(_mm256_min_epu32(beyond, _mm256_set1_epi32(14)), beyond),
            _mm256_cmpeq_epi32(_mm256_min_epu32(below, _mm256_set1_epi32(1)), below));
        if (_mm256_movemask_epi8(is_near) == -1) {
            __m128i first = words(beyond);
            struct near near = {
                .left = _mm_or_si128(first, _mm_set1_epi16(INT16_MIN)),
                .right = _mm_or_si128(_mm_add_epi16(first, _mm_set1_epi16(1)),
                                      _mm_set1_epi16(INT16_MIN)),
                .across = across,
                .is_second = _mm_cmpgt_epi16(words(below), _mm_setzero_si128()),
            };
            int row = _mm_cvtsi128_si32(_mm256_castsi256_si128(top));
            int64_t offset =
                row * (int64_t)stride + _mm_cvtsi128_si32(_mm256_castsi256_si128(left));
            // Where there is no third row, it counts for none.
            int third = row + 2 < height ? 2 * stride : stride;
            for (int p = 0; p < plane_count; p++) {
                const uint8_t *at = planes[p] + offset;
                __m128i a = mixed_near(at, &near), b = mixed_near(at + stride, &near);
                __m128i c = mixed_near(at + third, &near);
                __m128i upper = _mm_blendv_epi8(a, b, near.is_second);
                __m128i lower = _mm_blendv_epi8(b, c, near.is_second);
                _mm_storel_epi64((__m128i *)(rows[p] + i), samples(upper, lower, down));
            }
        } else {
            __m256i start = _mm256_min_epi32(column, _mm256_set1_epi32(width - 4));
            __m256i shift = _mm256_slli_epi32(_mm256_sub_epi32(column, start), 3);
            __m256i offsets = _mm256_add_epi32(
                start, _mm256_mullo_epi32(line, _mm256_set1_epi32(stride)));
            __m256i pairs = weights(x);
            for (int p = 0; p < plane_count; p++) {
                __m128i upper = words(mixed(planes[p], offsets, shift, pairs));
                __m128i lower = words(mixed(planes[p] + stride, offsets, shift, pairs));
                _mm_storel_epi64((__m128i *)(rows[p] + i), samples(upper, lower, down));
            }
        }
    }
    return i;
}
#endif

static inline void warp_planes(uint8_t *const *rows, const uint8_t *const *planes, int plane_count,
                               int stride, int width, int height, struct kernel_warp warp,
                               int count)
{
    int i = 0;
#if defined(__x86_64__)
    if (HAS_AVX2) i = warp_avx2(rows, planes, plane_count, stride, width, height, warp, count);
#endif
    warp_plain(rows, planes, plane_count, stride, width, height, warp, i, count);
}

void kernel_warp(uint8_t *row, const uint8_t *plane, int stride, int width, int height,
                 struct kernel_warp warp, int count)
{
    warp_planes(&row, &plane, 1, stride, width, height, warp, count);
}

void kernel_warp_pair(uint8_t *row, uint8_t *other_row, const uint8_t *plane, const uint8_t *other,
                      int stride, int width, int height, struct kernel_warp warp, int count)
{
    uint8_t *rows[] = {row, other_row};
    const uint8_t *planes[] = {plane, other};
    warp_planes(rows, planes, 2, stride, width, height, warp, count);
}
