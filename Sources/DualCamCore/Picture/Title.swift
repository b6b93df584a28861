package import Frames

/// Words that the stream shows in a corner: a name, and perhaps a second line.
package struct Title: Hashable, Sendable {
    /// The first line; not empty.
    package let name: String
    /// The second line; empty if there is none.
    package let second: String

    /// The largest number of characters of a line.
    package static let longest = 60

    /// Creates a title from its lines; `nil` without text. Throws `UnreadableValue` beyond two
    /// lines of `longest` characters, or if one controls a terminal or the direction of text.
    package init?(lines: [String]) throws(UnreadableValue) {
        guard lines.count <= 2 else {
            throw UnreadableValue("\(lines.count) lines", expected: "at most two lines")
        }
        for line in lines { try checkLine(line, upTo: Self.longest) }
        let lines = lines.filter { !$0.allSatisfy(\.isWhitespace) }
        guard let first = lines.first else { return nil }
        name = first
        second = lines.count > 1 ? lines[1] : ""
    }

    /// Creates a title from a text of one or two lines; `nil` if it has no text. Throws
    /// `UnreadableValue`, as `init(lines:)` does.
    package init?(_ text: String) throws(UnreadableValue) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        try self.init(lines: lines.prefix(3).map(String.init))
    }

    /// The lines that there are.
    package var lines: [String] { second.isEmpty ? [name] : [name, second] }

    package var text: String { lines.joined(separator: "\n") }
}

/// Checks a line of text that people write and others read. Throws `UnreadableValue` if it has more
/// than `limit` characters, or one that controls a terminal or the direction of text.
func checkLine(_ line: String, upTo limit: Int) throws(UnreadableValue) {
    let shown = quoted(String(line.prefix(24)).plain("?"))
    guard line.count <= limit, line.utf8.count <= 4 * limit else {
        throw UnreadableValue("\(shown)…", expected: "at most \(limit) characters in a line")
    }
    guard line.allSatisfy({ $0.unicodeScalars.count <= 16 }) else {
        throw UnreadableValue(shown, expected: "simpler characters")
    }
    guard line.plain("\u{FFFD}") == line, !line.unicodeScalars.contains("\u{FFFD}") else {
        throw UnreadableValue(shown, expected: "no control characters")
    }
}

/// A title and its place.
package struct ShownTitle: Hashable, Sendable {
    package let title: Title
    package let corner: Corner
}

/// The title over time: it fades in and out, and from one to the next. A value, as `HudState` is.
package struct TitleState: Hashable, Sendable {
    /// The title to show, or to fade to.
    package private(set) var wanted: ShownTitle?
    /// The one that fades out.
    package private(set) var former: ShownTitle?
    private var start = Timestamp.zero
    /// The opacities at `start`.
    private var (wantedStart, formerStart) = (0.0, 0.0)

    /// The seconds of a fade.
    private static let duration = 0.3

    /// Shows `title` from `time` on; `nil` lets it fade.
    mutating func show(_ title: ShownTitle?, at time: Timestamp) {
        guard title != wanted else { return }
        let now = opacities(at: time)
        wantedStart = title != nil && title == former ? now.former : 0
        formerStart = now.wanted
        former = wanted
        wanted = title
        start = time
    }

    /// Returns the opacity of either title at `time`, 0 … 1. Does not allocate.
    package func opacities(at time: Timestamp) -> (wanted: Double, former: Double) {
        let eased = Easing.inOut(min(1, max(0, (time - start).seconds) / Self.duration))
        return (
            wanted == nil ? 0 : wantedStart + (1 - wantedStart) * eased,
            former == nil ? 0 : formerStart * (1 - eased)
        )
    }
}

extension Corner {
    /// The corner at the other end of the same edge, the upper or the lower one.
    package var beside: Corner {
        switch self {
        case .topLeft: .topRight
        case .topRight: .topLeft
        case .bottomLeft: .bottomRight
        case .bottomRight: .bottomLeft
        }
    }
}
