import CDBus

/// The path of an object, such as "/org/dualcam/DualCam1". Always valid.
package struct ObjectPath: Hashable, Sendable, Comparable {
    package let text: String

    /// Creates a path. `nil` if `text` is not a valid one.
    package init?(_ text: String) {
        guard isValid(text, dbus_validate_path) else { return nil }
        self.text = text
    }

    private init(unchecked text: String) { self.text = text }

    package static let root = ObjectPath(unchecked: "/")

    /// Compares the texts of the paths.
    package static func < (a: ObjectPath, b: ObjectPath) -> Bool { a.text < b.text }

    /// Returns `true` if the path is anywhere below `other`.
    func isBelow(_ other: ObjectPath) -> Bool {
        self != other && (other == .root || text.hasPrefix(other.text + "/"))
    }

    /// Returns the element of `descendant` after this path; `nil` if it is not below it.
    func child(towards descendant: ObjectPath) -> String? {
        guard descendant.isBelow(self) else { return nil }
        let rest = descendant.text.dropFirst(self == .root ? 1 : text.count + 1)
        return rest.split(separator: "/").first.map(String.init)
    }
}

extension ObjectPath: ExpressibleByStringLiteral {
    /// Creates a path from a literal, which must be valid.
    package init(stringLiteral text: String) {
        guard let path = ObjectPath(text) else { preconditionFailure("“\(text)” is not a path") }
        self = path
    }
}

/// Returns `true` if `text` passes `rule`, one of libdbus's dbus_validate_ functions. libdbus
/// aborts the process on invalid names, so every name is checked first.
func isValid(
    _ text: String,
    _ rule: (UnsafePointer<CChar>, UnsafeMutablePointer<CDBus.DBusError>?) -> dbus_bool_t
) -> Bool {
    !text.utf8.contains(0) && rule(text, nil) != 0
}
