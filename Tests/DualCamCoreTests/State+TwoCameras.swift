import DualCamCore
import Frames

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

    /// Has a consumer take frames of both cameras, which deliver.
    mutating func stream() {
        for role in Role.allCases { send(.identified(role, "\(role)"), .assigned(role)) }
        send(.stream(.start), .published, .consumed(true))
        for role in Role.allCases { send(.streaming(role)) }
    }

    /// Returns what is drawn at `seconds`, from below to above.
    func layers(at seconds: Double) -> [Layer] {
        state.scene.scene(at: Timestamp(seconds: seconds)).layers
    }
}

extension SceneState {
    /// The scene of both cameras.
    static func both(_ canvas: Size, _ style: SceneStyle = SceneStyle()) -> SceneState {
        SceneState(canvas: canvas, style: style, present: PerRole(back: true, front: true))
    }
}

extension Scene {
    /// The layers, from below to above.
    var layers: [Layer] { (0..<count).map { self[$0] } }
}

extension CaptureMode {
    static let usual = CaptureMode(size: Size(width: 1280, height: 720), rate: 30, format: .yuyv)
}

extension Lens {
    /// A lens that is a device of its own, by its name.
    init(_ name: String, _ factor: Double, device: String? = nil, isThere: Bool = true) {
        let own = device ?? name
        self.init(name: name, factor: factor, device: own, deviceFactor: factor, isThere: isThere)
    }
}

extension Effect {
    static func close(_ role: Role) -> Effect { .closeCamera(role, keepsPicture: false) }
}

extension Event {
    static let published = Event.node(nil, .published(id: 7))
    static let withdrawn = Event.node(nil, .withdrawn)
    static let graceOver = Event.node(nil, .graceOver)

    static func consumed(_ isConsumed: Bool) -> Event { .node(nil, .consumed(isConsumed)) }

    static func assigned(_ role: Role, _ name: String? = "A camera") -> Event {
        .camera(role, .assigned(name: name))
    }

    static func identified(_ role: Role, _ identity: String) -> Event {
        .camera(role, .identified(identity))
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
