import Frames

/// The configured values of all that commands change.
package struct ConfiguredSettings: Hashable, Sendable {
    /// The look of the scene.
    package var style: SceneStyle
    /// The setting for when the HUD is shown.
    package var hud = HudMode.pro
    /// `true` if photographs come with a short movie.
    package var takesLivePhotos = false
    /// The mounting of each camera.
    package var mountings: PerRole<Mounting>
    /// `true` for each camera whose picture is graded for paper.
    package var inks = PerRole(back: false, front: false)
    /// The corners of each camera's picture that are shown as the whole, in its picture upright as
    /// it is mounted and not mirrored; `nil`: all of it.
    package var perspectives = PerRole<Perspective?>(back: nil, front: nil)

    /// The settings, with the defaults for all but the look and the mountings.
    package init(style: SceneStyle, mountings: PerRole<Mounting>) {
        self.style = style
        self.mountings = mountings
    }
}

/// The mounting of a camera, by which its picture is turned.
package struct Mounting: Hashable, Sendable {
    /// `true` if it is shown mirrored left to right.
    package var mirror: Bool
    /// The rotation of the mounted camera, in degrees clockwise: 0, 90, 180 or 270.
    package var rotation: Int

    /// A mounting.
    package init(mirror: Bool, rotation: Int) {
        self.mirror = mirror
        self.rotation = rotation
    }
}

/// A value that was set by a command for a camera, and the configured one that it replaced. It
/// counts until the configuration says something else.
package struct Kept<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The value that was set.
    package var value: Value
    /// The configured one.
    package var configured: Value

    /// `true` if there is something to keep.
    var isChange: Bool { value != configured }
}

extension ConfiguredSettings {
    /// Returns the configured perspective of the camera of `role`, as corners in its picture as
    /// the camera delivers it.
    func deliveredPerspective(of role: Role) -> Perspective? {
        perspectives[role]?.turned(by: mountings[role].transform.inverse)
    }
}

extension Mounting {
    /// The transform that makes up for it, without the mirroring.
    fileprivate var transform: Transform { Transform(quarterTurns: rotation / 90) }
}

extension CameraState {
    /// Its mounting.
    var mounting: Mounting {
        get { Mounting(mirror: mirror, rotation: rotation) }
        set { (mirror, rotation) = (newValue.mirror, newValue.rotation) }
    }
}

extension State {
    /// Keeps how the picture of the camera of `role` is turned, straightened and graded, and takes
    /// that of the one called `identity`, which is about to replace it.
    mutating func turn(_ role: Role, for identity: String, at time: Timestamp) {
        let camera = cameras[role]
        func taken<Value>(
            _ kept: WritableKeyPath<State, [String: Kept<Value>]>,
            _ now: Value,
            _ configured: Value
        ) -> Value {
            let present = Kept(value: now, configured: configured)
            if !camera.identity.isEmpty {
                self[keyPath: kept][camera.identity] = present.isChange ? present : nil
            } else if present.isChange, !identity.isEmpty {
                // It was set before there was a camera.
                return now
            }
            guard let own = self[keyPath: kept].removeValue(forKey: identity),
                own.configured == configured
            else { return configured }
            return own.value
        }
        cameras[role].mounting = taken(\.mountings, camera.mounting, configured.mountings[role])
        cameras[role].isInk = taken(\.inks, camera.isInk, configured.inks[role])
        let perspective = taken(
            \.perspectives,
            scene.perspectives[role].goal,
            configured.deliveredPerspective(of: role)
        )
        // The picture is another one, so nothing moves.
        scene.setInk(cameras[role].isInk, role, at: time, instantly: true)
        scene.perspectives[role].move(to: perspective, at: time, duration: 0)
    }

    /// Goes back to the configuration.
    mutating func reset(at time: Timestamp) -> [Effect] {
        scene.setSwapped(false, at: time)
        scene.setStyle(configured.style, at: time)
        pro.hud = configured.hud
        pro.dial = Pro().dial
        orientation.mode = nil
        takesLivePhotos = configured.takesLivePhotos
        title = nil
        titleCorner = .bottomLeft
        scenes.applied = nil
        scenes.last = ""
        scenes.waiting = PerRole(back: nil, front: nil)
        scenes.locks = PerRole(back: nil, front: nil)
        scenes.lateRefusals = [:]
        mountings = [:]
        inks = [:]
        perspectives = [:]
        manualControls = [:]
        zooms = [:]
        var effects: [Effect] = []
        for role in Role.allCases {
            let isTurned = cameras[role].rotation != configured.mountings[role].rotation
            cameras[role].mounting = configured.mountings[role]
            effects += handle(.setFrozen(false), of: role, at: time)
            effects += handle(.setInk(configured.inks[role]), of: role, at: time)
            effects += handle(
                .setPerspective(configured.perspectives[role]),
                of: role,
                at: time
            )
            if isTurned, cameras[role].isAsked { effects.append(.adaptCamera(role)) }
            guard cameras[role].lens.zoom != 1 else { continue }
            effects += handle(
                .setZoom(1, middle: .middle, duration: LensState.usualDuration),
                of: role,
                at: time
            )
        }
        return effects
    }
}
