import Control
import DualCamCore
import Frames
import GTK
import ViewCore

/// The menu of the picture, and the layouts to choose from.
///
/// - Context: bound to GTK's thread.
final class ViewMenu {
    private let actions = ActionGroup()
    private let popup: PopupMenu
    private let picker: Popover
    private let scenes = Submenu()
    private var sceneNames: [String] = []
    private var layouts: [(Layout, ToggleButton)] = []
    private let stage: Widget
    /// The cameras that said that they have no light.
    private var torchless: Set<String> = []

    init(
        over stage: Widget,
        layout: @escaping (Layout) -> Void,
        scene: @escaping (String) -> Void,
        _ perform: @escaping (ViewCore.Command) -> Void
    ) {
        self.stage = stage
        for (name, command) in Self.plain { actions.add(name) { perform(command) } }
        for (name, command) in Self.switches { actions.addSwitch(name) { _ in perform(command) } }
        actions.addChoice("scene", scene)
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
                    .init("Back to the Usual Scene", "view.reset", "BackSpace"),
                    .init("Torch", "view.torch", "t", isHiddenWhenOff: true),
                ],
                [
                    .init("Pictures", "view.pictures", "g"),
                    .init("Preferences", "view.preferences", "comma"),
                    .init("Keyboard Shortcuts", "view.help", "question"),
                    .init("Close", "view.close"),
                ],
            ]
        )
        let choices = Layout.allCases.map { layout in
            let column = Box(
                vertical: true,
                spacing: 4,
                [
                    Image(icon: icon(layout == .pip ? "layout" : layout.rawValue)),
                    Label(layout.title),
                ]
            )
            return (layout, ToggleButton(column, layout.title))
        }
        layouts = choices
        picker = Popover(over: stage, Box(spacing: 4, choices.map { $1.style("tile") }))
        for tile in tiles { tile.onClick { [unowned self] in popup.close() } }
        for (choice, button) in choices {
            button.onToggle { [unowned self] _ in
                picker.close()
                // The present one stays marked when it is chosen again.
                for (each, other) in layouts { other.isOn = each == choice }
                layout(choice)
            }
        }
    }

    private static let plain: [(String, ViewCore.Command)] = [
        ("swap", .swap), ("reset", .reset), ("photo", .photo), ("pictures", .togglePictures),
        ("preferences", .preferences), ("help", .help), ("close", .close), ("layouts", .layouts),
    ]
    private static let switches: [(String, ViewCore.Command)] = [
        ("other", .toggleOther), ("record", .record), ("pro", .togglePro),
        ("mirror", .toggleMirror), ("torch", .toggleTorch), ("privacy", .togglePrivacy),
        ("sound", .toggleMicrophone),
    ]

    /// `true` while one of them is open.
    var isOpen: Bool { popup.isVisible || picker.isVisible }

    /// Calls `handler` when one of them is closed.
    func onClose(_ handler: @escaping () -> Void) {
        popup.onClose(handler)
        picker.onClose(handler)
    }

    func show(at place: Rect) { popup.show(at: place) }

    func showLayouts(at place: Rect) { picker.show(at: place) }

    func end() {
        popup.detach()
        picker.detach()
    }

    func noTorch(_ name: String) { torchless.insert(name) }

    /// Takes over what the daemon tells. With `isShort` the bar lacks what it usually has.
    func follow(_ daemon: DaemonMirror?, isPresent: Bool, recordsSound: Bool, isShort: Bool) {
        for (name, _) in Self.plain + Self.switches
        where !["preferences", "help", "close"].contains(name) {
            actions.enable(name, isPresent)
        }
        for name in ["photo", "record", "privacy", "layouts"] {
            actions.enable(name, isPresent && isShort)
        }
        actions.enable("scene", isPresent)
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
        for (choice, button) in layouts { button.isOn = choice.rawValue == layout }
        let isRecording = daemon?[\CaptureInterface.recording] ?? false
        actions.enable("sound", isPresent && !isRecording)
        actions.enable("other", isPresent && layout == Layout.pip.rawValue)
        actions.set("other", daemon?[\SceneInterface.insetVisible] ?? true)
        actions.set("record", isRecording)
        actions.set("pro", daemon?[\ProInterface.enabled] ?? false)
        actions.set("mirror", daemon?[\CameraInterface.mirror, at: main] ?? false)
        let name = daemon?[\CameraInterface.name, at: main] ?? ""
        actions.enable("torch", isPresent && !torchless.contains(name))
        actions.set("torch", daemon?[\CameraInterface.torch, at: main] ?? false)
        actions.set("privacy", daemon?[\PrivacyInterface.enabled] ?? false)
    }
}
