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
    /// The roles whose camera has to be opened anew, as its source, mode or lenses are others.
    package var newSources: [Role] = []
}

extension Configuration {
    /// Returns what this configuration changes in a daemon that has run with `old`; `nil`: in one
    /// that has not started.
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
        if scene.hud != old?.scene.hud { changes.events.append(.pro(.setHud(scene.hud))) }
        // Corners are places in the picture as it is mounted.
        if let old { changes.events += mountings(from: old) }
        for role in Role.allCases where cameras[role].perspective != old?.cameras[role].perspective
        {
            changes.events.append(.camera(role, .setPerspective(cameras[role].perspective)))
        }
        for role in Role.allCases where cameras[role].isInk != old?.cameras[role].isInk ?? false {
            changes.events.append(.camera(role, .setInk(cameras[role].isInk)))
        }
        guard let old else { return changes }
        changes.formerTorches = Role.allCases.filter {
            cameras[$0].torch != old.cameras[$0].torch && old.cameras[$0].torch != nil
        }
        changes.replacesStream = output != old.output
        changes.replacesMirror = output != old.output || loopback != old.loopback
        changes.offersCameras = Role.allCases.contains {
            cameras[$0].isOffered != old.cameras[$0].isOffered
        }
        if capture.takesLivePhotos != old.capture.takesLivePhotos {
            changes.events.append(.photographs(.setLive(capture.takesLivePhotos)))
        }
        if scene.style != old.scene.style { changes.events.append(.scene(.setStyle(scene.style))) }
        for role in Role.allCases {
            let (camera, before) = (cameras[role], old.cameras[role])
            if camera.source != before.source || camera.credentials != before.credentials
                || camera.capture != before.capture
                || camera.lenses != before.lenses
            {
                changes.newSources.append(role)
            }
        }
        return changes
    }

    /// Returns the events of cameras that are mounted otherwise than with `old`.
    private func mountings(from old: Configuration) -> [Event] {
        Role.allCases.flatMap { role in
            let (camera, before) = (cameras[role], old.cameras[role])
            var events: [Event] = []
            if camera.mirror != before.mirror {
                events.append(.camera(role, .setMirror(camera.mirror)))
            }
            if camera.rotation != before.rotation {
                events.append(.camera(role, .setRotation(camera.rotation)))
            }
            return events
        }
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
