import Control
package import DBusKit

/// The camera permissions that the desktop's portal stores, by application.
package struct CameraPermissions {
    /// The entry of an application that may use cameras. With "ask", the portal opens no PipeWire.
    static let granted = ["yes"]

    private let connection: BusConnection?

    /// The permissions that are stored by the portal on this bus, if there is one.
    package init(connection: BusConnection?) { self.connection = connection }

    /// Returns what is stored; an application outside a sandbox is "".
    func stored() throws(Failure) -> [String: [String]] {
        do throws(DBusError) {
            let reply = try call("Lookup", [])
            guard case .dictionary(let entries, _, _)? = reply.first else {
                throw DBusError.failed("it did not send what was expected")
            }
            let known = entries.compactMap { key, value in
                key.string.map { ($0, value.array?.compactMap(\.string) ?? []) }
            }
            return Dictionary(known) { $1 }
        } catch {
            // Nothing is stored about cameras.
            if error.name.hasSuffix(".NotFound") { return [:] }
            throw failure(error)
        }
    }

    /// Stores the permissions of `application`, or forgets them for `nil`.
    func set(_ permissions: [String]?, for application: String) throws(Failure) {
        let isLast = try stored().keys.elementsEqual([application])
        do throws(DBusError) {
            if let permissions {
                let arguments: [Value] = [.string(application), .strings(permissions)]
                _ = try call("SetPermission", arguments, .boolean(true))
            } else if isLast {
                // The store of portal 1.16 fails to send a list that has become empty.
                _ = try call("Delete", [])
            } else {
                _ = try call("DeletePermission", [.string(application)])
            }
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: DBusError) -> Failure {
        Failure("the portal's permission store does not answer: \(error.message.printable)")
    }

    /// Calls a method about the entry of cameras; `option` comes between its table and its name.
    private func call(
        _ member: String,
        _ arguments: [Value],
        _ option: Value? = nil
    ) throws(DBusError) -> [Value] {
        guard let connection else { throw .failed("there is no session bus") }
        let store = "org.freedesktop.impl.portal.PermissionStore"
        return try connection.call(
            MethodCall(
                member,
                of: store,
                at: "/org/freedesktop/impl/portal/PermissionStore",
                on: store,
                [.string("devices")] + (option.map { [$0] } ?? []) + [.string("camera")]
                    + arguments,
                timeout: Client.defaultTimeout
            )
        )
    }
}
