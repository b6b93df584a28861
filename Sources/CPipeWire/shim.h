// PipeWire. Shims stand here for what Swift cannot import: variadic functions and macros.
#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>
