// A JPEG file's metadata, by Exiv2, which is C++ and reports errors as exceptions.
//
// Tags have Exiv2's names, such as "Exif.Photo.ExposureTime" or "Xmp.tiff.Orientation", and values
// are texts in the form of its documentation ("1/250"). Exiv2's XMP toolkit keeps state for the
// whole process, so that calls from all threads are made one at a time. No exception leaves, and
// Exiv2's messages are dropped.
#ifndef CEXIV2_H
#define CEXIV2_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct exiv2_file;

// Returns 0 if Exiv2 is loaded when it is first needed, and is not there; then exiv2_open fails.
int exiv2_load(void);

// Reads the metadata of the JPEG in `bytes`, which must stay in place and unchanged until
// exiv2_close. Returns NULL, with the reason in `reason` (of `size` bytes), if it cannot be read.
struct exiv2_file *exiv2_open(const uint8_t *bytes, size_t count, char *reason, size_t size);
void exiv2_close(struct exiv2_file *file);

// Writes the tag's value to `value`, cut to `size` bytes with the zero at the end. Returns the
// length without the zero, or -1 if there is no such tag.
long exiv2_get(struct exiv2_file *file, const char *tag, char *value, size_t size);

// Sets the tag's value, in the type that it has or should have. Returns 0 if Exiv2 refuses it.
int exiv2_set(struct exiv2_file *file, const char *tag, const char *value);

// Returns the embedded thumbnail, to be freed with free(3), or NULL if there is none in JPEG.
uint8_t *exiv2_thumbnail(struct exiv2_file *file, size_t *count);

// Replaces the embedded thumbnail by a JPEG, or removes it if `count` is 0. Returns 0 on failure.
int exiv2_set_thumbnail(struct exiv2_file *file, const uint8_t *bytes, size_t count);

// Returns the whole file with the present metadata, to be freed with free(3). Returns NULL, with
// the reason in `reason`, if they do not fit.
uint8_t *exiv2_write(struct exiv2_file *file, size_t *count, char *reason, size_t size);

#ifdef __cplusplus
}
#endif

#endif
