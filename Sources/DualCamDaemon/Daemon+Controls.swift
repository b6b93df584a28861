import DualCamCore
import Engine
import Glibc
import Logging
import Platform

extension Daemon {
    /// Passes the present control settings of `role` to the thread of the device that is shown.
    func useControls(_ role: Role) {
        let camera = state.cameras[role]
        let (lens, zoom) = (camera.lens, state.zoomRequest(role))
        useControls(role, lens.pipeline, lens.device, camera.controls, camera.mode, zoom)
    }

    /// Passes the same settings to the thread of the incoming device of `role`.
    func useIncomingControls(_ role: Role) {
        let lens = state.cameras[role].lens
        guard let incoming = lens.incoming else { return }
        let (pipeline, zoom) = (lens.pipeline.other, state.incomingZoomRequest(role))
        useControls(role, pipeline, incoming.device, incoming.controls, incoming.mode, zoom)
    }

    private func useControls(
        _ role: Role,
        _ pipeline: CapturePipeline,
        _ device: String,
        _ wanted: CameraControls,
        _ mode: CaptureMode?,
        _ zoom: ZoomRequest?
    ) {
        var use = ControlThread.Use(
            source: sources[role][device],
            controls: wanted,
            isStreaming: mode != nil,
            isShown: state.showsControls,
            zoom: zoom
        )
        use.controls.settings.metersFace = state.cameras[role].metering == .face
        use.controls.settings.transition = state.scene.style.swapDuration
        use.controls.settings.frameRate = mode?.knownRate ?? Double(configuration.output.frameRate)
        controls?[role][pipeline].use(use)
    }

    /// Performs `command` on the controls of `role`. `done` gets the outcome once it is shown.
    func perform(
        _ command: ControlCommand,
        _ role: Role,
        done: @escaping @MainActor (Result<ControlThread.Outcome, ControlRefusal>) -> Void
    ) {
        guard let controls else {
            return done(.failure(.failed(.stalled, "The daemon is starting.")))
        }
        let mailbox = loop.mailbox
        let lens = state.cameras[role].lens
        // The incoming lens gets the same command, but never a focus: each lens has its own.
        if lens.incoming?.mode != nil, command.isForAllLenses {
            controls[role][lens.pipeline.other].perform(command) { result in
                guard case .success(let outcome) = result else { return }
                mailbox.onMain {
                    self.send(
                        .controls(role, .read(identity: outcome.identity, outcome.controls))
                    )
                }
            }
        }
        controls[role][lens.pipeline].perform(command) { result in
            mailbox.onMain {
                if case .success(let outcome) = result {
                    self.send(
                        .controls(role, .read(identity: outcome.identity, outcome.controls))
                    )
                    if let dial = command.dial {
                        self.send(.controls(role, .dialTurned(dial, limit: outcome.limit)))
                    }
                }
                self.whenShown { done(result) }
            }
        }
    }

    /// Performs a command of the scene called `scene` on `role`, and notes a camera's refusal.
    func perform(_ part: SceneCommand, _ role: Role, of scene: String) {
        perform(part.command, role) { [unowned self] result in
            guard case .failure(let refusal) = result else { return }
            Log.control.warning(
                "scene",
                metadata: ["key": "\(part.key)", "reason": "\(refusal.reason)"]
            )
            send(.scenes(.refusedLate([part.key: refusal.reason], of: scene)))
        }
    }

    /// Returns `true` if the camera's torch is on, or `nil` if it has none.
    func torch(of role: Role) -> Bool? {
        if let name = configuration.cameras[role].torch { return LED(name).isOn }
        return state.cameras[role].controls.torch
    }

    /// Turns off the LED that is a camera's torch when the camera closes.
    func turnTorchOff(_ role: Role) {
        guard let name = configuration.cameras[role].torch, LED(name).isOn == true else { return }
        do throws(SystemError) {
            try LED(name).turn(on: false)
        } catch {
            Log.control.warning("the torch stays lit", metadata: ["reason": "\(error)"])
        }
    }

    /// Turns off all torches, also of closed cameras, since nobody may be filmed now.
    func turnTorchesOff() {
        for role in Role.allCases {
            turnTorchOff(role)
            if state.cameras[role].controls.torch == true { perform(.torch(false), role) { _ in } }
        }
    }

    /// Turns a camera's torch on or off, or for `nil` to the other, then calls `done` with the
    /// outcome.
    func setTorch(
        _ role: Role,
        _ isOn: Bool?,
        done: @escaping @MainActor (Result<Void, ControlRefusal>) -> Void
    ) {
        guard let name = configuration.cameras[role].torch else {
            let command = isOn.map { ControlCommand.torch($0) } ?? .toggleTorch
            return perform(command, role) { done($0.map { _ in }) }
        }
        do throws(SystemError) {
            try LED(name).turn(on: isOn ?? (LED(name).isOn != true))
            done(.success(()))
        } catch {
            let refusal: ControlRefusal =
                switch error.errno {
                case ENOENT: .notSupported("There is no LED \(name) in /sys/class/leds.")
                case EACCES, EPERM: .failed(.denied, "\(error)")
                default: .failed(.stalled, "\(error)")
                }
            done(.failure(refusal))
        }
    }

    /// Turns Pro mode on or off. Turning it off resets all values to automatic. `done` is called at
    /// the end, with the refusals of the cameras where this failed.
    func setPro(_ isOn: Bool, done: @escaping @MainActor ([Role: ControlRefusal]) -> Void) {
        send(.pro(.setEnabled(isOn)))
        guard !isOn else { return whenShown { done([:]) } }
        var remaining = Role.allCases.count
        var refusals: [Role: ControlRefusal] = [:]
        for role in Role.allCases {
            perform(.reset, role) { result in
                if case .failure(let refusal) = result { refusals[role] = refusal }
                remaining -= 1
                if remaining == 0 { done(refusals) }
            }
        }
    }

    /// Calls `done` once the next output frame shows all changes made so far.
    func whenShown(_ done: @escaping @MainActor () -> Void) {
        guard let frames else { return done() }
        let mailbox = loop.mailbox
        frames.whenShown { mailbox.onMain { done() } }
    }
}
