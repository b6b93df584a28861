import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import Platform
import ViewCore

/// A report of a problem, to copy: what is sent is what is shown.
final class ReportWindow: SideWindow {
    private let text = TextView()

    init(over owner: PictureWindow) {
        let copy = Button("Copy").style("suggested-action")
        let close = Button("Close")
        let note = Label("Paste it into a report, and say what you did.", wraps: true)
        let content = [
            HeaderBar([close], [copy]),
            ScrolledWindow(downwards: text).expand().style("card", "report"),
            note.style("dim-label").place(.start, .end, margin: 12),
        ]
        super.init(
            over: owner,
            Window(
                owner.application,
                title: "Report a Problem",
                size: Size(width: 480, height: 400),
                Box(vertical: true, content)
            )
        )
        close.onClick { [unowned self] in window.close() }
        copy.onClick { [unowned self, unowned copy] in
            text.copy()
            copy.label = "Copied"
        }
        text.text = "Looking…"
        window.present()
        DoctorGroup.check { [weak self, weak owner] report in
            guard let self, let owner else { return }
            text.text = Self.words(owner.daemon, report?.checks ?? [])
        }
    }

    private static func words(_ daemon: DaemonMirror?, _ checks: [DoctorReport.Check]) -> String {
        let state = daemon?[\StreamInterface.state] ?? "unknown"
        let size = [daemon?[\StreamInterface.width], daemon?[\StreamInterface.height]]
        let numbers = size.map { "\($0 ?? 0)" }.joined(separator: " × ")
        let rate = daemon?[\StreamInterface.frameRate] ?? 0
        let cameras = Role.allCases.map { role in
            let state = daemon?[\CameraInterface.state, at: role.path] ?? "unknown"
            let reason = daemon?[\CameraInterface.interruption, at: role.path] ?? "none"
            return "\(role.rawValue): \(state)" + (reason == "none" ? "" : ", \(reason)")
        }
        let findings = checks.map { check in
            "\(check.isWell.map { $0 ? "✓" : "✗" } ?? "?") \(check.name): \(check.text)"
        }
        let head = ["DualCam \(DualCam.version), \(system)", "\(state), \(numbers), \(rate)/s"]
        let lines = head + cameras + findings + (daemon?[\StreamInterface.problems] ?? [])
        return lines.joined(separator: "\n").impersonal(without: personal)
    }

    /// The names of the system and of its desktop.
    private static var system: String {
        let lines = wholeText(of: "/etc/os-release", limit: 1 << 16).split(separator: "\n")
        let name = lines.first { $0.hasPrefix("PRETTY_NAME=") }?.dropFirst(12).filter { $0 != "\"" }
        let desktop = environmentVariable("XDG_CURRENT_DESKTOP")
        return [name, desktop].compactMap { $0 }.joined(separator: ", ")
    }

    /// The names of a person, which are left out.
    private static var personal: [String] {
        ["HOME", "USER", "LOGNAME", "HOSTNAME"].compactMap { environmentVariable($0) }
    }
}
