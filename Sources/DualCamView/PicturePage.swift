import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The page of the picture: its layout, the inset, the title, the page of paper.
final class PicturePage {
    let page: PreferencesPage
    private unowned let rows: PreferenceRows
    private let layouts: LayoutTiles
    private let name = EntryRow("Name")
    private let second = EntryRow("Second line")
    private let isTitled = SwitchRow("Show it")
    private let straighten = Button("")
    /// `true` while a page is looked for.
    private var isLooking = false

    init(_ rows: PreferenceRows) {
        self.rows = rows
        layouts = LayoutTiles(rows.owner, Size(width: 108, height: 61))
        layouts.group.onChoice { [unowned rows] in
            rows.daemon?.set(\SceneInterface.layout, to: $0.rawValue, rows.answered)
        }
        let tiles = FlowBox(most: 4, spacing: 8)
        for (_, button) in layouts.group.buttons { tiles.append(button.style("flat", "pick-tile")) }
        let corner = rows.row("Place", .property(\SceneInterface.titleCorner))
        let straight = GTK.Row("Straighten", "The page that your view shows", after: [straighten])
        let inset = [
            rows.row(
                "Shape",
                .property(\SceneInterface.insetShape),
                icons: InsetShape.allCases.map(\.rawValue)
            ),
            rows.row("Size", Self.size),
            rows.choice("Place", Self.place, "Or drag it in the picture") { Self.corners },
            rows.row("Show it", .property(\SceneInterface.insetVisible)),
            rows.row("Show the swap icon", .property(\SceneInterface.swapIcon)),
        ]
        let behind = [
            rows.row(
                "Empty edges",
                .property(\SceneInterface.background),
                words: "Where a camera’s picture has another shape",
                names: ["As it fits", "Blurred", "Black", "None: cut the rest off"]
            ),
            rows.row(
                "Camera values",
                .property(\SceneInterface.hud),
                words: "Shown in the picture to everyone",
                names: ["Never", "In Pro mode", "Always"]
            ),
        ]
        let paper = [
            straight,
            rows.row(
                "Ink",
                .property(\CameraInterface.ink, at: DualCam.backPath),
                words: "Dark on even white, without the shadow"
            ),
            rows.row(
                "Freeze",
                .property(\CameraInterface.frozen, at: DualCam.backPath),
                words: "Your view stands still, while you lay out the next page"
            ),
        ]
        page = PreferencesPage(
            "Picture",
            icon: icon("layout"),
            [
                PreferencesGroup("", [tiles]), PreferencesGroup("Inset", inset),
                PreferencesGroup("Behind", behind + [Self.awayRow(rows)]),
                PreferencesGroup("Title", [name, second, corner, isTitled]),
                PreferencesGroup("Page", paper),
            ]
        )
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
        ValuePlace("Place") { daemon in
            guard daemon[\SceneInterface.insetPosition]?.isEmpty != false else {
                return .string("Where you dropped it")
            }
            return daemon[\SceneInterface.insetCorner].map { .string($0) }
        } set: { daemon, value, done in
            daemon.set(\SceneInterface.insetCorner, to: value.string ?? "", done)
        }
    }

    /// The size of the inset, as large as its shape can be.
    private static var size: ValuePlace {
        let property = ValuePlace.property(\SceneInterface.insetSize)
        var place = ValuePlace(property.name, get: property.get) { daemon, value, done in
            let most = daemon.insetShape.sizes.upperBound
            property.set(daemon, .double(min(value.double ?? 0, most)), done)
        }
        place.facts = property.facts
        return place
    }

    /// Returns the row of the picture in place of the cameras.
    private static func awayRow(_ rows: PreferenceRows) -> GTK.Row {
        let place = ValuePlace.property(\SceneInterface.away)
        let none = Button(icon: icon("trash"), "Show No Picture While Cameras Are Off").style(
            "flat"
        )
        let choose = Button(icon: icon("folder"), "Choose a Picture While Cameras Are Off")
        let row = GTK.Row("While cameras are off", "", after: [none, choose])
        none.onClick { [unowned rows] in rows.set(place, .string("")) }
        choose.onClick { [unowned rows] in
            rows.window?.choose("Choose a Picture", isFolder: false) { [weak rows] in
                rows?.set(place, .string($0))
            }
        }
        rows.bind(choose, place) { [unowned row, unowned none] value in
            let path = value.string ?? ""
            row.words =
                path.split(separator: "/").last.map(String.init) ?? "No picture of your own"
            none.isVisible = !path.isEmpty
        }
        return row
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
        layouts.follow()
        straighten.label = isStraight ? "Show All" : isLooking ? "Looking…" : "Find the Page"
        straighten.isSensitive = rows.isPresent && !isLooking
    }

    func show() { layouts.show(rows.pictures) }
}
