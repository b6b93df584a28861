package import Frames
package import Platform
import Synchronization

/// Knows at any time which cameras there are, and tells when udev says that this has changed.
///
/// On a thread of its own, named `cameras`, since devices take their time to answer.
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

    /// Looks for cameras from now on. `report` is told of them, on the thread of this, once they are
    /// known and after each change. Throws when the system has no thread or descriptor to give.
    package init(
        report: @escaping @Sendable ([CameraDevice]) -> Void
    ) throws(SystemError) {
        bell = try Bell()
        listed = try Bell()
        self.report = report
        // Unsafe: made here, so that its failure can be thrown, and used by the new thread alone.
        nonisolated(unsafe) let worker = try Worker(of: self)
        let started = try Thread(name: "cameras") { worker.run() }
        thread.withLock { $0 = started }
    }

    /// The cameras that are known; waited for until `deadline` as long as nothing is.
    package func cameras(until deadline: Timestamp) -> [CameraDevice] {
        if known.withLock({ $0 == nil }) { listed.wait(until: deadline) }
        return known.withLock { $0 ?? [] }
    }

    /// Looks again where udev does not run, and so tells of nothing; reports what has changed.
    package func look() {
        commands.withLock { $0.looks = true }
        bell.ring()
    }

    /// Has the thread end; does not wait for it.
    package func end() {
        commands.withLock { $0.isOver = true }
        bell.ring()
    }

    /// Waits until the thread has ended, at most until `deadline`; whether it has. After `end()`.
    package func wait(until deadline: Timestamp) -> Bool { thread.join(until: deadline) }

    /// What the thread holds. Bound to it.
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
            // Before the first look, so that nothing that comes meanwhile is missed.
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
                // Without a command, it was a device that has answered at last.
                list(reportsAll: false)
            }
        }

        /// What udev tells of may be something that no list shows, such as a permission.
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
