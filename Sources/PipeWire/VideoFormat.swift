import CPipeWire
package import Frames

/// The format of the pictures that a node sends, within what we take.
package struct VideoFormat: Hashable, Sendable {
    /// A number of frames per second.
    package struct Rate: Hashable, Sendable {
        package let numerator: UInt32
        /// The number below the line, not 0.
        package let denominator: UInt32
        /// The frames per second, 0.1 to 1000.
        package var perSecond: Double { Double(numerator) / Double(denominator) }
    }

    /// The size in pixels: 1 to 16384 in each direction, and 2²⁶ pixels at most.
    package let size: Size
    package let pixels: PixelFormat
    /// The frame rate; `nil` if the node declares none.
    package let rate: Rate?
    /// The weights of the colours; `nil` if the node declares none that we know.
    package let matrix: ColorSpace.Matrix?
    /// The values of black and white; `nil` if the node declares none.
    package let range: ColorSpace.Range?

    /// A format that we do not take.
    package enum Invalid: Error, Hashable, CustomStringConvertible {
        case notOffered
        case size(width: UInt32, height: UInt32)
        case rate(numerator: UInt32, denominator: UInt32)

        package var description: String {
            switch self {
            case .notOffered: "it has a format that was not asked for"
            case .size(let width, let height):
                """
                its pictures are \(width)x\(height), where 1 to \(longestSide) in each direction \
                and at most \(largestArea) pixels are expected
                """
            case .rate(let numerator, let denominator):
                """
                it has \(numerator)/\(denominator) frames per second, where \
                \(lowestRate) to \(highestRate) are expected
                """
            }
        }
    }

    /// Reads a parameter of the kind Format, as the node at the other end has chosen it. Throws if
    /// it is none of `offered`, or has a size or rate that is out of range.
    init(_ pod: Pod, offered: [PixelFormat]) throws(Invalid) {
        var info = spa_video_info_raw()
        guard pod.isObject(SPA_TYPE_OBJECT_Format),
            let pixels = Self.pixels(pod, offered, &info)
        else { throw .notOffered }
        let (width, height) = (info.size.width, info.size.height)
        guard (1...longestSide).contains(width), (1...longestSide).contains(height),
            width * height <= largestArea
        else { throw .size(width: width, height: height) }
        self.pixels = pixels
        size = Size(width: Int(width), height: Int(height))
        // Zero stands for a rate that varies, and for one that is not given at all.
        if info.framerate.num == 0 {
            rate = nil
        } else {
            let found = Rate(numerator: info.framerate.num, denominator: info.framerate.denom)
            guard found.denominator > 0, (lowestRate...highestRate).contains(found.perSecond) else {
                throw .rate(numerator: found.numerator, denominator: found.denominator)
            }
            rate = found
        }
        matrix =
            switch info.color_matrix {
            case SPA_VIDEO_COLOR_MATRIX_BT601: .bt601
            case SPA_VIDEO_COLOR_MATRIX_BT709: .bt709
            default: nil
            }
        range =
            switch info.color_range {
            case SPA_VIDEO_COLOR_RANGE_0_255: .full
            case SPA_VIDEO_COLOR_RANGE_16_235: .limited
            default: nil
            }
    }

    /// Returns the format of the pixels or the coded pictures that `pod` describes, if it is one of
    /// `offered`, and stores the rest in `info`.
    private static func pixels(
        _ pod: Pod,
        _ offered: [PixelFormat],
        _ info: inout spa_video_info_raw
    ) -> PixelFormat? {
        var (type, subtype): (UInt32, UInt32) = (0, 0)
        guard spa_format_parse(pod.pointer, &type, &subtype) >= 0,
            type == SPA_MEDIA_TYPE_video.rawValue
        else { return nil }
        switch subtype {
        case SPA_MEDIA_SUBTYPE_raw.rawValue:
            guard spa_format_video_raw_parse(pod.pointer, &info) >= 0 else { return nil }
            return offered.first { $0.videoFormat == info.format }
        case SPA_MEDIA_SUBTYPE_mjpg.rawValue where offered.contains(.mjpg):
            var compressed = spa_video_info_mjpg()
            guard spa_format_video_mjpg_parse(pod.pointer, &compressed) >= 0 else { return nil }
            info.size = compressed.size
            info.framerate = compressed.framerate
            return .mjpg
        case SPA_MEDIA_SUBTYPE_h264.rawValue where offered.contains(.h264):
            var compressed = spa_video_info_h264()
            guard spa_format_video_h264_parse(pod.pointer, &compressed) >= 0 else { return nil }
            info.size = compressed.size
            info.framerate = compressed.framerate
            return .h264
        default: return nil
        }
    }
}

private let longestSide: UInt32 = 16384
private let largestArea: UInt32 = 1 << 26
private let lowestRate = 0.1
private let highestRate = 1000.0

extension PixelFormat {
    /// PipeWire's name for the kind of pictures. The format is one that we use.
    var mediaSubtype: spa_media_subtype {
        switch self {
        case .mjpg: return SPA_MEDIA_SUBTYPE_mjpg
        case .h264: return SPA_MEDIA_SUBTYPE_h264
        default:
            precondition(videoFormat != nil, "a format without a name in PipeWire")
            return SPA_MEDIA_SUBTYPE_raw
        }
    }

    /// PipeWire's name for the format; `nil` if it has none that we use.
    var videoFormat: spa_video_format? {
        switch self {
        case .yuyv: SPA_VIDEO_FORMAT_YUY2
        case .uyvy: SPA_VIDEO_FORMAT_UYVY
        case .nv12: SPA_VIDEO_FORMAT_NV12
        case .i420: SPA_VIDEO_FORMAT_I420
        case .bgra: SPA_VIDEO_FORMAT_BGRA
        case .rgba: SPA_VIDEO_FORMAT_RGBA
        case .bgrx: SPA_VIDEO_FORMAT_BGRx
        case .rgbx: SPA_VIDEO_FORMAT_RGBx
        case .xrgb: SPA_VIDEO_FORMAT_xRGB
        case .argb: SPA_VIDEO_FORMAT_ARGB
        case .xbgr: SPA_VIDEO_FORMAT_xBGR
        case .abgr: SPA_VIDEO_FORMAT_ABGR
        case .rgb: SPA_VIDEO_FORMAT_RGB
        case .bgr: SPA_VIDEO_FORMAT_BGR
        default: nil
        }
    }
}
