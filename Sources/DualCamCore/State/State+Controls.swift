import Frames

/// An event of the controls of a role's camera.
package enum ControlsEvent: Hashable, Sendable {
    /// Sets the user's settings for the controls, and the camera's f-number.
    case set(ControlSettings, aperture: Double)
    /// The current controls of the device of this identity.
    case read(identity: String, CameraControls)
    /// A dial was turned; `limit` is the end that it ran into.
    case dialTurned(Dial, limit: Bound?)
}

/// An event of Pro mode.
package enum ProEvent: Hashable, Sendable {
    case setEnabled(Bool)
    case setDial(Dial)
    /// A consumer draws the values itself while Pro mode is on.
    case claimHud(consumer: String)
    /// A consumer draws them no longer, or is gone.
    case releaseHud(consumer: String)
}

extension State {
    mutating func handle(_ event: ControlsEvent, of role: Role, at time: Timestamp) {
        switch event {
        case .set(let settings, let aperture):
            cameras[role].controls.settings = settings
            cameras[role].aperture = aperture
        case .read(let identity, let controls):
            if !controls.device.isEmpty {
                cameras[role].lens.reaches[identity] = controls.mostMagnification
            }
            if identity == cameras[role].lens.incoming?.device {
                cameras[role].lens.incoming?.controls = controls
            }
            // The report may be about the camera that had the role before.
            guard identity == cameras[role].lens.device else { break }
            // The settings are the user's; the thread's copy may be older.
            let settings = cameras[role].controls.settings
            cameras[role].controls = controls
            cameras[role].controls.settings = settings
            if readZoom(role) { cameras[role].lens.ramp = 0 }
        case .dialTurned(let dial, let limit): turned(role, dial, limit, at: time)
        }
    }

    mutating func handle(_ event: ProEvent, at time: Timestamp) {
        switch event {
        case .setEnabled(let isOn):
            pro.isEnabled = isOn
            // Cameras that are absent now return automatic.
            if !isOn {
                for (identity, own) in kept {
                    kept[identity]?.value.manual = own.value.manual.withoutPro
                }
            }
            pro.limit = nil
            scene.touchHud(at: time, limit: nil, rising: false)
        case .setDial(let dial):
            pro.dial = dial
            pro.limit = nil
            scene.touchHud(at: time, limit: nil, rising: false)
        case .claimHud(let consumer):
            if !pro.hudConsumers.contains(consumer) { pro.hudConsumers.append(consumer) }
        case .releaseHud(let consumer): pro.hudConsumers.removeAll { $0 == consumer }
        }
    }

    /// The dial in use: the one chosen last, or else the first that the main camera has.
    package var dial: Dial {
        let controls = cameras[scene.main].controls
        if controls.has(pro.dial) { return pro.dial }
        return Dial.allCases.first { controls.has($0) } ?? pro.dial
    }

    /// `true` while the values of the cameras are visible, and so have to be kept current.
    package var showsControls: Bool { pro.isEnabled || pro.hud == .always }

    /// Returns the circumstances that decide how a role's controls are polled and set.
    package func controlUse(_ role: Role) -> ControlUse {
        let camera = cameras[role]
        return ControlUse(
            device: camera.lens.device,
            place: search.uses[role].devices[camera.lens.device]?.place ?? "",
            pipeline: camera.lens.pipeline,
            settings: camera.controls.settings,
            metering: camera.metering,
            rate: camera.mode?.rate,
            isShown: showsControls,
            zoomNumber: zoomRequest(role)?.number
        )
    }

    /// Notes that a dial of the photographer's was turned.
    private mutating func turned(
        _ role: Role,
        _ dial: Dial,
        _ limit: Bound?,
        at time: Timestamp
    ) {
        guard role == scene.main else { return }
        pro.dial = dial
        pro.limit = limit
        // The scale runs from long to short times, so that faster is to the right.
        let isRising = (limit == .maximum) != (dial == .shutter)
        scene.touchHud(at: time, limit: limit, rising: isRising)
    }

    /// Shows the values of the main camera in the scene, and corrects each camera's picture.
    mutating func showControls(at time: Timestamp) {
        for role in Role.allCases {
            let lens = cameras[role].lens
            scene.grades[role][lens.pipeline] = cameras[role].controls.grade
            scene.grades[role][lens.pipeline.other] = lens.incoming?.controls.grade ?? .none
        }
        let isOurs = pro.hud == .pro && pro.isEnabled && pro.hudConsumers.isEmpty
        let isSeen = pro.hud == .always || isOurs
        let camera = cameras[scene.main]
        scene.setMark(
            isSeen || scene.style.recordMark ? recording.seconds(at: time) : nil,
            isPaused: recording.isPaused,
            at: time
        )
        // The values of cameras that are closed for privacy are nobody's business.
        guard isSeen, suspensions.isEmpty else { return scene.setHud(nil, at: time) }
        var content = HudContent(
            camera.controls,
            aperture: camera.aperture,
            dial: pro.isEnabled ? dial : nil,
            limit: dial == pro.dial ? pro.limit : nil
        )
        content.show(camera.lens)
        content.inset = scene.lowInset
        scene.setHud(content, at: time)
    }
}
