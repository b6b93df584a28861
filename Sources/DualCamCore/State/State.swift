package import Frames

/// The phase of the stream. The words are those of the D-Bus interface.
package enum StreamPhase: String, Hashable, Sendable {
    /// Not started, or asked to stop.
    case stopped
    /// The node exists, and no consumer takes frames.
    case idle
    /// The node is being published, or a consumer takes frames and the cameras are being opened.
    case starting
    /// The pictures are live.
    case streaming
    /// A consumer takes frames but the main camera does not deliver, or PipeWire itself is missing.
    case interrupted
}

/// The whole state of the daemon. Only `reduce` changes it.
package struct State: Hashable, Sendable {
    /// The scene over time.
    package var scene: SceneState
    /// The cameras, by role.
    package var cameras: PerRole<CameraState>
    /// Pro mode.
    package var pro = Pro()
    /// The manual values of cameras without a role at present, by identity.
    package var manualControls: [String: ManualControls] = [:]
    /// The magnifications of cameras without a role at present, by identity.
    package var zooms: [String: Double] = [:]
    /// `true` while the stream is to exist.
    package var isStarted = false
    /// `true` while a stopped stream still has its node.
    package var isWithdrawing = false
    /// `true` until a stop is complete and announced: no node, and all cameras closed that no
    /// recording needs.
    package var isStopping = false
    /// `true` if a start was requested during a stop.
    package var startsAgain = false
    /// `true` if DidStart was announced since the stream was asked to start.
    package var isAnnounced = false
    /// The PipeWire node's id while it exists.
    package var nodeID: UInt32?
    /// The reason that the node is missing although it should exist; empty otherwise.
    package var nodeProblem = ""
    /// `true` while a consumer takes frames.
    package var isConsumed = false
    /// The number of linked consumers.
    package var consumers = 0
    /// `true` while a consumer takes frames, and for the grace period after that.
    package var needsCameras = false
    /// The time at which cameras began to be needed.
    package var neededSince = Timestamp.zero
    /// The roles being photographed.
    package var photographed: Set<Role> = []
    /// The roles being photographed in their largest mode.
    package var photographedFull: Set<Role> = []
    /// `true` if photographs come with a short movie.
    package var takesLivePhotos = false
    /// The orientation of the device.
    package var orientation = OrientationState()
    /// The recording.
    package var recording = RecordingState()
    /// The reasons that cameras are kept closed even when they are needed.
    package internal(set) var suspensions: Set<Suspension> = []
    /// The privacy that the user asked for.
    package internal(set) var privacy = PrivacyState()
    /// What is known about the lock of the session.
    package internal(set) var lock = SessionLock()
    /// The problems with what the last run stored, one sentence each.
    package internal(set) var storeProblems: [String] = []

    /// The state before the start: cameras as configured, none found yet.
    package init(canvas: Size, style: SceneStyle, cameras: PerRole<CameraState>) {
        scene = SceneState(
            canvas: canvas,
            style: style,
            present: PerRole(back: false, front: false)
        )
        self.cameras = cameras
        for role in Role.allCases { scene.transforms[role] = cameras[role].transform }
    }

    /// The phase of the stream.
    package var streamPhase: StreamPhase {
        guard isStarted else { return .stopped }
        guard nodeID != nil else { return nodeProblem.isEmpty ? .starting : .interrupted }
        guard isConsumed else { return .idle }
        return switch cameras[scene.main].phase {
        case .streaming: .streaming
        case .opening, .closed: .starting
        case .interrupted, .unavailable: .interrupted
        }
    }

    /// `true` while the stream exists, so that its node can be selected.
    package var isActive: Bool { isStarted && nodeID != nil }

    /// `true` while the stream could carry pictures: PipeWire answers, and there is a camera.
    package var isPossible: Bool {
        nodeProblem.isEmpty && Role.allCases.contains { cameras[$0].phase != .unavailable }
    }
}

/// Updates the state for `event` at `time`, and returns the resulting actions. Pure.
package func reduce(_ state: inout State, _ event: Event, at time: Timestamp) -> [Effect] {
    let before = state
    var effects = state.handle(event, at: time)
    effects += state.followConsumers(before, at: time)
    effects += state.keepCameras()
    effects += state.adaptToPhotographs()
    effects += state.followLenses(at: time)
    effects += state.beginRecording(at: time)
    effects += state.useRoom(before)
    state.showCameras(before, at: time)
    state.showControls(at: time)
    effects += state.finishStop()
    return effects
}

extension State {
    /// Passes `event` to the reducer of its subject.
    fileprivate mutating func handle(_ event: Event, at time: Timestamp) -> [Effect] {
        switch event {
        case .stream(let event): return handle(event)
        case .camera(let role, let event): return handle(event, of: role, at: time)
        case .lens(let role, let event): return handle(event, of: role, at: time)
        case .node(nil, let event): return handle(event)
        case .recording(let event): return handle(event, at: time)
        case .session(let event): return handle(event)
        case .privacy(let event): return handle(event)
        case .node(let role?, let event): handle(event, of: role)
        case .scene(let event): handle(event, at: time)
        case .controls(let role, let event): handle(event, of: role, at: time)
        case .pro(let event): handle(event, at: time)
        case .photographs(let event): handle(event, at: time)
        case .orientation(let event): handle(event)
        case .stored(let problems): storeProblems = problems
        }
        return []
    }
}
