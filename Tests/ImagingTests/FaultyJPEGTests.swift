import Frames
import Imaging
import TestJPEGs
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
}
