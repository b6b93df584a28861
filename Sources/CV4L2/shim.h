// Video4Linux 2 and libv4lconvert.
#include <linux/videodev2.h>
#include <libv4lconvert.h>
