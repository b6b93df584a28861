import Control
import DBusKit
import DualCamCore
import GTK
import ViewCore

/// The controls at the bottom of the picture.
///
/// - Context: bound to GTK's thread.
final class ControlBar {
    let widget: Revealer
    var onCommand: (ViewCore.Command) -> Void = { _ in }
    /// `true` while sound belongs to recordings that begin here.
    private(set) var recordsSound = true

    private let daemon: DaemonMirror?
    private let all: [Button]
    private let swap = Button(icon: "camera-switch-symbolic", "Swap the Pictures")
    private let layout = Button(icon: "view-dual-symbolic", "Next Layout")
    private let photo = Button(icon: "camera-photo-symbolic", "Take a Photo")
    private let record = Button(icon: "media-record-symbolic", "Record")
    private let pro = ToggleButton(toggle: "preferences-other-symbolic", "Pro Mode")
    private let mirror = ToggleButton(toggle: "object-flip-horizontal-symbolic", "Mirror")
    private let torch = ToggleButton(toggle: "weather-clear-symbolic", "Torch")
    private let microphone = ToggleButton(
        toggle: "audio-input-microphone-symbolic",
        "Sound in Recordings"
    )
    private let privacy = ToggleButton(toggle: "view-conceal-symbolic", "Privacy")
    /// The cameras that said that they have no light.
    private var torchless: Set<String> = []

    init(_ daemon: DaemonMirror?) {
        self.daemon = daemon
        let buttons = [swap, layout, photo, record, pro, privacy, microphone, mirror, torch]
        all = buttons
        record.style("record")
        // The keys go on meaning what the list of keys says, after a click, too.
        all.forEach { $0.keepsFocus() }
        widget = Revealer(Box(spacing: 2, buttons).style("bar"), seconds: 0.2)
        swap.onClick { [unowned self] in onCommand(.swap) }
        layout.onClick { [unowned self] in onCommand(.nextLayout) }
        photo.onClick { [unowned self] in onCommand(.photo) }
        record.onClick { [unowned self] in onCommand(.record) }
        pro.onToggle { [unowned self] _ in onCommand(.togglePro) }
        mirror.onToggle { [unowned self] _ in onCommand(.toggleMirror) }
        torch.onToggle { [unowned self] _ in onCommand(.toggleTorch) }
        privacy.onToggle { [unowned self] _ in onCommand(.togglePrivacy) }
        microphone.onToggle { [unowned self] _ in onCommand(.toggleMicrophone) }
    }

    /// `true` while it is shown.
    var isRevealed: Bool {
        get { widget.isRevealed }
        set { widget.isRevealed = newValue }
    }

    /// Shows as many controls as fit into `width`, the most used ones first.
    func fit(_ width: Int) {
        let count = max(3, (width - 16) / Self.step)
        for (index, button) in all.enumerated() { button.isVisible = index < count }
    }

    /// The width of a button, with the gap to the next.
    private static let step = 38

    /// Chooses if recordings that begin here have sound.
    func turnSound(_ isOn: Bool) {
        recordsSound = isOn
        describe()
    }

    /// The camera `name` has no light.
    func noTorch(_ name: String) {
        torchless.insert(name)
        describe()
    }

    /// Takes over what the daemon tells.
    func follow(isPresent: Bool) {
        self.isPresent = isPresent
        describe()
    }

    private var isPresent = false

    private func describe() {
        let main = daemon?[\SceneInterface.main] ?? DualCam.backPath
        let isPrivate = daemon?[\PrivacyInterface.enabled] ?? false
        let isRecording = daemon?[\CaptureInterface.recording] ?? false
        let states = Role.allCases.map { daemon?[\CameraInterface.state, at: $0.path] ?? "" }
        let hasCamera = states.contains { !["unavailable", ""].contains($0) }
        let name = daemon?[\CameraInterface.name, at: main] ?? ""
        let present = daemon?[\SceneInterface.layout].flatMap(Layout.init) ?? .pip

        let absent = isPresent ? nil : "DualCam is not running"
        let needsCamera =
            absent ?? (isPrivate ? "The cameras are closed: privacy is on" : nil)
            ?? (hasCamera ? nil : "No camera is plugged in")
        set(swap, "Swap the Pictures", unless: absent)
        set(layout, "Next Layout (Now \(present.title))", unless: absent)
        set(photo, "Take a Photo", unless: needsCamera)
        set(
            record,
            isRecording ? "Stop Recording" : "Record",
            unless: isRecording ? absent : needsCamera
        )
        record.setIcon(isRecording ? "media-playback-stop-symbolic" : "media-record-symbolic")
        set(pro, "Pro Mode", unless: needsCamera)
        set(mirror, "Mirror the Main Picture", unless: absent)
        set(
            torch,
            "Torch of \(name.isEmpty ? "the Main Camera" : name)",
            unless: needsCamera ?? (torchless.contains(name) ? "\(name) has no light" : nil)
        )
        set(
            microphone,
            recordsSound ? "Recordings have sound" : "Recordings are silent",
            unless: absent ?? (isRecording ? "Choose this before you start a recording" : nil)
        )
        microphone.setIcon(
            recordsSound
                ? "audio-input-microphone-symbolic" : "microphone-disabled-symbolic"
        )
        set(privacy, isPrivate ? "Show the Cameras" : "Privacy: Close Both Cameras", unless: absent)
        microphone.isOn = recordsSound
        pro.isOn = daemon?[\ProInterface.enabled] ?? false
        mirror.isOn = daemon?[\CameraInterface.mirror, at: main] ?? false
        torch.isOn = daemon?[\CameraInterface.torch, at: main] ?? false
        privacy.isOn = isPrivate
    }

    /// Says what a button does, or the reason why it cannot be used.
    private func set(_ button: Button, _ words: String, unless reason: String?) {
        if button.isSensitive != (reason == nil) { button.isSensitive = reason == nil }
        button.tooltip = reason ?? words
        button.describe(reason ?? words)
    }
}
