import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The page of the cameras: what each sees, and how it takes its pictures.
///
/// - Context: bound to GTK's thread.
final class CamerasPage {
    let page: PreferencesPage
    private unowned let rows: PreferenceRows
    private let exchange = Button("Swap")
    private let phone = Button("Add Phone…")
    private var cameras: PerRole<Parts>

    /// The part of the page that belongs to one camera.
    private struct Parts {
        let tile: CameraTile
        let mirror = Button(icon: icon("mirror"), "Mirror")
        let turn = Button(icon: icon("restart"), "Turn")
        let device: ChoiceRow
        let lens = ChoiceRow("Lens")
        let reset = Button("Reset All").style("flat")
        let controls: PreferencesGroup
        /// The zoom, once its range is known.
        var zoom: SliderRow?
        /// The image controls, and their values by name.
        var sliders: [SliderRow] = []
        var values: [String: Int32] = [:]

        init(_ role: Role) {
            device = ChoiceRow(role == .front ? "Shows you" : "Shows your view")
            mirror.named("Mirror: \(role.words)")
            turn.named("Turn: \(role.words)")
            tile = CameraTile(Size(width: 256, height: 144), [mirror, turn])
            controls = PreferencesGroup("", "", after: reset)
            reset.isVisible = false
        }
    }

    init(_ rows: PreferenceRows) {
        let cameras = PerRole(Parts.init)
        (self.rows, self.cameras) = (rows, cameras)
        let tiles = FlowBox(most: 2, spacing: 16)
        exchange.place(.start, .start).setMargin(top: 12)
        let roles = [Role.front, .back]
        for role in roles { tiles.append(cameras[role].tile.widget) }
        let groups = [
            PreferencesGroup("", "", [tiles]),
            PreferencesGroup(
                "",
                "",
                roles.map { cameras[$0].device } + [Box(spacing: 8, [exchange, phone])]
            ),
        ]
        page = PreferencesPage(
            "Cameras",
            icon: icon("camera"),
            groups + roles.map { cameras[$0].controls }
        )
        exchange.onClick { [unowned rows] in rows.owner.exchangeCameras(rows.done) }
        phone.onClick { [unowned rows] in rows.owner.addPhone() }
        roles.forEach(attach)
        rows.bind { [unowned self] in follow() }
    }

    private func attach(_ role: Role) {
        let (parts, path, key) = (cameras[role], role.path, "cameras.\(role.rawValue)")
        let exposure = ValuePlace(name: "\(path) Compensation") {
            $0[\ControlsInterface.compensation, at: path].map { .double($0) }
        } set: { daemon, value, done in
            let stops = value.double ?? 0
            daemon.call(\ControlsInterface.setCompensation, at: path, stops) { done($0.error) }
        }
        let all = [
            rows.slider(
                "Exposure",
                exposure,
                CameraControls.compensations,
                step: 0.1,
                initial: 0,
                \.signed
            ),
            rows.row(
                "Flicker of lamps",
                key: "\(key).anti-flicker",
                names: ["By your region", "50 Hz", "60 Hz", "As the camera has it"]
            ),
            rows.row("Keep the rate in the dark", key: "\(key).hold-rate"), parts.lens,
        ]
        all.forEach(parts.controls.append)
        parts.mirror.onClick { [unowned rows] in rows.owner.mirror(role, rows.done) }
        parts.turn.onClick { [unowned rows] in rows.owner.turn(role, rows.done) }
        parts.device.onChoice { [unowned rows] index in
            let options = rows.owner.choice(of: role).options
            guard options.indices.contains(index) else { return }
            rows.owner.use(options[index].device, as: role, rows.done)
        }
        parts.reset.onClick { [unowned self] in cameras[role].sliders.forEach { $0.reset() } }
        parts.lens.onChoice { [unowned rows] index in
            let lenses = rows.daemon?[\CameraInterface.lenses, at: path] ?? []
            guard lenses.indices.contains(index) else { return }
            let name = lenses[index].first
            rows.daemon?.call(\CameraInterface.selectLens, at: path, name) { rows.done($0.error) }
        }
        rows.daemon?.call(\ControlsInterface.listRaw, at: path, ()) { [weak self] answer in
            guard let self, case .success(let list) = answer else { return }
            for (name, title) in Self.image {
                if let control = list.first(where: { $0.name == name }) {
                    add(control, title, role)
                }
            }
        }
    }

    private static let image = [
        ("brightness", "Brightness"), ("contrast", "Contrast"), ("saturation", "Saturation"),
        ("hue", "Hue"), ("sharpness", "Sharpness"), ("gamma", "Gamma"),
        ("backlight_compensation", "Backlight"), ("pan_absolute", "Pan"),
        ("tilt_absolute", "Tilt"),
    ]

    /// Adds the slider of an image control, which goes back to what its driver has at first.
    private func add(_ control: RawControl, _ title: String, _ role: Role) {
        let (name, path) = (control.name, role.path)
        cameras[role].values[name] = control.value
        rows.daemon?.call(\ControlsInterface.describeRaw, at: path, name) { [weak self] answer in
            guard let self, case .success(let facts) = answer else { return }
            let place = ValuePlace(name: "\(path) \(name)") { [unowned self] _ in
                cameras[role].values[name].map { .double(Double($0)) }
            } set: { daemon, value, done in
                let wanted = Int32(value.double ?? 0)
                daemon.call(\ControlsInterface.setRaw, at: path, (name, wanted)) {
                    [weak self] answer in
                    if answer.error == nil { self?.cameras[role].values[name] = wanted }
                    done(answer.error)
                }
            }
            let row = rows.slider(
                title,
                place,
                Double(control.minimum)...Double(max(control.minimum, control.maximum)),
                step: Double(max(1, control.step)),
                initial: facts["default"]?.integer.map(Double.init),
                control.minimum < 0 ? \.signed : { "\(Int($0))" }
            )
            cameras[role].controls.append(row)
            cameras[role].sliders.append(row)
            cameras[role].reset.isVisible = true
            rows.follow()
        }
    }

    private func follow() {
        exchange.isSensitive = rows.owner.exchangeable != nil
        for role in Role.allCases {
            let (parts, choice) = (cameras[role], rows.owner.choice(of: role))
            parts.device.show(choice.options.map(\.name), chosen: choice.present)
            parts.controls.title = choice.options[choice.present].name
            for widget in [parts.device, parts.mirror, parts.turn] {
                widget.isSensitive = rows.isPresent
            }
            followLens(role)
        }
    }

    private func followLens(_ role: Role) {
        let (daemon, path, lens) = (rows.daemon, role.path, cameras[role].lens)
        let names = (daemon?[\CameraInterface.lenses, at: path] ?? []).map(\.first)
        let present = daemon?[\CameraInterface.lens, at: path] ?? ""
        lens.isVisible = names.count > 1
        lens.show(
            names.map { $0.replacing("-", with: " ").capitalizedFirst },
            chosen: names.firstIndex(of: present) ?? 0
        )
        guard cameras[role].zoom == nil, let range = daemon?[\CameraInterface.zoomRange, at: path],
            range.second > range.first
        else { return }
        let place = ValuePlace(name: "\(path) Zoom") {
            $0[\CameraInterface.zoom, at: path].map { .double($0) }
        } set: { daemon, value, done in
            let zoom = value.double ?? 1
            daemon.call(\CameraInterface.setZoom, at: path, zoom) { done($0.error) }
        }
        let row = rows.slider("Zoom", place, range.first...range.second, step: 0.1, initial: 1) {
            "\(($0 * 10).rounded() / 10)×"
        }
        cameras[role].zoom = row
        cameras[role].controls.append(row)
    }

    /// Shows what the cameras see now.
    func show() {
        for role in Role.allCases {
            let isOpening = rows.daemon?[\CameraInterface.state, at: role.path] == "opening"
            cameras[role].tile.show(role.words, rows.pictures[role], isWaiting: isOpening)
        }
    }
}

extension Double {
    /// The number with its sign: "+0.3", "−12".
    fileprivate var signed: String {
        let number = (self * 10).rounded() / 10
        let text = number == number.rounded() ? "\(Int(abs(number)))" : "\(abs(number))"
        return number == 0 ? "0" : (number < 0 ? "−" : "+") + text
    }
}
