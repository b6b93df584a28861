/// The settings of a picture, under a name: which camera is the main one, the layout, the visible
/// part of each camera, and the rest, by key. What it does not name stays as it is when the preset
/// is applied. What a later version wrote is kept as `Plain.other`.
package struct ScenePreset: Hashable, Sendable {
    /// The settings of the whole picture.
    package internal(set) var values: [String: Plain] = [:]
    package internal(set) var cameras = PerRole<[String: Plain]>(back: [:], front: [:])

    package init() {}

    /// `true` if the cameras are closed.
    package var isPrivate: Bool? { values["privacy"]?.bool }

    /// Removes the values of `keys`: "layout", "back.zoom".
    package mutating func remove(_ keys: some Sequence<String>) {
        for key in keys {
            values[key] = nil
            for role in Role.allCases where key.hasPrefix("\(role.rawValue).") {
                cameras[role][String(key.dropFirst(role.rawValue.count + 1))] = nil
            }
        }
    }

    /// Returns the same preset without what belongs to other `parts`; `nil` stands for all.
    package func limited(to parts: Set<ScenePart>?) -> ScenePreset {
        guard let parts else { return self }
        var preset = self
        preset.values = Settings.scenes.limit(values, to: parts)
        for role in Role.allCases {
            preset.cameras[role] = CameraSettings.scenes.limit(cameras[role], to: parts)
        }
        return preset
    }

    /// The keys of what this version cannot read.
    var unreadKeys: [String] {
        values.unreadKeys
            + Role.allCases.flatMap { role in
                cameras[role].unreadKeys.map { "\(role.rawValue).\($0)" }
            }
    }
}

extension Settings {
    /// The rows of scenes, in the order in which they are applied and written.
    package static let scenes = rows.inScenes()
}

extension CameraSettings {
    /// The rows of scenes, in the order in which they are applied and written.
    package static let scenes = rows.inScenes()
}

extension [String: Plain] {
    /// The keys of what this version cannot read.
    var unreadKeys: [String] {
        filter { if case .other = $0.value { true } else { false } }.keys.sorted()
    }
}

extension Array {
    /// Returns the values of `owner` for a scene.
    func captured<Owner>(_ owner: Owner) -> [String: Plain] where Element == Setting<Owner> {
        reduce(into: [:]) { values, row in values[row.key] = row.plain(owner)?.rounded }
    }

    /// Gives `owner` those of `values` that differ.
    func apply<Owner>(
        _ values: [String: Plain],
        to owner: inout Owner
    ) where Element == Setting<Owner> {
        for row in self {
            guard let value = values[row.key], value != row.plain(owner)?.rounded else { continue }
            // Values of a later version have no effect.
            try? row.read(value, &owner)
        }
    }

    /// Returns those of `values` that belong to `parts`.
    fileprivate func limit<Owner>(
        _ values: [String: Plain],
        to parts: Set<ScenePart>
    ) -> [String: Plain] where Element == Setting<Owner> {
        values.filter { key, value in
            if case .other = value { return false }
            return contains { row in row.key == key && row.part.map(parts.contains) ?? false }
        }
    }

    /// Returns `plain` as a scene has it under `key`; as written, if this version cannot read it.
    func canonical<Owner>(
        _ plain: Plain,
        of key: String,
        _ initial: Owner
    ) -> Plain where Element == Setting<Owner> {
        var owner = initial
        guard let row = first(where: { $0.key == key }), (try? row.read(plain, &owner)) != nil
        else {
            return .other(plain.toml(pointed: true))
        }
        return row.plain(owner)?.rounded ?? plain
    }

    /// Returns `values` in the order of a file, those of a later version last.
    package func entries<Owner>(
        of values: [String: Plain]
    ) -> [(key: String, value: Plain)] where Element == Setting<Owner> {
        let unread = values.unreadKeys
        return (map(\.key).filter { !unread.contains($0) } + unread).compactMap { key in
            values[key].map { (key, $0) }
        }
    }
}
