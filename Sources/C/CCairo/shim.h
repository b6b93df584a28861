// cairo and pango, for icons and labels. Only their own headers.
#include <cairo.h>
#include <pango/pangocairo.h>
