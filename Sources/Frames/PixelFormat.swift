/// The memory format of a frame's pixels, as V4L2's four-character code. It can hold any code,
/// since a camera may offer formats that we never decode ourselves.
package struct PixelFormat: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code as V4L2 has it, with the first character in the lowest byte.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the format with the code `code`; shorter codes are padded with spaces.
    package init(_ code: StaticString) {
        precondition(code.utf8CodeUnitCount <= 4, "a pixel format has four characters")
        var value: UInt32 = 0
        for i in 0..<4 {
            let byte = i < code.utf8CodeUnitCount ? code.utf8Start[i] : UInt8(ascii: " ")
            value |= UInt32(byte) << UInt32(8 * i)
        }
        rawValue = value
    }

    /// Packed 4:2:2, Y U Y V. V4L2_PIX_FMT_YUYV; PipeWire's YUY2.
    package static let yuyv = PixelFormat("YUYV")
    /// Packed 4:2:2, U Y V Y. V4L2_PIX_FMT_UYVY.
    package static let uyvy = PixelFormat("UYVY")
    /// A luma plane and a plane of interleaved chroma, 4:2:0. V4L2_PIX_FMT_NV12.
    package static let nv12 = PixelFormat("NV12")
    /// Motion JPEG, one JPEG per frame. V4L2_PIX_FMT_MJPEG.
    package static let mjpg = PixelFormat("MJPG")
    /// Another code for `mjpg`, used by some drivers. V4L2_PIX_FMT_JPEG.
    package static let jpeg = PixelFormat("JPEG")
    /// H.264, one access unit per frame. V4L2_PIX_FMT_H264.
    package static let h264 = PixelFormat("H264")
    /// H.265, one access unit per frame. V4L2_PIX_FMT_HEVC.
    package static let hevc = PixelFormat("HEVC")
    /// Three planes, chroma halved in both directions. V4L2_PIX_FMT_YUV420.
    package static let i420 = PixelFormat("YU12")
    /// Three planes, chroma halved horizontally. V4L2_PIX_FMT_YUV422P.
    package static let i422 = PixelFormat("422P")
    /// Three planes of full size. Our own code: V4L2 has none for three planes in one buffer.
    package static let i444 = PixelFormat("444P")
    /// Three planes, chroma halved vertically (a turned 4:2:2 JPEG). Our own code.
    package static let i440 = PixelFormat("440P")
    /// Three planes, chroma quartered horizontally. V4L2_PIX_FMT_YUV411P.
    package static let i411 = PixelFormat("411P")
    /// Luma alone. V4L2_PIX_FMT_GREY.
    package static let gray = PixelFormat("GREY")

    /// The factors by which chroma is smaller each way, for three-plane formats; else `nil`.
    package var planarSubsampling: (horizontal: Int, vertical: Int)? {
        switch self {
        case .i420: (2, 2)
        case .i422: (2, 1)
        case .i444: (1, 1)
        case .i440: (1, 2)
        case .i411: (4, 1)
        default: nil
        }
    }

    /// The four characters without trailing spaces, or hexadecimal if they are not printable.
    package var description: String {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> UInt32(8 * $0)) }
        guard bytes.allSatisfy({ (0x20..<0x7f).contains($0) }) else {
            return "0x" + String(rawValue, radix: 16)
        }
        var text = bytes.map { Character(UnicodeScalar($0)) }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

extension PixelFormat {
    /// The number of bytes of a pixel, for red, green and blue in one plane; else `nil`.
    package var rgbBytes: Int? {
        switch self {
        case .bgra, .rgba, .bgrx, .rgbx, .xrgb, .argb, .xbgr, .abgr: 4
        case .rgb, .bgr: 3
        default: nil
        }
    }

    /// Four bytes a pixel: blue, green, red, alpha. V4L2_PIX_FMT_ABGR32.
    package static let bgra = PixelFormat("AR24")
    /// Four bytes a pixel: red, green, blue, alpha. V4L2_PIX_FMT_RGBA32.
    package static let rgba = PixelFormat("AB24")
    /// Four bytes a pixel: blue, green, red, and one unused. V4L2_PIX_FMT_XBGR32.
    package static let bgrx = PixelFormat("XR24")
    /// Four bytes a pixel: red, green, blue, and one unused. V4L2_PIX_FMT_RGBX32.
    package static let rgbx = PixelFormat("XB24")
    /// Four bytes a pixel: one unused, red, green, blue. V4L2_PIX_FMT_XRGB32.
    package static let xrgb = PixelFormat("BX24")
    /// Four bytes a pixel: alpha, red, green, blue. V4L2_PIX_FMT_ARGB32.
    package static let argb = PixelFormat("BA24")
    /// Four bytes a pixel: one unused, blue, green, red. V4L2_PIX_FMT_BGRX32.
    package static let xbgr = PixelFormat("RX24")
    /// Four bytes a pixel: alpha, blue, green, red. V4L2_PIX_FMT_BGRA32.
    package static let abgr = PixelFormat("RA24")
    /// Three bytes a pixel: red, green, blue. V4L2_PIX_FMT_RGB24.
    package static let rgb = PixelFormat("RGB3")
    /// Three bytes a pixel: blue, green, red. V4L2_PIX_FMT_BGR24.
    package static let bgr = PixelFormat("BGR3")
}

/// The meaning of the values in a YCbCr picture.
package struct ColorSpace: Hashable, Sendable {
    /// The weights of red, green and blue in luma.
    package enum Matrix: Hashable, Sendable {
        /// ITU-R BT.601: JPEG and nearly every webcam.
        case bt601
        /// ITU-R BT.709, which HD devices may declare.
        case bt709
    }
    /// The values of black and white.
    package enum Range: Hashable, Sendable {
        /// Luma 16…235, chroma 16…240.
        case limited
        /// 0…255, as in JPEG.
        case full
    }
    package var matrix: Matrix
    package var range: Range

    package init(matrix: Matrix, range: Range) {
        self.matrix = matrix
        self.range = range
    }

    /// JFIF: BT.601 in full range.
    package static let jpeg = ColorSpace(matrix: .bt601, range: .full)
    /// The colour space of the stream and of most webcams: BT.601 in limited range.
    package static let video = ColorSpace(matrix: .bt601, range: .limited)
}
