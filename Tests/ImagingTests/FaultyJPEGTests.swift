import Frames
import Imaging
import Testing

/// JPEGs as real cameras write them: what is only noise is shown, what is damage is not.
@Suite("Faulty JPEGs")
struct FaultyJPEGTests {
    /// What becomes of a JPEG.
    enum Verdict { case clean, noise, damage }

    /// A fault of a camera.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let verdict: Verdict
        let bytes: [UInt8]

        init(_ name: String, _ verdict: Verdict, _ change: (inout ScriptedJPEG) -> Void = { _ in })
        {
            testDescription = name
            self.verdict = verdict
            var jpeg = ScriptedJPEG()
            change(&jpeg)
            bytes = jpeg.bytes
        }
    }

    static let faults =
        [
            Fault("none", .clean),
            Fault("zeros for padding", .clean) { $0 = ScriptedJPEG(padding: 0) },
            Fault("bytes after the end", .clean) { $0.end += [1, 2, 3, 0xff, 0xd8, 9] },
            Fault("zeros after the end", .clean) { $0.end += [UInt8](repeating: 0, count: 5000) },
            Fault("no end marker", .noise) { $0.end = [] },
            Fault("half an end marker", .noise) { $0.end = [0xff] },
            Fault("zeros before the end", .noise) {
                $0.strays[5] = [UInt8](repeating: 0, count: 400)
            },
            Fault("a restart marker is missing", .damage) { $0.restarts[2] = nil },
            Fault("a restart marker is another one", .damage) { $0.restarts[2] = 6 },
            Fault("a row is missing", .damage) { $0.segments[3] = [] },
            Fault("a row ends early", .damage) { $0.segments[3].removeLast(4) },
            Fault("the last row ends early", .damage) { $0.segments[5].removeLast(4) },
            Fault("the end is missing with half of the last row", .damage) {
                $0.segments[5].removeLast(6)
                $0.end = []
            },
            Fault("a code that no table has", .damage) { $0.segments[3] = [0xf0, 0xf0, 0xf0] },
            Fault("two rows in one", .damage) { $0.segments[3] += $0.segments[4] + $0.segments[5] },
        ]
        + (1...9).map { count in
            Fault("\(count) bytes before some restart markers", .noise) {
                $0.strays[1] = [UInt8](repeating: 0x5a, count: count)
                $0.strays[4] = [UInt8](repeating: 0x00, count: count)
            }
        }

    @Test(arguments: faults)
    func noiseIsShownAndDamageIsNot(fault: Fault) throws {
        let decoder = try FrameDecoder(expecting: ScriptedJPEG.size)
        let outcome = decoder.decode(jpeg(fault.bytes), for: .whole)
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
        for fault in Self.faults {
            _ = decoder.decode(jpeg(fault.bytes), for: .whole)
            guard case .frame = decoder.decode(jpeg(ScriptedJPEG().bytes), for: .whole) else {
                Issue.record("after \(fault.testDescription)")
                continue
            }
        }
    }

    private func jpeg(_ bytes: [UInt8]) -> JPEGFrame {
        let buffer = FrameBuffer(byteCount: bytes.count)
        buffer.bytes.copyBytes(from: bytes)
        return JPEGFrame(buffer: buffer, byteCount: bytes.count, timestamp: .zero, sequence: 1)
    }
}
