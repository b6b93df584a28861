// libyuv: scaling, conversion and rotation. Only its own headers.
#include <libyuv.h>
