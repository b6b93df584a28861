import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The layouts to choose from, each as it would be now, and what belongs to them.
///
/// - Context: bound to GTK's thread.
final class LayoutPicker {
    typealias Property = KeyPath<SceneInterface, PropertyMember<String>>
    let popover: Popover
    /// Called when it is opened, and when it is closed.
    var onOpen: (Bool) -> Void = { _ in }
    private let daemon: DaemonMirror?
    /// The buttons, and the word that each sets its property to.
    private var choices: [(property: Property, word: String, button: ToggleButton)] = []
    private var miniatures: [DrawingArea] = []
    private let look = Look()
    /// The cameras, while it is open.
    private var pictures: WholePictures?

    /// The content of the miniatures.
    private final class Look {
        var (main, other): (Pixels?, Pixels?)
        var shape = InsetShape.rectangle
        var ground = Background.auto
        var aspect = 16.0 / 9
        var corner = Corner.topRight
        var place: NormalizedPoint?
        var size = 0.25
    }

    private static let miniature = Size(width: 97, height: 55)

    /// Creates it over `stage`. `set` sets a property to the word that was chosen.
    init(over stage: Widget, _ daemon: DaemonMirror?, _ set: @escaping (Property, String) -> Void) {
        self.daemon = daemon
        let look = look
        let content = Box(vertical: true, spacing: 16)
        popover = Popover(over: stage, content.style("layouts"))
        func choice(_ property: Property, _ word: String, _ words: String, _ face: Widget) -> Widget
        {
            let isLayout = property == \SceneInterface.layout
            let column = Box(vertical: true, spacing: isLayout ? 8 : 2, [face, Label(words)])
            let button = ToggleButton(column, words).style(isLayout ? "layout" : "segment")
            choices.append((property, word, button))
            button.onToggle { [unowned self] _ in
                if isLayout { popover.close() }
                set(property, word)
                // What was chosen already stays marked.
                follow()
            }
            return button.expand(true, false)
        }
        func group(_ title: String, _ property: Property, _ all: [(String, String, String)]) -> Box
        {
            let buttons = all.map { choice(property, $0, $1, Image(icon: icon($2))) }
            let label = Label(title).style("key").place(.start, .center)
            return Box(vertical: true, spacing: 8, [label, Box(buttons).style("segments")])
                .expand(true, false)
        }
        let layouts = Layout.allCases.map { layout in
            let picture = DrawingArea { canvas, _ in Self.draw(layout, look, canvas) }
            picture.request(width: Self.miniature.width, height: Self.miniature.height)
            miniatures.append(picture.style("miniature").clip())
            return choice(\.layout, layout.rawValue, layout.title, picture)
        }
        content.append(Box(spacing: 4, layouts))
        let shapes = InsetShape.allCases.map {
            ($0.rawValue, $0.rawValue.capitalizedFirst, $0.rawValue)
        }
        let grounds = [
            ("crop", "Fill", "fullscreen"), ("blur", "Blur", "blur"), ("black", "Black", "single"),
        ]
        content.append(
            Box(
                spacing: 12,
                [
                    group("Shape of the inset", \.insetShape, shapes),
                    group("Empty edges", \.background, grounds),
                ]
            )
        )
        popover.onClose { [unowned self] in
            pictures = nil
            onOpen(false)
        }
    }

    func show(at place: Rect) {
        if pictures == nil, let daemon {
            // What is cropped is smaller than the miniature.
            let width = 2 * Self.miniature.width * popover.scaleFactor
            pictures = try? WholePictures(daemon, of: Role.allCases, width: width) {
                [unowned self] in compose()
            }
        }
        follow()
        popover.show(at: place)
        onOpen(true)
    }

    /// Shows what is chosen now.
    func follow() {
        let layout = daemon?[\SceneInterface.layout].flatMap(Layout.init) ?? .pip
        look.shape = daemon?[\SceneInterface.insetShape].flatMap(InsetShape.init) ?? .rectangle
        look.ground = daemon?[\SceneInterface.background].flatMap(Background.init) ?? .auto
        look.corner = daemon?[\SceneInterface.insetCorner].flatMap(Corner.init) ?? .topRight
        look.place = NormalizedPoint(daemon?[\SceneInterface.insetPosition] ?? [])
        look.size = daemon?[\SceneInterface.insetSize] ?? 0.25
        look.aspect = Viewport.aspect(
            width: daemon?[\StreamInterface.width] ?? 0,
            height: daemon?[\StreamInterface.height] ?? 0
        )
        for (property, word, button) in choices {
            let isGround = property == \SceneInterface.background
            let present = isGround ? look.ground.shown(in: layout).rawValue : daemon?[property]
            button.isOn = word == present
            button.isSensitive = property != \SceneInterface.insetShape || layout == .pip
        }
        if pictures != nil { compose() }
    }

    private func compose() {
        let main = Role(daemon?[\SceneInterface.main]) ?? .back
        (look.main, look.other) = (picture(of: main), picture(of: main.other))
        for miniature in miniatures { miniature.redraw() }
    }

    /// Returns what the stream shows of a camera's picture: the page in it, or its middle.
    private func picture(of role: Role) -> Pixels? {
        guard let shown = pictures?[role] else { return nil }
        let half = 0.5 / max(1, daemon?[\CameraInterface.zoom, at: role.path] ?? 1)
        let (least, most) = (0.5 - half, 0.5 + half)
        let middle = [(least, least), (most, least), (most, most), (least, most)]
        let known = daemon?[\CameraInterface.perspective, at: role.path]?.points ?? []
        let points = known.isEmpty ? middle.map { NormalizedPoint(x: $0, y: $1) } : known
        let page = PageCorners(points, in: shown.corners)?.page
        return page.flatMap { shown.pixels.straightened($0, in: shown.pixels.size) }
    }

    private static func draw(_ layout: Layout, _ look: Look, _ canvas: Canvas) {
        let whole = Rect(miniature)
        canvas.fill(whole, .black(1))
        let stream = whole.covering(aspect: look.aspect)
        var areas = PictureAreas(
            layout: layout,
            corner: look.corner,
            size: look.size,
            isVisible: true,
            aspect: look.aspect,
            shape: look.shape
        )
        if layout == .pip, let place = look.place { areas.other = areas.inset(at: place) }
        let ground = look.ground.shown(in: layout)
        if let main = look.main { draw(main, in: stream.part(areas.main), ground, canvas) }
        guard let other = look.other, var place = areas.other.map(stream.part) else { return }
        guard layout == .pip else { return draw(other, in: place, ground, canvas) }
        let isRound = look.shape == .circle
        if isRound {
            let middle = place.midX
            place.width = min(place.width, whole.height)
            (place.x, place.height) = (middle - place.width / 2, place.width)
            if place.maxY > whole.maxY - 2 { place.y = whole.maxY - 2 - place.height }
        }
        let radius = isRound ? place.width / 2 : 2
        canvas.clipped(to: place, radius: radius) { draw(other, in: place, .crop, canvas) }
        guard look.shape != .person else { return }
        canvas.outline(place.inset(by: 0.5), radius: radius, width: 1, .white(0.85))
    }

    private static func draw(
        _ pixels: Pixels,
        in place: Rect,
        _ ground: Background,
        _ canvas: Canvas
    ) {
        let aspect = Double(pixels.size.width) / Double(max(1, pixels.size.height))
        canvas.clipped(to: place, radius: 0) {
            if ground != .black { canvas.draw(pixels, in: place.covering(aspect: aspect)) }
            guard ground != .crop else { return }
            canvas.fill(place, .black(0.4))
            canvas.draw(pixels, in: place.fitting(aspect: aspect))
        }
    }
}

extension Background {
    /// Returns what fills the frame around a picture in `layout`.
    fileprivate func shown(in layout: Layout) -> Background {
        guard self == .auto else { return self }
        return layout == .sideBySide || layout == .stacked ? .crop : .blur
    }
}
