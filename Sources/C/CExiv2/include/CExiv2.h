// A JPEG file's metadata, by Exiv2, which is C++ and tells of errors by exceptions.
//
// Tags have Exiv2's names, "Exif.Photo.ExposureTime", "Xmp.tiff.Orientation", and values as text, as its
// documentation writes them ("1/250"). Exiv2's XMP toolkit keeps state for the whole process, so that one call
// at a time is made, whichever thread it comes from. No exception leaves; what Exiv2 would print is dropped.
#ifndef CEXIV2_H
#define CEXIV2_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct exiv2_file;

// Reads the metadata of the JPEG in `bytes`, which stay there and as they are until exiv2_close; NULL, and the
// reason in `reason` (of `size` bytes), where they cannot be read.
struct exiv2_file *exiv2_open(const uint8_t *bytes, size_t count, char *reason, size_t size);
void exiv2_close(struct exiv2_file *file);

// The tag's value, cut off at `size` bytes with a zero at the end; its length, -1 where there is no such tag.
long exiv2_get(struct exiv2_file *file, const char *tag, char *value, size_t size);

// Gives the tag a value, of the type that it has or should have, 0 where Exiv2 does not take it.
int exiv2_set(struct exiv2_file *file, const char *tag, const char *value);

// The embedded thumbnail where it is a JPEG, to be freed with free(3); NULL where there is none.
uint8_t *exiv2_thumbnail(struct exiv2_file *file, size_t *count);

// Puts a JPEG in the place of the embedded thumbnail; `count` 0 removes it. 0 when that failed.
int exiv2_set_thumbnail(struct exiv2_file *file, const uint8_t *bytes, size_t count);

// The whole file with the metadata as they are now, to be freed with free(3); NULL, and the reason in `reason`,
// where they have no room in it.
uint8_t *exiv2_write(struct exiv2_file *file, size_t *count, char *reason, size_t size);

#ifdef __cplusplus
}
#endif

#endif
