import DBusKit

/// The camera permissions that the desktop's portal stores, by application.
struct CameraPermissions {
    /// The store's entry for an application that may use cameras. "ask" does not do: the portal
    /// then refuses to open PipeWire.
    static let granted = ["yes"]

    private static let store = "org.freedesktop.impl.portal.PermissionStore"
    private static let table: [Value] = [.string("devices"), .string("camera")]

    let connection: BusConnection?

    /// Returns what is stored; an application outside a sandbox is "".
    ///
    /// - Throws: `Failure` if nobody answers.
    func stored(startsService: Bool = true) throws(Failure) -> [String: [String]] {
        do throws(DBusError) {
            let reply = try call("Lookup", Self.table, startsService: startsService)
            guard case .dictionary(let entries, _, _)? = reply.first else {
                throw DBusError.failed("it did not send what was expected")
            }
            var result: [String: [String]] = [:]
            for (key, value) in entries {
                guard let name = key.string else { continue }
                result[name] = value.array?.compactMap(\.string) ?? []
            }
            return result
        } catch {
            // Nothing is stored about cameras.
            if error.name.hasSuffix(".NotFound") { return [:] }
            throw failure(error)
        }
    }

    /// Stores the permissions of `application`, or forgets them for `nil`.
    ///
    /// - Throws: `Failure` if that is refused.
    func set(_ permissions: [String]?, for application: String) throws(Failure) {
        let known = try stored().keys
        let isLast = permissions == nil && known.elementsEqual([application])
        do throws(DBusError) {
            if let permissions {
                let arguments: [Value] = [
                    .string("devices"), .boolean(true), .string("camera"), .string(application),
                    .strings(permissions),
                ]
                _ = try call("SetPermission", arguments)
            } else if isLast {
                // The store of portal 1.16 fails to send a list that has become empty.
                _ = try call("Delete", Self.table)
            } else {
                _ = try call("DeletePermission", Self.table + [.string(application)])
            }
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: DBusError) -> Failure {
        Failure("the portal's permission store does not answer: \(error.message.printable)")
    }

    private func call(
        _ member: String,
        _ arguments: [Value],
        startsService: Bool = true
    ) throws(DBusError) -> [Value] {
        guard let connection else { throw .failed("there is no session bus") }
        return try connection.call(
            MethodCall(
                member,
                of: Self.store,
                at: "/org/freedesktop/impl/portal/PermissionStore",
                on: Self.store,
                arguments,
                startsService: startsService,
                timeout: Client.defaultTimeout
            )
        )
    }
}
