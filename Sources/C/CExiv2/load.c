// In place of exiv2.cpp, where that is a library of its own (tools/dist): Exiv2 has another soname
// and other classes in each version, and programs are to run where there is none that we know.

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// Hidden, so that the library does not use these in place of its own.
#pragma GCC visibility push(hidden)
#include "CExiv2.h"

static void *library;

static void load(void) { library = dlopen("libdualcam-exiv2.so", RTLD_NOW | RTLD_LOCAL); }

int exiv2_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return library != NULL;
}

#define CALL(name, ...) ((__typeof__(&name))dlsym(library, #name))(__VA_ARGS__)

struct exiv2_file *exiv2_open(const uint8_t *bytes, size_t count, char *reason, size_t size)
{
    if (exiv2_load()) return CALL(exiv2_open, bytes, count, reason, size);
    snprintf(reason, size, "the library Exiv2 is not there");
    return NULL;
}

void exiv2_close(struct exiv2_file *a) { CALL(exiv2_close, a); }
long exiv2_get(struct exiv2_file *a, const char *b, char *c, size_t d) { return CALL(exiv2_get, a, b, c, d); }
int exiv2_set(struct exiv2_file *a, const char *b, const char *c) { return CALL(exiv2_set, a, b, c); }
uint8_t *exiv2_thumbnail(struct exiv2_file *a, size_t *b) { return CALL(exiv2_thumbnail, a, b); }
int exiv2_set_thumbnail(struct exiv2_file *a, const uint8_t *b, size_t c) { return CALL(exiv2_set_thumbnail, a, b, c); }
uint8_t *exiv2_write(struct exiv2_file *a, size_t *b, char *c, size_t d) { return CALL(exiv2_write, a, b, c, d); }
