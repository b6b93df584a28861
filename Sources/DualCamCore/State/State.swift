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
    /// The mirroring and rotation of cameras without a role at present, by identity, where they are
    /// not as configured.
    package var mountings: [String: Kept<Mounting>] = [:]
    /// `true` or `false` for cameras without a role at present whose picture is graded for paper,
    /// or not, by identity, where that is not as configured.
    package var inks: [String: Kept<Bool>] = [:]
    /// The perspectives of cameras without a role at present, by identity, where they are not as
    /// configured: corners in the picture of lens "wide" as its camera delivers it.
    package var perspectives: [String: Kept<Perspective?>] = [:]
    /// The configured values of all that commands change.
    package internal(set) var configured: ConfiguredSettings
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
    /// The programs that are linked to the nodes, in the order in which they came. Known a moment
    /// later than their number.
    package var viewers: [Viewer] = []
    /// The copy of the stream on a loopback device.
    package var loopback = LoopbackState()
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
    /// The lock of the session, as far as it is known.
    package internal(set) var lock = SessionLock()
    /// The previews of cameras that no role uses.
    package internal(set) var previews = PreviewsState()
    /// The scenes that were applied.
    package internal(set) var scenes = ScenesState()
    /// The title; `nil`: none.
    package internal(set) var title: Title?
    /// The corner of the title.
    package internal(set) var titleCorner = Corner.bottomLeft
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
        configured = ConfiguredSettings(
            style: style,
            mountings: PerRole { cameras[$0].mounting }
        )
        for role in Role.allCases { scene.transforms[role] = cameras[role].transform }
    }

    /// Returns the corners of a role's picture that are shown as the whole, in its picture upright
    /// as it is mounted and not mirrored; `nil` if all of it is shown.
    package func perspective(of role: Role) -> Perspective? {
        scene.perspectives[role].goal?.turned(by: cameras[role].mountingTransform)
    }

    /// The conditions under which corners found in a camera's picture hold.
    package struct PictureBasis: Hashable, Sendable {
        let identity: String
        let pipeline: CapturePipeline
        let mounting: Mounting
    }

    /// The conditions under which corners found in the picture of `role` hold; `nil` while
    /// it gives no pictures.
    package func pictureBasis(of role: Role) -> PictureBasis? {
        let camera = cameras[role]
        guard camera.mode != nil else { return nil }
        return PictureBasis(
            identity: camera.identity,
            pipeline: camera.lens.pipeline,
            mounting: camera.mounting
        )
    }

    /// Returns the corners that `CameraEvent.setPerspective` takes for `found`, which are corners
    /// in the picture of the role's lens as its camera delivers it.
    package func perspective(_ found: Perspective, of role: Role) -> Perspective {
        let factor = scene.framings[role].factor(of: cameras[role].lens.pipeline)
        return found.magnified(by: 1 / factor).turned(by: cameras[role].mountingTransform)
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
    effects += state.applyWaiting(at: time)
    effects += state.followConsumers(before, at: time)
    effects += state.keepCameras()
    state.endFreezes(before, at: time)
    effects += state.adaptToPhotographs()
    effects += state.followLenses(at: time)
    effects += state.followLocks(before)
    effects += state.beginRecording(at: time)
    effects += state.useRoom(before)
    state.showCameras(before, at: time)
    state.showTitle(at: time)
    state.showControls(at: time)
    effects += state.finishStop()
    return state.endPreviews(effects)
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
        case .scenes(let event): return handle(event, at: time)
        case .session(let event): return handle(event)
        case .privacy(let event): return handle(event)
        case .node(let role?, let event): handle(event, of: role)
        case .scene(let event): handle(event, at: time)
        case .controls(let role, let event): handle(event, of: role, at: time)
        case .pro(let event): handle(event, at: time)
        case .photographs(let event): handle(event, at: time)
        case .orientation(let event): handle(event)
        case .preview(let event): handle(event)
        case .stored(let problems): storeProblems = problems
        case .configured(let settings): configured = settings
        case .loopback(let state): loopback = state
        case .reset: return reset(at: time)
        }
        return []
    }
}
