/// The parts of the time that a recording leaves out.
package struct Pauses: Hashable, Sendable {
    /// In order; one that has not ended lasts for ever.
    private var spans: [Range<Timestamp>] = []

    private static let never = Timestamp(nanoseconds: .max)

    package init() {}

    /// `true` while the last one has not ended.
    package var isOpen: Bool { spans.last?.upperBound == Self.never }

    /// Begins a pause at `time`, or ends it. Does nothing if that is so already.
    package mutating func turn(on isOn: Bool, at time: Timestamp) {
        guard isOn != isOpen else { return }
        if isOn { return spans.append(time..<Self.never) }
        guard let begin = spans.popLast()?.lowerBound else { return }
        spans.append(begin..<max(begin, time))
    }

    /// Returns `true` if `time` is left out.
    package func contains(_ time: Timestamp) -> Bool { spans.contains { $0.contains(time) } }

    /// Returns `time` less the pauses before it; in a pause, the place of its begin.
    package func place(of time: Timestamp) -> Timestamp {
        spans.reduce(time) { place, span in
            time < span.lowerBound
                ? place : place - (min(time, span.upperBound) - span.lowerBound)
        }
    }

    /// Returns the time that has this place; at a pause that has ended, its end.
    package func time(at place: Timestamp) -> Timestamp {
        spans.reduce(place) { time, span in
            time < span.lowerBound || span.upperBound == Self.never
                ? time : time + (span.upperBound - span.lowerBound)
        }
    }

    /// The place of each pause.
    package var places: [Timestamp] { spans.map { place(of: $0.lowerBound) } }
}
