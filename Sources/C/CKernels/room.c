// What is behind a person: the mask of a picture made steady and sharp, the room blurred, and both
// laid together.
#include "CKernels.h"

#include <math.h>
#include <string.h>

#include "dispatch.h"

enum {
    LONG = KERNEL_PERSON_WIDTH,
    AREA = KERNEL_PERSON_WIDTH * KERNEL_PERSON_HEIGHT,
    REACH = KERNEL_ROOM_REACH,
    // Neighbouring pixels that are told apart only together, as person or room.
    BLOCK = 32,
};

struct kernel_room {
    // The pixels' shares of person, and their luma, steadied over time; then what is newly found.
    float mask[AREA], fresh[AREA];
    uint8_t luma[AREA];
    // The person's share as a multiple of luma, and what to add; then the room without the person.
    float slope[AREA], offset[AREA];
    float room[3][AREA / 4];
    float values[4][AREA], across[AREA], line[LONG + 2 * REACH];
    int32_t stack[AREA / 4], piece[AREA / 4];
    uint8_t seen[AREA / 4];
    // Of each line, which blocks of pixels are all person or all room.
    uint8_t kinds[LONG * (KERNEL_ROOM_WIDEST / BLOCK)];
};

size_t kernel_room_size(void) { return sizeof(struct kernel_room); }

// Returns the darkest and the lightest luma but for one in a hundred.
static void find_levels(const uint8_t *luma, int *low, int *high)
{
    int counts[256] = {0}, few = AREA / 4 / 100, sum = 0;
    for (int i = 0; i < AREA; i += 4) counts[luma[i]]++;
    for (*low = 0; (sum += counts[*low]) < few;) ++*low;
    sum = 0;
    for (*high = 255; (sum += counts[*high]) < few;) --*high;
}

// The places of pixels in the upright picture: from each to the next, and from line to line.
struct turn {
    int first, step, line;
};

static struct turn turn_of(int quarter_turns)
{
    enum { W = KERNEL_PERSON_WIDTH, H = KERNEL_PERSON_HEIGHT };
    switch (quarter_turns & 3) {
    case 0: return (struct turn){0, 1, W};
    case 1: return (struct turn){(W - 1) * H, -H, 1};
    case 2: return (struct turn){AREA - 1, -1, -W};
    default: return (struct turn){H - 1, H, -1};
    }
}

// Writes the network's input: red, green and blue, upright, in as much contrast as there can be.
DISPATCHED(kernel_room_show,
           (struct kernel_person *person, const uint8_t *small, int quarter_turns,
            struct kernel_colours colours),
           (person, small, quarter_turns, colours))
{
    int low, high;
    find_levels(small, &low, &high);
    // Light that hardly differs is noise.
    float gain = 1.0f / (float)(high - low < 16 ? 16 : high - low);
    struct turn turn = turn_of(quarter_turns);
    for (int y = 0; y < KERNEL_PERSON_HEIGHT; y++) {
        float *out = kernel_person_input(person, y);
        const uint8_t *at = small + turn.first + y * turn.line;
        for (int x = 0; x < KERNEL_PERSON_WIDTH; x++) {
            int i = x * turn.step;
            float luma = (float)at[i] - (float)low;
            float u = (float)at[i + AREA] - 128, v = (float)at[i + 2 * AREA] - 128;
            float red = (luma + colours.red_v * v) * gain;
            float green = (luma + colours.green_u * u + colours.green_v * v) * gain;
            float blue = (luma + colours.blue_u * u) * gain;
            out[3 * x] = fminf(fmaxf(red, 0), 1);
            out[3 * x + 1] = fminf(fmaxf(green, 0), 1);
            out[3 * x + 2] = fminf(fmaxf(blue, 0), 1);
        }
    }
}

// Returns the most that is found in two by two pixels, of which `half` make a line.
static float most_at(const struct kernel_room *r, int i, int half)
{
    const float *at = r->fresh + (i / half * half * 2 + i % half) * 2, *below = at + 2 * half;
    return fmaxf(fmaxf(at[0], at[1]), fmaxf(below[0], below[1]));
}

// Clears what is found in pieces of less than half a percent of the picture, or is nowhere sure.
static void drop_pieces(struct kernel_room *r, int width)
{
    int half = width / 2, count = AREA / 4;
    for (int i = 0; i < count; i++) r->seen[i] = most_at(r, i, half) < 0.1f;
    for (int start = 0; start < count; start++) {
        if (r->seen[start]) continue;
        int waiting = 0, found = 0;
        float most = 0;
        r->stack[waiting++] = start;
        r->seen[start] = 1;
        while (waiting > 0) {
            int i = r->stack[--waiting], x = i % half;
            r->piece[found++] = i;
            most = fmaxf(most, most_at(r, i, half));
            int near[4] = {i - half, i + half, x > 0 ? i - 1 : -1, x < half - 1 ? i + 1 : -1};
            for (int k = 0; k < 4; k++) {
                if (near[k] < 0 || near[k] >= count || r->seen[near[k]]) continue;
                r->seen[near[k]] = 1;
                r->stack[waiting++] = near[k];
            }
        }
        if (found * 200 >= count && most >= 0.5f) continue;
        for (int k = 0; k < found; k++) {
            float *at = r->fresh + (r->piece[k] / half * half * 2 + r->piece[k] % half) * 2;
            at[0] = at[1] = at[width] = at[width + 1] = 0;
        }
    }
}

// Moves the mask towards the fresh one: fully where the picture moves, slowly where it is still.
PART(steady, (struct kernel_room *r, const uint8_t *luma, int width), (r, luma, width))
{
    int height = AREA / width;
    float *change = r->slope, *sums = r->offset;
    for (int i = 0; i < AREA; i++) {
        int difference = luma[i] - r->luma[i];
        change[i] = (float)(difference < 0 ? -difference : difference);
    }
    for (int y = 0; y < height; y++) {
        const float *at = change + y * width;
        const float *above = y > 0 ? at - width : at;
        const float *below = y < height - 1 ? at + width : at;
        for (int x = 0; x < width; x++) sums[y * width + x] = at[x] + above[x] + below[x];
    }
    for (int i = 0; i < AREA; i++) {
        // Beyond the ends of a line is the other side, which has no weight in what people see.
        float mean = (sums[i] + sums[i > 0 ? i - 1 : i] + sums[i < AREA - 1 ? i + 1 : i]) / 9;
        float difference = r->fresh[i] - r->mask[i];
        float share = 32 + 16 * fmaxf(mean - 3, 0) + 127.5f * fabsf(difference);
        r->mask[i] += fminf(share / 256, 1) * difference;
    }
}

void kernel_room_find(struct kernel_room *r, struct kernel_person *person, const uint8_t *luma,
                      int quarter_turns, int is_first)
{
    // The slopes are made anew from the mask each time.
    float *upright = r->slope;
    kernel_person(person, upright);
    struct turn turn = turn_of(quarter_turns);
    for (int y = 0; y < KERNEL_PERSON_HEIGHT; y++)
        for (int x = 0; x < KERNEL_PERSON_WIDTH; x++)
            r->fresh[turn.first + y * turn.line + x * turn.step] =
                upright[y * KERNEL_PERSON_WIDTH + x];
    int width = quarter_turns & 1 ? KERNEL_PERSON_HEIGHT : KERNEL_PERSON_WIDTH;
    drop_pieces(r, width);
    int64_t change = 0;
    for (int i = 0; i < AREA; i++) change += luma[i] > r->luma[i] ? luma[i] - r->luma[i]
                                                                  : r->luma[i] - luma[i];
    if (is_first || change > 30 * AREA) memcpy(r->mask, r->fresh, sizeof r->mask);
    else steady(r, luma, width);
    memcpy(r->luma, luma, AREA);
}

void kernel_room_forget(struct kernel_room *r) { memset(r->mask, 0, sizeof r->mask); }

// Replaces the first `count` values of each pixel by their means up to `reach` pixels away.
PART(spread, (struct kernel_room *r, int count, int width, int height, int reach),
     (r, count, width, height, reach))
{
    float weight = 1.0f / (float)((2 * reach + 1) * (2 * reach + 1));
    float *line = r->line;
    for (int v = 0; v < count; v++) {
        float *values = r->values[v];
        for (int y = 0; y < height; y++) {
            const float *in = values + y * width;
            for (int x = 0; x < width; x++) line[reach + x] = in[x] * weight;
            for (int x = 0; x < reach; x++) {
                line[x] = line[reach];
                line[reach + width + x] = line[reach + width - 1];
            }
            float *out = r->across + y * width;
            memset(out, 0, (size_t)width * sizeof *out);
            for (int k = 0; k <= 2 * reach; k++)
                for (int x = 0; x < width; x++) out[x] += line[x + k];
        }
        // From each line to the next, one line enters the sums below, and one leaves above.
        memset(values, 0, (size_t)width * sizeof *values);
        for (int k = -reach; k <= reach; k++)
            for (int x = 0; x < width; x++) values[x] += r->across[(k < 0 ? 0 : k) * width + x];
        for (int y = 1; y < height; y++) {
            const float *in = r->across + (y + reach < height ? y + reach : height - 1) * width;
            const float *gone = r->across + (y - 1 > reach ? y - 1 - reach : 0) * width;
            float *out = values + y * width, *above = out - width;
            for (int x = 0; x < width; x++) out[x] = above[x] + (in[x] - gone[x]);
        }
    }
}

// A filter that is guided by luma (He, Sun and Tang, "Guided Image Filtering", 2010): the mask as
// the multiple of luma that fits best around each pixel, so that its edges are the picture's.
PART(sharpen, (struct kernel_room *r, const uint8_t *luma, int width, float contrast, float less),
     (r, luma, width, contrast, less))
{
    enum { NEAR = 2 };
    const float least = 1e-4f;
    float *light = r->values[0], *share = r->values[1], *square = r->values[2];
    float *product = r->values[3];
    for (int i = 0; i < AREA; i++) {
        light[i] = luma[i] / 255.0f;
        share[i] = r->mask[i];
        square[i] = light[i] * light[i];
        product[i] = light[i] * share[i];
    }
    spread(r, 4, width, AREA / width, NEAR);
    for (int i = 0; i < AREA; i++) {
        float slope = (product[i] - light[i] * share[i]) / (square[i] - light[i] * light[i] + least);
        share[i] -= slope * light[i];
        light[i] = slope;
    }
    spread(r, 2, width, AREA / width, NEAR);
    for (int i = 0; i < AREA; i++) {
        r->slope[i] = light[i] * contrast / 255;
        r->offset[i] = (share[i] - 0.5f) * contrast + 0.5f - less;
    }
}

// Blurs the room at half the size, with the person left out as far as there is something else.
PART(blur, (struct kernel_room *r, const uint8_t *small, int width, int reach),
     (r, small, width, reach))
{
    enum { TIMES = 3 };
    int half = width / 2, height = AREA / width / 2;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < half; x++) {
            float sums[4] = {0};
            for (int k = 0; k < 4; k++) {
                int at = (2 * y + k / 2) * width + 2 * x + k % 2;
                float weight = 1.004f - r->mask[at];
                sums[0] += weight;
                for (int v = 0; v < 3; v++) sums[v + 1] += weight * small[v * AREA + at];
            }
            for (int v = 0; v < 4; v++) r->values[v][y * half + x] = sums[v];
        }
    for (int k = 0; k < TIMES; k++) spread(r, 4, half, height, reach);
    for (int i = 0; i < AREA / 4; i++)
        for (int v = 0; v < 3; v++) r->room[v][i] = r->values[v + 1][i] / r->values[0][i];
}

void kernel_room_prepare(struct kernel_room *r, const uint8_t *small, int width, int reach,
                         int is_replaced)
{
    blur(r, small, width, reach);
    // Over another picture what is half a person shows the old room more.
    sharpen(r, small, width, is_replaced ? 1.5f : 1.25f, is_replaced ? 0.15f : 0);
}

// Columns to mix for each of `width` pixels, and the share of the second.
struct column {
    int32_t first, second;
    float share;
};

enum kind { MIXED, ROOM, PERSON };

size_t kernel_room_scratch(int width)
{
    // Slopes and offsets, and the room's luma and chroma on half as many lines; a line of shares
    // for luma and for chroma; the columns for two counts of them, for luma and for chroma.
    size_t even = (size_t)width + 1, values = (3 * LONG + 2) * even * sizeof(float);
    return values + 2 * even * sizeof(struct column);
}

static void find_columns(struct column *columns, int width, int count)
{
    for (int x = 0; x < width; x++) {
        float at = fmaxf(((float)x + 0.5f) * (float)count / (float)width - 0.5f, 0);
        int first = (int)at;
        columns[x] = (struct column){first, first + 1 < count ? first + 1 : first,
                                     at - (float)first};
    }
}

// Stretches a part of a line.
PART(stretch, (float *out, const float *in, const struct column *columns, int count),
     (out, in, columns, count))
{
    for (int x = 0; x < count; x++) {
        struct column column = columns[x];
        out[x] = in[column.first] + (in[column.second] - in[column.first]) * column.share;
    }
}

// Tells if columns show only the person or only the room, whatever the luma.
static enum kind kind_of(const float *slope, const float *offset, int from, int to)
{
    float low = 1, high = 0;
    for (int i = from; i <= to; i++) {
        float dark = offset[i], light = offset[i] + 255 * slope[i];
        low = fminf(low, fminf(dark, light));
        high = fmaxf(high, fmaxf(dark, light));
    }
    return high <= 0 ? ROOM : low >= 1 ? PERSON : MIXED;
}

// Stretches what makes the shares of a line, where it is not the same for all in a block.
static void stretch_shares(float *slope, float *offset, uint8_t *kinds, const float *slopes,
                           const float *offsets, const struct column *columns, int width)
{
    for (int x = 0; x < width; x += BLOCK) {
        int count = width - x < BLOCK ? width - x : BLOCK;
        enum kind kind = kind_of(slopes, offsets, columns[x].first, columns[x + count - 1].second);
        kinds[x / BLOCK] = (uint8_t)kind;
        if (kind == MIXED) {
            stretch(slope + x, slopes, columns + x, count);
            stretch(offset + x, offsets, columns + x, count);
        } else {
            for (int i = x; i < x + count; i++) slope[i] = 0, offset[i] = kind == PERSON;
        }
    }
}

// Computes the person's shares of pixels from two lines of slopes and offsets, `next` apart.
PART(find_shares,
     (float *share, const uint8_t *source, const float *slope, const float *offset, int next,
      float mix, int count),
     (share, source, slope, offset, next, mix, count))
{
    for (int x = 0; x < count; x++) {
        float a = slope[x] + (slope[x + next] - slope[x]) * mix;
        float b = offset[x] + (offset[x + next] - offset[x]) * mix;
        share[x] = fminf(fmaxf(a * source[x] + b, 0), 1);
    }
}

// Writes bytes of the room, which is mixed from two lines, `next` apart.
PART(lay_room, (uint8_t *out, const float *line, int next, float mix, int count),
     (out, line, next, mix, count))
{
    for (int x = 0; x < count; x++)
        out[x] = (uint8_t)(int)(line[x] + (line[x + next] - line[x]) * mix + 0.5f);
}

// Lays the person's share of `source` over it.
PART(lay_over_room,
     (uint8_t *out, const uint8_t *source, const float *share, const float *line, int next,
      float mix, int count),
     (out, source, share, line, next, mix, count))
{
    for (int x = 0; x < count; x++) {
        float room = line[x] + (line[x + next] - line[x]) * mix;
        out[x] = (uint8_t)(int)(room + share[x] * (source[x] - room) + 0.5f);
    }
}

// The same over bytes of another picture, with `gain` times as much of the person.
PART(lay_over,
     (uint8_t *out, const uint8_t *source, const uint8_t *other, const float *share,
      const float *line, int next, float mix, float gain, int count),
     (out, source, other, share, line, next, mix, gain, count))
{
    for (int x = 0; x < count; x++) {
        float room = line[x] + (line[x + next] - line[x]) * mix, there = other[x];
        // Without the colour of the room, which shines through at the rim.
        float rest = (1 - share[x]) / fmaxf(share[x], 0.3f);
        float person = source[x] + rest * (source[x] - room);
        float value = there + fminf(share[x] * gain, 1) * (person - there);
        out[x] = (uint8_t)(int)(fminf(fmaxf(value, 0), 255) + 0.5f);
    }
}

PART(lay_shares, (uint8_t *out, const float *share, int count), (out, share, count))
{
    for (int x = 0; x < count; x++) out[x] = (uint8_t)(int)(share[x] * 255 + 0.5f);
}

// Two lines to mix: the first, what is from it to the second, and the share of that.
struct pair {
    int first, next;
    float share;
};

static struct pair pair_at(int y, int height, int lines)
{
    float at = fmaxf(((float)y + 0.5f) * (float)lines / (float)height - 0.5f, 0);
    int first = (int)at;
    return (struct pair){first, first + 1 < lines, at - (float)first};
}

static void lay(struct kernel_room_planes p, int plane, int row, int x, int count, enum kind kind,
                const float *share, const float *line, int next, float mix)
{
    int at = row * p.target_stride[plane] + x;
    uint8_t *out = p.target[plane] + at;
    const uint8_t *source = p.source[plane] + row * p.source_stride[plane] + x;
    const uint8_t *other = p.keeps_room ? source : p.other[plane] ? p.other[plane] + at : 0;
    if (kind == PERSON) {
        if (out != source) memcpy(out, source, (size_t)count);
    } else if (kind == ROOM) {
        if (other == out) return;
        if (other) memcpy(out, other, (size_t)count);
        else lay_room(out, line + x, next, mix, count);
    } else if (other || p.mask) {
        uint8_t room[KERNEL_ROOM_WIDEST];
        if (!other) lay_room(room, line + x, next, mix, count);
        lay_over(out, source, other ? other : room, share + x, line + x, next, mix,
                 p.mask ? 3 : 1, count);
    } else {
        lay_over_room(out, source, share + x, line + x, next, mix, count);
    }
}

void kernel_room_lay(struct kernel_room *r, int small, void *scratch, struct kernel_room_planes p)
{
    int lines = AREA / small, half = lines / 2, width = p.width, chroma = (width + 1) / 2;
    float *slope = scratch, *offset = slope + lines * width, *luma = offset + lines * width;
    float *u = luma + half * width, *v = u + half * chroma;
    float *share = v + half * chroma, *shared = share + 2 * chroma;
    struct column *columns = (struct column *)(shared + chroma), *others = columns + width;
    uint8_t *kinds = r->kinds;
    int blocks = (width + BLOCK - 1) / BLOCK;
    find_columns(columns, width, small);
    for (int y = 0; y < lines; y++)
        stretch_shares(slope + y * width, offset + y * width, kinds + y * blocks,
                       r->slope + y * small, r->offset + y * small, columns, width);
    find_columns(columns, width, small / 2);
    find_columns(others, chroma, small / 2);
    for (int y = 0, at = 0; y < half; y++, at += small / 2) {
        stretch(luma + y * width, r->room[0] + at, columns, width);
        stretch(u + y * chroma, r->room[1] + at, others, chroma);
        stretch(v + y * chroma, r->room[2] + at, others, chroma);
    }
    int down = p.chroma_height < p.height ? 2 : 1;
    for (int y = 0; y < p.height; y++) {
        struct pair mask = pair_at(y, p.height, lines), room = pair_at(y, p.height, half);
        const uint8_t *upper = kinds + mask.first * blocks, *lower = upper + mask.next * blocks;
        for (int x = 0, end; x < width; x = end) {
            int block = x / BLOCK;
            enum kind kind = upper[block] == lower[block] ? upper[block] : MIXED;
            for (block++; block < blocks; block++)
                if ((upper[block] == lower[block] ? upper[block] : MIXED) != kind) break;
            end = block * BLOCK < width ? block * BLOCK : width;
            int count = end - x, from = mask.first * width + x;
            if (kind == MIXED) {
                find_shares(share + x, p.source[0] + y * p.source_stride[0] + x, slope + from,
                            offset + from, mask.next * width, mask.share, count);
                // An odd last column has chroma of its own.
                if (end % 2) share[end] = share[end - 1];
            }
            uint8_t *mask = p.mask ? p.mask + y * p.mask_stride + x : 0;
            if (mask && kind == MIXED) lay_shares(mask, share + x, count);
            else if (mask) memset(mask, kind == PERSON ? 255 : 0, (size_t)count);
            lay(p, 0, y, x, count, kind, share, luma + room.first * width, room.next * width,
                room.share);
            if (y % down) continue;
            int last = (end + 1) / 2;
            if (kind == MIXED)
                for (int i = x / 2; i < last; i++)
                    shared[i] = (share[2 * i] + share[2 * i + 1]) / 2;
            for (int plane = 1; plane < 3; plane++)
                lay(p, plane, y / down, x / 2, last - x / 2, kind, shared,
                    (plane == 1 ? u : v) + room.first * chroma, room.next * chroma, room.share);
        }
    }
}
