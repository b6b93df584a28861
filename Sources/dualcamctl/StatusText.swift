import DBusKit

/// A snapshot in a form that people read at a glance.
struct StatusText {
    private let snapshot: Snapshot

    /// Returns the lines for `snapshot`; `nil` means that there is no daemon.
    static func lines(_ snapshot: Snapshot?) -> [String] {
        guard let snapshot else { return [Colour.grey("○ off         dualcamd is not running")] }
        let text = StatusText(snapshot: snapshot)
        return [text.streamLine, ""] + text.cameraLines + ["", text.layoutLine] + text.valueLines
            + text.recordingLine
            + text.problemLines
    }

    /// Returns the lines for `snapshot` without colours.
    static func plainLines(_ snapshot: Snapshot) -> [String] {
        lines(snapshot).map { $0.replacing(/\u{1b}\[[0-9;]*m/, with: "") }
    }

    /// Returns the lines of `dualcamctl cameras`.
    static func cameraLines(_ snapshot: Snapshot) -> [String] {
        StatusText(snapshot: snapshot).rows(CameraRole.allCases.map { ("", $0) }, showsSource: true)
    }

    // MARK: - Stream

    private func stream(_ property: String) -> Value? { snapshot.main["Stream"]?[property] }
    private func scene(_ property: String) -> Value? { snapshot.main["Scene"]?[property] }

    private var streamLine: String {
        let state = stream("State")?.string?.printable ?? "unknown"
        let colour: Colour =
            switch state {
            case "streaming": .green
            case "starting", "interrupted": .yellow
            default: .grey
            }
        let mark = ["stopped", "idle"].contains(state) ? "○" : "●"
        var parts = [mode(of: snapshot.main["Stream"])]
        if let node = stream("NodeId"), node != .uint32(.max), let number = node.integer {
            parts.append("node \(number)")
        }
        if let count = stream("Consumers")?.integer, count > 0 {
            parts.append(count == 1 ? "1 consumer" : "\(count) consumers")
        }
        if snapshot.main["Privacy"]?["Enabled"] == .boolean(true) {
            parts.append(Colour.yellow("privacy"))
        }
        return colour("\(mark) \(state.padded(to: 11))") + " " + parts.joined(separator: " · ")
    }

    /// Returns for example "1280×720 at 30 fps, MJPG".
    private func mode(of properties: [String: Value]?) -> String {
        func number(_ name: String) -> Int { properties?[name]?.integer ?? 0 }
        let format = properties?["PixelFormat"]?.string?.printable ?? ""
        return "\(number("Width"))×\(number("Height")) at \(number("FrameRate")) fps, \(format)"
    }

    // MARK: - Cameras

    private var cameraLines: [String] {
        let main = CameraRole(scene("Main")?.objectPath)
        let inset = CameraRole(scene("Inset")?.objectPath)
        let labelled = [("main", main), (otherLabel, inset)].compactMap { label, role in
            role.map { (label, $0) }
        }
        return rows(labelled, showsSource: false).map { "  " + $0 }
    }

    /// The place of the picture that is not the main one.
    private var otherLabel: String {
        switch scene("Layout")?.string {
        case "side-by-side": "right"
        case "stacked": "below"
        case "pip" where scene("InsetVisible") != .boolean(false): "inset"
        case "pip", "single": "hidden"
        default: "other"
        }
    }

    private func rows(_ cameras: [(label: String, role: CameraRole)], showsSource: Bool) -> [String]
    {
        let names = cameras.map { name(of: $0.role) }
        let width = names.map(\.count).max() ?? 0
        return zip(cameras, names).map { camera, name in
            var line = camera.label.isEmpty ? "" : camera.label.padded(to: 8)
            line += "\(camera.role.rawValue.padded(to: 7)) \(name.padded(to: width))  "
            line += remark(on: camera.role)
            if showsSource, let source = property("Source", of: camera.role)?.string {
                line += " · " + source.printable
            }
            return line
        }
    }

    private func property(_ name: String, of role: CameraRole) -> Value? {
        snapshot.cameras[role]?["Camera"]?[name]
    }

    private func name(of role: CameraRole) -> String {
        let name = property("Name", of: role)?.string?.printable ?? ""
        return name.isEmpty ? "–" : name
    }

    private func remark(on role: CameraRole) -> String {
        var parts: [String] = []
        let state = property("State", of: role)?.string?.printable ?? "unknown"
        switch state {
        case "streaming": parts.append(mode(of: snapshot.cameras[role]?["Camera"]))
        case "interrupted":
            let reason = property("Interruption", of: role)?.string?.printable ?? ""
            parts.append(Colour.yellow("interrupted: \(reason)"))
        case "unavailable": parts.append(Colour.grey("no camera"))
        default: parts.append(Colour.grey(state))
        }
        if property("Mirror", of: role) == .boolean(true) { parts.append("mirrored") }
        if let angle = property("Rotation", of: role)?.integer, angle != 0 {
            parts.append("turned \(angle)°")
        }
        if let zoom = property("Zoom", of: role)?.double, zoom != 1 {
            parts.append("\((zoom * 100).rounded() / 100)×")
        }
        if property("LensFallback", of: role) == .boolean(true) {
            let lens = property("Lens", of: role)?.string?.printable ?? ""
            parts.append(Colour.yellow("without \(lens)"))
        }
        return parts.joined(separator: " · ")
    }

    // MARK: - Scene

    private var layoutLine: String {
        let layout = scene("Layout")?.string?.printable ?? "unknown"
        var parts = [layout]
        if layout == "pip" {
            let corner = scene("InsetCorner")?.string?.printable ?? ""
            let percent = Int(((scene("InsetSize")?.double ?? 0) * 100).rounded())
            let isVisible = scene("InsetVisible") == .boolean(true)
            parts.append(isVisible ? "inset \(corner), \(percent) %" : "inset hidden")
        }
        if scene("Swapped") == .boolean(true) { parts.append("swapped") }
        return "  layout  " + parts.joined(separator: " · ")
    }

    // MARK: - Pro

    /// The lines with all values of the main camera in Pro mode, and the manual values of other
    /// cameras.
    private var valueLines: [String] {
        let isPro = snapshot.main["Pro"]?["Enabled"] == .boolean(true)
        let main = CameraRole(scene("Main")?.objectPath)
        return CameraRole.allCases.compactMap { role in
            let isMain = isPro && role == main
            let values = StatusText.values(snapshot.cameras[role], onlyManual: !isMain)
            guard isMain || !values.isEmpty else { return nil }
            let label = isMain ? "pro     " : "by hand " + role.rawValue.padded(to: 7)
            return "  " + label + values.joined(separator: " · ")
        }
    }

    /// Returns the values that the main camera has, as photographers write them.
    static func proValues(_ snapshot: Snapshot) -> [String] {
        values(snapshot.cameras[CameraRole(snapshot.main["Scene"]?["Main"]?.objectPath) ?? .back])
    }

    /// Returns the values that a camera has, with `onlyManual` only those set by hand.
    private static func values(
        _ camera: [String: [String: Value]]?,
        onlyManual: Bool = false
    ) -> [String] {
        let values = camera?["Camera.Controls"]
        func number(_ name: String) -> Int { values?[name]?.integer ?? 0 }
        func isShown(_ automatic: String) -> Bool {
            !onlyManual || values?[automatic] == .boolean(false)
        }
        var texts: [String] = []
        if number("Iso") > 0, isShown("IsoAuto") {
            let isApproximate = values?["IsoApproximate"] == .boolean(true)
            texts.append("ISO \(isApproximate ? "≈" : "")\(number("Iso"))")
        }
        if let shutter = values?["ShutterText"]?.string, !shutter.isEmpty, isShown("ExposureAuto") {
            texts.append(shutter.printable)
        }
        if let aperture = values?["Aperture"]?.double, aperture > 0, !onlyManual {
            texts.append("f/\(aperture)")
        }
        let balance = values?["WhiteBalance"]?.string?.printable ?? "auto"
        if !onlyManual || balance != "auto" {
            let word = balance == "custom" ? [] : [balance]
            let kelvin = number("Kelvin") > 0 ? ["\(number("Kelvin")) K"] : []
            texts.append((word + kelvin).joined(separator: " "))
        }
        if let focus = values?["FocusText"]?.string, !focus.isEmpty, isShown("FocusAuto") {
            let isAutomatic = values?["FocusAuto"] == .boolean(true)
            texts.append(isAutomatic ? "AF" : "MF \(focus.printable)")
        }
        if let stops = values?["Compensation"]?.double, stops != 0 {
            texts.append("\(stops > 0 ? "+" : "")\(stops) EV")
        }
        return texts.filter { !$0.isEmpty }
    }

    // MARK: - Recording

    private var recordingLine: [String] {
        guard let text = StatusText.recordingText(snapshot.main["Capture"]) else { return [] }
        let files = snapshot.main["Capture"]?["RecordingFiles"]?.array ?? []
        let pictures = files.compactMap { $0.named?["picture"]?.string?.printable }.sorted()
        let names = pictures.isEmpty ? "" : " · " + pictures.joined(separator: ", ")
        return ["  " + Colour.red(text) + names]
    }

    /// Returns for example "● REC 1:05" for the properties of Capture, or `nil` while nothing is
    /// recorded.
    static func recordingText(_ capture: [String: Value]?) -> String? {
        guard capture?["Recording"] == .boolean(true) else { return nil }
        let seconds = capture?["RecordingSeconds"]?.integer ?? 0
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let start = hours > 0 ? "\(hours):\(padded(minutes))" : "\(minutes)"
        return "● REC \(start):\(padded(seconds % 60))"
    }

    // MARK: - Problems

    private var problemLines: [String] {
        let problems = stream("Problems")?.array?.compactMap(\.string) ?? []
        return (problems.isEmpty ? [] : [""]) + problems.map { Colour.red("  ! ") + $0.printable }
    }
}
