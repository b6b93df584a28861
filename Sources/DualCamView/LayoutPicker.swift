import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The layouts to choose from, each as it would be now.
final class LayoutTiles {
    let group: ToggleGroup<Layout>
    private unowned let owner: PictureWindow
    private let miniatures: [(layout: Layout, miniature: Miniature)]

    init(_ owner: PictureWindow, _ size: Size) {
        self.owner = owner
        miniatures = Layout.allCases.map { ($0, Miniature(size)) }
        group = ToggleGroup(
            miniatures.map { layout, miniature in
                let face = Box(vertical: true, spacing: 4, [miniature.widget, Label(layout.title)])
                return (layout, ToggleButton(face, layout.title))
            }
        )
    }

    func follow() {
        let isPresent = owner.daemon?.isPresent == true
        group.chosen = isPresent ? owner.look.settings.scene.style.layout : nil
        for (_, button) in group.buttons { button.isSensitive = isPresent }
    }

    func show(_ pictures: CameraPictures) {
        var look = owner.look
        // One camera can be shown at any time.
        look.settings.scene.style.insetVisible = true
        for (layout, miniature) in miniatures {
            look.settings.scene.style.layout = layout
            miniature.show(look, pictures)
        }
    }
}

/// The layouts over the picture, and what belongs to them.
final class LayoutPicker {
    let popover: Popover
    var onOpen: (Bool) -> Void = { _ in }
    private unowned let owner: PictureWindow
    private let tiles: LayoutTiles
    private let shapes = LayoutPicker.segments(
        InsetShape.allCases.map { ($0.rawValue, $0.rawValue.capitalizedFirst, $0.rawValue) }
    )
    private let grounds = LayoutPicker.segments([
        ("crop", "Fill", "fullscreen"), ("blur", "Blur", "blur"), ("black", "Black", "single"),
    ])
    private var pictures: CameraPictures?
    private var watching: MainLoop.Timer?

    init(_ owner: PictureWindow) {
        self.owner = owner
        tiles = LayoutTiles(owner, Size(width: 97, height: 55))
        func group(_ title: String, _ group: ToggleGroup<String>) -> Box {
            let label = Label(title).style("key").place(.start, .center)
            let row = Box(group.buttons.map(\.button)).style("segments")
            return Box(vertical: true, spacing: 8, [label, row]).expand(true, false)
        }
        let layouts = tiles.group.buttons.map { $1.style("layout").expand(true, false) }
        let others = [group("Shape of the inset", shapes), group("Empty edges", grounds)]
        let content = [Box(spacing: 4, layouts), Box(spacing: 12, others)]
        let column = Box(vertical: true, spacing: 16, content).style("layouts")
        popover = Popover(over: owner.stage, column)
        tiles.group.onChoice { [unowned self, unowned owner] in
            popover.close()
            owner.set(\SceneInterface.layout, to: $0.rawValue)
        }
        shapes.onChoice { [unowned owner] in owner.set(\SceneInterface.insetShape, to: $0) }
        grounds.onChoice { [unowned owner] in owner.set(\SceneInterface.background, to: $0) }
        popover.onClose { [unowned self] in
            (watching, pictures) = (nil, nil)
            onOpen(false)
        }
    }

    private static func segments(_ all: [(String, String, String)]) -> ToggleGroup<String> {
        ToggleGroup(
            all.map { word, words, name in
                let face = Box(vertical: true, spacing: 2, [Image(icon: icon(name)), Label(words)])
                return (word, ToggleButton(face, words).style("segment").expand(true, false))
            }
        )
    }

    func show(at place: Rect) {
        if pictures == nil { pictures = CameraPictures(owner) }
        watching = MainLoop.Timer(every: 0.1) { [unowned self] in watch() }
        watch()
        follow()
        popover.show(at: place)
        onOpen(true)
    }

    private func watch() {
        pictures?.update(isWatched: !owner.window.isMinimized)
        pictures.map(tiles.show)
    }

    func follow() {
        let daemon = owner.daemon
        tiles.follow()
        shapes.chosen = daemon?[\SceneInterface.insetShape]
        let style = owner.look.settings.scene.style
        grounds.chosen = style.background.shown(in: style.layout).rawValue
        for (_, button) in shapes.buttons { button.isSensitive = style.layout == .pip }
    }
}

extension Background {
    /// Returns what fills the frame around a picture in `layout`.
    fileprivate func shown(in layout: Layout) -> Background {
        guard self == .auto else { return self }
        return layout == .sideBySide || layout == .stacked ? .crop : .blur
    }
}
