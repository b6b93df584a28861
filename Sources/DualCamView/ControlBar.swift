import Control
import DBusKit
import DualCamCore
import GTK
import ViewCore

/// The controls at the bottom of the picture: five, or in Pro mode those that stay in reach, with
/// the values between them.
final class ControlBar {
    let widget: Revealer
    var onCommand: (ViewCore.Command) -> Void = { _ in }
    /// `true` while only some of the controls have room.
    private(set) var isShort = false
    /// Its height, with letters of the usual size.
    private(set) var height = 56.0

    private let daemon: DaemonMirror?
    private let bar: Box
    private let values: Widget
    private let swap = Button(icon: icon("swap"), "Swap the Pictures")
    private let layout = Button(icon: icon("layout"), "Layout")
    private let photo = Button(icon: icon("photo"), "Take a Photo")
    private let record: Button
    private let dot = Box().style("dot").place(.center, .center)
    private let privacy = ToggleButton(toggle: icon("privacy"), "Privacy")
    private let pro = ToggleButton(toggle: icon("pro"), "Pro Mode")
    private let more = Button(icon: icon("more"), "Menu")

    init(_ daemon: DaemonMirror?, values: Widget) {
        self.daemon = daemon
        self.values = values
        record = Button(dot, "Record")
        let buttons = [swap, layout, photo, record, privacy, pro, more]
        // The keys go on meaning what the list of keys says, after a click, too.
        for button in buttons { button.keepsFocus().place(.center, .center) }
        bar = Box(spacing: 4, [swap, layout, photo, record, values, privacy, pro, more])
        widget = Revealer(bar.style("bar"), seconds: 0.2)
        record.style("record")
        swap.onClick { [unowned self] in onCommand(.swap) }
        layout.onClick { [unowned self] in onCommand(.layouts) }
        photo.onClick { [unowned self] in onCommand(.photo) }
        record.onClick { [unowned self] in onCommand(.record) }
        privacy.onToggle { [unowned self] _ in onCommand(.togglePrivacy) }
        pro.onToggle { [unowned self] _ in onCommand(.togglePro) }
        more.onClick { [unowned self] in onCommand(.menu) }
    }

    var isRevealed: Bool {
        get { widget.isRevealed }
        set { widget.isRevealed = newValue }
    }

    /// `true` while Pro mode's values are between the controls.
    var isPro: Bool { values.isVisible }

    var openers: (layout: Widget, more: Widget) { (layout, more) }

    /// Shows as many controls as fit into `width`, with letters `scale` times as large as usual;
    /// what is left out is in the menu.
    func fit(_ width: Int, scale: Double) {
        let room = Double(width) / scale
        let isTiny = room < 200
        isShort = isTiny || room < (isPro ? 300 : 256)
        let isSmall = isPro ? room < 520 : isShort
        height = isTiny ? 40 : isSmall ? 48 : 56
        bar.style("small", if: isSmall && !isTiny)
        bar.style("tiny", if: isTiny)
        swap.isVisible = isPro && !isShort
        layout.isVisible = !isPro && !isShort
        photo.isVisible = !isTiny && !(isPro && isShort)
        privacy.isVisible = !isShort
        pro.isVisible = isPro
        more.isVisible = !isPro || room >= 520
        let others = [swap, layout, photo, record, privacy, pro, more].count(where: \.isVisible)
        let taken = Double(others * (isTiny ? 32 : isSmall ? 36 : 44) + 24) * scale
        values.request(width: isPro ? max(64, min(Int(260 * scale), width - Int(taken))) : -1)
    }

    /// Takes over what the daemon tells, with the seconds of the self timer, 0 for none.
    func follow(isPresent: Bool, delay: Int) {
        let isPrivate = daemon?[\PrivacyInterface.enabled] ?? false
        let isRecording = daemon?[\CaptureInterface.recording] ?? false
        let states = Role.allCases.map { daemon?[\CameraInterface.state, at: $0.path] ?? "" }
        let hasCamera = states.contains { !["unavailable", ""].contains($0) }

        let isSilent = daemon?.isSilent == true
        let absent =
            isPresent ? nil : isSilent ? "DualCam does not answer" : "DualCam is not running"
        let needsCamera =
            absent ?? (isPrivate ? "The cameras are off" : nil)
            ?? (hasCamera ? nil : "No camera is plugged in")
        set(swap, "Swap the Pictures", unless: absent)
        set(layout, "Layout", unless: absent)
        let words = delay > 0 ? " in \(delay) Seconds" : ""
        set(photo, "Take a Photo\(words)", unless: needsCamera)
        photo.style("on", if: delay > 0)
        set(
            record,
            isRecording ? "Stop Recording" : "Record\(words)",
            unless: isRecording ? absent : needsCamera
        )
        dot.style("stop", if: isRecording)
        set(pro, "Pro Mode", unless: absent)
        set(privacy, isPrivate ? "Show the Cameras" : "Privacy: Close Both Cameras", unless: absent)
        pro.isOn = isPro
        privacy.isOn = isPrivate
    }

    /// Says what a button does, or the reason why it cannot be used.
    private func set(_ button: Button, _ words: String, unless reason: String?) {
        if button.isSensitive != (reason == nil) { button.isSensitive = reason == nil }
        button.tooltip = reason ?? words
        button.describe(reason ?? words)
    }
}
