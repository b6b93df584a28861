import Foundation
import Frames
import TestSupport
import Testing

/// Tests of the node. They run one after the other, since they measure time.
@Suite("Node", .serialized)
enum PipeWireNodeTests {}

/// Expects `count` consecutive frames at 30 per second, and returns them.
///
/// Makes up to four attempts: on an overloaded machine a thread of PipeWire may be late for a frame
/// without a fault of the node. A real fault shows in all of them.
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

/// Expects that at most `count` descriptors are open. There may be more for a while, since other
/// tests run in the same process.
func expectDescriptors(atMost count: Int) throws {
    try eventually("descriptors to be closed, had \(count), have \(openDescriptors())") {
        openDescriptors() <= count
    }
}

/// Returns the number of open descriptors of this process.
func openDescriptors() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
}
