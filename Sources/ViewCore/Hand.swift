import DualCamCore
import Frames

/// The meaning of a press, a move and a release on the picture. Points are fractions of the stream,
/// distances are in units of the window.
package struct Hand: Hashable, Sendable {
    /// Something that the hand wants.
    package enum Wish: Hashable, Sendable {
        case swap
        case reset
        case lift
        /// The inset follows, this far from where it was, in units of the window.
        case carry(x: Double, y: Double)
        /// The inset is let go, this far from where it was.
        case drop(x: Double, y: Double)
        case putBack
        case moveWindow
    }

    private enum Phase: Hashable, Sendable {
        case up
        /// Pressed, on the inset or not, at a point.
        case down(onInset: Bool)
        case carrying
        /// Moves the window, or does something that is not handled here.
        case away
    }

    private var phase = Phase.up
    private var count = 0

    /// The distance from which a press is a drag.
    package static let slop = 6.0

    package init() {}

    package var isCarrying: Bool { phase == .carrying }

    /// A press at a point of the stream, `count` times in quick succession.
    package mutating func press(_ count: Int, x: Double, y: Double, _ areas: PictureAreas) {
        let isOnOther = areas.other?.contains(x: x, y: y) ?? false
        phase = .down(onInset: isOnOther)
        self.count = count
    }

    /// The hand is this far from where it was pressed.
    package mutating func move(x: Double, y: Double, _ areas: PictureAreas) -> [Wish] {
        switch phase {
        case .up, .away: return []
        case .carrying: return [.carry(x: x, y: y)]
        case .down(let onInset):
            guard x * x + y * y > Self.slop * Self.slop else { return [] }
            guard onInset, areas.hasInset else {
                phase = .away
                return onInset ? [] : [.moveWindow]
            }
            phase = .carrying
            return [.lift, .carry(x: x, y: y)]
        }
    }

    /// The hand is lifted, this far from where it was pressed.
    package mutating func release(x: Double, y: Double, _ areas: PictureAreas) -> [Wish] {
        defer { phase = .up }
        switch phase {
        case .up, .away: return []
        case .carrying:
            return [areas.other == nil ? .putBack : .drop(x: x, y: y)]
        case .down(let onInset):
            // The second click of two takes back what the first has done, and more.
            if count % 2 == 0 { return [.reset] }
            return onInset ? [.swap] : []
        }
    }

    /// The press does not count: it became something else.
    package mutating func cancel() -> [Wish] {
        defer { phase = .up }
        return phase == .carrying ? [.putBack] : []
    }
}
