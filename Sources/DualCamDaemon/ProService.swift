import Control
import DBusKit
import DualCamCore
import Engine

/// Pro mode and the cameras' controls on the session bus.
@MainActor
final class ProService {
    private let daemon: Daemon
    private let server: ObjectServer

    /// Exports the interfaces on `server`, with the state of `daemon` as of each `refresh`.
    init(_ daemon: Daemon, on server: ObjectServer) {
        self.daemon = daemon
        self.server = server
        server.export(.pro, at: DualCam.path, properties: proProperties) {
            [unowned self] in
            stepDial($0)
        } onWrite: { [unowned self] in
            writePro($0)
        }
        for role in Role.allCases {
            server.export(.controls, at: path(role), properties: properties(of: role)) {
                [unowned self] in
                call($0, role)
            }
        }
    }

    private func path(_ role: Role) -> ObjectPath {
        role == .back ? DualCam.backPath : DualCam.frontPath
    }

    // MARK: Properties

    /// Updates the properties to the present state.
    func refresh() {
        server.set(proProperties, of: .pro, at: DualCam.path)
        for role in Role.allCases {
            server.set(properties(of: role), of: .controls, at: path(role))
        }
    }

    private var proProperties: [String: Value] {
        let pro = daemon.state.pro
        return ["Enabled": .boolean(pro.isEnabled), "Dial": .string(pro.dial.rawValue)]
    }

    private func properties(of role: Role) -> [String: Value] {
        let camera = daemon.state.cameras[role]
        let controls = camera.controls
        return [
            "Iso": .uint32(UInt32(clamping: controls.iso ?? 0)),
            "IsoAuto": .boolean(controls.isISOAutomatic),
            "IsoApproximate": .boolean(controls.isISOApproximate),
            "IsoStops": .array(
                controls.isoStops.map { .uint32(UInt32(clamping: $0)) },
                of: .uint32
            ),
            "Shutter": .uint64(UInt64(clamping: controls.shutter ?? 0)),
            "ShutterText": .string(controls.shutter.map(Stops.shutterText) ?? ""),
            "ShutterStops": .array(
                controls.shutterStops.map { .uint64(UInt64(clamping: $0)) },
                of: .uint64
            ),
            "ExposureAuto": .boolean(controls.isExposureAutomatic),
            "Aperture": .double(camera.aperture),
            "Focus": .double(controls.focus ?? 0),
            "FocusText": .string(controls.focus.map(Stops.focusText) ?? ""),
            "FocusAuto": .boolean(controls.isFocusAutomatic),
            "WhiteBalance": .string(controls.whiteBalance.word),
            "Kelvin": .uint32(UInt32(clamping: controls.kelvin ?? 0)),
            "KelvinRange": .structure([
                .uint32(UInt32(clamping: Stops.kelvin.lowerBound)),
                .uint32(UInt32(clamping: Stops.kelvin.upperBound)),
            ]),
            "Compensation": .double(controls.manual.compensation),
            "Software": .strings(controls.software),
        ]
    }

    // MARK: Pro

    private func writePro(_ write: PropertyWrite) {
        switch write.property {
        case "Enabled":
            daemon.setPro(write.value.boolean ?? false) { refusals in
                guard !refusals.isEmpty else { return write.accept() }
                let cameras = Role.allCases.compactMap { role in
                    refusals[role].map { "the \(role.rawValue) camera: \($0.reason)" }
                }
                write.refuse(
                    .failed(
                        "Pro mode is off, but not every value is automatic again; "
                            + cameras.joined(separator: "; ")
                    )
                )
            }
        case "Dial":
            let word = write.value.string ?? ""
            guard let dial = Dial(rawValue: word) else {
                let words = Dial.allCases.map(\.rawValue).joined(separator: ", ")
                write.refuse(
                    .outOfRange("Dial is \"\(word.prefix(64))\", expected one of \(words)")
                )
                return
            }
            // The camera's controls may not be known yet. A camera that cannot be asked may have
            // the control.
            daemon.perform(.look, daemon.state.scene.main) { [self] result in
                if case .success(let outcome) = result {
                    do throws(ControlRefusal) { try outcome.controls.need(dial) } catch {
                        return write.refuse(DBusError(error, isThere: true))
                    }
                }
                daemon.send(.pro(.setDial(dial)))
                daemon.whenShown { write.accept() }
            }
        default: preconditionFailure("\(write.property) is declared and not written")
        }
    }

    private func stepDial(_ call: Invocation) {
        let clicks = call.arguments.first?.integer ?? 0
        var role = daemon.state.scene.main
        if let word = call.options["camera"]?.string {
            guard let named = Role(rawValue: word) else {
                return call.fail(
                    .outOfRange("camera is \"\(word.prefix(64))\", expected back, front")
                )
            }
            role = named
        }
        let dial = daemon.state.pro.dial
        let command: ControlCommand =
            switch dial {
            case .iso: .stepISO(clicks)
            case .shutter: .stepShutter(clicks)
            case .focus: .stepFocus(clicks)
            case .whiteBalance: .stepKelvin(clicks)
            }
        perform(command, role, call) { outcome in
            let controls = outcome.controls
            let text =
                switch dial {
                case .iso: controls.iso.map(String.init)
                case .shutter: controls.shutter.map(Stops.shutterText)
                case .focus: controls.focus.map(Stops.focusText)
                case .whiteBalance: controls.kelvin.map { "\($0) K" }
                }
            call.reply(.string(text ?? ""), .boolean(outcome.limit != nil))
        }
    }

    // MARK: Controls

    private func call(_ call: Invocation, _ role: Role) {
        let first = call.arguments.first
        let number = first?.integer ?? 0
        func limited(
            _ value: @escaping (CameraControls) -> Value
        ) -> (ControlThread.Outcome) -> Void {
            { call.reply(value($0.controls), .boolean($0.limit != nil)) }
        }
        let done: (ControlThread.Outcome) -> Void = { _ in call.reply() }
        switch call.member {
        case "SetIso": perform(.iso(number), role, call, done)
        case "StepIso":
            perform(
                .stepISO(number),
                role,
                call,
                limited { .uint32(UInt32(clamping: $0.iso ?? 0)) }
            )
        case "SetShutter":
            if case .uint64(let time)? = first {
                perform(.shutter(Int(clamping: min(time, 1 << 40))), role, call, done)
            }
        case "StepShutter":
            perform(
                .stepShutter(number),
                role,
                call,
                limited { .uint64(UInt64(clamping: $0.shutter ?? 0)) }
            )
        case "SetFocus": perform(.focus(first?.double ?? .nan), role, call, done)
        case "StepFocus":
            perform(.stepFocus(number), role, call, limited { .double($0.focus ?? 0) })
        case "SetWhiteBalance":
            let word = first?.string ?? ""
            guard let balance = WhiteBalance(word: word) else {
                let words = WhiteBalance.words.joined(separator: ", ")
                return call.fail(
                    .outOfRange("white balance \"\(word.prefix(64))\", expected one of \(words)")
                )
            }
            perform(.whiteBalance(balance), role, call, done)
        case "SetKelvin": perform(.whiteBalance(.kelvin(number)), role, call, done)
        case "StepKelvin":
            perform(
                .stepKelvin(number),
                role,
                call,
                limited { .uint32(UInt32(clamping: $0.kelvin ?? 0)) }
            )
        case "SetCompensation": perform(.compensation(first?.double ?? .nan), role, call, done)
        case "SetAuto":
            var dials: Set<Dial> = []
            for word in first?.array?.compactMap(\.string) ?? [] {
                guard let dial = Dial(rawValue: word) else {
                    let words = Dial.allCases.map(\.rawValue).joined(separator: ", ")
                    return call.fail(
                        .outOfRange("dial \"\(word.prefix(64))\", expected some of \(words)")
                    )
                }
                dials.insert(dial)
            }
            perform(.automatic(dials), role, call, done)
        case "ListRaw":
            perform(.look, role, call) { outcome in
                call.reply(
                    .array(outcome.controls.device.map(\.row), of: "(ssiiiiu)")
                )
            }
        case "DescribeRaw":
            let name = first?.string ?? ""
            perform(.look, role, call) { outcome in
                guard let control = outcome.controls.device.first(where: { $0.name == name }) else {
                    return call.fail(
                        .notSupported("The camera has no control \"\(name.prefix(64))\".")
                    )
                }
                call.reply(.named(control.description))
            }
        case "SetRaw":
            let value = call.arguments.count > 1 ? call.arguments[1].integer ?? 0 : 0
            perform(.raw(first?.string ?? "", value), role, call, done)
        default: preconditionFailure("\(call.member) is declared and not answered")
        }
    }

    /// Performs `command`, then calls `done` with the outcome, or fails the call.
    private func perform(
        _ command: ControlCommand,
        _ role: Role,
        _ call: Invocation,
        _ done: @escaping (ControlThread.Outcome) -> Void
    ) {
        daemon.perform(command, role) { [self] result in
            switch result {
            case .success(let outcome):
                if let limit = outcome.limit, let dial = command.dial {
                    server.emit(
                        "LimitReached",
                        of: .controls,
                        at: path(role),
                        .string(dial.rawValue),
                        .string(limit.rawValue)
                    )
                }
                done(outcome)
            case .failure(let refusal):
                let isThere = daemon.state.cameras[role].phase != .unavailable
                call.fail(DBusError(refusal, isThere: isThere))
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
            case .failed(.unplugged, let reason): .cameraLost(reason)
            case .failed(.busy, let reason): .busy(reason)
            case .failed(.denied, let reason): .denied(reason)
            case .failed(_, let reason): .failed(reason)
            }
    }
}

extension DeviceControl {
    /// The control as an element of the reply to ListRaw.
    fileprivate var row: Value {
        .structure([
            .string(name), .string(kind.rawValue), .int32(Int32(clamping: range.lowerBound)),
            .int32(Int32(clamping: range.upperBound)), .int32(Int32(clamping: step)),
            .int32(Int32(clamping: value)), .uint32(flags.rawValue),
        ])
    }

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
