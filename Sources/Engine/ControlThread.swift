package import Capture
package import DualCamCore
package import Frames
package import Platform
import Synchronization

/// Sees to one camera's controls: does what is asked of them, one after the other, and tells what they
/// are.
///
/// One thread a capture pipeline of a role, named `controls-back`, `controls-back-2` and so on, beside the one that takes its frames, so that
/// neither waits for the other: a control takes milliseconds, and seconds where a camera hangs. It has
/// the device open, a second time, while the camera delivers; for a moment where a value is set of
/// a camera that does not.
package final class ControlThread: Sendable {
    /// What came of a command.
    package struct Outcome: Hashable, Sendable {
        /// Whose they are: the camera's identity, empty where there is none.
        package var identity: String
        /// All controls as they were read after it.
        package var controls: CameraControls
        /// The end of the dial that it ran into.
        package var limit: Bound?
    }

    /// What is to be looked after.
    package struct Use: Sendable {
        /// The camera; `nil`: there is none.
        package var source: (any CameraSource)?
        /// What the user set of its controls, and what was wanted of them so far: taken when the camera is
        /// another one than before.
        package var controls: CameraControls
        /// Whether it delivers pictures, so that values have to be what they are wanted to be.
        package var isStreaming: Bool
        /// Whether values are on show that change without being told of.
        package var isShown: Bool
        /// What the camera's own zoom is to follow while it delivers; `nil`: it stays where it was found.
        package var zoom: ZoomRequest?

        /// What there is to look after.
        package init(
            source: (any CameraSource)?,
            controls: CameraControls,
            isStreaming: Bool,
            isShown: Bool,
            zoom: ZoomRequest? = nil
        ) {
            self.source = source
            self.controls = controls
            self.isStreaming = isStreaming
            self.isShown = isShown
            self.zoom = zoom
        }
    }

    private let mailbox: EventLoop.Mailbox
    private let body: @Sendable (@escaping @Sendable (Worker) -> Void) -> Void
    private let thread = Mutex<Thread?>(nil)

    /// Starts the thread. `report` is called on it whenever the controls differ from what was told
    /// before, with the identity of their camera, but for what commands give. Throws when the system has no thread or descriptor to give.
    package init(
        role: Role,
        pipeline: CapturePipeline = .a,
        report: @escaping @Sendable (String, CameraControls) -> Void
    ) throws(SystemError) {
        // Unsafe: made here, so that its failure can be thrown, and used by the new thread alone.
        nonisolated(unsafe) let worker = try Worker(report)
        let mailbox = worker.loop.mailbox
        self.mailbox = mailbox
        body = { work in mailbox.post { work(worker) } }
        let started = try Thread(name: "controls-\(role.rawValue)\(pipeline.suffix)") {
            worker.loop.run()
        }
        thread.withLock { $0 = started }
    }

    /// Looks after this from now on.
    package func use(_ use: Use) { body { $0.take(use) } }

    /// Does what `command` asks for, and calls `done` on the thread with what came of it: the values as
    /// they were read back. In the order of calls.
    package func perform(
        _ command: ControlCommand,
        done: @escaping @Sendable (Result<Outcome, ControlRefusal>) -> Void
    ) {
        body { done($0.perform(command)) }
    }

    /// Looks after nothing any more; what was set by hand of the camera is automatic again, its zoom where it was found, and
    /// its light out.
    package func leave() { body { $0.leave() } }

    /// Has the thread close the device and end; does not wait for it. Once.
    package func end() { body { $0.end() } }

    /// Waits until the thread has ended, at most until `deadline`; whether it has. After `end()`.
    package func wait(until deadline: Timestamp) -> Bool { thread.join(until: deadline) }

    // MARK: On the thread

    /// What the thread has before it. Bound to it.
    private final class Worker {
        let loop: EventLoop
        private let report: @Sendable (String, CameraControls) -> Void
        private var source: (any CameraSource)?
        private var controls = CameraControls()
        private var isStreaming = false
        private var isShown = false
        private var port: (any ControlPort)?
        private var watch: EventLoop.Watch?
        private var timer: EventLoop.Timer?
        private var drive = ZoomDrive()
        private var stepper: EventLoop.Timer?
        /// What was reported last.
        private var reported = CameraControls()

        /// Seconds between looks at what changes by itself, while it is on show.
        private static let interval = 0.35

        init(_ report: @escaping @Sendable (String, CameraControls) -> Void) throws(SystemError) {
            loop = try EventLoop()
            self.report = report
            timer = try loop.timer { [unowned self] in look() }
            stepper = try loop.timer { [unowned self] in stepZoom() }
        }

        func take(_ use: Use) {
            if use.source?.identity != source?.identity {
                tidy()
                close()
                controls = use.controls
                reported = controls
                drive = ZoomDrive()
            }
            controls.settings = use.controls.settings
            source = use.source
            isShown = use.isShown
            let isOther = use.zoom?.number != drive.request?.number
            if isOther { drive.follow(use.zoom) }
            if use.isStreaming != isStreaming {
                isStreaming = use.isStreaming
                if isStreaming {
                    start()
                } else {
                    tidy()
                    close()
                }
            } else if isOther {
                stepZoom()
            }
            reportChange()
            wait()
        }

        /// The camera delivers: it is to do what was wanted of it before.
        private func start() {
            // It may have been unplugged meanwhile.
            controls.forgetSettled()
            // That it is gone again is its capture thread's to tell.
            guard (try? open()) != nil else { return }
            guard !controls.manual.isAutomatic else { return }
            _ = try? carryOut(.restore)
        }

        func perform(_ command: ControlCommand) -> Result<Outcome, ControlRefusal> {
            defer {
                if !isStreaming { close() }
                wait()
            }
            do throws(ControlRefusal) {
                do throws(ControlRefusal) {
                    try open()
                } catch {
                    // What cannot be reached has nothing that would have to be undone now; it will be set
                    // as wanted when it is back.
                    guard command == .reset else { throw error }
                    controls.settle(try controls.plan(.reset), [])
                    reported = controls
                    return .success(outcome(nil))
                }
                try refresh(all: command == .look)
                let plan = try carryOut(command)
                reported = controls
                return .success(outcome(plan.limit))
            } catch {
                reportChange()
                return .failure(error)
            }
        }

        func leave() {
            if !controls.manual.isAutomatic { _ = perform(.reset) }
            tidy()
            take(
                Use(
                    source: nil,
                    controls: CameraControls(),
                    isStreaming: false,
                    isShown: false
                )
            )
        }

        private func outcome(_ limit: Bound?) -> Outcome {
            Outcome(identity: source?.identity ?? "", controls: controls, limit: limit)
        }

        /// The zoom of a camera that is not used any more is where others left it, and its light does not shine.
        private func tidy() {
            if let home = drive.home, !drive.isOthers, controls.zoomControl?.value != home,
                (try? open()) != nil
            {
                writeZoom(home)
            }
            drive.end()
            if controls.torch == true, (try? open()) != nil { _ = try? carryOut(.torch(false)) }
        }

        /// Has the camera's own zoom follow what is seen, one step a call, until it is there.
        private func stepZoom() {
            guard isStreaming, port != nil, let zoom = controls.zoomControl else { return }
            writeZoom(drive.next(zoom, at: MonotonicClock.now))
            reportChange()
            guard let now = controls.zoomControl, !drive.isOver(now, at: MonotonicClock.now) else {
                return
            }
            stepper?.arm(after: ZoomDrive.pace)
        }

        /// Writes a value of the zoom, if there is one to be written, and reads what it is.
        private func writeZoom(_ value: Int?) {
            guard let port, let zoom = controls.zoomControl else { return }
            do throws(ControlRefusal) {
                if let value {
                    try port.write(ControlWrite(zoom, value))
                    drive.write(value)
                }
                try read { $0.purpose == .zoom }
            } catch {
                drive.giveUp()
                seeZoom()
            }
        }

        /// Takes note of where the zoom is.
        private func seeZoom() {
            if let zoom = controls.zoomControl { drive.see(zoom.value) }
            controls.zoomNumber = drive.request?.number ?? 0
            controls.isZoomOthers = drive.home != nil && drive.isOthers
        }

        func end() {
            tidy()
            close()
            timer = nil
            stepper = nil
            loop.stop()
        }

        private func open() throws(ControlRefusal) {
            guard port == nil else { return }
            guard let source else { throw .failed(.unplugged, "There is no camera.") }
            do throws(CaptureError) {
                port = try source.openControls()
            } catch {
                throw .failed(error.interruption, "\(error)")
            }
            guard let port else { return }
            do throws(ControlRefusal) {
                controls.read(try port.controls())
            } catch {
                close()
                throw error
            }
            guard isStreaming else { return }
            if let zoom = controls.zoomControl {
                drive.begin(zoom)
                // There is no picture yet that would jump.
                if let goal = drive.goal(zoom, at: MonotonicClock.now) {
                    writeZoom(goal == zoom.value ? nil : goal)
                    stepper?.arm(after: ZoomDrive.pace)
                } else {
                    seeZoom()
                }
            }
            port.subscribe(to: controls.device.filter { $0.purpose != nil })
            if port.descriptor >= 0 {
                watch = try? loop.watch(port.descriptor, for: .urgent) { [unowned self] in
                    if $0.isDisjoint(with: [.failed, .hungUp]) {
                        if self.port?.takeEvents() ?? false { look() }
                    } else {
                        close()
                    }
                }
            }
        }

        private func close() {
            timer?.disarm()
            stepper?.disarm()
            // First: the descriptor belongs to the port.
            watch?.cancel()
            watch = nil
            port = nil
        }

        /// Writes what `command` asks for and reads what became of it: automatics first, since values
        /// that they have are refused.
        private func carryOut(_ command: ControlCommand) throws(ControlRefusal) -> ControlPlan {
            let plan = try controls.plan(command)
            guard let port else { return plan }
            var device = controls.device
            do throws(ControlRefusal) {
                for write in plan.switches + plan.values { try port.write(write) }
                let written = Set((plan.switches + plan.values).map(\.id))
                try port.update(&device) { $0.purpose != nil || written.contains($0.id) }
            } catch {
                // Half of it may be done: what is true now is what counts.
                controls.keepOriginals(of: plan)
                try refresh()
                throw error
            }
            // What is set past the commands counts as another program's would.
            if case .raw = command {
                controls.read(device)
            } else {
                controls.settle(plan, device)
            }
            seeZoom()
            return plan
        }

        private func refresh(all: Bool = false) throws(ControlRefusal) {
            do throws(ControlRefusal) {
                try read { all || $0.purpose != nil }
            } catch {
                close()
                throw error
            }
        }

        /// Reads what `matters`.
        private func read(_ matters: (DeviceControl) -> Bool) throws(ControlRefusal) {
            guard let port else { return }
            let (now, before) = (MonotonicClock.now, controls.magnification)
            var device = controls.device
            try port.update(&device, where: matters)
            controls.read(device)
            if controls.magnification != before { controls.zoomTime = now }
            seeZoom()
        }

        /// Looks what there is now, and tells.
        private func look() {
            try? refresh()
            reportChange()
            wait()
        }

        private func reportChange() {
            guard controls != reported else { return }
            reported = controls
            report(source?.identity ?? "", controls)
        }

        /// Looks again soon, while something may change that no event tells of.
        private func wait() {
            let changes = controls.device.contains { $0.purpose != nil && $0.changesItself }
            if isShown, port != nil, watch != nil, changes {
                timer?.arm(after: Self.interval)
            } else {
                timer?.disarm()
            }
        }
    }
}
