package import DualCamCore
package import Frames
package import PipeWire
package import Platform
import Synchronization

/// Makes the output frames: fetches the cameras' newest frames, composites the scene and publishes
/// it, with each camera's picture alone where that is offered. The thread is named `composite` and
/// owns the `StreamOutput`s. While a consumer takes frames it wakes for camera frames and for the
/// clock; otherwise only for messages of PipeWire.
package final class CompositeThread: Sendable {
    /// Counts and durations since the thread started.
    package struct Counts: Sendable {
        /// The output frames that consumers got.
        package var published: UInt64 = 0
        /// The output frames that no buffer was free for.
        package var unbuffered: UInt64 = 0
        /// The published frames that repeat the main camera's last picture.
        package var repeated: UInt64 = 0
        /// The time from decoding the main camera's frame to drawing with it.
        package var wait = Durations()
        package var composite = Durations()
        /// The time that handing the frame to PipeWire took.
        package var publish = Durations()
        /// The time from taking the main camera's frame to handing it to PipeWire.
        package var latency = Durations()

        package init() {}
    }

    /// An event of a node.
    package enum Event: Sendable {
        case node(PipeWireNode.Event)
        /// A camera's own node is gone because it is not wanted. No event of it follows. Never
        /// reported of the stream's node: see `withdrawNode`.
        case withdrawn
        /// No font has all characters of these words.
        case unreadable(String)
    }

    /// The longest time that the end takes where nothing else is said.
    package static let timeout = Timestamp(seconds: 1)
    /// The longest time that the end waits for a search for fonts.
    private static let fontTimeout = Timestamp(seconds: 0.2)

    /// The shown scene, with its notices and HUD.
    let overlay: OverlayThread
    let slots: PerRole<PerPipeline<FrameSlot>>
    private let counts = Mutex(Counts())
    private let aiming = Mutex(())
    /// The user's own picture, last, and the ones before it, which the thread may just be drawing:
    /// so it never frees one.
    private let aways = Mutex<[Frame]>([])
    private let worker: LoopWorker<Outputs>

    /// Starts the thread, without a node. It is one of `timed`.
    ///
    /// The slots ring `bell`; `settings` are those of the stream's node. `report` is called on this
    /// thread with the events of the stream's node (`nil`) and of the cameras' nodes, and on the
    /// thread `overlay` with words. Throws `SystemError` if the system has no thread or descriptor
    /// left.
    package init(
        scene: SceneState,
        slots: PerRole<PerPipeline<FrameSlot>>,
        bell: Bell,
        settings: PipeWireNode.Settings,
        language: Catalogue? = nil,
        timed: RealTimeThreads? = nil,
        report: @escaping @Sendable (Role?, Event) -> Void
    ) throws(SystemError) {
        self.slots = slots
        worker = try LoopWorker(name: "composite")
        overlay = try OverlayThread(scene, canvas: settings.size, language: language) { text in
            report(nil, .unreadable(text))
        }
        do throws(SystemError) {
            try worker.start(timed: timed) { loop throws(SystemError) in
                try Outputs(of: self, on: loop, bell, settings, report)
            }
        } catch {
            _ = overlay.end(by: MonotonicClock.now + Self.fontTimeout)
            throw error
        }
    }

    /// Shows `state` from the next output frame on.
    package func show(_ state: SceneState) {
        overlay.show(state)
        let now = MonotonicClock.now
        aiming.withLock { _ in aim(at: now) }
    }

    /// Shows all words in this language from now on; `nil`: in English.
    package func speak(_ language: Catalogue?) { overlay.speak(language) }

    /// Tells the slots how large they are shown. With `aiming` locked: the newest scene decides.
    private func aim(at now: Timestamp) {
        let extents = overlay.current.state.extents(at: now)
        for role in Role.allCases {
            for pipeline in CapturePipeline.allCases {
                slots[role][pipeline].show(at: extents[role][pipeline])
            }
        }
    }

    /// Does the same, unless another thread is doing it for a newer scene. Does not block.
    func aimUnlessAimed(at now: Timestamp) {
        _ = aiming.withLockIfAvailable { _ in aim(at: now) }
    }

    /// Keeps the picture that is shown while the cameras are off.
    package func keep(away: Frame) { aways.withLock { $0 = $0.suffix(2) + [away] } }

    var away: Frame? { aways.withLock { $0.last } }

    func count(_ change: (inout Counts) -> Void) { counts.withLock { change(&$0) } }

    /// Calls `done`, on the thread `overlay`, once the next output frame shows what was requested.
    package func whenShown(_ done: @escaping @Sendable () -> Void) { overlay.whenShown(done) }

    /// Publishes the stream's node and those on offer, and keeps them published.
    package func publishNode() { worker.post { $0.publish() } }

    /// Offers each camera's picture alone as a node with these settings, while the stream's node is
    /// published; `nil` offers none. They have the stream's size.
    package func offer(_ nodes: PerRole<PipeWireNode.Settings?>) { worker.post { $0.offer(nodes) } }

    /// Shows these values to applications, as those of a camera's own node, or of the stream's
    /// (`nil`).
    package func show(_ properties: [NodeProperty], of role: Role?) {
        worker.post { $0.show(properties, of: role) }
    }

    /// Removes all nodes, and calls `done` on the thread when they are gone.
    package func withdrawNode(done: @escaping @Sendable () -> Void) {
        worker.post {
            $0.withdraw()
            done()
        }
    }

    /// Gives `tap` each output frame from now on, also without a consumer; `nil` stops that.
    package func record(_ tap: (any FrameTap)?) { worker.post { $0.record(tap) } }

    /// Calls `answer` on the thread, as proof that its loop runs.
    package func ping(_ answer: @escaping @Sendable () -> Void) { worker.post { _ in answer() } }

    package var statistics: Counts { counts.withLock { $0 } }

    /// Removes the nodes, ends the thread and waits for it, at most until `deadline`. Call once.
    /// Returns `false` if it still runs, or its search for fonts, on a thread that uses nothing
    /// else.
    @discardableResult
    package func end(by deadline: Timestamp = MonotonicClock.now + timeout) -> Bool {
        worker.end { $0.end() }
        let hasEnded = worker.join(until: deadline)
        if !hasEnded { worker.leave() }
        let areFontsFound = overlay.end(by: min(deadline, MonotonicClock.now + Self.fontTimeout))
        return hasEnded && areFontsFound
    }

    // MARK: The thread's own

    /// The thread's state between two rounds of its loop. Bound to the thread.
    private final class Outputs {
        private let shared: CompositeThread
        private let loop: EventLoop
        private let report: @Sendable (Role?, Event) -> Void
        private let stream: StreamOutput
        private var cameras = PerRole<StreamOutput?>(back: nil, front: nil)
        /// The nodes of cameras that are wanted while the stream's is.
        private var offers = PerRole<PipeWireNode.Settings?>(back: nil, front: nil)
        /// The values of each camera that applications are shown.
        private var properties = PerRole<[NodeProperty]>(back: [], front: [])
        private var isPublished = false
        /// The nodes that could not be made, which was reported.
        private var failed: Set<Role?> = []
        /// Tries again nodes that could not be made for want of a descriptor.
        private var retry: EventLoop.Timer?
        private var delay = Outputs.shortestDelay

        private static let shortestDelay = 0.1
        private static let longestDelay = 2.0

        init(
            of shared: CompositeThread,
            on loop: EventLoop,
            _ bell: Bell,
            _ settings: PipeWireNode.Settings,
            _ report: @escaping @Sendable (Role?, Event) -> Void
        ) throws(SystemError) {
            self.shared = shared
            self.loop = loop
            self.report = report
            stream = try StreamOutput(nil, of: shared, on: loop, settings) {
                report(nil, .node($0))
            }
            retry = try loop.timer { [unowned self] in arrange() }
            try loop.watch(bell.descriptor, for: .readable) { [unowned self] _ in
                bell.silence()
                stream.look()
                cameras.back?.look()
                cameras.front?.look()
            }
        }

        func publish() {
            isPublished = true
            arrange()
        }

        func offer(_ offers: PerRole<PipeWireNode.Settings?>) {
            self.offers = offers
            arrange()
        }

        func show(_ shown: [NodeProperty], of role: Role?) {
            guard let role else { return stream.show(shown) }
            properties[role] = shown
            cameras[role]?.show(shown)
        }

        func record(_ tap: (any FrameTap)?) { stream.record(tap) }

        func end() {
            withdraw()
            stream.record(nil)
        }

        /// Makes the wanted nodes that are missing, and removes the others.
        private func arrange() {
            retry?.disarm()
            if isPublished { attempt(nil) { () throws(SystemError) in try stream.publish() } }
            for role in Role.allCases {
                guard isPublished, let settings = offers[role] else {
                    remove(role)
                    continue
                }
                attempt(role) { () throws(SystemError) in
                    if cameras[role] == nil {
                        let report = report
                        let output = try StreamOutput(role, of: shared, on: loop, settings) {
                            report(role, .node($0))
                        }
                        output.show(properties[role])
                        cameras[role] = output
                    }
                    try cameras[role]?.publish()
                }
            }
            if !failed.isEmpty {
                retry?.arm(after: delay)
                delay = min(2 * delay, Self.longestDelay)
            } else {
                delay = Self.shortestDelay
            }
        }

        /// Calls `make`, and reports its failure the first time.
        private func attempt(_ role: Role?, _ make: () throws(SystemError) -> Void) {
            do throws(SystemError) {
                try make()
                failed.remove(role)
            } catch {
                guard failed.insert(role).inserted else { return }
                report(role, .node(.lost(reason: "\(error)")))
            }
        }

        private func remove(_ role: Role) {
            let hasFailed = failed.remove(role) != nil
            guard cameras[role] != nil || hasFailed else { return }
            cameras[role]?.withdraw()
            cameras[role] = nil
            report(role, .withdrawn)
        }

        func withdraw() {
            isPublished = false
            failed.remove(nil)
            arrange()
            stream.withdraw()
        }
    }
}
