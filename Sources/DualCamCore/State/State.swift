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
    package var suspensions: Set<Suspension> = []

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

/// A reason that no camera may be open, even for consumers. Of several, the first one is shown.
package enum Suspension: Int, CaseIterable, Hashable, Sendable {
    /// The user asked for privacy.
    case privacy
    /// The session is locked, or another one is active.
    case locked
    /// The machine is going to sleep.
    case asleep

    /// The interruption that the cameras' state shows for it.
    var interruption: Interruption {
        switch self {
        case .privacy: .privacy
        case .locked: .locked
        case .asleep: .asleep
        }
    }
}

/// Updates the state for `event` at `time`, and returns the resulting actions. Pure.
package func reduce(_ state: inout State, _ event: Event, at time: Timestamp) -> [Effect] {
    let before = state
    var effects: [Effect] = []
    var zoomDuration = LensState.usualDuration
    switch event {
    case .start:
        effects += start(&state)
    case .stop:
        effects += stop(&state)
    case .restore:
        effects.append(.announce(.restoreRequested))
        effects += stop(&state)
    case .swap(let instantly):
        state.scene.setSwapped(!state.scene.isSwapped, at: time, instantly: instantly)
    case .setSwapped(let swapped, let instantly):
        state.scene.setSwapped(swapped, at: time, instantly: instantly)
    case .resetScene(let style, let instantly):
        state.scene.setSwapped(false, at: time, instantly: instantly)
        state.scene.setStyle(style, at: time, instantly: instantly)
    case .setStyle(let style):
        state.scene.setStyle(style, at: time)
    case .setMirror(let role, let mirror):
        state.cameras[role].mirror = mirror
    case .setRotation(let role, let degrees):
        precondition([0, 90, 180, 270].contains(degrees))
        guard degrees != state.cameras[role].rotation else { break }
        state.cameras[role].rotation = degrees
        if state.cameras[role].isAsked { effects.append(.adaptCamera(role)) }

    case .setZoom(let role, let zoom, let middle, let duration):
        precondition(state.cameras[role].lens.zoomRange.contains(zoom))
        state.cameras[role].lens.zoom = zoom
        state.cameras[role].lens.isZoomAsked = true
        state.cameras[role].lens.zoomNumber += 1
        state.cameras[role].lens.forgetDark()
        zoomDuration = duration
        if let middle {
            let factor = state.cameras[role].lens.wanted.factor
            state.cameras[role].lens.middle = NormalizedPoint(
                x: 0.5 + (middle.x - 0.5) / factor,
                y: 0.5 + (middle.y - 0.5) / factor
            )
        }

    case .setPro(let isOn):
        state.pro.isEnabled = isOn
        // Cameras that are absent now return automatic.
        if !isOn { state.manualControls = [:] }
        state.pro.limit = nil
        state.scene.touchHud(at: time, limit: nil, rising: false)
    case .setDial(let dial):
        state.pro.dial = dial
        state.pro.limit = nil
        state.scene.touchHud(at: time, limit: nil, rising: false)
    case .setHud(let mode):
        state.pro.hud = mode
    case .setControls(let role, let settings, let aperture):
        state.cameras[role].controls.settings = settings
        state.cameras[role].aperture = aperture

    case .photograph(let roles, let full):
        precondition(full.isSubset(of: roles))
        if !roles.isEmpty, !state.needsCameras, state.photographed.isEmpty {
            state.neededSince = time
        }
        state.photographed = roles
        state.photographedFull = full
    case .setLivePhoto(let isOn): state.takesLivePhotos = isOn
    case .setOrientation(let mode): state.orientation.mode = mode
    case .sensorFound(let isThere): state.orientation.hasSensor = isThere
    case .orientationSensed(let orientation): state.orientation.sensed = orientation

    case .suspend(let why, let isOn):
        if isOn { state.suspensions.insert(why) } else { state.suspensions.remove(why) }
        // Do not reopen cameras that were only kept open for a consumer that has left.
        if isOn, !state.isConsumed { state.needsCameras = false }
        for role in Role.allCases where isOn && !state.cameras[role].node.isConsumed {
            state.cameras[role].node.needsCamera = false
        }
    case .setSource(let role, let source):
        state.cameras[role].source = source
    case .setOutput(let canvas):
        state.scene.setCanvas(canvas)
        state.nodeID = nil
        state.isConsumed = false
        state.consumers = 0
        for role in Role.allCases { state.loseNode(of: role, reason: "") }
        if state.isStarted { effects.append(.publishNode) }
        effects += Role.allCases.filter { state.cameras[$0].isAsked }.map { .adaptCamera($0) }

    case .startRecording(let pictures, let sound):
        precondition(state.recording.phase == .off && !pictures.isEmpty)
        if !state.needsCameras { state.neededSince = time }
        state.recording = RecordingState()
        state.recording.phase = .starting
        state.recording.pictures = pictures
        state.recording.hasSound = sound ? nil : false
        effects.append(.prepareRecording(sound: sound))
    case .stopRecording:
        guard state.recording.phase == .starting || state.recording.phase == .running else { break }
        state.recording.phase = .ending
        effects.append(.endRecording)
    case .microphone(let isThere):
        if state.recording.phase == .starting { state.recording.hasSound = isThere }
    case .recordingStartTimedOut:
        if state.recording.phase == .starting {
            state.recording.hasStartTimedOut = true
            state.recording.hasSound = state.recording.hasSound ?? false
        }
    case .recordingTick: break  // The HUD is updated below.
    case .recordingEnded:
        state.recording = RecordingState()

    case .cameraAssigned(let role, let name):
        state.cameras[role].name = name ?? ""
        state.cameras[role].isAssigned = name != nil
    case .cameraIdentified(let role, let identity):
        identify(&state, role, identity)
    case .controlsRead(let role, let identity, let controls):
        if !controls.device.isEmpty {
            state.cameras[role].lens.reaches[identity] = controls.mostMagnification
        }
        if identity == state.cameras[role].lens.incoming?.device {
            state.cameras[role].lens.incoming?.controls = controls
        }
        // The report may be about the camera that had the role before.
        guard identity == state.cameras[role].lens.device else { break }
        // The settings are the user's; the thread's copy may be older.
        let settings = state.cameras[role].controls.settings
        state.cameras[role].controls = controls
        state.cameras[role].controls.settings = settings
        if state.readZoom(role) { zoomDuration = 0 }
    case .dialTurned(let role, let dial, let limit):
        state.commanded(role, dial, limit, at: time)
    case .cameraMoved(let role):
        if state.cameras[role].isAsked { effects.append(.openCamera(role)) }
    case .lensesFound(let role, let lenses):
        state.findLenses(role, lenses)
    case .lensStreaming(let role, let mode, let unreduced):
        state.incomingStreams(role, mode, unreduced)
    case .lensReady(let role):
        effects += state.incomingReady(role, at: time)
    case .lensCrossed(let role):
        effects += state.crossed(role)
    case .lensInterrupted(let role, let why):
        effects += state.incomingFailed(role, why)
    case .lensClosed(let role):
        if state.cameras[role].lens.incoming == nil { state.cameras[role].lens.isOtherOpen = false }
    case .lensLight(let role, let luma):
        let camera = state.cameras[role]
        guard camera.phase == .streaming, camera.lens.incoming == nil else { break }
        let isAtEnd = camera.controls.isAtDarkEnd
        state.cameras[role].lens.see(luma, isAtEnd: isAtEnd, at: time)
    case .lensRetry(let role):
        state.cameras[role].lens.failed = []
    case .cameraProblem(let role, let problem):
        state.cameras[role].problem = problem
    // Reports sent before a thread saw the latest request no longer apply.
    case .cameraOpening(let role):
        // A delivering camera that is opened anew does not deliver; one that failed is only
        // retried.
        if case .streaming = state.cameras[role].delivery, state.cameras[role].isAsked {
            state.cameras[role].delivery = .none
        }
        if state.cameras[role].step == .asked { state.cameras[role].step = .opening }
    case .cameraStreaming(let role, let mode, let unreduced):
        guard state.cameras[role].isAsked else { break }
        if case .streaming = state.cameras[role].delivery {
        } else {
            state.cameras[role].deliveringSince = time
        }
        state.cameras[role].delivery = .streaming(mode, insteadOf: unreduced)
        state.cameras[role].lens.failed.remove(state.cameras[role].lens.device)
        effects += tryRoom(&state, madeBy: role)
        if state.cameras[role].isReducedInVain {
            // It delivers again, so it may use its best mode again.
            state.cameras[role].isReducedInVain = false
            state.cameras[role].reduction = 0
            effects.append(.adaptCamera(role))
        }
    case .cameraAdapted(let role, let isFull):
        let full = state.cameras[role].full
        // A report about an earlier request does not count.
        if full == .asked, isFull { state.cameras[role].full = .on }
        if full == .left, !isFull { state.cameras[role].full = .off }
    case .cameraInterrupted(let role, let why, let reason):
        guard state.cameras[role].isAsked else { break }
        state.cameras[role].delivery = .failed(why, reason: reason)
        effects += state.lensFailed(role, why)
        let isAfterStep = state.cameras[role].step == .opening
        if isAfterStep { state.cameras[role].step = nil }
        if isAfterStep, why == .stalled { state.cameras[role].isReducedInVain = true }
        if why == .bandwidth {
            effects += makeRoom(&state)
        } else if isAfterStep, state.cameras[role.other].reduction > 0 {
            // Bandwidth was not the reason, so what the other camera gave up was of no use.
            state.cameras[role.other].reduction = 0
            state.cameras[role.other].isReducedInVain = false
            if state.cameras[role.other].isAsked { effects.append(.openCamera(role.other)) }
        }
    case .cameraClosed(let role):
        guard !state.cameras[role].isAsked else { break }
        state.cameras[role].isOpen = false
        state.cameras[role].delivery = .none
        state.cameras[role].step = nil

    case .nodePublished(let id):
        guard state.isStarted else { break }
        if !state.isAnnounced { effects.append(.announce(.didStart)) }
        state.isAnnounced = true
        state.nodeID = id
        state.nodeProblem = ""
    case .nodeLost(let reason):
        guard state.isStarted else { break }
        if state.nodeProblem.isEmpty && !state.isAnnounced {
            effects.append(.announce(.failedToStart(reason: reason)))
        }
        state.nodeID = nil
        state.nodeProblem = reason
        state.isConsumed = false
        state.consumers = 0
    case .nodeWithdrawn:
        state.isWithdrawing = false
    case .consumed(let isConsumed):
        state.isConsumed = isConsumed && state.isStarted
    case .consumers(let count):
        state.consumers = state.isStarted ? count : 0
    case .graceOver:
        if !state.isConsumed { state.needsCameras = false }
    case .cameraNode(let role, let event):
        state.handle(event, of: role)
    }

    if state.isConsumed != before.isConsumed {
        if state.isConsumed {
            effects.append(.endGrace)
            if !state.needsCameras { state.neededSince = time }
            state.needsCameras = true
        } else if state.needsCameras {
            effects.append(.startGrace)
        }
    }
    for role in Role.allCases { effects += state.followConsumers(of: role, before, at: time) }
    effects += keepCameras(&state)
    effects += adaptToPhotographs(&state)
    effects += state.followLenses(at: time, duration: zoomDuration)
    if state.recording.phase == .starting, state.canRecord {
        state.recording.phase = .running
        state.recording.since = time
        effects.append(.beginRecording)
    }
    effects += useRoom(&state, before)
    showCameras(&state, before, at: time)
    state.showControls(at: time)
    let isClosed = Role.allCases.allSatisfy {
        !state.cameras[$0].mayBeOpen || state.recording.needs($0)
    }
    if state.isStopping, !state.isWithdrawing, isClosed {
        state.isStopping = false
        effects.append(.announce(.didStop))
        if state.startsAgain { effects += start(&state) }
    }
    return effects
}

/// Records that another camera has the role. The manual values and zoom of the one before are kept
/// for its return.
private func identify(_ state: inout State, _ role: Role, _ identity: String) {
    let camera = state.cameras[role]
    guard identity != camera.identity else { return }
    if !camera.identity.isEmpty {
        state.manualControls[camera.identity] = camera.controls.manual
        state.zooms[camera.identity] = camera.lens.isZoomAsked ? camera.lens.zoom : nil
    }
    state.cameras[role].lens.all = []
    state.cameras[role].lens.failed = []
    state.cameras[role].lens.reaches = [:]
    state.cameras[role].lens.isZoomAsked = state.zooms[identity] != nil
    state.cameras[role].lens.forgetDark()
    state.cameras[role].lens.show(identity, factor: 1)
    state.cameras[role].lens.zoom = state.zooms.removeValue(forKey: identity) ?? 1
    state.cameras[role].lens.middle = .middle
    // A camera that changes its role may still be listed in the other one.
    let other = state.cameras[role.other]
    let isOther = !identity.isEmpty && other.identity == identity
    let manual =
        state.manualControls.removeValue(forKey: identity)
        ?? (isOther ? other.controls.manual : ManualControls())
    state.cameras[role].identity = identity
    state.cameras[role].controls = CameraControls(
        manual: manual,
        settings: camera.controls.settings
    )
}

private func start(_ state: inout State) -> [Effect] {
    guard !state.isStarted else { return [] }
    // Wait for a stop under way, so that the signals keep their order.
    state.startsAgain = state.isStopping
    guard !state.isStopping else { return [] }
    state.isStarted = true
    state.isAnnounced = false
    return [.announce(.willStart), .publishNode]
}

private func stop(_ state: inout State) -> [Effect] {
    state.startsAgain = false
    guard state.isStarted else { return [] }
    state.isStarted = false
    state.isWithdrawing = true
    state.isStopping = true
    state.nodeID = nil
    state.nodeProblem = ""
    state.isConsumed = false
    state.consumers = 0
    state.needsCameras = false
    for role in Role.allCases { state.handle(.withdrawn, of: role) }
    return [.announce(.willStop), .endGrace, .withdrawNode]
}

/// Opens the cameras that are needed and allowed, and closes the others.
private func keepCameras(_ state: inout State) -> [Effect] {
    let suspension = state.suspensions.min { $0.rawValue < $1.rawValue }?.interruption
    var effects: [Effect] = []
    for role in Role.allCases {
        let camera = state.cameras[role]
        let isInUse =
            state.needsCameras || camera.node.needsCamera || state.recording.needs(role)
            || state.photographed.contains(role)
        let isNeeded = isInUse && camera.isAssigned
        state.cameras[role].suspension = isNeeded ? suspension : nil
        let isWanted = isNeeded && suspension == nil
        state.cameras[role].isAsked = isWanted
        if isWanted, !camera.isAsked {
            state.cameras[role].isOpen = true
            state.cameras[role].delivery = .none
            effects.append(.openCamera(role))
        } else if !isWanted, camera.isAsked || (camera.suspension != nil && !isNeeded) {
            // A camera that is already closed may still show the picture kept while it was needed.
            effects.append(.closeCamera(role, keepsPicture: isNeeded))
        }
    }
    return effects
}

/// Switches cameras to their largest mode for photographs that want it, and back afterwards.
private func adaptToPhotographs(_ state: inout State) -> [Effect] {
    var effects: [Effect] = []
    for role in Role.allCases {
        let camera = state.cameras[role]
        guard camera.isAsked else {
            // The next time it opens in its usual mode.
            state.cameras[role].full = .off
            continue
        }
        let isWanted = state.photographedFull.contains(role)
        let isFull = camera.full == .asked || camera.full == .on
        guard isWanted != isFull else { continue }
        state.cameras[role].full = isWanted ? .asked : .left
        effects.append(.adaptCamera(role))
    }
    return effects
}

/// The steps that a camera has at most: a compressed format, three slower rates and four smaller
/// sizes.
private let mostReduction = 8

/// Makes one camera use less of the bus, the inset's before the main one.
private func makeRoom(_ state: inout State) -> [Effect] {
    // A step under way may be enough.
    guard !Role.allCases.contains(where: { state.cameras[$0].step != nil }) else { return [] }
    let role = [state.scene.main.other, state.scene.main].first {
        let camera = state.cameras[$0]
        // A camera that is unplugged or busy has nothing to give.
        let isOnBus = camera.interruption == .none || camera.interruption == .bandwidth
        return camera.isAsked && isOnBus && camera.reduction < mostReduction
    }
    guard let role else { return [] }
    state.cameras[role].reduction += 1
    state.cameras[role].step = .asked
    state.cameras[role].modeBeforeStep = state.cameras[role].mode
    return [.openCamera(role)]
}

/// Retries the other camera as soon as one has reduced its use of the bus.
private func tryRoom(_ state: inout State, madeBy role: Role) -> [Effect] {
    guard state.cameras[role].step == .opening else { return [] }
    let camera = state.cameras[role]
    state.cameras[role].step = nil
    // Its mode is configured, or it is on no bus, or it has no lighter one: do not ask it again.
    if camera.unreducedMode == nil || camera.mode == camera.modeBeforeStep {
        state.cameras[role].reduction = mostReduction
    }
    let other = state.cameras[role.other]
    return other.isAsked && other.interruption == .bandwidth ? [.openCamera(role.other)] : []
}

/// Lets a camera use the whole bus again when the other one has left it.
private func useRoom(_ state: inout State, _ before: State) -> [Effect] {
    func isOnBus(_ role: Role, _ state: State) -> Bool {
        state.cameras[role].isAssigned && state.cameras[role].interruption != .unplugged
    }
    var effects: [Effect] = []
    for role in Role.allCases where state.cameras[role].reduction > 0 {
        guard isOnBus(role.other, before), !isOnBus(role.other, state) else { continue }
        state.cameras[role].reduction = 0
        state.cameras[role].isReducedInVain = false
        if state.cameras[role].isAsked { effects.append(.openCamera(role)) }
    }
    return effects
}

/// Updates the scene with the cameras that are there, and those that deliver.
private func showCameras(_ state: inout State, _ before: State, at time: Timestamp) {
    /// The seconds within which a camera's start is not shown, and those for another lens in its
    /// place.
    let (swift, lensTimeout) = (0.5, 2.0)
    /// The seconds for which the last picture stays during a change to the largest mode, or back.
    let fullTimeout = 3.0
    for role in Role.allCases {
        state.cameras[role].orientationTurns = state.orientation.current.quarterTurns(of: role)
        let camera = state.cameras[role]
        let turns = camera.orientationTurns != before.cameras[role].orientationTurns
        state.scene.setTransform(camera.transform, of: role, at: time, eased: turns)
        if camera.phase != before.cameras[role].phase {
            state.scene.setPresent(role, camera.phase != .unavailable, at: time)
        }
        let isStart = (time - state.neededSince).seconds < swift && camera.suspension == nil
        switch camera.phase {
        case .closed, .unavailable: state.scene.setNotice(nil, of: role, at: time, instantly: true)
        case .streaming: state.scene.setNotice(nil, of: role, at: time, instantly: isStart)
        case .opening where before.cameras[role].phase == .streaming:
            // It reopens in another mode, and may be back before anybody notices.
            state.scene.setNotice(
                .waiting,
                of: role,
                at: time,
                after: camera.full == .off ? swift : fullTimeout
            )
        case .opening: state.scene.setNotice(.waiting, of: role, at: time)
        case .interrupted:
            // Another lens may take over before anybody notices that this one has stopped.
            state.scene.setNotice(
                Notice(camera.interruption),
                of: role,
                at: time,
                after: camera.lens.incoming == nil || camera.suspension != nil ? 0 : lensTimeout
            )
        }
    }
}
