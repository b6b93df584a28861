/// The window's own settings.
package struct ViewSettings: Hashable, Sendable {
    /// `true` once the cameras were set up, or the user did not want to.
    package var isSetUp = false
    package var hasSoundOfTicks = false
    /// `true` if keys work in other programs, too, where the desktop has a portal for that.
    package var hasGlobalKeys = false
    /// The lines without a setting, such as those of a newer version.
    private var others = ""

    private static var keys: [(String, WritableKeyPath<ViewSettings, Bool>)] {
        [
            ("set-up", \.isSetUp), ("sound-of-ticks", \.hasSoundOfTicks),
            ("global-keys", \.hasGlobalKeys),
        ]
    }

    package init() {}

    /// Reads `text`, lines such as "set-up = true". Other lines stay in `text`.
    package init(parsing text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
            if parts.count == 2, let value = Bool(parts[1]),
                let (_, path) = Self.keys.first(where: { $0.0 == parts[0] })
            {
                self[keyPath: path] = value
            } else {
                others += "\(line)\n"
            }
        }
    }

    package var text: String {
        Self.keys.map { "\($0.0) = \(self[keyPath: $0.1])\n" }.joined() + others
    }
}
