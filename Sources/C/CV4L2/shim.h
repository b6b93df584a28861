// Video4Linux 2, the media controller and libv4lconvert.
#include <linux/media.h>
#include <linux/videodev2.h>
#include <libv4l-plugin.h>
#include <libv4lconvert.h>

// The ioctl numbers are macros of sizeof, which Swift does not import.
static const unsigned long cv4l2_querycap = VIDIOC_QUERYCAP;
static const unsigned long cv4l2_enum_fmt = VIDIOC_ENUM_FMT;
static const unsigned long cv4l2_enum_framesizes = VIDIOC_ENUM_FRAMESIZES;
static const unsigned long cv4l2_enum_frameintervals = VIDIOC_ENUM_FRAMEINTERVALS;
static const unsigned long cv4l2_try_fmt = VIDIOC_TRY_FMT;
static const unsigned long cv4l2_g_fmt = VIDIOC_G_FMT;
static const unsigned long cv4l2_s_fmt = VIDIOC_S_FMT;
static const unsigned long cv4l2_s_parm = VIDIOC_S_PARM;
static const unsigned long cv4l2_g_ctrl = VIDIOC_G_CTRL;
static const unsigned long cv4l2_query_ext_ctrl = VIDIOC_QUERY_EXT_CTRL;
static const unsigned long cv4l2_querymenu = VIDIOC_QUERYMENU;
static const unsigned long cv4l2_g_ext_ctrls = VIDIOC_G_EXT_CTRLS;
static const unsigned long cv4l2_s_ext_ctrls = VIDIOC_S_EXT_CTRLS;
static const unsigned long cv4l2_subscribe_event = VIDIOC_SUBSCRIBE_EVENT;
static const unsigned long cv4l2_dqevent = VIDIOC_DQEVENT;
static const unsigned long cv4l2_reqbufs = VIDIOC_REQBUFS;
static const unsigned long cv4l2_querybuf = VIDIOC_QUERYBUF;
static const unsigned long cv4l2_qbuf = VIDIOC_QBUF;
static const unsigned long cv4l2_dqbuf = VIDIOC_DQBUF;
static const unsigned long cv4l2_streamon = VIDIOC_STREAMON;
static const unsigned long cv4l2_streamoff = VIDIOC_STREAMOFF;
static const unsigned long cv4l2_enuminput = VIDIOC_ENUMINPUT;
static const unsigned long cv4l2_g_input = VIDIOC_G_INPUT;
static const unsigned long cv4l2_s_input = VIDIOC_S_INPUT;
static const unsigned long cv4l2_g_std = VIDIOC_G_STD;
static const unsigned long cv4l2_s_std = VIDIOC_S_STD;
static const unsigned long cv4l2_querystd = VIDIOC_QUERYSTD;
static const unsigned long cv4l2_g_dv_timings = VIDIOC_G_DV_TIMINGS;
static const unsigned long cv4l2_s_dv_timings = VIDIOC_S_DV_TIMINGS;
static const unsigned long cv4l2_query_dv_timings = VIDIOC_QUERY_DV_TIMINGS;

// What Swift imports as tuples, or not at all.
/// The row length of a plane of memory, in bytes.
static inline unsigned cv4l2_plane_stride(const struct v4l2_pix_format_mplane *format, unsigned plane) {
    return format->plane_fmt[plane].bytesperline;
}
/// The length of a plane of memory, in bytes.
static inline unsigned cv4l2_plane_size(const struct v4l2_pix_format_mplane *format, unsigned plane) {
    return format->plane_fmt[plane].sizeimage;
}
/// `true` if both are the timings of one signal.
static inline _Bool cv4l2_same_timings(const struct v4l2_dv_timings *a, const struct v4l2_dv_timings *b) {
    return a->type == b->type && a->bt.width == b->bt.width && a->bt.height == b->bt.height
        && a->bt.interlaced == b->bt.interlaced && a->bt.pixelclock == b->bt.pixelclock;
}

static const unsigned long cmedia_enum_entities = MEDIA_IOC_ENUM_ENTITIES;
