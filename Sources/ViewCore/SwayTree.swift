import FoundationEssentials
package import Frames

/// A window's place on a desktop of Sway's.
package struct SwayPlace: Hashable, Sendable {
    /// The window without its shadow, on all outputs together.
    package var window: Rect
    /// The part of its output that bars leave free.
    package var area: Rect
}

extension SwayPlace {
    /// Finds the window called `title` of the program `app` in the tree that Sway tells; `nil` if
    /// it is not there, or this is no tree.
    package init?(of app: String, title: String, in tree: String) {
        guard let root = try? JSONDecoder().decode(Node.self, from: Data(tree.utf8)),
            let place = root.place(of: app, title, area: nil)
        else { return nil }
        self = place
    }

    /// A node of the tree: sway-ipc(7).
    private struct Node: Decodable {
        /// A place on all outputs together, in pixels.
        struct Place: Decodable {
            let x, y, width, height: Double

            /// The rectangle, unless a number is none of a screen.
            var rect: Rect? {
                [x, y, width, height].allSatisfy { abs($0) <= 1e6 }
                    ? Rect(x: x, y: y, width: width, height: height) : nil
            }
        }

        let type, name: String?
        let app: String?
        let rect: Place?
        let nodes, floating: [Node]?

        enum CodingKeys: String, CodingKey {
            case type, name, rect, nodes
            case app = "app_id"
            case floating = "floating_nodes"
        }

        /// Returns the place of the window in this node, whose workspace is `area`.
        func place(of app: String, _ title: String, area: Rect?) -> SwayPlace? {
            if self.app == app, name == title, let window = rect?.rect, let area {
                return SwayPlace(window: window, area: area)
            }
            let area = type == "workspace" ? rect?.rect : area
            return ((nodes ?? []) + (floating ?? [])).lazy
                .compactMap { $0.place(of: app, title, area: area) }.first
        }
    }
}

/// The commands of Sway's that say what becomes of a window.
package struct SwayCommands: Hashable, Sendable {
    private let criteria: String

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
