import Glibc
import Platform

/// The version of the desktop's portal, which decides by which identity it knows apps outside a
/// sandbox.
struct PortalVersion: Equatable {
    let numbers: [Int]

    /// The version as text: "1.20.3".
    var text: String { numbers.map(String.init).joined(separator: ".") }

    /// Reads what the portal's program says of itself: "xdg-desktop-portal 1.20.3". `nil` for other
    /// words.
    init?(_ words: String) {
        let parts = words.split(whereSeparator: \.isWhitespace)
        guard parts.count >= 2, parts[0] == "xdg-desktop-portal" else { return nil }
        let numbers = parts[1].split(separator: ".").map { Int($0) }
        guard (2...4).contains(numbers.count), !numbers.contains(nil) else { return nil }
        self.numbers = numbers.compactMap(\.self)
    }

    /// `true` if an app is known by the name of its desktop entry, as far as the desktop has
    /// started it or it has said its name. `false` if all apps outside a sandbox are one, without a
    /// name: in versions before 1.14, and for cameras from 1.19.2 until 1.21.
    var knowsNames: Bool {
        func isBefore(_ other: [Int]) -> Bool { numbers.lexicographicallyPrecedes(other) }
        return !isBefore([1, 14]) && (isBefore([1, 19, 2]) || !isBefore([1, 21]))
    }

    /// Returns the version of the portal that the session bus starts by the service file in one of
    /// `folders`, the first first; `nil` if there is none, or it does not say.
    static func installed(in folders: [String]) -> PortalVersion? {
        let file = "dbus-1/services/org.freedesktop.portal.Desktop.service"
        let paths: [String] = folders.map { "\($0)/\(file)" }
        guard let path = paths.first(where: { access($0, R_OK) == 0 }),
            let line = wholeText(of: path).split(separator: "\n").first(where: {
                $0.hasPrefix("Exec=")
            }), let program = line.dropFirst("Exec=".count).split(separator: " ").first,
            // Another program may take the word below for something else.
            program.hasPrefix("/"), program.hasSuffix("/xdg-desktop-portal")
        else { return nil }
        return Program.output(of: [String(program), "--version"]).flatMap(PortalVersion.init)
    }
}
