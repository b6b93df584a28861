// libjpeg-turbo, TurboJPEG API. Its own header, nothing added.
#include <turbojpeg.h>
