package import Frames

/// What the stream is doing. The words are those of the D-Bus interface.
package enum StreamPhase: String, Hashable, Sendable {
    /// Asked to stop; there is no node.
    case stopped
    /// The node is there and nobody looks.
    case idle
    /// The node is being published, or somebody looks and the cameras are being opened.
    case starting
    /// Live pictures.
    case streaming
    /// Somebody looks, but the main camera or PipeWire itself does not deliver.
    case interrupted
}

/// All that the daemon knows of itself. Changed by `reduce` alone.
package struct State: Hashable, Sendable {
    /// The scene over time.
    package var scene: SceneState
    /// The cameras by role.
    package var cameras: PerRole<CameraState>
    /// Pro mode.
    package var pro = Pro()
    /// What is wanted of the controls of cameras that have no role now, by their identity.
    package var manualControls: [String: ManualControls] = [:]
    /// How much cameras magnified that have no role now, by their identity.
    package var zooms: [String: Double] = [:]
    /// Whether the stream is to exist.
    package var isStarted = false
    /// Whether a stream that was asked to stop still has its node.
    package var isWithdrawing = false
    /// Whether it has yet to tell that it has stopped: no node, and cameras closed.
    package var isStopping = false
    /// Whether it was asked to start again meanwhile.
    package var startsAgain = false
    /// Whether DidStart was told since the stream was asked to start.
    package var isAnnounced = false
    /// The PipeWire node's id while there is one.
    package var nodeID: UInt32?
    /// Why there is no node though there should be one; empty otherwise.
    package var nodeProblem = ""
    /// Whether a consumer takes frames.
    package var isConsumed = false
    /// How many consumers are linked.
    package var consumers = 0
    /// Whether cameras are needed: somebody looks, or did until a moment ago.
    package var needsCameras = false
    /// When cameras began to be needed.
    package var neededSince = Timestamp.zero
    /// Whose photographs are being taken.
    package var photographed: Set<Role> = []
    /// Whose photographs are being taken in their largest mode.
    package var photographedFull: Set<Role> = []
    /// Whether photographs have a short movie beside them.
    package var takesLivePhotos = false
    /// How the device is held.
    package var orientation = OrientationState()
    /// What is being recorded.
    package var recording = RecordingState()
    /// Why cameras are kept closed even when they are needed.
    package var suspensions: Set<Suspension> = []

    /// Nothing started; cameras as configured, none found yet.
    package init(canvas: Size, style: SceneStyle, cameras: PerRole<CameraState>) {
        scene = SceneState(
            canvas: canvas,
            style: style,
            present: PerRole(back: false, front: false)
        )
        self.cameras = cameras
        for role in Role.allCases { scene.transforms[role] = cameras[role].transform }
    }

    /// What the stream is doing.
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

    /// Whether the stream exists: the node can be picked.
    package var isActive: Bool { isStarted && nodeID != nil }

    /// Whether it could carry pictures: PipeWire answers and there is a camera.
    package var isPossible: Bool {
        nodeProblem.isEmpty && Role.allCases.contains { cameras[$0].phase != .unavailable }
    }
}

/// Why no camera may be open, whoever looks; the first of them is what is shown.
package enum Suspension: Int, CaseIterable, Hashable, Sendable {
    /// The user asked for it.
    case privacy
    /// The session is locked, or another one is in front.
    case locked
    /// The machine is going to sleep.
    case asleep

    /// What the cameras' state calls it.
    var interruption: Interruption {
        switch self {
        case .privacy: .privacy
        case .locked: .locked
        case .asleep: .asleep
        }
    }
}

/// The state after `event` at `time`, and what has to be done. Pure.
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
        // Cameras that are not there now are to come back automatic.
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
        // Cameras that were kept open for somebody who left are not opened again for nobody.
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
    case .recordingTick: break  // What is shown follows below.
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
        // Of the camera that had the role before?
        guard identity == state.cameras[role].lens.device else { break }
        // What the user has set is not the thread's to tell; its word may be older.
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
    // What a thread told before it heard of the latest request says nothing any more.
    case .cameraOpening(let role):
        // Opened anew, it does not deliver; one that failed is only tried again.
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
            // It works again: as well as it can.
            state.cameras[role].isReducedInVain = false
            state.cameras[role].reduction = 0
            effects.append(.adaptCamera(role))
        }
    case .cameraAdapted(let role, let isFull):
        let full = state.cameras[role].full
        // What it tells of an earlier request is not meant.
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
            // It was not for want of bandwidth: what the other one gave up was of no use.
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

/// Another camera has the role: what was wanted of the one before is kept until it comes back.
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
    // A camera that changes its role may still be the other's.
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
    // A stop under way is waited for, so that the signals come in their order.
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

/// Asks for what is needed and may be open, and for no more.
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
            // Closed already, it may have a picture that was kept while it was needed.
            effects.append(.closeCamera(role, keepsPicture: isNeeded))
        }
    }
    return effects
}

/// Has cameras deliver all their pixels for photographs that want it, and as before after that.
private func adaptToPhotographs(_ state: inout State) -> [Effect] {
    var effects: [Effect] = []
    for role in Role.allCases {
        let camera = state.cameras[role]
        guard camera.isAsked else {
            // It is opened as ever when it is opened again.
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

/// A compressed format, three slower rates and four smaller sizes are all that cameras have.
private let mostReduction = 8

/// Has one camera use less of the bus, the inset's before the main one's.
private func makeRoom(_ state: inout State) -> [Effect] {
    // What is being given up already may be enough.
    guard !Role.allCases.contains(where: { state.cameras[$0].step != nil }) else { return [] }
    let role = [state.scene.main.other, state.scene.main].first {
        let camera = state.cameras[$0]
        // One that is unplugged or held by another program has nothing to give.
        let isOnBus = camera.interruption == .none || camera.interruption == .bandwidth
        return camera.isAsked && isOnBus && camera.reduction < mostReduction
    }
    guard let role else { return [] }
    state.cameras[role].reduction += 1
    state.cameras[role].step = .asked
    state.cameras[role].modeBeforeStep = state.cameras[role].mode
    return [.openCamera(role)]
}

/// When one camera has given up something, the other one is tried at once.
private func tryRoom(_ state: inout State, madeBy role: Role) -> [Effect] {
    guard state.cameras[role].step == .opening else { return [] }
    let camera = state.cameras[role]
    state.cameras[role].step = nil
    // Its mode is configured, it is on no bus, or it has none that is lighter: it is not to be asked
    // again.
    if camera.unreducedMode == nil || camera.mode == camera.modeBeforeStep {
        state.cameras[role].reduction = mostReduction
    }
    let other = state.cameras[role.other]
    return other.isAsked && other.interruption == .bandwidth ? [.openCamera(role.other)] : []
}

/// When a camera leaves the bus, the other one may use all of it again.
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

/// Tells the scene which cameras there are and which of them deliver.
private func showCameras(_ state: inout State, _ before: State, at time: Timestamp) {
    /// How soon a camera has to deliver for its start not to be shown, in seconds; and another lens in its place.
    let (swift, lensTimeout) = (0.5, 2.0)
    /// For how long it may change to its largest mode, or back, with the last picture in sight.
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
            // It is opened in another mode, and may be back before anybody sees it.
            state.scene.setNotice(
                .waiting,
                of: role,
                at: time,
                after: camera.full == .off ? swift : fullTimeout
            )
        case .opening: state.scene.setNotice(.waiting, of: role, at: time)
        case .interrupted:
            // Another lens may be there before anybody sees that this one is not.
            state.scene.setNotice(
                Notice(camera.interruption),
                of: role,
                at: time,
                after: camera.lens.incoming == nil || camera.suspension != nil ? 0 : lensTimeout
            )
        }
    }
}
