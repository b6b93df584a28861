import DualCamCore
import Frames
import GTK
import Platform

/// The inset in the hand: a copy of the stream's own picture that follows, and the outline of where
/// it would go.
///
/// - Context: bound to GTK's thread.
final class Carrier {
    let widget: Overlay
    private let fixed = Fixed()
    private let copy = Picture()
    private let outline: DrawingArea
    private let target = Box()
    private var start = Rect(x: 0, y: 0, width: 0, height: 0)
    private var place = Rect(x: 0, y: 0, width: 0, height: 0)
    /// The part of the stream that is carried, in fractions; `nil` while nothing is.
    private var part: Rect?
    private var isFollowing = false
    private let mark = Mark()

    /// The outline's place.
    private final class Mark {
        var rect: Rect?
    }

    /// The time in which it settles, in seconds.
    private static let settling = 0.3

    init() {
        let mark = mark
        outline = DrawingArea { canvas, _ in
            guard let rect = mark.rect else { return }
            canvas.outline(rect.inset(by: 1), radius: 9, width: 2, dash: 6, .white(0.9))
        }
        widget = Overlay(outline)
        copy.style("carried").clip()
        fixed.add(copy)
        widget.add(fixed)
        widget.isTarget = false
        widget.isVisible = false
    }

    /// Picks up what is at `rect` of the window, the `part` of the stream.
    func lift(_ rect: Rect, part: Rect, _ pixels: Pixels?) {
        start = rect
        self.part = part
        isFollowing = true
        if let pixels { show(pixels) }
        move(to: rect)
        widget.isVisible = true
    }

    /// Follows the hand, which is this far from where it began; `target` is where it would go.
    func carry(x: Double, y: Double, target: Rect) {
        var rect = start
        rect.x += x
        rect.y += y
        move(to: rect)
        if mark.rect != target {
            mark.rect = target
            outline.redraw()
        }
    }

    /// Eases into `target`, and is gone.
    func settle(at target: Rect) {
        // What follows in the stream is another place.
        isFollowing = false
        mark.rect = nil
        outline.redraw()
        let (from, begin) = (place, MonotonicClock.now)
        widget.onFrame { [weak self] in
            guard let self, !isFollowing, part != nil else { return false }
            let phase = min(1, (MonotonicClock.now - begin).seconds / Self.settling)
            move(to: from.interpolated(to: target, fraction: Easing.inOut(phase)))
            // The stream's own arrives at the same time; it shows through at the end.
            copy.opacity = phase < 0.8 ? 1 : (1 - phase) / 0.2
            guard phase >= 1 else { return true }
            part = nil
            copy.opacity = 1
            copy.show(nil)
            widget.isVisible = false
            return false
        }
    }

    /// Shows the stream's newest picture in the hand.
    func show(_ pixels: Pixels) {
        guard let part, isFollowing else { return }
        if let texture = pixels.texture(of: part) { copy.show(texture) }
    }

    private func move(to rect: Rect) {
        place = rect
        copy.request(width: Int(rect.width.rounded()), height: Int(rect.height.rounded()))
        fixed.move(copy, x: rect.x, y: rect.y)
    }
}
