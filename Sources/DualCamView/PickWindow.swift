import Control
import DBusKit
import Frames
import GTK
import Platform
import ViewCore

/// A window in which people choose among the pictures taken, or take one.
final class PickWindow {
    /// The types that may be chosen.
    struct Wish {
        var isMultiple = false
        /// Only this kind; `nil` for any.
        var kind: LibraryItem.Kind?

        var title: String {
            switch kind {
            case .movie: isMultiple ? "Choose Videos" : "Choose a Video"
            default: isMultiple ? "Choose Pictures" : "Choose a Picture"
            }
        }
    }

    private let window: Window
    private let daemon: DaemonMirror
    private let wish: Wish
    private let grid = FlowBox().place(.fill, .start, margin: 12)
    private let message = Label("", wraps: true)
    private let take = Button(icon: icon("photo"), "Take a Photo")
    private let choose = Button("Choose")
    private let toast = Toast()
    private let done: ([String]) -> Void
    private var items: [LibraryItem] = []
    private var buttons: [ToggleButton] = []
    private var chosen: [String] = []
    private var isDone = false
    private var loads = 0

    /// Shows the window. `done` is called once, with the paths chosen; none if people chose none.
    init(
        _ application: Application,
        _ daemon: DaemonMirror,
        _ wish: Wish,
        done: @escaping ([String]) -> Void
    ) {
        self.daemon = daemon
        self.wish = wish
        self.done = done
        let short = ShortButton("window-close-symbolic", "Cancel")
        // A phone has no room for more large words beside the title.
        short.isShort = Widget.textScale > 1.3
        let cancel = short.button
        let header = HeaderBar([cancel, take], [choose.shortens().style("suggested-action")])
        message.style("dim-label").place(.center, .center, margin: 24)
        let column = Box(
            vertical: true,
            [header, message, ScrolledWindow(downwards: grid).expand()]
        )
        window = Window(
            application,
            title: wish.title,
            size: Size(width: 640, height: 480),
            toast.over(column)
        )
        window.belongs(to: self)
        take.isVisible = wish.kind != .movie
        take.onClick { [unowned self] in takePhoto() }
        cancel.onClick { [unowned self] in window.close() }
        choose.onClick { [unowned self] in finish(chosen) }
        choose.isSensitive = false
        window.onClose { [unowned self] in
            finish([])
            return false
        }
        window.closesOnKey()
        daemon.onChange = { [weak self] in self?.follow() }
        daemon.onSignal = { [weak self] in if $0.member == "Changed" { self?.load() } }
        window.present()
        follow()
    }

    /// Keeps the window above one of another program, named as portals name it.
    func setParent(handle: String) { window.setParent(handle: handle) }

    private func follow() {
        if items.isEmpty, daemon.isPresent == true { load() }
        take.isSensitive = daemon.isPresent == true
        guard daemon.isPresent == false else { return }
        message.text = "DualCam is not running"
        message.isVisible = true
    }

    /// The number of pictures offered, and how many the daemon is asked for at once.
    private static let (count, page) = (60, UInt32(60))

    private func load() {
        loads += 1
        load(from: 0, after: [], loads)
    }

    /// Reads the list from `offset` on, until there is enough of the kind that is wanted.
    private func load(from offset: UInt32, after found: [LibraryItem], _ number: Int) {
        daemon.call(\LibraryInterface.list, (offset, Self.page)) { [weak self] answer in
            // A newer reading begins anew.
            guard let self, number == loads else { return }
            switch answer {
            case .success(let (items, total)):
                let found =
                    found
                    + items.compactMap(LibraryItem.init).filter {
                        wish.kind == nil || $0.kind == wish.kind
                    }
                let next = offset + Self.page
                if found.count < Self.count, next < total, !items.isEmpty {
                    load(from: next, after: found, number)
                } else {
                    show(Array(found.prefix(Self.count)))
                }
            case .failure(let error): toast.show(PictureWindow.words(error))
            }
        }
    }

    private func show(_ shown: [LibraryItem]) {
        message.isVisible = shown.isEmpty
        message.text = "There are no pictures yet"
        guard shown != items else { return }
        items = shown
        buttons.forEach(grid.remove)
        buttons = shown.map(make)
        buttons.forEach { grid.append($0) }
        mark()
    }

    private func make(_ item: LibraryItem) -> ToggleButton {
        let picture = Picture()
        picture.request(width: 140, height: 105)
        // As wide as the picture, whatever it says.
        let words = Label(item.words).shortens()
        words.request(width: 140)
        let button = ToggleButton(
            Box(vertical: true, spacing: 4, [picture.clip(), words.place(.fill, .center)]),
            item.words
        )
        button.style("choice").place(.center, .start)
        button.onToggle { [unowned self] isOn in
            if !wish.isMultiple { chosen = [] }
            chosen.removeAll { $0 == item.path }
            if isOn { chosen.append(item.path) }
            mark()
        }
        daemon.thumbnail(of: item.path) { picture.show($0) }
        return button
    }

    private func mark() {
        for (item, button) in zip(items, buttons) { button.isOn = chosen.contains(item.path) }
        choose.isSensitive = !chosen.isEmpty
    }

    private func takePhoto() {
        var options = Options<CaptureInterface.Photo>()
        options.of = ["stream"]
        daemon.call(\CaptureInterface.takePhoto, (), options: options, within: 30) {
            [weak self] answer in
            guard let self else { return }
            switch answer {
            case .success(let photos):
                if !wish.isMultiple { chosen = [] }
                chosen += photos.compactMap { $0["path"]?.string }
                mark()
                load()
            case .failure(let error): toast.show(PictureWindow.words(error))
            }
        }
    }

    private func finish(_ paths: [String]) {
        guard !isDone else { return }
        isDone = true
        done(paths)
        window.close()
    }
}
