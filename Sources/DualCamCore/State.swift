package import Frames

/// What a camera is doing. The words are those of the D-Bus interface.
package enum CameraPhase: String, Hashable, Sendable {
    /// Nobody needs it.
    case closed
    /// Being opened; no frame yet.
    case opening
    /// Delivering.
    case streaming
    /// Needed, but not delivering; `Interruption` says why.
    case interrupted
    /// There is no camera for this role.
    case unavailable
}

/// What is known of one role's camera.
package struct CameraState: Hashable, Sendable {
    /// The configured source, as `SourceSpecification` prints it.
    package var source: SourceSpecification
    /// The camera's name for people; empty where there is none.
    package var name = ""
    /// What it is doing.
    package var phase = CameraPhase.unavailable
    /// Why it does not deliver, while it should.
    package var interruption = Interruption.none
    /// What is wrong with its source, for people; empty when nothing is.
    package var problem = ""
    /// How it delivers, while it is open.
    package var mode: CaptureMode?
    /// Shown mirrored left to right.
    package var mirror: Bool
    /// How the camera is mounted, in degrees clockwise: 0, 90, 180 or 270.
    package var rotation: Int

    /// A camera not found yet.
    package init(source: SourceSpecification, mirror: Bool, rotation: Int) {
        self.source = source
        self.mirror = mirror
        self.rotation = rotation
    }

    /// What makes its picture stand upright, and mirrored where that is wanted.
    package var transform: Transform {
        // The mounting is undone first, as it is in the camera; mirroring is how it is shown.
        Transform(quarterTurns: rotation / 90).followed(by: Transform(mirrored: mirror))
    }
}

/// What the stream is doing. The words are those of the D-Bus interface.
package enum StreamPhase: String, Hashable, Sendable {
    /// Asked to stop; there is no node.
    case stopped
    /// The node is there and nobody looks.
    case idle
    /// Somebody looks and the cameras are being opened.
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
    /// Whether cameras are wanted open.
    package var wantsCameras = false

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
        guard nodeID != nil else { return .interrupted }
        guard isConsumed else { return .idle }
        return switch cameras[scene.main].phase {
        case .streaming: .streaming
        case .opening, .closed: .starting
        case .interrupted, .unavailable: .interrupted
        }
    }

    /// Whether `role`'s device is held open, or tried.
    package func isOpen(_ role: Role) -> Bool {
        switch cameras[role].phase {
        case .opening, .streaming, .interrupted: true
        case .closed, .unavailable: false
        }
    }

    /// Whether the stream exists: the node can be picked.
    package var isActive: Bool { isStarted && nodeID != nil }

    /// Whether it could carry pictures: PipeWire answers and there is a camera.
    package var isPossible: Bool {
        nodeProblem.isEmpty && Role.allCases.contains { cameras[$0].phase != .unavailable }
    }
}

/// Something that was asked for, or that happened.
package enum Event: Hashable, Sendable {
    // Asked for.
    /// Publish the stream.
    case start
    /// Withdraw it.
    case stop
    /// Withdraw it and ask the user's own window to come back.
    case restore
    /// The other picture is main now.
    case swap(instantly: Bool)
    /// Front is main, or not.
    case setSwapped(Bool, instantly: Bool)
    /// Back to the scene of the start.
    case resetScene(SceneStyle, instantly: Bool)
    /// A new look.
    case setStyle(SceneStyle)
    /// Show a camera mirrored or not.
    case setMirror(Role, Bool)
    /// A camera is mounted turned by 0, 90, 180 or 270 degrees clockwise.
    case setRotation(Role, Int)

    /// A role's pictures come from elsewhere.
    case setSource(Role, SourceSpecification)
    /// The stream has another size or rate: there is a new node to publish.
    case setOutput(Size)

    // Happened.
    /// A camera was found for the role (its name), or there is none.
    case cameraAssigned(Role, name: String?)
    /// A role's source cannot be used, and why; empty: it can.
    case cameraProblem(Role, String)
    /// A camera is being opened.
    case cameraOpening(Role)
    /// A camera is open and delivers in a mode.
    case cameraStreaming(Role, CaptureMode)
    /// A camera that should deliver does not.
    case cameraInterrupted(Role, Interruption)
    /// A camera was closed because nobody needs it.
    case cameraClosed(Role)
    /// The node is there.
    case nodePublished(id: UInt32)
    /// There is no node though there should be one, and why.
    case nodeLost(reason: String)
    /// The node was taken away as asked.
    case nodeWithdrawn
    /// Consumers take frames, or none does any more.
    case consumed(Bool)
    /// So many consumers are linked.
    case consumers(Int)
    /// Nobody looked for as long as cameras are kept open.
    case graceOver
}

/// What the daemon is to do because of a change of state.
package enum Effect: Hashable, Sendable {
    /// A signal of the Stream interface.
    package enum Announcement: Hashable, Sendable {
        case willStart, didStart, willStop, didStop, restoreRequested
        case failedToStart(reason: String)
    }
    /// Put the node there, and see that it stays.
    case publishNode
    /// Take the node away.
    case withdrawNode
    /// Open this role's camera, and see that it delivers.
    case openCamera(Role)
    /// Close it.
    case closeCamera(Role)
    /// Send `graceOver` when nobody looks for a while.
    case startGrace
    /// Do not.
    case endGrace
    /// Signal on D-Bus.
    case announce(Announcement)
}

/// The state after `event` at `time`, and what has to be done. Pure.
package func reduce(_ state: inout State, _ event: Event, at time: Timestamp) -> [Effect] {
    let before = state
    var effects: [Effect] = []
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
        state.cameras[role].rotation = degrees

    case .setSource(let role, let source):
        state.cameras[role].source = source
    case .setOutput(let canvas):
        state.scene.setCanvas(canvas)
        state.nodeID = nil
        state.isConsumed = false
        state.consumers = 0
        if state.isStarted { effects.append(.publishNode) }

    case .cameraAssigned(let role, let name?):
        guard state.cameras[role].phase == .unavailable else {
            state.cameras[role].name = name
            break
        }
        state.cameras[role].name = name
        state.cameras[role].phase = .closed
        state.cameras[role].interruption = .none
        if state.wantsCameras { effects.append(.openCamera(role)) }
    case .cameraAssigned(let role, nil):
        guard state.cameras[role].phase != .unavailable else { break }
        if state.wantsCameras { effects.append(.closeCamera(role)) }
        state.cameras[role].name = ""
        state.cameras[role].mode = nil
        state.cameras[role].phase = .unavailable
        state.cameras[role].interruption = .none
    case .cameraProblem(let role, let problem):
        state.cameras[role].problem = problem
    case .cameraOpening(let role):
        guard state.cameras[role].phase == .closed else { break }
        state.cameras[role].phase = .opening
    case .cameraStreaming(let role, let mode):
        guard state.cameras[role].phase != .unavailable else { break }
        state.cameras[role].phase = .streaming
        state.cameras[role].mode = mode
        state.cameras[role].interruption = .none
    case .cameraInterrupted(let role, let why):
        guard state.cameras[role].phase != .unavailable else { break }
        state.cameras[role].phase = .interrupted
        state.cameras[role].mode = nil
        state.cameras[role].interruption = why
    case .cameraClosed(let role):
        guard state.cameras[role].phase != .unavailable else { break }
        state.cameras[role].phase = .closed
        state.cameras[role].mode = nil
        state.cameras[role].interruption = .none

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
        if !state.isConsumed { effects += closeCameras(&state) }
    }

    for role in Role.allCases { state.scene.transforms[role] = state.cameras[role].transform }
    showCameras(&state, before, at: time)
    if state.isConsumed != before.isConsumed {
        if state.isConsumed {
            effects.append(.endGrace)
            effects += openCameras(&state)
        } else if state.wantsCameras {
            effects.append(.startGrace)
        }
    }
    if state.isStopping, !state.isWithdrawing, !Role.allCases.contains(where: state.isOpen) {
        state.isStopping = false
        effects.append(.announce(.didStop))
        if state.startsAgain { effects += start(&state) }
    }
    return effects
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
    return [.announce(.willStop), .endGrace, .withdrawNode] + closeCameras(&state)
}

private func openCameras(_ state: inout State) -> [Effect] {
    guard !state.wantsCameras else { return [] }
    state.wantsCameras = true
    return Role.allCases.filter { state.cameras[$0].phase != .unavailable }.map { .openCamera($0) }
}

private func closeCameras(_ state: inout State) -> [Effect] {
    guard state.wantsCameras else { return [] }
    state.wantsCameras = false
    return Role.allCases.filter { state.cameras[$0].phase != .unavailable }.map { .closeCamera($0) }
}

/// Tells the scene which cameras there are and which of them deliver.
private func showCameras(_ state: inout State, _ before: State, at time: Timestamp) {
    for role in Role.allCases {
        let phase = state.cameras[role].phase
        if phase != before.cameras[role].phase {
            state.scene.setPresent(role, phase != .unavailable, at: time)
        }
        state.scene.setVeiled(role, phase == .interrupted, at: time)
    }
}
