import Control
import DBusKit

/// A snapshot for a module of Waybar: a line of JSON on each change, for "return-type": "json".
enum Waybar {
    static func line(_ snapshot: Snapshot?) -> String {
        guard let snapshot else { return line("○", "off", "DualCam is not running", ["off"]) }
        let state = snapshot[\StreamInterface.state]?.printable ?? "unknown"
        let isLive = !["stopped", "idle"].contains(state)
        var classes = [state]
        if snapshot[\ProInterface.enabled] ?? false { classes.append("pro") }
        if snapshot[\PrivacyInterface.enabled] ?? false { classes.append("privacy") }
        if snapshot[\SceneInterface.swapped] ?? false { classes.append("swapped") }
        let recording = StatusText.recordingText(snapshot.values(of: CaptureInterface.self))
        if recording != nil { classes.append("recording") }
        if snapshot[\CaptureInterface.recordingPaused] ?? false { classes.append("paused") }
        let values = classes.contains("pro") ? StatusText.proValues(snapshot) : []
        let text = ([recording ?? (isLive ? "●" : "○")] + values).joined(separator: "  ")
        let tooltip = StatusText.plainLines(snapshot).joined(separator: "\n")
        return line(text, state, tooltip, classes)
    }

    private static func line(
        _ text: String,
        _ state: String,
        _ tooltip: String,
        _ classes: [String]
    ) -> String {
        JSON.object([
            ("text", .string(text.escapedForMarkup)), ("alt", .string(state)),
            ("tooltip", .string(tooltip.escapedForMarkup)), ("class", JSON(classes)),
        ]).text + "\n"
    }
}

extension String {
    /// The text escaped for Pango's markup, which Waybar and many others read.
    var escapedForMarkup: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
