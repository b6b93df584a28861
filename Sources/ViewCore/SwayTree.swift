package import Frames

/// A window's place on a desktop of Sway's.
package struct SwayPlace: Hashable, Sendable {
    /// The window without its shadow, on all outputs together.
    package var window: Rect
    /// The part of its output that bars leave free.
    package var area: Rect

    /// Creates a place.
    package init(window: Rect, area: Rect) {
        self.window = window
        self.area = area
    }

    /// Finds the window called `title` of the program `app` in the tree that Sway tells; `nil` if
    /// it is not there, or this is no tree.
    package init?(of app: String, title: String, in tree: String) {
        var reader = JSONReader(Array(tree.utf8))
        guard let root = reader.document(),
            let place = Self.find(app, title, in: root, area: nil)
        else { return nil }
        self = place
    }

    private static func find(
        _ app: String,
        _ title: String,
        in node: JSONReader.Element,
        area: Rect?
    ) -> SwayPlace? {
        guard case .object(let fields) = node else { return nil }
        let rect = fields["rect"].flatMap(rect)
        if case .string(app)? = fields["app_id"], case .string(title)? = fields["name"],
            let rect, let area
        {
            return SwayPlace(window: rect, area: area)
        }
        var area = area
        if case .string("workspace")? = fields["type"] { area = rect }
        for key in ["nodes", "floating_nodes"] {
            guard case .array(let nodes)? = fields[key] else { continue }
            for node in nodes {
                if let place = find(app, title, in: node, area: area) { return place }
            }
        }
        return nil
    }

    /// The largest number taken for a place or a length, in pixels.
    private static let largest = 1e6

    private static func rect(_ element: JSONReader.Element) -> Rect? {
        guard case .object(let fields) = element else { return nil }
        let numbers = ["x", "y", "width", "height"].compactMap { key -> Double? in
            guard case .number(let number)? = fields[key], abs(number) <= largest else {
                return nil
            }
            return number
        }
        guard numbers.count == 4 else { return nil }
        return Rect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }
}

/// The commands of Sway's that say what becomes of a window.
package struct SwayCommands: Hashable, Sendable {
    private let criteria: String

    /// Creates the commands for the window called `title` of the program `app`.
    package init(of app: String, title: String) {
        criteria = "[app_id=\"^\(app)$\" title=\"^\(title)$\"]"
    }

    /// Puts the window above those that are tiled, on every workspace, from when it appears. A
    /// rule that Sway knows already does not count twice.
    package var keepAbove: String {
        // A rule of several commands would end at the first comma.
        ["floating enable", "sticky enable", "border none"]
            .map { "for_window \(criteria) \($0)" }.joined(separator: "; ")
    }

    /// Puts the window's top left corner at the one of `rect`, which is on all outputs together.
    package func move(to rect: Rect) -> String {
        let (x, y) = (Int(rect.x.rounded()), Int(rect.y.rounded()))
        return "\(criteria) move absolute position \(x) px \(y) px"
    }
}
