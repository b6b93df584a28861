import Frames

/// An event of the camera of a role.
package enum CameraEvent: Hashable, Sendable {
    /// Keeps the present picture, or shows live ones. Only a camera that delivers has one to keep.
    case setFrozen(Bool)
    case opening
    /// It is open and delivers this mode, for want of room on the bus in place of `insteadOf`.
    case streaming(CaptureMode, insteadOf: CaptureMode?)
    /// It delivers its largest mode, or its usual one, as requested.
    case adapted(isFull: Bool)
    /// It should deliver and does not; `reason` is the system's message, `holder` the program that
    /// has it, if that is the reason and known, `device` the identity of the device.
    case interrupted(Interruption, reason: String, holder: String = "", device: String = "")
    /// It was closed because it is not needed.
    case closed
}

extension State {
    mutating func handle(_ event: CameraEvent, of role: Role, at time: Timestamp) -> [Effect] {
        switch event {
        case .setFrozen(let isFrozen): setFrozen(role, isFrozen, at: time)
        // Reports sent before a thread saw the latest request no longer apply.
        case .opening:
            search.trials.open(cameras[role].lens.device, at: time)
            // A camera opened anew does not deliver any more; one that failed is only retried.
            if case .streaming = cameras[role].delivery, cameras[role].isAsked {
                cameras[role].delivery = .none
            }
            if cameras[role].step == .asked { cameras[role].step = .opening }
        case .streaming(let mode, let unreduced):
            search.trials.deliver(cameras[role].lens.device)
            return streams(role, mode, unreduced, at: time)
        case .adapted(let isFull):
            let full = cameras[role].full
            // A report about an earlier request does not count.
            if full == .asked, isFull { cameras[role].full = .on }
            if full == .left, !isFull { cameras[role].full = .off }
        case .interrupted(let why, let reason, let holder, let device):
            countFailure(of: role, device, why, at: time)
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

    /// Records that another camera has the role. What was set for the former waits for its return.
    mutating func identify(_ role: Role, _ identity: String, at time: Timestamp) {
        let camera = cameras[role]
        guard identity != camera.identity else { return }
        cameras[role].hasDelivered = false
        let next = exchange(role, for: identity, at: time)
        cameras[role].lens.all = []
        cameras[role].lens.failed = []
        cameras[role].lens.reaches = [:]
        cameras[role].lens.isZoomAsked = next.isZoomAsked
        cameras[role].lens.forgetDark()
        cameras[role].lens.show(identity, factor: 1)
        cameras[role].lens.zoom = next.zoom
        cameras[role].lens.middle = .middle
        // A camera that changes its role may still be listed in the other one.
        let other = cameras[role.other]
        let isOther = !identity.isEmpty && other.identity == identity
        let manual = next.manual.isAutomatic && isOther ? other.controls.manual : next.manual
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
                || photographed.contains(role) || isPreviewed(role) || selfTimer != nil
            let isNeeded = isInUse && camera.isAssigned
            cameras[role].suspension = isNeeded ? suspension : nil
            let isWanted = isNeeded && suspension == nil
            cameras[role].isAsked = isWanted
            if isWanted, !camera.isAsked {
                cameras[role].isOpen = true
                cameras[role].delivery = .none
                effects.append(.openCamera(role))
            } else if !isWanted, camera.isAsked || (camera.suspension != nil && !isNeeded) {
                // A closed camera may still show the picture kept while it was needed.
                effects.append(.closeCamera(role, keepsPicture: isNeeded))
            }
        }
        return effects
    }
}
