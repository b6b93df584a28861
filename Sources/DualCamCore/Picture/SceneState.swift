package import Frames

/// The layout of the two pictures on the canvas.
package enum Layout: String, CaseIterable, Hashable, Sendable {
    /// The main picture fills the canvas; the other one is an inset in a corner.
    case pip
    /// Side by side, with the main picture on the left.
    case sideBySide = "side-by-side"
    /// One above the other, with the main picture on top.
    case stacked
    /// The main picture alone.
    case single
}

/// The corner of the inset.
package enum Corner: String, CaseIterable, Hashable, Sendable {
    case topLeft = "top-left"
    case topRight = "top-right"
    case bottomLeft = "bottom-left"
    case bottomRight = "bottom-right"

    /// The corner that a point, in fractions of the whole, is nearest to.
    package init(nearestTo x: Double, _ y: Double) {
        self =
            switch (x < 0.5, y < 0.5) {
            case (true, true): .topLeft
            case (false, true): .topRight
            case (true, false): .bottomLeft
            case (false, false): .bottomRight
            }
    }

    /// The corner as a point, in fractions of the whole.
    package var point: NormalizedPoint {
        NormalizedPoint(
            x: self == .topLeft || self == .bottomLeft ? 0 : 1,
            y: self == .topLeft || self == .topRight ? 0 : 1
        )
    }
}

/// The shape of the inset.
package enum InsetShape: String, CaseIterable, Hashable, Sendable {
    /// The stream's own shape.
    case rectangle
    /// As wide as the rectangle, if it fits; the picture is cropped to it.
    case circle
    /// The persons in the picture, without their room. They stand at the lower edge.
    case person

    /// The sizes that an inset of this shape can have, as fractions of the canvas's width.
    package var sizes: ClosedRange<Double> { 0.1...(self == .person ? 1 : 0.5) }
}

/// The user's choices for the look of the scene.
package struct SceneStyle: Hashable, Sendable {
    package var layout = Layout.pip
    /// `true` if layout `pip` shows its inset.
    package var insetVisible = true
    package var insetShape = InsetShape.rectangle {
        didSet { insetSize = min(insetSize, insetShape.sizes.upperBound) }
    }
    private var corner = Corner.topRight
    /// The inset's width, as a fraction of the canvas's: one of its shape's `sizes`.
    package var insetSize = 0.25 {
        didSet { insetSize = min(insetSize, insetShape.sizes.upperBound) }
    }
    /// The inset's distance from the edges, as a fraction of the canvas's width.
    package var insetMargin = 0.02
    /// The width of the border, in pixels of a canvas 720 high.
    package var insetBorder = 2.0
    /// The radius of the corners, in pixels of a canvas 720 high.
    package var insetRadius = 12.0
    /// The gap between halves (`sideBySide`, `stacked`), in pixels of a canvas 720 high.
    package var gap = 8.0
    /// The treatment of a picture of another shape than its frame.
    package var background = Background.auto
    /// `true` if the inset carries the swap icon.
    package var swapIcon = true
    /// `true` if the stream shows that a recording is made, even without the HUD.
    package var recordMark = true
    /// The duration of a swap or another change, in seconds.
    package var swapDuration = 0.3

    /// The corner of the inset, or the one that its free place is nearest to. Setting it ends that.
    package var insetCorner: Corner {
        get { corner }
        set { (corner, insetPosition) = (newValue, nil) }
    }

    /// The free place of the inset in its room, from the top left (0, 0) to the bottom right
    /// (1, 1); `nil`: it is in its corner.
    package var insetPosition: NormalizedPoint? {
        didSet { if let place = insetPosition { corner = Corner(nearestTo: place.x, place.y) } }
    }

    /// The corner that the inset is in, or nearest to.
    var shownCorner: Corner {
        guard insetShape == .person, insetPosition == nil else { return corner }
        return Corner(nearestTo: corner.point.x, 1)
    }

    /// `true` if pictures are cropped to the halves of layouts `sideBySide` and `stacked`.
    var fillsHalves: Bool { background == .auto || background == .crop }

    /// The sizes of an inset of any shape.
    package static let insetSizes = InsetShape.person.sizes

    package init() {}
}

/// The place and look of one picture at one moment.
struct Placement: Hashable, Sendable {
    var rect: Rect
    var opacity = 1.0
    var corners = CornerRadii.none
    /// The share by which a picture of another shape is cropped: see `Layer.fill`.
    var fill = 0.0
    /// The share to which the room is gone: see `Layer.cutout`.
    var cutout = 0.0
    var borderOpacity = 0.0
    var shadowOpacity = 0.0
    var iconOpacity = 0.0

    func moved(to other: Placement, fraction: Double, on canvas: Size) -> Placement {
        func mix(_ a: Double, _ b: Double) -> Double { a + (b - a) * fraction }
        let rect = rect.interpolated(to: other.rect, fraction: fraction)
        // A corner that loses its rounding at the canvas's corner, or gains it from there, stays
        // round until it is nearly there.
        let beside = (left: rect.x, right: Double(canvas.width) - rect.maxX)
        let over = (top: rect.y, bottom: Double(canvas.height) - rect.maxY)
        func corner(_ radius: KeyPath<CornerRadii, Double>, _ x: Double, _ y: Double) -> Double {
            let (from, to) = (self.corners[keyPath: radius], other.corners[keyPath: radius])
            return min(max(from, to), max(mix(from, to), max(x, y) / 2))
        }
        var corners = CornerRadii.none
        corners.topLeft = corner(\.topLeft, beside.left, over.top)
        corners.topRight = corner(\.topRight, beside.right, over.top)
        corners.bottomLeft = corner(\.bottomLeft, beside.left, over.bottom)
        corners.bottomRight = corner(\.bottomRight, beside.right, over.bottom)
        return Placement(
            rect: rect,
            opacity: mix(opacity, other.opacity),
            corners: corners,
            fill: mix(fill, other.fill),
            cutout: mix(cutout, other.cutout),
            borderOpacity: mix(borderOpacity, other.borderOpacity),
            shadowOpacity: mix(shadowOpacity, other.shadowOpacity),
            iconOpacity: mix(iconOpacity, other.iconOpacity)
        )
    }
}

/// At rest, edges lie on whole pixels, and horizontally on pairs, which share their chroma. So
/// edges are crisp, and the picture within is not scaled by a tiny amount.
private func even(_ value: Double) -> Double { (value / 2).rounded() * 2 }

extension SceneStyle {
    /// Returns the room that the inset has within its margin on `canvas`, and its place there.
    func inset(on canvas: Size) -> (room: Rect, rect: Rect) {
        let whole = Rect(canvas)
        let (isRound, isPerson) = (insetShape == .circle, insetShape == .person)
        let width = even(min(whole.width * insetSize, isRound ? whole.height : .infinity))
        var margin = isPerson ? 0 : even(whole.width * insetMargin)
        // On a low canvas the margin of a circle gives way.
        if isRound { margin = min(margin, (whole.height - width) / 2) }
        let height = isRound ? width : (width / canvas.aspect).rounded()
        let point = insetPosition ?? shownCorner.point
        let room = whole.inset(by: margin)
        let rect = Rect(
            x: even(room.x + point.x * (room.width - width)),
            y: (room.y + point.y * (room.height - height)).rounded(),
            width: width,
            height: height
        )
        return (room, rect)
    }
}

/// The placements of a scene at one moment: the main picture, the other one over it, and beneath
/// both the rest of a main picture that is being replaced.
struct Arrangement: Hashable, Sendable {
    var main: Role
    var mainPlace: Placement
    var otherPlace: Placement
    /// The other role's picture as the former main one, whole beneath the rest until covered.
    var beneath: Placement?
    /// The share of the other role's picture in the backdrop, 0 … 1.
    var backdropMix = 0.0
    /// The opacity of the backdrop over black, 0 … 1.
    var backdropOpacity = 1.0

    /// The arrangement at rest on `canvas`. Without `showsOther` the main picture is alone.
    init(resting main: Role, style: SceneStyle, showsOther: Bool, canvas: Size) {
        self.main = main
        let whole = Placement(rect: Rect(canvas), fill: style.background == .crop ? 1 : 0)
        var framed = whole
        framed.corners = CornerRadii(style.insetRadius * canvas.unit)
        framed.borderOpacity = style.insetBorder > 0 ? 0.85 : 0
        switch style.layout {
        case .sideBySide where showsOther && style.fillsHalves,
            .stacked where showsOther && style.fillsHalves:
            (mainPlace, otherPlace) = Self.filledHalves(of: canvas, style)
            backdropOpacity = 0
        case .sideBySide where showsOther, .stacked where showsOther:
            (mainPlace, otherPlace) = Self.pair(of: framed, on: canvas, style.layout)
        case .pip, .single, .sideBySide, .stacked:
            mainPlace = whole
            otherPlace = Self.inset(framed, style.inset(on: canvas).rect, style)
            if style.layout != .pip || !style.insetVisible || !showsOther {
                otherPlace = Self.gone(otherPlace)
            }
        }
    }

    /// Returns the places of two pictures that fill the halves of the canvas.
    private static func filledHalves(
        of canvas: Size,
        _ style: SceneStyle
    ) -> (main: Placement, other: Placement) {
        let halves = Self.halves(of: canvas, style)
        let radius = style.gap > 0 ? style.insetRadius * canvas.unit : 0
        var main = Placement(rect: halves.first, fill: 1)
        var other = Placement(rect: halves.second, fill: 1)
        // Round at the gap, and square at the edges of the canvas.
        main.corners.bottomRight = radius
        other.corners.topLeft = radius
        if style.layout == .sideBySide {
            main.corners.topRight = radius
            other.corners.bottomLeft = radius
        } else {
            main.corners.bottomLeft = radius
            other.corners.topRight = radius
        }
        return (main, other)
    }

    /// Returns the places of two pictures like `framed` that lie whole in the halves of the canvas.
    private static func pair(
        of framed: Placement,
        on canvas: Size,
        _ layout: Layout
    ) -> (main: Placement, other: Placement) {
        let whole = Rect(canvas)
        let gap = 12 * canvas.unit
        let along = layout == .sideBySide
        let room = Rect(
            x: gap,
            y: gap,
            width: along ? (whole.width - 3 * gap) / 2 : whole.width - 2 * gap,
            height: along ? whole.height - 2 * gap : (whole.height - 3 * gap) / 2
        )
        let fitted = room.fitting(aspect: canvas.aspect)
        var main = framed
        main.rect = Rect(
            x: even(fitted.x),
            y: fitted.y.rounded(),
            width: even(fitted.width),
            height: fitted.height.rounded()
        )
        var other = main
        if along {
            other.rect.x += even(room.width + gap)
        } else {
            other.rect.y += (room.height + gap).rounded()
        }
        return (main, other)
    }

    /// Returns the place of the inset at `rect`, which looks like `framed`.
    private static func inset(
        _ framed: Placement,
        _ rect: Rect,
        _ style: SceneStyle
    ) -> Placement {
        var inset = framed
        inset.rect = rect
        let shadow = 0.35
        switch style.insetShape {
        case .person:
            // Nothing but the person: no frame, and no icon where there is no corner.
            inset = Placement(rect: rect)
            inset.cutout = 1
            inset.shadowOpacity = style.insetBorder > 0 ? shadow : 0
            return inset
        case .circle: (inset.corners, inset.fill) = (CornerRadii(rect.width / 2), 1)
        case .rectangle: break
        }
        inset.shadowOpacity = shadow
        inset.iconOpacity = style.swapIcon ? 1 : 0
        return inset
    }

    /// Returns two halves of the canvas, side by side or one above the other, with a gap. All edges
    /// lie on whole pixels, and horizontally on pairs.
    private static func halves(of canvas: Size, _ style: SceneStyle) -> (first: Rect, second: Rect)
    {
        let isAcross = style.layout == .sideBySide
        let length = isAcross ? canvas.width : canvas.height
        let step = isAcross ? 4 : 2
        let wanted = style.gap * canvas.unit / Double(step)
        let gap = wanted > 0 ? max(1, Int(wanted.rounded())) * step : 0
        let first = max(step / 2, (length - gap) / step * (step / 2))
        let (start, second) = (Double(first + gap), Double(length - gap - first))
        let whole = Rect(canvas)
        return isAcross
            ? (
                Rect(x: 0, y: 0, width: Double(first), height: whole.height),
                Rect(x: start, y: 0, width: second, height: whole.height)
            )
            : (
                Rect(x: 0, y: 0, width: whole.width, height: Double(first)),
                Rect(x: 0, y: start, width: whole.width, height: second)
            )
    }

    /// Returns a picture about to appear at `place`, or gone from it: smaller and transparent.
    static func gone(_ place: Placement) -> Placement {
        var place = place
        place.rect = place.rect.scaled(by: 0.86)
        place.opacity = 0
        return place
    }
}

struct Transition: Hashable, Sendable {
    enum Path: Hashable, Sendable {
        /// Each picture moves straight to its new place.
        case straight
        /// The new main picture grows out of its inset over the old one, which becomes the inset.
        case exchange
        /// The new main picture fades in over the old one.
        case dissolve
        /// Both move by one place, as on a ring: the old main picture leaves the canvas on one side
        /// and comes back on the other, so that nothing is uncovered.
        case ring
        /// Each picture moves straight to its new place, the old main picture beneath the new one.
        case trade
    }
    /// A main picture and a look: what an arrangement at rest follows from.
    struct Choice: Hashable {
        var main: Role
        var style: SceneStyle
    }
    var start: Arrangement
    var path: Path
    /// The progress at `anchor`, 0 … 1, and whether it runs forwards from there.
    var phaseAtAnchor: Double
    var anchor: Timestamp
    var isForward = true
    /// The duration of the whole change, in seconds.
    var duration: Double
    /// The choices that it began with and leads to, if that is known and it began at rest.
    var ends: (from: Choice, to: Choice)? {
        get { from.flatMap { from in to.map { (from, $0) } } }
        set { (from, to) = (newValue?.from, newValue?.to) }
    }
    private var from: Choice?
    private var to: Choice?
    /// The arrangement that the way out led to, while it runs back to another look.
    var goal: Arrangement?

    init(
        start: Arrangement,
        path: Path,
        phaseAtAnchor: Double,
        anchor: Timestamp,
        duration: Double
    ) {
        (self.start, self.path, self.phaseAtAnchor) = (start, path, phaseAtAnchor)
        (self.anchor, self.duration) = (anchor, duration)
    }

    /// Returns the progress at `time`, not clamped at the end that it runs towards.
    func phase(at time: Timestamp) -> Double {
        let elapsed = max(0, (time - anchor).seconds) / max(duration, 1e-6)
        return isForward ? phaseAtAnchor + elapsed : phaseAtAnchor - elapsed
    }

    func isOver(at time: Timestamp) -> Bool {
        let phase = phase(at: time)
        return isForward ? phase >= 1 : phase <= 0
    }
}

/// The scene over time: the user's choices, and the change under way. A value: it is copied to the
/// composite thread, which asks it for the layers of each output frame. Everything that moves is a
/// function of it and the time.
package struct SceneState: Hashable, Sendable {
    package private(set) var canvas: Size
    package private(set) var style: SceneStyle
    /// `true` if front is to be the main picture: the latest request, even during the change.
    package private(set) var isSwapped = false
    /// The roles that have a camera.
    package private(set) var present: PerRole<Bool>
    package var transforms = PerRole(back: Transform.identity, front: Transform.identity)
    private var turnings = PerRole<Turning?>(back: nil, front: nil)
    /// The visible part of each role's picture.
    package var framings = PerRole(back: Framing(), front: Framing())
    package var perspectives = PerRole(back: PerspectiveMove(), front: PerspectiveMove())
    /// The colour correction done in software, by role and pipeline.
    package var grades = PerRole(
        back: PerPipeline(a: Grade.none, b: Grade.none),
        front: PerPipeline(a: Grade.none, b: Grade.none)
    )
    package private(set) var hud = HudState()
    package private(set) var mark = MarkState()
    package private(set) var title = TitleState()
    /// The roles whose picture is also shown alone.
    package var isAlone = PerRole(back: false, front: false)
    private var transition: Transition?
    /// The reason that a role's camera does not deliver, or the last one if it delivers again.
    package private(set) var notices = PerRole<Notice?>(back: nil, front: nil)
    private var veils = PerRole(back: Fade(), front: Fade())
    private var inks = PerRole(back: Fade(), front: Fade())
    private var freezes = PerRole(back: Fade(), front: Fade())
    private var away = Fade()
    /// The ground around pictures of another shape, from a blurred copy (0) to black (1).
    private var blackness = Fade()
    /// The seconds that a picture takes to blur when its camera stops delivering, and to clear.
    private static let veilDuration = 0.3

    /// A scene at rest on `canvas`.
    package init(canvas: Size, style: SceneStyle, present: PerRole<Bool>) {
        self.canvas = canvas
        self.style = style
        self.present = present
        blackness.turn(up: style.background == .black, at: .zero, duration: 0)
    }

    /// The role of the main picture; a camera alone always has it.
    package var main: Role {
        let asked: Role = isSwapped ? .front : .back
        return !present[asked] && present[asked.other] ? asked.other : asked
    }

    package var hasBoth: Bool { present.back && present.front }

    private var rest: Arrangement { resting(main) }

    private func resting(_ main: Role) -> Arrangement {
        Arrangement(resting: main, style: style, showsOther: hasBoth, canvas: canvas)
    }

    /// The rectangles of the main picture, of the other one, and of the room that an inset has, at
    /// the end of a change under way, in fractions of the canvas; the other's is empty if it is not
    /// shown.
    package var restingParts: (main: Rect, other: Rect, insetRoom: Rect) {
        let rest = rest
        func part(_ rect: Rect) -> Rect {
            let (width, height) = (Double(canvas.width), Double(canvas.height))
            return Rect(
                x: rect.x / width,
                y: rect.y / height,
                width: rect.width / width,
                height: rect.height / height
            )
        }
        let other = rest.otherPlace
        return (
            part(rest.mainPlace.rect),
            part(other.opacity > 0 ? other.rect : Rect(x: 0, y: 0, width: 0, height: 0)),
            part(style.inset(on: canvas).room)
        )
    }

    /// The rectangle of an inset at the bottom of the canvas, in canvas pixels, at the end of a
    /// change under way; `nil` if there is none.
    package var lowInset: Rect? {
        let isLow = style.shownCorner.point.y == 1
        guard style.layout == .pip, style.insetVisible, hasBoth, isLow else { return nil }
        return rest.otherPlace.rect
    }

    /// Returns `true` until the change under way is over.
    package func isMoving(at time: Timestamp) -> Bool {
        transition.map { !$0.isOver(at: time) } ?? false
    }

    /// Returns `true` if nothing moves or fades at `time`, nor later, but for a dial left alone.
    package func isStill(at time: Timestamp) -> Bool {
        let end = Timestamp(nanoseconds: .max)
        return hud.isStill(at: time)
            && title.opacities(at: time) == title.opacities(at: end)
            && ([nil] + Role.allCases).allSatisfy { role in
                scene(of: role, at: time) == scene(of: role, at: end)
            }
    }

    /// Makes front the main picture, or back, from `time` on; without a transition if `instantly`.
    package mutating func setSwapped(_ swapped: Bool, at time: Timestamp, instantly: Bool = false) {
        guard swapped != isSwapped else { return }
        settle(at: time)
        let before = arrangement(at: time)
        let mainBefore = main
        isSwapped = swapped
        guard main != mainBefore else { return }
        if instantly {
            transition = nil
            return
        }
        if var running = transition, running.goal == nil,
            running.start.main == (running.isForward ? mainBefore.other : mainBefore)
        {
            running.ends = nil
            // A swap under way is reversed from where it is, at the same speed; in the time of a
            // whole swap if the arrangement that it returns to was moving and has to come to rest.
            running.start = start(of: running, at: time)
            running.phaseAtAnchor = min(1, max(0, running.phase(at: time)))
            running.anchor = time
            running.isForward.toggle()
            running.duration = style.swapDuration
            if !running.isForward, running.start != resting(running.start.main) {
                running.duration /= max(running.phaseAtAnchor, 1e-6)
            }
            transition = running
            return
        }
        let path: Transition.Path =
            switch style.layout {
            case .pip where style.insetVisible && hasBoth: .exchange
            case .sideBySide where hasBoth, .stacked where hasBoth: .ring
            case .pip, .single, .sideBySide, .stacked: .dissolve
            }
        begin(path, from: before, at: time)
    }

    /// Makes front the main picture, or back, and changes the look, in one movement that begins at
    /// `time`; at once if `instantly`. The way back, asked for on the way, runs back from there.
    package mutating func change(
        toSwapped swapped: Bool,
        style: SceneStyle,
        at time: Timestamp,
        instantly: Bool = false
    ) {
        guard swapped != isSwapped || style != self.style else { return }
        settle(at: time)
        let (before, restBefore) = (arrangement(at: time), rest)
        let was = Transition.Choice(main: main, style: self.style)
        let isAtRest = transition == nil
        let running = transition.map { running in
            var running = running
            running.start = start(of: running, at: time)
            running.phaseAtAnchor = min(1, max(0, running.phase(at: time)))
            return running
        }
        isSwapped = swapped
        self.style = style
        turnBlackness(at: time, instantly: instantly)
        guard rest != restBefore else { return }
        if instantly {
            transition = nil
            return
        }
        let wanted = Transition.Choice(main: main, style: style)
        if var running, let ends = running.ends,
            (running.isForward ? ends.from : ends.to) == wanted
        {
            running.goal = running.isForward ? restBefore : nil
            running.anchor = time
            running.isForward.toggle()
            transition = running
            return
        }
        begin(path(from: was, otherOpacity: before.otherPlace.opacity), from: before, at: time)
        if isAtRest { transition?.ends = (was, wanted) }
    }

    /// Returns the path from `was`, with the other picture this opaque, to what is chosen now.
    private func path(from was: Transition.Choice, otherOpacity: Double) -> Transition.Path {
        guard was.main != main else { return .straight }
        switch style.layout {
        case .sideBySide where hasBoth, .stacked where hasBoth:
            return was.style.layout == style.layout ? .ring : .trade
        case .pip where style.insetVisible && hasBoth: return .exchange
        // What was the inset grows out of it.
        case .pip, .single, .sideBySide, .stacked: return otherOpacity > 0 ? .exchange : .dissolve
        }
    }

    /// Changes the canvas, and ends any transition.
    package mutating func setCanvas(_ canvas: Size) {
        self.canvas = canvas
        transition = nil
    }

    /// Changes the look. What moves, moves eased from `time` on; at once if `instantly`.
    package mutating func setStyle(
        _ style: SceneStyle,
        at time: Timestamp,
        instantly: Bool = false
    ) {
        guard style != self.style else { return }
        settle(at: time)
        let before = arrangement(at: time)
        let restBefore = rest
        self.style = style
        turnBlackness(at: time, instantly: instantly)
        if instantly {
            transition = nil
        } else if rest != restBefore {
            begin(.straight, from: before, at: time)
        }
    }

    /// Adds a role's camera that has come, or removes one that has gone for good.
    package mutating func setPresent(_ role: Role, _ isPresent: Bool, at time: Timestamp) {
        guard present[role] != isPresent else { return }
        settle(at: time)
        let before = arrangement(at: time)
        let mainBefore = main
        present[role] = isPresent
        begin(main == mainBefore ? .straight : .dissolve, from: before, at: time)
    }

    /// Sets the reason that a role's camera does not deliver; `nil`: it does. Its last picture
    /// blurs, or clears, after `delay` seconds; at once if `instantly`.
    package mutating func setNotice(
        _ notice: Notice?,
        of role: Role,
        at time: Timestamp,
        after delay: Double = 0,
        instantly: Bool = false
    ) {
        // Keep the reason while the veil lifts.
        if let notice { notices[role] = notice }
        veils[role].turn(
            up: notice != nil,
            at: time,
            after: delay,
            duration: instantly ? 0 : Self.veilDuration
        )
    }

    mutating func setFrozen(_ isFrozen: Bool, _ role: Role, at time: Timestamp) {
        framings[role].freeze(isFrozen)
        freezes[role].turn(up: isFrozen, at: time, duration: Self.veilDuration)
    }

    /// Returns `true` if a role's picture is graded for paper, or begins to be.
    func isInk(_ role: Role) -> Bool { inks[role].isRising }

    /// Begins or ends the grade for paper of a role's picture; at once if `instantly`.
    mutating func setInk(
        _ isOn: Bool,
        _ role: Role,
        at time: Timestamp,
        instantly: Bool = false
    ) {
        inks[role].turn(up: isOn, at: time, duration: instantly ? 0 : Self.veilDuration)
    }

    /// Shows the user's own picture instead of the cameras, or no longer.
    mutating func setAway(_ isShown: Bool, at time: Timestamp, instantly: Bool = false) {
        away.turn(up: isShown, at: time, duration: instantly ? 0 : Self.veilDuration)
    }

    /// Returns the pipeline of `role` in whose place the user's own picture is shown, alone or as
    /// the main one; `nil` while it is not shown. Does not allocate. Any thread.
    package func awayPipeline(of role: Role, at time: Timestamp) -> CapturePipeline? {
        let share = away.value(at: time, duration: Self.veilDuration)
        return share > 0 ? framings[role].pipeline(at: time).other : nil
    }

    /// Lays the user's own picture over a scene, in the main picture's place.
    private func layAway(over scene: inout Scene, _ role: Role, at time: Timestamp) {
        guard let pipeline = awayPipeline(of: role, at: time) else { return }
        let share = away.value(at: time, duration: Self.veilDuration)
        if share >= 1 { scene = Scene() }
        // A camera that turns just now takes two layers.
        guard scene.count < 6 else { return }
        var layer = Layer(role: role, rect: Rect(canvas))
        layer.opacity = share
        layer.fill = alone.fill
        layer.blur = 1 - blackness.value(at: time, duration: style.swapDuration)
        layer.source.pipeline = pipeline
        scene.append(layer)
    }

    /// Sets the transform of a role's picture from `time` on; it fades in if `eased`.
    mutating func setTransform(
        _ transform: Transform,
        of role: Role,
        at time: Timestamp,
        eased: Bool
    ) {
        guard transform != transforms[role] else { return }
        turnings[role] =
            eased
            ? Turning(before: transforms[role], start: time, after: turnings[role], to: transform)
            : nil
        transforms[role] = transform
    }

    /// Shows `content` in the HUD; `nil` hides it.
    mutating func setHud(_ content: HudContent?, at time: Timestamp) {
        hud.show(content, at: time)
    }

    /// Shows `title` in `corner`, or beside an inset that is there; `nil` hides it.
    mutating func setTitle(_ title: Title?, in corner: Corner, at time: Timestamp) {
        let isTaken = hasInset && style.shownCorner == corner
        self.title.show(
            title.map { ShownTitle(title: $0, corner: isTaken ? corner.beside : corner) },
            at: time
        )
    }

    private var hasInset: Bool { style.layout == .pip && style.insetVisible && hasBoth }

    /// Shows that a recording is `seconds` long, and if it is paused; `nil` hides that.
    mutating func setMark(_ seconds: Int?, isPaused: Bool, at time: Timestamp) {
        let isTaken =
            (hasInset && style.shownCorner == .topLeft) || title.wanted?.corner == .topLeft
        mark.show(
            seconds.map { RecordMark(seconds: $0, isPaused: isPaused, isRight: isTaken) },
            at: time
        )
    }

    /// Notes a command given, and the end of the dial that it ran into, if any.
    mutating func touchHud(at time: Timestamp, limit: Bound?, rising: Bool) {
        hud.touch(at: time, limit: limit, rising: rising)
    }

    private mutating func turnBlackness(at time: Timestamp, instantly: Bool) {
        blackness.turn(
            up: style.background == .black,
            at: time,
            duration: instantly ? 0 : style.swapDuration
        )
    }

    private mutating func settle(at time: Timestamp) {
        if let running = transition, running.isOver(at: time) { transition = nil }
    }

    private mutating func begin(
        _ path: Transition.Path,
        from start: Arrangement,
        at time: Timestamp
    ) {
        transition = Transition(
            start: start,
            path: path,
            phaseAtAnchor: 0,
            anchor: time,
            duration: style.swapDuration
        )
    }

    func arrangement(at time: Timestamp) -> Arrangement {
        guard var running = transition, !running.isOver(at: time) else { return rest }
        var phase = min(1, max(0, running.phase(at: time)))
        var goal = rest
        if !running.isForward {
            running.start = start(of: running, at: time)
            // Running back, the goal is the start of the way out, and the path is the same.
            goal = running.goal ?? resting(main.other)
            phase = min(phase, 1)
        }
        return blend(running, to: goal, phase: phase)
    }

    /// Returns the arrangement in which `running` began. If it runs back, that comes to rest in the
    /// meantime, even if it was moving then.
    private func start(of running: Transition, at time: Timestamp) -> Arrangement {
        guard !running.isForward else { return running.start }
        let rest = resting(running.start.main)
        let phase = min(1, max(0, running.phase(at: time)))
        let share = Easing.inOut(1 - phase / max(running.phaseAtAnchor, 1e-6))
        var start = running.start
        start.mainPlace = start.mainPlace.moved(to: rest.mainPlace, fraction: share, on: canvas)
        start.otherPlace = start.otherPlace.moved(to: rest.otherPlace, fraction: share, on: canvas)
        return start
    }

    /// Returns the arrangement at `phase` of the way from the transition's start to `goal`.
    private func blend(
        _ transition: Transition,
        to goal: Arrangement,
        phase: Double
    ) -> Arrangement {
        let eased = Easing.inOut(phase)
        let start = transition.start
        func move(_ place: Placement, _ goal: Placement) -> Placement {
            place.moved(to: goal, fraction: eased, on: canvas)
        }
        var now = goal
        now.backdropOpacity =
            start.backdropOpacity + (goal.backdropOpacity - start.backdropOpacity) * eased
        guard goal.main != start.main else {
            // With the same main picture, everything moves straight to its place.
            now.mainPlace = move(start.mainPlace, goal.mainPlace)
            now.otherPlace = move(start.otherPlace, goal.otherPlace)
            if var rest = start.beneath {
                rest.opacity *= 1 - eased
                now.beneath = rest
            }
            now.backdropMix = start.backdropMix * (1 - eased)
            return now
        }
        now.backdropMix = 1 - eased
        switch transition.path {
        case .straight:
            now.mainPlace = move(start.otherPlace, goal.mainPlace)
            now.otherPlace = move(start.mainPlace, goal.otherPlace)
        case .ring:
            // The way from one place to the next.
            let (x, y) = (
                goal.otherPlace.rect.x - goal.mainPlace.rect.x,
                goal.otherPlace.rect.y - goal.mainPlace.rect.y
            )
            var (left, entering) = (goal.mainPlace, goal.otherPlace)
            (left.rect.x, left.rect.y) = (left.rect.x - x, left.rect.y - y)
            (entering.rect.x, entering.rect.y) = (entering.rect.x + x, entering.rect.y + y)
            now.beneath = move(start.mainPlace, left)
            now.mainPlace = move(start.otherPlace, goal.mainPlace)
            now.otherPlace = move(entering, goal.otherPlace)
        case .trade:
            now.beneath = move(start.mainPlace, goal.otherPlace)
            now.mainPlace = move(start.otherPlace, goal.mainPlace)
            now.otherPlace.opacity = 0
        case .dissolve:
            now.beneath = start.mainPlace
            now.mainPlace.opacity = eased
            now.otherPlace.opacity *= eased
        case .exchange:
            now.beneath = start.mainPlace
            now.mainPlace = move(start.otherPlace, goal.mainPlace)
            now.mainPlace.iconOpacity = start.otherPlace.iconOpacity * max(0, 1 - phase / 0.3)
            // After 45 % of the time the outgoing picture returns as the inset.
            let back = max(0, (phase - 0.45) / 0.55)
            let returning = Easing.out(back)
            now.otherPlace.rect = goal.otherPlace.rect.scaled(by: 0.86 + 0.14 * returning)
            now.otherPlace.opacity = goal.otherPlace.opacity * returning
            now.otherPlace.iconOpacity = goal.otherPlace.iconOpacity * max(0, (back - 0.5) / 0.5)
        }
        return now
    }

    /// Returns the extents at which each role's pipelines are shown, at `time` and until the change
    /// then under way ends, oriented as the cameras deliver them. Does not allocate. Any thread.
    package func extents(at time: Timestamp) -> PerRole<PerPipeline<ShownExtent>> {
        // A lens that gets ready in the other pipeline needs a small picture, to judge its light.
        let none = PerPipeline(a: ShownExtent.glance, b: ShownExtent.glance)
        var extents = PerRole(back: none, front: none)
        let end = Timestamp(nanoseconds: .max)
        for role in Role.allCases {
            extents[role][framings[role].pipeline(at: time)] = .hidden
            extents[role][framings[role].pipeline(at: end)] = .hidden
        }
        func add(_ place: Placement, _ role: Role) {
            guard place.opacity > 0, present[role] || role == main else { return }
            var layer = Layer(role: role, rect: place.rect)
            layer.fill = place.fill
            layer.cutout = place.cutout
            layer.transform = transforms[role]
            func add(_ pipeline: CapturePipeline) {
                // While a zoom moves, the extent is between the present one and the final one.
                let now = layer.extent(of: source(pipeline, of: role, at: time))
                let later = layer.extent(of: source(pipeline, of: role, at: end))
                extents[role][pipeline] = extents[role][pipeline].union(now).union(later)
            }
            add(framings[role].pipeline(at: time))
            // The lens of a crossing to come.
            add(framings[role].pipeline(at: end))
        }
        func add(_ arrangement: Arrangement) {
            add(arrangement.mainPlace, arrangement.main)
            add(arrangement.otherPlace, arrangement.main.other)
            if let beneath = arrangement.beneath { add(beneath, arrangement.main.other) }
        }
        add(rest)
        for role in Role.allCases where isAlone[role] { add(alone, role) }
        guard let running = transition, !running.isOver(at: time) else { return extents }
        // No picture is larger on its way than at one of the two ends.
        add(running.start)
        if !running.isForward {
            add(running.goal ?? resting(main.other))
        }
        return extents
    }

    /// Returns the layers to draw at `time`, bottom first, for pictures that were `taken` at these
    /// times, or just now if `nil`. Does not allocate. Any thread.
    package func scene(
        at time: Timestamp,
        taken: PerRole<PerPipeline<Timestamp>>? = nil
    ) -> Scene {
        let now = arrangement(at: time)
        var scene = Scene()
        let whole = Rect(canvas)
        func covers(_ place: Placement) -> Bool {
            place.opacity >= 1 && place.corners == .none && place.rect == whole
                && place.cutout == 0
        }
        if !covers(now.mainPlace) && !(now.beneath.map(covers) ?? false) {
            scene.backdrop = now.main
            scene.backdropMix = now.backdropMix
            scene.backdropOpacity = now.backdropOpacity
        }
        if let beneath = now.beneath {
            append(beneath, now.main.other, to: &scene, at: time, taken)
        }
        append(now.mainPlace, now.main, to: &scene, at: time, taken)
        append(now.otherPlace, now.main.other, to: &scene, at: time, taken)
        layAway(over: &scene, now.main, at: time)
        return scene
    }

    /// Returns the layers to draw at `time` for a camera that is shown alone, as in layout
    /// `single`; for `nil`, those of the scene. Does not allocate. Any thread.
    package func scene(
        of camera: Role?,
        at time: Timestamp,
        taken: PerRole<PerPipeline<Timestamp>>? = nil
    ) -> Scene {
        guard let camera else { return scene(at: time, taken: taken) }
        var scene = Scene()
        append(alone, camera, to: &scene, at: time, taken, isAlone: true)
        layAway(over: &scene, camera, at: time)
        return scene
    }

    /// The place of a picture that is shown alone.
    private var alone: Placement {
        Placement(rect: Rect(canvas), fill: style.background == .crop ? 1 : 0)
    }

    private func source(
        _ pipeline: CapturePipeline,
        of role: Role,
        at time: Timestamp,
        _ taken: PerRole<PerPipeline<Timestamp>>? = nil
    ) -> LayerSource {
        var source = LayerSource()
        source.pipeline = pipeline
        let (framing, taken) = (framings[role], taken?[role][pipeline])
        if let perspective = perspectives[role].pose(at: time) {
            // The zoom is into what the perspective shows, which is the same thing for each lens.
            source.part = framing.part(at: time, factor: 1)
            source.perspective = perspective.magnified(
                by: framing.factor(of: pipeline, taken: taken)
            )
        } else {
            source.part = framing.part(at: time, of: pipeline, taken: taken)
        }
        source.place = framing.place(at: time, of: pipeline)
        source.grade = grades[role][pipeline]
        return source
    }

    private func append(
        _ place: Placement,
        _ role: Role,
        to scene: inout Scene,
        at time: Timestamp,
        _ taken: PerRole<PerPipeline<Timestamp>>?,
        isAlone: Bool = false
    ) {
        let rect = place.rect
        let isSeen =
            rect.maxX > 0 && rect.maxY > 0 && rect.x < Double(canvas.width)
            && rect.y < Double(canvas.height)
        guard place.opacity > 0, isSeen, present[role] || role == main || isAlone else { return }
        var layer = Layer(role: role, rect: rect)
        layer.opacity = place.opacity
        layer.corners = place.corners
        layer.fill = place.fill
        layer.borderWidth =
            place.borderOpacity > 0 ? style.insetBorder * canvas.unit : 0
        layer.borderOpacity = place.borderOpacity
        layer.shadowOpacity = place.shadowOpacity
        layer.veil = veils[role].value(at: time, duration: Self.veilDuration)
        layer.notice = layer.veil > 0 ? notices[role] : nil
        if place.cutout > 0 {
            // A person fades away before the blurred whole of the last picture comes: the room
            // between them is never sharp.
            let isWhole = layer.veil > 0.5
            layer.opacity *= 1 - place.cutout * (1 - abs(2 * layer.veil - 1))
            layer.cutout = isWhole ? 0 : place.cutout
            layer.veil = isWhole ? max(layer.veil, place.cutout) : layer.veil * (1 - place.cutout)
        }
        // The icon belongs to a live picture; a veiled one shows its reason instead.
        layer.iconOpacity = place.iconOpacity * (1 - layer.veil)
        layer.ink = inks[role].value(at: time, duration: Self.veilDuration)
        layer.frozenOpacity = freezes[role].value(at: time, duration: Self.veilDuration)
        layer.blur = 1 - blackness.value(at: time, duration: style.swapDuration)
        layer.transform = transforms[role]
        let framing = framings[role]
        let pipeline = framing.pipeline(at: time)
        layer.source = source(pipeline, of: role, at: time, taken)
        let share = framing.share(at: time)
        if share > 0 {
            layer.next = source(pipeline.other, of: role, at: time, taken)
            layer.nextShare = share
        }
        if let turning = turnings[role] {
            let share = turning.share(at: time)
            if share < 1 {
                var before = layer
                before.transform = turning.before
                scene.append(before)
                // The layer below already draws what is around the picture, but not persons.
                layer.shadowOpacity *= layer.cutout
                layer.opacity *= share
            }
        }
        scene.append(layer)
    }
}
