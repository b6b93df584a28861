import Foundation
import Frames
import TestSupport
import Testing

/// Tests of the node. They run one after the other, since they measure time.
@Suite("Node", .serialized)
enum PipeWireNodeTests {}

/// Expects `count` frames at 30 per second from the node in `session`, none of them missing, and
/// returns them.
///
/// A frame may be late or missing where programs waited for a processor instead (`Lateness`), for
/// as long as they did: PipeWire drops frames while its threads, or ours, are not done with the one
/// before. For half an interval they may be at work.
@discardableResult
func expectSteadyFrames(
    _ reader: StreamReader,
    in session: PrivateSession,
    count: Int = 45,
    tolerance: Double = 0.02
) throws -> [StreamReader.Frame] {
    let lateness = Lateness(session)
    reader.flush()
    let frames = try reader.frames(count, within: Double(count) / 30 + 5)
    var missing = 0
    for (before, after) in zip(frames, frames.dropFirst())
    where after.sequence != before.sequence + 1 {
        try #require(after.sequence > before.sequence)
        let lost = Int(after.sequence - before.sequence) - 1
        let late = lateness.seconds(from: before.pts ?? before.arrival, to: after.arrival)
        // Four of our threads have a part in each frame, and only the latest of them is counted.
        #expect(Double(lost) <= 4 * 30 * late + 0.5, "after \(before.sequence), \(late) s late")
        missing += lost
    }
    let (first, last) = (frames[0].arrival, frames[count - 1].arrival)
    let (time, expected) = ((last - first).seconds, Double(count - 1 + missing) / 30)
    let deviation = abs(time - expected) - tolerance * expected
    #expect(
        deviation < 0 || deviation < lateness.seconds(from: first, to: last),
        "\(count) frames and \(missing) missing in \(time) s"
    )
    return frames
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
