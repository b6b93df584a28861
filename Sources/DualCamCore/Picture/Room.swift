package import Frames

/// The things that a camera's picture may show behind a person.
package enum Room: Hashable, Sendable, CustomStringConvertible {
    /// All that is there.
    case asIs
    /// The same, blurred.
    case blur
    /// The picture in the file at this path, which may begin with "~/".
    case picture(String)

    /// Reads "as-is", "blur" or a path.
    init(parsing text: String) throws(UnreadableValue) {
        switch text {
        case "as-is": self = .asIs
        case "blur": self = .blur
        case _ where text.utf8.count < 4000 && (text.hasPrefix("/") || text.hasPrefix("~/")):
            self = .picture(text)
        default:
            throw UnreadableValue(
                text,
                expected: "as-is, blur, or a path that begins with / or ~/"
            )
        }
    }

    /// The text that `init(parsing:)` reads.
    package var description: String {
        switch self {
        case .asIs: "as-is"
        case .blur: "blur"
        case .picture(let path): path
        }
    }
}

/// The way in which the room in a camera's pictures is shown.
package struct RoomLook: Hashable, Sendable {
    package var room = Room.asIs
    /// The strength of the blur, 0 … 1.
    package var blur = 0.5
    /// The transform of the whole picture that makes it upright, and mirrors it if wanted.
    package var transform = Transform.identity

    package init() {}

    init(_ room: Room, blur: Double, _ transform: Transform) {
        (self.room, self.blur, self.transform) = (room, blur, transform)
    }
}
