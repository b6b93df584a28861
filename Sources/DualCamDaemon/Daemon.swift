import Capture
import DualCamCore
import Engine
import Frames
import Glibc
import Imaging
import Logging
import PipeWire
import Platform

/// The control side of the daemon: takes events, keeps the state and carries out the effects. The
/// main thread, inside its event loop.
@MainActor
final class Daemon {
    private(set) var state: State
    private(set) var configuration: Configuration
    /// The closures called once a turn of the loop in which something has changed, in order.
    var observers: [() -> Void] = []
    /// The closures called with each effect, of which each carries out those of its subject.
    var performers: [(Effect) -> Void] = []
    /// The events that wait until those before them are carried out.
    private var events: [Event] = []
    private var isHandling = false
    /// `true` from a change until the observers are called.
    private var hasChanged = false
    /// The closure called after all was set back to the configuration, to store that.
    var onReset: () -> Void = {}

    // Members that are not private serve the extensions in `Daemon+….swift`.

    let loop: EventLoop
    let files: Files
    /// The sources that open the devices of each role, by identity.
    var sources = PerRole(back: [String: any CameraSource](), front: [String: any CameraSource]())
    let threads: Threads
    private(set) var timers: Timers?
    let rooms: Rooms
    /// `true` while PipeWire's cameras are followed.
    private var followsNodes = false
    /// The problems that the threads report.
    private(set) var reported = OtherProblems()

    /// The time in seconds that cameras may take to close when the daemon ends.
    private static let endDuration = 0.5
    /// The time in seconds for which the start waits for the list of cameras.
    private static let lookDuration = 0.5

    /// Creates a daemon, not started. Throws `SystemError` when the process is out of descriptors.
    init(
        _ configuration: Configuration,
        files: Files? = nil,
        loop: EventLoop
    ) throws(SystemError) {
        self.configuration = configuration
        self.loop = loop
        self.files = if let files { files } else { try Files() }
        state = State(configuration)
        threads = try Threads(loop)
        rooms = Rooms(threads.slots, loop.mailbox)
        timers = try Timers(
            loop: loop,
            send: { [unowned self] in send($0) },
            look: { [unowned self] in lookAtLens($0) },
            light: { [unowned self] in lookAtLight($0) },
            refusalIsOver: { [unowned self] in
                reported.refused = nil
                change()
            }
        )
        threads.handle = { [unowned self] in handle($0) }
        rooms.onChange = { [unowned self] in change() }
        rooms.onAway = { [unowned self] picture, path in
            frames?.keep(away: picture)
            send(.scene(.awayRead(path)))
        }
    }

    // What the extensions use most.

    var cameras: PerRole<PerPipeline<CaptureThread>>? { threads.capture }
    var controls: PerRole<PerPipeline<ControlThread>>? { threads.controls }
    var slots: PerRole<PerPipeline<FrameSlot>> { threads.slots }
    var lensTimers: PerRole<LensTimers>? { timers?.lenses }
    var frames: CompositeThread? { threads.composite }

    /// Restores the state of the last run. Call it before `start`.
    func restore(_ saved: SavedState) {
        saved.restore(&state, swapping: configuration.memory == .all)
    }

    /// Goes back to the configuration. `done` is called at the end, with the refusals of the
    /// cameras whose values could not be made automatic.
    func reset(done: @escaping @MainActor ([Role: ControlRefusal]) -> Void) {
        send(.reset)
        for role in Role.allCases where !state.cameras[role].controls.manual.lock.subjects.isEmpty {
            perform(.unlock, role) { _ in }
        }
        setPro(false) { [self] refusals in
            onReset()
            done(refusals)
        }
    }

    /// Starts the threads, looks for cameras and publishes the stream.
    func start() throws(SystemError) {
        // What is configured is no change of the state.
        for role in Role.allCases { rooms.show(state.cameras[role].roomLook, of: role) }
        try threads.startCapture()
        try threads.startOthers()
        try threads.startComposite(state.scene, configuration)
        rooms.show(away: state.away.path)
        offerCameras()
        for event in configuration.changes(from: nil).events { send(event) }
        let deadline = MonotonicClock.now + Timestamp(seconds: Self.lookDuration)
        let attached = threads.cameras?.cameras(until: deadline) ?? []
        send(.cameras(.found(attached, from: .kernel(isWhole: false))))
        followNodes()
        threads.phones.load()
        threads.startMirror(configuration, isPublished: state.isActive)
        send(.stream(.start))
    }

    /// Follows the cameras that only PipeWire has while `auto` may take one or a source names one.
    private func followNodes() {
        let isWanted = Role.allCases.contains { configuration.cameras[$0].source.mayNeedPipeWire }
        guard isWanted != followsNodes else { return }
        followsNodes = isWanted
        threads.pipeWire?.followCameras(isWanted)
    }

    /// Closes the cameras and withdraws the node. Returns `false` if a thread still runs.
    func end() -> Bool {
        for role in Role.allCases { turnTorchOff(role) }
        return threads.end(by: MonotonicClock.now + Timestamp(seconds: Self.endDuration))
    }

    /// Calls the observers soon: the state, or what is kept beside it, has changed.
    func change() {
        guard !hasChanged else { return }
        hasChanged = true
        loop.mailbox.onMain { [weak self] in self?.notify() }
    }

    /// Calls the observers now if something has changed.
    func notify() {
        guard hasChanged else { return }
        hasChanged = false
        for observer in observers { observer() }
    }

    /// Tells for a while that the app called `name` could not be linked.
    private func tell(refused name: String) {
        Log.publish.warning(
            "app refused",
            metadata: ["app": "\(name)", "reason": "another format"]
        )
        reported.refused = name
        timers?.noteRefusal()
        change()
    }

    /// Takes over who is linked to the nodes, except our own copy on a loopback device.
    private func show(_ consumers: [Consumer]) {
        let viewers = consumers.filter { $0.process != UInt32(getpid()) }.map { consumer in
            let role = Role.allCases.first { state.cameras[$0].node.id == consumer.node }
            return Viewer(
                name: consumer.name,
                application: consumer.application,
                process: consumer.process,
                since: consumer.since,
                through: role.map { "\(configuration.output.nodeName).\($0.rawValue)" } ?? ""
            )
        }
        send(.node(nil, .viewers(viewers)))
    }

    /// Publishes a node with its properties for each camera that is configured to have one.
    private func offerCameras() {
        func settings(_ role: Role) -> PipeWireNode.Settings? {
            configuration.cameras[role].isOffered ? PipeWireNode.Settings(configuration, role) : nil
        }
        frames?.offer(PerRole(settings))
        for role in Role.allCases { frames?.show(nodeProperties(of: role), of: role) }
    }

    // MARK: Events and effects

    /// Applies `event`, and carries out what follows: at once, unless another event is under way.
    func send(_ event: Event) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        while !events.isEmpty { handle(events.removeFirst()) }
        isHandling = false
    }

    private func handle(_ event: Event) {
        let before = state
        var next = state
        let effects = reduce(&next, event, at: MonotonicClock.now)
        // Announcements of what is to come follow the properties of before.
        if effects.contains(where: \.isAhead) { notify() }
        state = next
        for update in state.updates(after: event, from: before) { carryOut(update) }
        // Announcements follow the properties that show what happened; all else comes before.
        for effect in effects where !effect.isDone { carryOut(effect) }
        logCameras(since: before)
        if state.suspensions != before.suspensions {
            let names = state.suspensions.map { "\($0)" }.sorted().joined(separator: ", ")
            Log.control.notice("suspensions", metadata: ["because": "\(names)"])
        }
        if state.streamPhase != before.streamPhase {
            Log.control.notice("stream", metadata: ["state": "\(state.streamPhase.rawValue)"])
        }
        change()
        for effect in effects where effect.isDone { carryOut(effect) }
    }

    private func carryOut(_ update: Update) {
        switch update {
        case .use(let role, let use): self.use(role, use)
        case .lookForCameras: threads.cameras?.look()
        case .leaveControls(let role, let pipeline): controls?[role][pipeline].leave()
        case .showScene: frames?.show(state.scene)
        case .showRoom(let role):
            let fade = state.scene.style.swapDuration
            rooms.show(state.cameras[role].roomLook, of: role, fade: fade)
        case .readAway: rooms.show(away: state.away.path)
        case .freeze(let role, let change):
            for pipeline in CapturePipeline.allCases {
                let slot = slots[role][pipeline]
                switch change {
                case .on: slot.freeze()
                case .off: slot.thaw()
                case .last: slot.settle()
                }
            }
        case .moveTap(let role, let pipeline):
            threads.moveTap(role, from: pipeline, to: state.cameras[role].lens.pipeline)
        case .useControls(let role): useControls(role)
        case .useIncomingControls(let role): useIncomingControls(role)
        case .findFaces(let role): threads.findFaces(role, state.faceSearch(role))
        case .watchLight(let role, let isOn): lensTimers?[role].watchLight(isOn)
        case .turnTorchesOff: turnTorchesOff()
        case .allowPhones(let isAllowed): threads.phones.allow(isAllowed)
        case .endAddingPhone(let name): threads.phones.endAdding(name)
        case .mirror(let isPublished): threads.mirror?.follow(isPublished: isPublished)
        case .watchViewers(let nodes): threads.pipeWire?.watch(nodes)
        case .showControls(let role):
            if let role, !configuration.cameras[role].isOffered { return }
            frames?.show(nodeProperties(of: role), of: role)
        }
    }

    /// Returns the values that a role's node shows; `nil`: those that the stream's does.
    private func nodeProperties(of role: Role?) -> [NodeProperty] {
        state.publishedControls(of: role ?? state.scene.main)
    }

    private func carryOut(_ effect: Effect) {
        switch effect {
        case .publishNode: frames?.publishNode()
        case .withdrawNode:
            let mailbox = loop.mailbox
            let done: @Sendable () -> Void = {
                mailbox.onMain { self.send(.node(nil, .withdrawn)) }
            }
            if let frames { frames.withdrawNode(done: done) } else { done() }
        case .openCamera(let role): openCamera(role)
        case .retryCamera(let role): cameras?[role][state.cameras[role].lens.pipeline].retry()
        case .lookForFile(let path): lookForFile(path)
        case .adaptCamera(let role):
            cameras?[role][state.cameras[role].lens.pipeline].adapt(
                to: state.captureRequest(for: role, configuration)
            )
        case .closeCamera(let role, let keepsPicture):
            if !(state.cameras[role].lens.incoming?.holds ?? false) { turnTorchOff(role) }
            cameras?[role][state.cameras[role].lens.pipeline].close(keepingPicture: keepsPicture)
        case .openLens(let role):
            openLens(role)
        case .closeLens(let role): closeLens(role)
        case .startCrossing, .startLensRetry, .startGrace, .endGrace, .startCameraGrace,
            .endCameraGrace, .startSettling, .startTick:
            timers?.carryOut(effect)
        case .endPreview, .prepareRecording, .beginRecording, .pauseRecording, .endRecording,
            .askLogin,
            .startLoginMemory, .endLoginMemory, .storePrivacy, .announce, .endSelfTimer:
            for perform in performers { perform(effect) }
        case .setControls(let role, let commands, let scene):
            for command in commands { perform(command, role, of: scene) }
        }
    }

    /// Passes frames of `picture` to `tap` from now on, or to none for `purpose` if it is `nil`.
    func record(_ picture: RecordedPicture, _ tap: (any FrameTap)?, for purpose: Threads.Purpose) {
        threads.record(picture, tap, for: purpose) { state.cameras[$0].lens.pipeline }
    }

    // MARK: Reports of the threads

    private func handle(_ report: Threads.Report) {
        switch report {
        case .capture(let role, let pipeline, let report, let device):
            handle(role, pipeline, report, device)
        case .controls(let role, let controls, let identity):
            send(.controls(role, .read(identity: identity, controls)))
        case .composite(let role, let event): handle(role, event)
        case .cameras(let found):
            send(.cameras(.found(found, from: .kernel(isWhole: true))))
        case .pipeWire(.cameras(let found, let names)):
            // Not those on their way when they ceased to be followed.
            guard followsNodes else { return }
            send(.cameras(.found(found, from: .pipeWire(names: names))))
        case .pipeWire(.consumers(let consumers)): show(consumers)
        case .pipeWire(.refused(let name)): tell(refused: name)
        case .phones(let event, let reason):
            if case .served(_, nil) = event { reported.phone = reason ?? "" }
            send(.phone(event))
        case .faces(let role, let faces, let search):
            // The picture may be another one by now.
            guard search == state.faceSearch(role) else { return }
            if state.cameras[role].framing == .calm { send(.lens(role, .faces(faces))) }
            controls?[role][search.pipeline].meter(faces.first?.luma)
        case .mirror(let report):
            reported.mirror = report.problem
            send(.loopback(report.state))
        }
    }

    private func handle(
        _ role: Role,
        _ pipeline: CapturePipeline,
        _ report: CaptureThread.Report,
        _ device: String
    ) {
        // Opened again since, or asked to close again: another report follows.
        if report == .closed, cameras?[role][pipeline].isClosed == false { return }
        if case .looking(let step) = report {
            rooms.steps[role] = step
            return change()
        }
        guard pipeline == state.cameras[role].lens.pipeline else {
            return handleOther(role, report, device)
        }
        func camera(_ more: Logger.Metadata) -> Logger.Metadata {
            more.merging(["camera": "\(role.rawValue)"]) { $1 }
        }
        switch report {
        case .opening: send(.camera(role, .opening))
        case .streaming(let mode, let unreduced):
            Log.capture.notice("streaming", metadata: camera(["mode": "\(mode)"]))
            send(.camera(role, .streaming(mode, insteadOf: unreduced)))
        case .adapted(let isFull): send(.camera(role, .adapted(isFull: isFull)))
        case .looking: break
        case .interrupted(let why, let reason, let holder):
            if state.cameras[role].interruption != why {
                Log.capture.warning("interrupted", metadata: camera(["reason": "\(reason)"]))
            }
            send(.camera(role, .interrupted(why, reason: reason, holder: holder, device: device)))
            if why == .unplugged || why == .notFound { threads.cameras?.look() }
        case .closed:
            if state.cameras[role].isOpen { Log.capture.notice("closed", metadata: camera([:])) }
            send(.camera(role, .closed))
        }
    }

    /// Handles a report of the device of `role` that is not shown.
    private func handleOther(_ role: Role, _ report: CaptureThread.Report, _ device: String) {
        // A report of a device that used the pipeline earlier does not concern this one.
        guard report == .closed || device == state.cameras[role].lens.incoming?.device else {
            return
        }
        switch report {
        case .opening, .adapted, .looking: break
        case .streaming(let mode, let unreduced):
            send(.lens(role, .streaming(mode, insteadOf: unreduced)))
            if state.cameras[role].lens.incoming?.mode != nil { lensTimers?[role].beginLooking() }
        case .interrupted(let why, let reason, _):
            // It is retried repeatedly; one message is enough.
            if !state.cameras[role].lens.troubled.contains(device) {
                Log.capture.warning(
                    "lens interrupted",
                    metadata: ["camera": "\(role.rawValue)", "reason": "\(reason)"]
                )
            }
            send(.lens(role, .interrupted(why)))
        case .closed: send(.lens(role, .closed))
        }
    }

    private func handle(_ role: Role?, _ event: CompositeThread.Event) {
        switch event {
        case .node(let event): handle(role, event)
        case .withdrawn: if let role { send(.node(role, .withdrawn)) }
        case .unreadable(let text):
            // Where no font has these, none has any.
            let isPlain = reported.unreadable.utf8.allSatisfy { $0 < 0x80 }
            guard text != reported.unreadable, !isPlain || reported.unreadable.isEmpty else {
                return
            }
            reported.unreadable = text
            change()
        }
    }

    /// Handles an event of a camera's own node or, for `nil`, of the stream's.
    private func handle(_ role: Role?, _ event: PipeWireNode.Event) {
        let camera: Logger.Metadata = role.map { ["camera": "\($0.rawValue)"] } ?? [:]
        switch event {
        case .published(let id):
            Log.publish.notice("published", metadata: camera.merging(["node": "\(id)"]) { $1 })
            send(.node(role, .published(id: id)))
        case .lost(let reason):
            Log.publish.warning("no node", metadata: camera.merging(["reason": "\(reason)"]) { $1 })
            send(.node(role, .lost(reason: reason)))
        case .streaming(let isStreaming): send(.node(role, .consumed(isStreaming)))
        case .consumers(let count): send(.node(role, .consumers(count)))
        case .written(let name, let value): set(name, value, of: role ?? state.scene.main)
        }
    }

    /// Sets a control to the value that an application wrote.
    private func set(_ name: NodeProperty.Name, _ value: Double, of role: Role) {
        guard let command = ControlCommand(setting: name, to: value) else {
            Log.control.warning("not set", metadata: ["reason": "\(name) is \(value)"])
            return
        }
        perform(command, role) { result in
            if case .failure(let refusal) = result {
                Log.control.warning("not set", metadata: ["reason": "\(refusal.reason)"])
            }
        }
    }

    // MARK: For the service

    /// Returns the slot of the device of `role` that is shown.
    func shownSlot(of role: Role) -> FrameSlot { slots[role][state.cameras[role].lens.pipeline] }

    /// The stream as the source of a photograph.
    var streamSource: PhotoThread.StillRequest.Source { .stream(state.scene, slots) }

    /// Returns the frame counts of a camera, those of both its pipelines added up.
    func counts(of role: Role) -> FrameSlot.Counts {
        let pipeline = state.cameras[role].lens.pipeline
        let other = slots[role][pipeline.other].counts
        var counts = slots[role][pipeline].counts
        counts.captured += other.captured
        counts.damaged += other.damaged
        counts.noisy += other.noisy
        counts.missing += other.missing
        counts.replaced += other.replaced
        return counts
    }

    var frameCounts: CompositeThread.Counts { frames?.statistics ?? CompositeThread.Counts() }

    /// Takes over what differs in `new`. A stream of another form is published as a new node.
    func reconfigure(_ new: Configuration) {
        let changes = new.changes(from: configuration)
        guard new != configuration else { return }
        for role in changes.formerTorches { turnTorchOff(role) }
        configuration = new
        if changes.replacesStream { replaceCompositeThread() }
        frames?.speak(Catalogue(new.language))
        if changes.replacesMirror {
            reported.mirror = ""
            threads.startMirror(new, isPublished: state.isActive)
            send(.loopback(LoopbackState()))
        }
        if changes.offersCameras { offerCameras() }
        for event in changes.events { send(event) }
        followNodes()
        send(.cameras(.configured(new.cameras, ignored: new.ignoredCameras)))
    }

    /// Replaces the composite thread and its node: the mode of a node never changes.
    private func replaceCompositeThread() {
        do throws(SystemError) {
            try threads.startComposite(state.scene, configuration)
            rooms.show(away: state.away.path)
            offerCameras()
            send(.stream(.setOutput(configuration.output.size)))
        } catch {
            Log.publish.error("no thread for the stream", metadata: ["reason": "\(error)"])
            send(.node(nil, .lost(reason: "\(error)")))
            // The thread that had these nodes reports nothing any more.
            for role in Role.allCases { send(.node(role, .withdrawn)) }
        }
    }
}

extension State {
    /// Creates the state before anything has started.
    init(_ configuration: Configuration) {
        func camera(_ role: Role) -> CameraState {
            let camera = configuration.cameras[role]
            return CameraState(
                source: camera.source,
                mirror: camera.mirror,
                rotation: camera.rotation
            )
        }
        self.init(
            canvas: configuration.output.size,
            style: configuration.scene.style,
            cameras: PerRole(camera)
        )
        search = CameraSearch(configuration.cameras, ignored: configuration.ignoredCameras)
        _ = reduce(&self, .configured(configuration.settings), at: .zero)
    }
}

extension Effect {
    /// `true` if the effect announces a completed change rather than one to come.
    fileprivate var isDone: Bool { self == .announce(.didStart) || self == .announce(.didStop) }
    fileprivate var isAhead: Bool { if case .announce = self { !isDone } else { false } }
}

extension PipeWireNode.Settings {
    init(_ configuration: Configuration) {
        let output = configuration.output
        self.init(
            name: output.nodeName,
            description: output.description,
            size: output.size,
            rate: output.frameRate
        )
    }

    /// Creates the settings of the node that offers only the camera of `role`. It has the mode of
    /// the stream: a node keeps one mode for its lifetime, while the mode of a camera depends on
    /// the lens and on the bandwidth of the bus.
    init(_ configuration: Configuration, _ role: Role) {
        let output = configuration.output
        let (name, description) = output.node(of: role)
        self.init(
            name: name,
            description: description,
            size: output.size,
            rate: output.frameRate,
            priority: 1500
        )
    }
}
