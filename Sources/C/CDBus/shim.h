// libdbus-1. Its own header, nothing added.
#include <dbus/dbus.h>
