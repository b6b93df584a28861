package import Capture
package import DualCamCore
package import Frames
import Logging
package import Platform
import Synchronization

/// Operates one camera's controls: carries out commands one after the other, and reports the
/// values.
///
/// There is one thread per capture pipeline of a role, named `controls-back`, `controls-back-2` and
/// so on, beside the one that takes its frames, so that neither waits for the other: a control
/// takes milliseconds, and seconds if a camera hangs. It has the device open, a second time, while
/// the camera delivers; otherwise only for as long as a command takes.
package final class ControlThread: Sendable {
    /// The result of a command.
    package struct Outcome: Hashable, Sendable {
        /// The identity of the camera; empty if there is none.
        package var identity: String
        /// All controls, as read after the command.
        package var controls: CameraControls
        /// The end of the dial that the command reached, if any.
        package var limit: Bound?
    }

    /// The camera whose controls are operated, and for what.
    package struct Use: Sendable {
        /// The camera; `nil` for none.
        package var source: (any CameraSource)?
        /// The controls as the user set them, and the values wanted so far. Taken over when the
        /// camera is another one than before.
        package var controls: CameraControls
        /// `true` while the camera delivers pictures, so that the wanted values must be in effect.
        package var isStreaming: Bool
        /// `true` while values are displayed: those that change without an event are read again.
        package var isShown: Bool
        /// The zoom for the camera's own to follow while it delivers; `nil` leaves it as found.
        package var zoom: ZoomRequest?

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

    private let name: String
    private let make: @Sendable (EventLoop) throws(SystemError) -> Operation
    /// `nil` until the thread starts.
    private let worker = Mutex<LoopWorker<Operation>?>(nil)

    /// Starts the thread; that of a second pipeline starts when it has a camera.
    ///
    /// `report` is called on it with the camera's identity and its controls whenever they differ
    /// from the last ones reported, except for changes that a command returns. `region` returns the
    /// mains where the camera is. A directory in `records` keeps what was found before controls
    /// were held, so that a later run can put it back after a crash; `nil`: nothing does. Throws
    /// `SystemError` if the system has no thread or descriptor left.
    package init(
        role: Role,
        pipeline: CapturePipeline = .a,
        region: @escaping @Sendable () -> MainsFrequency = { .ofThisMachine() },
        records: String? = nil,
        report: @escaping @Sendable (String, CameraControls) -> Void
    ) throws(SystemError) {
        name = "controls-\(role.rawValue)\(pipeline.suffix)"
        make = { loop throws(SystemError) in try Operation(on: loop, region, records, report) }
        if pipeline == .a { _ = try started() }
    }

    /// Returns the thread, which it starts if necessary.
    private func started() throws(SystemError) -> LoopWorker<Operation> {
        if let worker = worker.withLock({ $0 }) { return worker }
        let new = try LoopWorker<Operation>(name: name)
        try new.start(make)
        worker.withLock { $0 = new }
        return new
    }

    /// Replaces the camera and its use.
    package func use(_ use: Use) {
        do throws(SystemError) {
            try started().post { $0.take(use) }
        } catch {
            Log.control.error("no thread for controls", metadata: ["reason": "\(error)"])
        }
    }

    /// Carries out `command`, in the order of calls, and calls `done` on the thread with the values
    /// as read back, or with the refusal.
    package func perform(
        _ command: ControlCommand,
        done: @escaping @Sendable (Result<Outcome, ControlRefusal>) -> Void
    ) {
        do throws(SystemError) {
            try started().post { done($0.perform(command)) }
        } catch {
            done(.failure(.failed(.stalled, "\(error)")))
        }
    }

    /// Adapts the exposure to a face of this luma, or to no face, if that is wanted.
    package func meter(_ luma: Double?) { worker.withLock { $0 }?.post { $0.meter(luma) } }

    /// Stops using the camera: what was set by hand becomes automatic again, its zoom returns to
    /// where it was found, and its light goes out.
    package func leave() { worker.withLock { $0 }?.post { $0.leave() } }

    /// Makes the thread close the device and end. Does not wait for it.
    package func end() { worker.withLock { $0 }?.end { $0.end() } }

    /// Waits until `deadline` for the thread to end; `true` if it has. Call after `end()`.
    package func wait(until deadline: Timestamp) -> Bool {
        worker.withLock { $0 }?.join(until: deadline) ?? true
    }

    // MARK: On the thread

    /// The state of the thread. Bound to it.
    private final class Operation {
        private let loop: EventLoop
        private let region: @Sendable () -> MainsFrequency
        private let records: String?
        private let report: @Sendable (String, CameraControls) -> Void
        private var source: (any CameraSource)?
        private var controls = CameraControls()
        private var isStreaming = false
        private var isShown = false
        private var port: (any ControlPort)?
        private var watch: EventLoop.Watch?
        private var timer: EventLoop.Timer?
        private var drives = Operation.noDrives
        private var held = HeldControls()
        private var metering = FaceMetering()
        /// `true` if somebody else has set the exposure that was ours.
        private var isExposureOthers = false
        /// The mains that lamps have here; unknown if they are not to be considered.
        private var mains = MainsFrequency.unknown
        private var stepper: EventLoop.Timer?
        /// The controls as reported last.
        private var reported = CameraControls()

        private static let noDrives: [DeviceControl.Purpose: ControlDrive] = [
            .zoom: ControlDrive(), .image(.pan): ControlDrive(), .image(.tilt): ControlDrive(),
        ]

        /// The seconds between two readings of values that change by themselves, while displayed.
        private static let interval = 0.35

        init(
            on loop: EventLoop,
            _ region: @escaping @Sendable () -> MainsFrequency,
            _ records: String?,
            _ report: @escaping @Sendable (String, CameraControls) -> Void
        ) throws(SystemError) {
            self.loop = loop
            self.region = region
            self.records = records
            self.report = report
            timer = try loop.timer { [unowned self] in look() }
            stepper = try loop.timer { [unowned self] in step() }
        }

        func take(_ use: Use) {
            if use.source?.identity != source?.identity {
                tidy()
                close()
                controls = use.controls
                reported = controls
                drives = Self.noDrives
            }
            let meteredFace = controls.settings.metersFace
            let isHeldOtherwise =
                controls.settings.holdsRate != use.controls.settings.holdsRate
                || controls.settings.antiFlicker != use.controls.settings.antiFlicker
            controls.settings = use.controls.settings
            source = use.source
            isShown = use.isShown
            let isOther = use.zoom?.number != drives[.zoom]?.zoomNumber
            if isOther { drives[.zoom]?.follow(use.zoom.map { .zoom($0) }) }
            if use.isStreaming != isStreaming {
                isStreaming = use.isStreaming
                if isStreaming {
                    start()
                } else {
                    tidy()
                    close()
                }
            } else {
                if isOther { step() }
                if isHeldOtherwise, isStreaming {
                    release()
                    hold()
                    restore()
                }
            }
            if meteredFace, !controls.settings.metersFace, isStreaming, controls.mayMeter {
                endMetering()
            }
            reportChange()
            wait()
        }

        /// Restores the wanted values on a camera that begins to deliver.
        private func start() {
            // The camera may have been unplugged meanwhile.
            controls.forgetSettled()
            // If the camera is gone again, its capture thread reports it.
            guard (try? open()) != nil else { return }
            recover()
            // An earlier run may not have given the exposure back.
            endMetering()
            isExposureOthers = false
            hold()
            restore()
        }

        /// Writes the wanted values again, if there are any.
        private func restore() {
            guard !controls.manual.isAutomatic else { return }
            _ = try? carryOut(.restore)
        }

        /// Holds the rate and the filter against flicker, as wanted. What refuses stays as it is.
        private func hold() {
            guard let port else { return }
            let hasFilter = controls.device.contains { $0.purpose == .powerLine }
            let filter = controls.settings.antiFlicker
            mains = filter.mains(in: filter == .auto ? region() : .unknown)
            if hasFilter, mains == .both {
                Log.control.notice("Japan has 50 and 60 Hz: set anti-flicker if lamps flicker")
            }
            let writes = held.plan(controls.settings, controls.device, region: mains)
            guard !writes.isEmpty else { return }
            for write in writes { held.note(write, over: controls.device) }
            // First, for a crash in between.
            record()
            for write in writes where (try? port.write(write)) == nil { held.forget(write) }
            record()
            try? read { control in writes.contains { $0.id == control.id } }
        }

        private var exposure: [DeviceControl] {
            controls.device.filter { $0.purpose?.isExposure ?? false }
        }

        /// Gives a face of this luma the light that it should have; `nil`: there is no face.
        func meter(_ luma: Double?) {
            guard isStreaming, controls.settings.metersFace, controls.mayMeter else { return }
            defer { reportChange() }
            let now = MonotonicClock.now
            guard let luma else {
                if metering.isOver(at: now) { endMetering() }
                return
            }
            guard let stops = metering.see(luma, at: now) else {
                return controls.meterInSoftware(
                    controls.metered == 0 ? 0 : FaceMetering.lack(of: luma)
                )
            }
            let writes = exposing(stops)
            // Software does the rest.
            controls.meterInSoftware(writes.isEmpty ? FaceMetering.lack(of: luma) : 0)
            guard let port, !writes.isEmpty else { return }
            for write in writes { held.note(write, over: controls.device) }
            controls.isMetering = true
            // First, for a crash in between.
            record()
            do throws(ControlRefusal) {
                for write in writes { try port.write(write) }
                try read { $0.purpose?.isExposure ?? false }
                held.keep(exposure)
                record()
            } catch {
                // What was written before the refusal is put back, too.
                try? read { $0.purpose?.isExposure ?? false }
                held.keep(exposure)
                endMetering()
                isExposureOthers = true
            }
        }

        /// Returns the writes that give the pictures so many stops more light, if any.
        private func exposing(_ stops: Double) -> [ControlWrite] {
            guard port != nil, !isExposureOthers, !exposure.isEmpty, (try? refresh()) != nil else {
                return []
            }
            if controls.isMetering, held.isChanged(exposure) {
                // It is theirs until the camera is opened again.
                (controls.isMetering, isExposureOthers) = (false, true)
                held.forget(exposure)
                record()
                return []
            }
            return controls.exposing(stops, mains: mains)
        }

        /// Gives the exposure back as it was found, times and gains while the automatic is off yet.
        private func endMetering() {
            metering = FaceMetering()
            (controls.isMetering, controls.metered) = (false, 0)
            let writes = held.release(exposure)
            let switches = exposure.filter { $0.purpose?.isExposureSwitch ?? false }.map(\.id)
            let isSwitch = { (write: ControlWrite) in switches.contains(write.id) }
            for write in writes.filter({ !isSwitch($0) }) + writes.filter(isSwitch) {
                try? port?.write(write)
            }
            controls.forgetSettled(by: writes)
            let noted = held
            held.forget(exposure)
            if held != noted { record() }
            guard !writes.isEmpty else { return }
            try? read { $0.purpose?.isExposure ?? false }
        }

        /// Puts back what was found before it was held.
        private func release() {
            guard !held.isEmpty else { return }
            guard (try? open()) != nil, let port else {
                // The record of a camera that is gone tells later what it was.
                held = HeldControls()
                return
            }
            // Another program may have changed it without an event.
            try? read { $0.purpose != nil }
            if controls.isMetering { endMetering() }
            let writes = held.release(controls.device)
            for write in writes { try? port.write(write) }
            controls.forgetSettled(by: writes)
            held = HeldControls()
            record()
            try? read { control in writes.contains { $0.id == control.id } }
        }

        /// Takes up what an earlier run held and did not put back.
        private func recover() {
            guard held.isEmpty, let file = recordFile, let text = try? file.load() else { return }
            held = HeldControls(parsing: text, over: controls.device)
        }

        /// Notes on the disk what is held.
        private func record() {
            guard let file = recordFile else { return }
            // It is of use only after a crash.
            if held.isEmpty { try? file.remove() } else { try? file.store(held.text) }
        }

        private var recordFile: StateFile? {
            guard let records, let identity = source?.identity, !identity.isEmpty else {
                return nil
            }
            let name = identity.utf8.prefix(200).map { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    return byte
                default: return UInt8(ascii: "_")
                }
            }
            return StateFile(path: "\(records)/\(String(decoding: name, as: UTF8.self))")
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
                    // A camera that cannot be reached has nothing to undo now; when it is back it
                    // is set as wanted.
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

        /// Moves what moves back to where others left it, puts back what was held, and turns the
        /// light off, on a camera no longer in use.
        private func tidy() {
            release()
            for (purpose, drive) in drives {
                if let home = drive.home, !drive.isOthers, moving(purpose)?.value != home,
                    (try? open()) != nil
                {
                    write(home, purpose)
                }
                drives[purpose]?.end()
            }
            if controls.torch == true, (try? open()) != nil { _ = try? carryOut(.torch(false)) }
        }

        /// Returns the control for `purpose`, if the camera has one that a drive can move.
        private func moving(_ purpose: DeviceControl.Purpose) -> DeviceControl? {
            purpose == .zoom ? controls.zoomControl : controls.control(for: purpose)
        }

        /// Moves each control that follows a course by a step, and arms the next step until all are
        /// there.
        private func step() {
            guard isStreaming, port != nil else { return }
            var isOver = true
            for purpose in drives.keys {
                guard let control = moving(purpose), let drive = drives[purpose],
                    purpose == .zoom || !drive.isOver(control, at: MonotonicClock.now)
                else { continue }
                write(drive.next(control, at: MonotonicClock.now), purpose)
                guard let now = moving(purpose), let drive = drives[purpose] else { continue }
                isOver = isOver && drive.isOver(now, at: MonotonicClock.now)
            }
            reportChange()
            if !isOver { stepper?.arm(after: ControlDrive.pace) }
        }

        /// Writes a value of a control that moves, if any, and reads it back.
        private func write(_ value: Int?, _ purpose: DeviceControl.Purpose) {
            guard let port, let control = moving(purpose) else { return }
            do throws(ControlRefusal) {
                if let value {
                    try port.write(ControlWrite(control, value))
                    drives[purpose]?.write(value)
                }
                try read { $0.purpose == purpose }
            } catch {
                drives[purpose]?.giveUp()
                see(purpose)
            }
        }

        /// Notes the position of a control that moves.
        private func see(_ purpose: DeviceControl.Purpose) {
            if let control = moving(purpose) { drives[purpose]?.see(control.value) }
            guard let drive = drives[purpose] else { return }
            if case .image(let name) = purpose {
                if let home = drive.home, drive.isOthers { controls.noteMoved(name, to: home) }
            } else {
                controls.zoomNumber = drive.zoomNumber ?? 0
                controls.isZoomOthers = drive.home != nil && drive.isOthers
            }
        }

        /// Turns the camera to the wanted value of `name`, or to where others left it.
        private func turn(_ name: ImageControl) {
            let purpose = DeviceControl.Purpose.image(name)
            guard let control = moving(purpose),
                let goal = controls.wanted(name) ?? drives[purpose]?.home
            else { return }
            let seconds = controls.settings.transition
            drives[purpose]?.follow(
                .turn(from: control.value, to: goal, at: MonotonicClock.now, seconds: seconds)
            )
            stepper?.arm(after: ControlDrive.pace)
        }

        func end() {
            tidy()
            close()
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
            for purpose in drives.keys {
                guard let control = moving(purpose) else { continue }
                if case .image(let name) = purpose {
                    let wanted = controls.wanted(name)
                    let course = wanted.map {
                        ControlDrive.Course.turn(from: $0, to: $0, at: .zero, seconds: 0)
                    }
                    drives[purpose]?.follow(course)
                }
                drives[purpose]?.begin(control)
                // There is no picture yet that could jump.
                if let goal = drives[purpose]?.goal(control, at: MonotonicClock.now) {
                    write(goal == control.value ? nil : goal, purpose)
                    stepper?.arm(after: ControlDrive.pace)
                } else {
                    see(purpose)
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
            // First, since the descriptor belongs to the port.
            watch?.cancel()
            watch = nil
            port = nil
        }

        /// Writes the values of `command` and reads the result. Automatics go first, since the
        /// values they control refuse to be set.
        private func carryOut(_ command: ControlCommand) throws(ControlRefusal) -> ControlPlan {
            let plan = try controls.plan(command)
            guard let port else { return plan }
            var device = controls.device
            let (found, before) = (device, held)
            for write in plan.held { held.note(write, over: device) }
            if !plan.held.isEmpty { record() }
            do throws(ControlRefusal) {
                for write in plan.switches + plan.values { try port.write(write) }
                try writeImage(plan, isRestored: command == .restore)
                let written = Set((plan.switches + plan.values).map(\.id))
                try port.update(&device) { $0.purpose != nil || written.contains($0.id) }
            } catch {
                // Half of it may be done: only the present values count.
                controls.keepOriginals(of: plan)
                undo(plan.held, over: found, before)
                try refresh()
                throw error
            }
            // A raw value bypasses the plans, and counts as another program's.
            switch command {
            case .raw, .moveRaw: controls.read(device)
            default:
                controls.settle(plan, device)
                let noted = held
                if !controls.mayMeter {
                    // A compensation leaves the exposure to the camera.
                    if controls.isMetering, !controls.isExposureByHand { endMetering() }
                    (controls.isMetering, controls.metered) = (false, 0)
                }
                if controls.isMetering { held.keep(exposure) }
                held.forget(
                    device.filter { !controls.isMetering || $0.purpose?.isExposure != true },
                    except: controls.manual.lock
                )
                if held != noted { record() }
                if isStreaming { for name in plan.image where name.moves { turn(name) } }
            }
            for purpose in drives.keys { see(purpose) }
            return plan
        }

        /// Sets the image controls of `plan` that do not move, or puts them back. What a camera
        /// refuses of those that are restored stays as it is.
        private func writeImage(
            _ plan: ControlPlan,
            isRestored: Bool
        ) throws(ControlRefusal) {
            guard isStreaming, let port else { return }
            let before = held
            var writes: [ControlWrite] = []
            for name in plan.image where !name.moves {
                guard let control = controls.control(for: .image(name)) else { continue }
                if let value = plan.manual.image[name] {
                    writes.append(ControlWrite(control, value))
                    held.note(writes[writes.count - 1], over: [control])
                } else {
                    writes += held.release([control])
                    held.forget(ControlWrite(control, control.value))
                }
            }
            if held != before { record() }
            for write in writes {
                do throws(ControlRefusal) { try port.write(write) } catch {
                    held.forget(write, as: before)
                    record()
                    if !isRestored { throw error }
                }
            }
        }

        /// Puts back what a plan that failed has written of `writes` to a camera that reported
        /// `found` before, and holds again what was held `before`. What is locked already stays.
        private func undo(
            _ writes: [ControlWrite],
            over found: [DeviceControl],
            _ before: HeldControls
        ) {
            guard !writes.isEmpty else { return }
            for write in writes.reversed() {
                guard isWritten(write), let control = found.first(where: { $0.id == write.id })
                else {
                    held.forget(write, as: before)
                    continue
                }
                let subject = control.purpose?.lockSubject
                if let subject, controls.manual.lock.subjects.contains(subject) { continue }
                // A camera that is gone has it still.
                guard (try? port?.write(ControlWrite(control, control.value))) != nil else {
                    continue
                }
                held.forget(write, as: before)
            }
            record()
        }

        /// Returns `true` if the camera has taken `write`.
        private func isWritten(_ write: ControlWrite) -> Bool {
            guard let port else { return true }
            var device = controls.device
            guard (try? port.update(&device) { $0.id == write.id }) != nil else { return true }
            return device.contains { $0.id == write.id && $0.value == write.value }
        }

        private func refresh(all: Bool = false) throws(ControlRefusal) {
            do throws(ControlRefusal) {
                try read { all || $0.purpose != nil }
            } catch {
                close()
                throw error
            }
        }

        /// Reads the controls for which `matters` returns `true`.
        private func read(_ matters: (DeviceControl) -> Bool) throws(ControlRefusal) {
            guard let port else { return }
            let (now, before) = (MonotonicClock.now, controls.magnification)
            var device = controls.device
            try port.update(&device, where: matters)
            controls.read(device)
            if controls.magnification != before { controls.zoomTime = now }
            for purpose in drives.keys { see(purpose) }
        }

        /// Reads the controls, and reports a change.
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

        /// Arms the next reading while displayed values may change without an event.
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
