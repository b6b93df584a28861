package import Frames

/// The state of applied scenes.
package struct ScenesState: Hashable, Sendable {
    struct Applied: Hashable {
        var name: String
        var preset: ScenePreset
    }

    /// The scene that was applied or saved last, without what was refused.
    var applied: Applied?
    /// The scene applied last, at least in part, or saved last; empty if there is none.
    package internal(set) var last = ""
    /// The values for a camera that is away, until it comes.
    var waiting = PerRole<[String: Plain]?>(back: nil, front: nil)
    /// The controls that each camera is to hold, until its automatic has had the time to find it.
    var locks = PerRole<Set<ControlLock.Subject>?>(back: nil, front: nil)
    /// The reasons for what cameras refused of the scene `last` after it was answered, by key.
    package internal(set) var lateRefusals: [String: String] = [:]
    /// `true` while privacy is on because a scene turned it on.
    package internal(set) var hasPrivacy = false
    /// The title before a scene showed its own, while that is shown.
    var before: Shown?

    /// A title, or none, and its corner.
    struct Shown: Hashable {
        var title: Title?
        var corner: Corner
        /// That of the scene.
        var own: Title?
        /// `true` if the scene also closes the cameras.
        var isOfPrivacy: Bool
    }

    /// The seconds that a camera's automatic gets before a scene holds what it has found.
    static let settling = 2.0

    init() {}
}

/// A command to a camera's controls that a scene needs, and the key of its value: "back.iso".
package struct SceneCommand: Hashable, Sendable {
    package let key: String
    package let command: ControlCommand
}

/// The commands that a scene needs for a camera's controls, in order.
package struct SceneCommands: Hashable, Sendable {
    /// Those to carry out at once.
    package internal(set) var now: [SceneCommand] = []
    /// The parts to hold once the automatic has found them; `nil`: nothing waits for that.
    package internal(set) var lock: Set<ControlLock.Subject>?
}

/// An event of scenes.
package enum ScenesEvent: Hashable, Sendable {
    /// A scene of this name is about to be applied, or a part of it.
    case chosen(String)
    /// Applies a preset without what is refused (`State.refusals`), by its name if it is whole.
    case apply(ScenePreset, as: String?, instantly: Bool)
    /// A camera could not take the values of these keys, "back.iso", of the scene of this name.
    case refused(Set<String>, of: String)
    /// A camera refused these keys of the scene of this name, and why, after it was answered.
    case refusedLate([String: String], of: String)
    /// A camera is to hold this once its automatic has found it.
    case lockLater(Role, Set<ControlLock.Subject>)
    /// The automatic of a camera has had its time.
    case settled(Role)
    /// The user has said what a camera is to hold, which ends what waits.
    case lockChosen(Role)
    /// The present picture was saved under a name.
    case saved(ScenePreset, as: String)
    /// A scene has another name now; `nil`: it is gone.
    case renamed(String, to: String?)
    /// A scene turned privacy on, just before.
    case tookPrivacy
}

extension State {
    mutating func handle(_ event: ScenesEvent, at time: Timestamp) -> [Effect] {
        switch event {
        case .chosen(let name):
            scenes.last = name
            scenes.lateRefusals = [:]
        case .apply(let preset, let name, let isInstant):
            if let name { scenes.applied = ScenesState.Applied(name: name, preset: preset) }
            return apply(preset, isWhole: name != nil, instantly: isInstant, at: time)
        case .refused(let keys, let name):
            if scenes.applied?.name == name { scenes.applied?.preset.remove(keys) }
        case .refusedLate(let reasons, let name): refusedLate(reasons, of: name)
        case .lockLater(let role, let subjects): scenes.locks[role] = subjects
        case .settled(let role): return settled(role)
        case .lockChosen(let role): scenes.locks[role] = nil
        case .saved(let preset, let name):
            scenes.last = name
            scenes.lateRefusals = [:]
            scenes.applied = ScenesState.Applied(name: name, preset: preset)
        case .renamed(let name, let new):
            if scenes.last == name { scenes.last = new ?? "" }
            guard scenes.applied?.name == name else { break }
            if let new { scenes.applied?.name = new } else { scenes.applied = nil }
        case .tookPrivacy: scenes.hasPrivacy = true
        }
        return []
    }

    // MARK: Capturing

    /// Returns a preset with all that is shown now, or these `parts` of it. What belongs to a
    /// camera that is away is what waits for it, if anything does.
    package func preset(of parts: Set<ScenePart>? = nil) -> ScenePreset {
        var preset = ScenePreset()
        let settings = settings
        preset.values = Settings.scenes.captured(settings)
        for role in Role.allCases {
            var own = settings.cameras[role]
            if let lock = scenes.locks[role] { own.manual.held = lock }
            preset.cameras[role] =
                isAway(role) ? scenes.waiting[role] ?? [:] : CameraSettings.scenes.captured(own)
        }
        return preset.limited(to: parts)
    }

    /// The scene applied or saved last, while the picture is as it says; empty otherwise.
    package var currentScene: String {
        guard let applied = scenes.applied else { return "" }
        let now = preset()
        func isSame(_ wanted: [String: Plain], _ now: [String: Plain]) -> Bool {
            let unread = wanted.unreadKeys
            return wanted.allSatisfy { key, value in value == now[key] || unread.contains(key) }
        }
        let areCamerasSame = Role.allCases.allSatisfy { role in
            isAway(role) || scenes.waiting[role] != nil
                || isSame(applied.preset.cameras[role], now.cameras[role])
        }
        return areCamerasSame && isSame(applied.preset.values, now.values) ? applied.name : ""
    }

    // MARK: Applying

    /// `true` while there is no camera that could take what belongs to the camera of `role`.
    func isAway(_ role: Role) -> Bool {
        let camera = cameras[role]
        return camera.identity.isEmpty || camera.lens.all.isEmpty || camera.phase == .unavailable
            || [.unplugged, .notFound].contains(camera.interruption)
    }

    /// Returns what of `preset` cannot be applied now, and why, in sentences by key; `rules` are
    /// those of the configuration.
    package func refusals(
        of preset: ScenePreset,
        by rules: Configuration.Capture
    ) -> [String: String] {
        var refusals: [String: String] = [:]
        if let main = preset.values["main"] {
            do throws(SwapRefusal) {
                try allowSwap(to: main == .text(Role.front.rawValue), by: rules)
            } catch { refusals["main"] = error.message }
        }
        for key in preset.unreadKeys {
            refusals[key] = "This version of DualCam does not know this value."
        }
        for role in Role.allCases where !isAway(role) {
            refusals.merge(zoomRefusal(of: preset.cameras[role], role)) { first, _ in first }
        }
        return refusals
    }

    private func zoomRefusal(of preset: [String: Plain], _ role: Role) -> [String: String] {
        let range = cameras[role].lens.zoomRange
        guard let zoom = preset["zoom"]?.number, !range.contains(zoom) else { return [:] }
        return [
            "\(role.rawValue).zoom":
                "The \(role.rawValue) camera zooms from \(range.lowerBound)× to "
                + "\(range.upperBound)×, not \(zoom)×."
        ]
    }

    /// Returns the commands to the controls of the camera of `role` that `preset` needs at `time`.
    package func commands(
        of preset: ScenePreset,
        for role: Role,
        at time: Timestamp
    ) -> SceneCommands {
        guard !isAway(role) else { return SceneCommands() }
        var own = preset.cameras[role]
        if preset.values["pro"] == .bool(false), pro.isEnabled {
            // What the preset does not say is automatic again when Pro mode ends.
            let automatic = ManualControls.rows.filter { $0.part == .pro }.captured(
                ManualControls()
            )
            own.merge(automatic) { own, _ in own }
        }
        return commands(of: own, role, at: time)
    }

    /// Returns the commands as above for these values of the camera.
    func commands(
        of preset: [String: Plain],
        _ role: Role,
        at time: Timestamp
    ) -> SceneCommands {
        let (camera, lockKey) = (cameras[role], key("lock", role))
        var manual = camera.controls.manual
        ManualControls.scenes.apply(preset, to: &manual)
        var commands = SceneCommands()
        commands.now = ManualControls.scenes.compactMap { row in
            guard row.differs(manual, camera.controls.manual) else { return nil }
            return ControlCommand(setting: row.key, of: manual).map {
                SceneCommand(key: key(row.key, role), command: $0)
            }
        }
        guard preset["lock"] != nil, !manual.held.isEmpty, !commands.now.isEmpty else {
            return commands
        }
        // What is held by now may be so no more after a dial was turned.
        commands.now.removeAll { $0.key == lockKey }
        let isReleased = commands.now.contains {
            if case .automatic = $0.command { true } else { false }
        }
        let isOtherLens =
            preset["zoom"].map { $0 != .double(camera.lens.zoom) } ?? false
            && Set(camera.lens.all.map(\.device)).count > 1
        if isReleased || isOtherLens || !isSettled(role, at: time) {
            commands.lock = manual.held
        } else {
            commands.now.append(SceneCommand(key: lockKey, command: .lockOnly(manual.held)))
        }
        return commands
    }

    private func key(_ key: String, _ role: Role) -> String { "\(role.rawValue).\(key)" }

    /// Returns `true` if the automatic of the camera of `role` has had the time to find something.
    private func isSettled(_ role: Role, at time: Timestamp) -> Bool {
        let camera = cameras[role]
        return camera.mode != nil && camera.lens.incoming == nil
            && (time - camera.deliveringSince).seconds >= ScenesState.settling
    }

    /// Makes what is to be held wait for the automatic of a camera that delivers.
    func followLocks(_ before: State) -> [Effect] {
        Role.allCases.compactMap { role in
            let (camera, former) = (cameras[role], before.cameras[role])
            guard let lock = scenes.locks[role], camera.mode != nil else { return nil }
            let isSame =
                lock == before.scenes.locks[role] && former.mode != nil
                && camera.lens.device == former.lens.device
            return isSame ? nil : .startSettling(role, seconds: ScenesState.settling)
        }
    }

    private mutating func settled(_ role: Role) -> [Effect] {
        // A camera that closed meanwhile gets its time anew when it delivers again.
        guard let lock = scenes.locks[role], cameras[role].mode != nil else { return [] }
        guard cameras[role].lens.incoming == nil else {
            return [.startSettling(role, seconds: ScenesState.settling)]
        }
        scenes.locks[role] = nil
        let command = SceneCommand(
            key: key("lock", role),
            command: .lockOnly(lock)
        )
        return [.setControls(role, [command], of: scenes.last)]
    }

    private mutating func refusedLate(_ reasons: [String: String], of name: String) {
        if scenes.applied?.name == name { scenes.applied?.preset.remove(reasons.keys) }
        // Of an earlier scene, it is of no interest any more.
        guard scenes.last == name, !name.isEmpty else { return }
        scenes.lateRefusals.merge(reasons) { _, new in new }
    }

    private mutating func apply(
        _ preset: ScenePreset,
        isWhole: Bool,
        instantly isInstant: Bool,
        at time: Timestamp
    ) -> [Effect] {
        var new = settings
        if isWhole { endTitle(&new) }
        let (title, corner) = (new.title, new.titleCorner)
        var values = preset.values
        if values["inset-corner"] != nil, values["inset-position"] == nil {
            // It is from before there were free places, or written by hand.
            values["inset-position"] = .list([])
        }
        Settings.scenes.apply(values, to: &new)
        if preset.values["title"] != nil {
            let former = scenes.before.flatMap { $0.own == title ? $0 : nil }
            scenes.before = ScenesState.Shown(
                title: former.map(\.title) ?? title,
                corner: former?.corner ?? corner,
                own: new.title,
                isOfPrivacy: preset.isPrivate == true
            )
        }
        for role in Role.allCases {
            let own = preset.cameras[role]
            // A part without values of the camera changes nothing of what waits for it.
            if !own.isEmpty || isWhole {
                scenes.waiting[role] = isAway(role) && !own.isEmpty ? own : nil
            }
            if !isAway(role) { apply(own, to: role, &new) }
        }
        return change(to: new, .together(instantly: isInstant), at: time)
    }

    /// Gives back the title that a scene took away, unless the user has set another one since.
    private mutating func endTitle(_ settings: inout Settings) {
        defer { scenes.before = nil }
        guard let before = scenes.before, before.own == settings.title else { return }
        (settings.title, settings.titleCorner) = (before.title, before.corner)
    }

    /// Ends what a scene showed while it had closed the cameras.
    mutating func endSceneOfPrivacy(at time: Timestamp) -> [Effect] {
        guard scenes.before?.isOfPrivacy == true else { return [] }
        var new = settings
        endTitle(&new)
        return change(to: new, at: time)
    }

    private mutating func apply(
        _ preset: [String: Plain],
        to role: Role,
        _ new: inout Settings
    ) {
        CameraSettings.scenes.apply(preset, to: &new.cameras[role])
        if preset["lock"] != nil { scenes.locks[role] = nil }
    }

    /// Applies what waits for a camera that has come.
    mutating func applyWaiting(at time: Timestamp) -> [Effect] {
        var effects: [Effect] = []
        for role in Role.allCases {
            guard var preset = scenes.waiting[role], !isAway(role) else { continue }
            scenes.waiting[role] = nil
            let refused = zoomRefusal(of: preset, role)
            if !refused.isEmpty {
                preset["zoom"] = nil
                refusedLate(refused, of: scenes.last)
            }
            var new = settings
            let commands = self.commands(of: preset, role, at: time)
            apply(preset, to: role, &new)
            effects += change(to: new, .together(instantly: true), at: time)
            if !commands.now.isEmpty {
                effects.append(.setControls(role, commands.now, of: scenes.last))
            }
            if let lock = commands.lock { scenes.locks[role] = lock }
        }
        return effects
    }

    mutating func showTitle(at time: Timestamp) {
        scene.setTitle(title, in: titleCorner, at: time)
    }
}

extension ManualControls {
    /// The rows of scenes, in the order in which they are applied.
    static let scenes = rows.inScenes()
}

extension ControlCommand {
    /// The command that gives a camera the value of `manual` under `key`.
    fileprivate init?(setting key: String, of manual: ManualControls) {
        switch key {
        case "iso": self = manual.iso.map { .iso($0) } ?? .automatic([.iso])
        case "shutter": self = manual.shutter.map { .shutter($0) } ?? .automatic([.shutter])
        case "focus": self = manual.focus.map { .focus($0) } ?? .automatic([.focus])
        case "white-balance":
            let balance = manual.whiteBalance
            self = balance == .auto ? .automatic([.whiteBalance]) : .whiteBalance(balance)
        case "compensation": self = .compensation(manual.compensation)
        case "lock": self = .lockOnly(manual.held)
        default:
            guard let name = ImageControl(rawValue: key) else { return nil }
            self = .image(name, manual.image[name])
        }
    }
}
