import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import Glibc
import Platform
import ViewCore

/// The preferences; on the first start, the set-up.
///
/// All of it can be set elsewhere, too: by `dualcamctl` and in dualcam.toml.
///
/// - Context: bound to GTK's thread.
final class PreferencesWindow {
    let window: Window
    private unowned let owner: PictureWindow
    private var cameras: PerRole<CameraRows>
    private let exchange = Button("Swap the Cameras")
    private let layout = ChoiceRow("Layout", "How the two pictures are arranged")
    private let round = SwitchRow("Round Inset")
    private let tray = SwitchRow("Icon in the Tray", "From the next login on")
    private let opening = SwitchRow("Show the Window", "From the next login on")
    private let ticks = SwitchRow("Sound of Dials")
    private let keys = Row("Keys in Other Programs")
    private let chooseKeys = Button("Choose Keys…")
    private let doctor = DoctorGroup()
    private let toasts: ToastOverlay
    private var following: MainLoop.Timer?
    /// Live pictures of the cameras in use as neither; `nil` after the first start.
    private var previews: PreviewPictures?
    /// `true` once the first button had the keyboard.
    private var hasBegun = false

    /// The rows of one camera.
    private struct CameraRows {
        let picture = Picture()
        let device: ChoiceRow
        let rotation: ChoiceRow
        let mirror: SwitchRow
        /// The cameras in use as neither, for a click.
        let others: GTK.Row
        let strip = Box(spacing: 6)
        var cells: [Cell] = []
        let group: PreferencesGroup

        init(_ role: Role) {
            let isFront = role == .front
            device = ChoiceRow(
                isFront ? "Front Camera" : "Back Camera",
                isFront ? "The one that shows you" : "The one that shows what you see"
            )
            rotation = ChoiceRow("Mounting")
            mirror = SwitchRow(
                "Mirrored",
                isFront
                    ? "Others see it mirrored, too. Turn this off to show paper or a board" : ""
            )
            picture.request(width: 128, height: 72)
            picture.style("choice").clip()
            let shown = Row("Live Picture", before: [], after: [picture])
            others = Row(
                "Other Cameras",
                isFront ? "Click the one that shows you" : "Click the one that shows what you see",
                after: [ScrolledWindow(sideways: strip.place(.end, .center))]
            )
            others.isVisible = false
            group = PreferencesGroup("", "", [device, shown, others, rotation, mirror])
        }
    }

    /// A camera that is in use as neither, as a picture to click.
    private struct Cell {
        let option: DeviceChoice.Option
        let picture = Picture()
        let button: Button

        init(_ option: DeviceChoice.Option) {
            self.option = option
            picture.request(width: 112, height: 63)
            let words = Label(option.name).shortens()
            words.request(width: 112, height: 0)
            button = Button(Box(vertical: true, spacing: 2, [picture.clip(), words]), option.name)
            button.style("flat", "choice")
        }
    }

    /// The ways in which a camera can be mounted: degrees clockwise, and words.
    private static let rotations: [(UInt32, String)] = [
        (0, "Upright"), (90, "Turned to the Right"), (180, "Upside Down"),
        (270, "Turned to the Left"),
    ]

    init(over owner: PictureWindow, isFirst: Bool, closed: @escaping () -> Void) {
        self.owner = owner
        cameras = PerRole(CameraRows.init)
        let done = Button("Done")
        let title = isFirst ? "Set Up DualCam" : "Preferences"
        let first = PreferencesGroup(
            isFirst ? "Which camera is which?" : "Cameras",
            "One shows you, the other what you see. You can also choose each of them below."
        )
        // A row would leave its words no room beside large ones on the button.
        first.append(exchange.wraps())
        let page = PreferencesPage([
            first, cameras.front.group, cameras.back.group,
            PreferencesGroup("Picture", "", [layout, round]),
            PreferencesGroup("At Login", "", [tray, opening]),
            PreferencesGroup("Controls", "", [ticks, keys]), doctor.group,
        ])
        toasts = ToastOverlay(page.expand())
        window = Window(
            owner.application,
            title: title,
            size: Size(width: 480, height: 640),
            Box(
                vertical: true,
                [HeaderBar([], [done.style("suggested-action")]), toasts]
            )
        )
        window.belongs(to: self)
        window.setParent(owner.window)
        window.onClose { [unowned self, unowned owner] in
            following?.cancel()
            previews = nil
            owner.settings.settings.isSetUp = true
            closed()
            return false
        }
        doctor.onResult = { [unowned self] in toasts.show($0) }
        done.onClick { [unowned self] in window.close() }
        window.closesOnKey()
        // Later, opening all cameras at once would be a surprise.
        if isFirst { previews = owner.daemon.flatMap { try? PreviewPictures($0) } }
        attachCameras()
        attachRest()
        follow()
        window.present()
        follow()
        showPictures()
        following = MainLoop.Timer(every: 0.1) { [unowned self] in showPictures() }
    }

    // MARK: Cameras

    private func attachCameras() {
        exchange.onClick { [unowned self] in
            guard let (back, front) = exchangeable else { return }
            use(back, as: .front) { [unowned self] in use(front, as: .back) }
        }
        for role in Role.allCases {
            let rows = cameras[role]
            rows.device.onChoice { [unowned self] index in
                let options = choice(of: role).options
                if options.indices.contains(index) { use(options[index].device, as: role) }
            }
            rows.rotation.onChoice { [unowned self] index in
                set(\CameraInterface.rotation, at: role.path, to: Self.rotations[index].0)
            }
            rows.mirror.onToggle { [unowned self] isOn in
                set(\CameraInterface.mirror, at: role.path, to: isOn)
            }
        }
    }

    private var exchangeable: (back: String, front: String)? {
        func present(_ role: Role) -> String {
            let choice = choice(of: role)
            return choice.options[choice.present].device
        }
        let (back, front) = (present(.back), present(.front))
        guard back != front, ![back, front].contains(where: { ["", "auto"].contains($0) }) else {
            return nil
        }
        return (back, front)
    }

    private func use(_ device: String, as role: Role, then next: @escaping () -> Void = {}) {
        owner.daemon?.call(\CameraInterface.use, at: role.path, device) { [weak self] answer in
            guard let self else { return }
            switch answer {
            case .success: next()
            case .failure(let error): toasts.show(PictureWindow.words(error))
            }
            // What was turned shows again what is.
            follow()
        }
    }

    private func set<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        at path: ObjectPath = DualCam.path,
        to value: Content
    ) {
        owner.daemon?.set(property, at: path, to: value) { [weak self] error in
            guard let self, let error else { return }
            toasts.show(PictureWindow.words(error))
            follow()
        }
    }

    private func choice(of role: Role) -> DeviceChoice {
        let daemon = owner.daemon
        let found = daemon?[\StreamInterface.devices] ?? []
        // The modes of a camera that only PipeWire has may be unknown.
        let cameras = found.filter {
            $0["modes"]?.array?.isEmpty == false
                || $0["id"]?.string?.hasPrefix("pipewire:") == true
        }
        let devices = found.map { device in
            func text(_ key: String) -> String { device[key]?.string ?? "" }
            return (id: text("id"), name: text("name"), role: text("role"))
        }
        return DeviceChoice(
            role,
            source: daemon?[\CameraInterface.source, at: role.path] ?? "",
            name: daemon?[\CameraInterface.name, at: role.path] ?? "",
            devices: devices,
            isCamera: { id in cameras.contains { $0["id"]?.string == id } }
        )
    }

    /// Shows the cameras that are in use as neither, each in a strip for each role.
    private func showOthers() {
        guard previews != nil else { return }
        for role in Role.allCases {
            let others = choice(of: role).others
            cameras[role].others.isVisible = !others.isEmpty
            guard others != cameras[role].cells.map(\.option) else { continue }
            for cell in cameras[role].cells { cameras[role].strip.remove(cell.button) }
            cameras[role].cells = others.map { option in
                let cell = Cell(option)
                cell.button.onClick { [unowned self] in use(option.device, as: role) }
                return cell
            }
            for cell in cameras[role].cells { cameras[role].strip.append(cell.button) }
        }
    }

    /// Shows what the cameras see that are in use as neither, while they are visible.
    private func showPreviews() {
        guard let previews else { return }
        let isWatched = window.isMapped && !window.isMinimized && owner.daemon?.isPresent == true
        let devices = cameras.front.cells.map(\.option.device)
        previews.follow(isWatched ? devices : [])
        var newest: [String: Pixels] = [:]
        for device in devices { newest[device] = previews.take(device) }
        for role in Role.allCases {
            for cell in cameras[role].cells {
                if let pixels = newest[cell.option.device] {
                    cell.picture.show(cell.picture.paintable(of: pixels))
                } else if !previews.isLive(cell.option.device) {
                    // What stayed would pass for live, also while privacy is on.
                    cell.picture.show(nil)
                }
            }
        }
    }

    /// Shows what each camera sees: its part of the stream.
    private func showPictures() {
        showPreviews()
        guard let daemon = owner.daemon else { return }
        let main = daemon[\SceneInterface.main] ?? DualCam.backPath
        let areas = owner.areas
        for role in Role.allCases {
            let part = role.path == main ? areas.main : areas.other
            guard let pixels = owner.newest, let part else {
                cameras[role].picture.show(nil)
                continue
            }
            if let texture = pixels.texture(of: part) { cameras[role].picture.show(texture) }
        }
    }

    // MARK: The rest

    private func attachRest() {
        layout.onChoice { [unowned self] index in
            set(\SceneInterface.layout, to: Layout.allCases[index].rawValue)
        }
        round.onToggle { [unowned self] isOn in
            let shape = isOn ? InsetShape.circle : .rectangle
            set(\SceneInterface.insetShape, to: shape.rawValue)
        }
        tray.isOn = Autostart.tray?.isOn ?? false
        tray.onToggle { [unowned self] in start(.tray, $0) }
        opening.isOn = Autostart.window?.isOn ?? false
        opening.onToggle { [unowned self] in start(.window, $0) }
        ticks.isOn = owner.settings.settings.hasSoundOfTicks
        ticks.onToggle { [unowned self] isOn in
            owner.settings.settings.hasSoundOfTicks = isOn
            owner.feedback?.hasSound = isOn
        }
        keys.append(after: chooseKeys)
        chooseKeys.onClick { [unowned self] in pressKeys() }
        owner.keys?.onChange = { [weak self] in self?.followKeys() }
        followKeys()
    }

    private func start(_ entry: Autostart?, _ isOn: Bool) {
        do throws(SystemError) {
            try entry?.set(isOn)
        } catch {
            toasts.show("\(error)")
        }
    }

    private func pressKeys() {
        switch owner.keys?.state {
        case .impossible?, .unknown?, nil:
            owner.application.open("file:///usr/share/doc/dualcam/examples") { [weak self] in
                self?.toasts.show("The examples are not installed.")
            }
        case .on?:
            owner.settings.settings.hasGlobalKeys = false
            owner.keys?.end()
        case .off?, .refused?:
            owner.settings.settings.hasGlobalKeys = true
            owner.keys?.bind()
        }
    }

    private func followKeys() {
        switch owner.keys?.state {
        case .on(let shown)?:
            keys.words = shown.isEmpty ? "No key was chosen" : shown.joined(separator: "\n")
            chooseKeys.label = "Turn Off"
        case .off?:
            keys.words = "Swap, privacy, photo, record, next scene"
            chooseKeys.label = "Choose Keys…"
        case .refused?:
            keys.words = "The desktop did not allow it"
            chooseKeys.label = "Try Again"
        case .impossible?, .unknown?, nil:
            keys.words = "The desktop's own settings can give DualCam keys"
            chooseKeys.label = "Examples"
        }
    }

    func follow() {
        let daemon = owner.daemon
        let isPresent = daemon?.isPresent == true
        exchange.isSensitive = isPresent && exchangeable != nil
        if exchange.isSensitive, window.isMapped, !hasBegun {
            hasBegun = true
            exchange.grabFocus()
        }
        layout.isSensitive = isPresent
        round.isSensitive = isPresent
        round.isOn = owner.isInsetRound
        let present = daemon?[\SceneInterface.layout].flatMap(Layout.init) ?? .pip
        layout.show(
            Layout.allCases.map(\.title),
            chosen: Layout.allCases.firstIndex(of: present) ?? 0
        )
        for role in Role.allCases {
            let (rows, choice) = (cameras[role], choice(of: role))
            rows.group.isSensitive = isPresent
            rows.device.show(choice.options.map(\.name), chosen: choice.present)
            let degrees = daemon?[\CameraInterface.rotation, at: role.path] ?? 0
            rows.rotation.show(
                Self.rotations.map(\.1),
                chosen: Self.rotations.firstIndex { $0.0 == degrees } ?? 0
            )
            rows.mirror.isOn = daemon?[\CameraInterface.mirror, at: role.path] ?? false
        }
        showOthers()
    }
}
