// Preloaded into the window: whoever asks the X server which buttons of the pointer are down learns
// that none is, as if the one that is held had just been lifted. Events say what they always do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

typedef struct {
    int length;
    unsigned char *mask;
} Buttons;

typedef int Query(
    void *, int, unsigned long, unsigned long *, unsigned long *, double *, double *, double *,
    double *, Buttons *, void *, void *
);

int XIQueryPointer(
    void *display, int device, unsigned long window, unsigned long *root, unsigned long *child,
    double *root_x, double *root_y, double *x, double *y, Buttons *buttons, void *modifiers,
    void *group
) {
    Query *query = (Query *)dlsym(RTLD_NEXT, "XIQueryPointer");
    int found = query(
        display, device, window, root, child, root_x, root_y, x, y, buttons, modifiers, group
    );
    memset(buttons->mask, 0, buttons->length);
    return found;
}
