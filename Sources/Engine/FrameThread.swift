package import DualCamCore
import Frames
package import Platform
package import Publish
import Synchronization

/// Makes the output frames: fetches the cameras' newest, composites the scene and publishes it.
///
/// The thread is named `composite` and owns the PipeWire node and the output clock. While somebody
/// looks it wakes for camera frames and for the clock; otherwise for PipeWire's messages alone.
package final class FrameThread: Sendable {
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

    /// What other threads ask for.
    enum Order: Sendable {
        case publishNode
        case show([NodeProperty])
        case withdrawNode(@Sendable () -> Void)
        case record((any FrameTap)?)
        case ping(@Sendable () -> Void)
        case end
    }

    /// How long the end waits for a search for fonts.
    private static let fontPatience = Timestamp(seconds: 0.2)

    private let scene: ShownScene
    private let orders = Mutex<[Order]>([])
    private let counts = Mutex(Counts())
    private let slots: PerRole<PerBay<FrameSlot>>
    private let aiming = Mutex(())
    private let bell: Bell
    private let thread = Mutex<Thread?>(nil)

    /// Starts the thread, without a node.
    ///
    /// `bell` is the one that `slots` ring; `report` is told what becomes of the node, on this
    /// thread. Throws when the system has no thread or descriptor to give.
    package init(
        scene: SceneState,
        slots: PerRole<PerBay<FrameSlot>>,
        bell: Bell,
        settings: Node.Settings,
        report: @escaping @Sendable (Node.Event) -> Void
    ) throws(SystemError) {
        self.slots = slots
        self.bell = bell
        self.scene = try ShownScene(scene, canvas: settings.size)
        do throws(SystemError) {
            // Unsafe: made here, so that its failure can be thrown, and used by the new thread alone.
            nonisolated(unsafe) let round = try Round(of: self, settings: settings, report: report)
            let started = try Thread(name: "composite") { round.run() }
            thread.withLock { $0 = started }
        } catch {
            _ = self.scene.end(by: MonotonicClock.now + Self.fontPatience)
            throw error
        }
    }

    /// Shows `state` from the next output frame on.
    package func show(_ state: SceneState) {
        scene.show(state)
        let now = MonotonicClock.now
        aiming.withLock { _ in aim(at: now) }
    }

    /// Tells the cameras how large their pictures are shown. With `aiming` locked, so that the newest
    /// scene has the last word.
    private func aim(at now: Timestamp) {
        let extents = scene.current.state.extents(at: now)
        for role in Role.allCases {
            for bay in Bay.allCases { slots[role][bay].show(at: extents[role][bay]) }
        }
    }

    /// Calls `done`, on a thread of its own, once the next output frame has all that was to be shown
    /// up to now.
    package func whenShown(_ done: @escaping @Sendable () -> Void) { scene.whenShown(done) }

    /// Publishes the node, and keeps it there.
    package func publishNode() { order(.publishNode) }

    /// Has applications shown these values of the main camera's.
    package func show(_ properties: [NodeProperty]) { order(.show(properties)) }

    /// Takes the node away, and calls `done` on the thread when it is gone.
    package func withdrawNode(done: @escaping @Sendable () -> Void) { order(.withdrawNode(done)) }

    /// Has `tap` given every output frame, which are then made whether anybody looks or not; `nil`: nobody.
    package func record(_ tap: (any FrameTap)?) { order(.record(tap)) }

    /// Calls `answer` on the thread, to show that it goes round.
    package func ping(_ answer: @escaping @Sendable () -> Void) { order(.ping(answer)) }

    /// What the thread did so far.
    package var statistics: Counts { counts.withLock { $0 } }

    /// Takes the node away, ends the thread and waits for it. False when its search for fonts goes
    /// on, on a thread that uses nothing else. Once.
    @discardableResult
    package func end() -> Bool {
        order(.end)
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ended?.join()
        return scene.end(by: MonotonicClock.now + Self.fontPatience)
    }

    private func order(_ order: Order) {
        orders.withLock { $0.append(order) }
        bell.ring()
    }

    // MARK: The thread's own

    /// What the thread holds between two rounds of its loop. Bound to it.
    private final class Round {
        private let shared: FrameThread
        private let loop: EventLoop
        private let settings: Node.Settings
        private let report: @Sendable (Node.Event) -> Void
        private let compositor: Compositor
        private var node: Node?
        private var properties: [NodeProperty] = []
        private var timer: EventLoop.Timer?
        /// For a node that could not be made, for want of a descriptor.
        private var retry: EventLoop.Timer?
        private var delay = Round.shortestDelay

        private static let shortestDelay = 0.1
        private static let longestDelay = 2.0

        private var clock: OutputClock
        private var sequence: UInt64 = 0
        private var mainRole = Role.back
        private var mainBay = Bay.first
        /// The main camera's frame that was published last.
        private var shown: FrameName?
        /// The main camera's frame that the clock was told of last.
        private var heard: FrameName?
        /// Until when a stream that just began waits for a first picture.
        private var waitsUntil = Timestamp.zero
        private var isContinuous = false
        /// The scene that was shown last, and how long it may stand for a newer one whose pictures are
        /// still being decoded: at a cut from one scene to another they have to be larger at once.
        private var before: (state: SceneState, until: Timestamp)?

        private static let decodingPatience = Timestamp(seconds: 0.2)
        /// Who records the stream.
        private var tap: (any FrameTap)?
        /// Where recorded frames are.
        private var recorded = FramePool([])

        /// How many recorded frames may be held at once.
        private static let recordedCount = 20

        /// Tells one frame of a camera from another, without holding it.
        private struct FrameName: Equatable {
            var sequence: UInt64
            var timestamp: Timestamp
            init?(_ frame: Frame?) {
                guard let frame else { return nil }
                sequence = frame.sequence
                timestamp = frame.timestamp
            }
        }

        init(
            of shared: FrameThread,
            settings: Node.Settings,
            report: @escaping @Sendable (Node.Event) -> Void
        ) throws(SystemError) {
            self.shared = shared
            loop = try EventLoop()
            self.settings = settings
            self.report = report
            compositor = Compositor(canvas: settings.size)
            clock = OutputClock(rate: settings.rate, now: MonotonicClock.now)
            timer = try loop.timer { [unowned self] in tick() }
            retry = try loop.timer { [unowned self] in publishNode() }
            try loop.watch(shared.bell.descriptor, for: .readable) { [unowned self] _ in
                self.shared.bell.silence()
                obey()
                look()
            }
        }

        func run() { loop.run() }

        private func obey() {
            let orders = shared.orders.withLock { orders in
                if orders.isEmpty { return orders }
                defer { orders.removeAll() }
                return orders
            }
            for order in orders {
                switch order {
                case .publishNode: publishNode()
                case .show(let shown):
                    properties = shown
                    node?.show(shown)
                case .withdrawNode(let done):
                    withdrawNode()
                    done()
                case .record(let tap): record(tap)
                case .ping(let answer): answer()
                case .end:
                    withdrawNode()
                    tap = nil
                    timer = nil
                    retry = nil
                    loop.stop()
                }
            }
        }

        private func publishNode() {
            guard node == nil else { return }
            do throws(SystemError) {
                node = try Node(loop: loop, settings: settings) { [unowned self] event in
                    if case .streaming(let isStreaming) = event { turn(streaming: isStreaming) }
                    if case .lost = event { turn(streaming: false) }
                    report(event)
                }
                node?.show(properties)
                delay = Self.shortestDelay
            } catch {
                if delay == Self.shortestDelay { report(.lost(reason: "\(error)")) }
                retry?.arm(after: delay)
                delay = min(2 * delay, Self.longestDelay)
            }
        }

        private func withdrawNode() {
            retry?.disarm()
            delay = Self.shortestDelay
            node?.close()
            node = nil
            if tap == nil { timer?.disarm() }
        }

        /// Whether output frames are needed.
        private var isDrawing: Bool { tap != nil || node?.isStreaming ?? false }

        private func record(_ tap: (any FrameTap)?) {
            let wasDrawing = isDrawing
            self.tap = tap
            let layout = FrameLayout(recording: settings.size)
            let count = tap == nil ? 0 : Self.recordedCount
            recorded = FramePool(count: count, byteCount: layout.byteCount)
            if isDrawing, !wasDrawing { begin() }
            if !isDrawing { timer?.disarm() }
        }

        private func turn(streaming: Bool) {
            isContinuous = false
            // Who records goes on as before.
            guard tap == nil else { return }
            timer?.disarm()
            if streaming { begin() }
        }

        /// Begins to make output frames.
        private func begin() {
            let now = MonotonicClock.now
            clock = OutputClock(rate: settings.rate, now: now)
            isContinuous = false
            before = nil
            heard = nil
            shown = nil
            // A camera that starts has this long to show a picture before we show its absence.
            waitsUntil = now + Timestamp(seconds: 0.5)
            timer?.arm(at: clock.due)
        }

        /// A bell rang: has the main camera a new frame, and is it to be shown now?
        private func look() {
            guard isDrawing else { return }
            let newest = FrameName(shared.slots[mainRole][mainBay].latest)
            guard newest != heard, newest != nil else { return }
            heard = newest
            if clock.frameArrived(at: MonotonicClock.now) || shown == nil { tick() }
        }

        /// Makes one output frame.
        private func tick() {
            guard isDrawing else { return }
            let now = MonotonicClock.now
            // Where another one does it just now, it is for a newer scene.
            _ = shared.aiming.withLockIfAvailable { _ in shared.aim(at: now) }
            let shown = shared.scene.current
            let labels = shown.labels
            let slots = shared.slots
            let contents = PerRole(
                back: PerBay(first: slots.back.first.fetch(), second: slots.back.second.fetch()),
                front: PerBay(first: slots.front.first.fetch(), second: slots.front.second.fetch())
            )
            var state = shown.state
            if let before, now < before.until, !state.scene(at: now).isSharp(contents) {
                // What was answered for is shown all the same.
                let grades = state.grades
                state = before.state
                state.grades = grades
            } else {
                before = (state, now + Self.decodingPatience)
            }
            let bay = state.framings[state.main].bay(at: now)
            if state.main != mainRole || bay != mainBay {
                (mainRole, mainBay) = (state.main, bay)
                clock.mainChanged()
                heard = FrameName(contents[mainRole][mainBay].frame)
            }
            let main = contents[mainRole][mainBay].frame
            if main == nil && !isContinuous && now < waitsUntil {
                timer?.arm(at: waitsUntil)
                return
            }
            clock.tick(at: now)
            timer?.arm(at: clock.due)

            let name = FrameName(main)
            let isRepeated = name == self.shown
            let stamp = clock.stamp(taken: isRepeated ? nil : main?.timestamp, now: now)
            let scene = state.scene(at: now)
            let hud = shown.hud.flatMap { hud in
                hud.state.pose(at: now).map { (pose: $0, picture: hud.picture) }
            }
            var drawn = (start: now, end: now)
            let isAsked = node?.isStreaming ?? false
            let copy = tap == nil ? nil : recorded.draw()
            let layout = FrameLayout(recording: settings.size)
            let isPublished =
                node?.publish(pts: stamp, sequence: sequence, discontinuity: !isContinuous) {
                    base,
                    stride in
                    drawn = draw(scene, contents, labels, hud, base, stride)
                    copy?.plane(0, of: layout).copyRows(from: base, stride: stride)
                } ?? false
            if let tap {
                if let copy {
                    let plane = copy.plane(0, of: layout)
                    if !isPublished {
                        drawn = draw(scene, contents, labels, hud, plane.base, plane.stride)
                    }
                    tap.take(
                        Frame(
                            buffer: copy,
                            layout: layout,
                            color: .video,
                            timestamp: stamp,
                            sequence: sequence
                        )
                    )
                } else {
                    tap.drop()
                }
            }
            let end = MonotonicClock.now
            let arrival = contents[mainRole][mainBay].arrival
            shared.counts.withLock { counts in
                guard isPublished else {
                    counts.unbuffered += isAsked ? 1 : 0
                    return
                }
                counts.published += 1
                counts.repeated += isRepeated ? 1 : 0
                counts.composite.add((drawn.end - drawn.start).nanoseconds)
                counts.publish.add((drawn.start - now + end - drawn.end).nanoseconds)
                guard !isRepeated, let main else { return }
                counts.wait.add((now - arrival).nanoseconds)
                counts.latency.add((end - main.timestamp).nanoseconds)
            }
            guard isPublished || tap != nil else { return }
            sequence += 1
            isContinuous = isContinuous || isPublished
            self.shown = name
        }

        /// Draws one output frame at `base`, `stride` bytes a row; when it began and ended. A method and no
        /// function within `tick`, whose captures cost an allocation a frame.
        private func draw(
            _ scene: Scene,
            _ contents: PerRole<PerBay<FrameSlot.Content>>,
            _ labels: PerRole<NoticeLabels?>,
            _ hud: (pose: HudState.Pose, picture: HudPicture)?,
            _ base: UnsafeMutablePointer<UInt8>,
            _ stride: Int
        ) -> (start: Timestamp, end: Timestamp) {
            let start = MonotonicClock.now
            compositor.composite(
                scene,
                back: contents.back.first.frame,
                front: contents.front.first.frame,
                second: PerRole(
                    back: contents.back.second.frame,
                    front: contents.front.second.frame
                ),
                labels: labels,
                hud: hud,
                into: base,
                stride: stride
            )
            return (start, MonotonicClock.now)
        }
    }
}

extension Scene {
    /// Whether no layer shows a picture that is about to be there larger, and is much too small for it.
    /// What moves may be a little unsharp for a frame.
    func isSharp(_ contents: PerRole<PerBay<FrameSlot.Content>>) -> Bool {
        for index in 0..<count {
            let layer = self[index]
            guard layer.veil < 1 else { continue }
            let isNextSharp =
                layer.next.map { layer.isSharp($0, contents[layer.role][$0.bay]) } ?? true
            guard isNextSharp, layer.isSharp(layer.shot, contents[layer.role][layer.shot.bay])
            else { return false }
        }
        return true
    }
}

extension Layer {
    fileprivate func isSharp(_ shot: Shot, _ content: FrameSlot.Content) -> Bool {
        guard content.isJPEG else { return true }
        guard let frame = content.frame else { return false }
        let drawn = extent(of: shot).drawn(frame.pictureSize).width
        return frame.reduction == 1 || drawn < 1.5 * frame.picture.width
    }
}

extension FrameLayout {
    /// How recorded output frames of `size` lie in memory: as PipeWire's do.
    fileprivate init(recording size: Size) {
        self.init(size: size, format: .yuyv, stride: 2 * size.width)
    }
}

extension Plane {
    /// Fills it from rows that are `stride` bytes apart.
    fileprivate func copyRows(from other: UnsafePointer<UInt8>, stride: Int) {
        for y in 0..<rows { row(y).update(from: other + y * stride, count: rowBytes) }
    }
}
