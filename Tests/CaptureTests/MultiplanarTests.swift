import CV4L2
import DualCamCore
import Frames
import Glibc
import Platform
import Testing

@testable import Capture

/// Devices whose buffers have planes of memory of their own: those of most boards with a camera
/// connector.
@Suite("A device with planes of memory") struct MultiplanarTests {
    /// A device that gives one picture, 32x16, in `planes` of memory.
    private final class Device {
        struct Plane {
            var stride: Int
            var content: [UInt8]
            var offset = 0
            /// The length that the driver tells, if it is another one.
            var used: Int?
            /// The length of the memory, if it is another one.
            var length: Int?

            var end: Int { offset + content.count }
        }
        let size = Size(width: 32, height: 16)
        let calls = ScriptedDevice()
        private(set) var types: Set<UInt32> = []

        init(_ format: PixelFormat, _ planes: [Plane]) {
            calls.isBroken = true
            for request in [cv4l2_enum_framesizes, cv4l2_enum_frameintervals, cv4l2_s_parm] {
                calls.answers[request] = { _ in ENOTTY }
            }
            calls.on(cv4l2_querycap, v4l2_capability.self) {
                $0.capabilities = UInt32(V4L2_CAP_VIDEO_CAPTURE_MPLANE | V4L2_CAP_STREAMING)
                return 0
            }
            calls.on(cv4l2_enum_fmt, v4l2_fmtdesc.self) { [unowned self] in
                types.insert($0.type)
                $0.pixelformat = format.rawValue
                return $0.index == 0 ? 0 : EINVAL
            }
            for request in [cv4l2_try_fmt, cv4l2_s_fmt] {
                calls.on(request, v4l2_format.self) { [unowned self] in
                    types.insert($0.type)
                    $0.fmt.pix_mp.pixelformat = format.rawValue
                    $0.fmt.pix_mp.width = UInt32(size.width)
                    $0.fmt.pix_mp.height = UInt32(size.height)
                    $0.fmt.pix_mp.num_planes = UInt8(planes.count)
                    $0.fmt.pix_mp.colorspace = V4L2_COLORSPACE_REC709.rawValue
                    withUnsafeMutableBytes(of: &$0.fmt.pix_mp.plane_fmt) { bytes in
                        let formats = bytes.assumingMemoryBound(to: v4l2_plane_pix_format.self)
                        for (index, plane) in planes.enumerated() {
                            formats[index].bytesperline = UInt32(plane.stride)
                            formats[index].sizeimage = UInt32(plane.content.count)
                        }
                    }
                    return 0
                }
            }
            calls.on(cv4l2_qbuf, v4l2_buffer.self) {
                Int($0.length) == planes.count ? 0 : EINVAL
            }
            calls.on(cv4l2_querybuf, v4l2_buffer.self) {
                guard Int($0.length) >= planes.count else { return EINVAL }
                $0.length = UInt32(planes.count)
                for (index, plane) in planes.enumerated() {
                    $0.m.planes[index].m.mem_offset = UInt32($0.index << 8) + UInt32(index)
                    $0.m.planes[index].length = UInt32(plane.length ?? plane.end)
                }
                return 0
            }
            calls.on(cv4l2_dqbuf, v4l2_buffer.self) { [unowned self] in
                guard Int($0.length) == planes.count else { return EAGAIN }
                $0.index = 0
                for (index, plane) in planes.enumerated() {
                    guard let bytes = calls.mapped(index) else { return EFAULT }
                    for (place, byte) in plane.content.enumerated()
                    where plane.offset + place < bytes.count { bytes[plane.offset + place] = byte }
                    $0.m.planes[index].bytesused = UInt32(plane.used ?? plane.end)
                    $0.m.planes[index].data_offset = UInt32(plane.offset)
                }
                return 0
            }
        }
    }

    private func first(_ scripted: Device) throws -> CapturedEvent {
        let device = VideoDevice(path: "/dev/videoX", calls: scripted.calls)
        #expect(try device.capability().isCamera)
        let request = CaptureRequest(size: scripted.size, rate: 30)
        let stream = try V4L2Source.stream(device, request)
        let event = try stream.next(until: .zero, bell: try Bell())
        #expect(scripted.types == [V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE.rawValue])
        return event
    }

    /// Returns `rows` rows of `stride` bytes, each with its number plus `start`.
    private func rows(_ rows: Int, _ stride: Int, from start: Int = 0) -> [UInt8] {
        (0..<rows * stride).map { UInt8(start + $0 / stride) }
    }

    @Test func `shows pictures of one plane as they are, also where they begin later`() throws {
        for offset in [0, 128] {
            let device = Device(.yuyv, [.init(stride: 80, content: rows(16, 80), offset: offset)])
            guard case .frame(let frame) = try first(device) else {
                Issue.record("no frame at \(offset)")
                continue
            }
            #expect(frame.layout.format == .yuyv && frame.layout.stride == 80)
            #expect(frame.color == ColorSpace(matrix: .bt709, range: .limited))
            #expect((0..<16).allSatisfy { frame.plane(0).row($0)[63] == UInt8($0) })
        }
    }

    @Test("joins planes of their own, with strides and offsets of their own")
    func planes() throws {
        let luma = Device.Plane(stride: 40, content: rows(16, 40))
        let cases: [(PixelFormat, PixelFormat, [Device.Plane])] = [
            (
                PixelFormat("NM12"), .nv12,
                [luma, .init(stride: 48, content: rows(8, 48, from: 100), offset: 64)]
            ),
            (
                PixelFormat("YM12"), .i420,
                [
                    luma, .init(stride: 16, content: rows(8, 16, from: 100)),
                    .init(stride: 0, content: rows(8, 16, from: 150)),
                ]
            ),
            (
                PixelFormat("YM16"), .i422,
                [
                    luma, .init(stride: 20, content: rows(16, 20, from: 100)),
                    .init(stride: 16, content: rows(16, 16, from: 150)),
                ]
            ),
        ]
        for (format, whole, planes) in cases {
            guard case .frame(let frame) = try first(Device(format, planes)) else {
                Issue.record("no frame of \(format)")
                continue
            }
            #expect(frame.layout.format == whole && frame.layout.size.height == 16)
            #expect((0..<16).allSatisfy { frame.plane(0).row($0)[31] == UInt8($0) })
            #expect(frame.plane(1).row(7)[15] == 107)
            if frame.layout.planeCount == 3 { #expect(frame.plane(2).row(7)[15] == 157) }
        }
    }

    @Test("a plane that is cut is no picture")
    func cut() throws {
        let planes = [
            Device.Plane(stride: 32, content: rows(16, 32)),
            Device.Plane(stride: 32, content: rows(8, 32), used: 100),
        ]
        guard case .dropped = try first(Device(PixelFormat("NM12"), planes)) else {
            Issue.record("a plane that is cut")
            return
        }
    }

    @Test func `what a driver says of planes is not believed beyond their memory`() throws {
        let luma = Device.Plane(stride: 32, content: rows(16, 32))
        let chroma = rows(8, 32)
        for planes in [
            [luma], [luma, luma, luma],
            [luma, Device.Plane(stride: 31, content: chroma)],
            [luma, Device.Plane(stride: 32, content: chroma, length: 200)],
            [luma, Device.Plane(stride: 1 << 30, content: chroma)],
        ] {
            #expect(throws: CaptureError.self) { try first(Device(PixelFormat("NM12"), planes)) }
        }
        // Its content ends far outside.
        let wild = [
            luma,
            Device.Plane(stride: 32, content: chroma, offset: 900, used: 1 << 30, length: 1000),
        ]
        guard case .dropped = try first(Device(PixelFormat("NM12"), wild)) else {
            Issue.record("a plane outside its memory")
            return
        }
    }
}
