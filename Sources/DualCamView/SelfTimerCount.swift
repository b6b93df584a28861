import Control
import Frames
import GTK
import Platform

/// The count of the self timer, over the picture; a click ends it. The stream does not have it.
///
/// - Context: bound to GTK's thread.
final class SelfTimerCount {
    let widget: DrawingArea
    var onCancel: () -> Void = {}
    private let look = Look()

    /// The content.
    private final class Look {
        var seconds = 0
        /// The seconds that it began with.
        var total = 0
        /// The time at which the second under way began.
        var begin = Timestamp.zero
        var grows = false
    }

    /// The time in which a figure comes to rest, in seconds.
    private static let settling = 0.3

    init() {
        let look = look
        widget = DrawingArea { canvas, size in Self.draw(look, canvas, size) }
        widget.isVisible = false
        widget.onPress(.primary) { [unowned self] _, _, _ in onCancel() }
    }

    var isCounting: Bool { widget.isVisible }

    /// Shows the count as it is told. Returns what to say about it; `nil` if that is nothing new.
    func follow(_ daemon: DaemonMirror?) -> String? {
        let purpose = daemon?[\CaptureInterface.selfTimer] ?? ""
        let seconds = purpose.isEmpty ? 0 : Int(daemon?[\CaptureInterface.selfTimerSeconds] ?? 0)
        guard seconds != look.seconds else { return nil }
        let isFirst = look.seconds == 0
        if isFirst || seconds > look.total { look.total = seconds }
        (look.seconds, look.begin) = (seconds, MonotonicClock.now)
        look.grows = widget.hasAnimations
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

    private static func draw(_ look: Look, _ canvas: Canvas, _ size: Size) {
        let disc = Rect(size).inset(by: 2)
        canvas.fill(disc, radius: disc.width / 2, .black(Widget.hasHighContrast ? 1 : 0.72))
        let passed = (MonotonicClock.now - look.begin).seconds
        let left = Double(look.seconds) - min(1, passed)
        let ring = disc.inset(by: 5)
        canvas.ring(ring, width: 4, .white(0.3))
        canvas.ring(ring, width: 4, part: left / Double(max(1, look.total)), .amber)
        let growth = look.grows ? 0.15 * max(0, 1 - passed / settling) : 0
        let digits = disc.height * (look.seconds > 99 ? 0.36 : 0.52) * (1 + growth)
        let text = "\(look.seconds)"
        canvas.write(text, x: disc.midX, y: disc.midY, size: digits, isBold: true, .white())
    }
}
