import Control
import DBusKit

/// The property Devices in a form that people read.
enum DeviceText {
    private static let nothing = """
        there is no video device
        Plug a camera in, or try a test picture: dualcamctl use back test

        """

    /// Returns a line for each device: its place in use, path, name and reason, and below it the
    /// name to write into the configuration and the formats with their largest sizes.
    static func table(_ devices: [[String: Value]]) -> String {
        guard !devices.isEmpty else { return nothing }
        let rows = devices.map { device in
            (
                role: text("role", of: device), path: text("path", of: device),
                name: text("name", of: device), reason: text("reason", of: device),
                more: [text("id", of: device), modes(of: device)].filter { !$0.isEmpty }
            )
        }
        let path = rows.map(\.path.columns).max() ?? 0
        let name = rows.map(\.name.columns).max() ?? 0
        return rows.map { row in
            let role = row.role.isEmpty ? "–" : row.role
            let line =
                "\(role.padded(to: 6)) \(row.path.padded(to: path))  \(row.name.padded(to: name))  "
                + (row.role.isEmpty ? Colour.grey(row.reason) : row.reason)
            return line + "\n" + "       " + Colour.grey(row.more.joined(separator: " · ")) + "\n"
        }.joined()
    }

    private static func text(_ key: String, of device: [String: Value]) -> String {
        device[key]?.string?.printable ?? ""
    }

    /// Returns the formats of the device, each with its largest mode: "MJPG 1920x1080@30".
    private static func modes(of device: [String: Value]) -> String {
        var formats: [(name: String, mode: String, area: Int)] = []
        for mode in (device["modes"]?.array ?? []).compactMap({ $0.string?.printable }) {
            let parts = mode.split(separator: "/", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let size = parts[0].prefix { $0 != "@" }.split(separator: "x").compactMap { Int($0) }
            guard size.count == 2, size.allSatisfy({ (0...1 << 20).contains($0) }) else { continue }
            let found = (name: String(parts[1]), mode: String(parts[0]), area: size[0] * size[1])
            guard let index = formats.firstIndex(where: { $0.name == found.name }) else {
                formats.append(found)
                continue
            }
            if found.area > formats[index].area { formats[index] = found }
        }
        return formats.map { "\($0.name) \($0.mode)" }.joined(separator: ", ")
    }
}
