package import Frames
import Synchronization

/// The movie of one live photo, from its first packet until it is written.
package final class LivePhotoClip: Sendable {
    private struct State: ~Copyable {
        var queue: PacketQueue
        var moment: Timestamp?
        var isOver = false
        var whenOver: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>
    let plan: Plan

    /// The time beyond the span for which pictures are kept while the moment of the photograph is
    /// unknown.
    private static let slack = Timestamp(seconds: 1)

    init(_ queue: PacketQueue, _ plan: Plan) {
        state = Mutex(State(queue: queue))
        self.plan = plan
    }

    /// Sets the moment at which the photograph was taken.
    package func mark(_ moment: Timestamp) { state.withLock { $0.moment = moment } }

    /// Ends the clip now.
    package func end() { change { $0.isOver = true } }

    /// Calls `done` once, when the clip ends: on the thread that ends it, or at once if it has
    /// ended.
    package func whenOver(_ done: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.whenOver = done }
            return state.isOver
        }
        if isOver { done() }
    }

    /// The packets so far, and the moment of the photograph.
    var content: (queue: PacketQueue, moment: Timestamp?) {
        state.withLock { ($0.queue, $0.moment) }
    }

    // These methods return `true` while the clip goes on.

    func add(_ picture: Packet) -> Bool {
        change { state in
            guard let moment = state.moment else {
                state.queue.add(picture)
                return state.queue.keep(PreRollBuffer.span + Self.slack)
            }
            let end = moment + PreRollBuffer.span
            // The part after the photograph may take as much memory as the part before.
            if picture.time < end, state.queue.byteCount < 2 * PreRollBuffer.mostBytes {
                state.queue.add(picture)
            } else if let last = state.queue.sound.last {
                // Sound arrives later than the pictures.
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
            // A discontinuity precedes the very first picture, and may arrive after the photograph
            // was taken from that picture.
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
