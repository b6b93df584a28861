import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The page of the picture: its layout, the inset, the title, the page of paper.
///
/// - Context: bound to GTK's thread.
final class PicturePage {
    let page: PreferencesPage
    private unowned let rows: PreferenceRows
    private let layouts: [(layout: Layout, button: ToggleButton, miniature: Miniature)]
    private let name = EntryRow("Name")
    private let second = EntryRow("Second line")
    private let isTitled = SwitchRow("Show it")
    private let straighten = Button("")
    /// `true` while a page is looked for.
    private var isLooking = false

    init(_ rows: PreferenceRows) {
        self.rows = rows
        layouts = Layout.allCases.map { layout in
            let miniature = Miniature(Size(width: 108, height: 61))
            let column = Box(vertical: true, spacing: 4, [miniature.widget, Label(layout.title)])
            return (layout, ToggleButton(column, layout.title), miniature)
        }
        let tiles = FlowBox(most: 4, spacing: 8)
        for (_, button, _) in layouts { tiles.append(button.style("flat", "pick-tile")) }
        let corner = rows.row("Place", \SceneInterface.titleCorner)
        let straight = GTK.Row("Straighten", "The page that your view shows", after: [straighten])
        let inset = [
            rows.row(
                "Shape",
                \SceneInterface.insetShape,
                icons: InsetShape.allCases.map(\.rawValue)
            ),
            rows.row("Size", \SceneInterface.insetSize),
            rows.choice("Place", Self.place, "Or drag it in the picture", Self.corners),
            rows.row("Show it", \SceneInterface.insetVisible),
            rows.row("Show the swap icon", \SceneInterface.swapIcon),
        ]
        let behind = [
            rows.row(
                "Empty edges",
                \SceneInterface.background,
                words: "Where a camera’s picture has another shape",
                names: ["As it fits", "Blurred", "Black", "None: cut the rest off"]
            ),
            rows.row(
                "Camera values",
                \SceneInterface.hud,
                words: "Shown in the picture to everyone",
                names: ["Never", "In Pro mode", "Always"]
            ),
        ]
        let paper = [
            straight,
            rows.row(
                "Ink",
                \CameraInterface.ink,
                at: DualCam.backPath,
                words: "Dark on even white, without the shadow"
            ),
            rows.row(
                "Freeze",
                \CameraInterface.frozen,
                at: DualCam.backPath,
                words: "Your view stands still, while you lay out the next page"
            ),
        ]
        page = PreferencesPage(
            "Picture",
            icon: icon("layout"),
            [
                PreferencesGroup("", "", [tiles]), PreferencesGroup("Inset", "", inset),
                PreferencesGroup("Behind", "", behind),
                PreferencesGroup("Title", "", [name, second, corner, isTitled]),
                PreferencesGroup("Page", "", paper),
            ]
        )
        for (layout, button, _) in layouts {
            button.onToggle { [unowned self, unowned rows] _ in
                // The present one stays marked when it is chosen again.
                for other in layouts { other.button.isOn = other.layout == layout }
                rows.daemon?.set(\SceneInterface.layout, to: layout.rawValue, rows.answered)
            }
        }
        attachTitle()
        straighten.onClick { [unowned self] in straightenPage() }
        rows.bind { [unowned self] in follow() }
    }

    private static let corners = Corner.allCases.map { corner in
        let word = corner.rawValue
        return (Plain.text(word), word.replacing("-", with: " ").capitalizedFirst)
    }

    /// The corner of the inset; words that name none while it is elsewhere.
    private static var place: ValuePlace {
        ValuePlace(name: "Place") { daemon in
            guard daemon[\SceneInterface.insetPosition]?.isEmpty != false else {
                return .string("Where you dropped it")
            }
            return daemon[\SceneInterface.insetCorner].map { .string($0) }
        } set: { daemon, value, done in
            daemon.set(\SceneInterface.insetCorner, to: value.string ?? "", done)
        }
    }

    private func attachTitle() {
        for entry in [name, second] {
            entry.onApply { [unowned self] in
                isTitled.isOn = true
                setTitle()
            }
        }
        isTitled.onToggle { [unowned self] _ in setTitle() }
        rows.bind(isTitled, .property(\SceneInterface.title)) { [unowned self] value in
            let lines = (value.string ?? "").split(separator: "\n").map(String.init)
            isTitled.isOn = !lines.isEmpty
            // Words that are not shown now stay, to be shown again.
            guard !lines.isEmpty else { return }
            name.text = lines[0]
            second.text = lines.dropFirst().first ?? ""
        }
    }

    private func setTitle() {
        let lines = [name.text, second.text].filter { !$0.isEmpty }
        let title = isTitled.isOn ? lines.joined(separator: "\n") : ""
        rows.set(.property(\SceneInterface.title), .string(title))
    }

    private var isStraight: Bool {
        rows.daemon?[\CameraInterface.perspective, at: DualCam.backPath]?.isEmpty == false
    }

    /// Looks for a page in the view and shows it as the whole picture, or no longer.
    private func straightenPage() {
        guard !isStraight else {
            let perspective = \CameraInterface.perspective
            rows.daemon?.set(perspective, at: DualCam.backPath, to: [], rows.answered)
            return
        }
        isLooking = true
        follow()
        rows.daemon?.call(\CameraInterface.findPerspective, at: DualCam.backPath, ()) {
            [weak self] answer in
            self?.isLooking = false
            self?.rows.done(answer.error)
        }
    }

    private func follow() {
        let present = rows.daemon?[\SceneInterface.layout] ?? ""
        let isPresent = rows.daemon?.isPresent == true
        for (layout, button, _) in layouts {
            button.isOn = layout.rawValue == present
            button.isSensitive = isPresent
        }
        straighten.label = isStraight ? "Show All" : isLooking ? "Looking…" : "Find the Page"
        straighten.isSensitive = isPresent && !isLooking
    }

    /// Shows what the cameras see now.
    func show() {
        var look = rows.owner.look
        // One camera can be shown at any time.
        look.isInsetVisible = true
        for (layout, _, miniature) in layouts {
            look.layout = layout
            miniature.show(look, rows.pictures)
        }
    }
}
