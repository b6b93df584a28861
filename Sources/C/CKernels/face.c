// The network that finds faces: MediaPipe's short-range face detection, whose numbers tools/network
// wrote to face.f16. A picture has a border of one pixel.
#include "CKernels.h"

#include <string.h>

#include "layers.h"

enum { SIDE = KERNEL_FACE_SIDE, NUMBERS = 103320 };

#pragma clang diagnostic ignored "-Wc23-extensions"
static const uint8_t halves[] = {
#embed "face.f16"
};
_Static_assert(sizeof halves == 2 * NUMBERS, "another network");

// What the network computes with, and its input with a border.
struct kernel_face {
    float input[SIDE + 3][SIDE + 3][3];
    float numbers[NUMBERS];
    float picture[3][66 * 66 * 32];
    // What the pixels of a row are made of; a row filtered; the one that it is added to.
    float patches[SIDE / 2][75], row[64 * 32], most[32 * 32];
    float cells[16 * 16 * 8];
    // The next of `numbers`.
    const float *next;
};

size_t kernel_face_size(void) { return sizeof(struct kernel_face); }

void kernel_face_prepare(struct kernel_face *f)
{
    memset(f, 0, sizeof *f);
    unpack_halves(f->numbers, halves, NUMBERS);
}

float *kernel_face_input(struct kernel_face *f, int row) { return f->input[row + 1][1]; }

static const float *take(struct kernel_face *f, int count)
{
    f->next += count;
    return f->next - count;
}

// Returns the place of the first pixel of row `y`, behind the border.
static float *row_of(float *picture, int y, int side, int channels)
{
    return picture + ((y + 1) * (side + 2) + 1) * channels;
}

static void clear_border(float *picture, int side, int channels)
{
    size_t pixel = (size_t)channels * sizeof(float);
    memset(picture, 0, pixel * (size_t)(side + 3));
    for (int y = 0; y < side; y++)
        memset(row_of(picture, y, side, channels) + side * channels, 0, 2 * pixel);
    memset(row_of(picture, side, side, channels), 0, pixel * (size_t)(side + 1));
}

// Writes the most of each channel in two by two pixels.
PART(pool, (float *out, const float *in, int pixels, int channels, int line),
     (out, in, pixels, channels, line))
{
    for (int x = 0; x < pixels; x++)
        for (int c = 0; c < channels; c += 8) {
            const float *at = in + 2 * x * channels + c, *below = at + line;
            eight a = *(const eight *)at, b = *(const eight *)(at + channels);
            eight d = *(const eight *)below, e = *(const eight *)(below + channels);
            *(eight *)(out + x * channels + c) = __builtin_elementwise_max(
                __builtin_elementwise_max(a, b), __builtin_elementwise_max(d, e));
        }
}

// A block: filters each channel, mixes them, and adds the picture as it was.
static void run(struct kernel_face *f, int side, int from, int to, int step, float *in, float *out)
{
    const float *filter = take(f, 9 * from), *filter_offsets = take(f, from);
    const float *weights = take(f, from * to), *offsets = take(f, to);
    int count = side / step, first = step == 1 ? -1 : 0;
    for (int y = 0; y < count; y++) {
        const float *rows[3], *before = row_of(in, y * step, side, from);
        for (int k = 0; k < 3; k++)
            rows[k] = row_of(in, y * step + first + k, side, from) + first * from;
        depthwise(f->row, rows, count, from, 3, step, filter, filter_offsets, LINEAR, 0);
        if (step == 2) {
            pool(f->most, before, count, from, (side + 2) * from);
            before = f->most;
        }
        pointwise(row_of(out, y, count, to), f->row, count, from, to, weights, offsets, RELU,
                  before, from);
    }
    clear_border(out, count, to);
}

// Makes `to` numbers of each pixel.
static void tell(struct kernel_face *f, int side, int from, float *in, float *out, int to)
{
    const float *weights = take(f, from * to), *offsets = take(f, to);
    for (int y = 0; y < side; y++)
        pointwise(out + y * side * to, row_of(in, y, side, from), side, from, to, weights, offsets,
                  LINEAR, 0, 0);
}

void kernel_face(struct kernel_face *f, float *scores, float *boxes)
{
    // The channels of each block, where the network has 28, 36 and 42 and the rest is zero.
    static const uint8_t channels[] = {24, 32, 32, 40, 48, 48, 56, 64,
                                       72, 80, 88, 96, 96, 96, 96, 96};
    f->next = f->numbers;
    float *in = f->picture[0], *out = f->picture[1], *kept = 0;
    int side = SIDE / 2, from = 24;
    const float *weights = take(f, 75 * 24), *offsets = take(f, 24);
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++)
            for (int k = 0; k < 5; k++)
                memcpy(&f->patches[x][15 * k], f->input[2 * y + k][2 * x], 15 * sizeof(float));
        pointwise(row_of(in, y, side, 24), f->patches[0], side, 75, 24, weights, offsets, RELU, 0,
                  0);
    }
    clear_border(in, side, 24);
    for (int i = 0; i < 16; i++) {
        int step = i == 2 || i == 5 || i == 11 ? 2 : 1;
        run(f, side, from, channels[i], step, in, out);
        side /= step, from = channels[i];
        float *next = in;
        in = out, out = next;
        // The smaller faces are told from it at the end.
        if (i == 11) kept = out, out = f->picture[2];
    }
    tell(f, 16, 88, kept, f->cells, 8);
    for (int i = 0; i < 512; i++) scores[i] = f->cells[8 * (i / 2) + i % 2];
    tell(f, 8, 96, in, f->cells, 8);
    for (int i = 0; i < 384; i++) scores[512 + i] = f->cells[8 * (i / 6) + i % 6];
    tell(f, 16, 88, kept, boxes, 32);
    tell(f, 8, 96, in, boxes + 512 * 16, 96);
}
