package import Frames

/// A report of a problem as text: what is known of the system, and nothing personal.
package struct ProblemReport: Sendable {
    private let lines: [String]

    package init(
        version: String,
        system: String,
        stream: String,
        size: Size,
        rate: Int,
        cameras: [(role: String, words: String)],
        problems: [String],
        checks: [DoctorReport.Check]
    ) {
        let well = checks.filter { $0.isWell == true }.map(\.name)
        let others = checks.filter { $0.isWell != true }
        lines =
            ["DualCam \(version), \(system)", "Stream: \(stream), \(size), \(rate) a second"]
            + cameras.map { "\($0.role.capitalizedFirst): \($0.words)" }
            + (well.isEmpty ? [] : ["Well: \(well.joined(separator: ", "))"])
            + others.map { "\($0.isWell == nil ? "Unknown" : "Problem"), \($0.name): \($0.text)" }
            + problems.map { "Says: \($0)" }
    }

    /// Returns the text, in which each of `names`, and what identifies a device, is left out.
    package func text(without names: [String]) -> String {
        var text = lines.joined(separator: "\n")
        for name in names.filter({ $0.count > 1 }).sorted(by: { $0.count > $1.count }) {
            text.replace(name, with: name.hasPrefix("/") ? "~" : "…")
        }
        // Serial numbers are in the names of devices; addresses lead to a home.
        text.replace(/(?:v4l2:|usb-)\S+/, with: "…")
        text.replace(/(?:https?|rtsps?|srt):\/\/\S+/, with: "…")
        text.replace(/\/(?:home|run\/user)\/[^\s\/]+/, with: "~")
        return text
    }
}
