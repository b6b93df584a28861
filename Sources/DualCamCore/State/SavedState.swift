import Frames

/// Settings that commands have set, and the configured ones replaced, if their rows are kept.
package struct Kept<Owner: Hashable & Sendable>: Hashable, Sendable {
    /// The settings; what is not kept is as at first.
    package internal(set) var value: Owner
    /// The configured ones.
    var configured: Owner
    /// The keys whose configured value is not known, as in files of version 0.1. They count.
    private var unguarded: Set<String> = []

    /// The part of `value` to keep where `configured` is configured.
    init(_ value: Owner, over configured: Owner, _ initial: Owner, _ rows: [Setting<Owner>]) {
        (self.value, self.configured) = (initial, initial)
        let isTogether = rows.contains {
            $0.keeping == .guardedTogether && $0.differs(value, configured)
        }
        for row in rows
        where row.keeping != nil
            && (row.differs(value, configured) || row.keeping == .guardedTogether && isTogether)
        {
            row.copy(value, &self.value)
            row.copy(configured, &self.configured)
        }
    }

    /// `true` if there is nothing to keep.
    var isEmpty: Bool { value == configured && unguarded.isEmpty }

    /// Returns the settings that count where `now` is configured.
    func settings(over now: Owner, _ rows: [Setting<Owner>]) -> Owner {
        var settings = now
        for row in rows where keeps(row, rows) {
            // Version 0.2 wrote 1 - 0.9 for 0.1.
            let isOther = row.plain(configured)?.rounded != row.plain(now)?.rounded
            if row.isGuarded, !unguarded.contains(row.key), isOther { continue }
            row.copy(value, &settings)
        }
        return settings
    }

    private func keeps(_ row: Setting<Owner>, _ rows: [Setting<Owner>]) -> Bool {
        switch row.keeping {
        case nil: false
        case .always: true
        case .changed, .guarded: unguarded.contains(row.key) || row.differs(value, configured)
        case .guardedTogether:
            rows.contains { $0.keeping == .guardedTogether && $0.differs(value, configured) }
        }
    }

    // MARK: As a file

    fileprivate func lines(_ rows: [Setting<Owner>]) -> [String] {
        rows.filter { keeps($0, rows) }.compactMap { $0.line(of: value) }
    }

    /// The configured values, each under its key behind `prefix`.
    fileprivate func guards(_ rows: [Setting<Owner>], _ prefix: String = "") -> [String] {
        rows.filter { $0.isGuarded && !unguarded.contains($0.key) && keeps($0, rows) }
            .compactMap { $0.line(of: configured, prefix) }
    }

    /// Reads `table`, and the configured values from `guards`, behind `prefix`. A value without its
    /// configured one has no effect if `needsGuards`.
    fileprivate init(
        _ table: TOMLTable,
        _ guards: TOMLTable?,
        behind prefix: String = "",
        _ initial: Owner,
        _ rows: [Setting<Owner>],
        needsGuards: Bool
    ) {
        var (value, configured) = (initial, initial)
        var unguarded: Set<String> = []
        func read(
            _ row: Setting<Owner>,
            _ node: TOMLValue?,
            _ owner: inout Owner
        ) -> Bool {
            guard let plain = node.flatMap({ Plain($0) }) else { return false }
            return (try? row.read(plain, &owner)) != nil
        }
        var isTogether = true
        for row in rows where row.keeping != nil {
            let isRead = read(row, table[row.key], &value)
            let hasGuard = row.isGuarded && read(row, guards?[prefix + row.key], &configured)
            if row.keeping == .guardedTogether { isTogether = isTogether && isRead && hasGuard }
            guard row.isGuarded, isRead != hasGuard || needsGuards && !hasGuard else { continue }
            if isRead, !needsGuards {
                unguarded.insert(row.key)
            } else {
                row.copy(initial, &value)
                row.copy(initial, &configured)
            }
        }
        for row in rows where row.keeping == .guardedTogether && !isTogether {
            row.copy(initial, &value)
            row.copy(initial, &configured)
        }
        self.init(value, over: configured, initial, rows)
        for row in rows where unguarded.contains(row.key) { row.copy(value, &self.value) }
        self.unguarded = unguarded
    }
}

extension Setting {
    /// The line of the value of `owner`, with `prefix` before the key.
    fileprivate func line(of owner: Owner, _ prefix: String = "") -> String? {
        plain(owner).map { value in
            // Version 0.2 reads no whole number as a magnification.
            if case .double = value { return "\(prefix)\(key) = \(value.toml(pointed: true))" }
            return "\(prefix)\(key) = \(value.toml())"
        }
    }
}

extension Kept where Owner == CameraSettings {
    init(_ value: Owner = Owner(), over configured: Owner = Owner()) {
        self.init(value, over: configured, Owner(), Owner.rows)
    }

    func settings(over now: Owner) -> Owner { settings(over: now, Owner.rows) }
}

/// The state kept over a restart, if the user wants that: what was set by commands and is not as
/// configured, the swap, Pro mode, what a scene has to end, and each camera's values, by identity.
package struct SavedState: Hashable, Sendable {
    private var shared: Kept<Settings>
    package private(set) var cameras: [String: Kept<CameraSettings>] = [:]
    /// The title that returns at the end of a scene.
    private var before: ScenesState.Shown?
    /// `true` if a scene turned privacy on.
    private var hasPrivacy = false

    private static let titleRows = Settings.rows.filter { $0.part == .title }

    /// The part of `state` to keep.
    package init(_ state: State) {
        shared = Kept(state.settings, over: state.configured, .widest, Settings.rows)
        if let shown = state.scenes.before, shown.own == state.title { before = shown }
        hasPrivacy = state.scenes.hasPrivacy
        cameras = state.kept
        for role in Role.allCases where !state.cameras[role].identity.isEmpty {
            cameras[state.cameras[role].identity] = state.kept(of: role)
        }
        cameras = cameras.mapValues { Kept($0.value, over: $0.configured) }.filter { !$1.isEmpty }
    }

    /// Forgets that a scene turned privacy on: the user has done so since.
    package mutating func forgetPrivacy() { hasPrivacy = false }

    /// Restores `state` before anything has started; the main picture only if `swapping`.
    package func restore(_ state: inout State, swapping: Bool = true) {
        var settings = shared.settings(over: state.configured, Settings.rows)
        settings.cameras = state.settings.cameras
        if !swapping { settings.isSwapped = state.scene.isSwapped }
        _ = state.change(to: settings, .atOnce, at: .zero)
        state.kept = cameras
        state.scenes.before = before
        state.scenes.hasPrivacy = hasPrivacy
    }

    /// The text form that `init(parsing:)` reads: TOML.
    package var text: String {
        var lines = ["# What DualCam remembers; it writes this file itself."]
        lines += shared.lines(Settings.rows)
        let configured = shared.guards(Settings.rows)
        if !configured.isEmpty { lines += ["", "[configured]"] + configured }
        lines += sceneLines
        for (identity, kept) in cameras.sorted(by: { $0.key < $1.key }) {
            let name = quoted(identity)
            // A longer line could not be read back.
            guard name.utf8.count < 4000 else { continue }
            let rows = CameraSettings.rows
            lines +=
                ["", "[cameras.\(name)]"] + kept.lines(rows) + kept.guards(rows, "configured-")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var sceneLines: [String] {
        var lines: [String] = []
        if let before {
            var former = Settings()
            (former.title, former.titleCorner) = (before.title, before.corner)
            lines = Self.titleRows.compactMap { $0.line(of: former) }
            lines.append("until-privacy-ends = \(before.isOfPrivacy)")
        }
        if hasPrivacy { lines.append("privacy = true") }
        return lines.isEmpty ? [] : ["", "[scene]"] + lines
    }

    private mutating func readScene(_ table: TOMLTable) {
        func isTrue(_ key: String) -> Bool {
            if case .plain(.bool(true))? = table[key] { true } else { false }
        }
        hasPrivacy = isTrue("privacy")
        var former = Settings()
        for row in Self.titleRows {
            guard let plain = table[row.key].flatMap({ Plain($0) }),
                (try? row.read(plain, &former)) != nil
            else { return }
        }
        before = ScenesState.Shown(
            title: former.title,
            corner: former.titleCorner,
            own: shared.value.title,
            isOfPrivacy: isTrue("until-privacy-ends")
        )
    }

    /// Parses `text`, the content of `file`; missing or invalid values keep their defaults. Throws
    /// `ConfigurationError` if it is no TOML, or too long.
    package init(
        parsing text: String,
        file: String = "state.toml"
    ) throws(ConfigurationError) {
        let root = try parseTOML(text, file: file).root
        shared = Kept(
            root,
            root["configured"]?.table,
            // A size is read as that of any shape: the configured one is not in the file.
            .widest,
            Settings.rows,
            needsGuards: false
        )
        if let table = root["scene"]?.table { readScene(table) }
        guard let tables = root["cameras"]?.table else { return }
        for identity in tables.keys {
            guard let table = tables[identity]?.table else { continue }
            let kept = Kept(
                table,
                table,
                behind: "configured-",
                CameraSettings(),
                CameraSettings.rows,
                needsGuards: true
            )
            if !kept.isEmpty { cameras[identity] = kept }
        }
    }
}
