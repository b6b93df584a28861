/// The parts of the time that a recording leaves out.
package struct Pauses: Hashable, Sendable {
    /// In order; one that has not ended lasts for ever.
    private var spans: [Range<Timestamp>] = []

    private static let never = Timestamp(nanoseconds: .max)
    /// The largest number of pauses, which are looked through for each picture.
    private static let most = 1000

    package init() {}

    /// `true` while the last one has not ended.
    package var isOpen: Bool { spans.last?.upperBound == Self.never }

    /// Begins a pause at `time`, or ends it. Does nothing if that is so already, or if there are
    /// too many.
    package mutating func turn(on isOn: Bool, at time: Timestamp) {
        guard isOn != isOpen else { return }
        if isOn {
            if spans.count < Self.most { spans.append(time..<Self.never) }
        } else if let begin = spans.popLast()?.lowerBound, begin < time {
            spans.append(begin..<time)
        }
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
