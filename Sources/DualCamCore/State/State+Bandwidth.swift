import Frames

/// The most steps of a camera: a compressed format, three slower rates, four smaller sizes.
private let mostReduction = 8

/// Room on the USB bus: one camera gives way to the other, step by step.
extension State {
    /// Handles a camera's failure to deliver: for want of room, a camera gives way; for another
    /// reason, what was given up for it was of no use.
    mutating func stepFailed(_ role: Role, _ why: Interruption) -> [Effect] {
        let isAfterStep = cameras[role].step == .opening
        if isAfterStep { cameras[role].step = nil }
        if isAfterStep, why == .stalled { cameras[role].isReducedInVain = true }
        if why == .bandwidth { return makeRoom() }
        guard isAfterStep, cameras[role.other].reduction > 0 else { return [] }
        cameras[role.other].reduction = 0
        cameras[role.other].isReducedInVain = false
        return cameras[role.other].isAsked ? [.openCamera(role.other)] : []
    }

    /// Makes one camera use less of the bus, the inset's before the main one.
    private mutating func makeRoom() -> [Effect] {
        // A step under way may be enough.
        guard !Role.allCases.contains(where: { cameras[$0].step != nil }) else { return [] }
        let role = [scene.main.other, scene.main].first {
            let camera = cameras[$0]
            // A camera that is unplugged or busy has nothing to give.
            let isOnBus = camera.interruption == .none || camera.interruption == .bandwidth
            return camera.isAsked && isOnBus && camera.reduction < mostReduction
        }
        guard let role else { return [] }
        cameras[role].reduction += 1
        cameras[role].step = .asked
        cameras[role].modeBeforeStep = cameras[role].mode
        return [.openCamera(role)]
    }

    /// Retries the other camera as soon as one has reduced its use of the bus.
    mutating func tryRoom(madeBy role: Role) -> [Effect] {
        guard cameras[role].step == .opening else { return [] }
        let camera = cameras[role]
        cameras[role].step = nil
        // Its mode is configured, it is on no bus, or it has no lighter one: do not ask again.
        if camera.unreducedMode == nil || camera.mode == camera.modeBeforeStep {
            cameras[role].reduction = mostReduction
        }
        let other = cameras[role.other]
        return other.isAsked && other.interruption == .bandwidth ? [.openCamera(role.other)] : []
    }

    /// Lets a camera use the whole bus again when the other one has left it.
    mutating func useRoom(_ before: State) -> [Effect] {
        func isOnBus(_ role: Role, _ state: State) -> Bool {
            state.cameras[role].isAssigned
                && ![.unplugged, .notFound].contains(state.cameras[role].interruption)
        }
        var effects: [Effect] = []
        for role in Role.allCases where cameras[role].reduction > 0 {
            guard isOnBus(role.other, before), !isOnBus(role.other, self) else { continue }
            cameras[role].reduction = 0
            cameras[role].isReducedInVain = false
            if cameras[role].isAsked { effects.append(.openCamera(role)) }
        }
        return effects
    }
}
