import Control
import DBusKit
import DualCamCore
import Engine

/// Pro mode and the cameras' controls on the session bus.
@MainActor
final class ProService {
    private let daemon: Daemon
    private let look: CameraLook
    private let server: ObjectServer

    init(_ daemon: Daemon, _ look: CameraLook, on server: ObjectServer) {
        (self.daemon, self.look) = (daemon, look)
        self.server = server
        server.export(ProInterface.self, at: DualCam.path) { [unowned self] in showPro($0) }
        for role in Role.allCases {
            server.export(ControlsInterface.self, at: role.path) { [unowned self] controls in
                showValues(of: role, controls)
                answerSteps(of: role, controls)
                answerSettings(of: role, controls)
                answerRaw(of: role, controls)
            }
        }
    }

    // MARK: Pro

    private func showPro(_ pro: Handlers<ProInterface>) {
        let daemon = daemon
        pro.get(\.enabled) { daemon.state.pro.isEnabled }
        func turn(_ isOn: Bool, _ done: @escaping (DBusError?) -> Void) {
            daemon.setPro(isOn) { refusals in
                guard !refusals.isEmpty else { return done(nil) }
                let cameras = Role.allCases.compactMap { role in
                    refusals[role].map { "the \(role.rawValue) camera: \($0.reason)" }
                }
                done(
                    .failed(
                        "Pro mode is off, but not every value is automatic again; "
                            + cameras.joined(separator: "; ")
                    )
                )
            }
        }
        pro.setLater(\.enabled) { write in
            turn(write.value) { error in
                if let error { write.refuse(error) } else { write.accept() }
            }
        }
        pro.step(\.enabled) { step throws(DBusError) in
            _ = try step.turns
            turn(!daemon.state.pro.isEnabled) { error in
                if let error { step.refuse(error) } else { step.accept() }
            }
        }
        pro.get(\.dial) { daemon.state.dial.rawValue }
        pro.setLater(\.dial) { [unowned self] write throws(DBusError) in
            select(try choice("Dial", write.value), write)
        }
        pro.answer(\.stepDial) { [unowned self] call throws(DBusError) in try stepDial(call) }
    }

    private func lock(
        _ subjects: Set<ControlLock.Subject>,
        _ role: Role,
        _ call: Call<[String], NoOptions, Void>
    ) {
        look.open(role, "nothing to lock") { [self] error in
            if let error { return call.fail(error) }
            daemon.send(.scenes(.lockChosen(role)))
            perform(.lock(subjects), role, call) { _ in call.reply() }
        }
    }

    private func select(_ dial: Dial, _ write: Write<String>) {
        // Its controls may not be known yet; a camera that cannot be asked may have this one.
        daemon.perform(.look, daemon.state.scene.main) { [self] result in
            if case .success(let outcome) = result {
                do throws(ControlRefusal) { try outcome.controls.need(dial) } catch {
                    return write.refuse(DBusError(error, isThere: true))
                }
            }
            daemon.send(.pro(.setDial(dial)))
            daemon.whenShown { write.accept() }
        }
    }

    private func stepDial(
        _ call: Call<Int32, ProInterface.Step, (String, Bool)>
    ) throws(DBusError) {
        let clicks = Int(call.arguments)
        var role = daemon.state.scene.main
        if let word = call.options.camera { role = try choice("Camera", word) }
        let dial = daemon.state.dial
        let command: ControlCommand =
            switch dial {
            case .iso: .stepISO(clicks)
            case .shutter: .stepShutter(clicks)
            case .focus: .stepFocus(clicks)
            case .whiteBalance: .stepKelvin(clicks)
            }
        perform(command, role, call) { outcome in
            call.reply((outcome.controls.text(of: dial) ?? "", outcome.limit != nil))
        }
    }

    // MARK: Controls

    private func showValues(of role: Role, _ handlers: Handlers<ControlsInterface>) {
        let daemon = daemon
        var controls: CameraControls { daemon.state.cameras[role].controls }
        handlers.get(\.iso) { UInt32(clamping: controls.iso ?? 0) }
        handlers.get(\.isoAuto) { controls.isISOAutomatic }
        handlers.get(\.isoApproximate) { controls.isISOApproximate }
        handlers.get(\.isoStops) { controls.isoStops.map { UInt32(clamping: $0) } }
        handlers.get(\.shutter) { UInt64(clamping: controls.shutter ?? 0) }
        handlers.get(\.shutterText) { controls.shutter.map(Stops.shutterText) ?? "" }
        handlers.get(\.shutterStops) { controls.shutterStops.map { UInt64(clamping: $0) } }
        handlers.get(\.exposureAuto) { controls.isExposureAutomatic }
        handlers.get(\.aperture) { daemon.state.cameras[role].aperture }
        handlers.get(\.focus) { controls.focus ?? 0 }
        handlers.get(\.focusText) { controls.focus.map(Stops.focusText) ?? "" }
        handlers.get(\.focusAuto) { controls.isFocusAutomatic }
        handlers.get(\.whiteBalance) { controls.whiteBalance.word }
        handlers.get(\.kelvin) { UInt32(clamping: controls.kelvin ?? 0) }
        handlers.get(\.kelvinRange) {
            Pair(
                UInt32(clamping: Stops.kelvin.lowerBound),
                UInt32(clamping: Stops.kelvin.upperBound)
            )
        }
        handlers.get(\.compensation) { controls.manual.compensation }
        handlers.get(\.software) { controls.software }
        handlers.get(\.locked) { controls.manual.lock.subjects.map(\.rawValue) }
        handlers.get(\.image) {
            controls.image.map { name, control in
                control.description.merging([
                    "name": .string(name.rawValue),
                    "wanted": .boolean(controls.wanted(name) != nil),
                ]) { $1 }
            }
        }
    }

    private func answerSettings(of role: Role, _ controls: Handlers<ControlsInterface>) {
        func set<Argument>(
            _ method: KeyPath<ControlsInterface, MethodMember<Argument, NoOptions, Void>>,
            _ command: @escaping (Argument) throws(DBusError) -> ControlCommand
        ) {
            controls.answer(method) { [unowned self] call throws(DBusError) in
                perform(try command(call.arguments), role, call) { _ in call.reply() }
            }
        }
        set(\.setISO) { .iso(Int($0)) }
        // Anything above is refused as out of range in any case.
        set(\.setShutter) { .shutter(Int(min($0, 1 << 40))) }
        set(\.setFocus) { .focus($0) }
        set(\.setWhiteBalance) { word throws(DBusError) in
            guard let balance = WhiteBalance(word: word) else {
                throw .outOfRange("The white balance", word, expecting: WhiteBalance.words)
            }
            return .whiteBalance(balance)
        }
        set(\.setKelvin) { .whiteBalance(.kelvin(Int($0))) }
        controls.answer(\.setCompensation) { [unowned self] call in
            let (stops, isRelative) = (call.arguments, call.options.relative ?? false)
            let command: ControlCommand =
                isRelative && stops.isFinite ? .moveCompensation(stops) : .compensation(stops)
            perform(command, role, call) { _ in call.reply() }
        }
        set(\.setAuto) { words throws(DBusError) in
            var dials: Set<Dial> = []
            for word in words { dials.insert(try choice("A dial", word)) }
            return .automatic(dials)
        }
        controls.answer(\.lock) { [unowned self] call throws(DBusError) in
            var subjects: Set<ControlLock.Subject> = []
            for word in call.arguments { subjects.insert(try choice("The value to lock", word)) }
            lock(subjects, role, call)
        }
        controls.answer(\.unlock) { [unowned self] call in
            daemon.send(.scenes(.lockChosen(role)))
            perform(.unlock, role, call) { _ in call.reply() }
        }
        controls.answer(\.setImage) { [unowned self] call throws(DBusError) in
            let (name, value): (ImageControl, Int) = (
                try choice("The name", call.arguments.0), Int(call.arguments.1)
            )
            let command: ControlCommand =
                call.options.relative ?? false
                ? .moveImage(name, value) : .image(name, call.options.auto ?? false ? nil : value)
            perform(command, role, call) { outcome in
                let now = outcome.controls.image.first { $0.name == name }?.control.value
                call.reply((Int32(clamping: now ?? 0), outcome.limit != nil))
            }
        }
        controls.answer(\.setRaw) { [unowned self] call in
            let (name, value) = (call.arguments.0, Int(call.arguments.1))
            let isRelative = call.options.relative ?? false
            perform(isRelative ? .moveRaw(name, value) : .raw(name, value), role, call) { _ in
                call.reply()
            }
        }
    }

    private func answerSteps(of role: Role, _ controls: Handlers<ControlsInterface>) {
        func step<Result>(
            _ method: KeyPath<ControlsInterface, MethodMember<Int32, NoOptions, (Result, Bool)>>,
            _ command: @escaping (Int) -> ControlCommand,
            _ value: @escaping (CameraControls) -> Result
        ) {
            controls.answer(method) { [unowned self] call in
                perform(command(Int(call.arguments)), role, call) { outcome in
                    call.reply((value(outcome.controls), outcome.limit != nil))
                }
            }
        }
        func move<Content>(
            _ property: KeyPath<ControlsInterface, PropertyMember<Content>>,
            _ command: @escaping (Step) throws(DBusError) -> ControlCommand
        ) {
            controls.step(property) { [unowned self] step throws(DBusError) in
                perform(try command(step), role) { result in
                    switch result {
                    case .success(let outcome): step.accept(isLimited: outcome.limit != nil)
                    case .failure(let error): step.refuse(error)
                    }
                }
            }
        }
        // As on the dials: in third stops.
        move(\.iso) { step throws(DBusError) in .stepISO(try step.turns) }
        move(\.shutter) { step throws(DBusError) in .stepShutter(try step.turns) }
        move(\.focus) { step throws(DBusError) in .moveFocus(try step.number) }
        move(\.kelvin) { step throws(DBusError) in
            .moveKelvin(Int(max(-1e6, min(1e6, try step.number))))
        }
        move(\.compensation) { step throws(DBusError) in .moveCompensation(try step.number) }
        step(\.stepISO, ControlCommand.stepISO) { UInt32(clamping: $0.iso ?? 0) }
        step(\.stepShutter, ControlCommand.stepShutter) { UInt64(clamping: $0.shutter ?? 0) }
        step(\.stepFocus, ControlCommand.stepFocus) { $0.focus ?? 0 }
        step(\.stepKelvin, ControlCommand.stepKelvin) { UInt32(clamping: $0.kelvin ?? 0) }
    }

    private func answerRaw(of role: Role, _ controls: Handlers<ControlsInterface>) {
        controls.answer(\.listRaw) { [unowned self] call in
            perform(.look, role, call) { outcome in
                call.reply(outcome.controls.device.map { RawControl($0) })
            }
        }
        controls.answer(\.describeRaw) { [unowned self] call in
            let name = call.arguments
            perform(.look, role, call) { outcome in
                guard let control = outcome.controls.device.first(where: { $0.name == name }) else {
                    return call.fail(
                        .notSupported("The camera has no control “\(name.prefix(64))”.")
                    )
                }
                call.reply(control.description)
            }
        }
    }

    /// Performs `command`, then calls `done` with the outcome, or fails the call.
    private func perform<Arguments, Known, Results>(
        _ command: ControlCommand,
        _ role: Role,
        _ call: Call<Arguments, Known, Results>,
        _ done: @escaping (ControlThread.Outcome) -> Void
    ) {
        perform(command, role) { result in
            switch result {
            case .success(let outcome): done(outcome)
            case .failure(let error): call.fail(error)
            }
        }
    }

    /// Performs `command`, then calls `done` with the outcome or the error.
    private func perform(
        _ command: ControlCommand,
        _ role: Role,
        _ done: @escaping (Result<ControlThread.Outcome, DBusError>) -> Void
    ) {
        daemon.perform(command, role) { [self] result in
            switch result {
            case .success(let outcome):
                if let limit = outcome.limit, let dial = command.dial {
                    server.emit(
                        \ControlsInterface.limitReached,
                        at: role.path,
                        (dial.rawValue, limit.rawValue)
                    )
                }
                done(.success(outcome))
            case .failure(let refusal):
                let isThere = daemon.state.cameras[role].phase != .unavailable
                done(.failure(DBusError(refusal, isThere: isThere)))
            }
        }
    }
}

extension DBusError {
    /// Creates the bus error for a refusal, for a camera that is there or not.
    init(_ refusal: ControlRefusal, isThere: Bool) {
        self =
            switch refusal {
            case .notSupported(let reason): .notSupported(reason)
            case .outOfRange(let reason): .outOfRange(reason)
            case .failed(_, let reason) where !isThere: .noCamera(reason)
            case .failed(.unplugged, let reason), .failed(.notFound, let reason):
                .cameraLost(reason)
            case .failed(.busy, let reason): .busy(reason)
            case .failed(.denied, let reason): .denied(reason)
            case .failed(_, let reason): .failed(reason)
            }
    }
}

extension DeviceControl {
    /// The control as the reply to DescribeRaw.
    fileprivate var description: [String: Value] {
        var description: [String: Value] = [
            "title": .string(title), "type": .string(kind.rawValue),
            "minimum": .int32(Int32(clamping: range.lowerBound)),
            "maximum": .int32(Int32(clamping: range.upperBound)),
            "step": .int32(Int32(clamping: step)), "default": .int32(Int32(clamping: initial)),
            "value": .int32(Int32(clamping: value)), "flags": .uint32(flags.rawValue),
        ]
        if !menu.isEmpty {
            var items: [Value: Value] = [:]
            for item in menu { items[.int32(Int32(clamping: item.index))] = .string(item.name) }
            description["menu"] = .dictionary(items, key: .int32, value: .string)
        }
        return description
    }
}
