import Frames

@testable import DualCamCore

extension State {
    /// Returns the state before anything has started, with a camera per role that was not found
    /// yet.
    static func withTwoCameras(
        on canvas: Size = Size(width: 1280, height: 720),
        mirrored: PerRole<Bool> = PerRole(back: false, front: true)
    ) -> State {
        State(
            canvas: canvas,
            style: SceneStyle(),
            cameras: PerRole(
                back: CameraState(source: .auto, mirror: mirrored.back, rotation: 0),
                front: CameraState(source: .auto, mirror: mirrored.front, rotation: 0)
            )
        )
    }

    func perspective(of role: Role) -> Perspective? { settings.cameras[role].perspective }

    /// Applies `events` at `seconds`, and returns their effects.
    @discardableResult
    mutating func take(_ events: Event..., at seconds: Double = 0) -> [Effect] {
        events.flatMap { reduce(&self, $0, at: Timestamp(seconds: seconds)) }
    }
}

/// A suite of tests that give events to one state.
protocol Reducing {
    var state: State { get set }
}

extension Reducing {
    /// The mode in which cameras deliver.
    var mode: CaptureMode { .usual }

    /// Applies `events` at `seconds`, and returns their effects.
    @discardableResult
    mutating func send(_ events: Event..., at seconds: Double = 0) -> [Effect] {
        events.flatMap { state.take($0, at: seconds) }
    }

    /// Applies `events`, and returns for each what has to be passed on and done.
    @discardableResult
    mutating func pass(_ events: Event..., at seconds: Double = 0) -> [[Update]] {
        events.map { event in
            let before = state
            state.take(event, at: seconds)
            return state.updates(after: event, from: before)
        }
    }

    mutating func stream() {
        for role in Role.allCases { send(.assigned(role)) }
        send(.stream(.start), .published, .consumed(true))
        for role in Role.allCases { send(.streaming(role)) }
    }

    /// Has the back camera `own` these lenses, and udev list its own device and those of all that
    /// are there, but for its own if not `isThere`.
    @discardableResult
    mutating func find(
        _ lenses: [Lens],
        own: String = "back",
        isThere: Bool = true,
        at seconds: Double = 0
    ) -> [Effect] {
        state.search.cameras.back.lenses = lenses.map {
            Configuration.LensSettings(
                name: $0.name,
                factor: $0.factor,
                source: $0.device == own ? nil : .v4l2($0.device)
            )
        }
        let others = lenses.filter { $0.isThere && $0.device != own }.map(\.device)
        let devices = ((isThere ? [own] : []) + others).map {
            CameraDevice(path: $0, name: "Desk", identity: $0, orientation: .back)
        }
        return state.take(.cameras(.found(devices, from: .udev)), at: seconds)
    }

    func layers(at seconds: Double) -> [Layer] {
        state.scene.scene(at: Timestamp(seconds: seconds)).layers
    }
}

extension SceneState {
    static func both(_ canvas: Size, _ style: SceneStyle = SceneStyle()) -> SceneState {
        SceneState(canvas: canvas, style: style, present: PerRole(back: true, front: true))
    }
}

extension Scene {
    var layers: [Layer] { (0..<count).map { self[$0] } }
}

extension CaptureMode {
    static let usual = CaptureMode(size: Size(width: 1280, height: 720), rate: 30, format: .yuyv)
}

extension Lens {
    init(_ name: String, _ factor: Double, device: String? = nil, isThere: Bool = true) {
        let own = device ?? name
        self.init(name: name, factor: factor, device: own, deviceFactor: factor, isThere: isThere)
    }
}

extension CamerasEvent.Finder {
    static let udev = CamerasEvent.Finder.kernel(isWhole: true)
}

extension Effect {
    static func close(_ role: Role) -> Effect { .closeCamera(role, keepsPicture: false) }
}

extension Event {
    static let published = Event.node(nil, .published(id: 7))
    static let withdrawn = Event.node(nil, .withdrawn)
    static let graceOver = Event.node(nil, .graceOver)

    static func consumed(_ isConsumed: Bool) -> Event { .node(nil, .consumed(isConsumed)) }

    /// A camera that suits `role` is there, alone in the list of udev for the back one, in that of
    /// PipeWire for the front one; `nil`: none that `auto` takes.
    static func assigned(
        _ role: Role,
        _ name: String? = "A camera",
        id: String? = nil,
        path: String = "/dev/video0"
    ) -> Event {
        let device = CameraDevice(
            path: path,
            name: name ?? "",
            identity: id ?? role.rawValue,
            orientation: role == .back ? .back : .front,
            refusal: name == nil ? .noPictures : nil
        )
        let finder = role == .back ? CamerasEvent.Finder.udev : .pipeWire(names: [])
        return .cameras(.found([device], from: finder))
    }

    static func streaming(
        _ role: Role,
        _ mode: CaptureMode = .usual,
        insteadOf wanted: CaptureMode? = nil
    ) -> Event {
        .camera(role, .streaming(mode, insteadOf: wanted))
    }

    static func lensStreaming(_ role: Role) -> Event {
        .lens(role, .streaming(.usual, insteadOf: nil))
    }

    static func interrupted(_ role: Role, _ why: Interruption) -> Event {
        .camera(role, .interrupted(why, reason: "gone"))
    }

    /// The event that begins or ends the suspension `why`, and has no further effect.
    static func suspension(_ why: Suspension, _ isOn: Bool) -> Event {
        switch why {
        case .privacy: .privacy(isOn ? .reading : .read(false))
        case .locked: .session(.covered(isOn))
        case .asleep: .session(.sleeping(isOn))
        }
    }
}
