// libdbus-1. Only its own header.
#include <dbus/dbus.h>
