// libyuv: scaling, conversion and rotation. Its own headers, nothing added.
#include <libyuv.h>
