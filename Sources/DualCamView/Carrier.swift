import DualCamCore
import Frames
import GTK
import Platform

/// The inset in the hand: its last picture, which follows, a cover over its home, where the stream
/// goes on showing it, and the outline of where it would go.
final class Carrier {
    let widget: Overlay
    private let fixed = Fixed()
    private let copy = Picture()
    private let outline = DrawingArea()
    private var start = Rect(x: 0, y: 0, width: 0, height: 0)
    private var place = Rect(x: 0, y: 0, width: 0, height: 0)
    private var isFollowing = false
    /// The places that are outlined; `nil` while nothing is carried.
    private var home, target: Rect?
    /// The edges that it snaps to.
    private var guides: [Rect] = []
    private var isRound = false
    private var opacity = 1.0

    /// The time in which it settles, in seconds.
    private static let settling = 0.25
    /// Its size in the hand, over that in the picture.
    private static let lift = 1.07

    init() {
        widget = Overlay(outline)
        copy.clip()
        fixed.add(copy)
        widget.add(fixed)
        widget.isTarget = false
        widget.isVisible = false
        outline.onDraw { [unowned self] canvas, _ in draw(on: canvas) }
    }

    private func draw(on canvas: Canvas) {
        func radius(_ rect: Rect) -> Double { isRound ? rect.width / 2 : 9 }
        if let home {
            canvas.fill(home, radius: isRound ? radius(home) : 4, .black(1))
            canvas.outline(home.inset(by: 1), radius: radius(home), width: 2, dash: 6, .white())
        }
        for guide in guides {
            canvas.fill(guide.inset(by: -2), .black(0.6))
            canvas.fill(guide.inset(by: -1), .amber)
        }
        if let target, target != home, !guides.isEmpty {
            let edge = target.inset(by: 1)
            canvas.outline(edge, radius: radius(target), width: 4, .black(0.6))
            canvas.outline(edge, radius: radius(target), width: 2, .amber)
        }
    }

    /// Picks up what is at `rect` of the window, and looks like `picture`. A person has no frame,
    /// and nothing around that could be covered: a shade of the person follows.
    func lift(_ rect: Rect, _ picture: Texture?, _ shape: InsetShape) {
        isRound = shape == .circle
        copy.style("round", if: isRound)
        copy.style("carried", if: shape != .person)
        start = rect.inset(by: -rect.width * (Self.lift - 1) / 2)
        (home, isFollowing) = (shape == .person ? nil : rect, true)
        copy.show(picture)
        // It may still fade from the time before.
        opacity = shape == .person ? 0.6 : 1
        copy.opacity = opacity
        move(to: start)
        widget.isVisible = true
        outline.redraw()
    }

    /// Follows the hand, which is this far from where it began; `target` is where it would go, at
    /// the edges along `guides`.
    func carry(x: Double, y: Double, target: Rect, guides: [Rect]) {
        var rect = start
        rect.x += x
        rect.y += y
        move(to: rect)
        guard target != self.target else { return }
        (self.target, self.guides) = (target, guides)
        outline.redraw()
    }

    /// Eases into `target`, and is gone.
    func settle(at target: Rect) {
        isFollowing = false
        (self.target, guides) = (nil, [])
        // At home it stays covered until it is there.
        if target != home { home = nil }
        outline.redraw()
        let (from, begin) = (place, MonotonicClock.now)
        widget.onFrame { [weak self] in
            guard let self, !isFollowing else { return false }
            let phase = (MonotonicClock.now - begin).seconds / Self.settling
            move(to: from.interpolated(to: target, fraction: Easing.out(min(1, phase))))
            if phase >= 1, home != nil {
                home = nil
                outline.redraw()
            }
            // The stream's own is beneath by then, and shows through.
            copy.opacity = opacity * max(0, min(1, 2 - phase))
            guard phase >= 2 else { return true }
            copy.show(nil)
            widget.isVisible = false
            return false
        }
    }

    private func move(to rect: Rect) {
        place = rect
        copy.request(width: Int(rect.width.rounded()), height: Int(rect.height.rounded()))
        fixed.move(copy, x: rect.x, y: rect.y)
    }
}
