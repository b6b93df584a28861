import CV4L2
import DualCamCore
import Foundation
import Frames
import Platform
import TestSupport
import Testing

@testable import Capture

/// Cameras that give H.264 or HEVC alone.
@Suite("A camera with coded video", .timeLimit(.minutes(5))) struct CodedVideoTests {
    /// Returns a video of `codec` as a camera sends it, in pieces of one picture: eight pictures of
    /// one grey each, from 40 on; a pixel is `shape` wide by its height.
    private func pictures(_ codec: String, shape: String = "1") throws -> [[UInt8]] {
        let scratch = try ScratchDirectory()
        defer { scratch.remove() }
        let path = "\(scratch.path)/video"
        try ffmpeg([
            "-f", "lavfi", "-i",
            "color=black:s=128x96:r=8:d=1,format=yuv420p,geq=lum=40+20*N:cb=128:cr=128,setsar=\(shape)",
            "-c:v", codec, "-g", "4", "-bf", "0",
            "-x265-params", "log-level=none:keyint=4:bframes=0:aud=1", "-bsf:v",
            "\(codec == "libx264" ? "h264" : "hevc")_metadata=aud=insert", "-f",
            codec == "libx264" ? "h264" : "hevc", path,
        ])
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        // Each picture begins with an access unit delimiter.
        let delimiter: [UInt8] = codec == "libx264" ? [0, 0, 0, 1, 9] : [0, 0, 0, 1, 0x46]
        let starts = (0..<bytes.count - 5).filter { bytes[$0..<$0 + 5].elementsEqual(delimiter) }
        return zip(starts, starts.dropFirst() + [bytes.count]).map { Array(bytes[$0..<$1]) }
    }

    private func open(_ format: StaticString) throws -> (ScriptedDevice, any CameraStream) {
        let device = ScriptedDevice()
        device.format = PixelFormat(format)
        device.size = Size(width: 128, height: 96)
        device.length = 1 << 16
        let request = CaptureRequest(size: device.size, rate: 30)
        let calls = VideoDevice(path: "/dev/videoX", calls: device)
        return (device, try V4L2Source.stream(calls, request))
    }

    /// Gives `content`, and returns the luma of the picture that comes of it, which has the right
    /// size; `nil` if none does.
    private func luma(
        _ content: [UInt8],
        _ device: ScriptedDevice,
        _ stream: any CameraStream,
        size: Size = Size(width: 128, height: 96)
    ) throws -> Int? {
        device.deliveries.append(.init(content: content))
        switch try stream.next(until: .zero, bell: try Bell()) {
        case .frame(let frame):
            #expect(frame.layout.size == size)
            return Int(frame.plane(0).row(50)[60])
        case .dropped: return nil
        case let event:
            Issue.record("\(event)")
            return nil
        }
    }

    @Test(
        "is shown picture by picture, without delay",
        arguments: [("H264", "libx264"), ("HEVC", "libx265")] as [(StaticString, String)]
    )
    func delay(format: StaticString, codec: String) throws {
        let (device, stream) = try open(format)
        let coded = try pictures(codec)
        try #require(coded.count == 8)
        for (number, picture) in coded.enumerated() {
            let seen = try #require(try luma(picture, device, stream))
            #expect(abs(seen - (40 + 20 * number)) <= 3)
        }
    }

    @Test("is shown from the next whole picture on, after damage or in the middle")
    func damage() throws {
        let coded = try pictures("libx264")
        let (device, stream) = try open("H264")
        // It begins between two key pictures.
        for picture in coded[1..<4] { #expect(try luma(picture, device, stream) == nil) }
        #expect(try luma(coded[4], device, stream) != nil)
        for picture in [[], [0], [0, 0, 0, 1, 0x65], [UInt8](repeating: 0x5a, count: 3000)] {
            _ = try luma(picture, device, stream)
        }
        for number in coded[0].indices where number % 7 == 0 {
            var picture = coded[0]
            picture[number] ^= 0xff
            _ = try? luma(picture, device, stream)
        }
        let seen = try #require(try luma(coded[0], device, stream))
        #expect(abs(seen - 40) <= 3)
    }

    @Test(
        "has square pixels",
        arguments: ["libx264", "libx265"],
        [("4/3", 171, 96), ("1/2", 128, 192)]
    )
    func shape(codec: String, shape: (ratio: String, width: Int, height: Int)) throws {
        let (device, stream) = try open(codec == "libx264" ? "H264" : "HEVC")
        let size = Size(width: shape.width, height: shape.height)
        for (number, picture) in try pictures(codec, shape: shape.ratio).enumerated() {
            let seen = try #require(try luma(picture, device, stream, size: size))
            #expect(abs(seen - (40 + 20 * number)) <= 3)
        }
        #expect(stream.mode.size == size)
    }

    @Test("decodes every picture, also those that a newer one replaces")
    func every() throws {
        let coded = try pictures("libx264")
        let (device, stream) = try open("H264")
        stream.isEveryPictureNeeded = false
        device.deliveries = coded.map { .init(content: $0) }
        var last: Int?
        for _ in coded {
            if case .frame(let frame) = try stream.next(until: .zero, bell: try Bell()) {
                last = Int(frame.plane(0).row(50)[60])
            }
        }
        #expect(abs(try #require(last) - 180) <= 3)
    }
}
