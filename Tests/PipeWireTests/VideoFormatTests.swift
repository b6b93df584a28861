import CPipeWire
import Frames
import Testing

@testable import PipeWire

@Suite("Formats that a node chooses")
struct VideoFormatTests {
    private func read(
        width: UInt32 = 640,
        height: UInt32 = 360,
        rate: (UInt32, UInt32)? = (30, 1),
        format: spa_video_format = SPA_VIDEO_FORMAT_YUY2,
        type: some BinaryInteger = SPA_TYPE_OBJECT_Format
    ) throws(VideoFormat.Invalid) -> VideoFormat {
        let pods = Pods {
            $0.object(type, SPA_PARAM_Format) {
                $0.id(SPA_FORMAT_mediaType, SPA_MEDIA_TYPE_video.rawValue)
                $0.id(SPA_FORMAT_mediaSubtype, SPA_MEDIA_SUBTYPE_raw.rawValue)
                $0.id(SPA_FORMAT_VIDEO_format, format.rawValue)
                $0.rectangle(SPA_FORMAT_VIDEO_size, width, height)
                if let rate { $0.fraction(SPA_FORMAT_VIDEO_framerate, rate.0, rate.1) }
                $0.id(SPA_FORMAT_VIDEO_colorMatrix, SPA_VIDEO_COLOR_MATRIX_BT709.rawValue)
            }
        }
        defer { withExtendedLifetime(pods) {} }
        guard let pod = pods.pointers[0] else { throw .notOffered }
        return try VideoFormat(Pod(pod), offered: [.yuyv, .nv12])
    }

    private func compressed(_ subtype: spa_media_subtype, _ width: UInt32) throws -> VideoFormat {
        let pods = Pods {
            $0.object(SPA_TYPE_OBJECT_Format, SPA_PARAM_Format) {
                $0.id(SPA_FORMAT_mediaType, SPA_MEDIA_TYPE_video.rawValue)
                $0.id(SPA_FORMAT_mediaSubtype, subtype.rawValue)
                $0.rectangle(SPA_FORMAT_VIDEO_size, width, 720)
                $0.fraction(SPA_FORMAT_VIDEO_framerate, 15, 1)
            }
        }
        defer { withExtendedLifetime(pods) {} }
        let pod = Pod(try #require(pods.pointers[0]))
        return try VideoFormat(pod, offered: [.yuyv, .mjpg])
    }

    @Test func jpegsAreTakenWhereTheyWereOffered() throws {
        let format = try compressed(SPA_MEDIA_SUBTYPE_mjpg, 1280)
        #expect(format.pixels == .mjpg && format.size == Size(width: 1280, height: 720))
        #expect(format.rate?.perSecond == 15)
        for subtype in [SPA_MEDIA_SUBTYPE_h264, SPA_MEDIA_SUBTYPE_jpeg, SPA_MEDIA_SUBTYPE_raw] {
            #expect(throws: VideoFormat.Invalid.notOffered) { try compressed(subtype, 1280) }
        }
        #expect(throws: VideoFormat.Invalid.size(width: 65535, height: 720)) {
            try compressed(SPA_MEDIA_SUBTYPE_mjpg, 65535)
        }
    }

    @Test func whatAPlainCameraSaysIsTaken() throws {
        let format = try read()
        #expect(format.size == Size(width: 640, height: 360))
        #expect(format.pixels == .yuyv)
        #expect(format.rate?.perSecond == 30)
        #expect(format.matrix == .bt709)
        #expect(format.range == nil)
    }

    @Test(arguments: [(30000, 1001), (1000, 1), (1, 10), (120, 1)] as [(UInt32, UInt32)])
    func ratesOfRealCamerasAreTaken(_ numerator: UInt32, _ denominator: UInt32) throws {
        let rate = try #require(try read(rate: (numerator, denominator)).rate)
        #expect(rate.numerator == numerator && rate.denominator == denominator)
    }

    @Test(arguments: [(0, 0), (0, 1), (0, .max)] as [(UInt32, UInt32)])
    func aRateOfZeroIsNone(_ numerator: UInt32, _ denominator: UInt32) throws {
        #expect(try read(rate: (numerator, denominator)).rate == nil)
        #expect(try read(rate: nil).rate == nil)
    }

    @Test(
        arguments: [
            (3_000_000, 1), (1001, 1), (30, 0), (.max, 0), (.max, 1), (1, .max), (1, 11),
        ] as [(UInt32, UInt32)]
    )
    func anAbsurdRateIsRefused(_ numerator: UInt32, _ denominator: UInt32) {
        let expected = VideoFormat.Invalid.rate(numerator: numerator, denominator: denominator)
        #expect(throws: expected) { try read(rate: (numerator, denominator)) }
        #expect(
            "\(expected)"
                == "it has \(numerator)/\(denominator) frames per second, where 0.1 to 1000.0 are "
                + "expected"
        )
    }

    @Test(
        arguments: [
            (0, 360), (640, 0), (0, 0), (16385, 1), (1, .max), (.max, .max), (16384, 16384),
            (65536, 65536),
        ] as [(UInt32, UInt32)]
    )
    func anAbsurdSizeIsRefused(_ width: UInt32, _ height: UInt32) {
        #expect(throws: VideoFormat.Invalid.size(width: width, height: height)) {
            try read(width: width, height: height)
        }
    }

    @Test(arguments: [(1, 1), (641, 361), (16384, 4096)] as [(UInt32, UInt32)])
    func anOddSizeIsTaken(_ width: UInt32, _ height: UInt32) throws {
        #expect(
            try read(width: width, height: height).size
                == Size(width: Int(width), height: Int(height))
        )
    }

    @Test func whatWasNotOfferedIsRefused() {
        #expect(throws: VideoFormat.Invalid.notOffered) { try read(format: SPA_VIDEO_FORMAT_I420) }
        #expect(throws: VideoFormat.Invalid.notOffered) { try read(type: SPA_TYPE_OBJECT_Props) }
    }
}
