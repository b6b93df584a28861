/// The source of a camera's pictures, as configured.
package enum SourceSpecification: Hashable, Sendable, CustomStringConvertible {
    /// The camera that best suits the role.
    case auto
    /// A V4L2 device, by its by-id name, its bus path or its path in /dev.
    case v4l2(String)
    /// A moving test picture, by name; `nil`: the one for the role.
    case test(String?)
    /// A picture or a movie, by path.
    case file(String)
    /// A PipeWire node, by name.
    case pipewire(String)
    /// A camera on the network.
    case url(NetworkAddress)
    /// The browser of a phone, by the name that it was added with; empty for the first one.
    case phone(String)

    /// The names of the test pictures; each may end with "-plain", for one without frame counter.
    package static let testPictures = ["back", "front", "portrait", "bars", "ramp"]

    /// The forms that `init(parsing:)` reads, as they are shown to people.
    package static let forms = [
        "auto", "v4l2:DEVICE", "test", "test:NAME", "file:PATH", "pipewire:NODE", "url:ADDRESS",
        "phone", "phone:NAME",
    ]

    /// Parses one of `forms`. Throws `UnreadableValue` if `text` is none of these.
    package init(parsing text: String) throws(UnreadableValue) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let argument = parts.count == 2 && !parts[1].isEmpty ? String(parts[1]) : nil
        switch (parts.first, argument) {
        case ("auto", nil) where parts.count == 1: self = .auto
        case ("test", nil) where parts.count == 1: self = .test(nil)
        case ("test", let name?): self = .test(name)
        case ("v4l2", let name?): self = .v4l2(name)
        case ("file", let path?): self = .file(path)
        case ("pipewire", let node?): self = .pipewire(node)
        case ("phone", nil) where parts.count == 1: self = .phone("")
        case ("phone", let name?) where Self.isPhoneName(name): self = .phone(name)
        case ("url", let address?): self = .url(try NetworkAddress(parsing: address))
        default:
            throw UnreadableValue(text, expected: alternatives(Self.forms))
        }
    }

    /// The text form that `init(parsing:)` reads.
    package var description: String {
        switch self {
        case .auto: "auto"
        case .v4l2(let name): "v4l2:\(name)"
        case .test(nil): "test"
        case .test(let name?): "test:\(name)"
        case .file(let path): "file:\(path)"
        case .pipewire(let node): "pipewire:\(node)"
        case .url(let address): "url:\(address)"
        case .phone(let name): name.isEmpty ? "phone" : "phone:\(name)"
        }
    }

    /// Returns `true` if a phone may be added with this name: letters, digits and "-", at most 32.
    package static func isPhoneName(_ name: String) -> Bool {
        name.utf8.count <= 32
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    }

    /// `true` if both roles may have it at the same time.
    var canBeShared: Bool {
        switch self {
        case .auto, .test, .file: true
        case .v4l2, .pipewire, .url, .phone: false
        }
    }

    /// `true` if it may be a camera that only PipeWire has.
    package var mayNeedPipeWire: Bool {
        switch self {
        case .auto, .pipewire: true
        case .v4l2, .test, .file, .url, .phone: false
        }
    }

    /// The text form as people may see it: without the query of an address, which may be a key.
    package var shown: String {
        if case .url(let address) = self { "url:\(address.shown)" } else { description }
    }
}
