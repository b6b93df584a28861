// libav: movies as cameras.
#include <libavformat/avformat.h>
#include <libavcodec/avcodec.h>
#include <libswscale/swscale.h>
#include <libavutil/imgutils.h>

/// The end of a movie. A macro of casts, which Swift does not import.
static const int cav_end_of_file = AVERROR_EOF;
