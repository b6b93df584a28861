import DBusKit
import Glibc
import Platform

/// KWin on Wayland, where no program may put its window above others: a script of KWin's may.
enum KWinScript {
    private static let name = "org.kde.KWin"
    private static let plugin = "dualcam-view"

    /// The script. Plasma 5 and 6 call the list of windows differently.
    private static let text = """
        var all = workspace.windowList ? workspace.windowList() : workspace.clientList();
        for (var i = 0; i < all.length; i++) {
            if (String(all[i].resourceClass).toLowerCase() != "org.dualcam.view") continue;
            if (all[i].caption != "DualCam") continue;
            all[i].keepAbove = true;
            all[i].onAllDesktops = true;
        }

        """

    /// Asks KWin, if it runs, to keep the window above others and on every desktop.
    /// The script is in `folder`.
    static func keepAbove(_ connection: BusConnection, folder: String? = RuntimeDirectory.path) {
        guard let folder else { return }
        let path = "\(folder)/keep-above.js"
        do throws(SystemError) {
            try makeDirectory(folder)
            try NewFile.replace(path, with: Array(text.utf8), mode: 0o600)
        } catch {
            return
        }
        load(path, connection, tries: 2)
    }

    private static func load(_ path: String, _ connection: BusConnection, tries: Int) {
        func unload(_ done: @escaping () -> Void = {}) {
            ask(connection, "unloadScript", [.string(plugin)]) { _ in done() }
        }
        ask(connection, "loadScript", [.string(path), .string(plugin)]) { answer in
            guard let number = answer?.first?.integer else { return }
            // A negative number: a window that was killed has left it loaded.
            guard number >= 0 else {
                return unload { if tries > 0 { load(path, connection, tries: tries - 1) } }
            }
            let script = "org.kde.kwin.Script"
            guard let new = ObjectPath("/Scripting/Script\(number)"),
                let old = ObjectPath("/\(number)")
            else { return }
            // Plasma 6, and before.
            ask(connection, "run", of: script, at: new) { answer in
                if answer != nil { return unload() }
                ask(connection, "run", of: script, at: old) { _ in unload() }
            }
        }
    }

    private static func ask(
        _ connection: BusConnection,
        _ member: String,
        of interface: String = "org.kde.kwin.Scripting",
        at path: ObjectPath = "/Scripting",
        _ arguments: [Value] = [],
        _ done: @escaping ([Value]?) -> Void
    ) {
        let call = MethodCall(
            member,
            of: interface,
            at: path,
            on: name,
            arguments,
            startsService: false,
            timeout: 5
        )
        try? connection.call(call) { done(try? $0.get()) }
    }
}
