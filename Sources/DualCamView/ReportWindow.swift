import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import Platform
import ViewCore

/// A report of a problem, to copy: what is sent is what is shown.
///
/// - Context: bound to GTK's thread.
final class ReportWindow {
    let window: Window
    private let text = TextView("Looking…")

    init(over owner: PictureWindow, closed: @escaping () -> Void) {
        let copy = Button("Copy").style("suggested-action")
        let close = Button("Close")
        let note = Label("Paste it into a report, and say what you did.", wraps: true)
        window = Window(
            owner.application,
            title: "Report a Problem",
            size: Size(width: 480, height: 400),
            Box(
                vertical: true,
                [
                    HeaderBar([close], [copy]),
                    ScrolledWindow(downwards: text).expand().style("card", "report"),
                    note.style("dim-label").place(.start, .end, margin: 12),
                ]
            )
        )
        window.belongs(to: self)
        window.setParent(owner.window)
        window.onClose {
            closed()
            return false
        }
        close.onClick { [unowned self] in window.close() }
        copy.onClick { [unowned self, unowned copy] in
            text.copy()
            copy.label = "Copied"
        }
        window.closesOnKey()
        window.present()
        DoctorGroup.check { [weak self, weak owner] report in
            guard let self, let owner else { return }
            text.text = ProblemReport(
                version: DualCam.version,
                system: Self.system,
                stream: owner.daemon?[\StreamInterface.state] ?? "not running",
                size: Size(
                    width: Int(owner.daemon?[\StreamInterface.width] ?? 0),
                    height: Int(owner.daemon?[\StreamInterface.height] ?? 0)
                ),
                rate: Int(owner.daemon?[\StreamInterface.frameRate] ?? 0),
                cameras: Role.allCases.map { role in
                    let daemon = owner.daemon
                    let state = daemon?[\CameraInterface.state, at: role.path] ?? "unknown"
                    let why = daemon?[\CameraInterface.interruption, at: role.path] ?? "none"
                    let format = daemon?[\CameraInterface.pixelFormat, at: role.path] ?? ""
                    let words = [state, why == "none" ? "" : why, format]
                    return (role.rawValue, words.filter { !$0.isEmpty }.joined(separator: ", "))
                },
                problems: owner.daemon?[\StreamInterface.problems] ?? [],
                checks: report?.checks ?? []
            ).text(without: Self.personal)
        }
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
