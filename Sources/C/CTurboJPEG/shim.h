// libjpeg-turbo's TurboJPEG API. Only its own header.
#include <turbojpeg.h>
