package import Frames

/// In which pictures persons are looked for, on a machine that may be too slow for all of them.
package struct RoomPace: Sendable {
    /// The pictures in which persons are looked for.
    package enum Step: Int, Sendable {
        case each, everySecond
        /// In none: the whole picture is hidden.
        case none
    }

    package private(set) var step = Step.each
    /// The pictures of the window that began at `start`, and those that took too long.
    private var (count, slow) = (0, 0)
    private var start: Timestamp?

    /// The length of a window, and the time after which a machine is tried anew, in seconds; and
    /// the share of the time between two pictures that one may take.
    private static let (window, patience, share) = (2.0, 60.0, 0.5)

    package init() {}

    /// Takes over that the picture at `time` took `work`, with the next one `interval` seconds
    /// later. Returns `true` if that changes the step.
    package mutating func note(_ work: Timestamp, interval: Double, at time: Timestamp) -> Bool {
        let began = start ?? time
        start = began
        count += 1
        slow += work.seconds > interval * Self.share ? 1 : 0
        guard (time - began).seconds >= (step == .none ? Self.patience : Self.window) else {
            return false
        }
        let isSlow = 2 * slow > count
        (count, slow, start) = (0, 0, nil)
        guard step == .none || isSlow else { return false }
        step = Step(rawValue: step.rawValue + 1) ?? .each
        return true
    }
}
