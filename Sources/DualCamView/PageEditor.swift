import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// A page over the picture of its camera, to be straightened: four corners to drag, and the result.
/// The stream shows nothing of it until it is done.
final class PageEditor {
    let widget: Overlay
    var onTrouble: (DBusError) -> Void = { _ in }
    var onClose: () -> Void = {}

    private let daemon: DaemonMirror?
    private let area = DrawingArea()
    private let handles = PageEditor.names.map { _ in DrawingArea() }
    private let fixed = Fixed()
    private let bar: Box
    private let words: [Label]
    private let ink, freeze, lock: ToggleButton
    private let straighten = Button("Straighten")
    private var role = Role.back
    /// `nil` while it is closed.
    private var pictures: WholePictures?
    private var room = Size(width: 0, height: 0)
    private var start: NormalizedPoint?
    /// `true` once the corners are somebody's, or those of the page that was found.
    private var hasCorners = false
    /// `true` once somebody has moved one.
    private var isMoved = false
    /// The places of the picture's own corners in the terms of the property Perspective.
    private var edges: [NormalizedPoint] = []
    private var corners = PageCorners.usual
    private var picture: Pixels?
    /// The picture as large as it is shown.
    private var small: Pixels?
    private var place = Rect(x: 0, y: 0, width: 0, height: 0)
    private var result: Pixels?
    /// The corner that is carried, or has the keyboard.
    private var current: Int?
    /// `true` while it is moved, and its surroundings are shown larger.
    private var isNear = false

    private static let names = ["Top Left", "Top Right", "Bottom Right", "Bottom Left"]
    /// The sizes of a corner, of what it can be grasped by, and of the loupe.
    private static let (side, reach, loupe) = (24.0, 32.0, 136.0)
    private static let resultSize = Size(width: 176, height: 99)
    private static let keys: [String: (Double, Double)] = [
        "Left": (-1, 0), "Right": (1, 0), "Up": (0, -1), "Down": (0, 1),
    ]

    init(_ daemon: DaemonMirror?) {
        self.daemon = daemon
        func part(_ name: String, _ words: String) -> (Box, Label) {
            let label = Label(words)
            return (Box(spacing: 8, [Image(icon: icon(name)), label]), label)
        }
        let parts = [
            part("straighten", "Find Page"), part("ink", "Ink"), part("freeze", "Freeze"),
            part("lock", "Lock"),
        ]
        words = parts.map(\.1)
        let find = Button(parts[0].0, "Find the Page")
        ink = ToggleButton(parts[1].0, "Ink: White Paper, Dark Letters")
        freeze = ToggleButton(parts[2].0, "Freeze the Picture")
        lock = ToggleButton(parts[3].0, "Lock Exposure, Focus and Colours")
        let cancel = Button("Cancel").style("quiet")
        straighten.style("done")
        bar = Box(spacing: 4, [cancel, find, ink, freeze, lock, straighten])
        widget = Overlay(area)
        // The hand is the picture's, which knows how far it may be off.
        fixed.isTarget = false
        widget.add(fixed)
        widget.add(bar.style("bar", "words").place(.center, .end, margin: 12))
        widget.isVisible = false
        for (index, handle) in handles.enumerated() {
            handle.named("\(Self.names[index]) Corner")
            handle.request(width: Int(Self.side), height: Int(Self.side))
            handle.isFocusable = true
            handle.onDraw { [unowned self] canvas, size in
                let disc = Rect(size).inset(by: 1)
                canvas.fill(disc, radius: disc.width / 2, current == index ? .amber : .white())
                canvas.ring(disc, width: 2, .black(0.84))
            }
            fixed.add(handle)
            handle.onKey { [unowned self] in press($0, index) }
            handle.onFocus { [unowned self] in show(current: $0 ? index : nil) }
        }
        area.named("The picture of the page")
        area.onDraw { [unowned self] in draw(on: $0, $1) }
        area.onDrag { [unowned self] drag, _ in self.drag(drag) }
        cancel.onClick { [unowned self] in close() }
        find.onClick { [unowned self] in findPage(isAsked: true) }
        straighten.onClick { [unowned self] in finish() }
    }

    var isOpen: Bool { pictures != nil }

    // MARK: Opening and closing

    /// Shows what the camera of `role` sees, over all that is beneath.
    func open(_ role: Role) {
        guard let daemon, !isOpen else { return }
        (self.role, corners, hasCorners, isMoved) = (role, .usual, false, false)
        (picture, small, result) = (nil, nil, nil)
        ink.isOn = daemon[\CameraInterface.ink, at: role.path] ?? false
        freeze.isOn = daemon[\CameraInterface.frozen, at: role.path] ?? false
        lock.isOn = isLocked
        pictures = try? WholePictures(
            daemon,
            of: role,
            { [unowned self] in take($0, $1) },
            failed: { [unowned self] in
                // The next one comes.
                guard picture == nil else { return }
                close()
                onTrouble($0)
            }
        )
        widget.isVisible = isOpen
        fit()
        arrange()
        handles[0].grabFocus()
    }

    func close() {
        guard isOpen else { return }
        pictures = nil
        widget.isVisible = false
        onClose()
    }

    private var isLocked: Bool {
        daemon?[\ControlsInterface.locked, at: role.path]?.isEmpty == false
    }

    /// Shows the page as it was chosen, and does what else was.
    private func finish() {
        guard let daemon, picture != nil, let page = corners.perspective(in: edges)
        else { return }
        let path = role.path
        func check(_ error: DBusError?) { if let error { onTrouble(error) } }
        let points = page.points.map { Pair($0.x, $0.y) }
        daemon.set(\CameraInterface.perspective, at: path, to: points, check)
        if ink.isOn != daemon[\CameraInterface.ink, at: path] {
            daemon.set(\CameraInterface.ink, at: path, to: ink.isOn, check)
        }
        if lock.isOn != isLocked {
            if lock.isOn {
                daemon.call(\ControlsInterface.lock, at: path, []) { check($0.error) }
            } else {
                daemon.call(\ControlsInterface.unlock, at: path, ()) { check($0.error) }
            }
        }
        if freeze.isOn != daemon[\CameraInterface.frozen, at: path] {
            daemon.set(\CameraInterface.frozen, at: path, to: freeze.isOn, check)
        }
        close()
    }

    // MARK: The picture

    private func take(_ picture: Pixels, _ corners: [NormalizedPoint]) {
        guard picture.size.area > 0 else { return }
        (self.picture, edges) = (picture, corners)
        fit()
        if !hasCorners {
            hasCorners = true
            let known = daemon?[\CameraInterface.perspective, at: role.path]?.points ?? []
            if let corners = PageCorners(known, in: edges) {
                self.corners = corners
            } else {
                findPage(isAsked: false)
            }
        }
        arrange()
    }

    /// Puts the corners where the camera sees a page.
    private func findPage(isAsked: Bool) {
        var options = Options<CameraInterface.Search>()
        options.apply = false
        daemon?.call(\CameraInterface.findPerspective, at: role.path, (), options: options) {
            [weak self] answer in
            guard let self, isOpen else { return }
            switch answer {
            case .success(let (points, _)):
                guard start == nil, isAsked || !isMoved,
                    let found = PageCorners(points.points, in: edges)
                else { return }
                corners = found
                arrange()
            case .failure(let error): if isAsked { onTrouble(error) }
            }
        }
    }

    /// Fits everything into a window of another size.
    func fit(_ room: Size) {
        guard room != self.room else { return }
        self.room = room
        fit()
        arrange()
    }

    private func fit() {
        let size = picture?.size ?? Size(width: 16, height: 9)
        var free = Rect(room)
        // Corners below the bar could not be reached.
        free.height = max(1, free.height - 76 * textScale)
        place = free.fitting(aspect: Double(size.width) / Double(size.height))
        small = picture?.reduced(toWidth: Int(place.width) * widget.scaleFactor)
        for label in words { label.isVisible = Double(room.width) >= 720 * textScale }
    }

    /// Shows the corners where they are now, and what comes of them.
    private func arrange() {
        for (index, handle) in handles.enumerated() {
            let (x, y) = place.place(corners.points[index])
            fixed.move(handle, x: x - Self.side / 2, y: y - Self.side / 2)
        }
        straighten.isSensitive = picture != nil && corners.page != nil
        result = corners.page.flatMap {
            picture?.straightened($0, in: Self.resultSize)
        }
        area.redraw()
    }

    // MARK: Hands and keys

    private func drag(_ part: Widget.Drag) -> Bool {
        switch part {
        case .began(let x, let y):
            let reach = Self.reach
            guard let index = corners.nearest(x: x, y: y, in: place, reach: reach) else {
                return false
            }
            handles[index].grabFocus()
            show(current: index)
            (start, isNear) = (corners.points[index], true)
        case .moved(let x, let y):
            if let start, let current { move(current, start, x, y) }
        case .ended, .cancelled: (start, isNear) = (nil, false)
        }
        area.redraw()
        return true
    }

    private func press(_ key: String, _ index: Int) -> Bool {
        if key == "Return" || key == "KP_Enter" {
            finish()
            return true
        }
        guard let (x, y) = Self.keys[key] else { return false }
        isNear = true
        move(index, corners.points[index], x, y)
        return true
    }

    /// Moves a corner by units of the window from where it was.
    private func move(_ index: Int, _ from: NormalizedPoint, _ x: Double, _ y: Double) {
        (hasCorners, isMoved) = (true, true)
        let (width, height) = (max(1, place.width), max(1, place.height))
        let point = NormalizedPoint(x: from.x + x / width, y: from.y + y / height)
        corners.move(index, to: point)
        arrange()
    }

    private func show(current: Int?) {
        (self.current, isNear) = (current, false)
        for handle in handles { handle.redraw() }
        area.redraw()
    }

    // MARK: Drawing

    private func draw(on canvas: Canvas, _ size: Size) {
        let whole = Rect(size)
        canvas.fill(whole, .black(1))
        if let small { canvas.draw(small, in: place) }
        let points = corners.points.map(place.place)
        canvas.polygon(points, outside: whole, .black(0.5))
        canvas.polygon(points, width: 5, .black(0.84))
        canvas.polygon(points, width: 2, corners.page == nil ? .amber : .white())
        if let result {
            let margin = size.width >= 720 ? 16.0 : 12.0
            // A small window has little room for it.
            let scale = min(1, whole.width / 640)
            let width = Double(Self.resultSize.width) * scale
            // Not where the hand is.
            let isLeft = isNear && current.map { points[$0].x > whole.midX } ?? false
            let room = Rect(
                x: isLeft ? margin : whole.maxX - margin - width,
                y: margin,
                width: width,
                height: Double(Self.resultSize.height) * scale
            )
            let edge = room.inset(by: -3)
            canvas.fill(edge, radius: 9, .black(1))
            let aspect = Double(result.size.width) / Double(result.size.height)
            canvas.clipped(to: room, radius: 6) {
                canvas.draw(result, in: room.fitting(aspect: aspect))
            }
        }
        if isNear, let current, let picture {
            draw(loupe: points[current], picture, canvas, whole)
        }
    }

    /// Draws what is at a corner three times as large, away from the hand.
    private func draw(
        loupe corner: (x: Double, y: Double),
        _ picture: Pixels,
        _ canvas: Canvas,
        _ whole: Rect
    ) {
        let side = min(Self.loupe, whole.height / 2.5)
        let (dx, dy) = (whole.midX - corner.x, whole.midY - corner.y)
        let distance = max(1, (dx * dx + dy * dy).squareRoot())
        let away = side / 2 + 40
        let (x, y) = (corner.x + dx / distance * away, corner.y + dy / distance * away)
        let disc = Rect(x: x - side / 2, y: y - side / 2, width: side, height: side)
        canvas.fill(disc.inset(by: -3), radius: side / 2 + 3, .black(0.84))
        canvas.clipped(to: disc, radius: side / 2) {
            canvas.fill(disc, .black(1))
            canvas.draw(
                picture,
                in: Rect(
                    x: x - (corner.x - place.x) * 3,
                    y: y - (corner.y - place.y) * 3,
                    width: place.width * 3,
                    height: place.height * 3
                )
            )
        }
        canvas.ring(disc.inset(by: 0.5), width: 3, .white())
        for (stepX, stepY) in [(1.0, 0.0), (-1, 0), (0, 1), (0, -1)] {
            let ends = [8.0, side / 2 - 24].map { (x: x + $0 * stepX, y: y + $0 * stepY) }
            canvas.polygon(ends, width: 2, .amber)
        }
    }
}
