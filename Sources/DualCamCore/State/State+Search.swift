import Frames

/// An event of the list of cameras.
package enum CamerasEvent: Hashable, Sendable {
    /// A part of the system that finds cameras.
    package enum Finder: Hashable, Sendable {
        /// udev. At the start its list may not be whole.
        case kernel(isWhole: Bool)
        /// PipeWire, in which the cameras have these names.
        case pipeWire(names: Set<String>)
    }

    /// These are the cameras that a finder lists now; of PipeWire's, those that only it has.
    case found([CameraDevice], from: Finder)
    /// The file at this path, which a source names, is there, as far as is known, or is not. The
    /// hint tells people which others there are.
    case file(String, isThere: Bool, hint: String)
    /// The cameras' settings, and the names of the devices to ignore, anew.
    case configured(PerRole<Configuration.Camera>, ignored: [String])
}

extension State {
    mutating func handle(_ event: CamerasEvent, at time: Timestamp) -> [Effect] {
        switch event {
        case .found(let cameras, let finder):
            switch finder {
            case .kernel(let isWhole):
                search.attached = cameras
                search.isListed = search.isListed || isWhole
            case .pipeWire(let names):
                search.nodeCameras = cameras
                search.nodes = names
            }
            search.trials.forget(except: Set(search.devices.map(\.identity)))
            search.reason = .found
        case .file(let path, let isThere, let hint):
            search.lookedFor.remove(path)
            for role in Role.allCases where search.cameras[role].source == .file(path) {
                search.fileHints[role] = hint
                cameras[role].absence = isThere ? nil : .notFound
            }
        case .configured(let cameras, let ignored):
            return configure(cameras, ignored: ignored, at: time)
        }
        return []
    }

    /// Takes over the cameras' settings. One with another source, mode or lenses opens anew.
    private mutating func configure(
        _ settings: PerRole<Configuration.Camera>,
        ignored: [String],
        at time: Timestamp
    ) -> [Effect] {
        let old = search.cameras
        let isFreed = Role.allCases.contains {
            settings[$0].source == .auto && old[$0].source != .auto
        }
        search.reason = isFreed ? .freed : .changed
        search.cameras = settings
        search.ignored = ignored
        search.trials = DeviceTrials()
        if !Role.allCases.contains(where: { settings[$0].source.mayNeedPipeWire }) {
            search.nodeCameras = []
            search.nodes = nil
        }
        let policy = search.policy(isInUse: isInUse)
        for device in search.devices where policy.refusal(of: device) == .ignored {
            let ended = previews.open.filter { $0.device == device.identity }
            previews.left.formUnion(ended.map(\.number))
        }
        var effects: [Effect] = []
        for role in Role.allCases where settings[role].needsReopening(after: old[role]) {
            effects += leave(role, at: time)
            search.uses[role].own = nil
            search.fileHints[role] = ""
            cameras[role].source = settings[role].source
            cameras[role].hasDelivered = false
        }
        return effects
    }

    /// Gives each role the camera that its source asks for, after devices came or went, the
    /// configuration changed or a device failed too often. Nothing keeps a role for a camera that
    /// was unplugged once nobody looks any more.
    mutating func assignCameras(_ before: State, at time: Timestamp) -> [Effect] {
        let reason = search.reason ?? (before.isInUse && !isInUse ? .changed : nil)
        guard let reason else { return [] }
        search.reason = nil
        let policy = search.policy(isInUse: isInUse)
        let uses = search.uses
        let found = assign(
            search.devices,
            back: search.cameras.back.source,
            front: search.cameras.front.source,
            holding: PerRole { reason == .freed ? nil : uses[$0].own?.identity },
            by: policy
        )
        search.standings = found.standings
        for role in Role.allCases where search.cameras[role].source != .auto {
            if let device = found[role] {
                search.namedDevices[search.cameras[role].source.description] = SourceUse(device)
            }
        }
        // Where there is no other device, the one that failed goes on being tried.
        for role in Role.allCases where search.left[role]?.identity == found[role]?.identity {
            search.left[role] = nil
        }
        let problems = PerRole { search.problem(of: $0, found, by: policy) }
        var effects: [Effect] = []
        for role in Role.allCases {
            effects += give(role, found[role], problem: problems[role], at: time)
        }
        guard reason == .found else { return effects }
        return effects
            + Role.allCases.filter { cameras[$0].interruption != .none }.map { .retryCamera($0) }
    }

    /// Makes `device` the camera of `role` if its source asks for a device.
    private mutating func give(
        _ role: Role,
        _ device: CameraDevice?,
        problem: String,
        at time: Timestamp
    ) -> [Effect] {
        let (settings, before) = (search.cameras[role], search.uses[role])
        // One that is unplugged while pictures are wanted keeps its role: it may come back.
        let isHeld =
            settings.source == .auto && isInUse
            && !search.devices.contains { $0.identity == before.own?.identity }
        let known = search.namedDevices[settings.source.description]
        let absent = device == nil ? (known ?? (isHeld ? before.own : nil))?.absent : nil
        var own: SourceUse?
        cameras[role].problem = problem
        do throws(UnknownTestPicture) {
            own = try SourceUse(
                settings.source,
                role: role,
                device: device,
                credentials: settings.credentials
            )
            if let absent { own = absent }
        } catch {
            cameras[role].problem = "The \(role.rawValue) camera's source: \(error)"
        }
        var effects: [Effect] = []
        // The last picture of another camera must not stand for this one's.
        if let was = before.own, own?.identity != was.identity {
            effects += leave(role, at: time)
        }
        search.uses[role].own = own
        identify(role, own?.identity ?? "", at: time)
        useLenses(role)
        let shown = cameras[role].lens.device
        if let was = before.devices[shown], let now = search.uses[role].devices[shown],
            was.place != now.place, cameras[role].isAsked
        {
            effects.append(.openCamera(role))
        }
        cameras[role].name = own?.name ?? ""
        cameras[role].isAssigned = own != nil
        return effects + miss(role, own)
    }

    /// Finds the devices of a role's lenses.
    private mutating func useLenses(_ role: Role) {
        let (settings, before) = (search.cameras[role], search.uses[role].devices)
        var devices: [String: SourceUse] = [:]
        var lenses: [Lens] = []
        search.uses[role].refusals = []
        if let own = search.uses[role].own {
            devices[own.identity] = own
            lenses = settings.lenses(of: own) { source in
                let use = lensUse(source, role, before)
                if let use, use.identity != own.identity { devices[use.identity] = use }
                return use
            }
        }
        search.uses[role].devices = devices
        findLenses(role, lenses)
    }

    /// Returns the device that the `source` of a lens asks for, or `nil` if there is none. A device
    /// that is gone keeps the identity that it had `before`.
    private mutating func lensUse(
        _ source: SourceSpecification,
        _ role: Role,
        _ before: [String: SourceUse]
    ) -> SourceUse? {
        var device: CameraDevice?
        if case .v4l2(let name) = source {
            device = search.devices.first { $0.isCalled(name) && $0.refusal != .noPictures }
            if device == nil, let known = search.lensNames[source.description],
                let was = before[known]
            {
                return was.absent
            }
            search.lensNames[source.description] = device?.identity
        }
        do throws(UnknownTestPicture) {
            return try SourceUse(source, role: role, device: device)
        } catch {
            search.uses[role].refusals.insert("\(error)")
            return nil
        }
    }

    /// Notes whether what the source of `role` names is missing, and returns what finds that out.
    private mutating func miss(_ role: Role, _ own: SourceUse?) -> [Effect] {
        // A role without a camera misses none.
        guard let own else {
            cameras[role].absence = nil
            return []
        }
        if own.isV4L2 {
            let isAbsent = own.device == nil && search.isListed
            cameras[role].absence = isAbsent ? own.isKnown ? .unplugged : .notFound : nil
        }
        switch search.cameras[role].source {
        case .pipewire(let name):
            guard let nodes = search.nodes else { break }
            if nodes.contains(name) {
                search.knownNodes.insert(name)
                cameras[role].absence = nil
            } else {
                cameras[role].absence = search.knownNodes.contains(name) ? .unplugged : .notFound
            }
        case .file(let path):
            guard search.lookedFor.count < CameraSearch.mostLooks,
                search.lookedFor.insert(path).inserted
            else { break }
            return [.lookForFile(path)]
        case .auto, .v4l2, .test, .url, .phone: break
        }
        return []
    }

    /// Takes the camera from `role`, and closes it.
    private mutating func leave(_ role: Role, at time: Timestamp) -> [Effect] {
        let before = self
        cameras[role].name = ""
        cameras[role].isAssigned = false
        cameras[role].absence = nil
        var effects = keepCameras()
        endFreezes(before, at: time)
        effects += adaptToPhotographs()
        effects += followLenses(at: time)
        return effects + useRoom(before)
    }

    /// Counts a failure of `device`, taken by `auto`; if that happens often, leaves it for another.
    mutating func countFailure(
        of role: Role,
        _ device: String,
        _ why: Interruption,
        at time: Timestamp
    ) {
        guard why == .stalled, search.cameras[role].source == .auto,
            let own = search.uses[role].own, own.identity == device,
            // One that delivered may only hesitate.
            search.trials.fail(device, at: time, isPause: cameras[role].mode != nil)
        else { return }
        search.left[role] = own
        search.reason = .changed
    }
}

extension Configuration.Camera {
    /// `true` if a camera that was set up as `old` has to be opened anew.
    fileprivate func needsReopening(after old: Configuration.Camera) -> Bool {
        source != old.source || credentials != old.credentials || capture != old.capture
            || lenses != old.lenses
    }
}
