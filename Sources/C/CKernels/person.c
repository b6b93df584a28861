// The network that finds persons: MediaPipe's selfie segmentation for landscape pictures, whose
// numbers tools/network wrote to person.f16.
#include "CKernels.h"

#include <math.h>
#include <string.h>

#include "layers.h"

enum { WIDTH = KERNEL_PERSON_WIDTH, HEIGHT = KERNEL_PERSON_HEIGHT, NUMBERS = 106401 };

#pragma clang diagnostic ignored "-Wc23-extensions"
static const uint8_t halves[] = {
#embed "person.f16"
};
_Static_assert(sizeof halves == 2 * NUMBERS, "another network");

typedef int32_t eight_integers __attribute__((vector_size(32)));

// The most numbers of a row that is widened, with its border, and of its rows at one time.
enum { WIDEST = 69 * 72, ROWS = 5 };

// What the network computes with, and its input with a border to the right and below.
struct kernel_person {
    float input[HEIGHT + 1][WIDTH + 1][3];
    float numbers[NUMBERS];
    float first[72 * 128 * 16], second[36 * 64 * 16], third[18 * 32 * 24];
    float small[2][9 * 16 * 32], head[9 * 16 * 128];
    float middle[36 * 64 * 16];
    float fine[2][36 * 64 * 16], doubled[36 * 64 * 16];
    float ring[ROWS + 1][WIDEST];
    float row[3][128 * 16];
    float gated[128 * 32];
    float gate[128], mean[128], hidden[128], kernel[17 * 8];
    // The next of `numbers`.
    const float *next;
};

size_t kernel_person_size(void) { return sizeof(struct kernel_person); }

float *kernel_person_input(struct kernel_person *p, int row) { return p->input[row][0]; }

void kernel_person_prepare(struct kernel_person *p)
{
    memset(p, 0, sizeof *p);
    unpack_halves(p->numbers, halves, NUMBERS);
}

static const float *take(struct kernel_person *p, int count)
{
    p->next += count;
    return p->next - count;
}

// Makes a row of the first layer: three by three pixels of three colours to sixteen channels.
PART(begin, (float *out, const float *in, const float *weights), (out, in, weights))
{
    enum { LINE = (WIDTH + 1) * 3, TO = 16 };
    for (int x = 0; x < WIDTH / 2; x += 4) {
        eight sum[4][2];
        for (int p = 0; p < 4; p++)
            for (int v = 0; v < 2; v++) load(&sum[p][v], weights + 27 * TO + 8 * v);
        for (int i = 0; i < 27; i++) {
            eight weight[2];
            for (int v = 0; v < 2; v++) load(&weight[v], weights + i * TO + 8 * v);
            const float *at = in + i / 9 * LINE + x * 6 + i % 9;
            for (int p = 0; p < 4; p++)
                for (int v = 0; v < 2; v++) sum[p][v] += at[6 * p] * weight[v];
        }
        for (int p = 0; p < 4; p++)
            for (int v = 0; v < 2; v++)
                finish(out + (x + p) * TO + 8 * v, &sum[p][v], HARD_SWISH, 0);
    }
}

// Writes, or adds, the mean of each channel.
PART(average, (float *mean, const float *in, int pixels, int channels, int adds),
      (mean, in, pixels, channels, adds))
{
    for (int c = 0; c < channels; c += 8) {
        eight sum = {0};
        for (int p = 0; p < pixels; p++) sum += *(const eight *)(in + p * channels + c);
        sum *= 1.0f / (float)pixels;
        if (adds) sum += *(const eight *)(mean + c);
        *(eight *)(mean + c) = sum;
    }
}

static void sigmoid(float *values, int count)
{
    for (int i = 0; i < count; i++) values[i] = 1 / (1 + expf(-values[i]));
}

// Leaves in `p->gate` the share of each channel that a gate lets through, by `p->mean`.
static void open_gate(struct kernel_person *p, int channels, int hidden)
{
    const float *weights = take(p, channels * hidden), *offsets = take(p, hidden);
    pointwise(p->hidden, p->mean, 1, channels, hidden, weights, offsets, RELU, 0, 0);
    weights = take(p, hidden * channels), offsets = take(p, channels);
    pointwise(p->gate, p->hidden, 1, hidden, channels, weights, offsets, LINEAR, 0, 0);
    sigmoid(p->gate, channels);
}

// Clears the border of rows that are made of `width` pixels, from number `before` on, and the row
// that stands for those outside.
static void clear_ring(struct kernel_person *p, int width, int before, int size, int channels)
{
    size_t left = (size_t)before * channels, all = (size_t)(width + size) * channels;
    size_t right = left + (size_t)width * channels;
    for (int i = 0; i < size; i++) {
        memset(p->ring[i], 0, left * sizeof(float));
        memset(p->ring[i] + right, 0, (all - right) * sizeof(float));
    }
    memset(p->ring[ROWS], 0, all * sizeof(float));
}

// Returns the weights of a layer behind the gate, which then costs nothing for each pixel.
static const float *behind_gate(struct kernel_person *p, const float *weights, int from, int to)
{
    for (int i = 0; i < from; i++)
        for (int o = 0; o < to; o++) p->gated[i * to + o] = weights[i * to + o] * p->gate[i];
    return p->gated;
}

// A block: widens the channels of each pixel, filters each of them, and narrows them again.
struct block {
    int width, height, from, wide, to, size, step, hidden;
    enum activation activation;
};

static void run(struct kernel_person *p, struct block b, const float *in, float *out)
{
    const float *weights = take(p, b.from * b.wide), *offsets = take(p, b.wide);
    const float *filter = take(p, b.size * b.size * b.wide), *filter_offsets = take(p, b.wide);
    int before = b.step == 1 ? b.size / 2 : (b.size - 2) / 2;
    int columns = b.width / b.step, lines = b.height / b.step;
    clear_ring(p, b.width, before, b.size, b.wide);
    const float *narrow = 0, *narrow_offsets = 0;
    if (!b.hidden) narrow = take(p, b.wide * b.to), narrow_offsets = take(p, b.to);
    for (int y = 0, made = 0; y < lines; y++) {
        const float *rows[ROWS];
        for (int k = 0; k < b.size; k++) {
            int line = y * b.step - before + k;
            int is_outside = line < 0 || line >= b.height;
            rows[k] = p->ring[is_outside ? ROWS : line % b.size];
            for (; !is_outside && made <= line; made++)
                pointwise(p->ring[made % b.size] + before * b.wide, in + made * b.width * b.from,
                          b.width, b.from, b.wide, weights, offsets, b.activation, 0, 0);
        }
        float *row = b.hidden ? p->middle + y * columns * b.wide : p->row[0];
        depthwise(row, rows, columns, b.wide, b.size, b.step, filter, filter_offsets,
                  b.activation, 0);
        int at = y * columns;
        if (!b.hidden)
            pointwise(out + at * b.to, row, columns, b.wide, b.to, narrow, narrow_offsets, LINEAR,
                      b.step == 1 ? in + at * b.from : 0, b.to);
    }
    if (!b.hidden) return;
    int pixels = columns * lines;
    average(p->mean, p->middle, pixels, b.wide, 0);
    open_gate(p, b.wide, b.hidden);
    narrow = behind_gate(p, take(p, b.wide * b.to), b.wide, b.to);
    pointwise(out, p->middle, pixels, b.wide, b.to, narrow, take(p, b.to), LINEAR,
              b.step == 1 ? in : 0, b.to);
}

// Doubles two rows that are mixed with a quarter of the second, and adds what the gate lets through
// of `kept`.
PART(rejoin,
      (float *out, const float *near, const float *far, const float *kept, const float *gate,
       int width, int channels),
      (out, near, far, kept, gate, width, channels))
{
    for (int c = 0; c < channels; c += 8) {
        eight share, left, here, right;
        load(&share, gate + c);
#define MIXED(x)                                                                       \
    (*(const eight *)(near + (x) * channels + c) * 0.75f +                             \
     *(const eight *)(far + (x) * channels + c) * 0.25f)
        left = here = MIXED(0);
        for (int x = 0; x < width; x++) {
            right = x + 1 < width ? MIXED(x + 1) : here;
            int at = 2 * x * channels + c, other = at + channels;
            *(eight *)(out + at) =
                here * 0.75f + left * 0.25f + *(const eight *)(kept + at) * share;
            *(eight *)(out + other) =
                here * 0.75f + right * 0.25f + *(const eight *)(kept + other) * share;
            left = here;
            here = right;
        }
#undef MIXED
    }
}

// Makes a row of pixels two rows of the mask; `weights` are those of its four pixels, then four
// that do not count.
PART(end, (float *upper, float *lower, const float *in, const float *weights, const float *offsets),
      (upper, lower, in, weights, offsets))
{
    for (int x = 0; x < WIDTH / 2; x++) {
        eight sum, zero = {0};
        load(&sum, offsets);
        for (int i = 0; i < 16; i++) sum += in[16 * x + i] * *(const eight *)(weights + 8 * i);
        // 2 to the power of the whole part, by its bits, and of the rest, by a polynomial.
        eight power = sum * -1.44269504f;
        power = __builtin_elementwise_min(__builtin_elementwise_max(power, zero - 120), zero + 120);
        eight whole = (power + 0x1.8p23f) - 0x1.8p23f, rest = (power - whole) * 0.69314718f;
        eight value = 1 + rest * (1 + rest * (1 / 2.0f + rest * (1 / 6.0f +
                                  rest * (1 / 24.0f + rest * (1 / 120.0f)))));
        eight_integers bits = (__builtin_convertvector(whole, eight_integers) + 127) << 23;
        eight result = 1 / (1 + value * (eight)bits);
        upper[2 * x] = result[0];
        upper[2 * x + 1] = result[1];
        lower[2 * x] = result[2];
        lower[2 * x + 1] = result[3];
    }
}

// A decoder: doubles a smaller picture, and adds the details of one that was kept.
struct decoder {
    int width, height, from, to;
};

static void decode(struct kernel_person *p, struct decoder d, const float *small, int is_gated,
                   const float *kept, float *out)
{
    int columns = d.width / 2, lines = d.height / 2, c = d.to;
    const float *weights = take(p, d.from * c), *offsets = take(p, c);
    if (is_gated) weights = behind_gate(p, weights, d.from, c);
    pointwise(p->doubled, small, columns * lines, d.from, c, weights, offsets, LINEAR, 0, 0);
    average(p->mean, p->doubled, columns * lines, c, 0);
    average(p->mean, kept, d.width * d.height, c, 1);
    open_gate(p, c, c);
    weights = take(p, c * c), offsets = take(p, c);
    const float *filter = take(p, 9 * c), *filter_offsets = take(p, c);
    const float *last = 0;
    if (d.height == HEIGHT / 2) {
        last = take(p, 4 * c + 1);
        for (int i = 0; i <= c; i++)
            for (int k = 0; k < 4; k++) p->kernel[8 * i + k] = last[i < c ? k * c + i : 4 * c];
    }
    clear_ring(p, d.width, 1, 3, c);
    for (int y = 0, made = 0; y < d.height; y++) {
        const float *rows[3];
        for (int k = 0; k < 3; k++) {
            int line = y - 1 + k;
            rows[k] = p->ring[line < 0 || line >= d.height ? ROWS : line % 3];
        }
        for (; made < d.height && made <= y + 1; made++) {
            int near = made / 2, far = made % 2 ? near + 1 : near - 1;
            far = far < 0 ? 0 : far >= lines ? lines - 1 : far;
            rejoin(p->row[0], p->doubled + near * columns * c, p->doubled + far * columns * c,
                   kept + made * d.width * c, p->gate, columns, c);
            pointwise(p->ring[made % 3] + c, p->row[0], d.width, c, c, weights, offsets, RELU, 0, 0);
        }
        float *row = last ? p->row[1] : out + y * d.width * c;
        depthwise(row, rows, d.width, c, 3, 1, filter, filter_offsets, RELU, 1);
        if (last)
            end(out + 2 * y * WIDTH, out + (2 * y + 1) * WIDTH, row, p->kernel, p->kernel + 8 * c);
    }
}

void kernel_person(struct kernel_person *p, float *mask)
{
    p->next = p->numbers;
    const float *weights = take(p, 28 * 16);
    for (int y = 0; y < HEIGHT / 2; y++)
        begin(p->first + y * 128 * 16, p->input[2 * y][0], weights);
    run(p, (struct block){128, 72, 16, 16, 16, 3, 2, 8, RELU}, p->first, p->second);
    float *a = p->fine[0], *b = p->small[0], *c = p->small[1];
    run(p, (struct block){64, 36, 16, 72, 24, 3, 2, 0, RELU}, p->second, a);
    run(p, (struct block){32, 18, 24, 88, 24, 3, 1, 0, RELU}, a, p->third);
    run(p, (struct block){32, 18, 24, 96, 32, 5, 2, 24, HARD_SWISH}, p->third, b);
    run(p, (struct block){16, 9, 32, 128, 32, 5, 1, 32, HARD_SWISH}, b, c);
    run(p, (struct block){16, 9, 32, 128, 32, 5, 1, 32, HARD_SWISH}, c, b);
    run(p, (struct block){16, 9, 32, 96, 32, 5, 1, 24, HARD_SWISH}, b, c);
    run(p, (struct block){16, 9, 32, 96, 32, 5, 1, 24, HARD_SWISH}, c, b);
    weights = take(p, 32 * 128);
    pointwise(p->head, b, 9 * 16, 32, 128, weights, take(p, 128), RELU, 0, 0);
    average(p->mean, b, 9 * 16, 32, 0);
    weights = take(p, 32 * 128);
    pointwise(p->gate, p->mean, 1, 32, 128, weights, take(p, 128), LINEAR, 0, 0);
    sigmoid(p->gate, 128);
    decode(p, (struct decoder){32, 18, 128, 24}, p->head, 1, p->third, p->fine[0]);
    decode(p, (struct decoder){64, 36, 24, 16}, p->fine[0], 0, p->second, p->fine[1]);
    decode(p, (struct decoder){128, 72, 16, 16}, p->fine[1], 0, p->first, mask);
}
