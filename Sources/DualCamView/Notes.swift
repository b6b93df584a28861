import Control
import DualCamCore
import Frames
import GTK
import ViewCore

/// The words instead of, or over, a picture.
///
/// - Context: bound to GTK's thread.
final class SituationNote {
    let widget: Widget
    private let title = Label("", wraps: true)
    private let advice = Label("", wraps: true)
    private let button = Button("")
    private(set) var situation: Situation?
    private var room = Size(width: 0, height: 0)
    var onRemedy: (Situation.Remedy) -> Void = { _ in }

    init() {
        title.style("title")
        button.wraps().style("pill", "suggested-action").place(.center, .center)
        let box = Box(vertical: true, spacing: 8, [title, advice, button])
        widget = box.style("situation")
        widget.isVisible = false
        button.onClick { [unowned self] in
            if let remedy = situation?.remedy { onRemedy(remedy) }
        }
    }

    /// Shows `situation`; `nil` for nothing.
    func show(_ situation: Situation?) {
        self.situation = situation
        widget.isVisible = situation != nil
        guard let situation else { return }
        title.text = situation.title
        advice.text = situation.advice
        button.isVisible = situation.remedy != nil
        if let remedy = situation.remedy { button.label = remedy.words }
        arrange()
        // Where it explains an empty window, its button is what the next key presses.
        if !situation.hasPicture, situation.remedy != nil { button.grabFocus() }
    }

    /// Fits into `room`.
    func fit(_ room: Size) {
        guard room != self.room else { return }
        self.room = room
        arrange()
    }

    /// The room that is left free on each side.
    static let margin = 16

    /// Leaves the advice out where a button says the same, and there is no room for both.
    private func arrange() {
        guard let situation else { return }
        advice.isVisible = !situation.advice.isEmpty
        guard situation.remedy != nil, room.area > 0 else { return }
        let height = widget.height(forWidth: room.width - 2 * Self.margin)
        if height > room.height - 2 * Self.margin { advice.isVisible = false }
    }
}

/// The time of a recording, and the level of its sound.
///
/// - Context: bound to GTK's thread.
final class RecordingPill {
    let widget: Widget
    private let time = Label("0:00")
    private let bar: DrawingArea
    private let meter = Meter()
    private var measures = false

    /// The bar's content.
    private final class Meter {
        /// The full share of the bar, 0 … 1; `nil` without sound.
        var filled: Double?
    }

    init() {
        let meter = meter
        bar = DrawingArea { canvas, size in
            guard let filled = meter.filled else { return }
            var rect = Rect(size)
            canvas.fill(rect, radius: rect.height / 2, .white(0.25))
            rect.width *= filled
            let isLoud = filled > 0.97
            if rect.width >= 1 {
                canvas.fill(rect, radius: rect.height / 2, isLoud ? .red : .white(0.95))
            }
        }
        bar.request(width: 44, height: 5)
        bar.place(.center, .center)
        bar.isVisible = false
        widget = Box(spacing: 6, [Image(icon: "media-record-symbolic", pixels: 12), time, bar])
            .style("tag", "recording")
        widget.isVisible = false
    }

    func follow(_ daemon: DaemonMirror?, isSeen: Bool) {
        let isRecording = daemon?[\CaptureInterface.recording] ?? false
        widget.isVisible = isRecording
        if (isRecording && isSeen) != measures {
            measures = isRecording && isSeen
            daemon?.call(\CaptureInterface.measureSound, measures)
            if !measures { show(level: nil) }
        }
        guard isRecording else { return }
        time.text = Clock.text(seconds: Int(daemon?[\CaptureInterface.recordingSeconds] ?? 0))
    }

    /// Shows the level of the sound, 0 … 1; `nil` where there is none.
    func show(level: Double?) {
        meter.filled = level.map { SoundMeter.filled($0) }
        bar.isVisible = level != nil
        bar.redraw()
    }
}
