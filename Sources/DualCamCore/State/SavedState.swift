import Frames
import TOMLKit

/// The state kept over a restart, if the user wants that: the chosen scene, Pro mode, and the
/// manual values and zoom of each camera, by identity.
package struct SavedState: Hashable, Sendable {
    /// `true` if front is the main picture.
    package var isSwapped = false
    /// The layout of the pictures.
    package var layout = Layout.pip
    /// `true` if the inset is shown.
    package var insetVisible = true
    /// The corner of the inset.
    package var insetCorner = Corner.topRight
    /// The inset's width, as a fraction of the canvas's.
    package var insetSize = 0.25
    /// `true` if Pro mode is on.
    package var isPro = false
    /// The dial in use.
    package var dial = Dial.iso
    /// The manual values by the cameras' identity, unless all are automatic.
    package var manualControls: [String: ManualControls] = [:]
    /// The magnifications by the cameras' identity, unless 1.
    package var zooms: [String: Double] = [:]

    /// The part of `state` to keep.
    package init(_ state: State) {
        let style = state.scene.style
        isSwapped = state.scene.isSwapped
        layout = style.layout
        insetVisible = style.insetVisible
        insetCorner = style.insetCorner
        insetSize = style.insetSize
        isPro = state.pro.isEnabled
        dial = state.pro.dial
        manualControls = state.manualControls
        for role in Role.allCases where !state.cameras[role].identity.isEmpty {
            manualControls[state.cameras[role].identity] = state.cameras[role].controls.manual
        }
        manualControls = manualControls.filter { !$0.value.isAutomatic }
        zooms = state.zooms
        for role in Role.allCases where !state.cameras[role].identity.isEmpty {
            let lens = state.cameras[role].lens
            zooms[state.cameras[role].identity] = lens.isZoomAsked ? lens.zoom : nil
        }
        zooms = zooms.filter { $0.value != 1 }
    }

    /// Restores `state`, before anything has started.
    package func restore(_ state: inout State) {
        var style = state.scene.style
        style.layout = layout
        style.insetVisible = insetVisible
        style.insetCorner = insetCorner
        style.insetSize = insetSize
        state.scene.setStyle(style, at: .zero, instantly: true)
        state.scene.setSwapped(isSwapped, at: .zero, instantly: true)
        state.pro.isEnabled = isPro
        state.pro.dial = dial
        state.manualControls = manualControls
        state.zooms = zooms
    }

    // MARK: As a file

    /// The text form that `init(parsing:)` reads: TOML.
    package var text: String {
        var lines = [
            "# What DualCam remembers; it writes this file itself.", "swapped = \(isSwapped)",
            "layout = \"\(layout.rawValue)\"", "inset-visible = \(insetVisible)",
            "inset-corner = \"\(insetCorner.rawValue)\"", "inset-size = \(insetSize)",
            "pro = \(isPro)", "dial = \"\(dial.rawValue)\"",
        ]
        for identity in Set(manualControls.keys).union(zooms.keys).sorted() {
            let name = Self.quoted(identity)
            // A longer line could not be read back.
            guard name.utf8.count < 4000 else { continue }
            lines += ["", "[cameras.\(name)]"]
            if let zoom = zooms[identity] { lines.append("zoom = \(zoom)") }
            let manual = manualControls[identity] ?? ManualControls()
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
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.properties.generalCategory == .control:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
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
        layout = word("layout") ?? layout
        insetVisible = root["inset-visible"]?.bool ?? insetVisible
        insetCorner = word("inset-corner") ?? insetCorner
        let size = root["inset-size"]?.double ?? insetSize
        if SceneStyle.insetSizes.contains(size) { insetSize = size }
        isPro = root["pro"]?.bool ?? isPro
        dial = word("dial") ?? dial
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
        }
    }
}
