import Control
import DBusKit
import DualCamCore

extension Handlers {
    /// Shows each setting among `rows` that is a writable property without a handler, sets it, and
    /// takes its steps. `names` are those of properties that are not called as their setting.
    @MainActor
    func bind<Owner: Hashable>(
        _ rows: [Setting<Owner>],
        at path: any WritableKeyPath<Settings, Owner> & Sendable,
        of daemon: Daemon,
        as names: [String: String] = [:]
    ) {
        for property in unhandled {
            let name = names[property.name] ?? property.name
            guard let row = rows.first(where: { $0.busName == name }) else { continue }
            bind(property) {
                Value(row.plain(daemon.state.settings[keyPath: path]), as: property.type)
            } set: { value throws(DBusError) in
                var owner = daemon.state.settings[keyPath: path]
                let plain = Plain(value)
                do throws(UnreadableValue) { try row.read(plain, &owner) } catch {
                    throw row.refusal(of: plain, error)
                }
                daemon.send(.set(path, owner))
            } step: { step throws(DBusError) in
                let change = row.range == nil ? Double(try step.turns) : try step.number
                var owner = daemon.state.settings[keyPath: path]
                guard let isLimited = row.step(change, &owner) else {
                    throw .outOfRange("\(property.name) does not change by \(change.tidy).")
                }
                daemon.send(.set(path, owner))
                step.accept(isLimited: isLimited)
            }
        }
    }
}

extension Setting {
    fileprivate func refusal(of plain: Plain, _ error: UnreadableValue) -> DBusError {
        if let range, let number = plain.number {
            return .outOfRange(outOfRangeText(busName, range, not: number))
        }
        if let reason = error.reason {
            return .outOfRange("These corners cannot be shown: \(reason).")
        }
        let given = plain.text.map { "“\($0.prefix(64))”" } ?? plain.excerpt
        return .outOfRange("\(busName) must be \(error.expected), not \(given).")
    }
}
