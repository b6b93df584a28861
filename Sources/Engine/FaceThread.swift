package import Frames
import Imaging
package import Platform

/// Looks for faces in a camera's pictures, some times a second, beside the thread that takes them,
/// for as long as it is kept. Any thread.
package final class FaceThread: Sendable {
    private let worker: Worker

    /// The seconds from one search to the next.
    private static let interval = 0.2

    /// Starts a thread that looks in the newest picture in `slot`, as it is after `transform`.
    /// `report` gets what was found, on the thread. Throws `SystemError` if the system has no
    /// thread or descriptor left.
    package init(
        named name: String,
        in slot: FrameSlot,
        _ transform: Transform,
        report: @escaping @Sendable ([Face]) -> Void
    ) throws(SystemError) {
        let worker = try Worker(name: name)
        self.worker = worker
        try worker.start {
            let finder = FaceFinder()
            var last: Timestamp?
            // The picture may be the device's, and is not kept until the next.
            func search() {
                // A look keeps the camera at work.
                guard !slot.extent.isHidden else { return }
                let newest = slot.newest
                guard let frame = newest.original ?? newest.content.frame, frame.timestamp != last
                else { return }
                last = frame.timestamp
                report(finder.find(in: frame, transform))
            }
            while !worker.isEnding {
                search()
                worker.bell.wait(until: MonotonicClock.now + Timestamp(seconds: Self.interval))
            }
        }
    }

    /// Ends the thread. Does not wait for it.
    package func end() {
        worker.end()
        worker.leave()
    }
}
