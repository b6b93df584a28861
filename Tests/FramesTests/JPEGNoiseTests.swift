import CTurboJPEG
import Foundation
import Frames
import TestJPEGs
import TestSupport
import Testing

/// JPEGs without the noise that some cameras leave in them.
@Suite("The noise in a camera's JPEG")
struct JPEGNoiseTests {
    @Test("is removed, and the picture stays as libjpeg sees it", arguments: FaultyJPEG.all)
    func faults(_ fault: FaultyJPEG) {
        // As a recording has it: what follows the end is gone already.
        let bytes = JPEGMetadata.removed(from: fault.bytes) ?? []
        guard let cleaned = JPEGNoise.removed(from: bytes) else {
            #expect(fault.verdict == .damage)
            return
        }
        #expect(fault.verdict != .damage)
        #expect(fault.verdict == .noise || cleaned == bytes)
        #expect(ScriptedJPEG.decoded(cleaned) == ScriptedJPEG.decoded(fault.bytes))
        // Every player reads this one.
        #expect(cleaned == fault.clean)
    }

    @Test("is removed in place, in the room that there is", arguments: FaultyJPEG.all)
    func inPlace(_ fault: FaultyJPEG) {
        var bytes = JPEGMetadata.removed(from: fault.bytes) ?? []
        let count = bytes.count
        let outcome = bytes.withUnsafeMutableBytes {
            JPEGNoise.remove(from: $0, count: count, isThorough: false)
        }
        let fits = fault.verdict != .damage && fault.clean.count <= count
        #expect(outcome == (fits ? .whole(fault.clean.count) : .damaged))
    }

    @Test(
        "is found in pictures with every code, and none is where none is",
        arguments: [TJSAMP_444, TJSAMP_422, TJSAMP_420, TJSAMP_440, TJSAMP_411, TJSAMP_GRAY],
        [10, 50, 90, 100]
    )
    func realPictures(_ sampling: TJSAMP, _ quality: Int32) throws {
        let whole = try encoded(Size(width: 173, height: 91), sampling, quality)
        #expect(JPEGNoise.removed(from: whole) == whole)
        let end = Array(whole.suffix(2))
        #expect(JPEGNoise.removed(from: whole.dropLast(2) + [0, 0, 0, 1] + end) == whole)
        #expect(JPEGNoise.removed(from: whole.dropLast(2)) == whole)
        #expect(JPEGNoise.removed(from: whole.dropLast(1)) == whole)
        // Of the last bytes, not all bits count.
        #expect(JPEGNoise.removed(from: whole.dropLast(5)) == nil)
        #expect(JPEGNoise.removed(from: whole.dropLast(whole.count / 3) + end) == nil)
    }

    @Test("is found without tables, as in Motion JPEG", arguments: [TJSAMP_422, TJSAMP_GRAY])
    func noTables(_ sampling: TJSAMP) throws {
        var bytes = try encoded(Size(width: 160, height: 96), sampling, 80)
        var position = 2
        while bytes[position + 1] != 0xDA {
            let length = 2 + Int(bytes[position + 2]) << 8 + Int(bytes[position + 3])
            if bytes[position + 1] == 0xC4 {
                bytes.removeSubrange(position..<position + length)
            } else {
                position += length
            }
        }
        #expect(JPEGNoise.removed(from: bytes) == bytes)
        #expect(JPEGNoise.removed(from: bytes.dropLast(2)) == bytes)
    }

    @Test("is not looked for in a JPEG of a kind that cameras do not send")
    func progressive() throws {
        let bytes = try encoded(Size(width: 64, height: 64), TJSAMP_420, 80, TJFLAG_PROGRESSIVE)
        #expect(JPEGNoise.removed(from: bytes) == bytes)
        #expect(JPEGNoise.removed(from: [1, 2, 3]) == [1, 2, 3])
        #expect(JPEGNoise.removed(from: []) == [])
    }

    @Test("does no harm where bytes are any others")
    func anything() throws {
        let whole = ScriptedJPEG().bytes
        let colored = try encoded(Size(width: 48, height: 40), TJSAMP_420, 90)
        // As `Chance` of the tests of what touches the system.
        let wish = ProcessInfo.processInfo.environment["DUALCAM_SEED"] ?? "1"
        let seed =
            wish == "random" ? UInt64.random(in: 0..<1_000_000) : try #require(UInt64(wish))
        var random = Chance(seed: seed)
        for _ in 0..<4000 {
            var bytes = Bool.random(using: &random) ? whole : colored
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 2..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) {
                bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
            }
            let cleaned = JPEGNoise.removed(from: bytes)
            #expect((cleaned?.count ?? 0) <= bytes.count + 2, "seed \(seed)")
        }
    }

    private func encoded(
        _ size: Size,
        _ sampling: TJSAMP,
        _ quality: Int32,
        _ flags: Int32 = 0
    ) throws -> [UInt8] {
        var value: UInt32 = 7
        let pixels = (0..<size.area * 3).map { index -> UInt8 in
            value = value &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: index / 3 % size.width + Int(value >> 26))
        }
        let encoder = try #require(tjInitCompress())
        defer { tjDestroy(encoder) }
        var result: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(result) }
        let status = tjCompress2(
            encoder,
            pixels,
            Int32(size.width),
            0,
            Int32(size.height),
            TJPF_RGB.rawValue,
            &result,
            &count,
            Int32(sampling.rawValue),
            quality,
            flags
        )
        try #require(status == 0)
        return Array(UnsafeBufferPointer(start: result, count: Int(count)))
    }
}
