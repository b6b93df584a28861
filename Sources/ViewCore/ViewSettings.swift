/// The window's own settings.
package struct ViewSettings: Hashable, Sendable {
    /// `true` once the cameras were set up, or the user did not want to.
    package var isSetUp = false
    /// `true` if the dials are heard.
    package var hasSoundOfTicks = false
    /// `true` if keys work in other programs, too, where the desktop has a portal for that.
    package var hasGlobalKeys = false

    private static var keys: [(String, WritableKeyPath<ViewSettings, Bool>)] {
        [
            ("set-up", \.isSetUp), ("sound-of-ticks", \.hasSoundOfTicks),
            ("global-keys", \.hasGlobalKeys),
        ]
    }

    /// The defaults.
    package init() {}

    /// Reads `text`, lines such as "set-up = true"; others are left alone.
    package init(parsing text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
            guard parts.count == 2, let value = Bool(parts[1]),
                let (_, path) = Self.keys.first(where: { $0.0 == parts[0] })
            else { continue }
            self[keyPath: path] = value
        }
    }

    /// The text form.
    package var text: String {
        Self.keys.map { "\($0.0) = \(self[keyPath: $0.1])\n" }.joined()
    }
}
