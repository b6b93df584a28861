import Frames
import GTK
import ViewCore

/// The list of keys, and what each does.
final class KeysWindow: SideWindow {
    init(over owner: PictureWindow) {
        let rows = ViewCore.Command.keys.map { key in
            Row(key.words, after: [Label(key.shown).style("keycap")])
        }
        let done = Button("Done").style("suggested-action")
        let page = PreferencesPage("", [PreferencesGroup("", rows)]).expand()
        super.init(
            over: owner,
            Window(
                owner.application,
                title: "Keyboard Shortcuts",
                size: Size(width: 360, height: 560),
                Box(vertical: true, [HeaderBar([], [done]), page])
            )
        )
        done.onClick { [unowned self] in window.close() }
        window.closesOnKey { ViewCore.Command(key: $0) == .help }
        window.present()
    }
}
