package import Frames

extension PixelFormat {
    /// `true` if DualCam reads the format: itself, or through libv4lconvert 1.22 and later or
    /// libav. A device that offers no such format cannot be shown.
    package var isReadable: Bool { Self.readable.contains(self) }

    /// `true` if the format has no colour, readable or not.
    package var isGray: Bool { Self.gray.contains(self) }

    /// `true` if the format carries distances, or two infrared pictures in one.
    package var isDepth: Bool { Self.depth.contains(self) }

    /// `true` for a sensor's raw mosaic, which lacks exposure and white balance to be a picture.
    package var isMosaic: Bool { Self.mosaic.contains(self) }

    /// The formats that libv4lconvert converts, tried one by one on its version 1.22, and our own.
    private static let readable: Set<PixelFormat> = Set(
        formats(
            "YUYV YVYU UYVY NV16 NV61 NV12 YU12 YV12 422P M420 HM12 "
                + "RGB3 BGR3 RGB4 BGR4 BA24 AR24 BX24 XR24 RGBP "
                + "MJPG JPEG PJPG JPGL GREY Y04 Y06 Y10B Y16 "
                // Webcams before the USB video class.
                + "S501 S505 S508 S920 CITV KONI CPIA O511 O518 S680 S401 "
                + "S561 S910 SONX P207 M310 905C JL20"
        )
    ).union(mosaic).union(multiplanar.keys).union(formats("H264 HEVC"))

    /// The format that the planes of each format in several planes of memory make up.
    package static let multiplanar: [PixelFormat: PixelFormat] = [
        PixelFormat("NM12"): .nv12, PixelFormat("YM12"): .i420, PixelFormat("YM16"): .i422,
        PixelFormat("YM24"): .i444,
    ]

    private static let mosaic = Set(
        formats("BA81 GBRG GRBG RGGB BG10 GB10 BA10 RG10 pBAA pGAA pgAA pRAA BYR2 GB16 GR16 RG16")
    )

    private static let gray = Set(formats("GREY Y04 Y06 Y10 Y10B Y10P Y12 Y012 Y12P Y14 Y14P Y16"))

    private static let depth = Set(formats("Z16 Z16H INZI INVZ INVI INRI CNF4 Y8I Y12I Y16I"))

    /// Returns the formats whose codes are the words of `codes`.
    private static func formats(_ codes: String) -> [PixelFormat] {
        codes.split(separator: " ").map { code in
            let padded = Array(code.utf8.prefix(4)) + Array(repeating: 0x20, count: 4)
            return PixelFormat(
                rawValue: padded.prefix(4).enumerated().reduce(0) {
                    $0 | UInt32($1.element) << UInt32(8 * $1.offset)
                }
            )
        }
    }
}
