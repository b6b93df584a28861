package import DualCamCore

/// The cameras that one of the two roles can have.
package struct DeviceChoice: Hashable, Sendable {
    /// A camera to choose.
    package struct Option: Hashable, Sendable {
        /// The word for `Camera.Use`.
        package var device: String
        package var name: String
    }

    package var options: [Option]
    /// The one that the role has.
    package var present: Int
    package var chosen: Option { options[present] }
    /// Those that neither role has, and that have pictures.
    package var others: [Option]

    /// Creates the choice of a role that has the camera called `name` from `source` now, among the
    /// `devices` that are there: their identities, names, and the roles that they have. Some, as
    /// `isCamera` tells, only have data beside the pictures of another.
    package init(
        _ role: Role,
        source: String,
        name: String,
        devices: [(id: String, name: String, role: String)],
        isCamera: (_ id: String) -> Bool = { _ in true }
    ) {
        options = devices.enumerated().map { index, device in
            let before = devices[..<index].count { $0.name == device.name }
            let name = before > 0 ? "\(device.name) (\(before + 1))" : device.name
            return Option(device: device.id, name: name)
        }
        others = zip(options, devices).filter { $1.role.isEmpty && isCamera($1.id) }.map(\.0)
        if let index = devices.firstIndex(where: { $0.role == role.rawValue }) {
            present = index
        } else {
            // A test picture, a file, a phone, or a camera that is not there.
            options.append(Option(device: source, name: name.isEmpty ? Self.words(source) : name))
            present = options.count - 1
        }
    }

    /// The words for a source whose camera has no name.
    private static func words(_ source: String) -> String {
        switch source.prefix(while: { $0 != ":" }) {
        case "auto": "Automatic"
        case "test": "Test picture"
        case "file": source.split(separator: "/").last.map(String.init) ?? "File"
        case "v4l2", "pipewire": "A camera that is not there"
        default: "A camera on the network"
        }
    }
}
