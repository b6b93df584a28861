import Frames
import TOMLKit

/// The state kept over a restart, if the user wants that: what was set by commands and is not as
/// configured, the swap, Pro mode, and the values of each camera, by identity.
package struct SavedState: Hashable, Sendable {
    /// `true` if front is the main picture.
    package var isSwapped = false
    /// The settings of the scene.
    package var scene = SavedScene()
    /// The configured values of it, where something was set. Once the configuration has others,
    /// they count.
    package var configured = SavedScene()
    /// The orientation set by the user; `nil`: that of the sensor.
    package var orientation: DeviceOrientation?
    /// `true` if Pro mode is on.
    package var isPro = false
    /// The dial in use.
    package var dial = Dial.iso
    /// The manual values by the cameras' identity, unless all are automatic.
    package var manualControls: [String: ManualControls] = [:]
    /// The magnifications by the cameras' identity, unless 1.
    package var zooms: [String: Double] = [:]
    /// The mountings by the cameras' identity, unless as configured.
    package var mountings: [String: Kept<Mounting>] = [:]
    /// `true` or `false` by the cameras' identity, where their pictures are graded for paper, or
    /// not, otherwise than configured.
    package var inks: [String: Kept<Bool>] = [:]
    /// The perspectives by the cameras' identity, unless as configured: corners in the picture as
    /// the camera delivers it.
    package var perspectives: [String: Kept<Perspective?>] = [:]
    /// The title; `nil`: none.
    package var title: Title?
    /// The corner of the title.
    package var titleCorner = Corner.bottomLeft

    /// The part of `state` to keep.
    package init(_ state: State) {
        isSwapped = state.scene.isSwapped
        for setting in SavedSetting.all { setting.keep(state, &self) }
        orientation = state.orientation.mode
        isPro = state.pro.isEnabled
        dial = state.pro.dial
        manualControls = state.manualControls
        zooms = state.zooms
        title = state.title
        titleCorner = state.titleCorner
        mountings = state.mountings
        inks = state.inks
        perspectives = state.perspectives
        for role in Role.allCases where !state.cameras[role].identity.isEmpty {
            let camera = state.cameras[role]
            manualControls[camera.identity] = camera.controls.manual
            zooms[camera.identity] = camera.lens.isZoomAsked ? camera.lens.zoom : nil
            mountings[camera.identity] = Kept(
                value: camera.mounting,
                configured: state.configured.mountings[role]
            )
            inks[camera.identity] = Kept(
                value: camera.isInk,
                configured: state.configured.inks[role]
            )
            perspectives[camera.identity] = Kept(
                value: state.scene.perspectives[role].goal,
                configured: state.configured.deliveredPerspective(of: role)
            )
        }
        // What automatic has found holds for the light of the moment.
        manualControls = manualControls.mapValues { manual in
            var manual = manual
            manual.lock = ControlLock()
            return manual
        }
        manualControls = manualControls.filter { !$0.value.isAutomatic }
        zooms = zooms.filter { $0.value != 1 }
        mountings = mountings.filter(\.value.isChange)
        inks = inks.filter(\.value.isChange)
        perspectives = perspectives.filter(\.value.isChange)
    }

    /// Restores `state`, before anything has started; which picture is the main one only if
    /// `swapping`.
    package func restore(_ state: inout State, swapping: Bool = true) {
        for setting in SavedSetting.all { setting.restore(self, &state) }
        if swapping { state.scene.setSwapped(isSwapped, at: .zero, instantly: true) }
        state.orientation.mode = orientation
        state.pro.isEnabled = isPro
        state.pro.dial = dial
        state.manualControls = manualControls
        state.zooms = zooms
        state.mountings = mountings
        state.inks = inks
        state.perspectives = perspectives
        state.title = title
        state.titleCorner = titleCorner
    }

    // MARK: As a file

    /// The text form that `init(parsing:)` reads: TOML.
    package var text: String {
        var lines = [
            "# What DualCam remembers; it writes this file itself.", "swapped = \(isSwapped)",
            "pro = \(isPro)", "dial = \"\(dial.rawValue)\"",
        ]
        if let orientation { lines.append("orientation = \"\(orientation.rawValue)\"") }
        if let title { lines.append("title = \(ValueForm.title.text(title))") }
        if titleCorner != .bottomLeft {
            lines.append("title-corner = \"\(titleCorner.rawValue)\"")
        }
        lines += scene.lines
        let before = configured.lines
        if !before.isEmpty { lines += ["", "[configured]"] + before }
        let identities = Set(manualControls.keys).union(zooms.keys).union(mountings.keys)
            .union(inks.keys).union(perspectives.keys)
        for identity in identities.sorted() {
            let name = quoted(identity)
            // A longer line could not be read back.
            guard name.utf8.count < 4000 else { continue }
            lines += ["", "[cameras.\(name)]"]
            if let kept = mountings[identity] {
                lines += [
                    "mirror = \(kept.value.mirror)", "rotation = \(kept.value.rotation)",
                    "configured-mirror = \(kept.configured.mirror)",
                    "configured-rotation = \(kept.configured.rotation)",
                ]
            }
            if let kept = inks[identity] {
                lines += ["ink = \(kept.value)", "configured-ink = \(kept.configured)"]
            }
            if let kept = perspectives[identity] {
                let form = ValueForm<Perspective?>.corners
                lines += [
                    "perspective = \(form.text(kept.value))",
                    "configured-perspective = \(form.text(kept.configured))",
                ]
            }
            if let zoom = zooms[identity] { lines.append("zoom = \(zoom)") }
            lines += Self.lines(of: manualControls[identity] ?? ManualControls())
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(of manual: ManualControls) -> [String] {
        var lines: [String] = []
        if let iso = manual.iso { lines.append("iso = \(iso)") }
        if let shutter = manual.shutter { lines.append("shutter = \(shutter)") }
        if manual.holdsShutter { lines.append("holds-shutter = true") }
        if let focus = manual.focus { lines.append("focus = \(focus)") }
        switch manual.whiteBalance {
        case .auto: break
        case .preset(let preset): lines.append("white-balance = \"\(preset.rawValue)\"")
        case .kelvin(let kelvin): lines.append("white-balance = \(kelvin)")
        }
        if manual.compensation != 0 { lines.append("compensation = \(manual.compensation)") }
        return lines
    }

    /// Parses `text`, the content of `file`; missing or invalid values keep their defaults.
    ///
    /// - Throws: `ConfigurationError` if it is no TOML, or too long.
    package init(
        parsing text: String,
        file: String = "state.toml"
    ) throws(ConfigurationError) {
        let root = try parseTOML(text, file: file).root
        func word<Choice: RawRepresentable<String>>(_ key: String) -> Choice? {
            root[key]?.string.flatMap(Choice.init(rawValue:))
        }
        isSwapped = root["swapped"]?.bool ?? isSwapped
        scene = SavedScene(root)
        if let table = root["configured"]?.table { configured = SavedScene(table) }
        orientation = word("orientation")
        isPro = root["pro"]?.bool ?? isPro
        dial = word("dial") ?? dial
        title = root["title"].flatMap { try? ValueForm.title.read($0) } ?? nil
        titleCorner = word("title-corner") ?? titleCorner
        guard let cameras = root["cameras"]?.table else { return }
        for identity in cameras.keys {
            guard let table = cameras[identity]?.table else { continue }
            var manual = ManualControls()
            manual.iso = table["iso"]?.int.flatMap { (1...1_000_000).contains($0) ? $0 : nil }
            manual.shutter = table["shutter"]?.int.flatMap { (1...1 << 40).contains($0) ? $0 : nil }
            manual.holdsShutter = table["holds-shutter"]?.bool ?? false
            manual.focus = (table["focus"]?.double).flatMap { (0...1).contains($0) ? $0 : nil }
            if let word = table["white-balance"]?.string {
                manual.whiteBalance = WhiteBalance(word: word) ?? .auto
            } else if let kelvin = table["white-balance"]?.int, Stops.kelvin.contains(kelvin) {
                manual.whiteBalance = .kelvin(kelvin)
            }
            let stops = table["compensation"]?.double ?? 0
            if (-2...2).contains(stops) { manual.compensation = stops }
            if !manual.isAutomatic { manualControls[identity] = manual }
            if let zoom = table["zoom"]?.double, (0.1...100).contains(zoom) {
                zooms[identity] = zoom
            }
            if let mounting = Self.mounting("", in: table),
                let configured = Self.mounting("configured-", in: table), mounting != configured
            {
                mountings[identity] = Kept(value: mounting, configured: configured)
            }
            if let isInk = table["ink"]?.bool, let configured = table["configured-ink"]?.bool,
                isInk != configured
            {
                inks[identity] = Kept(value: isInk, configured: configured)
            }
            if let perspective = Self.perspective("perspective", in: table),
                let configured = Self.perspective("configured-perspective", in: table),
                perspective != configured
            {
                perspectives[identity] = Kept(value: perspective, configured: configured)
            }
        }
    }

    private static func perspective(_ key: String, in table: TOMLTable) -> Perspective?? {
        guard let node = table[key] else { return nil }
        // `try?` would make one of "none" and "unreadable".
        do throws(UnreadableValue) {
            return .some(try ValueForm<Perspective?>.corners.read(node))
        } catch { return nil }
    }

    private static func mounting(_ prefix: String, in table: TOMLTable) -> Mounting? {
        guard let mirror = table["\(prefix)mirror"]?.bool,
            let rotation = table["\(prefix)rotation"]?.int, [0, 90, 180, 270].contains(rotation)
        else { return nil }
        return Mounting(mirror: mirror, rotation: rotation)
    }
}
