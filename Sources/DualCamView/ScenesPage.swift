import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The page of the saved scenes, each as small as what it shows.
final class ScenesPage {
    let page: PreferencesPage
    private unowned let rows: PreferenceRows
    private let list = FlowBox(most: 3, spacing: 16)
    private let save: Button
    private var cells: [Cell] = []
    private var group = ToggleGroup<String>([])
    /// The scenes as text, of which the cells were made.
    private var text = ""
    /// The names of the scenes, and the present one, when they were read.
    private var read: [String] = []

    private struct Cell {
        let name: String
        let values: [String: Plain]
        let miniature = Miniature(ScenesPage.size)
        let choose: ToggleButton
        let rename = Button(icon: icon("edit"), "Rename")
        let remove = Button(icon: icon("trash"), "Delete")
        let widget: Overlay

        init(_ name: String, _ values: [String: Plain]) {
            (self.name, self.values) = (name, values)
            let title = Label(name.capitalizedFirst).shortens()
            choose = ToggleButton(Box(vertical: true, spacing: 4, [miniature.widget, title]), name)
            widget = Overlay(choose.style("flat", "pick-tile"))
            widget.style("scene").place(.center, .start)
            for (button, word) in [(rename, "Rename"), (remove, "Delete")] {
                button.style("disc").named("\(word) \(name)")
            }
            widget.add(Box(spacing: 4, [rename, remove]).place(.end, .start, margin: 8))
        }
    }

    private static let size = Size(width: 148, height: 83)

    init(_ rows: PreferenceRows) {
        self.rows = rows
        let plus = Box(
            vertical: true,
            spacing: 8,
            [Image(icon: icon("add"), pixels: 20), Label("Save What You See")]
        )
        save = Button(plus.place(.center, .center), "Save What You See")
        save.style("flat", "add-scene").place(.center, .start, margin: 3)
        save.request(width: Self.size.width, height: Self.size.height)
        list.append(save)
        let all = [
            rows.choice("Transition", .key("scene.swap-duration-ms")) {
                [(.int(0), "At once"), (.int(300), "Smooth"), (.int(800), "Slow")]
            },
            rows.choice("When DualCam starts", .key("state.remember"), "What it restores") {
                [
                    (.bool(true), "Everything"), (.text("settings"), "All but the swap"),
                    (.bool(false), "Nothing"),
                ]
            },
        ]
        let groups = [PreferencesGroup("", [list]), PreferencesGroup("", all)]
        page = PreferencesPage("Scenes", icon: icon("scenes"), groups)
        save.onClick { [unowned rows] in
            let done = rows.answered
            rows.owner.saveScene(over: rows.window) { done($1) }
        }
        rows.bind { [unowned self] in follow() }
    }

    private func follow() {
        let daemon = rows.daemon
        let isPresent = daemon?.isPresent == true
        list.isSensitive = isPresent
        let current = daemon?[\ScenesInterface.current] ?? ""
        group.chosen = current
        // One that was saved again has the same name, and is the present one.
        let state = (daemon?[\ScenesInterface.names] ?? []) + [current]
        guard isPresent, state != read else { return }
        read = state
        daemon?.call(\ScenesInterface.export, []) { [weak self] answer in
            if case .success(let text) = answer, text != self?.text { self?.show(text) }
        }
    }

    private func show(_ text: String) {
        guard let book = try? SceneBook(parsing: text) else { return }
        self.text = text
        for cell in cells { list.remove(cell.widget) }
        let names = rows.daemon?[\ScenesInterface.names] ?? []
        cells = names.map { Cell($0, (try? book.preset($0))?.values ?? [:]) }
        for (index, cell) in cells.enumerated() {
            attach(cell)
            list.append(cell.widget, at: index)
        }
        group = ToggleGroup(cells.map { ($0.name, $0.choose) })
        group.onChoice { [unowned rows] in rows.owner.apply($0) }
        group.chosen = rows.daemon?[\ScenesInterface.current]
        show()
    }

    private func attach(_ cell: Cell) {
        let (name, rows) = (cell.name, rows)
        cell.rename.onClick { [unowned rows] in
            let picture = Miniature(Size(width: 112, height: 63))
            picture.show(rows.owner.look.applying(cell.values), rows.pictures)
            let done = rows.answered
            rows.window?.askName(
                "Rename this scene",
                name,
                answer: "Rename",
                beside: picture.widget
            ) { [weak rows] new in
                guard new != name else { return }
                rows?.daemon?.call(\ScenesInterface.rename, (name, new)) { done($0.error) }
            }
        }
        cell.remove.onClick { [unowned rows] in
            let done = rows.answered
            rows.window?.ask("Delete “\(name)”?", "", ["Cancel", "Delete"], isDestructive: true) {
                [weak rows] answer in
                guard answer == 1 else { return }
                rows?.daemon?.call(\ScenesInterface.remove, name) { done($0.error) }
            }
        }
    }

    func show() {
        let look = rows.owner.look
        for cell in cells { cell.miniature.show(look.applying(cell.values), rows.pictures) }
    }
}
