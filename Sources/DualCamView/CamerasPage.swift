import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The page of the cameras: what each sees, and how it takes its pictures.
final class CamerasPage {
    let page: PreferencesPage
    private unowned let rows: PreferenceRows
    private let exchange = Button("Swap")
    private let phone = Button("Add Phone…")
    private let network = Button("Add Network Camera…")
    private var cameras: PerRole<Parts>

    /// The part of the page that belongs to one camera.
    private struct Parts {
        let tile: CameraTile
        let mirror = Button(icon: icon("mirror"), "Mirror")
        let turn = Button(icon: icon("restart"), "Turn")
        let device, lens: ChoiceRow
        let rooms: RoomTiles
        let forget = Button("Forget This Phone").style("flat")
        let reset = Button("Reset All").style("flat")
        let controls: PreferencesGroup
        /// The source and the name of the camera whose controls were asked for last.
        var asked: [String] = []
        /// The zoom, while the camera has one.
        var zoom: (range: ClosedRange<Double>, row: SliderRow)?
        /// The image controls of the camera, and a row for each.
        var image: [ImageFacts] = []
        var sliders: [SliderRow] = []

        init(_ role: Role, _ rows: PreferenceRows) {
            rooms = RoomTiles(role, rows)
            let path = role.path
            let camera = ValuePlace("\(path) Device") { [unowned rows] _ in
                .string(rows.owner.choice(of: role).chosen.device)
            } set: { [unowned rows] _, value, done in
                rows.owner.use(value.string ?? "", as: role, done)
            }
            let title = role == .front ? "Shows you" : "Shows your view"
            device = rows.choice(title, camera) { [unowned rows] in
                rows.owner.choice(of: role).options.map { (.text($0.device), $0.name) }
            }
            let chosen = ValuePlace("\(path) Lens") {
                $0[\CameraInterface.lens, at: path].map { .string($0) }
            } set: { daemon, value, done in
                let name = value.string ?? ""
                daemon.call(\CameraInterface.selectLens, at: path, name) { done($0.error) }
            }
            lens = rows.choice("Lens", chosen) { [unowned rows] in
                (rows.daemon?[\CameraInterface.lenses, at: path] ?? []).map {
                    (.text($0.first), $0.first.replacing("-", with: " ").capitalizedFirst)
                }
            }
            mirror.named("Mirror: \(role.words)")
            turn.named("Turn: \(role.words)")
            tile = CameraTile(Size(width: 256, height: 144), [mirror, turn])
            controls = PreferencesGroup(after: Box(spacing: 8, [forget, reset]))
            reset.isVisible = false
        }
    }

    /// An image control, but for its value.
    private struct ImageFacts: Hashable {
        let name: String
        let minimum, maximum, step, initial: Int

        init?(_ listed: [String: Value]) {
            guard let name = listed["name"]?.string, let minimum = listed["minimum"]?.integer,
                let maximum = listed["maximum"]?.integer, let step = listed["step"]?.integer,
                let initial = listed["default"]?.integer, minimum <= maximum
            else { return nil }
            (self.name, self.minimum, self.maximum) = (name, minimum, maximum)
            (self.step, self.initial) = (max(1, step), initial)
        }
    }

    init(_ rows: PreferenceRows) {
        let cameras = PerRole { Parts($0, rows) }
        (self.rows, self.cameras) = (rows, cameras)
        let tiles = FlowBox(most: 2, spacing: 16)
        let actions = Box(spacing: 8, [exchange, phone, network])
        actions.setMargins(top: 12)
        let roles = [Role.front, .back]
        for role in roles { tiles.append(cameras[role].tile.widget) }
        let groups = [
            PreferencesGroup("", [tiles]),
            PreferencesGroup("", roles.map { cameras[$0].device } + [actions]),
        ]
        page = PreferencesPage(
            "Cameras",
            icon: icon("camera"),
            groups + roles.map { cameras[$0].rooms.group } + roles.map { cameras[$0].controls }
        )
        exchange.onClick { [unowned rows] in rows.owner.exchangeCameras(rows.answered) }
        phone.onClick { [unowned rows] in rows.owner.show(PhoneWindow.init) }
        network.onClick { [unowned rows] in rows.owner.show(NetworkWindow.init) }
        roles.forEach(attach)
        rows.bind { [unowned self] in follow() }
    }

    private func attach(_ role: Role) {
        let (parts, path, key) = (cameras[role], role.path, "cameras.\(role.rawValue)")
        let exposure = ValuePlace("\(path) Compensation") {
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
                "Flicker from lights",
                .key("\(key).anti-flicker"),
                names: ["By your region", "50 Hz", "60 Hz", "Camera default"]
            ),
            rows.row("Keep the frame rate in low light", .key("\(key).hold-rate")),
            rows.row(
                "Light for",
                .key("\(key).metering"),
                names: ["All of the picture", "Your face"]
            ),
            rows.row("Follow you", .key("\(key).framing"), names: ["Off", "Calmly"]),
            rows.row("How close", .key("\(key).framing-tightness")), parts.lens,
        ]
        all.forEach(parts.controls.append)
        parts.mirror.onClick { [unowned rows] in rows.owner.mirror(role, rows.answered) }
        parts.turn.onClick { [unowned rows] in rows.owner.turn(role, rows.answered) }
        parts.forget.onClick { [unowned rows] in
            rows.owner.forgetPhone(of: role, rows.answered)
        }
        parts.reset.onClick { [unowned self] in cameras[role].sliders.forEach { $0.reset() } }
    }

    private func follow() {
        exchange.isSensitive = rows.owner.exchangeable != nil
        for role in Role.allCases {
            let parts = cameras[role]
            parts.controls.title = rows.owner.choice(of: role).chosen.name
            for button in [parts.mirror, parts.turn] { button.isSensitive = rows.isPresent }
            let lenses = rows.daemon?[\CameraInterface.lenses, at: role.path] ?? []
            parts.lens.isVisible = lenses.count > 1
            parts.forget.isVisible = rows.owner.phone(of: role) != nil
            followZoom(role)
            askForImage(of: role)
            followImage(role)
        }
    }

    private func followZoom(_ role: Role) {
        let (path, controls) = (role.path, cameras[role].controls)
        let range = rows.daemon?[\CameraInterface.zoomRange, at: path].flatMap {
            $0.first < $0.second ? $0.first...$0.second : nil
        }
        guard range != cameras[role].zoom?.range else { return }
        remove(cameras[role].zoom.map { [$0.row] } ?? [], from: controls)
        cameras[role].zoom = nil
        guard let range else { return }
        let place = ValuePlace("\(path) Zoom") {
            $0[\CameraInterface.zoom, at: path].map { .double($0) }
        } set: { daemon, value, done in
            let zoom = value.double ?? 1
            daemon.call(\CameraInterface.setZoom, at: path, zoom) { done($0.error) }
        }
        let row = rows.slider("Zoom", place, range, step: 0.1, initial: 1) {
            "\(($0 * 10).rounded() / 10)×"
        }
        cameras[role].zoom = (range, row)
        controls.append(row)
        rows.follow()
    }

    /// Lets the daemon read the controls of a camera that is new in its role.
    private func askForImage(of role: Role) {
        guard let daemon = rows.daemon else { return }
        let properties = [\CameraInterface.source, \CameraInterface.name]
        let camera = rows.isPresent ? properties.map { daemon[$0, at: role.path] ?? "" } : []
        guard camera != cameras[role].asked else { return }
        cameras[role].asked = camera
        if !camera.isEmpty { daemon.call(\ControlsInterface.listRaw, at: role.path, ()) }
    }

    private func followImage(_ role: Role) {
        let (path, controls) = (role.path, cameras[role].controls)
        let listed = rows.daemon?[\ControlsInterface.image, at: path] ?? []
        let image = listed.compactMap(ImageFacts.init)
        guard image != cameras[role].image else { return }
        remove(cameras[role].sliders, from: controls)
        cameras[role].image = image
        cameras[role].sliders = image.map { facts in
            let row = slider(facts, at: path)
            // One that has no effect now cannot be moved, and shows what it has all the same.
            row.value = Self.control(facts.name, in: listed).map { Double($0.value) } ?? 0
            controls.append(row)
            return row
        }
        cameras[role].reset.isVisible = !image.isEmpty
        rows.follow()
    }

    /// Returns the row of an image control, which goes back to what its driver has at first.
    private func slider(_ facts: ImageFacts, at path: ObjectPath) -> SliderRow {
        let name = facts.name
        let place = ValuePlace("\(path) \(name)") { daemon in
            let control = Self.control(name, in: daemon[\ControlsInterface.image, at: path] ?? [])
            return control.flatMap { $0.isActive ? .double(Double($0.value)) : nil }
        } set: { daemon, value, done in
            // The range is what the daemon says.
            guard let wanted = Int32(exactly: (value.double ?? 0).rounded(.towardZero)) else {
                return done(nil)
            }
            daemon.call(\ControlsInterface.setImage, at: path, (name, wanted)) { done($0.error) }
        }
        return rows.slider(
            name.capitalizedFirst,
            place,
            Double(facts.minimum)...Double(facts.maximum),
            step: Double(facts.step),
            initial: Double(facts.initial),
            facts.minimum < 0 ? \.signed : { "\(Int($0))" }
        )
    }

    private static func control(
        _ name: String,
        in listed: [[String: Value]]
    ) -> (value: Int, isActive: Bool)? {
        guard let control = listed.first(where: { $0["name"]?.string == name }),
            let value = control["value"]?.integer
        else { return nil }
        return (value, (control["flags"]?.integer ?? 0) & 16 == 0)
    }

    private func remove(_ old: [SliderRow], from group: PreferencesGroup) {
        rows.unbind(old)
        old.forEach(group.remove)
    }

    func show() {
        for role in Role.allCases {
            let isOpening = rows.daemon?[\CameraInterface.state, at: role.path] == "opening"
            cameras[role].tile.show(role.words, rows.pictures[role], isWaiting: isOpening)
            cameras[role].rooms.show()
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
