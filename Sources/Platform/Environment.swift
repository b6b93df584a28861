import Glibc

/// Returns the value of the environment variable `name`; `nil` if it is not set.
package func environmentVariable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}

/// Returns the value of the environment variable `name`; `nil` if it is not set, or empty.
package func nonemptyVariable(_ name: String) -> String? {
    environmentVariable(name).flatMap { $0.isEmpty ? nil : $0 }
}

/// Returns the environment variable `name` if it is an absolute path.
private func absoluteVariable(_ name: String) -> String? {
    environmentVariable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
}

/// A base directory of the user's files (XDG), which requires ignoring relative paths.
package enum BaseDirectory: String, Sendable {
    /// The directory of what can be made again.
    case cache = "XDG_CACHE_HOME"
    case configuration = "XDG_CONFIG_HOME"
    case data = "XDG_DATA_HOME"
    /// The directory of what survives a restart.
    case state = "XDG_STATE_HOME"

    /// The path; `nil` without a home directory.
    package var path: String? {
        absoluteVariable(rawValue) ?? absoluteVariable("HOME").map { "\($0)/\(usual)" }
    }

    /// Returns the path for a user whose home directory is `home`.
    package func path(in home: String) -> String {
        absoluteVariable(rawValue) ?? "\(home)/\(usual)"
    }

    /// The path in a home directory where nothing else is set.
    private var usual: String {
        switch self {
        case .cache: ".cache"
        case .configuration: ".config"
        case .data: ".local/share"
        case .state: ".local/state"
        }
    }
}

/// The directory for what a restart of the daemon needs, and a restart of the machine does not.
package enum RuntimeDirectory {
    /// $XDG_RUNTIME_DIR/dualcam, which need not exist; `nil` if the variable is no absolute path.
    package static var path: String? {
        absoluteVariable("XDG_RUNTIME_DIR").map { "\($0)/dualcam" }
    }
}

/// `true` if systemctl(1) reaches the user's systemd at this socket, with or without a bus.
package var runsUsersSystemd: Bool {
    access("\(environmentVariable("XDG_RUNTIME_DIR") ?? "")/systemd/private", F_OK) == 0
}

/// Returns the path of PipeWire's socket called `remote`, a name or a path, or of the user's if it
/// is `nil`: https://docs.pipewire.org/page_man_pipewire_1.html. Returns `nil` if the environment
/// does not determine it.
package func pipeWireSocketPath(_ remote: String? = nil) -> String? {
    let name = remote ?? nonemptyVariable("PIPEWIRE_REMOTE") ?? "pipewire-0"
    if name.hasPrefix("/") { return name }
    let directory = nonemptyVariable("PIPEWIRE_RUNTIME_DIR") ?? nonemptyVariable("XDG_RUNTIME_DIR")
    return directory.map { "\($0)/\(name)" }
}
