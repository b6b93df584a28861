// libudev: devices that come and go. Only its own header.
#include <libudev.h>
