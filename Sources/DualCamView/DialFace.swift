import DualCamCore
import Frames
import GTK
import Platform
import ViewCore

/// The dial as it is drawn: a scale that slides under a needle.
final class DialFace {
    let widget = DrawingArea()
    private var isMoving = false
    private var scale: DialScale?
    /// The position at the needle, on its way to the scale's.
    private var shown: Double?
    private var offset = 0.0
    private var isAtEnd = false
    private var bumping: (sign: Double, begin: Timestamp)?

    private static let spacing = 15.3
    /// The time in which the scale goes most of its way, in seconds.
    private static let glide = 0.12

    init() {
        widget.onDraw { [unowned self] canvas, size in draw(on: canvas, size) }
        widget.request(height: 80)
        widget.named("Dial")
        widget.setCursor("ns-resize")
    }

    /// `true` where there is no room for its name.
    var isLow = false { didSet { widget.request(height: isLow ? 54 : 80) } }

    func show(_ scale: DialScale) {
        let isOther = self.scale?.name.prefix(4) != scale.name.prefix(4)
        guard scale != self.scale else { return }
        self.scale = scale
        widget.named("\(scale.name) \(scale.current)")
        if isOther || shown == nil { shown = scale.position }
        move()
    }

    /// Shows how far the hand pulls beyond an end.
    func pull(_ offset: Double, isAtEnd: Bool) {
        guard offset != self.offset || isAtEnd != self.isAtEnd else { return }
        (self.offset, self.isAtEnd) = (offset, isAtEnd)
        widget.redraw()
    }

    func bump(isHigh: Bool) {
        isAtEnd = true
        bumping = (isHigh ? 1 : -1, MonotonicClock.now)
        move()
    }

    private func move() {
        widget.redraw()
        guard !isMoving else { return }
        isMoving = true
        var last = MonotonicClock.now
        widget.onFrame { [weak self] in
            guard let self else { return false }
            let now = MonotonicClock.now
            let seconds = (now - last).seconds
            last = now
            let isAtRest = advance(by: seconds, now)
            widget.redraw()
            isMoving = !isAtRest
            return isMoving
        }
    }

    private func advance(by seconds: Double, _ now: Timestamp) -> Bool {
        var isAtRest = true
        if let goal = scale?.position {
            let present = shown ?? goal
            let left = (goal - present) * max(0, 1 - 3 * seconds / Self.glide)
            shown = abs(left) < 0.01 ? goal : goal - left
            isAtRest = shown == goal
        } else {
            shown = nil
        }
        if let bump = bumping {
            if DialMotion.push(after: (now - bump.begin).seconds) == nil {
                bumping = nil
            } else {
                isAtRest = false
            }
        }
        return isAtRest
    }

    private func draw(on canvas: Canvas, _ size: Size) {
        let width = min(620, Double(size.width))
        let face = Rect(
            x: (Double(size.width) - width) / 2,
            y: 0,
            width: width,
            height: Double(size.height)
        )
        let hasEdges = Widget.hasHighContrast
        canvas.fill(face, radius: 20, .black(hasEdges ? 1 : 0.84))
        let edge = Color.white(hasEdges ? 1 : 0.12)
        canvas.outline(face.inset(by: 0.5), radius: 20, width: hasEdges ? 2 : 1, edge)
        guard let scale else { return }
        let text = textScale
        if face.height > 60 {
            canvas.write(scale.name, x: face.midX, y: face.maxY - 14, size: 13 * text, .white(0.9))
        }
        var offset = offset
        if let bump = bumping {
            let seconds = (MonotonicClock.now - bump.begin).seconds
            offset += bump.sign * (DialMotion.push(after: seconds) ?? 0)
        }
        canvas.clipped(to: face, radius: 20) { drawMarks(scale, on: canvas, face, offset, text) }
        let needle = Rect(x: face.midX - 1.5, y: face.y + 8, width: 3, height: 22)
        canvas.fill(needle, radius: 1.5, isAtEnd ? .red : .amber)
        if !scale.current.isEmpty, !scale.marks.isEmpty {
            canvas.write(
                scale.current,
                x: face.midX,
                y: face.y + 42,
                size: 16 * text,
                font: .figures,
                .amber
            )
        }
    }

    private func drawMarks(
        _ scale: DialScale,
        on canvas: Canvas,
        _ face: Rect,
        _ offset: Double,
        _ text: Double
    ) {
        guard let shown else { return }
        // Labels never touch the one at the needle, nor each other.
        var lastEnd = -Double.infinity
        for mark in scale.marks {
            let x = face.midX + (mark.position - shown) * Self.spacing - offset
            guard x > face.x, x < face.maxX else { continue }
            let edge = min(1, min(x - face.x, face.maxX - x) / 60)
            let isLong = mark.label != nil
            let line = Rect(x: x - 1, y: face.y + 10, width: 2, height: isLong ? 18 : 10)
            canvas.fill(line, radius: 1, Color.white(isLong ? 0.95 : 0.6).faded(edge))
            guard let label = mark.label, edge >= 0.5, abs(x - face.midX) > 44 * text else {
                continue
            }
            let half = Double(label.count) * 4.5 * text
            guard x - half > lastEnd + 6 else { continue }
            canvas.write(
                label,
                x: x,
                y: face.y + 42,
                size: 13 * text,
                font: .figures,
                Color.white(0.9).faded(edge)
            )
            lastEnd = x + half
        }
    }
}
