import DualCamCore
import Frames
import GTK
import Glibc
import Platform
import ViewCore

/// The window's place, its size, and whether it is above others.
final class WindowPlacement {
    private unowned let owner: PictureWindow
    private let x11: X11Window?
    private let sway: SwayWindow?
    private var drag: (pointer: (x: Double, y: Double), frame: Rect)?
    private var shaping: MainLoop.Timer?
    private var covering: MainLoop.Timer?
    private var remembered: Remembered?
    private var anchor = Snapping.Anchor()
    /// `true` while the desktop moves the window with the pointer.
    private var isMovedByDesktop = false
    private var isPointerAway = false

    /// `true` if the window can be kept above others by us.
    var isOurs: Bool { x11 != nil || sway != nil }
    /// `true` if it can be placed by us.
    private var isPlaced: Bool { x11 != nil || sway?.place != nil }

    /// The time in which the window settles in a corner, in seconds.
    private static let settling = 0.2

    /// The state that is remembered from one start to the next.
    struct Remembered: Hashable {
        var x, y: Double?
        var width: Int

        private static let file = StateFile("view")

        /// Reads what was remembered; `nil` if nothing was, or nothing that makes sense.
        static func load() -> Remembered? {
            guard let text = try? file?.load() else { return nil }
            let words = text.split { $0 == " " || $0 == "\n" }
            let numbers = words.compactMap { Double($0) }.filter { abs($0) < 1e5 }
            guard numbers.count == words.count, numbers.count == 1 || numbers.count == 3,
                let width = numbers.first, width >= Double(Snapping.smallestWidth)
            else { return nil }
            let hasPlace = numbers.count == 3
            return Remembered(
                x: hasPlace ? numbers[1] : nil,
                y: hasPlace ? numbers[2] : nil,
                width: Int(width)
            )
        }

        func save() {
            let numbers = [width.description] + [x, y].compactMap { $0?.description }
            try? Self.file?.store(numbers.joined(separator: " ") + "\n")
        }
    }

    /// Takes the place of the window of `owner`, which is on the screen: Sway's, if that runs.
    init(_ owner: PictureWindow, _ sway: SwayWindow?) {
        self.owner = owner
        x11 = X11Window(of: owner.window)
        self.sway = sway
        remembered = Remembered.load()
        if x11 != nil { restore() }
        sway?.look { [weak self] in self?.restore() }
        owner.window.onResize { [weak self] in self?.shapeSoon() }
        x11?.onRestack { [weak self] in self?.lookSoon() }
    }

    /// Goes where the window was the last time, else into the corner at the bottom right.
    func restore() {
        // Window managers forget it when a window is hidden.
        x11?.keepAbove()
        var rect = content
        if let x = remembered?.x, let y = remembered?.y {
            rect.x = x
            rect.y = y
        }
        guard let area = area(around: rect) else { return }
        if remembered?.x == nil {
            rect.x = area.maxX - Snapping.margin - rect.width
            rect.y = area.maxY - Snapping.margin - rect.height
        }
        move(to: Snapping.inside(rect, area))
    }

    /// The free part of the monitor that `rect` is on; `nil` where it is unknown.
    private func area(around rect: Rect) -> Rect? {
        if let place = sway?.place { return place.area }
        return x11.map { Snapping.area(around: rect, monitors: $0.monitors, free: $0.workArea) }
    }

    /// Looks if the window is covered, once for all that happens together.
    private func lookSoon() {
        guard covering?.isOver ?? true else { return }
        covering = MainLoop.Timer(after: 0.1) { [unowned self] in
            owner.isCovered = x11?.isCovered ?? false
        }
    }

    /// The visible window on the screen, without its shadow.
    private var content: Rect {
        if let window = sway?.place?.window { return window }
        guard let frame = x11?.frame else { return Rect(owner.window.defaultSize) }
        let shadow = owner.window.contentOffset
        let size = owner.stage.size
        return Rect(
            x: frame.x + shadow.x,
            y: frame.y + shadow.y,
            width: Double(size.width),
            height: Double(size.height)
        )
    }

    private func move(to rect: Rect) {
        sway?.move(to: rect)
        let shadow = owner.window.contentOffset
        x11?.move(x: rect.x - shadow.x, y: rect.y - shadow.y)
    }

    // MARK: Moving

    /// Begins to move the window with the pointer. Returns `false` if the window manager has to.
    func beginMove() -> Bool {
        guard !owner.window.isFullscreen else { return false }
        isMovedByDesktop = x11 == nil
        isPointerAway = false
        guard let x11 else { return false }
        drag = (x11.pointer, content)
        return true
    }

    func move() {
        guard let x11, let drag else { return }
        let now = x11.pointer
        var rect = drag.frame
        rect.x += now.x - drag.pointer.x
        rect.y += now.y - drag.pointer.y
        move(to: rect)
    }

    /// The window is let go: it eases into a corner that is near.
    func endMove() {
        guard x11 != nil, drag != nil else { return }
        move()
        drag = nil
        settle()
    }

    /// The pointer is on the window, or not. While the desktop moves the window, it is the
    /// desktop's: the window is let go once it comes back.
    func pointer(isHere: Bool) {
        guard isMovedByDesktop else { return }
        if !isHere { isPointerAway = true }
        guard isHere, isPointerAway else { return }
        isMovedByDesktop = false
        sway?.look { [weak self] in self?.settle() }
    }

    /// Returns the place of the window nearest to `place` that is on the screen: on X11, GTK 4
    /// finds no monitor for a popover beside them all, and complains.
    func onScreen(_ place: Rect) -> Rect {
        guard let area = x11 == nil ? nil : area(around: content) else { return place }
        let (left, top) = (content.x, content.y)
        var rect = place
        (rect.x, rect.y) = (rect.x + left, rect.y + top)
        rect = Snapping.inside(rect, area)
        (rect.x, rect.y) = (rect.x - left, rect.y - top)
        return rect
    }

    private func settle() {
        let (from, begin) = (content, MonotonicClock.now)
        guard let area = area(around: from) else { return }
        let rest = Snapping.rest(from, on: area)
        owner.stage.onFrame { [weak self] in
            guard let self, drag == nil, !isMovedByDesktop else { return false }
            let phase = min(1, (MonotonicClock.now - begin).seconds / Self.settling)
            move(to: from.interpolated(to: rest, fraction: Easing.out(phase)))
            if phase >= 1 { remember(rest) }
            return phase < 1
        }
    }

    // MARK: Size

    /// Makes the window a step larger or smaller, about the corner that it is in.
    func resize(by steps: Int) {
        guard !owner.window.isFullscreen else { return }
        let present = owner.stage.size
        let width = Double(present.width) * (steps > 0 ? 1.15 : 1 / 1.15)
        let wanted = Size(width: Int(width.rounded()), height: present.height)
        looking { $0.setSize(wanted) }
    }

    /// Calls `body` once it is known where the window is.
    private func looking(_ body: @escaping (WindowPlacement) -> Void) {
        guard let sway else { return body(self) }
        sway.look { [weak self] in if let self { body(self) } }
    }

    private func setSize(_ size: Size) {
        let room = area(around: content) ?? Rect(x: 0, y: 0, width: 8192, height: 8192)
        let shaped = Snapping.shaped(
            size,
            aspect: owner.aspect,
            room: Size(width: Int(room.width), height: Int(room.height))
        )
        guard shaped != owner.stage.size else { return }
        let before = content
        owner.window.defaultSize = shaped
        guard isPlaced else { return }
        let rect = anchor.resized(before, to: shaped, on: room)
        move(to: rect)
        remember(rect)
    }

    /// Gives the window the stream's shape once it is not being resized.
    private func shapeSoon() {
        shaping = MainLoop.Timer(after: 0.25) { [unowned self] in
            guard !owner.window.isFullscreen, drag == nil, !isMovedByDesktop else { return }
            looking {
                $0.setSize($0.owner.stage.size)
                $0.remember($0.content)
            }
        }
    }

    // MARK: Remembering

    private func remember(_ rect: Rect) {
        guard !owner.window.isFullscreen else { return }
        remembered = Remembered(
            x: isPlaced ? rect.x : nil,
            y: isPlaced ? rect.y : nil,
            width: Int(rect.width.rounded())
        )
    }

    func save() { remembered?.save() }
}
