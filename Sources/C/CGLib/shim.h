// GLib, which cairo's pango brings: MD5 and file URIs as every other program of the desktop makes them. Its own header, nothing
// added.
#include <glib.h>
