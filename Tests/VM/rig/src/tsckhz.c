/* tsckhz: prints how many thousand ticks a second this processor's time stamp counter has.
 * The emulated processor hands the counter on. A guest that has to find its rate out by itself gets it wrong, up to
 * tenfold, when the emulator is stopped meanwhile, and then its clock is wrong for good. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct moment { uint64_t ticks; int64_t ns; };

/* The counter and the clock at one moment: of many pairs the one whose reading took the least. */
static struct moment now(void)
{
	struct moment best = {0, 0};
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < 1000; i++) {
		struct timespec t;
		uint64_t before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC_RAW, &t);
		uint64_t after = __rdtsc();
		if (after - before < least) {
			least = after - before;
			best = (struct moment){before + least / 2, t.tv_sec * 1000000000LL + t.tv_nsec};
		}
	}
	return best;
}

int main(void)
{
	struct timespec pause = {0, 200000000};
	struct moment a = now();
	nanosleep(&pause, NULL);
	struct moment b = now();
	printf("%.0f\n", (double)(b.ticks - a.ticks) / (double)(b.ns - a.ns) * 1e6);
	return 0;
}
