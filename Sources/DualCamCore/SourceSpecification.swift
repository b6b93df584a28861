/// A word that does not read as what it should: what it was, and what was expected instead.
package struct UnreadableValue: Error, Hashable, CustomStringConvertible {
    /// The word as it was given.
    package let value: String
    /// What would have been right, for a person to read.
    package let expected: String

    /// `value` was given where `expected` was wanted.
    package init(_ value: String, expected: String) {
        self.value = value
        self.expected = expected
    }

    /// `"vl42:x": expected auto, v4l2:DEVICE, …`.
    package var description: String { "\"\(value)\": expected \(expected)" }
}

/// Where a camera's pictures come from, as the configuration says it.
package enum SourceSpecification: Hashable, Sendable, CustomStringConvertible {
    /// Whichever camera suits the role.
    case auto
    /// A V4L2 device, by its by-id name, its bus path or its path in /dev.
    case v4l2(String)
    /// A moving test picture; `nil`: the one that suits the role.
    case test(String?)
    /// A picture or a movie, by path.
    case file(String)
    /// A PipeWire node, by name.
    case pipewire(String)

    /// Reads "auto", "v4l2:NAME", "test", "test:NAME", "file:PATH" or "pipewire:NODE".
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
        default:
            throw UnreadableValue(
                text,
                expected: "auto, v4l2:DEVICE, test, test:NAME, file:PATH or pipewire:NODE"
            )
        }
    }

    /// As `init(parsing:)` reads it.
    package var description: String {
        switch self {
        case .auto: "auto"
        case .v4l2(let name): "v4l2:\(name)"
        case .test(nil): "test"
        case .test(let name?): "test:\(name)"
        case .file(let path): "file:\(path)"
        case .pipewire(let node): "pipewire:\(node)"
        }
    }
}
