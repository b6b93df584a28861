import Control
import DBusKit
import DualCamCore
import Frames
import Platform

/// A snapshot in a form that people read at a glance.
struct StatusText {
    private let snapshot: Snapshot

    static func lines(_ snapshot: Snapshot?) -> [String] {
        guard let snapshot else { return [Colour.grey("○ off         dualcamd is not running")] }
        let text = StatusText(snapshot: snapshot)
        return [text.streamLine, ""] + text.cameraLines + ["", text.layoutLine] + text.valueLines
            + text.viewerLines
            + text.recordingLine
            + text.problemLines
    }

    /// Returns the lines for `snapshot` without colours.
    static func plainLines(_ snapshot: Snapshot) -> [String] {
        lines(snapshot).map { $0.replacing(/\u{1b}\[[0-9;]*m/, with: "") }
    }

    /// Returns the lines of `dualcamctl cameras`.
    static func cameraLines(_ snapshot: Snapshot) -> [String] {
        StatusText(snapshot: snapshot).rows(Role.allCases.map { ("", $0) }, showsSource: true)
    }

    // MARK: - Stream

    private var streamLine: String {
        let state = snapshot[\StreamInterface.state]?.printable ?? "unknown"
        let colour: Colour =
            switch state {
            case "streaming": .green
            case "starting", "interrupted": .yellow
            default: .grey
            }
        let mark = ["stopped", "idle"].contains(state) ? "○" : "●"
        var parts = [
            mode(
                snapshot[\StreamInterface.width],
                snapshot[\StreamInterface.height],
                snapshot[\StreamInterface.frameRate],
                snapshot[\StreamInterface.pixelFormat]
            )
        ]
        if let node = snapshot[\StreamInterface.nodeID], node != .max {
            parts.append("node \(node)")
        }
        if let count = snapshot[\StreamInterface.consumers], count > 0 {
            parts.append(count == 1 ? "1 consumer" : "\(count) consumers")
        }
        if snapshot[\PrivacyInterface.enabled] ?? false {
            parts.append(Colour.yellow("privacy"))
        }
        return colour("\(mark) \(state.padded(to: 11))") + " " + parts.joined(separator: " · ")
    }

    /// Returns for example "1280×720 at 30 fps, MJPG".
    private func mode(
        _ width: UInt32?,
        _ height: UInt32?,
        _ rate: UInt32?,
        _ format: String?
    ) -> String {
        "\(width ?? 0)×\(height ?? 0) at \(rate ?? 0) fps, \(format?.printable ?? "")"
    }

    // MARK: - Cameras

    private var cameraLines: [String] {
        let labelled = [("main", snapshot.mainRole), (otherLabel, snapshot.insetRole)].compactMap {
            label,
            role in
            role.map { (label, $0) }
        }
        return rows(labelled, showsSource: false).map { "  " + $0 }
    }

    private var otherLabel: String {
        switch snapshot[\SceneInterface.layout] {
        case "side-by-side": "right"
        case "stacked": "below"
        case "pip" where snapshot[\SceneInterface.insetVisible] != false: "inset"
        case "pip", "single": "hidden"
        default: "other"
        }
    }

    private func rows(_ cameras: [(label: String, role: Role)], showsSource: Bool) -> [String] {
        let names = cameras.map { name(of: $0.role) }
        let width = names.map(\.columns).max() ?? 0
        return zip(cameras, names).map { camera, name in
            var line = camera.label.isEmpty ? "" : camera.label.padded(to: 8)
            line += "\(camera.role.rawValue.padded(to: 7)) \(name.padded(to: width))  "
            line += remark(on: camera.role)
            if showsSource, let source = snapshot[\CameraInterface.source, of: camera.role] {
                line += " · " + source.printable
            }
            return line
        }
    }

    private func name(of role: Role) -> String {
        let name = snapshot[\CameraInterface.name, of: role]?.printable ?? ""
        return name.isEmpty ? "–" : name
    }

    private func remark(on role: Role) -> String {
        var parts: [String] = []
        let state = snapshot[\CameraInterface.state, of: role]?.printable ?? "unknown"
        switch state {
        case "streaming":
            parts.append(
                mode(
                    snapshot[\CameraInterface.width, of: role],
                    snapshot[\CameraInterface.height, of: role],
                    snapshot[\CameraInterface.frameRate, of: role],
                    snapshot[\CameraInterface.pixelFormat, of: role]
                )
            )
        case "interrupted":
            let reason = interruption(of: role)
            parts.append(Colour.yellow(reason == "not found" ? reason : "interrupted: \(reason)"))
        case "unavailable":
            let reason = interruption(of: role)
            parts.append(
                ["", "none"].contains(reason) ? Colour.grey("no camera") : Colour.yellow(reason)
            )
        default: parts.append(Colour.grey(state))
        }
        if snapshot[\CameraInterface.mirror, of: role] ?? false { parts.append("mirrored") }
        if let angle = snapshot[\CameraInterface.rotation, of: role], angle != 0 {
            parts.append("turned \(angle)°")
        }
        if let zoom = snapshot[\CameraInterface.zoom, of: role], zoom != 1 {
            parts.append("\(((zoom * 100).rounded() / 100).tidy)×")
        }
        if !(snapshot[\CameraInterface.perspective, of: role] ?? []).isEmpty {
            parts.append("perspective")
        }
        if snapshot[\CameraInterface.ink, of: role] ?? false { parts.append("ink") }
        if snapshot[\CameraInterface.frozen, of: role] ?? false {
            parts.append(Colour.yellow("frozen"))
        }
        let locked = snapshot[\ControlsInterface.locked, of: role] ?? []
        if !locked.isEmpty {
            parts.append(locked.map(\.printable).joined(separator: ", ") + " locked")
        }
        if snapshot[\CameraInterface.lensFallback, of: role] ?? false {
            let lens = snapshot[\CameraInterface.lens, of: role]?.printable ?? ""
            parts.append(Colour.yellow("without \(lens)"))
        }
        return parts.joined(separator: " · ")
    }

    private func interruption(of role: Role) -> String {
        let word = snapshot[\CameraInterface.interruption, of: role]?.printable ?? ""
        return word.replacing("-", with: " ")
    }

    // MARK: - Scene

    private var layoutLine: String {
        let layout = snapshot[\SceneInterface.layout]?.printable ?? "unknown"
        var parts = [layout]
        if layout == "pip" {
            let corner = snapshot[\SceneInterface.insetCorner]?.printable ?? ""
            let percent = ((snapshot[\SceneInterface.insetSize] ?? 0) * 100).whole
            let isVisible = snapshot[\SceneInterface.insetVisible] ?? false
            parts.append(isVisible ? "inset \(corner), \(percent) %" : "inset hidden")
        }
        if snapshot[\SceneInterface.swapped] ?? false { parts.append("swapped") }
        return "  layout  " + parts.joined(separator: " · ")
    }

    // MARK: - Viewers

    /// The apps that take the stream, and since when.
    private var viewerLines: [String] {
        let now = WallTime.now
        let hasConsumers = snapshot[\StreamInterface.consumers] ?? 0 > 0
        return (snapshot[\StreamInterface.viewers] ?? []).filter { viewer in
            // Consumers are those of the stream's own node.
            hasConsumers || viewer["through"]?.string?.isEmpty == false
        }.map { viewer in
            var who = viewer["name"]?.string?.printable ?? ""
            if who.isEmpty { who = "an app" }
            if let application = viewer["application-id"]?.string?.printable, !application.isEmpty {
                who += " (\(application))"
            } else if let process = viewer["pid"]?.integer, process > 0 {
                who += " (\(process))"
            }
            if let place = viewer["through"]?.string?.printable, !place.isEmpty {
                who += ", through \(place)"
            }
            var line = "  viewer  \(who)"
            // Until the year 9999.
            if let since = viewer["since"]?.integer, (1..<253_402_300_800_000_000).contains(since) {
                line += " · since \(WallTime(microseconds: Int64(since)).minute(on: now))"
            }
            return line
        }
    }

    // MARK: - Pro

    /// The lines with all values of the main camera in Pro mode, and the manual values of other
    /// cameras.
    private var valueLines: [String] {
        let isPro = snapshot[\ProInterface.enabled] ?? false
        return Role.allCases.compactMap { role in
            let isMain = isPro && role == snapshot.mainRole
            let values = StatusText.values(snapshot, role, onlyManual: !isMain)
            guard isMain || !values.isEmpty else { return nil }
            let label = isMain ? "pro     " : "by hand " + role.rawValue.padded(to: 7)
            return "  " + label + values.joined(separator: " · ")
        }
    }

    /// Returns the values that the main camera has, as photographers write them.
    static func proValues(_ snapshot: Snapshot) -> [String] {
        values(snapshot, snapshot.mainRole ?? .back)
    }

    /// Returns the values that a camera has, with `onlyManual` only those set by hand.
    private static func values(
        _ snapshot: Snapshot,
        _ role: Role,
        onlyManual: Bool = false
    ) -> [String] {
        func value<Content>(
            _ property: KeyPath<ControlsInterface, PropertyMember<Content>>
        ) -> Content? {
            snapshot[property, of: role]
        }
        func isShown(_ automatic: KeyPath<ControlsInterface, PropertyMember<Bool>>) -> Bool {
            !onlyManual || value(automatic) == false
        }
        var texts: [String] = []
        if let iso = value(\.iso), iso > 0, isShown(\.isoAuto) {
            let isApproximate = value(\.isoApproximate) ?? false
            texts.append("ISO \(isApproximate ? "≈" : "")\(iso)")
        }
        if let shutter = value(\.shutterText), !shutter.isEmpty, isShown(\.exposureAuto) {
            texts.append(shutter.printable)
        }
        if let aperture = value(\.aperture), aperture > 0, !onlyManual {
            texts.append("f/\(aperture.tidy)")
        }
        let balance = value(\.whiteBalance)?.printable ?? "auto"
        if !onlyManual || balance != "auto" {
            let word = balance == "custom" ? [] : [balance]
            let kelvin = [value(\.kelvin)].compactMap { $0 }.filter { $0 > 0 }.map { "\($0) K" }
            texts.append((word + kelvin).joined(separator: " "))
        }
        if let focus = value(\.focusText), !focus.isEmpty, isShown(\.focusAuto) {
            let isAutomatic = value(\.focusAuto) ?? false
            texts.append(isAutomatic ? "AF" : "MF \(focus.printable)")
        }
        if let stops = value(\.compensation), stops != 0 {
            texts.append("\(stops > 0 ? "+" : "")\(stops.tidy) EV")
        }
        return texts.filter { !$0.isEmpty }
    }

    // MARK: - Recording

    private var recordingLine: [String] {
        let capture = snapshot.values(of: CaptureInterface.self)
        guard let text = StatusText.recordingText(capture) else { return [] }
        let files = capture[\.recordingFiles] ?? []
        let pictures = files.compactMap { $0["picture"]?.string?.printable }.sorted()
        let names = pictures.isEmpty ? "" : " · " + pictures.joined(separator: ", ")
        return ["  " + Colour.red(text) + names]
    }

    /// Returns for example "● REC 1:05" for the properties of Capture, or `nil` while nothing is
    /// recorded.
    static func recordingText(_ capture: PropertyValues<CaptureInterface>) -> String? {
        guard capture[\.recording] ?? false else { return nil }
        return "● REC \(Clock.text(seconds: Int(capture[\.recordingSeconds] ?? 0)))"
    }

    // MARK: - Problems

    private var problemLines: [String] {
        let problems = snapshot[\StreamInterface.problems] ?? []
        return (problems.isEmpty ? [] : [""]) + problems.map { Colour.red("  ! ") + $0.printable }
    }
}
