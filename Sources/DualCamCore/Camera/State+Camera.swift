import Frames

/// An event of the camera of a role.
package enum CameraEvent: Hashable, Sendable {
    /// Shows it mirrored, or not.
    case setMirror(Bool)
    /// Sets its rotation as mounted: 0, 90, 180 or 270 degrees clockwise.
    case setRotation(Int)
    /// Shows four corners of its picture, upright as it is mounted and not mirrored, as the whole;
    /// `nil`: all of it.
    case setPerspective(Perspective?)
    /// Grades its picture for paper, or not: even light, white paper, dark ink.
    case setInk(Bool)
    /// Keeps showing its present picture, or shows live ones again. Only a camera that delivers has
    /// one to keep.
    case setFrozen(Bool)
    /// Changes the source of its pictures.
    case setSource(SourceSpecification)
    /// A camera of this name was found for the role; `nil`: there is none.
    case assigned(name: String?)
    /// The identity of the role's camera from now on.
    case identified(String)
    /// The absence of what the source names, with its reason; `nil`: it is there, or unknown.
    case absent(Interruption?)
    /// It was found at another place, or is gone from its place.
    case moved
    /// The reason that its source cannot be used; empty if it can.
    case problem(String)
    /// It is being opened.
    case opening
    /// It is open and delivers this mode, for want of room on the bus in place of `insteadOf`.
    case streaming(CaptureMode, insteadOf: CaptureMode?)
    /// It delivers its largest mode, or its usual one, as requested.
    case adapted(isFull: Bool)
    /// It should deliver and does not; `reason` is the system's message, `holder` the program that
    /// has it, if that is the reason and known.
    case interrupted(Interruption, reason: String, holder: String = "")
    /// It was closed because it is not needed.
    case closed
}

/// The cameras.
extension State {
    mutating func handle(_ event: CameraEvent, of role: Role, at time: Timestamp) -> [Effect] {
        switch event {
        case .setMirror(let mirror): cameras[role].mirror = mirror
        case .setRotation(let degrees):
            precondition([0, 90, 180, 270].contains(degrees))
            guard degrees != cameras[role].rotation else { break }
            cameras[role].rotation = degrees
            if cameras[role].isAsked { return [.adaptCamera(role)] }
        case .setPerspective(let perspective):
            scene.perspectives[role].move(
                to: perspective?.turned(by: cameras[role].mountingTransform.inverse),
                at: time,
                duration: scene.style.swapDuration
            )
        case .setInk(let isOn):
            cameras[role].isInk = isOn
            scene.setInk(isOn, role, at: time)
        case .setFrozen(let isFrozen): setFrozen(role, isFrozen, at: time)
        case .setSource(let source):
            cameras[role].source = source
            cameras[role].absence = nil
            cameras[role].hasDelivered = false
        case .absent(let absence): cameras[role].absence = absence
        case .assigned(let name):
            cameras[role].name = name ?? ""
            cameras[role].isAssigned = name != nil
            // A role without a camera misses none.
            if name == nil { cameras[role].absence = nil }
        case .identified(let identity): identify(role, identity, at: time)
        case .moved: if cameras[role].isAsked { return [.openCamera(role)] }
        case .problem(let problem): cameras[role].problem = problem
        // Reports sent before a thread saw the latest request no longer apply.
        case .opening:
            // A delivering camera that is opened anew does not deliver; one that failed is only
            // retried.
            if case .streaming = cameras[role].delivery, cameras[role].isAsked {
                cameras[role].delivery = .none
            }
            if cameras[role].step == .asked { cameras[role].step = .opening }
        case .streaming(let mode, let unreduced):
            return streams(role, mode, unreduced, at: time)
        case .adapted(let isFull):
            let full = cameras[role].full
            // A report about an earlier request does not count.
            if full == .asked, isFull { cameras[role].full = .on }
            if full == .left, !isFull { cameras[role].full = .off }
        case .interrupted(let why, let reason, let holder):
            return interrupted(role, why, reason, holder)
        case .closed:
            guard !cameras[role].isAsked else { break }
            cameras[role].isOpen = false
            cameras[role].delivery = .none
            cameras[role].step = nil
        }
        return []
    }

    private mutating func streams(
        _ role: Role,
        _ mode: CaptureMode,
        _ unreduced: CaptureMode?,
        at time: Timestamp
    ) -> [Effect] {
        guard cameras[role].isAsked else { return [] }
        cameras[role].absence = nil
        cameras[role].hasDelivered = true
        if case .streaming = cameras[role].delivery {
        } else {
            cameras[role].deliveringSince = time
        }
        cameras[role].delivery = .streaming(mode, insteadOf: unreduced)
        cameras[role].lens.failed.remove(cameras[role].lens.device)
        var effects = tryRoom(madeBy: role)
        if cameras[role].isReducedInVain {
            // It delivers again, so it may use its best mode again.
            cameras[role].isReducedInVain = false
            cameras[role].reduction = 0
            effects.append(.adaptCamera(role))
        }
        return effects
    }

    private mutating func interrupted(
        _ role: Role,
        _ why: Interruption,
        _ reason: String,
        _ holder: String
    ) -> [Effect] {
        guard cameras[role].isAsked else { return [] }
        var why = why
        // What was there once is not there any more; a file is not plugged in.
        if case .file = cameras[role].source {
        } else if why == .notFound, cameras[role].hasDelivered {
            why = .unplugged
        }
        cameras[role].absence = [.notFound, .unplugged].contains(why) ? why : nil
        cameras[role].delivery = .failed(why, reason: reason, holder: holder)
        return lensFailed(role, why) + stepFailed(role, why)
    }

    private mutating func setFrozen(_ role: Role, _ isFrozen: Bool, at time: Timestamp) {
        let camera = cameras[role]
        guard isFrozen != camera.isFrozen, !isFrozen || camera.mode != nil else { return }
        cameras[role].frozenTurns = isFrozen ? camera.orientationTurns : nil
        scene.setFrozen(isFrozen, role, at: time)
    }

    /// Ends what is frozen when the camera closes or another one takes its role: nothing may be
    /// shown, or kept, of a camera that nobody uses or that privacy has closed.
    mutating func endFreezes(_ before: State, at time: Timestamp) {
        for role in Role.allCases where cameras[role].isFrozen {
            let isOther = cameras[role].identity != before.cameras[role].identity
            if isOther || !cameras[role].isAsked { setFrozen(role, false, at: time) }
        }
    }

    /// Records that another camera has the role. All that was set for the one before is kept for
    /// its return.
    private mutating func identify(_ role: Role, _ identity: String, at time: Timestamp) {
        let camera = cameras[role]
        guard identity != camera.identity else { return }
        cameras[role].hasDelivered = false
        turn(role, for: identity, at: time)
        if !camera.identity.isEmpty {
            manualControls[camera.identity] = camera.controls.manual
            zooms[camera.identity] = camera.lens.isZoomAsked ? camera.lens.zoom : nil
        }
        cameras[role].lens.all = []
        cameras[role].lens.failed = []
        cameras[role].lens.reaches = [:]
        cameras[role].lens.isZoomAsked = zooms[identity] != nil
        cameras[role].lens.forgetDark()
        cameras[role].lens.show(identity, factor: 1)
        cameras[role].lens.zoom = zooms.removeValue(forKey: identity) ?? 1
        cameras[role].lens.middle = .middle
        // A camera that changes its role may still be listed in the other one.
        let other = cameras[role.other]
        let isOther = !identity.isEmpty && other.identity == identity
        let manual =
            manualControls.removeValue(forKey: identity)
            ?? (isOther ? other.controls.manual : ManualControls())
        cameras[role].identity = identity
        cameras[role].controls = CameraControls(
            manual: manual,
            settings: camera.controls.settings
        )
    }

    /// Opens the cameras that are needed and allowed, and closes the others.
    mutating func keepCameras() -> [Effect] {
        let suspension = suspension?.interruption
        var effects: [Effect] = []
        for role in Role.allCases {
            let camera = cameras[role]
            let isInUse =
                needsCameras || camera.node.needsCamera || recording.needs(role)
                || photographed.contains(role)
            let isNeeded = isInUse && camera.isAssigned
            cameras[role].suspension = isNeeded ? suspension : nil
            let isWanted = isNeeded && suspension == nil
            cameras[role].isAsked = isWanted
            if isWanted, !camera.isAsked {
                cameras[role].isOpen = true
                cameras[role].delivery = .none
                effects.append(.openCamera(role))
            } else if !isWanted, camera.isAsked || (camera.suspension != nil && !isNeeded) {
                // A camera that is already closed may still show the picture kept while it was
                // needed.
                effects.append(.closeCamera(role, keepsPicture: isNeeded))
            }
        }
        return effects
    }
}
