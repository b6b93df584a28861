#include "CPhone.h"

#include <dlfcn.h>
#include <stdlib.h>

// As in qrencode.h: the library is so small that its header is not worth a package to build with.
struct code {
    int version, width;
    unsigned char *data;
};

int cphone_draw(const char *file, const char *text, uint8_t *modules, size_t room)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    struct code *(*encode)(const char *, int, int, int, int) =
        (__typeof__(encode))dlsym(library, "QRcode_encodeString");
    void (*release)(struct code *) = (__typeof__(release))dlsym(library, "QRcode_free");
    // Bytes, with letters as they are; 15 % of it may be unreadable.
    struct code *code = encode && release ? encode(text, 0, 1, 2, 1) : NULL;
    int width = code && (size_t)code->width * (size_t)code->width <= room ? code->width : 0;
    for (int index = 0; index < width * width; index++) modules[index] = code->data[index] & 1;
    if (code) release(code);
    dlclose(library);
    return width;
}
