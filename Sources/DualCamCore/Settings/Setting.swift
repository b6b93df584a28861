/// The condition on which a value is kept over a restart.
enum Keeping {
    case always
    /// If it is not as at first.
    case changed
    /// If it is not as configured, with the configured value: once that is another, it counts.
    case guarded
    /// As `guarded`, but all such rows if one differs: version 0.2 reads all of them or none.
    case guardedTogether
}

/// One setting of an `Owner`: its key, its comment in the file, and how it is read, written and
/// compared. `dualcam.toml`, what outlives a restart, scenes, reloads and D-Bus follow.
package struct Setting<Owner: Sendable>: Sendable {
    /// The key in files, in scenes and, in another case, on D-Bus: "inset-size".
    package let key: String
    /// The comment in `dualcam.toml`; `nil` if the setting is not in it.
    let comment: String?
    /// The part of a scene that it belongs to; `nil` if scenes do not have it.
    let part: ScenePart?
    /// `nil` if it is not kept.
    let keeping: Keeping?
    package let range: ClosedRange<Double>?
    /// The words of a choice.
    package let words: [String]

    /// Sets the value. Throws `UnreadableValue` if it is none of this setting, which then stays.
    package let read: @Sendable (Plain, inout Owner) throws(UnreadableValue) -> Void
    /// Returns the value; `nil` if there is none to write.
    package let plain: @Sendable (Owner) -> Plain?
    /// Takes a step, and returns `true` if it ends at an end; `nil` if there is no such step.
    package let step: @Sendable (Double, inout Owner) -> Bool?
    /// Returns `true` if the two have other values.
    let differs: @Sendable (Owner, Owner) -> Bool
    /// Gives the second the value of the first.
    let copy: @Sendable (Owner, inout Owner) -> Void

    /// Creates the setting at `path`. What it can be may be `narrower` by the rows before it.
    init<Value: Hashable & Sendable>(
        _ key: String,
        _ comment: String?,
        _ path: any WritableKeyPath<Owner, Value> & Sendable,
        _ form: Form<Value>,
        _ part: ScenePart? = nil,
        _ keeping: Keeping? = nil,
        narrower: (@Sendable (Owner) -> Form<Value>)? = nil
    ) {
        (self.key, self.comment, self.part, self.keeping) = (key, comment, part, keeping)
        (range, words) = (form.range, form.words)
        read = { plain, owner throws(UnreadableValue) in
            owner[keyPath: path] = try (narrower?(owner) ?? form).read(plain)
        }
        plain = { form.plain($0[keyPath: path]) }
        step = { change, owner in
            let form = narrower?(owner) ?? form
            guard let (value, isLimited) = form.step?(owner[keyPath: path], change) else {
                return nil
            }
            owner[keyPath: path] = value
            return isLimited
        }
        differs = { $0[keyPath: path] != $1[keyPath: path] }
        copy = { $1[keyPath: path] = $0[keyPath: path] }
    }

    /// The same setting of what has its owner at `path`.
    private init<Part>(_ own: Setting<Part>, at path: any WritableKeyPath<Owner, Part> & Sendable) {
        (key, comment, part, keeping) = (own.key, own.comment, own.part, own.keeping)
        (range, words) = (own.range, own.words)
        read = { plain, root throws(UnreadableValue) in
            try own.read(plain, &root[keyPath: path])
        }
        plain = { own.plain($0[keyPath: path]) }
        step = { own.step($0, &$1[keyPath: path]) }
        differs = { own.differs($0[keyPath: path], $1[keyPath: path]) }
        copy = { own.copy($0[keyPath: path], &$1[keyPath: path]) }
    }

    func lifted<Root>(by path: any WritableKeyPath<Root, Owner> & Sendable) -> Setting<Root> {
        Setting<Root>(self, at: path)
    }

    var isGuarded: Bool { keeping == .guarded || keeping == .guardedTogether }
}

/// The facts of a setting that a control needs: what it is at first, its range, its words.
package struct SettingFacts: Sendable {
    package let initial: Plain?
    package let range: ClosedRange<Double>?
    package let words: [String]

    /// The facts of `row`, if there is one; `owner` has the value of the beginning.
    package init?<Owner>(_ row: Setting<Owner>?, _ owner: Owner) {
        guard let row else { return nil }
        (initial, range, words) = (row.plain(owner), row.range, row.words)
    }
}

extension Array {
    /// The rows of what has the owner of these at `path`.
    func lifted<Owner, Root>(
        by path: any WritableKeyPath<Root, Owner> & Sendable
    ) -> [Setting<Root>] where Element == Setting<Owner> {
        map { $0.lifted(by: path) }
    }

    /// Those in `dualcam.toml`.
    func inFile<Owner>() -> Self where Element == Setting<Owner> {
        filter { $0.comment != nil }
    }

    /// Those in scenes, as applied and written: in the order of the parts, but "hud" before "pro".
    func inScenes<Owner>() -> Self where Element == Setting<Owner> {
        ScenePart.allCases.filter { $0 != .hud }
            .flatMap { $0 == .pro ? [.hud, .pro] : [$0] }
            .flatMap { part in filter { $0.part == part } }
    }
}
