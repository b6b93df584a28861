package import Frames

/// The mark of a recording in the picture: a pill in one of the upper corners.
package struct RecordMark: Hashable, Sendable {
    /// The length of the recording: "0:07", "1:02:03".
    package let text: String
    package let isPaused: Bool
    /// `true` if it is at the right, since the inset is at the left.
    package let isRight: Bool

    init(seconds: Int, isPaused: Bool, isRight: Bool) {
        text = Clock.text(seconds: seconds)
        self.isPaused = isPaused
        self.isRight = isRight
    }
}

/// The mark of a recording over time. A value, as `HudState` is.
package struct MarkState: Hashable, Sendable {
    /// The mark shown, or last shown.
    package private(set) var mark: RecordMark?
    private var shown = Fade()

    /// The seconds in which it appears and disappears.
    private static let coming = 0.3

    /// Shows `mark` from `time` on; `nil` lets it fade.
    mutating func show(_ mark: RecordMark?, at time: Timestamp) {
        if let mark { self.mark = mark }
        shown.turn(up: mark != nil, at: time, duration: Self.coming)
    }

    /// Returns the opacity at `time`, 0 … 1. Does not allocate.
    package func opacity(at time: Timestamp) -> Double {
        mark == nil ? 0 : shown.value(at: time, duration: Self.coming)
    }
}
