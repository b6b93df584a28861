/// The changes that another configuration makes in a running daemon.
package struct Reconfiguration: Hashable, Sendable {
    /// The roles whose torch was another LED, which would stay lit.
    package var formerTorches: [Role] = []
    /// `true` if the stream needs another node, since a node never changes its mode.
    package var replacesStream = false
    /// `true` if the mirror on a loopback device is another one.
    package var replacesMirror = false
    /// `true` if cameras get or lose nodes of their own.
    package var offersCameras = false
    /// The changes of the state, in order.
    package var events: [Event] = []
}

extension Configuration {
    /// Returns what this changes in a daemon that has run with `old`; `nil`: that has not started.
    package func changes(from old: Configuration?) -> Reconfiguration {
        var changes = Reconfiguration()
        for role in Role.allCases {
            let (camera, before) = (cameras[role], old?.cameras[role])
            let settings = camera.controlSettings
            guard settings != before?.controlSettings || camera.aperture != before?.aperture else {
                continue
            }
            changes.events.append(.controls(role, .set(settings, aperture: camera.aperture)))
        }
        guard let old else { return changes }
        if settings != old.settings { changes.events.append(.configured(settings)) }
        changes.formerTorches = Role.allCases.filter {
            cameras[$0].torch != old.cameras[$0].torch && old.cameras[$0].torch != nil
        }
        changes.replacesStream = output != old.output
        changes.replacesMirror = output != old.output || loopback != old.loopback
        changes.offersCameras = Role.allCases.contains {
            cameras[$0].isOffered != old.cameras[$0].isOffered
        }
        return changes
    }
}

extension Configuration.Camera {
    /// The user's settings for the camera's controls.
    package var controlSettings: ControlSettings {
        var settings = ControlSettings()
        settings.isoRange = isoRange
        settings.isFocusReversed = isFocusReversed
        settings.holdsRate = holdsRate
        settings.antiFlicker = antiFlicker
        return settings
    }
}
