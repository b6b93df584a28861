/// The credentials of a program, as the bus knows them.
package struct Credentials: Sendable {
    /// The user; `nil` if the bus cannot tell.
    package let user: UInt32?
    /// The process at the time when it connected; `nil` if the bus cannot tell.
    package let process: UInt32?
    /// A pidfd of that process (dbus 1.16), which is never mistaken for one that gets its id later.
    package let processDescriptor: SharedDescriptor?
    /// The label of the security module, such as "snap.name.app (enforce)"; `nil` without one.
    package let securityLabel: String?

    init(_ values: [String: Value]) {
        user = values["UnixUserID"].flatMap(UInt32.init(dbus:))
        process = values["ProcessID"].flatMap(UInt32.init(dbus:))
        processDescriptor = values["ProcessFD"].flatMap(SharedDescriptor.init(dbus:))
        let bytes = values["LinuxSecurityLabel"]?.array?.compactMap { value -> UInt8? in
            if case .byte(let byte) = value { byte } else { nil }
        }
        securityLabel = bytes.map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension BusConnection {
    /// Asks the bus about the program with a unique name. `completion` gets `nil` if it has left.
    package func credentials(
        of name: String,
        completion: @escaping (Credentials?) -> Void
    ) {
        let call = MethodCall.bus("GetConnectionCredentials", [.string(name)])
        do throws(DBusError) {
            try self.call(call) { answer in
                completion((try? answer.get())?.first?.named.map(Credentials.init))
            }
        } catch {
            completion(nil)
        }
    }
}
