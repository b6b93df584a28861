import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The set-up of the first start: which camera shows you, where you will use it, a first try.
final class SetUpWindow: SideWindow {
    private let pictures: CameraPictures
    private let toast = Toast()
    private let carousel: Carousel
    private let back = Button(icon: "go-previous-symbolic", "Back")
    private var following: MainLoop.Timer?

    private let question: SetUpPage
    private let tiles = FlowBox(most: 2, spacing: 16)
    private var cells: [Cell] = []
    /// `true` once a camera had the keyboard.
    private var hasBegun = false

    private let places = SetUpPage("Next")
    private let apps = PreferencesGroup("")
    private var ticks: [(check: DoctorReport.Check, row: SwitchRow)] = []

    private let trial = SetUpPage("Done")
    private let stream = Picture()
    private let floor = Fixed()
    private let inset = Button(Box(), "Swap the Pictures")

    /// A camera, as a picture to click.
    private final class Cell {
        let option: DeviceChoice.Option
        let tile = CameraTile(Size(width: 304, height: 171))
        let choose: ToggleButton
        let (turn, mirror): (Button, Button)
        let view = Button("Use as Your View").style("flat")
        let widget: Box

        init(_ option: DeviceChoice.Option) {
            self.option = option
            choose = ToggleButton(tile.widget, option.name)
            choose.style("flat", "pick-tile").place(.center, .start)
            func button(_ name: String, _ words: String) -> Button {
                let look = Box(spacing: 6, [Image(icon: icon(name)), Label(words)])
                return Button(look, "\(words) \(option.name)").style("flat")
            }
            (turn, mirror) = (button("restart", "Turn"), button("mirror", "Mirror"))
            let actions = Box(spacing: 8, [turn, mirror, view]).style("actions")
            actions.place(.center, .start)
            let name = Label(option.name).shortens().style("heading")
            widget = Box(vertical: true, spacing: 4, [choose, name, actions])
        }
    }

    init(over owner: PictureWindow) {
        pictures = CameraPictures(owner)
        let phone = Button("Add Phone…")
        phone.onClick { [unowned owner] in owner.show(PhoneWindow.init) }
        question = SetUpPage("Next", beside: phone)
        question.content.append(tiles)
        apps.place(.center, .start)
        apps.request(width: 480)
        places.content.append(apps)
        places.say("Where will you use it?", "DualCam sets up the apps you tick.")
        floor.add(inset.style("try-inset"))
        let over = Overlay(room: Size(width: 480, height: 270))
        over.style("tile-picture").clip().place(.center, .start)
        over.add(stream)
        over.add(floor)
        trial.content.append(over)
        trial.say("Click the small picture", "You and your view swap places.")
        carousel = Carousel([question.widget, places.widget, trial.widget])
        let close = Button(icon: icon("close"), "Close").style("circular")
        let bar = HeaderBar([back], [close], title: carousel.dots)
        super.init(
            over: owner,
            Window(
                owner.application,
                title: "Set Up DualCam",
                size: Size(width: 720, height: 520),
                Box(vertical: true, [bar.style("flat"), toast.over(carousel.expand())])
            )
        )
        close.onClick { [unowned self] in window.close() }
        back.onClick { [unowned self] in turn(to: carousel.index - 1) }
        question.next.onClick { [unowned self] in turn(to: 1) }
        places.next.onClick { [unowned self] in
            prepareApps()
            turn(to: 2)
        }
        trial.next.onClick { [unowned self] in window.close() }
        inset.onClick { [unowned self] in
            owner.perform(.swap)
            trial.say("That’s it", "Click it whenever you like.")
        }
        turn(to: 0)
        follow()
        window.present()
        follow()
        DoctorGroup.check { [weak self] in self?.show($0?.checks.filter(\.isApp) ?? []) }
        following = MainLoop.Timer(every: 0.1) { [unowned self] in show() }
    }

    override func closed() {
        following = nil
        pictures.update(isWatched: false)
        owner.settings.settings.isSetUp = true
    }

    private func turn(to page: Int) {
        carousel.show(page)
        back.isVisible = page > 0
        (page == 0 ? question : page == 1 ? places : trial).next.grabFocus()
    }

    private func done(_ error: DBusError?) {
        if let error { toast.show(PictureWindow.words(error)) }
        follow()
    }

    // MARK: Which camera

    override func follow() {
        let isPresent = owner.daemon?.isPresent == true
        var options: [DeviceChoice.Option] = []
        for role in [Role.front, .back] {
            let choice = owner.choice(of: role)
            let state = owner.daemon?[\CameraInterface.state, at: role.path] ?? "unavailable"
            let others = role == .front ? [] : choice.others
            options += (state == "unavailable" ? [] : [choice.chosen]) + others
        }
        showCells(options)
        let you = owner.choice(of: .front).chosen.device
        for cell in cells {
            let role = role(of: cell)
            cell.choose.isOn = cell.option.device == you
            for button in [cell.turn, cell.mirror] { button.isVisible = role != nil }
            cell.view.isVisible = role == nil
        }
        switch cells.count {
        case 0: question.say("No camera found", "Plug one in.")
        case 1:
            question.say(
                "One camera found",
                "It works on its own; a second one can show you as well."
            )
        default:
            question.say("Which camera shows you?", "Click your picture. The other is your view.")
        }
        question.next.isSensitive = isPresent && !cells.isEmpty
        guard isPresent, window.isMapped, !hasBegun,
            let other = cells.first(where: { !$0.choose.isOn })
        else { return }
        hasBegun = true
        other.choose.grabFocus()
    }

    /// Shows a cell for each of `options`. Those that were there before keep their places.
    private func showCells(_ options: [DeviceChoice.Option]) {
        guard Set(options) != Set(cells.map(\.option)) else { return }
        for cell in cells where !options.contains(cell.option) { tiles.remove(cell.widget) }
        cells.removeAll { !options.contains($0.option) }
        for option in options where !cells.contains(where: { $0.option == option }) {
            let cell = Cell(option)
            attach(cell)
            tiles.append(cell.widget)
            cells.append(cell)
        }
    }

    private func attach(_ cell: Cell) {
        cell.choose.onToggle { [unowned self, unowned cell] _ in
            switch role(of: cell) {
            case .front?: follow()
            case .back? where owner.exchangeable != nil:
                owner.exchangeCameras { [weak self] in self?.done($0) }
            default: owner.use(cell.option.device, as: .front) { [weak self] in self?.done($0) }
            }
        }
        cell.view.onClick { [unowned self, unowned cell] in
            owner.use(cell.option.device, as: .back) { [weak self] in self?.done($0) }
        }
        cell.turn.onClick { [unowned self, unowned cell] in
            if let role = role(of: cell) { owner.turn(role) { [weak self] in self?.done($0) } }
        }
        cell.mirror.onClick { [unowned self, unowned cell] in
            if let role = role(of: cell) { owner.mirror(role) { [weak self] in self?.done($0) } }
        }
    }

    private func role(of cell: Cell) -> Role? {
        Role.allCases.first { owner.choice(of: $0).chosen.device == cell.option.device }
    }

    private func show() {
        let isWatched = window.isMapped && !window.isMinimized
        let others = cells.filter { role(of: $0) == nil }.map(\.option.device)
        pictures.update(isWatched: isWatched, others: carousel.index == 0 ? others : [])
        for cell in cells {
            let picture = pictures[cell.option.device]
            cell.tile.show(role(of: cell)?.words ?? "", picture, isWaiting: true)
        }
        stream.show(owner.newest?.texture(of: .unit))
        let area = owner.areas.other
        inset.isVisible = area != nil
        guard let area else { return }
        let place = Rect(x: 0, y: 0, width: 480, height: 270).part(area)
        inset.request(width: Int(place.width), height: Int(place.height))
        floor.move(inset, x: place.x, y: place.y)
    }

    // MARK: Where

    private func show(_ checks: [DoctorReport.Check]) {
        ticks = checks.map { check in
            let row = SwitchRow(check.title, check.words)
            row.isOn = check.isWell == true || check.isFixable
            row.isSensitive = check.isFixable
            apps.append(row)
            return (check, row)
        }
        if checks.isEmpty {
            places.say(
                "Where will you use it?",
                "Choose DualCam where a program asks for a camera."
            )
        }
    }

    private func prepareApps() {
        let names = ticks.filter { $0.check.isFixable && $0.row.isOn }.map(\.check.name)
        guard !names.isEmpty else { return }
        let words = [DoctorGroup.program, "doctor", "--fix"] + names + ["--yes"]
        // What did not work is said in the preferences.
        Subprocess.run(words) { _, _ in }
    }
}

/// A page of the set-up: a title, a line, what it asks, and the button that goes on.
private final class SetUpPage {
    let widget: Box
    let content = Box(vertical: true)
    let next: Button
    private let title = Label("", wraps: true).style("title-1")
    private let line = Label("", wraps: true).style("dim-label")

    init(_ words: String, beside other: Button? = nil) {
        next = Button(words).style("suggested-action", "next")
        let buttons = Box(spacing: 12, [other?.style("next"), next].compactMap { $0 })
        buttons.place(.center, .end, margin: 24)
        content.place(.fill, .fill, margin: 16)
        let scrolled = ScrolledWindow(downwards: content).expand()
        widget = Box(vertical: true, spacing: 8, [title, line, scrolled, buttons])
        widget.expand()
    }

    func say(_ title: String, _ line: String) { (self.title.text, self.line.text) = (title, line) }
}
