import Capture
import DualCamCore
import Engine
import Frames
import Glibc
import Imaging
import Logging
import PipeWire
import Platform

/// The control side of the daemon: takes events, keeps the state and carries out the effects.
///
/// - Context: The main thread, inside its event loop.
@MainActor
final class Daemon {
    /// The present state.
    private(set) var state: State
    /// The user's configuration.
    private(set) var configuration: Configuration
    /// The closures called after each event, in order.
    var observers: [() -> Void] = []
    /// The closure called for each signal of the Stream interface, in order.
    var onAnnouncement: (Effect.Announcement) -> Void = { _ in }
    /// The closure called for each effect that concerns a recording.
    var onRecording: (Effect) -> Void = { _ in }
    /// The closure called for each effect that concerns the session.
    var onSession: (Effect) -> Void = { _ in }
    /// The closure called to store privacy, with the number of the request.
    var onPrivacy: (Bool, Int) -> Void = { _, _ in }

    /// The closure called to end the preview with a number.
    var onPreviewEnd: (Int) -> Void = { _ in }

    /// The closure called after all was set back to the configuration, to store that.
    var onReset: () -> Void = {}

    // Members that are not private serve the extensions in `Daemon+….swift`.

    let loop: EventLoop
    /// The attached cameras and other video nodes, as far as is known.
    var devices: [CameraDevice] = []
    /// Those of them that udev lists, and those that only PipeWire has.
    var attached: [CameraDevice] = []
    var nodeCameras: [CameraDevice] = []
    /// The names of the cameras in PipeWire; `nil` before they are known.
    var nodeNames: Set<String>?
    /// The names in the configuration of nodes that have been there.
    var knownNodes: Set<String> = []
    private var nodeWatch: PipeWireCameraWatch?
    /// The number of node watches that were ended.
    private var nodeWatches = 0
    /// The verdict on each of them when the roles got their cameras last.
    var standings: [CameraStanding] = []
    var sources: PerRole<(any CameraSource)?> = PerRole(back: nil, front: nil)
    /// The devices of each role's lenses, by identity, the role's own camera included.
    var lensSources = PerRole(
        back: [String: any CameraSource](),
        front: [String: any CameraSource]()
    )
    let slots: PerRole<PerPipeline<FrameSlot>>
    private let bell: Bell
    /// The threads that keep time.
    let timedThreads = RealTimeThreads()
    var cameras: PerRole<PerPipeline<CaptureThread>>?
    var controls: PerRole<PerPipeline<ControlThread>>?
    var lensTimers: PerRole<LensTimers>?
    var frames: CompositeThread?
    /// The number of composite threads started so far; `frames` is the last one.
    private var compositeThreads = 0
    private var photos: PhotoThread?
    /// Looks for pages; `nil` until the first request.
    private var pages: LoopWorker<Void>?
    private var isFindingPage = false
    /// The consumers of each recorded picture, by purpose.
    private var taps: [RecordedPicture: [Purpose: any FrameTap]] = [:]

    /// The purpose for which pictures are recorded.
    enum Purpose: CaseIterable {
        case recording
        case livePhotos
    }
    private var grace: EventLoop.Timer?
    private var cameraGraces = PerRole<EventLoop.Timer?>(back: nil, front: nil)
    private var settlings = PerRole<EventLoop.Timer?>(back: nil, front: nil)
    private var watch: CameraWatch?
    /// `true` once the attached cameras were listed.
    var isListed = false
    /// The devices that sources have named so far, by source.
    var namedDevices: [String: CameraDevice] = [:]
    /// The roles whose file is being looked for.
    var lookedFor: Set<Role> = []
    /// A hint about a camera's file that is not there; empty if none.
    var fileHints = PerRole(back: "", front: "")
    /// The identities of the lenses' devices, by source.
    var lensNames: [String: String] = [:]
    /// The failures of devices that `auto` took.
    var trials = DeviceTrials()
    /// The device that each role left because it failed again and again.
    var leftDevices = PerRole<AbsentDevice?>(back: nil, front: nil)
    /// The devices and sources of lenses whose failure was logged already.
    var lensTroubles: Set<String> = []
    private var mirror: LoopbackMirror?
    private var viewers: LoopWorker<ConsumerWatch>?
    /// The number of mirrors started so far; `mirror` is the last one.
    private var mirrors = 0
    /// The reason why the stream is not mirrored although it should be; otherwise empty.
    private(set) var mirrorProblem = ""

    /// The time in seconds for which cameras stay open after the last consumer left: some come back
    /// at once.
    private static let graceDuration = 0.6
    /// The time in seconds that cameras may take to close when the daemon ends.
    private static let endDuration = 0.7
    /// The time in seconds for which the start waits for the list of cameras.
    private static let lookDuration = 0.5

    /// Creates a daemon that has not started anything.
    ///
    /// - Throws: `SystemError` when the process is out of descriptors.
    init(_ configuration: Configuration, loop: EventLoop) throws(SystemError) {
        self.configuration = configuration
        self.loop = loop
        state = State(configuration)
        bell = try Bell()
        let bell = bell
        slots = PerRole { _ in PerPipeline(a: FrameSlot(bell: bell), b: FrameSlot(bell: bell)) }
        grace = try loop.timer { [unowned self] in send(.node(nil, .graceOver)) }
        for role in Role.allCases {
            cameraGraces[role] = try loop.timer { [unowned self] in
                send(.node(role, .graceOver))
            }
            settlings[role] = try loop.timer { [unowned self] in send(.scenes(.settled(role))) }
        }
        lensTimers = try PerRole(timers)
    }

    private func timers(_ role: Role) throws(SystemError) -> LensTimers {
        try LensTimers(
            loop: loop,
            crossed: { [unowned self] in send(.lens(role, .crossed)) },
            retry: { [unowned self] in send(.lens(role, .retry)) },
            look: { [unowned self] in lookAtLens(role) },
            light: { [unowned self] in lookAtLight(role) }
        )
    }

    /// Restores the state of the last run. Call it before `start`.
    func restore(_ saved: SavedState) {
        saved.restore(&state, swapping: configuration.state.memory == .all)
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
        try startCapture()
        controls = try PerRole(controlThreads)
        frames = try compositeThread()
        offerCameras()
        photos = try PhotoThread()
        for event in configuration.changes(from: nil).events {
            // What was remembered of it counts.
            if case .pro(.setHud) = event { continue }
            send(event)
        }
        let mailbox = loop.mailbox
        let watch = try CameraWatch { cameras in
            mailbox.onMain { self.camerasChanged(cameras) }
        }
        self.watch = watch
        attached = watch.cameras(until: MonotonicClock.now + Timestamp(seconds: Self.lookDuration))
        devices = attached
        assignCameras()
        watchNodes()
        mirror = loopbackMirror()
        viewers = try watchViewers()
        send(.stream(.start))
    }

    /// Looks for cameras that only PipeWire has while `auto` may take one or a source names one,
    /// and only then: a connection to PipeWire takes some ten descriptors.
    private func watchNodes() {
        let isWanted = Role.allCases.contains { configuration.cameras[$0].source.mayBeNode }
        guard isWanted != (nodeWatch != nil) else { return }
        guard isWanted else {
            nodeWatch?.end()
            nodeWatch?.leave()
            nodeWatch = nil
            nodeWatches += 1
            nodeCameras = []
            nodeNames = nil
            devices = attached
            return
        }
        let (mailbox, number) = (loop.mailbox, nodeWatches)
        do throws(SystemError) {
            nodeWatch = try PipeWireCameraWatch { cameras, names in
                mailbox.onMain {
                    // Not those of a watch that was ended meanwhile.
                    if number == self.nodeWatches {
                        self.nodeCamerasChanged(cameras, names: names)
                    }
                }
            }
        } catch {
            Log.capture.error("no cameras of PipeWire", metadata: ["reason": "\(error)"])
        }
    }

    /// Closes the cameras and withdraws the node. Returns `false` if a thread still runs: a camera
    /// that does not answer has not closed in time, or fonts are still being looked for.
    func end() -> Bool {
        let deadline = MonotonicClock.now + Timestamp(seconds: Self.endDuration)
        for role in Role.allCases {
            turnTorchOff(role)
            for pipeline in CapturePipeline.allCases {
                cameras?[role][pipeline].end()
                controls?[role][pipeline].end()
            }
        }
        watch?.end()
        nodeWatch?.end()
        mirror?.end()
        viewers?.end()
        photos?.end()
        pages?.end()
        let hasEnded = frames?.end() ?? true
        var areClosed = true
        for role in Role.allCases {
            for pipeline in CapturePipeline.allCases {
                let isClosed = cameras?[role][pipeline].wait(until: deadline) ?? true
                areClosed =
                    (controls?[role][pipeline].wait(until: deadline) ?? true) && isClosed
                    && areClosed
            }
        }
        if !areClosed { Log.capture.warning("a camera does not close") }
        let hasMirrorEnded =
            (viewers?.join(until: deadline) ?? true) && (mirror?.wait(until: deadline) ?? true)
        let havePhotosEnded =
            (pages?.join(until: deadline) ?? true) && (photos?.wait(until: deadline) ?? true)
        guard havePhotosEnded else { return false }
        let haveWatchesEnded =
            (nodeWatch?.wait(until: deadline) ?? true) && (watch?.wait(until: deadline) ?? true)
        return haveWatchesEnded && hasEnded && areClosed && hasMirrorEnded
    }

    /// Starts the thread that watches who is linked to the stream's node.
    private func watchViewers() throws(SystemError) -> LoopWorker<ConsumerWatch> {
        let worker = try LoopWorker<ConsumerWatch>(name: "viewers")
        let mailbox = loop.mailbox
        try worker.start { loop throws(SystemError) in
            try ConsumerWatch(loop: loop) { consumers in
                mailbox.onMain { self.show(consumers) }
            }
        }
        return worker
    }

    /// Takes over who is linked to the nodes, but for our own copy on a loopback device, whose
    /// readers it tells.
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

    /// Creates the mirror that the configuration asks for; `nil` if it asks for none.
    private func loopbackMirror() -> LoopbackMirror? {
        let output = configuration.output
        mirrors += 1
        mirrorProblem = ""
        let (mailbox, number) = (loop.mailbox, mirrors)
        let device: String
        switch configuration.loopback.device {
        case .none: return nil
        case .auto: device = "auto"
        case .path(let path): device = path
        }
        do throws(SystemError) {
            let mirror = try LoopbackMirror(
                to: device,
                of: output.nodeName,
                size: output.size,
                rate: output.frameRate
            ) { report in
                report.log()
                mailbox.onMain {
                    // Reports of a mirror that was replaced are outdated.
                    guard number == self.mirrors else { return }
                    self.mirrorProblem = report.problem
                    self.send(.loopback(report.state))
                    for observer in self.observers { observer() }
                }
            }
            mirror.follow(isPublished: state.isActive)
            return mirror
        } catch {
            Log.publish.error("no loopback", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// Replaces the mirror by the one that the configuration asks for now.
    private func replaceMirror() {
        mirror?.end()
        mirror?.leave()
        mirror = loopbackMirror()
        send(.loopback(LoopbackState()))
    }

    /// Starts the threads of the cameras.
    func startCapture() throws(SystemError) {
        cameras = try PerRole(captureThreads)
    }

    private func captureThreads(_ role: Role) throws(SystemError) -> PerPipeline<CaptureThread> {
        PerPipeline(a: try captureThread(role, .a), b: try captureThread(role, .b))
    }

    private func captureThread(
        _ role: Role,
        _ pipeline: CapturePipeline
    ) throws(SystemError) -> CaptureThread {
        let mailbox = loop.mailbox
        return try CaptureThread(
            role: role,
            pipeline: pipeline,
            slot: slots[role][pipeline],
            timed: timedThreads
        ) { report, device in
            mailbox.onMain { self.handle(role, pipeline, report, device) }
        }
    }

    private func controlThreads(_ role: Role) throws(SystemError) -> PerPipeline<ControlThread> {
        PerPipeline(a: try controlThread(role, .a), b: try controlThread(role, .b))
    }

    private func controlThread(
        _ role: Role,
        _ pipeline: CapturePipeline
    ) throws(SystemError) -> ControlThread {
        let mailbox = loop.mailbox
        return try ControlThread(
            role: role,
            pipeline: pipeline,
            records: RuntimeDirectory.path.map { "\($0)/held" }
        ) { identity, controls in
            mailbox.onMain {
                self.send(.controls(role, .read(identity: identity, controls)))
            }
        }
    }

    private func compositeThread() throws(SystemError) -> CompositeThread {
        let mailbox = loop.mailbox
        compositeThreads += 1
        let number = compositeThreads
        return try CompositeThread(
            scene: state.scene,
            slots: slots,
            bell: bell,
            settings: PipeWireNode.Settings(configuration),
            timed: timedThreads
        ) { role, event in
            mailbox.onMain {
                // Events of an earlier node, such as a new consumer, would keep cameras open
                // for no one.
                if number == self.compositeThreads { self.handle(role, event) }
            }
        }
    }

    /// Publishes a node of its own for each camera that is configured to have one, with its
    /// properties.
    private func offerCameras() {
        func settings(_ role: Role) -> PipeWireNode.Settings? {
            configuration.cameras[role].isOffered ? PipeWireNode.Settings(configuration, role) : nil
        }
        frames?.offer(PerRole(settings))
        for role in Role.allCases { frames?.show(nodeProperties(of: role), of: role) }
    }

    // MARK: Events and effects

    /// Applies `event` to the state, and carries out what follows from it.
    func send(_ event: Event) {
        let before = state
        let effects = reduce(&state, event, at: MonotonicClock.now)
        for update in state.updates(after: event, from: before) { carryOut(update) }
        // Announcements of what has happened follow the properties that show it; all other effects
        // come before.
        for effect in effects where !effect.isDone { carryOut(effect) }
        // A camera that was unplugged while in use loses its role now.
        if before.isInUse && !state.isInUse { assignCameras() }
        if state.suspensions != before.suspensions {
            let names = state.suspensions.map { "\($0)" }.sorted().joined(separator: ", ")
            Log.control.notice("suspensions", metadata: ["because": "\(names)"])
        }
        if state.streamPhase != before.streamPhase {
            Log.control.notice("stream", metadata: ["state": "\(state.streamPhase.rawValue)"])
        }
        for observer in observers { observer() }
        for effect in effects where effect.isDone { carryOut(effect) }
    }

    private func carryOut(_ update: Update) {
        switch update {
        case .lookForCameras: watch?.look()
        case .leaveControls(let role, let pipeline): controls?[role][pipeline].leave()
        case .showScene: frames?.show(state.scene)
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
            slots[role][pipeline].tap(nil)
            slots[role][state.cameras[role].lens.pipeline].tap(tap(of: RecordedPicture(role)))
        case .useControls(let role): useControls(role)
        case .useIncomingControls(let role): useIncomingControls(role)
        case .watchLight(let role, let isOn): lensTimers?[role].watchLight(isOn)
        case .turnTorchesOff: turnTorchesOff()
        case .mirror(let isPublished): mirror?.follow(isPublished: isPublished)
        case .watchViewers(let nodes): viewers?.post { $0.watch(nodes) }
        case .showControls(let role):
            if let role, !configuration.cameras[role].isOffered { return }
            frames?.show(nodeProperties(of: role), of: role)
        }
    }

    /// Returns the values that a role's node shows; `nil`: those that the stream's does.
    private func nodeProperties(of role: Role?) -> [NodeProperty] {
        state.publishedControls(of: role ?? state.scene.main).map {
            NodeProperty(NodeProperty.Name($0.name), $0.value, in: $0.range)
        }
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
        case .openCamera(let role):
            let lens = state.cameras[role].lens
            guard let source = source(role, lens.device) else { return }
            cameras?[role][lens.pipeline].open(
                source,
                state.captureRequest(for: role, configuration)
            )
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
        case .startCrossing(let role, let seconds): lensTimers?[role].crossed.arm(after: seconds)
        case .startLensRetry(let role): lensTimers?[role].retry.arm(after: LensState.retryDelay)
        case .startGrace: grace?.arm(after: Self.graceDuration)
        case .endGrace: grace?.disarm()
        case .startCameraGrace(let role): cameraGraces[role]?.arm(after: Self.graceDuration)
        case .endCameraGrace(let role): cameraGraces[role]?.disarm()
        case .endPreview(let number): onPreviewEnd(number)
        case .prepareRecording, .beginRecording, .endRecording: onRecording(effect)
        case .askLogin, .startLoginMemory, .endLoginMemory: onSession(effect)
        case .storePrivacy(let isOn, let number): onPrivacy(isOn, number)
        case .setControls(let role, let commands, let scene):
            for command in commands { perform(command, role, of: scene) }
        case .startSettling(let role, let seconds): settlings[role]?.arm(after: seconds)
        case .announce(let announcement): onAnnouncement(announcement)
        }
    }

    /// Passes every frame of `picture` to `tap` from now on, or to none for `purpose` if `tap` is
    /// `nil`.
    func record(_ picture: RecordedPicture, _ tap: (any FrameTap)?, for purpose: Purpose) {
        taps[picture, default: [:]][purpose] = tap
        let all = self.tap(of: picture)
        guard let role = picture.role else {
            frames?.record(all)
            return
        }
        slots[role][state.cameras[role].lens.pipeline].tap(all)
    }

    /// Returns the consumer of `picture`: `nil`, one, or one that passes frames on to both.
    private func tap(of picture: RecordedPicture) -> (any FrameTap)? {
        let found = Purpose.allCases.compactMap { taps[picture]?[$0] }
        return found.count < 2 ? found.first : FrameTaps(found)
    }

    // MARK: Reports of the threads

    private func handle(
        _ role: Role,
        _ pipeline: CapturePipeline,
        _ report: CaptureThread.Report,
        _ device: String
    ) {
        // Opened again since, or asked to close again: another report follows.
        if report == .closed, cameras?[role][pipeline].isClosed == false { return }
        guard pipeline == state.cameras[role].lens.pipeline else {
            return handleOther(role, report, device)
        }
        func camera(_ more: Logger.Metadata) -> Logger.Metadata {
            more.merging(["camera": "\(role.rawValue)"]) { $1 }
        }
        switch report {
        case .opening:
            trials.open(device, at: MonotonicClock.now)
            send(.camera(role, .opening))
        case .streaming(let mode, let unreduced):
            trials.deliver(device)
            Log.capture.notice("streaming", metadata: camera(["mode": "\(mode)"]))
            send(.camera(role, .streaming(mode, insteadOf: unreduced)))
        case .adapted(let isFull): send(.camera(role, .adapted(isFull: isFull)))
        case .interrupted(let why, let reason, let holder):
            if state.cameras[role].interruption != why {
                Log.capture.warning("interrupted", metadata: camera(["reason": "\(reason)"]))
            }
            // A camera that delivered may only hesitate.
            let isPause = state.cameras[role].mode != nil
            send(.camera(role, .interrupted(why, reason: reason, holder: holder)))
            countFailure(of: role, device, why, isPause: isPause)
            if why == .unplugged || why == .notFound { watch?.look() }
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
        case .opening, .adapted: break
        case .streaming(let mode, let unreduced):
            lensTroubles.remove(device)
            send(.lens(role, .streaming(mode, insteadOf: unreduced)))
            if state.cameras[role].lens.incoming?.mode != nil { lensTimers?[role].beginLooking() }
        case .interrupted(let why, let reason, _):
            // It is retried repeatedly; one message is enough.
            if lensTroubles.insert(device).inserted {
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
        guard let command = ControlCommand(setting: PublishedControl.Name(name), to: value) else {
            Log.control.warning("not set", metadata: ["reason": "\(name) is \(value)"])
            return
        }
        perform(command, role) { result in
            if case .failure(let refusal) = result {
                Log.control.warning("not set", metadata: ["reason": "\(refusal.reason)"])
            }
        }
    }

    // MARK: Photographs

    /// Takes photographs.
    ///
    /// - Context: `taken` and `done` are called on other threads.
    func takePhotos(
        _ stills: [PhotoThread.StillRequest],
        to destination: PhotoWriter.Destination,
        taken: @escaping @Sendable () -> Void,
        done: @escaping @Sendable (Result<[PhotoThread.Photo], PhotoThread.Failure>) -> Void
    ) {
        photos?.take(stills, to: destination, taken: taken, done: done)
    }

    // MARK: Pages

    /// Looks for a page in the picture of `role`, and calls `done` with the likeliest, if any.
    /// Returns `false`, and does nothing, while it looks already or if the system has no thread
    /// left.
    func findPage(_ role: Role, done: @escaping @MainActor (FoundPage?) -> Void) -> Bool {
        guard !isFindingPage else { return false }
        if pages == nil {
            let worker = try? LoopWorker<Void>(name: "page")
            guard let worker, (try? worker.start { _ in }) != nil else { return false }
            pages = worker
        }
        isFindingPage = true
        let (mailbox, slot) = (loop.mailbox, shownSlot(of: role))
        pages?.post { _ in
            let page = slot.still().flatMap { PageFinder.find(in: $0) }
            mailbox.onMain {
                self.isFindingPage = false
                done(page)
            }
        }
        return true
    }

    /// Returns the slot of the device of `role` that is shown.
    func shownSlot(of role: Role) -> FrameSlot { slots[role][state.cameras[role].lens.pipeline] }

    /// The stream as the source of a photograph.
    var streamSource: PhotoThread.StillRequest.Source { .stream(state.scene, slots) }

    // MARK: For the service

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

    /// The counts of the composite thread so far.
    var frameCounts: CompositeThread.Counts { frames?.statistics ?? CompositeThread.Counts() }

    /// Calls `answer` on the main thread once the composite thread has completed a round of its
    /// loop.
    func pingFrames(_ answer: @escaping @MainActor @Sendable () -> Void) {
        let mailbox = loop.mailbox
        frames?.ping { mailbox.onMain { answer() } }
    }

    /// Takes over what differs in `new`. A stream of another form is published as a new node.
    func reconfigure(_ new: Configuration) {
        let changes = new.changes(from: configuration)
        guard new != configuration else { return }
        // Whoever asks for "auto" wants its choice, not what a device left over.
        let isFreed = Role.allCases.contains {
            new.cameras[$0].source == .auto && configuration.cameras[$0].source != .auto
        }
        for role in changes.formerTorches { turnTorchOff(role) }
        configuration = new
        trials = DeviceTrials()
        if changes.replacesStream { replaceCompositeThread() }
        if changes.replacesMirror { replaceMirror() }
        if changes.offersCameras { offerCameras() }
        send(.configured(new.settings))
        for event in changes.events { send(event) }
        for role in changes.newSources {
            send(.camera(role, .assigned(name: nil)))
            sources[role] = nil
            send(.camera(role, .setSource(new.cameras[role].source)))
        }
        watchNodes()
        assignCameras(anew: isFreed)
    }

    /// Replaces the composite thread and its node: the mode of a node never changes.
    private func replaceCompositeThread() {
        frames?.end()
        frames = nil
        do throws(SystemError) {
            frames = try compositeThread()
            offerCameras()
            if let tap = tap(of: .stream) { frames?.record(tap) }
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
        takesLivePhotos = configuration.capture.takesLivePhotos
        pro.hud = configuration.scene.hud
        _ = reduce(&self, .configured(configuration.settings), at: .zero)
    }
}

extension Configuration {
    /// The values of all that commands change.
    fileprivate var settings: ConfiguredSettings {
        func mounting(_ role: Role) -> Mounting {
            Mounting(mirror: cameras[role].mirror, rotation: cameras[role].rotation)
        }
        var settings = ConfiguredSettings(
            style: scene.style,
            mountings: PerRole(mounting)
        )
        settings.hud = scene.hud
        settings.takesLivePhotos = capture.takesLivePhotos
        for role in Role.allCases {
            settings.inks[role] = cameras[role].isInk
            settings.perspectives[role] = cameras[role].perspective
        }
        return settings
    }
}

extension NodeProperty.Name {
    fileprivate init(_ name: PublishedControl.Name) {
        self =
            switch name {
            case .exposure: .exposure
            case .gain: .gain
            case .whiteBalance: .whiteBalance
            case .focus: .focus
            }
    }
}

extension PublishedControl.Name {
    fileprivate init(_ name: NodeProperty.Name) {
        self =
            switch name {
            case .exposure: .exposure
            case .gain: .gain
            case .whiteBalance: .whiteBalance
            case .focus: .focus
            }
    }
}

extension Effect {
    /// `true` if the effect announces a completed change rather than one to come.
    fileprivate var isDone: Bool { self == .announce(.didStart) || self == .announce(.didStop) }
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
