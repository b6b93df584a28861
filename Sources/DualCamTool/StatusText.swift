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
            + text.phoneLines + text.viewerLines
            + text.recordingLine
            + text.selfTimerLine
            + text.problemLines
    }

    /// Returns the lines for `snapshot` without colours.
    static func plainLines(_ snapshot: Snapshot) -> [String] {
        lines(snapshot).map { $0.replacing(/\u{1b}\[[0-9;]*m/, with: "") }
    }

    /// Returns the lines of `dualcamctl cameras`.
    static func cameraLines(_ snapshot: Snapshot) -> [String] {
        StatusText(snapshot: snapshot).rows(Role.allCases.map { ("", $0) })
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
        let count = snapshot[\StreamInterface.consumers] ?? 0
        let parts: [String?] = [
            mode(snapshot.values(of: StreamInterface.self)),
            snapshot[\StreamInterface.nodeID].flatMap { $0 == .max ? nil : "node \($0)" },
            count == 0 ? nil : count == 1 ? "1 consumer" : "\(count) consumers",
            snapshot[\PrivacyInterface.enabled] == true ? Colour.yellow("privacy") : nil,
        ]
        return colour("\(mark) \(state.padded(to: 11))") + " " + joined(parts)
    }

    private func joined(_ parts: [String?]) -> String {
        parts.compactMap { $0 }.joined(separator: " · ")
    }

    /// Returns for example "1280×720 at 30 fps, MJPG", of the stream or of a camera.
    private func mode(_ properties: PropertyValues<some InterfaceMembers>) -> String {
        func number(_ name: String) -> Int { properties.values[name]?.integer ?? 0 }
        let format = properties.values["PixelFormat"]?.string?.printable ?? ""
        return "\(number("Width"))×\(number("Height")) at \(number("FrameRate")) fps, \(format)"
    }

    // MARK: - Cameras

    private var cameraLines: [String] {
        let labelled = [("main", snapshot.mainRole), (otherLabel, snapshot.insetRole)]
        return rows(labelled.compactMap { label, role in role.map { (label, $0) } })
            .map { "  " + $0 }
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

    /// Returns a line for each of `cameras`, without a label with its source.
    private func rows(_ cameras: [(label: String, role: Role)]) -> [String] {
        let rows = cameras.map { label, role in
            (label, role, camera: snapshot.values(of: CameraInterface.self, role))
        }
        let names = rows.map { $0.camera[\.name]?.printable ?? "" }.map { $0.isEmpty ? "–" : $0 }
        let width = names.map(\.columns).max() ?? 0
        return zip(rows, names).map { row, name in
            let (label, role, camera) = row
            let source = label.isEmpty ? camera[\.source]?.printable : nil
            let start = label.isEmpty ? "" : label.padded(to: 8)
            return start + "\(role.rawValue.padded(to: 7)) \(name.padded(to: width))  "
                + joined(remarks(on: camera, role) + [source])
        }
    }

    private func remarks(on camera: PropertyValues<CameraInterface>, _ role: Role) -> [String?] {
        let state = camera[\.state]?.printable ?? "unknown"
        let reason = (camera[\.interruption]?.printable ?? "").replacing("-", with: " ")
        let start =
            switch state {
            case "streaming": mode(camera)
            case "interrupted" where reason != "not found": Colour.yellow("interrupted: \(reason)")
            case "unavailable" where ["", "none"].contains(reason): Colour.grey("no camera")
            case "interrupted", "unavailable": Colour.yellow(reason)
            default: Colour.grey(state)
            }
        let locked = snapshot.values(of: ControlsInterface.self, role)[\.locked] ?? []
        return [
            start,
            camera[\.mirror] == true ? "mirrored" : nil,
            camera[\.rotation].flatMap { $0 == 0 ? nil : "turned \($0)°" },
            camera[\.zoom].flatMap { $0 == 1 ? nil : "\((($0 * 100).rounded() / 100).tidy)×" },
            camera[\.perspective]?.isEmpty == false ? "perspective" : nil,
            camera[\.ink] == true ? "ink" : nil,
            camera[\.framing] == "calm" ? "calm framing" : nil,
            camera[\.metering] == "face" ? "light for a face" : nil,
            camera[\.room].flatMap { $0 == "as-is" ? nil : "room \($0.printable)" },
            camera[\.frozen] == true ? Colour.yellow("frozen") : nil,
            locked.isEmpty ? nil : locked.map(\.printable).joined(separator: ", ") + " locked",
            camera[\.lensFallback] == true
                ? Colour.yellow("without \(camera[\.lens]?.printable ?? "")") : nil,
        ]
    }

    // MARK: - Scene

    private var layoutLine: String {
        let layout = snapshot[\SceneInterface.layout]?.printable ?? "unknown"
        let place = PropertyVerb.Text.place(
            snapshot[\SceneInterface.insetCorner]?.printable ?? "",
            snapshot[\SceneInterface.insetPosition]
        )
        let percent = ((snapshot[\SceneInterface.insetSize] ?? 0) * 100).whole
        let isVisible = snapshot[\SceneInterface.insetVisible] ?? false
        let isPerson = snapshot[\SceneInterface.insetShape] == InsetShape.person.rawValue
        let thing = isPerson ? "person" : "inset"
        let inset = isVisible ? "\(thing) \(place), \(percent) %" : "\(thing) hidden"
        let isSwapped = snapshot[\SceneInterface.swapped] ?? false
        return "  layout  "
            + joined([layout, layout == "pip" ? inset : nil, isSwapped ? "swapped" : nil])
    }

    // MARK: - Viewers

    private var viewerLines: [String] {
        let now = WallTime.now
        let hasConsumers = snapshot[\StreamInterface.consumers] ?? 0 > 0
        return (snapshot[\StreamInterface.viewers] ?? []).filter { viewer in
            // Consumers are those of the stream's own node.
            hasConsumers || viewer["through"]?.string?.isEmpty == false
        }.map { viewer in
            func text(_ key: String) -> String? {
                viewer[key]?.string.flatMap { $0.isEmpty ? nil : $0.printable }
            }
            let process = viewer["pid"]?.integer.flatMap { $0 > 0 ? "\($0)" : nil }
            let identity = (text("application-id") ?? process).map { " (\($0))" } ?? ""
            let place = text("through").map { ", through \($0)" } ?? ""
            let since = viewer["since"]?.integer.flatMap { time in
                // Until the year 9999.
                (1..<253_402_300_800_000_000).contains(time)
                    ? "since \(WallTime(microseconds: Int64(time)).minute(on: now))" : nil
            }
            return joined(["  viewer  " + (text("name") ?? "an app") + identity + place, since])
        }
    }

    // MARK: - Phones

    private var phoneLines: [String] {
        (snapshot[\PhoneInterface.phones] ?? []).compactMap { phone in
            func text(_ key: String) -> String? { phone[key]?.string?.printable }
            guard let address = text("address"), let source = text("source") else { return nil }
            return joined(["  phone   \(source)", text("state"), "listens at \(address)"])
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
        let values = snapshot.values(of: ControlsInterface.self, role)
        func shown(
            _ text: String?,
            _ automatic: KeyPath<ControlsInterface, PropertyMember<Bool>>
        ) -> String? {
            onlyManual && values[automatic] != false ? nil : text
        }
        let balance = values[\.whiteBalance]?.printable ?? "auto"
        let colour = [balance == "custom" ? nil : balance, values.kelvinText]
        let aperture = onlyManual ? nil : values[\.aperture].flatMap { $0 > 0 ? $0.tidy : nil }
        let focus = values[\.focusText].flatMap { $0.isEmpty ? nil : "MF \($0.printable)" }
        let stops = values[\.compensation].flatMap { $0 == 0 ? nil : values.stopsText + " EV" }
        let texts: [String?] = [
            shown(values.isoText.map { "ISO " + $0 }, \.isoAuto),
            shown(values[\.shutterText]?.printable, \.exposureAuto),
            aperture.map { "f/" + $0 },
            onlyManual && balance == "auto"
                ? nil : colour.compactMap { $0 }.joined(separator: " "),
            shown(focus.map { values[\.focusAuto] == true ? "AF" : $0 }, \.focusAuto),
            stops,
        ]
        return texts.compactMap { $0 }.filter { !$0.isEmpty }
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
        let words = capture[\.recordingPaused] ?? false ? " (paused)" : ""
        return "● REC \(Clock.text(seconds: Int(capture[\.recordingSeconds] ?? 0)))" + words
    }

    private var selfTimerLine: [String] {
        let capture = snapshot.values(of: CaptureInterface.self)
        let text = StatusText.selfTimerText(capture[\.selfTimer], capture[\.selfTimerSeconds])
        return text.map { ["  " + $0] } ?? []
    }

    /// Returns for example "Photo in 3 s" for the properties of Capture; `nil` while the self timer
    /// does not count.
    static func selfTimerText(_ purpose: String?, _ seconds: UInt32?) -> String? {
        guard let purpose, !purpose.isEmpty else { return nil }
        return "\(purpose.printable.capitalizedFirst) in \(seconds ?? 0) s"
    }

    // MARK: - Problems

    private var problemLines: [String] {
        let problems = snapshot[\StreamInterface.problems] ?? []
        return (problems.isEmpty ? [] : [""]) + problems.map { Colour.red("  ! ") + $0.printable }
    }
}

extension PropertyValues<ControlsInterface> {
    /// "≈400"; `nil` if it is not known.
    var isoText: String? {
        self[\.iso].flatMap { $0 > 0 ? (self[\.isoApproximate] == true ? "≈" : "") + "\($0)" : nil }
    }

    /// "5500 K"; `nil` if it is not known.
    var kelvinText: String? { self[\.kelvin].flatMap { $0 > 0 ? "\($0) K" : nil } }

    /// "+0.5"
    var stopsText: String {
        let stops = self[\.compensation] ?? 0
        return (stops > 0 ? "+" : "") + stops.tidy
    }
}
