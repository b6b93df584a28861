// Rows of pixels, sixteen or thirty-two at a time.
//
// What Swift cannot do: code for AVX2 beside code for any processor, chosen when it runs. Each
// function has a plain loop, which is its meaning, and is held by tests to the same in
// Imaging/Reference.swift. No function reads or writes beyond what it says; none allocates.
//
// A row is either packed, Y U Y V, or split: luma, and chroma U V U V, half as many pairs as
// pixels.
#ifndef CKERNELS_H
#define CKERNELS_H

#include <stdint.h>

// What brings samples to the stream's range: (sample * scale + offset) / 256, never above 255.
struct kernel_gain {
    uint16_t luma_scale, luma_offset;
    uint16_t chroma_scale, chroma_offset;
};

// Packed pixels from a split row; count is even.
void kernel_pack(uint8_t *packed, const uint8_t *luma, const uint8_t *chroma, int count,
                 struct kernel_gain gain);

// A split row from packed pixels; count is even. In swapped ones (UYVY) chroma comes first.
void kernel_split(uint8_t *luma, uint8_t *chroma, const uint8_t *packed, int count, int swapped);

// The same from a mixture of two rows, `share` / 256 of the lower one, rounded.
void kernel_split_mixed(uint8_t *luma, uint8_t *chroma, const uint8_t *upper,
                        const uint8_t *lower, int count, int share);

// count pairs a b a b from a and from b, and back.
void kernel_interleave(uint8_t *pairs, const uint8_t *a, const uint8_t *b, int count);
void kernel_deinterleave(uint8_t *a, uint8_t *b, const uint8_t *pairs, int count);

// The rounded means of two by two bytes, count of them, out of two rows.
void kernel_halve(uint8_t *half, const uint8_t *upper, const uint8_t *lower, int count);

// The same for rows of pairs, which stay pairs: count pairs.
void kernel_halve_pairs(uint8_t *half, const uint8_t *upper, const uint8_t *lower, int count);

// The same for packed rows (YUYV): a split row of count pixels, count / 2 pairs of chroma.
void kernel_halve_packed(uint8_t *luma, uint8_t *chroma, const uint8_t *upper,
                         const uint8_t *lower, int count);

// Where sixteen neighbouring pixels of a scaled row come from. Eight lumas, or four pairs of
// chroma, are mixed of samples that lie within sixteen bytes of their row from `luma_start` or
// `chroma_start` on: each of the two that `pick` names there, by their `weight`s, which sum to 128.
// A sample taken as it is is picked twice, since 128 is no int8_t.
struct kernel_columns {
    int32_t luma_start[2], chroma_start[2];
    uint8_t luma_pick[32], chroma_pick[32];
    int8_t luma_weight[32], chroma_weight[32];
};

// An axis along which is scaled, in 2^-32 samples: where the first result lies, how far it is
// from each to the next (at most two samples), and how many samples there are.
struct kernel_axis {
    int64_t start, step;
    int32_t count;
};

// Plans `count` pixels, a multiple of two, in (count + 15) / 16 blocks; the rest of the last one
// repeats the last pixel. `mirrored` runs through the axes backwards.
void kernel_plan(struct kernel_columns *blocks, int count, struct kernel_axis luma,
                 struct kernel_axis chroma, int mirrored);

// Packed pixels, sixteen for each of `count` blocks, from a split row, each plane of which can be
// read sixteen bytes beyond its end.
void kernel_scale(uint8_t *packed, const uint8_t *luma, const uint8_t *chroma,
                  const struct kernel_columns *blocks, int count, struct kernel_gain gain);

// What brings packed pixels to other colours: the sums of y, u and v by these, in 2^-14, plus the
// offsets, are luma, u and v.
struct kernel_matrix {
    int32_t y_y, y_u, y_v, y_offset;
    int32_t u_u, u_v, u_offset;
    int32_t v_u, v_v, v_offset;
};

// Converts packed pixels in place; count is even.
void kernel_convert(uint8_t *packed, int count, struct kernel_matrix matrix);

// Lays content over what is there: (keep * there + take * content) / 255, rounded, + add. The two
// weights and what is added sum to at most 255.
void kernel_blend(uint8_t *there, const uint8_t *content, const uint8_t *keep,
                  const uint8_t *take, const uint8_t *add, int count);

#endif
