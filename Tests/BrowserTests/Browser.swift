import Foundation
import Glibc
import TestSupport

/// The parts of a desktop that a bare session lacks: a display, and the portal through which
/// browsers reach cameras. Ends with the session.
final class BrowserDesktop {
    let session: PrivateSession
    private let display: String

    /// Starts them in `session`; unless `isNew`, the permission to use cameras is granted already.
    init(in session: PrivateSession, isNew: Bool = false) throws {
        self.session = session
        let server = try session.run("Xvfb", "-displayfd", "1", "-nolisten", "tcp")
        display = try eventually("a display") {
            server.output.hasSuffix("\n")
                ? ":" + server.output.trimmingCharacters(in: .whitespacesAndNewlines) : nil
        }
        let backend = "org.freedesktop.impl.portal"
        try start("xdg-permission-store", owning: "\(backend).PermissionStore")
        // Portal 1.16 crashes without it when it is asked for a camera.
        try start("xdg-desktop-portal-gtk", owning: "\(backend).desktop.gtk")
        if !isNew {
            _ = try permissions(
                "SetPermission",
                "sbssas",
                "devices",
                "true",
                "camera",
                "",
                "1",
                "yes"
            )
        }
        try start("xdg-desktop-portal", owning: "org.freedesktop.portal.Desktop")
    }

    /// Calls `member` of the portal's permission store, and returns the reply, which is empty for
    /// an error.
    func permissions(_ member: String, _ arguments: String...) throws -> String {
        let name = "org.freedesktop.impl.portal.PermissionStore"
        let path = "/" + name.replacing(".", with: "/")
        let child = try session.run(
            "busctl",
            ["--user", "call", name, path, name, member] + arguments
        )
        return try child.wait() == .status(0) ? child.output : ""
    }

    /// Starts a program that needs a display.
    func run(
        _ program: String,
        _ arguments: [String],
        adding variables: [String: String] = [:]
    ) throws -> Child {
        try session.run(
            program,
            arguments,
            adding: ["DISPLAY": display, "XDG_CURRENT_DESKTOP": "gtk"].merging(variables) { $1 }
        )
    }

    func waitForCamera() throws {
        try eventually("the portal to know of a camera") {
            try session.output(
                "busctl",
                "--user",
                "get-property",
                "org.freedesktop.portal.Desktop",
                "/org/freedesktop/portal/desktop",
                "org.freedesktop.portal.Camera",
                "IsCameraPresent"
            ) == "b true\n"
        }
    }

    private func start(_ service: String, owning name: String) throws {
        let child = try run("/usr/libexec/\(service)", [])
        try eventually("\(service) on the bus; it wrote: \(child.errors)", within: 20) {
            try session.output(
                "busctl",
                "--user",
                "call",
                "org.freedesktop.DBus",
                "/org/freedesktop/DBus",
                "org.freedesktop.DBus",
                "NameHasOwner",
                "s",
                name
            ) == "b true\n"
        }
    }
}

/// A headless Chromium that shows one page and may use the camera. Ends with its owner.
final class Browser {
    /// The failure of a Chromium that ended its own camera process; see `next`.
    struct Raced: Error {}

    private let server: PageServer
    private let child: Child

    init(on desktop: BrowserDesktop, showing page: Data) throws {
        server = try PageServer(page: page)
        let command = chromium("\(desktop.session.directory)/profile-\(UUID().uuidString)")
        child = try desktop.run(
            command[0],
            command.dropFirst() + [
                // PipeWire cameras are still experimental in Chromium.
                "--enable-features=WebRtcPipeWireCamera",
                // No user is there to click on "Allow".
                "--use-fake-ui-for-media-stream",
                "--enable-logging=stderr",
                "--vmodule=*video_capture*=2,*pipewire*=2,*portal*=2,*camera*=2",
                server.address,
            ]
        )
    }

    /// Lets the page continue with `answer`, and waits for its next report.
    ///
    /// - Throws: `Raced` when a check in Chromium's own capturer (RTC_CHECK_RUNS_SERIALIZED, "Check
    ///   failed: !race_checker…") has failed, which ends the process that has the camera. This
    ///   happens now and then while any PipeWire camera is opened, and with GStreamer's test source
    ///   as well: in 1 of 16 starts of Chromium 156 on two busy processors.
    func next(within seconds: Double, answering answer: String = "") throws -> PageServer.Report {
        func hasRaced() -> Bool { child.errors.contains("Check failed: !race_checker") }
        do {
            // Only the first reply is waited for.
            return try eventually("the page's report", within: seconds) {
                if hasRaced() { throw Raced() }
                return try server.next(within: 0.5, answering: answer)
            }
        } catch {
            // The page may notice the end of the process before it is in the log.
            if hasRaced() { throw Raced() }
            throw error
        }
    }

    /// Closes the browser as a user would, and waits until it is gone.
    func quit() throws {
        child.signal(SIGTERM)
        try child.wait()
    }
}
