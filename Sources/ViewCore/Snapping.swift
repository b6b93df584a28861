package import Frames

/// The places where a floating window comes to rest.
package enum Snapping {
    /// The distance from an edge of the screen within which a window goes to its corner.
    package static let reach = 64.0
    /// The distance that a window keeps from the edges of the screen.
    package static let margin = 16.0

    /// Returns where `window` comes to rest on the free `area` of a screen: in a corner near which
    /// it was let go, else where it is, but no part of it outside.
    package static func rest(_ window: Rect, on area: Rect) -> Rect {
        var rest = window
        rest.x = axis(window.x, window.width, area.x, area.width)
        rest.y = axis(window.y, window.height, area.y, area.height)
        let isAtSide = rest.x == area.x + margin || rest.maxX == area.maxX - margin
        let isAtEdge = rest.y == area.y + margin || rest.maxY == area.maxY - margin
        guard isAtSide && isAtEdge else { return inside(window, area) }
        return rest
    }

    /// Returns the part of the monitor nearest to the middle of `window` that panels leave free.
    /// The desktop tells the `free` part of all monitors together.
    package static func area(around window: Rect, monitors: [Rect], free: Rect) -> Rect {
        func distance(_ monitor: Rect) -> Double {
            let x = max(monitor.x - window.midX, window.midX - monitor.maxX, 0)
            let y = max(monitor.y - window.midY, window.midY - monitor.maxY, 0)
            return x * x + y * y
        }
        guard let monitor = monitors.min(by: { distance($0) < distance($1) }) else { return free }
        let (x, y) = (max(monitor.x, free.x), max(monitor.y, free.y))
        let area = Rect(
            x: x,
            y: y,
            width: min(monitor.maxX, free.maxX) - x,
            height: min(monitor.maxY, free.maxY) - y
        )
        return area.width > 0 && area.height > 0 ? area : monitor
    }

    private static func axis(
        _ place: Double,
        _ length: Double,
        _ start: Double,
        _ room: Double
    )
        -> Double
    {
        if place - start < reach { return start + margin }
        if start + room - place - length < reach { return start + room - margin - length }
        return place
    }

    /// Returns `window` moved onto `area` where a part of it was outside.
    package static func inside(_ window: Rect, _ area: Rect) -> Rect {
        var place = window
        place.x = max(area.x, min(window.x, area.maxX - window.width))
        place.y = max(area.y, min(window.y, area.maxY - window.height))
        return place
    }

    /// The corner of the screen that stays where it is when a window gets another size.
    package struct Anchor: Hashable, Sendable {
        private var isRight = true
        private var isLow = true

        package init() {}

        /// Returns `window` on `area`, with another `size`: the corner that it is nearest to stays.
        /// A window as large as the area is as near to two, and keeps the one that it had.
        package mutating func resized(_ window: Rect, to size: Size, on area: Rect) -> Rect {
            if abs(window.midX - area.midX) > 1 { isRight = window.midX > area.midX }
            if abs(window.midY - area.midY) > 1 { isLow = window.midY > area.midY }
            let (width, height) = (Double(size.width), Double(size.height))
            let rect = Rect(
                x: isRight ? window.maxX - width : window.x,
                y: isLow ? window.maxY - height : window.y,
                width: width,
                height: height
            )
            return inside(rect, area)
        }
    }

    /// Returns the size of `aspect` nearest to `size`, as wide as it is, within `smallest` and
    /// `room`.
    package static func shaped(_ size: Size, aspect: Double, room: Size) -> Size {
        let widest = min(Double(room.width), Double(room.height) * aspect)
        let width = max(Double(smallestWidth), min(Double(size.width), widest))
        return Size(width: Int(width.rounded()), height: Int((width / max(0.1, aspect)).rounded()))
    }

    package static let smallestWidth = 200
}
