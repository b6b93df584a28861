import Foundation
import Frames
import TestSupport
import Testing

/// One test after the other: they measure time.
@Suite("Node", .serialized)
enum PipeWireNodeTests {}

/// Expects `count` frames that follow each other, at 30 a second; returns them.
///
/// Four times may be tried: on a machine with more to do than it can, a thread of PipeWire's may
/// come too late for a frame through nobody's fault. What holds frames up holds all of them up.
@discardableResult
func expectSteadyFrames(
    _ reader: StreamReader,
    count: Int = 45,
    tolerance: Double = 0.02
) throws -> [StreamReader.Frame] {
    var seen: [String] = []
    for _ in 0..<4 {
        reader.flush()
        let frames = try reader.frames(count, within: Double(count) / 30 + 5)
        let time = (frames[count - 1].arrival - frames[0].arrival).seconds
        let steps = Int(frames[count - 1].sequence) - Int(frames[0].sequence)
        let rate = Double(count - 1) / time
        if steps == count - 1, abs(rate / 30 - 1) < tolerance { return frames }
        seen.append("\(count) frames in \(steps) steps at \(rate)/s")
    }
    Issue.record("not steady: \(seen)")
    return []
}

/// Expects that no more descriptors are open than `count`; some more may be for a while, since
/// other tests run in the same process.
func expectDescriptors(atMost count: Int) throws {
    try eventually("descriptors to be closed, had \(count), have \(openDescriptors())") {
        openDescriptors() <= count
    }
}

/// The descriptors that this process has open.
func openDescriptors() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
}
