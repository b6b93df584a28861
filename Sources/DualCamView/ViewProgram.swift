import Control
import DBusKit
import Frames
import GTK
import Glibc
import Platform

/// The window's program: the desktop's application, the daemon, and the pictures of its stream.
final class ViewProgram {
    /// The name on the bus, and of the desktop file and the icon.
    static let id = "org.dualcam.View"

    private let application: Application
    /// The loop of D-Bus and of what the pictures' thread posts; GTK's loop runs it.
    private let loop: EventLoop?
    private var window: PictureWindow?
    private var picking: PickService?

    /// Creates the program, of which there is one in a session if it `isUnique`.
    init(isUnique: Bool) {
        Backend.choose()
        application = Application(id: Self.id, isUnique: isUnique)
        loop = try? EventLoop()
    }

    /// Runs until the window is closed; returns the exit status.
    func run(isService: Bool) -> CInt {
        guard let loop else {
            complain("There are no descriptors left.")
            return 1
        }
        guard hasDisplay else { return 1 }
        MainLoop.watch(loop.descriptor) { loop.runOnce(milliseconds: 0) }
        application.onStartup { [unowned self] in started() }
        application.onActivate { [unowned self] in show(loop) }
        picking = PickService(application, loop)
        let arguments = ["dualcam-view"] + (isService ? ["--gapplication-service"] : [])
        let status = application.run(arguments)
        window?.end()
        return status
    }

    /// Lets the user choose among the pictures taken; returns the paths, none if none was chosen,
    /// and `nil` where there is no session to find DualCam in.
    func pick(_ wish: PickWindow.Wish) -> [String]? {
        guard let loop, let connection = try? BusConnection(loop: loop) else {
            complain("There is no session bus.")
            return nil
        }
        guard hasDisplay else { return [] }
        MainLoop.watch(loop.descriptor) { loop.runOnce(milliseconds: 0) }
        var chosen: [String] = []
        let daemon = DaemonMirror(connection)
        application.onStartup { [unowned self] in started() }
        application.onActivate { [unowned self] in
            _ = PickWindow(application, daemon, wish) { [unowned self] paths in
                chosen = paths
                application.quit()
            }
        }
        _ = application.run(["dualcam-view"])
        return chosen
    }

    private var hasDisplay: Bool {
        let isThere = Backend.start()
        if !isThere { complain("There is no display here. Run it in your desktop session.") }
        return isThere
    }

    private func started() {
        Backend.forget()
        application.style(styleSheet(textScale))
        // One that is not installed has its icons among its sources.
        if let path = resolvedPath("/proc/self/exe"), let end = path.firstRange(of: "/.build/") {
            application.addIcons("\(path[..<end.lowerBound])/desktop/icons")
        }
    }

    private func show(_ loop: EventLoop) {
        if let window { return window.present() }
        do throws(SystemError) {
            window = try PictureWindow(application, loop) { [unowned self] in letGo() }
        } catch {
            complain("\(error)")
            application.quit()
        }
    }

    private func letGo() {
        window?.end()
        window = nil
    }
}

func complain(_ message: String) {
    let bytes = Array("dualcam-view: \(message)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
