import Control
import DBusKit
import DualCamCore

/// The Configuration interface on the session bus: the keys of the configuration file.
@MainActor
final class ConfigurationService {
    /// The keys as the property shows them, and what they were made of: it is read after each
    /// event, and they seldom change.
    private var shown: (configuration: Configuration, values: [String: Value])

    init(_ daemon: Daemon, _ editor: SourceEditor, on server: ObjectServer) {
        shown = (daemon.configuration, daemon.configuration.values)
        server.export(ConfigurationInterface.self, at: DualCam.path) { [unowned self] keys in
            keys.get(\.values) { [unowned self] in
                if daemon.configuration != shown.configuration {
                    shown = (daemon.configuration, daemon.configuration.values)
                }
                return shown.values
            }
            keys.answer(\.set) { call in
                editor.set(call.arguments, for: call.sender) { error in
                    if let error { call.fail(error) } else { call.reply() }
                }
            }
        }
    }
}

extension Configuration {
    /// The keys with their values, as they are on D-Bus. An address is without its password.
    fileprivate var values: [String: Value] {
        plain.reduce(into: [:]) { values, entry in
            let address = entry.value.text.flatMap { $0.hasPrefix("url:") ? $0 : nil }
            values[entry.key] =
                address.map { .string(NetworkAddress.redacted($0)) } ?? Value(entry.value)
        }
    }
}
