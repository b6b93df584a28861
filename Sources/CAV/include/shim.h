// libav: movies as cameras, and recordings.
#include <libavformat/avformat.h>
#include <libavcodec/avcodec.h>
#include <libavutil/display.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/spherical.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

/// Loads the libraries, once, and tells whether they are all there. Nothing of them may be called
/// before. They bring a hundred others, which make up most of the memory of a daemon at rest, and few
/// cameras are files.
_Bool cav_load(void);

/// The end of a movie. A macro of casts, which Swift does not import.
static const int cav_end_of_file = AVERROR_EOF;
