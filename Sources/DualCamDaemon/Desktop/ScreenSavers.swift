import DBusKit

/// A watch for screen savers and lock screens, by the interfaces of freedesktop.org and GNOME, for
/// desktops that do not inform logind. Bound to the connection's thread.
final class ScreenSavers {
    private let onChange: (Bool) -> Void
    private var peers: [Peer] = []
    private var active: Set<String> = []

    /// Calls `onChange` with `true` when the first becomes active, `false` when the last ends.
    init(on connection: BusConnection, onChange: @escaping (Bool) -> Void) {
        self.onChange = onChange
        // KDE has its object at the first path, older programs at the second.
        follow(
            "org.freedesktop.ScreenSaver",
            at: ["/org/freedesktop/ScreenSaver", "/ScreenSaver"],
            on: connection
        )
        follow("org.gnome.ScreenSaver", at: ["/org/gnome/ScreenSaver"], on: connection)
    }

    private func follow(_ name: String, at paths: [ObjectPath], on connection: BusConnection) {
        let index = peers.count
        peers.append(
            Peer(name, on: connection) { [unowned self] isThere in
                guard isThere else {
                    set(name, false)
                    return
                }
                for path in paths {
                    peers[index].ask("GetActive", of: name, at: path) { [weak self] result in
                        // Most have their object at one of the paths only.
                        guard case .success(let values) = result,
                            let isActive = values.first?.boolean
                        else { return }
                        self?.set(name, isActive)
                    }
                }
            }
        )
        for path in paths {
            peers[index].subscribe(name, at: path) { [unowned self] signal in
                guard signal.member == "ActiveChanged", let isOn = signal.arguments.first?.boolean
                else { return }
                set(name, isOn)
            }
        }
    }

    private func set(_ name: String, _ isActive: Bool) {
        let before = active.isEmpty
        if isActive { active.insert(name) } else { active.remove(name) }
        if active.isEmpty != before { onChange(!active.isEmpty) }
    }
}
