import Frames
import GTK
import ViewCore

/// The list of keys, and what each does.
///
/// - Context: bound to GTK's thread.
final class KeysWindow {
    let window: Window

    init(over owner: PictureWindow, closed: @escaping () -> Void) {
        let rows = ViewCore.Command.keys.map { key in
            Row(key.words, after: [Label(key.shown).style("keycap")])
        }
        let done = Button("Done")
        window = Window(
            owner.application,
            title: "Keyboard Shortcuts",
            size: Size(width: 360, height: 560),
            Box(
                vertical: true,
                [
                    HeaderBar([], [done.style("suggested-action")]),
                    PreferencesPage("", [PreferencesGroup("", "", rows)]).expand(),
                ]
            )
        )
        window.belongs(to: self)
        window.setParent(owner.window)
        window.onClose {
            closed()
            return false
        }
        done.onClick { [unowned self] in window.close() }
        window.closesOnKey { $0 == "Escape" || ViewCore.Command(key: $0) == .help }
        window.present()
    }
}
