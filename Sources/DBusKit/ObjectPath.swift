import CDBus

/// Where an object stands: "/org/dualcam/DualCam1". Always valid.
package struct ObjectPath: Hashable, Sendable, Comparable {
    /// As it is written.
    package let text: String

    /// Nil when `text` is not an object path.
    package init?(_ text: String) {
        guard isValid(text, dbus_validate_path) else { return nil }
        self.text = text
    }

    private init(unchecked text: String) { self.text = text }

    /// "/".
    package static let root = ObjectPath(unchecked: "/")

    /// By the text.
    package static func < (a: ObjectPath, b: ObjectPath) -> Bool { a.text < b.text }

    /// Whether `self` stands somewhere below `other`.
    func isBelow(_ other: ObjectPath) -> Bool {
        self != other && (other == .root || text.hasPrefix(other.text + "/"))
    }

    /// The next element of `descendant` after `self`, which it stands below.
    func child(towards descendant: ObjectPath) -> String? {
        guard descendant.isBelow(self) else { return nil }
        let rest = descendant.text.dropFirst(self == .root ? 1 : text.count + 1)
        return rest.split(separator: "/").first.map(String.init)
    }
}

extension ObjectPath: ExpressibleByStringLiteral {
    /// The path that a literal in our own code spells.
    package init(stringLiteral text: String) {
        guard let path = ObjectPath(text) else { preconditionFailure("“\(text)” is not a path") }
        self = path
    }
}

/// Whether libdbus takes `text` for what `rule`, one of its dbus_validate_ functions, checks.
/// It aborts the process on names that it does not take, so nothing reaches it unasked.
func isValid(
    _ text: String,
    _ rule: (UnsafePointer<CChar>, UnsafeMutablePointer<CDBus.DBusError>?) -> dbus_bool_t
) -> Bool {
    !text.utf8.contains(0) && rule(text, nil) != 0
}
