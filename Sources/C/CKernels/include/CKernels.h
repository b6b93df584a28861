// Kernels for rows of pixels, sixteen or thirty-two at a time.
//
// They are in C since Swift cannot compile code for AVX2 beside code for any processor and choose
// one at run time. Each function has a plain loop that defines its result; tests compare both with
// Tests/ImagingTests/Reference.swift. No function reads or writes beyond what it says, and none
// allocates.
//
// A row is either packed, Y U Y V, or split: luma, and chroma U V U V with half as many pairs as
// pixels.
#ifndef CKERNELS_H
#define CKERNELS_H

#include <stddef.h>
#include <stdint.h>

// The conversion of samples to the stream's range: (sample * scale + offset) / 256, never above
// 255.
struct kernel_gain {
    uint16_t luma_scale, luma_offset;
    uint16_t chroma_scale, chroma_offset;
};

// Packs the pixels of a split row; count is even.
void kernel_pack(uint8_t *packed, const uint8_t *luma, const uint8_t *chroma, int count,
                 struct kernel_gain gain);

// Splits packed pixels; count is even. In swapped ones (UYVY) chroma comes first.
void kernel_split(uint8_t *luma, uint8_t *chroma, const uint8_t *packed, int count, int swapped);

// Splits the mixture of two packed rows, with `share` / 256 of the lower one, rounded.
void kernel_split_mixed(uint8_t *luma, uint8_t *chroma, const uint8_t *upper,
                        const uint8_t *lower, int count, int share);

// Writes count pairs a b a b from a and b, or the reverse.
void kernel_interleave(uint8_t *pairs, const uint8_t *a, const uint8_t *b, int count);
void kernel_deinterleave(uint8_t *a, uint8_t *b, const uint8_t *pairs, int count);

// Writes count rounded means of two by two bytes, from two rows.
void kernel_halve(uint8_t *half, const uint8_t *upper, const uint8_t *lower, int count);

// Does the same for rows of pairs, which stay pairs: count pairs.
void kernel_halve_pairs(uint8_t *half, const uint8_t *upper, const uint8_t *lower, int count);

// Does the same for packed rows (YUYV), to a split row of count pixels and count / 2 pairs of
// chroma.
void kernel_halve_packed(uint8_t *luma, uint8_t *chroma, const uint8_t *upper,
                         const uint8_t *lower, int count);

// The sources of sixteen neighbouring pixels of a scaled row. Eight lumas, or four pairs of chroma,
// are mixed from samples within sixteen bytes of their row, from `luma_start` or `chroma_start` on.
// Each is a mixture of the two samples that `pick` names there, by their `weight`s, which sum to
// 128. An unmixed sample is picked twice, since 128 is no int8_t.
struct kernel_columns {
    int32_t luma_start[2], chroma_start[2];
    uint8_t luma_pick[32], chroma_pick[32];
    int8_t luma_weight[32], chroma_weight[32];
};

// An axis to scale along, in 2^-32 samples: the position of the first result, the step from each to
// the next (at most two samples), and the number of samples.
struct kernel_axis {
    int64_t start, step;
    int32_t count;
};

// Plans `count` pixels, a multiple of two, in (count + 15) / 16 blocks; the rest of the last one
// repeats the last pixel. `mirrored` reverses the axes.
void kernel_plan(struct kernel_columns *blocks, int count, struct kernel_axis luma,
                 struct kernel_axis chroma, int mirrored);

// Writes sixteen packed pixels for each of `count` blocks, from a split row, each plane of which is
// readable sixteen bytes beyond its end.
void kernel_scale(uint8_t *packed, const uint8_t *luma, const uint8_t *chroma,
                  const struct kernel_columns *blocks, int count, struct kernel_gain gain);

// The conversion of packed pixels to other colours: luma, u and v are the sums of y, u and v by
// these factors, in 2^-14, plus the offsets.
struct kernel_matrix {
    int32_t y_y, y_u, y_v, y_offset;
    int32_t u_u, u_v, u_offset;
    int32_t v_u, v_v, v_offset;
};

// Converts packed pixels in place; count is even.
void kernel_convert(uint8_t *packed, int count, struct kernel_matrix matrix);

// Lays content over the bytes there: (keep * there + take * content) / 255, rounded, + add. The two
// weights and the added value must sum to at most 255.
void kernel_blend(uint8_t *there, const uint8_t *content, const uint8_t *keep,
                  const uint8_t *take, const uint8_t *add, int count);

// Lays packed content over packed bytes, a multiple of four, where the luma of `mask` is not 0: for
// 255, wholly. Elsewhere `share` / 255 of it is gone.
void kernel_cut(uint8_t *there, const uint8_t *content, const uint8_t *mask, int count, int share);

// A soft shadow, from cells of `step` x `step` pixels, a multiple of four. Adds the luma of `count`
// packed pixels to the cells that they lie in.
void kernel_shadow_add(uint16_t *cells, const uint8_t *mask, int count, int step);

// Blurs cells by one cell (the standard deviation), as if they went on beyond the edges, and
// multiplies them by `scale`.
void kernel_shadow_blur(uint16_t *cells, int columns, int rows, float scale);

// Darkens packed pixels by shares, in 2^-16 and at most half, between two rows of cells: `mix` of
// 256 is the lower one; but not between cells of just the share `hidden`. `count` is even.
void kernel_shadow_lay(uint8_t *there, const uint16_t *upper, const uint16_t *lower, int mix,
                       int hidden, int count, int step);

// The source of the pixels of a row that is seen in perspective: pixel i lies at column
// (x + i * x_step) / (d + i * d_step) of the plane, and at row (y + i * y_step) / the same. 0 is
// the middle of the first sample.
struct kernel_warp {
    float x, x_step, y, y_step, d, d_step;
};

// Writes `count` samples, each mixed from the nearest four of a plane of `width` x `height` samples
// (at least 2 x 2, and at most 65536 x 32767 bytes with its stride), in rows of `stride` bytes.
// A place beyond the plane, or that is no number, becomes the nearest one in it.
void kernel_warp(uint8_t *row, const uint8_t *plane, int stride, int width, int height,
                 struct kernel_warp warp, int count);

// Does the same for two planes of the same shape, which costs less than one by one.
void kernel_warp_pair(uint8_t *row, uint8_t *other_row, const uint8_t *plane, const uint8_t *other,
                      int stride, int width, int height, struct kernel_warp warp, int count);

// The light of white paper above black, as ink leaves it, and the number of pixels from one gain to
// the next.
#define KERNEL_INK_WHITE 208
#define KERNEL_INK_RUN 32

// What makes paper white and ink dark: the tint of the paper, in 2^-12 of its light, and the share
// of the change, of 256.
struct kernel_ink {
    int32_t tint_u, tint_v;
    int32_t strength;
};

// Evens the light of packed pixels in place, whitens what is nearly white and darkens other greys,
// by the share of `ink`. `count` and `from`, the number of the first pixel, are even. `gains` are
// those of every KERNEL_INK_RUN-th pixel from number 0 on, of 256, and go on beyond the last pixel;
// light between two is multiplied by a gain between theirs.
void kernel_ink(uint8_t *packed, int from, int count, const uint16_t *gains,
                struct kernel_ink ink);

// The size of the picture in which persons are found.
#define KERNEL_PERSON_WIDTH 256
#define KERNEL_PERSON_HEIGHT 144

// A network that finds persons, with its memory: kernel_person_size() bytes, aligned to 64.
struct kernel_person;
size_t kernel_person_size(void);
void kernel_person_prepare(struct kernel_person *person);

// Returns the place of row `row` of the next picture: red, green and blue of each pixel, 0 … 1.
float *kernel_person_input(struct kernel_person *person, int row);

// Writes, for each pixel, how sure it is that a person is there: 0 … 1.
void kernel_person(struct kernel_person *person, float *mask);

// The side of the square picture in which faces are found, and how many places are looked at.
#define KERNEL_FACE_SIDE 128
#define KERNEL_FACE_COUNT 896

// A network that finds faces, with its memory: kernel_face_size() bytes, aligned to 64.
struct kernel_face;
size_t kernel_face_size(void);
void kernel_face_prepare(struct kernel_face *face);

// Returns the place of row `row` of the next picture: red, green and blue of each pixel, -1 … 1.
float *kernel_face_input(struct kernel_face *face, int row);

// Writes, for each place, how sure it is that a face is there, before the sigmoid, and 16 numbers
// in pixels: the offset of the middle from that of the place, width and height, then the offsets of
// two eyes, nose, mouth and two ears. Places are two in each of 16 x 16 cells, then six in 8 x 8.
void kernel_face(struct kernel_face *face, float *scores, float *boxes);

// What the luma and chroma of a picture with a person become: kernel_room_size() bytes, zero at
// first, aligned to 64. A small picture is luma, U and V of KERNEL_PERSON_WIDTH x
// KERNEL_PERSON_HEIGHT bytes each, or the same on its side.
struct kernel_room;
size_t kernel_room_size(void);

// Red, green and blue are luma plus these multiples of chroma.
struct kernel_colours {
    float red_v, green_u, green_v, blue_u;
};

// Makes `small`, turned clockwise so many times, the next picture of `person`.
void kernel_room_show(struct kernel_person *person, const uint8_t *small, int quarter_turns,
                      struct kernel_colours colours);

// Finds persons in it; `luma` is that of the small picture. The first picture of a series is
// compared with none before it.
void kernel_room_find(struct kernel_room *room, struct kernel_person *person, const uint8_t *luma,
                      int quarter_turns, int is_first);

// Makes all of the picture room.
void kernel_room_forget(struct kernel_room *room);

// Fits the mask to the light of a small picture, `width` pixels wide, and blurs the room in it: 1
// to KERNEL_ROOM_REACH pixels far. `is_replaced` if another picture will be shown in its place.
#define KERNEL_ROOM_REACH 8
void kernel_room_prepare(struct kernel_room *room, const uint8_t *small, int width, int reach,
                         int is_replaced);

// A picture at most KERNEL_ROOM_WIDEST pixels wide, with chroma half as wide, and as high as luma
// or half as high. `target` may be `source`. `other`, if it is there, has the strides of `target`;
// with `keeps_room` it is `source`. `mask`, if it is there, gets the person's shares as bytes, and
// `target` the person's own colours where those are seen.
#define KERNEL_ROOM_WIDEST 8192
struct kernel_room_planes {
    int width, height, chroma_height;
    const uint8_t *source[3];
    int source_stride[3];
    uint8_t *target[3];
    int target_stride[3];
    const uint8_t *other[3];
    int keeps_room;
    uint8_t *mask;
    int mask_stride;
};

// Writes the person over the blurred room, or over `other`. `small` is the width of the small
// picture, and `scratch` has kernel_room_scratch(planes.width) bytes.
size_t kernel_room_scratch(int width);
void kernel_room_lay(struct kernel_room *room, int small, void *scratch,
                     struct kernel_room_planes planes);

#endif
