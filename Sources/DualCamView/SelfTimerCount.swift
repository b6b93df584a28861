import Control
import Frames
import GTK
import Platform

/// The count of the self timer, over the picture; a click ends it. The stream does not have it.
final class SelfTimerCount {
    let widget = DrawingArea()
    var onCancel: () -> Void = {}
    private var seconds = 0
    /// The seconds that it began with.
    private var total = 0
    /// The time at which the second under way began.
    private var begin = Timestamp.zero
    private var grows = false

    /// The time in which a figure comes to rest, in seconds.
    private static let settling = 0.3

    init() {
        widget.onDraw { [unowned self] canvas, size in draw(on: canvas, size) }
        widget.isVisible = false
        widget.onPress(.primary) { [unowned self] _, _, _ in onCancel() }
    }

    var isCounting: Bool { widget.isVisible }

    /// Shows the count as it is told. Returns what to say about it; `nil` if that is nothing new.
    func follow(_ daemon: DaemonMirror?) -> String? {
        let purpose = daemon?[\CaptureInterface.selfTimer] ?? ""
        let seconds = purpose.isEmpty ? 0 : Int(daemon?[\CaptureInterface.selfTimerSeconds] ?? 0)
        guard seconds != self.seconds else { return nil }
        let isFirst = self.seconds == 0
        if isFirst || seconds > total { total = seconds }
        (self.seconds, begin) = (seconds, MonotonicClock.now)
        grows = widget.hasAnimations
        widget.isVisible = seconds > 0
        guard seconds > 0 else { return "The self timer has ended" }
        widget.named("\(seconds)")
        guard isFirst else { return "\(seconds)" }
        let side = Int(120 * textScale)
        widget.request(width: side, height: side)
        widget.onFrame { [weak self] in
            self?.widget.redraw()
            return self?.isCounting ?? false
        }
        return "\(purpose == "photo" ? "Photo" : "Recording") in \(seconds) seconds"
    }

    private func draw(on canvas: Canvas, _ size: Size) {
        let disc = Rect(size).inset(by: 2)
        canvas.fill(disc, radius: disc.width / 2, .black(Widget.hasHighContrast ? 1 : 0.72))
        let passed = (MonotonicClock.now - begin).seconds
        let left = Double(seconds) - min(1, passed)
        let ring = disc.inset(by: 5)
        canvas.ring(ring, width: 4, .white(0.3))
        canvas.ring(ring, width: 4, part: left / Double(max(1, total)), .amber)
        let growth = grows ? 0.15 * max(0, 1 - passed / Self.settling) : 0
        let digits = disc.height * (seconds > 99 ? 0.36 : 0.52) * (1 + growth)
        let text = "\(seconds)"
        canvas.write(text, x: disc.midX, y: disc.midY, size: digits, isBold: true, .white())
    }
}
