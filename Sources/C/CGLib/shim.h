// GLib, which pango needs anyway: MD5 and file URIs in the same form as other desktop programs make
// them. Only its own header.
#include <glib.h>
