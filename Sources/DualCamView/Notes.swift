import Control
import DualCamCore
import Frames
import GTK
import ViewCore

/// Returns the name of an icon of the window's own family, in `desktop/icons`.
func icon(_ name: String) -> String { "dualcam-\(name)-symbolic" }

/// The words instead of a picture, or at the top of a live one.
final class SituationNote {
    /// The words in the middle.
    let page: Widget
    /// The words at the top.
    let pill: Widget
    private let symbol = Image(icon: icon("camera"))
    private let title = Label("", wraps: true)
    private let advice = Label("", wraps: true)
    private let button = Button("")
    private let words = Label("", wraps: true).breaksWords()
    private let action = Button("")
    private(set) var situation: Situation?
    private var room = Size(width: 0, height: 0)
    var onRemedy: (Situation.Remedy) -> Void = { _ in }

    init() {
        title.style("title")
        button.wraps().place(.center, .center)
        let column = Box(vertical: true, spacing: 8, [symbol, title, advice, button])
        page = column.style("situation")
        pill = Box(spacing: 8, [words, action.place(.center, .center)]).style("pill")
        for widget in [page, pill] { widget.isVisible = false }
        for button in [button, action] {
            button.onClick { [unowned self] in
                if let remedy = situation?.remedy { onRemedy(remedy) }
            }
        }
    }

    func show(_ situation: Situation?) {
        self.situation = situation
        page.isVisible = situation.map { $0.ground != .live } ?? false
        pill.isVisible = situation?.ground == .live
        guard let situation else { return }
        title.text = page.isVisible ? situation.title : ""
        words.text = pill.isVisible ? situation.title : ""
        advice.text = situation.advice
        for button in [button, action] {
            button.isVisible = situation.remedy != nil
            if let remedy = situation.remedy { button.label = remedy.words }
        }
        arrange()
        // Where it explains an empty window, its button is what the next key presses. Over an old
        // picture that key was meant for something else.
        if situation.ground == .none, situation.remedy != nil { button.grabFocus() }
    }

    func fit(_ room: Size) {
        guard room != self.room else { return }
        self.room = room
        arrange()
    }

    /// The room that is left free on each side.
    static let margin = 16

    /// Leaves out what there is no room for: the symbol, then the advice.
    private func arrange() {
        guard let situation, page.isVisible, room.area > 0 else { return }
        func fits() -> Bool {
            page.height(forWidth: room.width - 2 * Self.margin) <= room.height - 2 * Self.margin
        }
        symbol.isVisible = situation.ground == .none
        advice.isVisible = !situation.advice.isEmpty
        if !fits() { symbol.isVisible = false }
        if situation.remedy != nil, !fits() { advice.isVisible = false }
    }
}

/// One message over a window, with at most one action. A new one takes its place.
final class Toast {
    let widget: Revealer
    private let pill: Box
    private let words = Label("", wraps: true).breaksWords()
    private let button = Button("")
    private var leaving: MainLoop.Timer?
    private var action: () -> Void = {}
    private var dismissed: () -> Void = {}

    /// The time for which it stays while the pointer is not on it, in seconds.
    private static let stay = 5.0

    init() {
        pill = Box(spacing: 8, [words, button.place(.center, .center)]).style("pill")
        widget = Revealer(pill, seconds: 0.2)
        button.keepsFocus().onClick { [unowned self] in
            action()
            leave()
        }
        pill.onPointer { [unowned self] place in
            guard widget.isRevealed else { return }
            if place != nil { leaving = nil } else { wait() }
        }
    }

    /// Returns `content` with the message over its lower edge.
    func over(_ content: Widget) -> Overlay {
        let both = Overlay(content)
        both.add(widget.place(.center, .end, margin: 24))
        return both
    }

    /// Shows and says `message`, with a button that does `action`. `dismissed` is called once it is
    /// gone.
    func show(
        _ message: String,
        button: String? = nil,
        _ action: @escaping () -> Void = {},
        dismissed: @escaping () -> Void = {}
    ) {
        self.dismissed()
        (self.action, self.dismissed) = (action, dismissed)
        words.text = message
        pill.style("contrast", if: Widget.hasHighContrast)
        widget.say(message)
        self.button.isVisible = button != nil
        if let button { self.button.label = button }
        widget.isRevealed = true
        wait()
    }

    private func wait() {
        leaving = MainLoop.Timer(after: Self.stay) { [unowned self] in leave() }
    }

    private func leave() {
        leaving = nil
        widget.isRevealed = false
        dismissed()
        (action, dismissed) = ({}, {})
    }
}

/// The time of a recording, the level of its sound, and its end.
final class RecordingPill {
    let widget: Widget
    var onStop: () -> Void = {}
    private let dot = Box().style("dot").place(.center, .center)
    private let time = Label("0:00")
    private let bar = DrawingArea()
    private let stop = Button(icon: icon("stop"), "Stop Recording")
    /// The full share of the bar, 0 … 1; `nil` without sound.
    private var filled: Double?
    private var measures = false
    private var isSmall = false

    /// The marks of the meter; the last two are loud.
    private static let marks = 9

    init() {
        bar.request(width: Self.marks * 5 - 2, height: 14)
        bar.place(.center, .center)
        bar.isVisible = false
        stop.style("disc").keepsFocus().place(.center, .center)
        widget = Box(spacing: 8, [dot, time, bar, stop]).style("pill", "recording")
        widget.isVisible = false
        bar.onDraw { [unowned self] in draw(on: $0, $1) }
        stop.onClick { [unowned self] in onStop() }
    }

    private func draw(on canvas: Canvas, _ size: Size) {
        guard let filled else { return }
        for index in 0..<Self.marks {
            let mark = Rect(x: Double(index * 5), y: 0, width: 3, height: Double(size.height))
            let isFull = filled * Double(Self.marks) > Double(index)
            let color: Color = index < Self.marks - 2 ? .white() : .amber
            canvas.fill(mark, radius: 1, isFull ? color : .white(0.3))
        }
    }

    /// Shows the time alone where there is little room.
    func fit(_ room: Size) {
        isSmall = room.width < 280
        stop.isVisible = !isSmall
        show(level: filled)
    }

    func follow(_ daemon: DaemonMirror?, isSeen: Bool) {
        let isRecording = daemon?[\CaptureInterface.recording] ?? false
        widget.isVisible = isRecording
        if (isRecording && isSeen) != measures {
            measures = isRecording && isSeen
            daemon?.call(\CaptureInterface.measureSound, measures)
            if !measures { filled = nil }
        }
        guard isRecording else { return }
        let isPaused = daemon?[\CaptureInterface.recordingPaused] ?? false
        dot.isVisible = !isPaused
        time.text =
            (isPaused ? "Paused " : "")
            + Clock.text(seconds: Int(daemon?[\CaptureInterface.recordingSeconds] ?? 0))
    }

    /// Takes the level of the sound, 0 … 1; `nil` where there is none.
    func take(level: Double?) { show(level: level.map { SoundMeter.filled($0) }) }

    private func show(level: Double?) {
        filled = level
        bar.isVisible = level != nil && !isSmall
        bar.redraw()
    }
}
