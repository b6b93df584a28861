import Control
import DBusKit
import Frames
import GTK
import Glibc
import Platform

/// The window's program: the desktop's application, the daemon, and the pictures of its stream.
///
/// - Context: bound to GTK's thread.
final class ViewProgram {
    /// The name on the bus, and of the desktop file and the icon.
    static let id = "org.dualcam.View"

    private let application: Application
    /// The loop of D-Bus and of what the pictures' thread posts; GTK's loop runs it.
    private let loop: EventLoop?
    private var window: PictureWindow?
    private var picking: PickService?
    /// A window that is closed, as long as GTK may still tell it so.
    private var closing: (window: PictureWindow, timer: MainLoop.Timer)?

    /// Creates the program, of which there is one in a session if it `isUnique`.
    init(isUnique: Bool) {
        Backend.choose()
        application = Application(id: Self.id, isUnique: isUnique)
        loop = try? EventLoop()
    }

    /// Runs until the window is closed; returns the exit status.
    func run(isService: Bool) -> CInt {
        guard let loop else {
            complain("there are no descriptors left")
            return 1
        }
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
            complain("there is no session bus")
            return nil
        }
        MainLoop.watch(loop.descriptor) { loop.runOnce(milliseconds: 0) }
        var window: PickWindow?
        var chosen: [String] = []
        let daemon = DaemonMirror(connection)
        application.onStartup { [unowned self] in started() }
        application.onActivate { [unowned self] in
            window = PickWindow(application, daemon, wish) { [unowned self] paths in
                chosen = paths
                application.quit()
            }
        }
        _ = application.run(["dualcam-view"])
        return withExtendedLifetime(window) { chosen }
    }

    private func started() {
        Backend.forget()
        application.style(styleSheet)
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

    /// Lets go of the window, which is to be closed. GTK hides and ends it after this.
    private func letGo() {
        guard let window else { return }
        window.end()
        self.window = nil
        closing = (window, MainLoop.Timer(after: 0) { [unowned self] in closing = nil })
    }
}

/// Writes a message to standard error.
func complain(_ message: String) {
    let bytes = Array("dualcam-view: \(message)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
