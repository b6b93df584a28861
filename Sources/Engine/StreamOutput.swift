import DualCamCore
import Frames
import Platform
import Publish

/// One published output, a node of PipeWire and the pictures that it shows: the stream's, or those of one camera alone.
///
/// - Context: bound to the composite thread, on whose loop it is.
final class StreamOutput {
    /// The camera whose picture alone is shown; `nil`: the stream is.
    private let camera: Role?
    private unowned let shared: CompositeThread
    private let loop: EventLoop
    private let settings: PipeWireNode.Settings
    private let report: (PipeWireNode.Event) -> Void
    private let compositor: Compositor
    private var node: PipeWireNode?
    private var properties: [NodeProperty] = []
    private var timer: EventLoop.Timer?

    private var clock: OutputClock
    private var sequence: UInt64 = 0
    private var mainRole: Role
    private var mainPipeline = CapturePipeline.a
    /// The main camera's frame that was published last.
    private var shown: FrameName?
    /// The main camera's frame that the clock was told of last.
    private var clocked: FrameName?
    /// Until when pictures that just began wait for a first one.
    private var waitsUntil = Timestamp.zero
    private var isContinuous = false
    /// The scene that was shown last, and how long it may stand for a newer one whose pictures are
    /// still being decoded: at a hard cut from one scene to another they have to be larger at once.
    private var before: (state: SceneState, until: Timestamp)?

    private static let decodingTimeout = Timestamp(seconds: 0.2)
    /// Who records what is shown.
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

    /// The stream's (`nil`) or a camera's, without a node; `report` is told what becomes of that.
    ///
    /// Throws when the process is out of descriptors.
    init(
        _ camera: Role?,
        of shared: CompositeThread,
        on loop: EventLoop,
        _ settings: PipeWireNode.Settings,
        report: @escaping (PipeWireNode.Event) -> Void
    ) throws(SystemError) {
        self.camera = camera
        self.shared = shared
        self.loop = loop
        self.settings = settings
        self.report = report
        mainRole = camera ?? .back
        compositor = Compositor(canvas: settings.size)
        clock = OutputClock(rate: settings.rate, now: MonotonicClock.now)
        timer = try loop.timer { [unowned self] in tick() }
    }

    /// Publishes the node, and keeps it there. Harmless when done twice.
    ///
    /// Throws when the process is out of descriptors.
    func publish() throws(SystemError) {
        guard node == nil else { return }
        node = try PipeWireNode(loop: loop, settings: settings) { [unowned self] event in
            if case .streaming(let isStreaming) = event { turn(streaming: isStreaming) }
            if case .lost = event { turn(streaming: false) }
            report(event)
        }
        node?.show(properties)
    }

    /// Takes the node away.
    func withdraw() {
        node?.close()
        node = nil
        if tap == nil { timer?.disarm() }
    }

    /// Has applications shown these values.
    func show(_ properties: [NodeProperty]) {
        self.properties = properties
        node?.show(properties)
    }

    /// Whether output frames are needed.
    private var isDrawing: Bool { tap != nil || node?.isStreaming ?? false }

    /// Has `tap` given every output frame, which are then made whether anybody looks or not; `nil`: nobody.
    func record(_ tap: (any FrameTap)?) {
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
        clocked = nil
        shown = nil
        // A camera that starts has this long to show a picture before we show its absence.
        waitsUntil = now + Timestamp(seconds: 0.5)
        timer?.arm(at: clock.due)
    }

    /// A bell rang: has the main camera a new frame, and is it to be shown now?
    func look() {
        guard isDrawing else { return }
        let newest = FrameName(shared.slots[mainRole][mainPipeline].latest)
        guard newest != clocked, newest != nil else { return }
        clocked = newest
        if clock.frameArrived(at: MonotonicClock.now) || shown == nil { tick() }
    }

    /// Makes one output frame.
    private func tick() {
        guard isDrawing else { return }
        let now = MonotonicClock.now
        // Where another one does it just now, it is for a newer scene.
        shared.aimUnlessAimed(at: now)
        let shown = shared.overlay.current
        let labels = shown.labels
        let slots = shared.slots
        let contents = PerRole(
            back: PerPipeline(a: slots.back.a.fetch(), b: slots.back.b.fetch()),
            front: PerPipeline(a: slots.front.a.fetch(), b: slots.front.b.fetch())
        )
        var state = shown.state
        if let before, now < before.until, !state.scene(of: camera, at: now).isSharp(contents) {
            // What was answered for is shown all the same.
            let grades = state.grades
            state = before.state
            state.grades = grades
        } else {
            before = (state, now + Self.decodingTimeout)
        }
        let role = camera ?? state.main
        let pipeline = state.framings[role].pipeline(at: now)
        if role != mainRole || pipeline != mainPipeline {
            (mainRole, mainPipeline) = (role, pipeline)
            clock.mainChanged()
            clocked = FrameName(contents[mainRole][mainPipeline].frame)
        }
        let main = contents[mainRole][mainPipeline].frame
        if main == nil && !isContinuous && now < waitsUntil {
            timer?.arm(at: waitsUntil)
            return
        }
        clock.tick(at: now)
        timer?.arm(at: clock.due)

        let name = FrameName(main)
        let isRepeated = name == self.shown
        let stamp = clock.stamp(taken: isRepeated ? nil : main?.timestamp, now: now)
        let taken = PerRole(back: contents.back.taken, front: contents.front.taken)
        let scene = state.scene(of: camera, at: now, taken: taken)
        let hud = (camera == nil ? shown.hud : nil).flatMap { hud in
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
        let arrival = contents[mainRole][mainPipeline].arrival
        if camera == nil {
            shared.count { counts in
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
        _ contents: PerRole<PerPipeline<FrameSlot.Content>>,
        _ labels: PerRole<NoticeLabels?>,
        _ hud: (pose: HudState.Pose, picture: HudPicture)?,
        _ base: UnsafeMutablePointer<UInt8>,
        _ stride: Int
    ) -> (start: Timestamp, end: Timestamp) {
        let start = MonotonicClock.now
        compositor.composite(
            scene,
            back: contents.back.a.frame,
            front: contents.front.a.frame,
            second: PerRole(
                back: contents.back.b.frame,
                front: contents.front.b.frame
            ),
            labels: labels,
            hud: hud,
            into: base,
            stride: stride
        )
        return (start, MonotonicClock.now)
    }
}

extension PerPipeline<FrameSlot.Content> {
    /// When the pictures were taken.
    fileprivate var taken: PerPipeline<Timestamp> {
        PerPipeline<Timestamp>(
            a: a.frame?.timestamp ?? .zero,
            b: b.frame?.timestamp ?? .zero
        )
    }
}

extension Scene {
    /// Whether no layer shows a picture that is about to be there larger, and is much too small for it.
    /// What moves may be a little unsharp for a frame.
    func isSharp(_ contents: PerRole<PerPipeline<FrameSlot.Content>>) -> Bool {
        for index in 0..<count {
            let layer = self[index]
            guard layer.veil < 1 else { continue }
            let isNextSharp =
                layer.next.map { layer.isSharp($0, contents[layer.role][$0.pipeline]) } ?? true
            guard isNextSharp,
                layer.isSharp(layer.source, contents[layer.role][layer.source.pipeline])
            else { return false }
        }
        return true
    }
}

extension Layer {
    fileprivate func isSharp(_ source: LayerSource, _ content: FrameSlot.Content) -> Bool {
        guard content.isJPEG else { return true }
        guard let frame = content.frame else { return false }
        let drawn = extent(of: source).drawn(frame.pictureSize).width
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
