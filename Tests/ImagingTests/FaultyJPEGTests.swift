import Frames
import Imaging
import TestJPEGs
import TestSupport
import Testing

/// JPEGs as real cameras write them: what is only noise is shown, what is damage is not.
@Suite("Faulty JPEGs") struct FaultyJPEGTests {
    @Test(arguments: FaultyJPEG.all)
    func noiseIsShownAndDamageIsNot(fault: FaultyJPEG) throws {
        let decoder = try FrameDecoder(expecting: ScriptedJPEG.size)
        let outcome = decoder.decode(JPEGFrame(fault.bytes), for: .whole)
        #expect(decoder.noisyCount == (fault.verdict == .noise ? 1 : 0))
        guard case .frame(let frame) = outcome else {
            #expect(fault.verdict == .damage)
            return
        }
        #expect(fault.verdict != .damage)
        let plane = frame.plane(0)
        let pixels = (0..<plane.rows).flatMap { row in
            (0..<ScriptedJPEG.size.width).map { plane.row(row)[$0] }
        }
        #expect(pixels == ScriptedJPEG.decoded(fault.bytes))
        #expect(pixels == ScriptedJPEG.decoded(ScriptedJPEG().bytes))
    }

    @Test func aPictureAfterADamagedOneIsWhole() throws {
        let decoder = try FrameDecoder(expecting: ScriptedJPEG.size)
        for fault in FaultyJPEG.all {
            _ = decoder.decode(JPEGFrame(fault.bytes), for: .whole)
            guard case .frame = decoder.decode(JPEGFrame(ScriptedJPEG().bytes), for: .whole) else {
                Issue.record("after \(fault.description)")
                continue
            }
        }
    }

    /// Returns what is written of `bytes`; `nil` if they are fine as they are.
    private func withoutNoise(_ bytes: some Sequence<UInt8>) throws -> [UInt8]? {
        let decoder = try JPEGDecoder()
        return try Array(bytes).withUnsafeBytes {
            try decoder.withoutNoise($0, header: decoder.header(of: $0))
        }
    }

    @Test(arguments: FaultyJPEG.all)
    func noiseIsRemovedAndNoPixelChanges(fault: FaultyJPEG) throws {
        guard fault.verdict != .damage else {
            #expect(throws: JPEGError.self) { try withoutNoise(fault.bytes) }
            return
        }
        let copy = try withoutNoise(fault.bytes)
        #expect((copy != nil) == (fault.verdict == .noise))
        let whole = ScriptedJPEG.decoded(ScriptedJPEG().bytes)
        #expect(ScriptedJPEG.decoded(copy ?? fault.bytes) == whole)
        #expect(try copy.flatMap { try withoutNoise($0) } == nil)
    }

    @Test(arguments: [PixelFormat.i444, .i422, .i420, .i440, .i411, .gray])
    func noiseIsRemovedFromEveryKind(format: PixelFormat) throws {
        let whole = jpeg(of: noiseFrame(size: Size(width: 173, height: 91), format: format))
        #expect(try withoutNoise(whole) == nil)
        let copy = try #require(try withoutNoise(whole.dropLast(2)))
        #expect(samples(of: copy) == samples(of: whole))
        let end = whole.suffix(2)
        // Of the last bytes, not all bits count.
        #expect(throws: JPEGError.self) { try withoutNoise(whole.dropLast(5)) }
        #expect(throws: JPEGError.self) {
            try withoutNoise(whole.dropLast(whole.count / 3) + end)
        }
    }

    private func samples(of bytes: [UInt8]) -> [UInt8]? {
        guard let frame = JPEGFrame(bytes).decoded() else { return nil }
        return (0..<frame.layout.planeCount).flatMap { index in
            let plane = frame.plane(index)
            return (0..<plane.rows).flatMap { y in (0..<plane.rowBytes).map { plane.row(y)[$0] } }
        }
    }

    @Test func noBytesDoHarm() throws {
        let coloured = jpeg(of: noiseFrame(size: Size(width: 48, height: 40), format: .i420))
        var random = Chance()
        for _ in 0..<1000 {
            var bytes = Bool.random(using: &random) ? ScriptedJPEG().bytes : coloured
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 2..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0...2, using: &random))
            if let copy = try? withoutNoise(bytes) { _ = try? withoutNoise(copy) }
        }
    }
}
