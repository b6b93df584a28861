import Control
import DBusKit
import Frames
import GTK
import Glibc
import Platform
import ViewCore

/// The pictures taken, the newest first, after the live one.
final class PictureStrip {
    let widget: Revealer
    var onCommand: (ViewCore.Command) -> Void = { _ in }
    var onTrouble: (DBusError) -> Void = { _ in }
    var onOpen: (_ uri: String) -> Void = { _ in }
    /// Reports that something was removed. It calls the second closure when that is to be undone,
    /// and the third when it no longer can be.
    var onRemoval: (String, @escaping () -> Void, @escaping () -> Void) -> Void = { _, _, _ in }

    private final class Cell {
        let item: LibraryItem
        let button: Button
        let picture: Picture

        init(_ item: LibraryItem) {
            self.item = item
            picture = Picture()
            picture.request(width: 104, height: 78)
            let content = Overlay(picture.clip())
            if let length = item.length {
                content.add(Label(length).style("badge").place(.start, .end))
            }
            button = Button(content, item.words)
            button.style("cell")
        }
    }

    private let daemon: DaemonMirror?
    private let live = Picture()
    private let row = Box(spacing: 6)
    private let chosenWords = Label()
    private let open = ShortButton("document-open-symbolic", "Open")
    private let trash = ShortButton(icon("trash"), "Move to Trash")
    private var cells: [Cell] = []
    private var chosen: Cell?
    /// The removed pictures, by path, while that can be undone.
    private var removed: [String: LibraryItem] = [:]

    private static let count: UInt32 = 24

    init(_ daemon: DaemonMirror?) {
        self.daemon = daemon
        live.request(width: 139, height: 78)
        let content = Overlay(live.clip())
        content.add(Label("Live").style("badge").place(.start, .end))
        let shutter = Button(content, "Take a Photo").style("cell", "live")
        row.append(shutter)
        let words = Box(
            spacing: 8,
            [
                chosenWords.shortens().place(.start, .center).expand(true, false),
                open.button, trash.button,
            ]
        )
        let close = Button(icon: icon("close"), "Back to the Picture").style("flat")
        words.append(close)
        let column = Box(vertical: true, spacing: 6, [ScrolledWindow(sideways: row), words])
        widget = Revealer(column.style("strip"), seconds: 0.2)
        shutter.onClick { [unowned self] in onCommand(.photo) }
        close.onClick { [unowned self] in onCommand(.togglePictures) }
        open.button.onClick { [unowned self] in if let chosen { onOpen(chosen.item.uri) } }
        trash.button.onClick { [unowned self] in if let chosen { remove(chosen) } }
        choose(nil)
    }

    var isOpen: Bool {
        get { widget.isRevealed }
        set {
            widget.isRevealed = newValue
            if newValue { load() }
        }
    }

    /// Shows the stream's newest picture in the first cell.
    func show(_ paintable: Paintable) { if isOpen { live.show(paintable) } }

    /// Shows icons instead of words where `width` is too small for them.
    func fit(_ width: Int) {
        let isNarrow = Double(width) < Self.roomy * Widget.textScale
        for action in [open, trash] where action.isShort != isNarrow { action.isShort = isNarrow }
    }

    /// The width from which on there is room for words, with letters of the usual size.
    private static let roomy = 400.0

    func load() {
        guard isOpen, let daemon else { return }
        daemon.call(\LibraryInterface.list, (0, Self.count)) { [weak self] answer in
            switch answer {
            case .success(let (items, _)): self?.show(items.compactMap(LibraryItem.init))
            case .failure(let error): self?.onTrouble(error)
            }
        }
    }

    private func show(_ items: [LibraryItem]) {
        let items = items.filter { removed[$0.path] == nil }
        guard items != cells.map(\.item) else { return }
        let known = Dictionary(cells.map { ($0.item, $0) }) { first, _ in first }
        cells.forEach { row.remove($0.button) }
        cells = items.map { known[$0] ?? make($0) }
        cells.forEach { row.append($0.button) }
        // A photo whose movie came later is another item, and still the chosen one.
        let path = chosen?.item.path
        choose(cells.first { $0.item.path == path })
    }

    private func make(_ item: LibraryItem) -> Cell {
        let cell = Cell(item)
        cell.button.onClick { [unowned self, unowned cell] in
            if cell === chosen { onOpen(item.uri) } else { choose(cell) }
        }
        cell.button.allowDrag(of: [item.uri])
        // Without a thumbnail its words stay.
        daemon?.thumbnail(of: item.path) { [weak cell] in cell?.picture.show($0) }
        return cell
    }

    private func choose(_ cell: Cell?) {
        chosen = cell
        for each in cells { each.button.style("chosen", if: each === cell) }
        chosenWords.text = cell?.item.words ?? (cells.isEmpty ? "No pictures yet" : "")
        open.button.isSensitive = cell != nil
        trash.button.isSensitive = cell != nil
    }

    // MARK: Trash

    private func remove(_ cell: Cell) {
        let item = cell.item
        removed[item.path] = item
        show(cells.map(\.item))
        onRemoval(
            item.kind == .photo ? "Photo moved to the trash" : "Movie moved to the trash",
            { [weak self] in
                self?.removed[item.path] = nil
                self?.load()
            },
            { [weak self] in
                guard let self, removed.removeValue(forKey: item.path) != nil else { return }
                if !Self.takeAway(item) { onTrouble(.failed("This disk has no trash.")) }
                load()
            }
        )
    }

    private static func takeAway(_ item: LibraryItem) -> Bool {
        item.files.map(Trash.take).allSatisfy { $0 }
    }

    /// Moves to the trash what is still waiting for it, before the program ends.
    func finish() {
        for item in removed.values { _ = Self.takeAway(item) }
        removed = [:]
    }
}

extension LibraryItem {
    /// Reads an item of the daemon's list; `nil` if it is none.
    init?(_ values: [String: Value]) {
        guard let path = values["path"]?.string, let uri = values["uri"]?.string else { return nil }
        self.init(path: path, uri: uri, kind: values["kind"]?.string == "movie" ? .movie : .photo)
        seconds = values["seconds"]?.double
        movie = values["movie"]?.string
        camera = values["camera"]?.string ?? ""
        // "22 Nov 14:30"
        when = WallTime(microseconds: Int64(values["time"]?.integer ?? 0)).text("%e %b %H:%M")
    }
}

extension DaemonMirror {
    func thumbnail(of path: String, _ done: @escaping (Texture) -> Void) {
        call(\LibraryInterface.thumbnail, (path, 256)) { answer in
            guard case .success(let file) = answer, let bytes = file.contents(limit: 1 << 22),
                let texture = Pixels(file: bytes)?.texture(of: .unit)
            else { return }
            done(texture)
        }
    }
}
