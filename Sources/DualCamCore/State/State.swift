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
    package var scene: SceneState
    package var cameras: PerRole<CameraState>
    /// The devices that there are, and those that the cameras use.
    package var search: CameraSearch
    package var pro = Pro()
    /// The settings of cameras without a role at present, by identity.
    package internal(set) var kept: [String: Kept<CameraSettings>] = [:]
    /// The configured values of all that commands change.
    package internal(set) var configured: Settings
    /// `true` while the stream is to exist.
    package var isStarted = false
    /// `true` while a stopped stream still has its node.
    package var isWithdrawing = false
    /// `true` until a stop is announced: no node, and no camera open that no recording needs.
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
    package var consumers = 0
    /// The programs linked to the nodes, oldest first, known a moment later than their number.
    package var viewers: [Viewer] = []
    /// The copy of the stream on a loopback device.
    package var loopback = LoopbackState()
    /// `true` while a consumer takes frames, and for the grace period after that.
    package var needsCameras = false
    /// The time at which cameras began to be needed.
    package var neededSince = Timestamp.zero
    package var photographed: Set<Role> = []
    /// The roles being photographed in their largest mode.
    package var photographedFull: Set<Role> = []
    package var takesLivePhotos = false
    /// `true` if no camera is open while the screen is locked.
    var closesAtLock = true
    package internal(set) var away = AwayState()
    package var orientation = OrientationState()
    package var recording = RecordingState()
    /// The count before a photograph or a recording, until a second later; `nil` without one.
    var selfTimer: SelfTimer?
    /// The reasons that cameras are kept closed even when they are needed.
    package internal(set) var suspensions: Set<Suspension> = []
    /// The privacy that the user asked for.
    package internal(set) var privacy = PrivacyState()
    /// The roles whose first camera's room is blurred if nothing else is known: that of the last
    /// run was hidden.
    package internal(set) var hiddenRooms: Set<Role> = []
    /// The lock of the session, as far as it is known.
    package internal(set) var lock = SessionLock()
    package internal(set) var previews = PreviewsState()
    package internal(set) var phones = PhonesState()
    /// The scenes that were applied.
    package internal(set) var scenes = ScenesState()
    /// The title; `nil`: none.
    package internal(set) var title: Title?
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
        search = CameraSearch(
            PerRole {
                var camera = Configuration.Camera()
                camera.source = cameras[$0].source
                return camera
            }
        )
        configured = Settings()
        configured.scene.style = style
        configured.cameras = PerRole { role in
            CameraSettings(mirror: cameras[role].mirror, rotation: cameras[role].rotation)
        }
        for role in Role.allCases { scene.transforms[role] = cameras[role].transform }
    }

    /// The conditions under which corners found in a camera's picture hold.
    package struct PictureBasis: Hashable, Sendable {
        let identity: String
        let pipeline: CapturePipeline
        let mirror: Bool
        let rotation: Int
    }

    /// The conditions under which corners found in a picture hold; `nil` while there is none.
    package func pictureBasis(of role: Role) -> PictureBasis? {
        let camera = cameras[role]
        guard camera.mode != nil else { return nil }
        return PictureBasis(
            identity: camera.identity,
            pipeline: camera.lens.pipeline,
            mirror: camera.mirror,
            rotation: camera.rotation
        )
    }

    /// Returns `CameraSettings.perspective` for `found`, which are corners in the picture of the
    /// role's lens as its camera delivers it.
    package func perspective(_ found: Perspective, of role: Role) -> Perspective {
        let factor = scene.framings[role].factor(of: cameras[role].lens.pipeline)
        return found.magnified(by: 1 / factor).turned(by: cameras[role].mountingTransform)
    }

    /// Returns the place in the picture of lens "wide" of a point in that of the role's lens.
    package func place(of point: NormalizedPoint, in role: Role) -> NormalizedPoint {
        let factor = scene.framings[role].factor(of: cameras[role].lens.pipeline)
        return NormalizedPoint(
            x: 0.5 + (point.x - 0.5) / factor,
            y: 0.5 + (point.y - 0.5) / factor
        )
    }

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
    reduce(&state, event, at: time, Pass.allCases)
}

/// Reduces as above, with these passes after the event.
func reduce(
    _ state: inout State,
    _ event: Event,
    at time: Timestamp,
    _ passes: [Pass]
) -> [Effect] {
    let before = state
    var effects = state.handle(event, at: time)
    for pass in passes { state.run(pass, before, &effects, at: time) }
    return effects
}

/// A pass over the state after every event, in this order: each relies on what those before it have
/// brought up to date. They derive: once more, a pass would change nothing.
enum Pass: CaseIterable {
    case selfTimer
    /// Keeps cameras needed while a consumer takes frames, and a bit longer.
    case consumers
    /// Chooses the device of each role, which depends on whether any is needed.
    case cameraList
    /// Applies what scenes have for a camera that came.
    case waitingScenes
    case cameras
    /// Ends what is frozen with its camera.
    case freezes
    /// Changes the modes of open cameras for photographs.
    case photographs
    case lenses
    case locks
    case recording
    /// Uses the room on the bus that a camera has left.
    case room
    case shownCameras
    case shownTitle
    case shownControls
    case stop
    case phones
    /// Puts the effects of all others into an order that devices allow.
    case previews
}

extension State {
    fileprivate mutating func run(
        _ pass: Pass,
        _ before: State,
        _ effects: inout [Effect],
        at time: Timestamp
    ) {
        switch pass {
        case .selfTimer: effects += followSelfTimer()
        case .consumers: effects += followConsumers(before, at: time)
        case .cameraList: effects += assignCameras(before, at: time)
        case .waitingScenes: effects += applyWaiting(at: time)
        case .cameras: effects += keepCameras()
        case .freezes: endFreezes(before, at: time)
        case .photographs: effects += adaptToPhotographs()
        case .lenses: effects += followLenses(at: time)
        case .locks: effects += followLocks(before)
        case .recording: effects += beginRecording(at: time)
        case .room: effects += useRoom(before)
        case .shownCameras: showCameras(before, at: time)
        case .shownTitle: showTitle(at: time)
        case .shownControls: showControls(at: time)
        case .stop: effects += finishStop()
        case .phones: endAdding()
        case .previews: effects = endPreviews(effects)
        }
    }

    /// Passes `event` to the reducer of its subject.
    fileprivate mutating func handle(_ event: Event, at time: Timestamp) -> [Effect] {
        switch event {
        case .stream(let event): return handle(event)
        case .cameras(let event): return handle(event, at: time)
        case .camera(let role, let event): return handle(event, of: role, at: time)
        case .lens(let role, let event): return handle(event, of: role, at: time)
        case .node(nil, let event): return handle(event)
        case .recording(let event): return handle(event, at: time)
        case .selfTimer(let event): return handle(event, at: time)
        case .scenes(let event): return handle(event, at: time)
        case .session(let event): return handle(event)
        case .privacy(let event): return handle(event, at: time)
        case .node(let role?, let event): handle(event, of: role)
        case .scene(let event): handle(event, at: time)
        case .controls(let role, let event): handle(event, of: role, at: time)
        case .pro(let event): handle(event, at: time)
        case .photographs(let event): handle(event, at: time)
        case .orientation(let event): handle(event)
        case .preview(let event): handle(event)
        case .phone(let event): return handle(event)
        case .stored(let problems, let rooms):
            storeProblems = problems
            for role in rooms {
                if cameras[role].identity.isEmpty {
                    hiddenRooms.insert(role)
                } else if cameras[role].room == .asIs {
                    cameras[role].room = .blur
                }
            }
        case .configured(let settings): return configure(settings, at: time)
        case .change(let change):
            var new = settings
            change.apply(&new)
            return self.change(to: new, at: time)
        case .loopback(let state): loopback = state
        case .reset: return reset(at: time)
        }
        return []
    }
}
