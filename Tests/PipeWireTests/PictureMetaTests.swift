import CPipeWire
import Frames
import Testing

@testable import PipeWire

@Suite("What a node says of a picture") struct PictureMetaTests {
    private let size = Size(width: 640, height: 360)

    /// Calls `body` with a buffer that has one meta, `value`, of `type`.
    private func with<Value, Result>(
        _ type: spa_meta_type,
        _ value: Value,
        _ body: (VideoBuffer) -> Result
    ) -> Result {
        var value = value
        return withUnsafeMutableBytes(of: &value) { bytes in
            var meta = spa_meta(
                type: type.rawValue,
                size: UInt32(bytes.count),
                data: bytes.baseAddress
            )
            return withUnsafeMutablePointer(to: &meta) { meta in
                var content = spa_buffer()
                content.n_metas = 1
                content.metas = meta
                var buffer = pw_buffer()
                return withUnsafeMutablePointer(to: &content) { content in
                    withUnsafeMutablePointer(to: &buffer) {
                        body(VideoBuffer(id: $0, content: content, isFixed: true))
                    }
                }
            }
        }
    }

    @Test(
        "the part to show lies within the picture and has even edges",
        arguments: [
            (0, 0, 640, 360, [0, 0, 640, 360]), (80, 40, 320, 180, [80, 40, 320, 180]),
            (81, 41, 320, 180, [82, 42, 318, 178]), (638, 358, 2, 2, [638, 358, 2, 2]),
            // All that is wrong: outside, empty, too thin, and as large as numbers are.
            (0, 0, 641, 360, nil), (1, 0, 640, 360, nil), (-2, 0, 320, 180, nil),
            (0, -2, 320, 180, nil), (640, 0, 2, 2, nil), (0, 0, 0, 180, nil), (0, 0, 320, 0, nil),
            (1, 1, 2, 2, nil), (0, 0, .max, 2, nil), (.max, .max, .max, .max, nil),
            (.min, .min, .max, .max, nil), (2, 2, .max, .max, nil),
        ] as [(Int32, Int32, UInt32, UInt32, [Int]?)]
    )
    func part(x: Int32, y: Int32, width: UInt32, height: UInt32, expected: [Int]?) {
        var region = spa_meta_region()
        region.region.position.x = x
        region.region.position.y = y
        region.region.size.width = width
        region.region.size.height = height
        let part = with(SPA_META_VideoCrop, region) { $0.part(of: size) }
        #expect([part.x, part.y, part.width, part.height] == expected ?? [0, 0, 640, 360])
    }

    /// What PipeWire names was done to the picture: to the mark in its top left corner.
    @Test(
        "a picture is made upright",
        arguments: [
            (SPA_META_TRANSFORMATION_None, Transform.identity),
            (SPA_META_TRANSFORMATION_90, .clockwise90), (SPA_META_TRANSFORMATION_180, .rotate180),
            (SPA_META_TRANSFORMATION_270, .clockwise270),
            (SPA_META_TRANSFORMATION_Flipped, .mirror),
            (SPA_META_TRANSFORMATION_Flipped90, Transform.clockwise90.followed(by: .mirror)),
            (SPA_META_TRANSFORMATION_Flipped180, Transform.rotate180.followed(by: .mirror)),
            (SPA_META_TRANSFORMATION_Flipped270, Transform.clockwise270.followed(by: .mirror)),
        ]
    )
    func upright(transform: spa_meta_videotransform_value, expected: Transform) {
        let meta = spa_meta_videotransform(transform: transform.rawValue)
        let upright = with(SPA_META_VideoTransform, meta) { $0.upright }
        #expect(upright == expected)
        // The picture was mirrored, and then turned anticlockwise.
        let value = Int(transform.rawValue)
        let done = Transform(mirrored: value & 4 != 0, quarterTurns: -(value & 3))
        #expect(done.followed(by: upright) == .identity)
    }

    @Test("an unknown transform, and none, change nothing", arguments: [8, 90, UInt32.max])
    func unknown(value: UInt32) {
        let meta = spa_meta_videotransform(transform: value)
        #expect(with(SPA_META_VideoTransform, meta) { $0.upright } == .identity)
        #expect(with(SPA_META_Busy, spa_meta_busy()) { $0.upright } == .identity)
        #expect(with(SPA_META_Busy, spa_meta_busy()) { $0.part(of: size).size } == size)
    }
}
