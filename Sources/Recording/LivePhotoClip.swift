package import Frames
import Synchronization

/// The movie of one photograph, while it comes in and until it is written.
package final class LivePhotoClip: Sendable {
    private struct State: ~Copyable {
        var queue: PacketQueue
        var moment: Timestamp?
        var isOver = false
        var whenOver: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>
    let plan: Plan

    /// How much longer than the span pictures are kept before the photograph's moment is known.
    private static let slack = Timestamp(seconds: 1)

    init(_ queue: PacketQueue, _ plan: Plan) {
        state = Mutex(State(queue: queue))
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
    var content: (queue: PacketQueue, moment: Timestamp?) {
        state.withLock { ($0.queue, $0.moment) }
    }

    // The following return whether it goes on.

    func add(_ picture: Packet) -> Bool {
        change { state in
            guard let moment = state.moment else {
                state.queue.add(picture)
                return state.queue.keep(PreRollBuffer.span + Self.slack)
            }
            let end = moment + PreRollBuffer.span
            // What follows has as much room as what was before.
            if picture.time < end, state.queue.byteCount < 2 * PreRollBuffer.mostBytes {
                state.queue.add(picture)
            } else if let last = state.queue.sound.last {
                // The sound comes later than the pictures.
                state.isOver = last.time >= end
            } else {
                state.isOver = plan.sound == nil
            }
        }
    }

    func add(sound packet: Packet) -> Bool {
        change { $0.queue.add(sound: packet) }
    }

    func flush() -> Bool {
        change { state in
            // The first picture of all begins with a discontinuity, and may come after the photograph was taken of it.
            if state.moment == nil || state.queue.pictures.isEmpty {
                state.queue = PacketQueue()
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
