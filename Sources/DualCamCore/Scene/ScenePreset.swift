import Frames

/// The settings of a picture, under a name: which camera is the main one, the layout, the visible
/// part of each camera, and the rest. A value that is `nil` stays as it is when the preset is
/// applied.
package struct ScenePreset: Hashable, Sendable {
    /// The role of the main picture.
    var main: Role?
    /// The layout of the pictures.
    var layout: Layout?
    /// `true` if layout `pip` shows its inset.
    var insetVisible: Bool?
    /// The corner of the inset.
    var insetCorner: Corner?
    /// The inset's width, as a fraction of the canvas's.
    var insetSize: Double?
    /// `true` if the inset carries the swap icon.
    var swapIcon: Bool?
    /// The treatment of a picture of another shape than its frame.
    var background: Background?
    /// The setting for when the HUD is shown.
    var hud: HudMode?
    /// `true` if Pro mode is on.
    var isPro: Bool?
    /// The title; `nil` within: none.
    var title: Title??
    /// The corner of the title.
    var titleCorner: Corner?
    /// `true` if the cameras are closed.
    package internal(set) var isPrivate: Bool?
    /// The settings of each camera.
    package internal(set) var cameras = PerRole(back: CameraPreset(), front: CameraPreset())
    /// The keys of a later version, as TOML: they are kept.
    package internal(set) var unread: [String: String] = [:]

    /// A preset that changes nothing.
    package init() {}
}

/// The part of a preset that belongs to one camera.
package struct CameraPreset: Hashable, Sendable {
    /// The rotation of the mounted camera, in degrees clockwise.
    var rotation: Int?
    /// `true` if it is shown mirrored left to right.
    var mirror: Bool?
    /// The corners that are shown as the whole; `nil` within: all of the picture.
    var perspective: Perspective??
    /// `true` for paper: even light, white paper, dark ink.
    var isInk: Bool?
    /// The magnification, which also selects the lens.
    var zoom: Double?
    /// The point in the middle, in the picture of the lens "wide".
    var middle: NormalizedPoint?
    /// The ISO.
    var iso: ManualSetting<Int>?
    /// The exposure time, in microseconds.
    var shutter: ManualSetting<Int>?
    /// The focus, from 0 (near) to 1 (infinity).
    var focus: ManualSetting<Double>?
    /// The light in which the picture looks neutral.
    var whiteBalance: WhiteBalance?
    /// The exposure compensation, in stops.
    var compensation: Double?
    /// The parts of the automatic that are held as it finds them.
    var lock: Set<ControlLock.Subject>?
    /// The keys of a later version, as TOML.
    package internal(set) var unread: [String: String] = [:]

    /// A preset that changes nothing.
    package init() {}
}

/// A value that a photographer chose, or the camera's choice.
package enum ManualSetting<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The camera chooses.
    case automatic
    /// This value.
    case manual(Value)

    /// The value of `manual`, which is `nil` if it is automatic.
    init(_ manual: Value?) { self = manual.map { .manual($0) } ?? .automatic }

    /// The value, unless it is automatic.
    var value: Value? { if case .manual(let value) = self { value } else { nil } }
}

/// A part of a scene, by the words of `--only`.
package enum ScenePart: String, CaseIterable, Hashable, Sendable {
    case main, layout, inset, crop, rotation, mirror, perspective, ink, zoom, pro, lock, hud,
        title, privacy
}

extension ScenePreset {
    /// A key of this preset, and of its part in a file: "layout", "back.zoom".
    typealias Key = String

    /// The values that are set, as TOML, by key, in the order of a file; those of a later version
    /// last.
    package var values: [(key: String, text: String)] {
        var values = SceneField<ScenePreset>.all.compactMap { field in
            field.text(self).map { (field.key, $0) }
        }
        values += unread.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return values
    }

    /// Removes the values of `keys`: "layout", "back.zoom".
    package mutating func remove(_ keys: some Sequence<String>) {
        for key in keys {
            SceneField<ScenePreset>.all.first { $0.key == key }?.remove(&self)
            unread[key] = nil
            for role in Role.allCases where key.hasPrefix("\(role.rawValue).") {
                let own = String(key.dropFirst(role.rawValue.count + 1))
                SceneField<CameraPreset>.all.first { $0.key == own }?.remove(&cameras[role])
                cameras[role].unread[own] = nil
            }
        }
    }

    /// Returns the same preset without what belongs to other `parts`; `nil` stands for all.
    package func limited(to parts: Set<ScenePart>?) -> ScenePreset {
        guard let parts else { return self }
        var preset = self
        preset.unread = [:]
        for field in SceneField<ScenePreset>.all where !parts.contains(field.part) {
            field.remove(&preset)
        }
        for role in Role.allCases {
            preset.cameras[role].unread = [:]
            for field in SceneField<CameraPreset>.all where !parts.contains(field.part) {
                field.remove(&preset.cameras[role])
            }
        }
        return preset
    }

    /// The keys of what this version cannot read.
    var unreadKeys: [String] {
        unread.keys.sorted()
            + Role.allCases.flatMap { role in
                cameras[role].unread.keys.sorted().map { "\(role.rawValue).\($0)" }
            }
    }
}

extension CameraPreset {
    /// The values that are set, as TOML, by key, in the order of a file; those of a later version
    /// last.
    package var values: [(key: String, text: String)] {
        SceneField<CameraPreset>.all.compactMap { field in
            field.text(self).map { (field.key, $0) }
        } + unread.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The key of `lock`.
    static let lockKey = "lock"

    /// `true` if it changes nothing.
    var isEmpty: Bool { self == CameraPreset() }
}
