import Compositing
import DualCamCore
import Frames
import PipeWire
import Platform

/// One published output: a node of PipeWire and its pictures, either the stream or one camera
/// alone. Bound to the composite thread, on whose loop it runs.
final class StreamOutput {
    /// The camera that is shown alone; `nil` for the stream.
    private let camera: Role?
    private unowned let shared: CompositeThread
    private let loop: EventLoop
    private let settings: PipeWireNode.Settings
    private let report: (PipeWireNode.Event) -> Void
    private var compositor: Compositor
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
    /// The time until which an output that has just begun waits for a first picture.
    private var waitsUntil = Timestamp.zero
    private var isContinuous = false
    private var hold = SceneHold()
    private var tap: (any FrameTap)?
    private var recorded = FramePool([])

    /// The number of recorded frames that may be held at once.
    private static let recordedCount = 20

    /// A value that tells one frame of a camera from another, without holding it.
    private struct FrameName: Equatable {
        var sequence: UInt64
        var timestamp: Timestamp
        init?(_ frame: Frame?) {
            guard let frame else { return nil }
            sequence = frame.sequence
            timestamp = frame.timestamp
        }
    }

    /// Creates the stream's output (`nil`) or a camera's, without a node; `report` is called with
    /// the node's events. Throws `SystemError` if the process is out of descriptors.
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

    /// Publishes the node and keeps it published; does nothing if it already is. Throws
    /// `SystemError` if the process is out of descriptors.
    func publish() throws(SystemError) {
        guard node == nil else { return }
        node = try PipeWireNode(loop: loop, settings: settings) { [unowned self] event in
            if case .streaming(let isStreaming) = event { turn(streaming: isStreaming) }
            if case .lost = event { turn(streaming: false) }
            report(event)
        }
        node?.show(properties)
    }

    func withdraw() {
        node?.close()
        node = nil
        if !isDrawing { rest() }
    }

    func show(_ properties: [NodeProperty]) {
        self.properties = properties
        node?.show(properties)
    }

    /// `true` while output frames are needed.
    private var isDrawing: Bool { tap != nil || node?.isStreaming ?? false }

    /// Gives `tap` each output frame from now on, also without a consumer; `nil` stops that.
    func record(_ tap: (any FrameTap)?) {
        let wasDrawing = isDrawing
        self.tap = tap
        let layout = FrameLayout(recording: settings.size)
        let count = tap == nil ? 0 : Self.recordedCount
        recorded = FramePool(count: count, byteCount: layout.byteCount)
        if isDrawing, !wasDrawing { begin() }
        if !isDrawing { rest() }
    }

    private func turn(streaming: Bool) {
        isContinuous = false
        // A recording continues without a break.
        guard tap == nil else { return }
        if streaming { begin() } else { rest() }
    }

    /// Stops drawing, and gives back the memory of all that was drawn.
    private func rest() {
        timer?.disarm()
        compositor = Compositor(canvas: settings.size)
    }

    private func begin() {
        let now = MonotonicClock.now
        clock = OutputClock(rate: settings.rate, now: now)
        isContinuous = false
        hold = SceneHold()
        clocked = nil
        shown = nil
        // A camera that starts has this long to show a picture before its absence is shown.
        waitsUntil = now + Timestamp(seconds: 0.5)
        timer?.arm(at: clock.due)
    }

    /// Shows the main camera's new frame if there is one and it is time. Called by the bell.
    func look() {
        guard isDrawing else { return }
        let newest = FrameName(shared.slots[mainRole][mainPipeline].latest)
        guard newest != clocked, newest != nil else { return }
        clocked = newest
        if clock.frameArrived(at: MonotonicClock.now) || shown == nil { tick() }
    }

    /// All that one output frame shows.
    private struct Picture {
        let scene: Scene
        let contents: PerRole<PerPipeline<FrameSlot.Content>>
        let labels: PerRole<NoticeLabels?>
        let hud: (pose: HudState.Pose, picture: HudPicture)?
        let title: (opacities: (wanted: Double, former: Double), pictures: TitlePictures)?
        /// Laid over what is published, but not over what is recorded.
        let mark: (opacity: Double, picture: MarkPicture)?
    }

    private func tick() {
        guard isDrawing else { return }
        let now = MonotonicClock.now
        // A thread that does it just now does it for a newer scene.
        shared.aimUnlessAimed(at: now)
        let shown = shared.overlay.current
        let slots = shared.slots
        let live = PerRole(
            back: PerPipeline(a: slots.back.a.fetch(), b: slots.back.b.fetch()),
            front: PerPipeline(a: slots.front.a.fetch(), b: slots.front.b.fetch())
        )
        var contents = live
        let role = camera ?? shown.state.main
        if let pipeline = shown.state.awayPipeline(of: role, at: now) {
            contents[role][pipeline] = FrameSlot.Content(frame: shared.away)
        }
        let state = hold.next(shown.state, at: now) {
            $0.scene(of: camera, at: now).isSharp(contents)
        }
        follow(camera ?? state.main, of: state, contents, at: now)
        let main = contents[mainRole][mainPipeline]
        if main.frame == nil && !isContinuous && now < waitsUntil {
            timer?.arm(at: waitsUntil)
            return
        }
        clock.tick(at: now)
        timer?.arm(at: clock.due)

        let name = FrameName(main.frame)
        let isRepeated = name == self.shown
        let stamp = clock.stamp(taken: isRepeated ? nil : main.frame?.timestamp, now: now)
        let picture = self.picture(of: state, contents, beneath: shown, at: now)
        let isAsked = node?.isStreaming ?? false
        let (isPublished, drawn) = pass(on: picture, stamp: stamp, at: now)
        if camera == nil {
            let end = MonotonicClock.now
            if isPublished { countDelays(live, at: end) }
            shared.count { counts in
                guard isPublished else {
                    counts.unbuffered += isAsked ? 1 : 0
                    return
                }
                counts.published += 1
                counts.repeated += isRepeated ? 1 : 0
                counts.composite.add((drawn.end - drawn.start).nanoseconds)
                counts.publish.add((drawn.start - now + end - drawn.end).nanoseconds)
                guard !isRepeated, let frame = main.frame else { return }
                counts.wait.add((now - main.arrival).nanoseconds)
                counts.latency.add((end - frame.timestamp).nanoseconds)
            }
        }
        guard isPublished || tap != nil else { return }
        sequence += 1
        isContinuous = isContinuous || isPublished
        self.shown = name
    }

    /// Returns all that the frame shows: `state` with `contents`, and what lies over them.
    private func picture(
        of state: SceneState,
        _ contents: PerRole<PerPipeline<FrameSlot.Content>>,
        beneath shown: OverlayThread.Content,
        at now: Timestamp
    ) -> Picture {
        let taken = PerRole(back: contents.back.taken, front: contents.front.taken)
        return Picture(
            scene: state.scene(of: camera, at: now, taken: taken),
            contents: contents,
            labels: shown.labels,
            hud: (camera == nil ? shown.hud : nil).flatMap { hud in
                hud.state.pose(at: now).map { (pose: $0, picture: hud.picture) }
            },
            title: camera == nil
                ? (opacities: shown.state.title.opacities(at: now), pictures: shown.title) : nil,
            mark: (camera == nil ? shown.mark : nil).map {
                (opacity: shown.state.mark.opacity(at: now), picture: $0)
            }
        )
    }

    private func countDelays(
        _ contents: PerRole<PerPipeline<FrameSlot.Content>>,
        at time: Timestamp
    ) {
        for role in [Role.back, .front] {
            if let frame = contents[role].a.frame {
                shared.slots[role].a.published(frame, at: time)
            }
            if let frame = contents[role].b.frame {
                shared.slots[role].b.published(frame, at: time)
            }
        }
    }

    /// Makes the pictures of `role` those that the clock follows.
    private func follow(
        _ role: Role,
        of state: SceneState,
        _ contents: PerRole<PerPipeline<FrameSlot.Content>>,
        at now: Timestamp
    ) {
        let pipeline = state.framings[role].pipeline(at: now)
        guard role != mainRole || pipeline != mainPipeline else { return }
        (mainRole, mainPipeline) = (role, pipeline)
        clock.mainChanged()
        clocked = FrameName(contents[role][pipeline].frame)
    }

    /// Draws `picture` and passes it on to PipeWire and to the recording, as far as they want it.
    /// Returns whether PipeWire took it, and when the drawing began and ended.
    private func pass(
        on picture: Picture,
        stamp: Timestamp,
        at now: Timestamp
    ) -> (isPublished: Bool, drawn: (start: Timestamp, end: Timestamp)) {
        var drawn = (start: now, end: now)
        let copy = tap == nil ? nil : recorded.draw()
        let layout = FrameLayout(recording: settings.size)
        let isPublished =
            node?.publish(pts: stamp, sequence: sequence, discontinuity: !isContinuous) {
                base,
                stride in
                drawn = draw(picture, base, stride)
                copy?.plane(0, of: layout).copyRows(from: base, stride: stride)
                if let mark = picture.mark {
                    mark.picture.lay(over: base, stride: stride, opacity: mark.opacity)
                }
            } ?? false
        guard let tap else { return (isPublished, drawn) }
        guard let copy else {
            tap.drop()
            return (isPublished, drawn)
        }
        if !isPublished {
            let plane = copy.plane(0, of: layout)
            drawn = draw(picture, plane.base, plane.stride)
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
        return (isPublished, drawn)
    }

    /// Draws one output frame at `base`, `stride` bytes a row, and returns its start and end times.
    /// A method, not a function within `pass`: captures would cost an allocation per frame.
    private func draw(
        _ picture: Picture,
        _ base: UnsafeMutablePointer<UInt8>,
        _ stride: Int
    ) -> (start: Timestamp, end: Timestamp) {
        let start = MonotonicClock.now
        let contents = picture.contents
        compositor.composite(
            picture.scene,
            back: contents.back.a.frame,
            front: contents.front.a.frame,
            second: PerRole(
                back: contents.back.b.frame,
                front: contents.front.b.frame
            ),
            labels: picture.labels,
            hud: picture.hud,
            into: base,
            stride: stride
        )
        if let title = picture.title {
            title.pictures.lay(title.opacities, over: base, stride: stride)
        }
        return (start, MonotonicClock.now)
    }
}

extension PerPipeline<FrameSlot.Content> {
    fileprivate var taken: PerPipeline<Timestamp> {
        PerPipeline<Timestamp>(
            a: a.frame?.timestamp ?? .zero,
            b: b.frame?.timestamp ?? .zero
        )
    }
}

extension Scene {
    /// Returns `false` if a layer shows a picture that is much too small for it and is about to be
    /// available larger. A moving picture may be a little unsharp for a frame.
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
    /// Creates the layout of recorded output frames of `size`: the same as PipeWire's.
    fileprivate init(recording size: Size) {
        self.init(size: size, format: .yuyv, stride: 2 * size.width)
    }
}

extension Plane {
    /// Fills the plane from rows that are `stride` bytes apart.
    fileprivate func copyRows(from other: UnsafePointer<UInt8>, stride: Int) {
        for y in 0..<rows { row(y).update(from: other + y * stride, count: rowBytes) }
    }
}
