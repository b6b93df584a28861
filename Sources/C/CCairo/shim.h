// cairo and pango, for icons and labels. Their own headers, nothing added.
#include <cairo.h>
#include <pango/pangocairo.h>
