package import Frames
import Synchronization

/// The last moments of one picture and its sound, coded, from which the movie of a live photo is cut.
///
/// In memory, of which there is a limit. From any thread; locks are held for an exchange.
package final class Film: Sendable {
    /// How long a movie is before its photograph, and after it.
    package static let span = Timestamp(seconds: 1.5)
    /// For how many seconds pictures may be held: the two spans, and what a disk takes to write them.
    static let longest = 6.0
    /// How many bytes of pictures there are at most; what is older goes.
    static let mostBytes = 48 << 20

    private struct State: ~Copyable {
        var strip = Strip()
        var clips: [Clip] = []
    }

    private let state = Mutex(State())

    /// Nothing yet.
    package init() {}

    /// Adds `picture`, which stands alone and is later than those before.
    package func add(_ picture: Packet) {
        state.withLock { state in
            state.strip.add(picture)
            state.strip.keep(Self.span)
            state.clips.removeAll { !$0.add(picture) }
        }
    }

    /// Adds coded sound.
    package func hear(_ sound: Packet) {
        state.withLock { state in
            state.strip.hear(sound)
            state.clips.removeAll { !$0.hear(sound) }
        }
    }

    /// What comes next is not of one piece with what there is: that is forgotten, and movies end there.
    package func cut() {
        state.withLock { state in
            state.strip = Strip()
            state.clips.removeAll { !$0.cut() }
        }
    }

    /// The movie of a photograph that is about to be taken. It begins with what there is.
    package func clip(_ plan: Clip.Plan) -> Clip {
        state.withLock { state in
            let clip = Clip(state.strip, plan)
            state.clips.append(clip)
            return clip
        }
    }

    /// For how many seconds there are pictures, and how many bytes they have.
    package var length: (seconds: Double, byteCount: Int) {
        state.withLock { state in
            let pictures = state.strip.pictures
            guard let first = pictures.first, let last = pictures.last else { return (0, 0) }
            return ((last.time - first.time).seconds, state.strip.byteCount)
        }
    }

    /// Coded pictures and sound, each in order.
    struct Strip {
        private(set) var pictures: [Packet] = []
        private(set) var sound: [Packet] = []
        private(set) var byteCount = 0

        mutating func add(_ picture: Packet) {
            pictures.append(picture)
            byteCount += picture.byteCount
        }

        /// Forgets what is older than the newest picture by more than `span`, or too much.
        mutating func keep(_ span: Timestamp) {
            guard let newest = pictures.last?.time else { return }
            var count = 0
            while count < pictures.count - 1,
                pictures[count].time + span < newest || byteCount > Film.mostBytes
            {
                byteCount -= pictures[count].byteCount
                count += 1
            }
            guard count > 0 else { return }
            pictures.removeFirst(count)
            let start = pictures[0].time
            sound.removeAll { $0.time < start }
        }

        mutating func hear(_ packet: Packet) {
            // Without pictures it is of no use.
            if !pictures.isEmpty { sound.append(packet) }
        }
    }

    /// The movie of one photograph, while it comes in and until it is written.
    package final class Clip: Sendable {
        private struct State: ~Copyable {
            var strip: Strip
            var moment: Timestamp?
            var isOver = false
            var whenOver: (@Sendable () -> Void)?
        }

        private let state: Mutex<State>
        let plan: Plan

        /// How much longer than the span pictures are kept before the photograph's moment is known.
        private static let slack = Timestamp(seconds: 1)

        init(_ strip: Strip, _ plan: Plan) {
            state = Mutex(State(strip: strip))
            self.plan = plan
        }

        /// The photograph was taken at `moment`.
        package func mark(_ moment: Timestamp) { state.withLock { $0.moment = moment } }

        /// It ends here.
        package func end() { change { $0.isOver = true } }

        /// Calls `done` once it has come to its end: on the thread on which it does, or at once. Once.
        package func whenOver(_ done: @escaping @Sendable () -> Void) {
            let isOver = state.withLock { state in
                if !state.isOver { state.whenOver = done }
                return state.isOver
            }
            if isOver { done() }
        }

        /// What there is of it, and when its photograph was taken.
        var content: (strip: Strip, moment: Timestamp?) {
            state.withLock { ($0.strip, $0.moment) }
        }

        // The following return whether it goes on.

        fileprivate func add(_ picture: Packet) -> Bool {
            change { state in
                guard let moment = state.moment else {
                    state.strip.add(picture)
                    return state.strip.keep(Film.span + Clip.slack)
                }
                let end = moment + Film.span
                // What follows has as much room as what was before.
                if picture.time < end, state.strip.byteCount < 2 * Film.mostBytes {
                    state.strip.add(picture)
                } else if let last = state.strip.sound.last {
                    // The sound comes later than the pictures.
                    state.isOver = last.time >= end
                } else {
                    state.isOver = plan.sound == nil
                }
            }
        }

        fileprivate func hear(_ packet: Packet) -> Bool {
            change { $0.strip.hear(packet) }
        }

        fileprivate func cut() -> Bool {
            change { state in
                // The first picture of all begins with a cut, and may come after the photograph was taken of it.
                if state.moment == nil || state.strip.pictures.isEmpty {
                    state.strip = Strip()
                } else {
                    state.isOver = true
                }
            }
        }

        @discardableResult
        private func change(_ body: (inout State) -> Void) -> Bool {
            let (isOver, done) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
                if !state.isOver { body(&state) }
                guard state.isOver else { return (false, nil) }
                defer { state.whenOver = nil }
                return (true, state.whenOver)
            }
            done?()
            return !isOver
        }
    }
}
