import Foundation
import Frames
import TestSupport
import Testing

/// Tests of the node. They run one after the other, since they measure time.
@Suite("Node", .serialized)
enum PipeWireNodeTests {}

/// Expects that `reader` gets each of the next `count` frames that `publisher` publishes, which has
/// memory for each when it is due; returns them.
@discardableResult
func expectEveryFrame(
    _ reader: StreamReader,
    of publisher: Publisher,
    count: Int = 20
) throws -> [StreamReader.Frame] {
    let start = publisher.record
    publisher.follow(reader)
    try eventually("a frame that was waited for") {
        publisher.record.published > start.published + 2
    }
    let dropped = publisher.record.dropped
    reader.flush()
    let frames = try reader.frames(count, within: 60)
    for (before, after) in zip(frames, frames.dropFirst()) {
        #expect(after.sequence == before.sequence + 1)
        let seconds = (try #require(after.pts) - #require(before.pts)).seconds
        let intervals = seconds * Double(publisher.rate)
        #expect(intervals > 0.5 && abs(intervals - intervals.rounded()) < 0.01)
    }
    #expect(publisher.record.dropped == dropped)
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
