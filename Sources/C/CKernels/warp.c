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

// The number of runs of sixteen samples whose places are found at once.
#define BATCH 8

// Where a slope is too steep for runs, it most likely is for as many samples.
#define STEEP 128

// Sixteen samples, eight to a lane, whose sources lie within 16 columns and three rows for each
// lane.
struct near {
    int to;             // The place of the first one in its row.
    int first, second;  // The offsets of what the two lanes read.
    __m256i columns;    // The left and the right byte of each there.
    __m256i across;     // The weights of these.
    __m256i is_second;  // All bits of those whose rows are the second and the third.
    __m256i down;       // The weight of the lower row, in 2^-15.
};

// Returns eight values that begin with `first`.
AVX2 static inline __m256 line(float first, float step, __m256 index)
{
    return _mm256_add_ps(_mm256_mul_ps(index, _mm256_set1_ps(step)), _mm256_set1_ps(first));
}

// Returns eight places along one axis, which may lie beyond the plane. What is no number, or too
// large for one, becomes INT32_MIN.
AVX2 static inline __m256i places(float first, float step, __m256 index, __m256 scale)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(line(first, step, index), scale));
}

// Returns eight places along one axis, limited as in `place`.
AVX2 static inline __m256i limited_places(float first, float step, __m256 index, __m256 scale,
                                          int count)
{
    __m256 at = _mm256_max_ps(_mm256_mul_ps(line(first, step, index), scale),
                              _mm256_setzero_ps());
    return _mm256_cvtps_epi32(_mm256_min_ps(at, _mm256_set1_ps((float)((count - 1) * ONE - 1))));
}

// Makes the places of each lane's left and right halves words that count from a whole sample, at
// most `last`, which it returns as a place. What is too far from it stays so.
AVX2 static inline __m256i count_from(__m256i *words, __m256i left, __m256i right, int last)
{
    // Along a row of the result places only rise or only fall.
    __m256i least = _mm256_min_epi32(_mm256_shuffle_epi32(left, 0x00),
                                     _mm256_shuffle_epi32(right, 0xff));
    __m256i limited = _mm256_max_epi32(_mm256_min_epi32(least, _mm256_set1_epi32(last * ONE)),
                                       _mm256_setzero_si256());
    __m256i start = _mm256_andnot_si256(_mm256_set1_epi32(ONE - 1), limited);
    *words = _mm256_packs_epi32(_mm256_sub_epi32(left, start), _mm256_sub_epi32(right, start));
    return start;
}

// Describes sixteen samples, unless their sources are too far from each other.
AVX2 static inline int find_near(struct near *near, struct kernel_warp warp, int from, int stride,
                                 int width, int height)
{
    // In this order, because packing takes four of each half in turn.
    __m256 at = _mm256_set1_ps((float)from), one = _mm256_set1_ps(ONE);
    __m256 left = _mm256_add_ps(at, _mm256_setr_ps(0, 1, 2, 3, 8, 9, 10, 11));
    __m256 right = _mm256_add_ps(at, _mm256_setr_ps(4, 5, 6, 7, 12, 13, 14, 15));
    __m256 left_scale = _mm256_div_ps(one, line(warp.d, warp.d_step, left));
    __m256 right_scale = _mm256_div_ps(one, line(warp.d, warp.d_step, right));
    __m256i x, y;
    __m256i column = count_from(&x, places(warp.x, warp.x_step, left, left_scale),
                                places(warp.x, warp.x_step, right, right_scale), width - 16);
    __m256i row = count_from(&y, places(warp.y, warp.y_step, left, left_scale),
                             places(warp.y, warp.y_step, right, right_scale), height - 3);
    // As numbers without a sign, so that what is less than 0 is too far as well.
    __m256i too_far = _mm256_or_si256(_mm256_subs_epu16(x, _mm256_set1_epi16(15 * ONE - 1)),
                                      _mm256_srli_epi16(y, 8));
    if (!_mm256_testz_si256(too_far, too_far)) return 0;

    __m256i offset = _mm256_add_epi32(
        _mm256_mullo_epi32(_mm256_srli_epi32(row, 7), _mm256_set1_epi32(stride)),
        _mm256_srli_epi32(column, 7));
    near->to = from;
    near->first = _mm_cvtsi128_si32(_mm256_castsi256_si128(offset));
    near->second = _mm_cvtsi128_si32(_mm256_extracti128_si256(offset, 1));
    // Two bytes in each word: a column and the next, and the weights of both.
    near->columns = _mm256_add_epi16(
        _mm256_mullo_epi16(_mm256_srli_epi16(x, 7), _mm256_set1_epi16(0x101)),
        _mm256_set1_epi16(0x100));
    near->across = _mm256_add_epi16(
        _mm256_mullo_epi16(_mm256_and_si256(x, _mm256_set1_epi16(ONE - 1)),
                           _mm256_set1_epi16(0x100 - 1)),
        _mm256_set1_epi16(ONE));
    __m256i high = _mm256_slli_epi16(y, 8);
    near->is_second = _mm256_srai_epi16(high, 15);
    near->down = _mm256_and_si256(high, _mm256_set1_epi16(INT16_MAX));
    return 1;
}

// Returns sixteen pairs of neighbours of one row.
AVX2 static inline __m256i pairs(const uint8_t *first, const uint8_t *second, __m256i columns)
{
    __m256i both = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)first)),
        _mm_loadu_si128((const __m128i *)second), 1);
    return _mm256_shuffle_epi8(both, columns);
}

// Returns the mixtures of pairs, less 2^14: a factor of this product has a sign, and as the weights
// reach 128, the samples take it on.
AVX2 static inline __m256i mixed(__m256i pairs, __m256i across)
{
    return _mm256_maddubs_epi16(across, _mm256_xor_si256(pairs, _mm256_set1_epi8(INT8_MIN)));
}

AVX2 static inline void warp_near(uint8_t *row, const uint8_t *plane, int stride,
                                  const struct near *near)
{
    const uint8_t *first = plane + near->first, *second = plane + near->second;
    __m256i a = pairs(first, second, near->columns);
    __m256i b = pairs(first + stride, second + stride, near->columns);
    __m256i c = pairs(first + 2 * stride, second + 2 * stride, near->columns);
    // The next row of the result most likely reads this, which the processor cannot foresee.
    __builtin_prefetch(first + 3 * stride);
    __m256i upper = mixed(_mm256_blendv_epi8(a, b, near->is_second), near->across);
    __m256i lower = mixed(_mm256_blendv_epi8(b, c, near->is_second), near->across);
    __m256i change = _mm256_mulhrs_epi16(_mm256_sub_epi16(lower, upper), near->down);
    __m256i sum = _mm256_add_epi16(_mm256_add_epi16(upper, change),
                                   _mm256_set1_epi16((1 << 14) + ONE / 2));
    __m256i values = _mm256_srli_epi16(sum, 7);
    _mm_storeu_si128((__m128i *)(row + near->to),
                     _mm_packus_epi16(_mm256_castsi256_si128(values),
                                      _mm256_extracti128_si256(values, 1)));
}

// Returns eight numbers below 2^16 as words.
AVX2 static inline __m128i words(__m256i values)
{
    return _mm_packus_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
}

// Returns the pairs of weights of eight fractions.
AVX2 static inline __m256i weights(__m256i places)
{
    __m256i second = _mm256_and_si256(places, _mm256_set1_epi32(ONE - 1));
    __m256i first = _mm256_sub_epi32(_mm256_set1_epi32(ONE), second);
    return _mm256_or_si256(first, _mm256_slli_epi32(second, 16));
}

// Returns eight mixtures of two neighbouring samples, out of the four that begin at each offset;
// `shift` is the number of bits before the first of the two.
AVX2 static inline __m128i gathered(const uint8_t *row, __m256i offsets, __m256i shift,
                                    __m256i weights)
{
    const __m256i pick = _mm256_set_epi8(
        -1, 13, -1, 12, -1, 9, -1, 8, -1, 5, -1, 4, -1, 1, -1, 0,
        -1, 13, -1, 12, -1, 9, -1, 8, -1, 5, -1, 4, -1, 1, -1, 0);
    __m256i four = _mm256_srlv_epi32(_mm256_i32gather_epi32((const int *)row, offsets, 1), shift);
    return words(_mm256_madd_epi16(_mm256_shuffle_epi8(four, pick), weights));
}

// Writes eight samples whose sources lie anywhere.
AVX2 static inline void warp_apart(uint8_t *const *rows, const uint8_t *const *planes,
                                   int plane_count, int stride, int width, int height,
                                   struct kernel_warp warp, int from)
{
    __m256 index = _mm256_add_ps(_mm256_set1_ps((float)from),
                                 _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7));
    __m256 scale = _mm256_div_ps(_mm256_set1_ps(ONE), line(warp.d, warp.d_step, index));
    __m256i x = limited_places(warp.x, warp.x_step, index, scale, width);
    __m256i y = limited_places(warp.y, warp.y_step, index, scale, height);
    __m256i column = _mm256_srli_epi32(x, 7);
    __m256i start = _mm256_min_epi32(column, _mm256_set1_epi32(width - 4));
    __m256i shift = _mm256_slli_epi32(_mm256_sub_epi32(column, start), 3);
    __m256i offsets = _mm256_add_epi32(
        start, _mm256_mullo_epi32(_mm256_srli_epi32(y, 7), _mm256_set1_epi32(stride)));
    __m256i across = weights(x);
    __m128i down = _mm_slli_epi16(words(_mm256_and_si256(y, _mm256_set1_epi32(ONE - 1))), 8);
    for (int p = 0; p < plane_count; p++) {
        __m128i upper = gathered(planes[p], offsets, shift, across);
        __m128i lower = gathered(planes[p] + stride, offsets, shift, across);
        __m128i change = _mm_mulhrs_epi16(_mm_sub_epi16(lower, upper), down);
        __m128i sum = _mm_add_epi16(_mm_add_epi16(upper, change), _mm_set1_epi16(ONE / 2));
        __m128i values = _mm_srli_epi16(sum, 7);
        _mm_storel_epi64((__m128i *)(rows[p] + from), _mm_packus_epi16(values, values));
    }
}

AVX2 static inline int warp_avx2(uint8_t *const *rows, const uint8_t *const *planes,
                                 int plane_count, int stride, int width, int height,
                                 struct kernel_warp warp, int count)
{
    // All that is read lies within the rows. The last samples are written twice where they are too
    // few for a run.
    if (width < 16 || height < 3 || count < 16) return 0;
    for (int i = 0; i < count;) {
        // Each sample waits long for its place. All places first, so that they are found in that
        // time.
        struct near near[BATCH];
        int found = 0;
        for (; found < BATCH && i < count; found++, i += 16) {
            int from = i < count - 16 ? i : count - 16;
            if (!find_near(&near[found], warp, from, stride, width, height)) break;
        }
        for (int p = 0; p < plane_count; p++)
            for (int n = 0; n < found; n++) warp_near(rows[p], planes[p], stride, &near[n]);
        if (found == BATCH) continue;
        for (int end = i + STEEP; i < end && i < count; i += 8) {
            int from = i < count - 8 ? i : count - 8;
            warp_apart(rows, planes, plane_count, stride, width, height, warp, from);
        }
    }
    return count;
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
