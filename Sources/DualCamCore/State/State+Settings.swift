import Frames

/// A change of one of the `Settings`, or of all of them.
package struct SettingsChange: Hashable, Sendable {
    private let path: any AnyKeyPath & Sendable
    private let value: any Hashable & Sendable
    let apply: @Sendable (inout Settings) -> Void

    fileprivate init<Value: Hashable & Sendable>(
        _ path: any WritableKeyPath<Settings, Value> & Sendable,
        _ value: Value
    ) {
        (self.path, self.value) = (path, value)
        apply = { $0[keyPath: path] = value }
    }

    /// Compares the place and the value.
    package static func == (one: Self, other: Self) -> Bool {
        one.path == other.path && AnyHashable(one.value) == AnyHashable(other.value)
    }

    /// Hashes the place.
    package func hash(into hasher: inout Hasher) { hasher.combine(path as AnyKeyPath) }
}

extension Event {
    /// Sets what is at `path`.
    package static func set<Value: Hashable & Sendable>(
        _ path: any WritableKeyPath<Settings, Value> & Sendable,
        _ value: Value
    ) -> Event { .change(SettingsChange(path, value)) }
}

extension State {
    package var settings: Settings {
        var settings = Settings()
        settings.scene.style = scene.style
        settings.scene.hud = pro.hud
        settings.takesLivePhotos = takesLivePhotos
        settings.closesAtLock = closesAtLock
        settings.away = away.path
        settings.isSwapped = scene.isSwapped
        settings.isPro = pro.isEnabled
        settings.dial = pro.dial
        settings.orientation = orientation.mode
        settings.title = title
        settings.titleCorner = titleCorner
        settings.isPrivate = privacy.isWanted ? true : nil
        settings.cameras = PerRole { self.settings(of: $0) }
        return settings
    }

    private func settings(of role: Role) -> CameraSettings {
        let camera = cameras[role]
        return CameraSettings(
            mirror: camera.mirror,
            rotation: camera.rotation,
            corners: scene.perspectives[role].goal,
            isInk: scene.isInk(role),
            room: camera.room,
            roomBlur: camera.roomBlur,
            framing: camera.framing,
            framingTightness: camera.framingTightness,
            metering: camera.metering,
            zoom: camera.lens.zoom,
            isZoomAsked: camera.lens.isZoomAsked,
            middle: camera.lens.middle,
            manual: camera.controls.manual
        )
    }

    /// The way in which another setting is shown.
    enum Change: Hashable {
        /// Eased, each for itself.
        case eased
        /// In one movement, or at once.
        case together(instantly: Bool)
        /// At once, since nothing or another camera is shown.
        case atOnce
    }

    /// Takes over what differs in `new`. The manual values of controls are the cameras' own.
    mutating func change(
        to new: Settings,
        _ way: Change = .eased,
        at time: Timestamp
    ) -> [Effect] {
        let old = settings
        let isAtOnce = way == .atOnce || way == .together(instantly: true)
        let duration = isAtOnce ? 0 : new.scene.style.swapDuration
        if case .together = way {
            scene.change(
                toSwapped: new.isSwapped,
                style: new.scene.style,
                at: time,
                instantly: duration == 0
            )
        } else {
            scene.setSwapped(new.isSwapped, at: time, instantly: isAtOnce)
            scene.setStyle(new.scene.style, at: time, instantly: isAtOnce)
        }
        pro.hud = new.scene.hud
        takesLivePhotos = new.takesLivePhotos
        closesAtLock = new.closesAtLock
        away.path = new.away
        followLock()
        orientation.mode = new.orientation
        (title, titleCorner) = (new.title, new.titleCorner)
        pro.dial = new.dial
        if way == .atOnce {
            pro.isEnabled = new.isPro
        } else if new.isPro != old.isPro {
            handle(ProEvent.setEnabled(new.isPro), at: time)
        }
        return Role.allCases.flatMap { role in
            change(role, from: old.cameras[role], to: new.cameras[role], way, duration, at: time)
        }
    }

    private mutating func change(
        _ role: Role,
        from old: CameraSettings,
        to new: CameraSettings,
        _ way: Change,
        _ duration: Double,
        at time: Timestamp
    ) -> [Effect] {
        guard new != old else { return [] }
        // A camera that comes gets it from here.
        if isAway(role) { cameras[role].controls.manual.image = new.manual.image }
        (cameras[role].mirror, cameras[role].rotation) = (new.mirror, new.rotation)
        (cameras[role].room, cameras[role].roomBlur) = (new.room, new.roomBlur)
        scene.perspectives[role].move(to: new.corners, at: time, duration: duration)
        scene.setInk(new.isInk, role, at: time, instantly: way == .atOnce)
        if case .together(let isInstant) = way {
            let transform = cameras[role].transform
            scene.setTransform(transform, of: role, at: time, eased: !isInstant)
        }
        let zoomDuration = way == .eased ? LensState.usualDuration : duration
        if new.zoom != old.zoom {
            setZoom(role, new.zoom, nil, zoomDuration)
            if new.framing == old.framing { cameras[role].framing = .off }
        }
        if new.middle != old.middle {
            cameras[role].lens.middle = new.middle
            if case .together = way { cameras[role].lens.ramp = duration }
        }
        if new.framing != old.framing {
            // Automatic again, unless a scene says how far to zoom.
            if new.framing == .calm, new.zoom == old.zoom, new.zoom != 1 {
                setZoom(role, 1, .middle, zoomDuration)
            }
            cameras[role].framing = new.framing
            cameras[role].lens.ramp = zoomDuration
        }
        (cameras[role].framingTightness, cameras[role].metering) = (
            new.framingTightness, new.metering
        )
        return new.rotation != old.rotation && cameras[role].isAsked ? [.adaptCamera(role)] : []
    }

    /// Returns what is kept of the settings of the camera of `role`.
    func kept(of role: Role) -> Kept<CameraSettings> {
        var own = settings(of: role)
        if !own.isZoomAsked { own.zoom = 1 }
        var kept = Kept(own, over: configured.cameras[role])
        // As long as the daemon runs, these too.
        kept.value.isZoomAsked = own.isZoomAsked
        kept.value.manual.lock = own.manual.lock
        return kept
    }

    /// Keeps what was set for the camera of `role`, and returns what counts for the one called
    /// `identity`, which is about to replace it, and is taken over but for its controls and its
    /// magnification.
    mutating func exchange(
        _ role: Role,
        for identity: String,
        at time: Timestamp
    ) -> CameraSettings {
        let (former, configured) = (cameras[role].identity, configured.cameras[role])
        let own = settings(of: role)
        if !former.isEmpty { kept[former] = kept(of: role) }
        let taken = kept.removeValue(forKey: identity) ?? Kept()
        var next = taken.settings(over: configured)
        next.isZoomAsked = taken.value.isZoomAsked || next.zoom != 1
        next.manual.lock = taken.value.manual.lock
        if former.isEmpty, !identity.isEmpty {
            // What was set before there was a camera is its own.
            for row in CameraSettings.rows where row.isGuarded && row.differs(own, configured) {
                row.copy(own, &next)
            }
        }
        // Another camera may show the same room.
        if next.room == .asIs { (next.room, next.roomBlur) = (own.room, own.roomBlur) }
        if !identity.isEmpty, hiddenRooms.remove(role) != nil, next.room == .asIs {
            next.room = .blur
        }
        // The picture is another one, so nothing moves.
        (cameras[role].mirror, cameras[role].rotation) = (next.mirror, next.rotation)
        (cameras[role].room, cameras[role].roomBlur) = (next.room, next.roomBlur)
        (cameras[role].calm, cameras[role].framing) = (nil, next.framing)
        (cameras[role].framingTightness, cameras[role].metering) = (
            next.framingTightness, next.metering
        )
        scene.setInk(next.isInk, role, at: time, instantly: true)
        scene.perspectives[role].move(to: next.corners, at: time, duration: 0)
        return next
    }

    /// Takes over another configuration. What commands have set stays, unless the configured value
    /// of just that is another one: as over a restart.
    mutating func configure(_ new: Settings, at time: Timestamp) -> [Effect] {
        var next = settings
        for row in Settings.rows where row.differs(configured, new) { row.copy(new, &next) }
        for role in Role.allCases {
            let (old, new) = (configured.cameras[role], new.cameras[role])
            for row in CameraSettings.rows where row.isGuarded && row.differs(old, new) {
                row.copy(new, &next.cameras[role])
            }
        }
        configured = new
        return change(to: next, at: time) + setImage(as: next, at: time)
    }

    /// Returns what gives the cameras the image controls of `new`.
    private func setImage(as new: Settings, at time: Timestamp) -> [Effect] {
        let rows = ManualControls.scenes.filter { $0.part == .image }
        return Role.allCases.compactMap { role in
            let values = rows.captured(new.cameras[role].manual)
            let commands = commands(of: values, role, at: time).now
            return commands.isEmpty ? nil : .setControls(role, commands, of: "")
        }
    }

    /// Goes back to the configuration.
    mutating func reset(at time: Timestamp) -> [Effect] {
        scenes.applied = nil
        scenes.last = ""
        scenes.waiting = PerRole(back: nil, front: nil)
        scenes.locks = PerRole(back: nil, front: nil)
        scenes.lateRefusals = [:]
        kept = [:]
        var next = configured
        // The daemon ends Pro mode once the cameras' values are automatic.
        next.isPro = pro.isEnabled
        var effects: [Effect] = []
        for role in Role.allCases {
            effects += handle(.setFrozen(false), of: role, at: time)
            if cameras[role].lens.zoom == 1 {
                next.cameras[role].middle = cameras[role].lens.middle
            }
        }
        return effects + change(to: next, at: time) + setImage(as: next, at: time)
    }
}

extension Configuration {
    /// The configured values of all that commands change.
    package var settings: Settings {
        var settings = Settings()
        settings.scene = scene
        settings.takesLivePhotos = capture.takesLivePhotos
        settings.closesAtLock = closesAtLock
        settings.away = output.away
        settings.cameras = PerRole { cameras[$0].settings }
        return settings
    }
}
