package import DualCamCore
import Frames
package import Platform
package import Publish
import Synchronization

/// Makes the output frames: fetches the cameras' newest, composites the scene and publishes it, and
/// each camera's picture alone where it is offered.
///
/// The thread is named `composite` and owns the `StreamOutput`s. While somebody looks it wakes for camera
/// frames and for the clock; otherwise for PipeWire's messages alone.
package final class CompositeThread: Sendable {
    /// What the thread did so far.
    package struct Counts: Sendable {
        /// Output frames that consumers got.
        package var published: UInt64 = 0
        /// Output frames that no buffer was free for.
        package var unbuffered: UInt64 = 0
        /// Published frames that repeat the main camera's last picture.
        package var repeated: UInt64 = 0
        /// How long the main camera's frames waited to be shown, since they were decoded.
        package var wait = Durations()
        /// How long compositing took.
        package var composite = Durations()
        /// How long it took to hand the frame to PipeWire.
        package var publish = Durations()
        /// From when the main camera's frame was taken to when it was handed to PipeWire.
        package var latency = Durations()

        /// Nothing done yet.
        package init() {}
    }

    /// What becomes of a node.
    package enum Event: Sendable {
        /// What the node itself tells.
        case node(PipeWireNode.Event)
        /// A camera's own node is there no longer, since it is not wanted; nothing is told of it any
        /// more. The stream's is not told of so: see `withdrawNode`.
        case withdrawn
    }

    /// What other threads ask for.
    enum Command: Sendable {
        case publishNode
        case offer(PerRole<PipeWireNode.Settings?>)
        case show(Role?, [NodeProperty])
        case withdrawNode(@Sendable () -> Void)
        case record((any FrameTap)?)
        case ping(@Sendable () -> Void)
        case end
    }

    /// How long the end waits for a search for fonts.
    private static let fontTimeout = Timestamp(seconds: 0.2)

    /// The scene that is shown, and what is laid over it.
    let overlay: OverlayThread
    /// Where the cameras' frames are.
    let slots: PerRole<PerPipeline<FrameSlot>>
    private let commands = Mutex<[Command]>([])
    private let counts = Mutex(Counts())
    private let aiming = Mutex(())
    private let bell: Bell
    private let thread = Mutex<Thread?>(nil)

    /// Starts the thread, without a node.
    ///
    /// `bell` is the one that `slots` ring, `settings` are the stream's; `report` is told what becomes
    /// of the stream's node (`nil`) and of those of cameras, on this thread. Throws when the system has no thread or descriptor to give.
    package init(
        scene: SceneState,
        slots: PerRole<PerPipeline<FrameSlot>>,
        bell: Bell,
        settings: PipeWireNode.Settings,
        report: @escaping @Sendable (Role?, Event) -> Void
    ) throws(SystemError) {
        self.slots = slots
        self.bell = bell
        overlay = try OverlayThread(scene, canvas: settings.size)
        do throws(SystemError) {
            // Unsafe: made here, so that its failure can be thrown, and used by the new thread alone.
            nonisolated(unsafe) let worker = try Worker(
                of: self,
                settings: settings,
                report: report
            )
            let started = try Thread(name: "composite") { worker.run() }
            thread.withLock { $0 = started }
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

    /// Tells the cameras how large their pictures are shown. With `aiming` locked, so that the newest
    /// scene has the last word.
    private func aim(at now: Timestamp) {
        let extents = overlay.current.state.extents(at: now)
        for role in Role.allCases {
            for pipeline in CapturePipeline.allCases {
                slots[role][pipeline].show(at: extents[role][pipeline])
            }
        }
    }

    /// As `aim`, where no other thread does it just now, for a newer scene. Does not block.
    func aimUnlessAimed(at now: Timestamp) {
        _ = aiming.withLockIfAvailable { _ in aim(at: now) }
    }

    /// Changes what the thread did so far.
    func count(_ change: (inout Counts) -> Void) { counts.withLock { change(&$0) } }

    /// Calls `done`, on a thread of its own, once the next output frame has all that was to be shown
    /// up to now.
    package func whenShown(_ done: @escaping @Sendable () -> Void) { overlay.whenShown(done) }

    /// Publishes the stream's node, and those that are offered, and keeps them there.
    package func publishNode() { send(.publishNode) }

    /// Offers each camera's picture alone as a node of this, where there is one, whenever the stream's
    /// is published; of the stream's size.
    package func offer(_ nodes: PerRole<PipeWireNode.Settings?>) { send(.offer(nodes)) }

    /// Has applications shown these values of a camera's: with its own node, or with the stream's
    /// (`nil`).
    package func show(_ properties: [NodeProperty], of role: Role?) {
        send(.show(role, properties))
    }

    /// Takes all nodes away, and calls `done` on the thread when they are gone.
    package func withdrawNode(done: @escaping @Sendable () -> Void) { send(.withdrawNode(done)) }

    /// Has `tap` given every output frame, which are then made whether anybody looks or not; `nil`: nobody.
    package func record(_ tap: (any FrameTap)?) { send(.record(tap)) }

    /// Calls `answer` on the thread, to show that it goes round.
    package func ping(_ answer: @escaping @Sendable () -> Void) { send(.ping(answer)) }

    /// What the thread did so far.
    package var statistics: Counts { counts.withLock { $0 } }

    /// Takes the nodes away, ends the thread and waits for it. False when its search for fonts goes
    /// on, on a thread that uses nothing else. Once.
    @discardableResult
    package func end() -> Bool {
        send(.end)
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ended?.join()
        return overlay.end(by: MonotonicClock.now + Self.fontTimeout)
    }

    private func send(_ command: Command) {
        commands.withLock { $0.append(command) }
        bell.ring()
    }

    // MARK: The thread's own

    /// What the thread holds between two rounds of its loop. Bound to it.
    private final class Worker {
        private let shared: CompositeThread
        private let loop: EventLoop
        private let report: @Sendable (Role?, Event) -> Void
        private let stream: StreamOutput
        private var cameras = PerRole<StreamOutput?>(back: nil, front: nil)
        /// The nodes of cameras that are wanted while the stream is.
        private var offers = PerRole<PipeWireNode.Settings?>(back: nil, front: nil)
        /// What applications are shown of each camera's values.
        private var properties = PerRole<[NodeProperty]>(back: [], front: [])
        private var isPublished = false
        /// Those whose nodes could not be made, which was told.
        private var failed: Set<Role?> = []
        /// For nodes that could not be made, for want of a descriptor.
        private var retry: EventLoop.Timer?
        private var delay = Worker.shortestDelay

        private static let shortestDelay = 0.1
        private static let longestDelay = 2.0

        init(
            of shared: CompositeThread,
            settings: PipeWireNode.Settings,
            report: @escaping @Sendable (Role?, Event) -> Void
        ) throws(SystemError) {
            self.shared = shared
            loop = try EventLoop()
            self.report = report
            stream = try StreamOutput(nil, of: shared, on: loop, settings) {
                report(nil, .node($0))
            }
            retry = try loop.timer { [unowned self] in arrange() }
            try loop.watch(shared.bell.descriptor, for: .readable) { [unowned self] _ in
                self.shared.bell.silence()
                runCommands()
                stream.look()
                cameras.back?.look()
                cameras.front?.look()
            }
        }

        func run() { loop.run() }

        private func runCommands() {
            let commands = shared.commands.withLock { commands in
                if commands.isEmpty { return commands }
                defer { commands.removeAll() }
                return commands
            }
            for command in commands {
                switch command {
                case .publishNode:
                    isPublished = true
                    arrange()
                case .offer(let offers):
                    self.offers = offers
                    arrange()
                case .show(nil, let shown): stream.show(shown)
                case .show(let role?, let shown):
                    properties[role] = shown
                    cameras[role]?.show(shown)
                case .withdrawNode(let done):
                    withdraw()
                    done()
                case .record(let tap): stream.record(tap)
                case .ping(let answer): answer()
                case .end:
                    withdraw()
                    stream.record(nil)
                    retry = nil
                    loop.stop()
                }
            }
        }

        /// Has the nodes there that are wanted, and no others.
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

        /// Has `make` done; why it could not be is told the first time.
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

        private func withdraw() {
            isPublished = false
            failed.remove(nil)
            arrange()
            stream.withdraw()
        }
    }
}
