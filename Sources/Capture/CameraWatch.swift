package import DualCamCore
package import Frames
package import Platform
import Synchronization

/// A list of the attached cameras, kept up to date by udev, which reports each change.
///
/// Works on a thread of its own, named `cameras`, since devices are slow to answer.
package final class CameraWatch: Sendable {
    private struct Commands {
        var looks = false
        var isOver = false
    }

    private let commands = Mutex(Commands())
    private let known = Mutex<[CameraDevice]?>(nil)
    private let bell: Bell
    private let listed: Bell
    private let report: @Sendable ([CameraDevice]) -> Void
    private let thread = Mutex<Thread?>(nil)

    /// Starts looking for cameras. `report` receives them on the watch's thread, once they are
    /// known and after each change.
    ///
    /// - Throws: `SystemError` if the system is out of threads or descriptors.
    package init(
        report: @escaping @Sendable ([CameraDevice]) -> Void
    ) throws(SystemError) {
        bell = try Bell()
        listed = try Bell()
        self.report = report
        // Unsafe: created here so that errors can be thrown, then used by the new thread alone.
        nonisolated(unsafe) let worker = try Worker(of: self)
        let started = try Thread(name: "cameras") { worker.run() }
        thread.withLock { $0 = started }
    }

    /// Returns the known cameras. Waits for the first list until `deadline`.
    package func cameras(until deadline: Timestamp) -> [CameraDevice] {
        if known.withLock({ $0 == nil }) { listed.wait(until: deadline) }
        return known.withLock { $0 ?? [] }
    }

    /// Looks again if udev does not run and so reports nothing; reports any change.
    package func look() {
        commands.withLock { $0.looks = true }
        bell.ring()
    }

    /// Tells the thread to end. Does not wait for it.
    package func end() {
        commands.withLock { $0.isOver = true }
        bell.ring()
    }

    /// Waits for the thread to end, at most until `deadline`. Returns `true` if it has ended. Call
    /// after `end()`.
    package func wait(until deadline: Timestamp) -> Bool { thread.join(until: deadline) }

    /// The state of the thread. Bound to it.
    private final class Worker {
        private let shared: CameraWatch
        private let loop: EventLoop
        private let directory: CameraDirectory
        private var monitor: DeviceMonitor?

        init(of shared: CameraWatch) throws(SystemError) {
            self.shared = shared
            loop = try EventLoop()
            let late = shared.bell
            directory = CameraDirectory { late.ring() }
            // Before the first look, so that no change in between is missed.
            monitor = DeviceMonitor(loop: loop) { [unowned self] in list(reportsAll: true) }
            try loop.watch(shared.bell.descriptor, for: .readable) { [unowned self] _ in
                runCommands()
            }
        }

        func run() {
            list(reportsAll: true)
            loop.run()
        }

        private func runCommands() {
            shared.bell.silence()
            let commands = shared.commands.withLock { commands in
                defer { commands.looks = false }
                return commands
            }
            if commands.isOver {
                loop.stop()
            } else if !commands.looks || monitor == nil {
                // A ring without a command means that a slow device has answered.
                list(reportsAll: false)
            }
        }

        /// Lists the cameras. A change that udev reports, such as a permission, may show in no
        /// list, so `reportsAll` reports it anyway.
        private func list(reportsAll: Bool) {
            let cameras = directory.cameras()
            let before = shared.known.withLock { known in
                defer { known = cameras }
                return known
            }
            shared.listed.ring()
            if reportsAll || cameras != before { shared.report(cameras) }
        }
    }
}
