package import DualCamCore
package import Frames
package import Platform
import Synchronization

/// A list of the attached cameras and of other video nodes, kept up to date by udev, which reports
/// each change.
///
/// Works on a thread of its own, named `cameras`, since devices are slow to answer.
package final class CameraWatch: Sendable {
    private let known = Mutex<[CameraDevice]?>(nil)
    private let listed: Bell
    private let report: @Sendable ([CameraDevice]) -> Void
    private let worker: LoopWorker<Listing>

    /// Starts looking for cameras. `report` receives them on the watch's thread, once they are
    /// known and after each change.
    ///
    /// - Throws: `SystemError` if the system is out of threads or descriptors.
    package init(
        report: @escaping @Sendable ([CameraDevice]) -> Void
    ) throws(SystemError) {
        listed = try Bell()
        self.report = report
        worker = try LoopWorker(name: "cameras")
        try worker.start(first: { $0.list(reportsAll: true) }) { loop in Listing(of: self, loop) }
    }

    /// Returns the known cameras. Waits for the first list until `deadline`.
    package func cameras(until deadline: Timestamp) -> [CameraDevice] {
        if known.withLock({ $0 == nil }) { listed.wait(until: deadline) }
        return known.withLock { $0 ?? [] }
    }

    /// Looks again if udev does not run and so reports nothing; reports any change.
    package func look() { worker.post { $0.look() } }

    /// Makes the thread end. Does not wait for it.
    package func end() { worker.end() }

    /// Waits for the thread to end, at most until `deadline`. Returns `true` if it has ended. Call
    /// after `end()`.
    package func wait(until deadline: Timestamp) -> Bool { worker.join(until: deadline) }

    /// The state of the thread. Bound to it.
    private final class Listing {
        private let shared: CameraWatch
        private let directory: CameraDirectory
        private var monitor: DeviceMonitor?

        init(of shared: CameraWatch, _ loop: EventLoop) {
            self.shared = shared
            let worker = shared.worker
            // A slow device has answered.
            directory = CameraDirectory { worker.post { $0.list(reportsAll: false) } }
            // Before the first look, so that no change in between is missed.
            monitor = DeviceMonitor(loop: loop) { [unowned self] in list(reportsAll: true) }
        }

        func look() {
            // Nothing reports that a program has begun to feed a relay.
            let hasRelay = shared.known.withLock { $0?.contains(where: \.isRelay) ?? false }
            if monitor == nil || hasRelay { list(reportsAll: false) }
        }

        /// Lists the cameras. A change that udev reports, such as a permission, may show in no
        /// list, so `reportsAll` reports it anyway.
        func list(reportsAll: Bool) {
            let cameras = directory.nodes()
            let before = shared.known.withLock { known in
                defer { known = cameras }
                return known
            }
            shared.listed.ring()
            if reportsAll || cameras != before { shared.report(cameras) }
        }
    }
}
