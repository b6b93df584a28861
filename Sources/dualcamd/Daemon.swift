import Capture
import DualCamCore
import Engine
import Frames
import Logging
import Platform
import Publish

/// The control side: takes events, keeps the state, and has its effects carried out.
///
/// All of it happens on the main thread, in the rounds of its loop.
@MainActor
final class Daemon {
    /// What is known and wanted.
    private(set) var state: State
    /// What the user has set.
    private(set) var configuration: Configuration
    /// Called after each event, in order.
    var observers: [() -> Void] = []
    /// Called for each signal of the Stream interface, in order.
    var onAnnouncement: (Effect.Announcement) -> Void = { _ in }
    /// Called for each effect that is a recording's.
    var onRecording: (Effect) -> Void = { _ in }

    // What is not private is for the extensions in `Daemon+….swift`.

    let loop: EventLoop
    /// The cameras that are attached, as far as is known.
    var devices: [CameraDevice] = []
    var sources: PerRole<(any CameraSource)?> = PerRole(back: nil, front: nil)
    /// The devices of each role's lenses, by what they are known by; its own camera is among them.
    var lensSources = PerRole(
        back: [String: any CameraSource](),
        front: [String: any CameraSource]()
    )
    let slots: PerRole<PerPipeline<FrameSlot>>
    private let bell: Bell
    var cameras: PerRole<PerPipeline<CaptureThread>>?
    var controls: PerRole<PerPipeline<ControlThread>>?
    var lensTimers: PerRole<LensTimers>?
    var frames: CompositeThread?
    /// How many composite threads there have been; the last one is `frames`.
    private var compositeThreads = 0
    private var photos: PhotoThread?
    /// Who records each picture, by what for.
    private var taps: [RecordedPicture: [Purpose: any FrameTap]] = [:]

    /// What pictures are recorded for.
    enum Purpose: CaseIterable {
        case recording
        case livePhotos
    }
    private var grace: EventLoop.Timer?
    private var cameraGraces = PerRole<EventLoop.Timer?>(back: nil, front: nil)
    private var watch: CameraWatch?
    /// What the devices of lenses were known by, by their sources.
    var lensNames: [String: String] = [:]
    /// Devices and sources of lenses whose trouble was logged.
    var lensTroubles: Set<String> = []
    private var mirror: LoopbackMirror?
    /// How many mirrors there have been; the last one is `mirror`.
    private var mirrors = 0
    /// Why the stream is not mirrored though it should be; empty otherwise.
    private(set) var mirrorProblem = ""

    /// How long cameras stay open after the last consumer left, since some come back at once.
    private static let graceDuration = 0.6
    /// How long cameras may take to close at the end.
    private static let endDuration = 0.7
    /// How long the start waits to know which cameras there are.
    private static let lookDuration = 0.5

    /// A daemon with nothing started. Throws when the process is out of descriptors.
    init(_ configuration: Configuration, loop: EventLoop) throws(SystemError) {
        self.configuration = configuration
        self.loop = loop
        state = State(configuration)
        bell = try Bell()
        let bell = bell
        func pipelines() -> PerPipeline<FrameSlot> {
            PerPipeline(a: FrameSlot(bell: bell), b: FrameSlot(bell: bell))
        }
        slots = PerRole(back: pipelines(), front: pipelines())
        grace = try loop.timer { [unowned self] in send(.graceOver) }
        for role in Role.allCases {
            cameraGraces[role] = try loop.timer { [unowned self] in
                send(.cameraNode(role, .graceOver))
            }
        }
        lensTimers = PerRole(back: try timers(.back), front: try timers(.front))
    }

    private func timers(_ role: Role) throws(SystemError) -> LensTimers {
        try LensTimers(
            loop: loop,
            crossed: { [unowned self] in send(.lensCrossed(role)) },
            retry: { [unowned self] in send(.lensRetry(role)) },
            look: { [unowned self] in lookAtLens(role) },
            light: { [unowned self] in lookAtLight(role) }
        )
    }

    /// Before anything started: is what it was when it ended.
    func restore(_ saved: SavedState) { saved.restore(&state) }

    /// Starts the threads, looks for cameras and publishes the stream.
    func start() throws(SystemError) {
        cameras = PerRole(back: try captureThreads(.back), front: try captureThreads(.front))
        controls = PerRole(back: try controlThreads(.back), front: try controlThreads(.front))
        frames = try compositeThread()
        offerCameras()
        photos = try PhotoThread()
        setControls(before: nil)
        let mailbox = loop.mailbox
        let watch = try CameraWatch { cameras in
            mailbox.post { MainActor.assumeIsolated { self.camerasChanged(cameras) } }
        }
        self.watch = watch
        devices = watch.cameras(until: MonotonicClock.now + Timestamp(seconds: Self.lookDuration))
        assignCameras()
        mirror = loopbackMirror()
        send(.start)
    }

    /// Closes the cameras and takes the node away. False when a thread still runs: a camera's has not
    /// closed in time, since its device does not answer, or fonts are still looked for.
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
        mirror?.end()
        photos?.end()
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
        let hasMirrorEnded = mirror?.wait(until: deadline) ?? true
        let havePhotosEnded = photos?.wait(until: deadline) ?? true
        guard havePhotosEnded else { return false }
        return (watch?.wait(until: deadline) ?? true) && hasEnded && areClosed && hasMirrorEnded
    }

    /// The mirror that the configuration asks for; `nil` where it asks for none.
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
                var problem = ""
                switch report {
                case .ready(let path):
                    Log.publish.notice("loopback ready", metadata: ["device": "\(path)"])
                case .mirroring(let path):
                    Log.publish.notice("loopback in use", metadata: ["device": "\(path)"])
                case .unavailable(let reason):
                    Log.publish.warning("no loopback", metadata: ["reason": "\(reason)"])
                    problem = "The stream is not on a loopback device: \(reason)"
                }
                let reported = problem
                mailbox.post {
                    MainActor.assumeIsolated {
                        // One that was replaced tells nothing any more.
                        guard number == self.mirrors else { return }
                        self.mirrorProblem = reported
                        for observer in self.observers { observer() }
                    }
                }
            }
            mirror.follow(isPublished: state.isActive)
            return mirror
        } catch {
            Log.publish.error("no loopback", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// Has the mirror be what the configuration asks for now.
    private func replaceMirror() {
        mirror?.end()
        mirror?.leave()
        mirror = loopbackMirror()
    }

    private func captureThreads(_ role: Role) throws(SystemError) -> PerPipeline<CaptureThread> {
        PerPipeline(a: try captureThread(role, .a), b: try captureThread(role, .b))
    }

    private func captureThread(
        _ role: Role,
        _ pipeline: CapturePipeline
    ) throws(SystemError) -> CaptureThread {
        let mailbox = loop.mailbox
        return try CaptureThread(role: role, pipeline: pipeline, slot: slots[role][pipeline]) {
            report,
            device in
            mailbox.post {
                MainActor.assumeIsolated { self.handle(role, pipeline, report, device) }
            }
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
        return try ControlThread(role: role, pipeline: pipeline) { identity, controls in
            mailbox.post {
                MainActor.assumeIsolated {
                    self.send(.controlsRead(role, identity: identity, controls))
                }
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
            settings: PipeWireNode.Settings(configuration)
        ) { role, event in
            mailbox.post {
                MainActor.assumeIsolated {
                    // What became of an earlier node, such as that somebody looked at it, would keep
                    // cameras open for nobody.
                    if number == self.compositeThreads { self.handle(role, event) }
                }
            }
        }
    }

    /// Has those cameras be nodes of their own that the configuration says, and shows their values.
    private func offerCameras() {
        func settings(_ role: Role) -> PipeWireNode.Settings? {
            configuration.cameras[role].isOffered ? PipeWireNode.Settings(configuration, role) : nil
        }
        frames?.offer(PerRole(back: settings(.back), front: settings(.front)))
        for role in Role.allCases { frames?.show(state.nodeProperties(of: role), of: role) }
    }

    // MARK: Events and effects

    /// Takes `event`, and has done what follows from it.
    func send(_ event: Event) {
        if event.isFirstLook { watch?.look() }
        let before = state
        let effects = reduce(&state, event, at: MonotonicClock.now)
        for role in Role.allCases { leaveLens(role, before) }
        if state.scene != before.scene { frames?.show(state.scene) }
        for role in Role.allCases
        where state.cameras[role].lens.pipeline != before.cameras[role].lens.pipeline {
            // What is recorded is what is shown.
            slots[role][before.cameras[role].lens.pipeline].tap(nil)
            slots[role][state.cameras[role].lens.pipeline].tap(tap(of: RecordedPicture(role)))
        }
        for role in Role.allCases where state.controlUse(role) != before.controlUse(role) {
            useControls(role)
        }
        for role in Role.allCases {
            let (lens, old) = (state.cameras[role].lens, before.cameras[role].lens)
            if lens.incoming?.mode != old.incoming?.mode
                || lens.incoming?.device != old.incoming?.device
                || lens.zoomNumber != old.zoomNumber
            {
                useIncomingControls(role)
            }
            let watchesLight = lens.isLightWatched && state.cameras[role].mode != nil
            if let timers = lensTimers?[role], timers.watchesLight != watchesLight {
                timers.watchLight(watchesLight)
            }
        }
        if before.suspensions.isEmpty, !state.suspensions.isEmpty { turnTorchesOff() }
        if state.isActive != before.isActive { mirror?.follow(isPublished: state.isActive) }
        let properties = state.nodeProperties
        if properties != before.nodeProperties || event.isPublished {
            frames?.show(properties, of: nil)
        }
        for role in Role.allCases where configuration.cameras[role].isOffered {
            let properties = state.nodeProperties(of: role)
            if properties != before.nodeProperties(of: role) {
                frames?.show(properties, of: role)
            }
        }
        // What has happened is told after the properties that show it, the rest is told before.
        for effect in effects where !effect.isDone { carryOut(effect) }
        // A camera that went while it was looked at has lost its role now.
        if before.isInUse && !state.isInUse { assignCameras() }
        if state.streamPhase != before.streamPhase {
            Log.control.notice("stream", metadata: ["state": "\(state.streamPhase.rawValue)"])
        }
        for observer in observers { observer() }
        for effect in effects where effect.isDone { carryOut(effect) }
    }

    private func carryOut(_ effect: Effect) {
        switch effect {
        case .publishNode: frames?.publishNode()
        case .withdrawNode:
            let mailbox = loop.mailbox
            let done: @Sendable () -> Void = {
                mailbox.post { MainActor.assumeIsolated { self.send(.nodeWithdrawn) } }
            }
            if let frames { frames.withdrawNode(done: done) } else { done() }
        case .openCamera(let role):
            let lens = state.cameras[role].lens
            guard let source = source(role, lens.device) else { return }
            cameras?[role][lens.pipeline].open(source, request(for: role))
        case .adaptCamera(let role):
            cameras?[role][state.cameras[role].lens.pipeline].adapt(to: request(for: role))
        case .closeCamera(let role, let keepsPicture):
            if !(state.cameras[role].lens.incoming?.holds ?? false) { turnTorchOff(role) }
            cameras?[role][state.cameras[role].lens.pipeline].close(keepingPicture: keepsPicture)
        case .openLens(let role):
            let lens = state.cameras[role].lens
            guard let incoming = lens.incoming, let source = source(role, incoming.device) else {
                return
            }
            Log.capture.notice(
                "lens",
                metadata: ["camera": "\(role.rawValue)", "name": "\(source.name)"]
            )
            var request = request(for: role)
            request.isFull = false
            cameras?[role][lens.pipeline.other].open(source, request)
        case .closeLens(let role): closeLens(role)
        case .startCrossing(let role, let seconds): lensTimers?[role].crossed.arm(after: seconds)
        case .startLensRetry(let role): lensTimers?[role].retry.arm(after: LensState.retryDelay)
        case .startGrace: grace?.arm(after: Self.graceDuration)
        case .endGrace: grace?.disarm()
        case .startCameraGrace(let role): cameraGraces[role]?.arm(after: Self.graceDuration)
        case .endCameraGrace(let role): cameraGraces[role]?.disarm()
        case .prepareRecording, .beginRecording, .endRecording: onRecording(effect)
        case .announce(let announcement): onAnnouncement(announcement)
        }
    }

    /// Has `tap` given every frame of `picture` from now on; `nil`: nobody for that purpose.
    func record(_ picture: RecordedPicture, _ tap: (any FrameTap)?, for purpose: Purpose) {
        taps[picture, default: [:]][purpose] = tap
        let all = self.tap(of: picture)
        guard let role = picture.role else {
            frames?.record(all)
            return
        }
        slots[role][state.cameras[role].lens.pipeline].tap(all)
    }

    /// Who is given `picture`: nobody, one or both.
    private func tap(of picture: RecordedPicture) -> (any FrameTap)? {
        let found = Purpose.allCases.compactMap { taps[picture]?[$0] }
        return found.count < 2 ? found.first : FrameTaps(found)
    }

    /// What `role`'s camera is opened for. Either may become the main picture at any time.
    private func request(for role: Role) -> CaptureRequest {
        let camera = configuration.cameras[role]
        let size = configuration.output.size
        let isOnItsSide = state.cameras[role].rotation % 180 != 0
        var request = CaptureRequest(
            size: isOnItsSide ? size.transposed : size,
            rate: configuration.output.frameRate,
            mode: camera.capture,
            reduction: state.cameras[role].reduction
        )
        request.isFull = [.asked, .on].contains(state.cameras[role].full)
        // What it gave up for the other one may be there for a moment.
        if request.isFull { request.reduction = 0 }
        return request
    }

    // MARK: What the threads tell

    private func handle(
        _ role: Role,
        _ pipeline: CapturePipeline,
        _ report: CaptureThread.Report,
        _ device: String
    ) {
        guard pipeline == state.cameras[role].lens.pipeline else {
            return handleOther(role, report, device)
        }
        func camera(_ more: Logger.Metadata) -> Logger.Metadata {
            more.merging(["camera": "\(role.rawValue)"]) { $1 }
        }
        switch report {
        case .opening: send(.cameraOpening(role))
        case .streaming(let mode, let unreduced):
            Log.capture.notice("streaming", metadata: camera(["mode": "\(mode)"]))
            send(.cameraStreaming(role, mode, insteadOf: unreduced))
        case .adapted(let isFull): send(.cameraAdapted(role, isFull: isFull))
        case .interrupted(let why, let reason):
            if state.cameras[role].interruption != why {
                Log.capture.warning("interrupted", metadata: camera(["reason": "\(reason)"]))
            }
            send(.cameraInterrupted(role, why, reason: reason))
            if why == .unplugged { watch?.look() }
        case .closed:
            if state.cameras[role].isOpen { Log.capture.notice("closed", metadata: camera([:])) }
            send(.cameraClosed(role))
        }
    }

    /// What the device of a role tells that is not the one that is shown.
    private func handleOther(_ role: Role, _ report: CaptureThread.Report, _ device: String) {
        // One that used the pipeline before says nothing of this one.
        guard report == .closed || device == state.cameras[role].lens.incoming?.device else {
            return
        }
        switch report {
        case .opening, .adapted: break
        case .streaming(let mode, let unreduced):
            lensTroubles.remove(device)
            send(.lensStreaming(role, mode, insteadOf: unreduced))
            if state.cameras[role].lens.incoming?.mode != nil { lensTimers?[role].beginLooking() }
        case .interrupted(let why, let reason):
            // It is tried again and again.
            if lensTroubles.insert(device).inserted {
                Log.capture.warning(
                    "lens interrupted",
                    metadata: ["camera": "\(role.rawValue)", "reason": "\(reason)"]
                )
            }
            send(.lensInterrupted(role, why))
        case .closed: send(.lensClosed(role))
        }
    }

    private func handle(_ role: Role?, _ event: CompositeThread.Event) {
        switch (role, event) {
        case (nil, .node(let event)): handle(event)
        case (nil, .withdrawn): break
        case (let role?, .withdrawn): send(.cameraNode(role, .withdrawn))
        case (let role?, .node(let event)): handle(role, event)
        }
    }

    /// What a camera's own node tells.
    private func handle(_ role: Role, _ event: PipeWireNode.Event) {
        let camera: Logger.Metadata = ["camera": "\(role.rawValue)"]
        switch event {
        case .published(let id):
            Log.publish.notice(
                "published",
                metadata: camera.merging(["node": "\(id)"]) { $1 }
            )
            send(.cameraNode(role, .published(id: id)))
        case .lost(let reason):
            Log.publish.warning(
                "no node",
                metadata: camera.merging(["reason": "\(reason)"]) { $1 }
            )
            send(.cameraNode(role, .lost(reason: reason)))
        case .streaming(let isStreaming): send(.cameraNode(role, .consumed(isStreaming)))
        case .consumers(let count): send(.cameraNode(role, .consumers(count)))
        case .written(let name, let value): set(name, value, of: role)
        }
    }

    private func handle(_ event: PipeWireNode.Event) {
        switch event {
        case .published(let id):
            Log.publish.notice("published", metadata: ["node": "\(id)"])
            send(.nodePublished(id: id))
        case .lost(let reason):
            Log.publish.warning("no node", metadata: ["reason": "\(reason)"])
            send(.nodeLost(reason: reason))
        case .streaming(let isStreaming): send(.consumed(isStreaming))
        case .consumers(let count): send(.consumers(count))
        case .written(let name, let value): set(name, value, of: state.scene.main)
        }
    }

    /// Sets what an application has written.
    private func set(_ name: NodeProperty.Name, _ value: Double, of role: Role) {
        let command: ControlCommand =
            switch name {
            case .exposure: .shutter(Int(value))
            case .gain: .iso(Int(value))
            case .whiteBalance: .whiteBalance(.kelvin(Int(value)))
            case .focus: .focus(value)
            }
        perform(command, role) { result in
            if case .failure(let refusal) = result {
                Log.control.warning("not set", metadata: ["reason": "\(refusal)"])
            }
        }
    }

    // MARK: Photographs

    /// Takes photographs on a thread of their own, on which `done` is called.
    func takePhotos(
        _ stills: [PhotoThread.StillRequest],
        to destination: PhotoThread.Destination,
        done: @escaping @Sendable (Result<[PhotoThread.Photo], PhotoThread.Failure>) -> Void
    ) {
        photos?.take(stills, to: destination, done: done)
    }

    /// Where the pictures of the role's camera are that is shown.
    func shownSlot(of role: Role) -> FrameSlot { slots[role][state.cameras[role].lens.pipeline] }

    /// The stream, to be photographed.
    var streamSource: PhotoThread.StillRequest.Source { .stream(state.scene, slots) }

    // MARK: For the service

    /// What each camera's frames were counted as.
    func counts(of role: Role) -> FrameSlot.Counts {
        let pipeline = state.cameras[role].lens.pipeline
        let other = slots[role][pipeline.other].counts
        var counts = slots[role][pipeline].counts
        counts.captured += other.captured
        counts.damaged += other.damaged
        counts.missing += other.missing
        counts.replaced += other.replaced
        return counts
    }

    /// What the composite thread did so far.
    var frameCounts: CompositeThread.Counts { frames?.statistics ?? CompositeThread.Counts() }

    /// Calls `answer` on the main thread once the composite thread has gone round.
    func pingFrames(_ answer: @escaping @MainActor @Sendable () -> Void) {
        let mailbox = loop.mailbox
        frames?.ping { mailbox.post { MainActor.assumeIsolated { answer() } } }
    }

    /// Takes over what differs in `new`; a stream of another form is published anew.
    func reconfigure(_ new: Configuration) {
        let old = configuration
        guard new != old else { return }
        // What is not this camera's light any more is nobody's.
        for role in Role.allCases where new.cameras[role].torch != old.cameras[role].torch {
            turnTorchOff(role)
        }
        configuration = new
        if new.output != old.output { replaceCompositeThread() }
        if new.output != old.output || new.loopback != old.loopback { replaceMirror() }
        if Role.allCases.contains(where: {
            new.cameras[$0].isOffered != old.cameras[$0].isOffered
        }) {
            offerCameras()
        }
        setControls(before: old)
        if new.capture.takesLivePhotos != old.capture.takesLivePhotos {
            send(.setLivePhoto(new.capture.takesLivePhotos))
        }
        if new.scene.style != old.scene.style { send(.setStyle(new.scene.style)) }
        for role in Role.allCases {
            let (camera, before) = (new.cameras[role], old.cameras[role])
            if camera.mirror != before.mirror { send(.setMirror(role, camera.mirror)) }
            if camera.rotation != before.rotation { send(.setRotation(role, camera.rotation)) }
            if camera.source != before.source || camera.capture != before.capture
                || camera.lenses != before.lenses
            {
                send(.cameraAssigned(role, name: nil))
                sources[role] = nil
                send(.setSource(role, camera.source))
            }
        }
        assignCameras()
    }

    /// A node's mode never changes, so a stream of another form is another node.
    private func replaceCompositeThread() {
        frames?.end()
        frames = nil
        do throws(SystemError) {
            frames = try compositeThread()
            offerCameras()
            if let tap = tap(of: .stream) { frames?.record(tap) }
            send(.setOutput(configuration.output.size))
        } catch {
            Log.publish.error("no thread for the stream", metadata: ["reason": "\(error)"])
            send(.nodeLost(reason: "\(error)"))
            // The thread that had them tells nothing any more.
            for role in Role.allCases { send(.cameraNode(role, .withdrawn)) }
        }
    }
}

extension State {
    /// What there is before anything started.
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
            cameras: PerRole(back: camera(.back), front: camera(.front))
        )
        takesLivePhotos = configuration.capture.takesLivePhotos
    }
}

extension State {
    /// What of the main camera's values applications are shown.
    fileprivate var nodeProperties: [NodeProperty] { nodeProperties(of: scene.main) }

    /// What of a camera's values applications are shown.
    fileprivate func nodeProperties(of role: Role) -> [NodeProperty] {
        let controls = cameras[role].controls
        var properties = [
            NodeProperty(
                .whiteBalance,
                Double(controls.kelvin ?? 5500),
                in: Double(Stops.kelvin.lowerBound)...Double(Stops.kelvin.upperBound)
            )
        ]
        if let iso = controls.iso, let least = controls.isoStops.first,
            let most = controls.isoStops.last
        {
            properties.append(NodeProperty(.gain, Double(iso), in: Double(least)...Double(most)))
        }
        if let shutter = controls.shutter, let least = controls.shutterStops.first,
            let most = controls.shutterStops.last
        {
            properties.append(
                NodeProperty(.exposure, Double(shutter), in: Double(least)...Double(most))
            )
        }
        if let focus = controls.focus { properties.append(NodeProperty(.focus, focus, in: 0...1)) }
        return properties
    }
}

extension Event {
    /// Whether there is another node now.
    fileprivate var isPublished: Bool { if case .nodePublished = self { true } else { false } }

    /// Whether somebody begins to look.
    fileprivate var isFirstLook: Bool {
        switch self {
        case .consumed(true), .cameraNode(_, .consumed(true)): true
        default: false
        }
    }
}

extension Effect {
    /// Whether it announces what has happened, not what is to.
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

    /// Those of the node that offers `role`'s camera alone. It has the stream's mode: a node has one
    /// for as long as it lives, while what a camera delivers differs from lens to lens, and with what
    /// the bus has room for.
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

/// Several that get every picture.
private final class FrameTaps: FrameTap {
    private let taps: [any FrameTap]

    init(_ taps: [any FrameTap]) { self.taps = taps }

    func take(copying frame: Frame) { for tap in taps { tap.take(copying: frame) } }
    func take(_ frame: Frame) { for tap in taps { tap.take(frame) } }
    func take(jpeg bytes: UnsafeRawBufferPointer, at time: Timestamp) {
        for tap in taps { tap.take(jpeg: bytes, at: time) }
    }
    func drop() { for tap in taps { tap.drop() } }
    func discontinue(at time: Timestamp) { for tap in taps { tap.discontinue(at: time) } }
}
