// libudev: which devices come and go. Its own header, nothing added.
#include <libudev.h>
