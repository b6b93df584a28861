import Control
import DualCamCore
import GTK
import ViewCore

/// The menu of the picture.
///
/// - Context: bound to GTK's thread.
final class ViewMenu {
    private let actions = ActionGroup()
    private let popup: PopupMenu
    private let scenes = Submenu()
    private var sceneNames: [String] = []

    init(
        over stage: Widget,
        layout: @escaping (Layout) -> Void,
        scene: @escaping (String) -> Void,
        _ perform: @escaping (ViewCore.Command) -> Void
    ) {
        for (name, command) in Self.plain { actions.add(name) { perform(command) } }
        for (name, command) in Self.switches { actions.addSwitch(name) { _ in perform(command) } }
        actions.addChoice("layout") { word in
            if let choice = Layout(rawValue: word) { layout(choice) }
        }
        actions.addChoice("scene", scene)
        actions.insert(in: stage, as: "view")
        let layouts = Submenu()
        layouts.set(Layout.allCases.map { ($0.title, $0.rawValue) }, choosing: "view.layout")
        popup = PopupMenu(
            over: stage,
            [
                [("Swap", "view.swap"), ("Back to the Usual Scene", "view.reset")],
                [("Show the Other Picture", "view.other")],
                [
                    ("Take a Photo", "view.photo"), ("Record", "view.record"),
                    ("Pictures", "view.pictures"),
                ],
                [
                    ("Pro Mode", "view.pro"), ("Mirror", "view.mirror"), ("Torch", "view.torch"),
                    ("Sound in Recordings", "view.sound"), ("Privacy", "view.privacy"),
                ],
                [
                    ("Preferences", "view.preferences"), ("Keyboard Shortcuts", "view.help"),
                    ("Close", "view.close"),
                ],
            ],
            [("Layout", layouts), ("Scenes", scenes)],
            at: 1
        )
    }

    private static let plain: [(String, ViewCore.Command)] = [
        ("swap", .swap), ("reset", .reset), ("photo", .photo), ("pictures", .togglePictures),
        ("preferences", .preferences), ("help", .help), ("close", .close),
    ]
    private static let switches: [(String, ViewCore.Command)] = [
        ("other", .toggleOther), ("record", .record), ("pro", .togglePro),
        ("mirror", .toggleMirror), ("torch", .toggleTorch), ("privacy", .togglePrivacy),
        ("sound", .toggleMicrophone),
    ]

    /// Shows it at a point of the picture.
    func show(x: Double, y: Double) { popup.show(x: x, y: y) }

    /// Ends it with the picture.
    func end() { popup.detach() }

    /// Takes over what the daemon tells.
    func follow(_ daemon: DaemonMirror?, isPresent: Bool, recordsSound: Bool) {
        for (name, _) in Self.plain + Self.switches
        where !["preferences", "help", "close"].contains(name) {
            actions.enable(name, isPresent)
        }
        actions.enable("layout", isPresent)
        actions.enable("scene", isPresent)
        let names = isPresent ? daemon?[\ScenesInterface.names] ?? [] : []
        if names != sceneNames {
            sceneNames = names
            scenes.set(names.map { ($0, $0) }, choosing: "view.scene")
        }
        actions.set("scene", daemon?[\ScenesInterface.current] ?? "")
        actions.set("sound", recordsSound)
        let main = daemon?[\SceneInterface.main] ?? DualCam.backPath
        let layout = daemon?[\SceneInterface.layout] ?? ""
        actions.set("layout", layout)
        actions.enable("other", isPresent && layout == Layout.pip.rawValue)
        actions.set("other", daemon?[\SceneInterface.insetVisible] ?? true)
        actions.set("record", daemon?[\CaptureInterface.recording] ?? false)
        actions.set("pro", daemon?[\ProInterface.enabled] ?? false)
        actions.set("mirror", daemon?[\CameraInterface.mirror, at: main] ?? false)
        actions.set("torch", daemon?[\CameraInterface.torch, at: main] ?? false)
        actions.set("privacy", daemon?[\PrivacyInterface.enabled] ?? false)
    }
}
