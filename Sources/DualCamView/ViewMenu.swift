import Control
import DualCamCore
import Frames
import GTK
import ViewCore

/// The menu of the picture.
final class ViewMenu {
    private let actions = ActionGroup()
    private let popup: PopupMenu
    private let picker: LayoutPicker
    private let scenes = Submenu([.init("Usual Scene", "view.reset", "BackSpace")])
    private let timer = Submenu()
    private var sceneNames: [String] = []

    init(
        over stage: Widget,
        _ layouts: LayoutPicker,
        scene: @escaping (String) -> Void,
        _ perform: @escaping (ViewCore.Command) -> Void
    ) {
        picker = layouts
        for (name, command) in Self.plain { actions.add(name) { perform(command) } }
        for (name, command) in Self.switches {
            actions.add(name, isSwitch: true) { perform(command) }
        }
        actions.addChoice("scene", scene)
        actions.addChoice("timer") { perform(.selfTimer(Int($0) ?? 0)) }
        timer.set([("Off", "0"), ("3 Seconds", "3"), ("10 Seconds", "10")], choosing: "view.timer")
        actions.insert(in: stage, as: "view")
        func tile(
            _ button: (Widget, String) -> Button,
            _ words: [String],
            _ name: String,
            _ action: String? = nil
        ) -> Button {
            let labels = words.map { Label($0) }
            labels.dropFirst().forEach { $0.style("key") }
            let column = Box(vertical: true, spacing: 2, [Image(icon: icon(name))] + labels)
            return button(column, words[0]).style("tile").acts("view.\(action ?? name)")
        }
        let tiles = [
            tile(Button.init, ["Swap", "Space"], "swap"),
            tile(ToggleButton.init, ["Inset", "O"], "layout", "other"),
            tile(ToggleButton.init, ["Mirror", "M"], "mirror"),
            tile(ToggleButton.init, ["Sound", "A"], "sound"),
            tile(ToggleButton.init, ["Pro", "P"], "pro"),
        ]
        let help = Submenu([
            .init("Keyboard Shortcuts", "view.help", "question"),
            .init("About DualCam", "view.about"), .init("Close the Window", "view.close"),
        ])
        popup = PopupMenu(
            over: stage,
            top: Box(spacing: 4, tiles).style("tiles"),
            [
                [
                    .init("Take a Photo", "view.photo", "c", isHiddenWhenOff: true),
                    .init("Record", "view.record", "r", isHiddenWhenOff: true),
                    .init("Privacy", "view.privacy", "h", isHiddenWhenOff: true),
                    .init("Layout…", "view.layouts", "", isHiddenWhenOff: true),
                ],
                [
                    .init("Scenes", scenes),
                    .init("Save Scene…", "view.save-scene", "n"),
                    .init("Title…", "view.title", "e"),
                    .init("Straighten Page…", "view.straighten", "d"),
                    .init("Self Timer", timer),
                    .init("Torch", "view.torch", "t", isHiddenWhenOff: true),
                ],
                [
                    .init("Pictures", "view.pictures", "g"),
                    .init("Preferences", "view.preferences", "comma"),
                    .init("Help", help),
                    .init("Stop the Stream", "view.stop"),
                ],
            ]
        )
        for tile in tiles { tile.onClick { [unowned self] in popup.close() } }
    }

    private static let plain: [(String, ViewCore.Command)] = [
        ("swap", .swap), ("reset", .reset), ("photo", .photo), ("pictures", .togglePictures),
        ("preferences", .preferences), ("help", .help), ("close", .close), ("layouts", .layouts),
        ("straighten", .straighten), ("save-scene", .saveScene), ("title", .title),
        ("stop", .stop), ("about", .about),
    ]
    private static let switches: [(String, ViewCore.Command)] = [
        ("other", .toggleOther), ("record", .record), ("pro", .togglePro),
        ("mirror", .toggleMirror), ("torch", .toggleTorch), ("privacy", .togglePrivacy),
        ("sound", .toggleMicrophone),
    ]

    /// `true` while one of them is open.
    var isOpen: Bool { popup.isVisible || picker.popover.isVisible }

    /// Calls `handler` when one of them is closed.
    func onClose(_ handler: @escaping () -> Void) {
        popup.onClose(handler)
        picker.popover.onClose(handler)
    }

    func show(at place: Rect) { popup.show(at: place) }

    func showLayouts(at place: Rect) { picker.show(at: place) }

    func end() {
        popup.detach()
        picker.popover.detach()
    }

    /// Takes over what the daemon tells. With `isShort` the bar lacks what it usually has.
    func follow(
        _ daemon: DaemonMirror?,
        isPresent: Bool,
        recordsSound: Bool,
        delay: Int,
        isShort: Bool
    ) {
        for (name, _) in Self.plain + Self.switches
        where !["preferences", "help", "about", "close"].contains(name) {
            actions.enable(name, isPresent)
        }
        for name in ["photo", "record", "privacy", "layouts"] {
            actions.enable(name, isPresent && isShort)
        }
        for name in ["scene", "timer"] { actions.enable(name, isPresent) }
        actions.set("timer", "\(delay)")
        let names = isPresent ? daemon?[\ScenesInterface.names] ?? [] : []
        if names != sceneNames {
            sceneNames = names
            let shown = names.map { ($0.capitalizedFirst, $0) }
            scenes.set(shown, choosing: "view.scene")
        }
        actions.set("scene", daemon?[\ScenesInterface.current] ?? "")
        actions.set("sound", recordsSound)
        let main = daemon?[\SceneInterface.main] ?? DualCam.backPath
        let layout = daemon?[\SceneInterface.layout] ?? ""
        picker.follow()
        let isRecording = daemon?[\CaptureInterface.recording] ?? false
        actions.enable("sound", isPresent && !isRecording)
        actions.enable("other", isPresent && layout == Layout.pip.rawValue)
        actions.set("other", daemon?[\SceneInterface.insetVisible] ?? true)
        actions.set("record", isRecording)
        actions.set("pro", daemon?[\ProInterface.enabled] ?? false)
        actions.set("mirror", daemon?[\CameraInterface.mirror, at: main] ?? false)
        let hasTorch = daemon?[\CameraInterface.torchAvailable, at: main] ?? false
        actions.enable("torch", isPresent && hasTorch)
        actions.set("torch", daemon?[\CameraInterface.torch, at: main] ?? false)
        actions.set("privacy", daemon?[\PrivacyInterface.enabled] ?? false)
    }
}
