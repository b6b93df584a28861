/// A device, or what stands in for one, that a role uses as its camera or as one of its lenses.
package struct SourceUse: Hashable, Sendable {
    /// The source by which it is opened: never `auto`, and with its name for a test picture.
    package let specification: SourceSpecification
    /// The stable identity, kept over restarts: "v4l2:usb-…-video-index0", "test:bars".
    package let identity: String
    /// The name that people read: "Desk Cam".
    package let name: String
    /// The attached device; `nil` while there is none, and for a source that is no device.
    package let device: CameraDevice?
    /// `true` for a device that is attached, or was.
    package let isKnown: Bool
    /// The path of the file with the user and password of a camera on the network.
    package let credentials: String?

    private init(
        _ specification: SourceSpecification,
        identity: String,
        name: String,
        device: CameraDevice? = nil,
        isKnown: Bool = false,
        credentials: String? = nil
    ) {
        self.specification = specification
        self.identity = identity
        self.name = name
        self.device = device
        self.isKnown = isKnown
        self.credentials = credentials
    }

    package init(_ device: CameraDevice) {
        self.init(
            Self.specification(device.identity),
            identity: device.identity,
            name: device.name,
            device: device,
            isKnown: true
        )
    }

    /// The same device once it is gone, which may come back.
    package var absent: SourceUse {
        SourceUse(specification, identity: identity, name: name, isKnown: true)
    }

    /// The use that `source` asks for in the camera of `role`; `nil` if `auto` has no device.
    /// `device` is the one that `assign` gave the role. Throws `UnknownTestPicture`.
    package init?(
        _ source: SourceSpecification,
        role: Role,
        device: CameraDevice?,
        credentials: String? = nil
    ) throws(UnknownTestPicture) {
        switch source {
        case .auto:
            guard let device else { return nil }
            self.init(device)
        case .v4l2(let name):
            if let device {
                self.init(device)
            } else {
                self.init(source, identity: "v4l2:\(name)", name: name)
            }
        case .test(let name):
            let name = name ?? role.rawValue
            let end = "-plain"
            let picture = name.hasSuffix(end) ? String(name.dropLast(end.count)) : name
            guard SourceSpecification.testPictures.contains(picture) else {
                throw UnknownTestPicture(name: name)
            }
            let words = "Test picture (\(picture))"
            self.init(.test(name), identity: "test:\(name)", name: words)
        case .file(let path):
            let name = path.split(separator: "/").last.map(String.init) ?? path
            self.init(source, identity: "file:\(path)", name: name)
        case .pipewire(let node): self.init(source, identity: "pipewire:\(node)", name: node)
        case .url(let address):
            self.init(
                source,
                identity: address.identity,
                name: address.host,
                credentials: credentials
            )
        case .phone(let name):
            let words = name.isEmpty ? "Phone" : "Phone (\(name))"
            self.init(source, identity: source.description, name: words)
        }
    }

    /// Returns the source by which a device of this identity is opened.
    private static func specification(_ identity: String) -> SourceSpecification {
        let node = "pipewire:"
        if identity.hasPrefix(node) { return .pipewire(String(identity.dropFirst(node.count))) }
        return .v4l2(String(identity.trimmingPrefix("v4l2:")))
    }

    /// `true` for a V4L2 device, attached or not.
    var isV4L2: Bool { if case .v4l2 = specification { true } else { false } }

    /// The node at which a V4L2 device is opened: "/dev/video0"; empty if there is none.
    package var place: String { isV4L2 ? device?.path ?? "" : "" }

    /// `true` while it can be opened, as far as is known.
    var isThere: Bool { !isV4L2 || device != nil }
}

extension SourceSpecification {
    /// The identity of the camera that it names.
    package var identity: String {
        if case .url(let address) = self { address.identity } else { description }
    }
}

/// The devices that a role uses.
package struct CameraUse: Hashable, Sendable {
    /// The role's camera; `nil` if it has none.
    package internal(set) var own: SourceUse?
    /// The devices of its lenses by identity, its own among them.
    package internal(set) var devices: [String: SourceUse] = [:]
    /// The reasons that lenses cannot be used, one for each.
    package internal(set) var refusals: Set<String> = []
}

/// The error of a test picture that does not exist.
package struct UnknownTestPicture: Error, CustomStringConvertible {
    /// The name in the configuration.
    let name: String

    /// The names that there are, for people.
    package static let hint =
        "there are \(SourceSpecification.testPictures.joined(separator: ", ")), each also with "
        + "-plain and no frame counter"

    package var description: String { "there is no test picture \(name): \(Self.hint)" }
}
