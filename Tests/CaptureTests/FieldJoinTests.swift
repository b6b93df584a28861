import CV4L2
import DualCamCore
import Frames
import Platform
import Testing

@testable import Capture

@Suite("Pictures of interlaced cameras") struct FieldJoinTests {
    /// Returns a buffer whose rows each have the value in `rows`.
    private func buffer(_ rows: [UInt8], _ layout: FrameLayout) -> FrameBuffer {
        let buffer = FrameBuffer(byteCount: layout.byteCount)
        let plane = buffer.plane(0, of: layout)
        for (y, value) in rows.enumerated() {
            plane.row(y).update(repeating: value, count: plane.rowBytes)
        }
        return buffer
    }

    /// Returns the value of each row of the picture that `field` makes of these `rows`.
    private func joined(_ rows: [UInt8], _ field: v4l2_field, isLower: Bool = false) -> [UInt8] {
        let layout = FrameLayout(
            size: Size(width: 8, height: rows.count),
            format: .gray,
            stride: 16
        )
        guard let join = FieldJoin(field.rawValue, layout) else { return rows }
        let result = FrameBuffer(byteCount: join.layout.byteCount)
        join.join(buffer(rows, layout), isLower: isLower, into: result)
        let plane = result.plane(0, of: join.layout)
        return (0..<plane.rows).map { y in
            #expect(Set((0..<8).map { plane.row(y)[$0] }).count == 1)
            return plane.row(y)[0]
        }
    }

    @Test func `whole pictures stay as they are`() {
        for field in [V4L2_FIELD_NONE, V4L2_FIELD_ANY] {
            #expect(joined([1, 2, 3, 4], field) == [1, 2, 3, 4])
        }
    }

    @Test("an edge that stands still stays where it is, in every order of fields")
    func still() {
        let whole: [UInt8] = [0, 0, 100, 100, 200, 200]
        let blended: [UInt8] = [0, 25, 75, 125, 175, 200]
        for field in [V4L2_FIELD_INTERLACED, V4L2_FIELD_INTERLACED_TB, V4L2_FIELD_INTERLACED_BT] {
            #expect(joined(whole, field) == blended)
        }
        let (upper, lower): ([UInt8], [UInt8]) = ([0, 100, 200], [0, 100, 200])
        #expect(joined(upper + lower, V4L2_FIELD_SEQ_TB) == blended)
        #expect(joined(lower + upper, V4L2_FIELD_SEQ_BT) == blended)
    }

    @Test func `an odd number of rows has one more in the upper field`() {
        // Woven: 10 50 20 60 30.
        let expected: [UInt8] = [20, 33, 38, 43, 38]
        #expect(joined([10, 20, 30, 50, 60], V4L2_FIELD_SEQ_TB) == expected)
        #expect(joined([50, 60, 10, 20, 30], V4L2_FIELD_SEQ_BT) == expected)
    }

    @Test("what moved between the fields is no comb")
    func moved() {
        // Something bright was there for the upper field, and is gone for the lower one.
        let rows = joined([200, 0, 200, 0, 200, 0], V4L2_FIELD_INTERLACED)
        for (a, b) in zip(rows.dropFirst().dropLast(), rows.dropFirst(2).dropLast()) {
            #expect(abs(Int(a) - Int(b)) <= 1)
        }
    }

    @Test func `a field alone fills the picture, and stays in its place`() {
        let upper = joined([0, 100, 200], V4L2_FIELD_ALTERNATE)
        #expect(upper == [0, 50, 100, 150, 200, 200])
        let lower = joined([0, 100, 200], V4L2_FIELD_ALTERNATE, isLower: true)
        #expect(lower == [0, 0, 50, 100, 150, 200])
        #expect(joined([0, 100, 200], V4L2_FIELD_TOP) == upper)
    }

    @Test func `every format that is read has its fields joined, without a byte outside`() throws {
        for format in [PixelFormat.yuyv, .uyvy, .nv12, .i420, .i422, .gray] {
            for height in [2, 3, 6, 7] {
                let layout = FrameLayout(
                    size: Size(width: 6, height: height),
                    format: format,
                    stride: 32
                )
                for field in [V4L2_FIELD_INTERLACED, V4L2_FIELD_SEQ_BT, V4L2_FIELD_ALTERNATE] {
                    let join = try #require(FieldJoin(field.rawValue, layout))
                    let source = FrameBuffer(byteCount: layout.byteCount)
                    for index in source.bytes.indices { source.bytes[index] = 77 }
                    let result = FrameBuffer(byteCount: join.layout.byteCount)
                    join.join(source, isLower: true, into: result)
                    for index in 0..<join.layout.planeCount {
                        let plane = result.plane(index, of: join.layout)
                        for y in 0..<plane.rows {
                            #expect((0..<plane.rowBytes).allSatisfy { plane.row(y)[$0] == 77 })
                        }
                    }
                }
            }
        }
    }

    @Test("a device's fields are joined, and a field that is cut is dropped")
    func stream() throws {
        let device = ScriptedDevice()
        device.format = .gray
        device.size = Size(width: 64, height: 16)
        device.pix.field = V4L2_FIELD_ALTERNATE.rawValue
        let request = CaptureRequest(size: Size(width: 64, height: 32), rate: 30)
        let stream = try V4L2Source.stream(VideoDevice(path: "", calls: device), request)
        device.deliveries = [
            .init(content: (0..<1024).map { UInt8($0 / 64) }),
            .init(content: [UInt8](repeating: 9, count: 900)),
        ]
        guard case .frame(let frame) = try stream.next(until: .zero, bell: try Bell()) else {
            Issue.record("no frame")
            return
        }
        #expect(frame.layout.size == Size(width: 64, height: 32) && stream.mode.size.height == 32)
        #expect((0..<31).allSatisfy { frame.plane(0).row($0)[5] == UInt8(($0 + 1) / 2) })
        guard case .dropped = try stream.next(until: .zero, bell: try Bell()) else {
            Issue.record("a field that is cut")
            return
        }
    }
}
