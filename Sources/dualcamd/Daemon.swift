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

    private let loop: EventLoop
    private let directory = CameraDirectory()
    private var sources: PerRole<(any CameraSource)?> = PerRole(back: nil, front: nil)
    private let slots: PerRole<FrameSlot>
    private let bell: Bell
    private var cameras: PerRole<CameraThread>?
    private var frames: FrameThread?
    /// How many frame threads there have been; the last one is `frames`.
    private var frameThreads = 0
    private var grace: EventLoop.Timer?
    private var monitor: DeviceMonitor?

    /// How long cameras stay open after the last consumer left, since some come back at once.
    private static let graceDuration = 0.6
    /// How long cameras may take to close at the end.
    private static let endDuration = 0.7

    /// A daemon with nothing started. Throws when the process is out of descriptors.
    init(_ configuration: Configuration, loop: EventLoop) throws(SystemError) {
        self.configuration = configuration
        self.loop = loop
        state = State(configuration)
        bell = try Bell()
        slots = PerRole(back: FrameSlot(bell: bell), front: FrameSlot(bell: bell))
        grace = try loop.timer { [unowned self] in send(.graceOver) }
    }

    /// Starts the threads, looks for cameras and publishes the stream.
    func start() throws(SystemError) {
        cameras = PerRole(back: try cameraThread(.back), front: try cameraThread(.front))
        frames = try frameThread()
        monitor = DeviceMonitor(loop: loop) { [unowned self] in camerasChanged() }
        findCameras()
        send(.start)
    }

    /// Closes the cameras and takes the node away. False when a camera has not closed in time, since
    /// its device does not answer; its thread still runs then.
    func end() -> Bool {
        let deadline = MonotonicClock.now + Timestamp(seconds: Self.endDuration)
        cameras?.back.end()
        cameras?.front.end()
        frames?.end()
        monitor = nil
        return Role.allCases.filter { !(cameras?[$0].wait(until: deadline) ?? true) }.isEmpty
    }

    private func cameraThread(_ role: Role) throws(SystemError) -> CameraThread {
        let mailbox = loop.mailbox
        return try CameraThread(role: role, slot: slots[role]) { report in
            mailbox.post { MainActor.assumeIsolated { self.heard(role, report) } }
        }
    }

    private func frameThread() throws(SystemError) -> FrameThread {
        let mailbox = loop.mailbox
        frameThreads += 1
        let number = frameThreads
        return try FrameThread(
            scene: state.scene,
            slots: slots,
            bell: bell,
            settings: Node.Settings(configuration)
        ) { event in
            mailbox.post {
                MainActor.assumeIsolated {
                    // What became of an earlier node, such as that somebody looked at it, would keep
                    // cameras open for nobody.
                    if number == self.frameThreads { self.heard(event) }
                }
            }
        }
    }

    // MARK: Events and effects

    /// Takes `event`, and has done what follows from it.
    func send(_ event: Event) {
        if event == .consumed(true) { findCameras() }
        let before = state
        let effects = reduce(&state, event, at: MonotonicClock.now)
        if state.scene != before.scene { frames?.show(state.scene) }
        // What has happened is told after the properties that show it, the rest is told before.
        for effect in effects where !effect.isDone { carryOut(effect) }
        // A camera that went while it was looked at has lost its role now.
        if before.needsCameras && !state.needsCameras { findCameras() }
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
            guard let source = sources[role] else { return }
            cameras?[role].open(source, request(for: role))
        case .closeCamera(let role, let keepsPicture):
            cameras?[role].close(keepingPicture: keepsPicture)
        case .startGrace: grace?.arm(after: Self.graceDuration)
        case .endGrace: grace?.disarm()
        case .announce(let announcement): onAnnouncement(announcement)
        }
    }

    /// What `role`'s camera is opened for. Either may become the main picture at any time.
    private func request(for role: Role) -> CaptureRequest {
        let camera = configuration.cameras[role]
        let size = configuration.output.size
        let isOnItsSide = state.cameras[role].rotation % 180 != 0
        return CaptureRequest(
            size: isOnItsSide ? size.transposed : size,
            rate: configuration.output.frameRate,
            mode: camera.capture,
            reduction: state.cameras[role].reduction
        )
    }

    // MARK: What the threads tell

    private func heard(_ role: Role, _ report: CameraThread.Report) {
        func camera(_ more: Logger.Metadata) -> Logger.Metadata {
            more.merging(["camera": "\(role.rawValue)"]) { $1 }
        }
        switch report {
        case .opening: send(.cameraOpening(role))
        case .streaming(let mode, let unreduced):
            Log.capture.notice("streaming", metadata: camera(["mode": "\(mode)"]))
            send(.cameraStreaming(role, mode, insteadOf: unreduced))
        case .interrupted(let why, let reason):
            if state.cameras[role].interruption != why {
                Log.capture.warning("interrupted", metadata: camera(["reason": "\(reason)"]))
            }
            send(.cameraInterrupted(role, why, reason: reason))
        case .closed:
            if state.cameras[role].isOpen { Log.capture.notice("closed", metadata: camera([:])) }
            send(.cameraClosed(role))
        }
    }

    private func heard(_ event: Node.Event) {
        switch event {
        case .published(let id):
            Log.publish.notice("published", metadata: ["node": "\(id)"])
            send(.nodePublished(id: id))
        case .lost(let reason):
            Log.publish.warning("no node", metadata: ["reason": "\(reason)"])
            send(.nodeLost(reason: reason))
        case .streaming(let isStreaming): send(.consumed(isStreaming))
        case .consumers(let count): send(.consumers(count))
        }
    }

    // MARK: Cameras

    /// Looks which cameras there are now and gives each role its own.
    private func findCameras() {
        let cameras = configuration.cameras
        let found = assign(
            directory.cameras(),
            back: cameras.back.source,
            front: cameras.front.source,
            holding: PerRole(back: sources.back?.identity, front: sources.front?.identity)
        )
        for role in Role.allCases { give(role, role == .back ? found.back : found.front) }
    }

    /// Makes `device` the camera of `role`, where its source asks for a device.
    private func give(_ role: Role, _ device: CameraDevice?) {
        let specification = configuration.cameras[role].source
        // A camera that was pulled out while it is looked at keeps its role: it may come back.
        if specification == .auto, device == nil, state.needsCameras, sources[role] != nil {
            return
        }
        do throws(CaptureError) {
            let source = try cameraSource(specification, role: role, device: device)
            if source?.identity != sources[role]?.identity {
                Log.capture.notice(
                    "camera",
                    metadata: ["camera": "\(role.rawValue)", "name": "\(source?.name ?? "none")"]
                )
                // What another camera showed is not to be taken for this one's picture.
                if sources[role] != nil { send(.cameraAssigned(role, name: nil)) }
            }
            sources[role] = source
            send(.cameraProblem(role, ""))
        } catch {
            let problem = "The \(role.rawValue) camera's source: \(error)"
            if state.cameras[role].problem != problem {
                Log.capture.error("\(problem)", metadata: ["camera": "\(role.rawValue)"])
            }
            sources[role] = nil
            send(.cameraProblem(role, problem))
        }
        send(.cameraAssigned(role, name: sources[role]?.name))
    }

    /// Cameras came or went.
    private func camerasChanged() {
        findCameras()
        for role in Role.allCases where state.cameras[role].interruption != .none {
            cameras?[role].retry()
        }
    }

    // MARK: For the service

    /// What each camera's frames were counted as.
    func counts(of role: Role) -> FrameSlot.Counts { slots[role].counts }

    /// What the composite thread did so far.
    var statistics: FrameThread.Counts { frames?.statistics ?? FrameThread.Counts() }

    /// Calls `answer` on the main thread once the composite thread has gone round.
    func pingFrames(_ answer: @escaping @MainActor @Sendable () -> Void) {
        let mailbox = loop.mailbox
        frames?.ping { mailbox.post { MainActor.assumeIsolated { answer() } } }
    }

    /// Takes over what differs in `new`; a stream of another form is published anew.
    func reconfigure(_ new: Configuration) {
        let old = configuration
        guard new != old else { return }
        configuration = new
        if new.output != old.output { replaceFrameThread() }
        if new.scene.style != old.scene.style { send(.setStyle(new.scene.style)) }
        for role in Role.allCases {
            let (camera, before) = (new.cameras[role], old.cameras[role])
            if camera.mirror != before.mirror { send(.setMirror(role, camera.mirror)) }
            if camera.rotation != before.rotation { send(.setRotation(role, camera.rotation)) }
            if camera.source != before.source || camera.capture != before.capture {
                send(.cameraAssigned(role, name: nil))
                sources[role] = nil
                send(.setSource(role, camera.source))
            }
        }
        findCameras()
    }

    /// A node's mode never changes, so a stream of another form is another node.
    private func replaceFrameThread() {
        frames?.end()
        frames = nil
        do throws(SystemError) {
            frames = try frameThread()
            send(.setOutput(configuration.output.size))
        } catch {
            Log.publish.error("no thread for the stream", metadata: ["reason": "\(error)"])
            send(.nodeLost(reason: "\(error)"))
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
    }
}

extension Effect {
    /// Whether it announces what has happened, not what is to.
    fileprivate var isDone: Bool { self == .announce(.didStart) || self == .announce(.didStop) }
}

extension Node.Settings {
    init(_ configuration: Configuration) {
        let output = configuration.output
        self.init(
            name: output.nodeName,
            description: output.description,
            size: output.size,
            rate: output.frameRate
        )
    }
}
