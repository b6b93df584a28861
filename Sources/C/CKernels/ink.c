#include "CKernels.h"

#include "dispatch.h"

// Returns `value` within 0 … `most`.
static inline int32_t limited(int32_t value, int32_t most)
{
    value = value < 0 ? 0 : value;
    return value > most ? most : value;
}

// Returns light above black as ink on paper has it, of which `neutral` / 256 is grey.
static inline int32_t inked(int32_t light, int32_t neutral)
{
    enum { WHITE = KERNEL_INK_WHITE };
    // What is nearly white is paper; the rest is darkened, most in the middle.
    int32_t grey = limited(light * 17 >> 4, WHITE);
    grey -= grey * (WHITE - grey) * 47 >> 14;
    return limited(light + ((grey - light) * neutral >> 8), 219);
}

// Evens one run of pixels, whose gain grows by `step` / 65536 from one to the next.
static inline __attribute__((always_inline)) void even_run(uint8_t *packed, int pairs,
                                                           int32_t gain, int32_t step,
                                                           struct kernel_ink ink)
{
    for (int i = 0; i < pairs; i++) {
        uint8_t *at = packed + 4 * i;
        int32_t first = at[0], second = at[2], u = at[1], v = at[3];
        int32_t left = (gain + 2 * i * step) >> 8, right = (gain + (2 * i + 1) * step) >> 8;
        int32_t light = (first - 16) * left >> 8, other = (second - 16) * right >> 8;
        light = limited(light, 511);
        other = limited(other, 511);
        // The tint of the paper, as strong as the light.
        int32_t blue = ((u - 128) * left >> 8) - (ink.tint_u * light >> 12);
        int32_t red = ((v - 128) * left >> 8) - (ink.tint_v * light >> 12);
        int32_t colour = (blue < 0 ? -blue : blue) + (red < 0 ? -red : red);
        int32_t neutral = limited((24 - colour) * 16, 256);
        // Paper becomes white, and what has a colour keeps it.
        blue = limited(blue - (blue * neutral >> 9) + 112, 224) + 16;
        red = limited(red - (red * neutral >> 9) + 112, 224) + 16;
        light = 16 + inked(light, neutral);
        other = 16 + inked(other, neutral);
        at[0] = (uint8_t)(first + ((light - first) * ink.strength >> 8));
        at[1] = (uint8_t)(u + ((blue - u) * ink.strength >> 8));
        at[2] = (uint8_t)(second + ((other - second) * ink.strength >> 8));
        at[3] = (uint8_t)(v + ((red - v) * ink.strength >> 8));
    }
}

DISPATCHED(kernel_ink,
           (uint8_t *packed, int from, int count, const uint16_t *gains, struct kernel_ink ink),
           (packed, from, count, gains, ink))
{
    enum { RUN = KERNEL_INK_RUN };
    for (int done = 0; done < count;) {
        int x = from + done, within = x % RUN;
        int run = RUN - within < count - done ? RUN - within : count - done;
        const uint16_t *gain = gains + x / RUN;
        int32_t step = ((int32_t)gain[1] - gain[0]) * (256 / RUN);
        even_run(packed + 2 * done, run / 2, ((int32_t)gain[0] << 8) + step * within, step, ink);
        done += run;
    }
}
