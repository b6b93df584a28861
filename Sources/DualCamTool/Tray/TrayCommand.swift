import ArgumentParser
import Control
import DBusKit
import Doctor
import DualCamCore
import Glibc
import Platform

struct Tray: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show DualCam in the system tray until interrupted.",
        discussion: """
            Needs a tray that supports StatusNotifierItem: Plasma, Xfce, Cinnamon, Waybar, swaybar, \
            or GNOME with the AppIndicator extension. If there is none yet, it waits for one.
            """
    )

    @Option(
        help: ArgumentHelp(
            "Choose if it is shown after each login, and do nothing else.",
            valueName: "value"
        )
    )
    var atLogin: Switch?

    func run() throws {
        if let atLogin { return try start(atLogin) }
        let client = try Client()
        let item = TrayItem(client.connection) { client.loop.stop() }
        var probing: EventLoop.Timer?
        probing = try client.loop.timer {
            item.probe()
            probing?.arm(after: Self.interval)
        }
        probing?.arm(after: Self.interval)
        try withExtendedLifetime(item) { try client.runUntilEnded() }
    }

    /// The seconds from one look at the daemon, which may hang, to the next.
    private static let interval = 5.0

    /// Switches the entry of the tray among what starts with the session.
    private func start(_ wish: Switch) throws {
        guard let entry = Autostart.tray else { throw Failure("there is no home directory") }
        try entry.set(wish == .toggle ? !entry.isOn : wish == .on)
    }
}

struct View: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the picture in a window.",
        discussion: "Starts dualcam-view, from the package of that name."
    )

    func run() throws {
        guard DualCamWindow.isInstalled else {
            throw Failure("dualcam-view is not installed; its package has the same name")
        }
        DualCamWindow.become()
        throw Failure("dualcam-view does not start")
    }
}

/// The program of the window, which may be installed or not.
enum DualCamWindow {
    private static let name = "dualcam-view"

    /// The program: beside this one, or where the shell finds it.
    private static var path: String? { programBeside(name) ?? pathOfProgram(name) }

    static var isInstalled: Bool { path != nil }

    /// Becomes the window's program. Returns only if that fails.
    static func become() {
        guard let path else { return }
        var words: [UnsafeMutablePointer<CChar>?] = [strdup(name), nil]
        execv(path, &words)
    }

    /// Starts it detached from this process.
    static func start() {
        guard let path else { return }
        // The shell ends at once, and leaves the window to the system.
        _ = try? Program.status(of: [
            "sh", "-c", "setsid \"$0\" </dev/null >/dev/null 2>&1 &", path,
        ])
    }
}
