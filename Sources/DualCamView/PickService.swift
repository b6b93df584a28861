import Control
import DBusKit
import GTK
import Platform
import ViewCore

/// `org.dualcam.View.Pick` on D-Bus: other programs let people choose among the pictures taken.
final class PickService {
    private let application: Application
    private let loop: EventLoop
    private var object: BusObject?

    /// The description for introspection; docs/window.md has the one for people.
    private static let interface = """
        <node><interface name="\(ViewProgram.id)">
        <method name="Pick">
        <arg name="parent_window" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="paths" type="as" direction="out"/>
        </method>
        </interface></node>
        """

    /// Offers it by the name of `application`, which does not run yet.
    init(_ application: Application, _ loop: EventLoop) {
        self.application = application
        self.loop = loop
        object = BusObject(Self.interface, at: "/org/dualcam/View") { [unowned self] in pick($0) }
    }

    private func pick(_ call: BusObject.Call) {
        var wish = PickWindow.Wish(isMultiple: call.flag(1, "multiple") ?? false)
        switch call.text(1, "type") {
        case nil, "": break
        case "photo": wish.kind = .photo
        case "video": wish.kind = .movie
        case let other?:
            return call.fail(
                "org.freedesktop.DBus.Error.InvalidArgs",
                "The type must be photo or video, not “\(other)”."
            )
        }
        guard let connection = try? BusConnection(loop: loop) else {
            return call.fail("org.freedesktop.DBus.Error.Failed", "There is no session bus.")
        }
        let window = PickWindow(application, DaemonMirror(connection), wish) { call.reply($0) }
        window.setParent(handle: call.text(0))
    }
}
