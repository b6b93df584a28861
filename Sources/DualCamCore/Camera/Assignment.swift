import Frames

/// What `auto` takes into account besides the devices.
package struct AutoPolicy: Hashable, Sendable {
    /// The names of devices that it never takes, as a source would name them.
    package var ignored: [String]
    /// The identities of devices that fail again and again. They come last.
    package var failing: Set<String>
    /// `true` if a role gives up its device for a better one that is free: nobody looks.
    package var yields: Bool

    /// The policy that only the devices themselves count.
    package init(ignored: [String] = [], failing: Set<String> = [], yields: Bool = false) {
        self.ignored = ignored
        self.failing = failing
        self.yields = yields
    }

    /// Returns the reason that `device` is not taken; `nil` if it may be.
    package func refusal(of device: CameraDevice) -> AutoRefusal? {
        ignored.contains { device.isCalled($0) } ? .ignored : device.refusal
    }
}

/// Assigns `devices` to the roles whose sources ask for a device.
///
/// Devices requested by name are assigned first. For `auto`, a role keeps the device that it has
/// been `holding`, so that another device's arrival or removal changes no role, unless the policy
/// lets it yield. A free role gets the device that suits it best: one that faces the role's
/// direction; for the front, one built into the machine, for the back one that is not and does not
/// face the front; any other. Among those, more pixels come first, then more frames per second.
/// Devices that programs feed come after all that are real, and those that fail come last. Each
/// device is assigned once; a role without a device gets `nil`.
package func assign(
    _ devices: [CameraDevice],
    back: SourceSpecification,
    front: SourceSpecification,
    holding: PerRole<String?> = PerRole(back: nil, front: nil),
    by policy: AutoPolicy = AutoPolicy()
) -> (back: CameraDevice?, front: CameraDevice?) {
    var assignment = Assignment(devices, holding, policy)
    let wanted: [(role: Role, source: SourceSpecification)] = [(.back, back), (.front, front)]
    for (role, source) in wanted {
        if case .v4l2(let name) = source { assignment.take(role) { $0.isCalled(name) } }
    }
    assignment.free.removeAll { policy.refusal(of: $0) != nil }
    let automatic = wanted.filter { $0.source == .auto }.map(\.role)
    for role in automatic {
        assignment.take(role) {
            $0.identity == holding[role] && !policy.failing.contains($0.identity)
        }
    }
    assignment.fill(automatic)
    if policy.yields {
        // What one role gives up may be better than what the other one has.
        for _ in Role.allCases { for role in automatic { assignment.improve(role) } }
        assignment.fill(automatic)
    }
    return (assignment.assigned[.back], assignment.assigned[.front])
}

/// An assignment that is being made.
private struct Assignment {
    var assigned: [Role: CameraDevice] = [:]
    /// The devices without a role, in the order of their identities.
    var free: [CameraDevice]
    let holding: PerRole<String?>
    let policy: AutoPolicy

    init(_ devices: [CameraDevice], _ holding: PerRole<String?>, _ policy: AutoPolicy) {
        free = devices.sorted { $0.identity < $1.identity }
        self.holding = holding
        self.policy = policy
    }

    mutating func take(_ role: Role, where suits: (CameraDevice) -> Bool) {
        guard assigned[role] == nil, let index = free.firstIndex(where: suits) else { return }
        assigned[role] = free.remove(at: index)
    }

    /// Gives the best free device to each of `roles` that has none. A role that a device suits
    /// better comes before the other.
    mutating func fill(_ roles: [Role]) {
        for suitability in 0...8 {
            for role in roles where assigned[role] == nil {
                let best = free.filter { self.suitability(of: $0, for: role) == suitability }
                    .min { isBetter($0, $1, for: role) }
                if let best { take(role) { $0 == best } }
            }
        }
    }

    /// Replaces the device of `role` by the best free one, if that is better.
    mutating func improve(_ role: Role) {
        guard let present = assigned[role],
            let best = free.min(by: { isBetter($0, $1, for: role) }),
            rank(of: best, for: role) < rank(of: present, for: role)
        else { return }
        assigned[role] = nil
        take(role) { $0 == best }
        free = (free + [present]).sorted { $0.identity < $1.identity }
    }

    private func isBetter(_ one: CameraDevice, _ other: CameraDevice, for role: Role) -> Bool {
        let (first, second) = (rank(of: one, for: role), rank(of: other, for: role))
        return first == second
            ? one.identity == holding[role] && other.identity != holding[role] : first < second
    }

    /// Returns the rank of `device`, lower for a better one: how it suits, its pixels, its rate.
    private func rank(of device: CameraDevice, for role: Role) -> (Int, Int, Double) {
        let mode = device.bestMode
        return (suitability(of: device, for: role), -(mode?.size.area ?? 0), -(mode?.rate ?? 0))
    }

    /// Returns how `device` suits `role`, from 0 on, lower for better.
    private func suitability(of device: CameraDevice, for role: Role) -> Int {
        let direction: Int
        switch (role, device.orientation) {
        case (.back, .back), (.front, .front): direction = 0
        case (.back, .front), (.front, .back), (.front, .external): direction = 2
        case (.back, _): direction = device.isFixed ? 2 : 1
        case (.front, nil): direction = device.isFixed ? 1 : 2
        }
        return direction + (policy.failing.contains(device.identity) ? 6 : device.isRelay ? 3 : 0)
    }
}
