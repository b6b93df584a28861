import Frames

/// The facts that `auto` takes into account besides the devices.
package struct AutoPolicy: Hashable, Sendable {
    /// The names of devices that it never takes, as a source would name them.
    package var ignored: [String] = []
    /// The identities of devices that fail again and again. They come last.
    package var failing: Set<String> = []
    /// `true` while nobody looks: a role then gives up its device for a better one that is free.
    package var isIdle = false
    /// The names of the devices that are lenses of each role's camera, which it never takes.
    package var lenses = PerRole<[String]>(back: [], front: [])

    /// Returns the reason that `device` is not taken; `nil` if it may be.
    package func refusal(of device: CameraDevice) -> AutoRefusal? {
        ignored.contains { device.isCalled($0) } ? .ignored : device.refusal
    }

    /// Returns the role of the camera that `device` is a lens of; `nil` if it is none.
    fileprivate func lens(_ device: CameraDevice) -> Role? {
        Role.allCases.first { lenses[$0].contains { device.isCalled($0) } }
    }
}

/// The device that each role gets, and what becomes of all devices.
package struct CameraChoice: Hashable, Sendable {
    package var back: CameraDevice?
    package var front: CameraDevice?
    /// The verdict on each device, in the order given to `assign`.
    package var standings: [CameraStanding]

    package subscript(role: Role) -> CameraDevice? { role == .back ? back : front }
}

/// A device with the verdict on it.
package struct CameraStanding: Hashable, Sendable {
    package var device: CameraDevice
    package var verdict: CameraVerdict
    /// `true` if it fails again and again.
    package var isFailing: Bool

    /// The role whose camera or lens it is, if any.
    package var role: Role? {
        switch verdict {
        case .chosen(let role), .named(let role), .lens(let role): role
        case .refused, .failing, .waiting, .outranked, .unasked: nil
        }
    }

    /// `true` if it is the camera of its role.
    package var isChosen: Bool {
        switch verdict {
        case .chosen, .named: true
        case .lens, .refused, .failing, .waiting, .outranked, .unasked: false
        }
    }

    /// The reason in plain words: "chosen as back: external, 1280x720 at 30", "infrared camera".
    package var reason: String {
        switch verdict {
        case .chosen(let role):
            return "chosen as \(role.rawValue): " + device.summary
                + (isFailing ? ", although it fails again and again" : "")
        case .named(let role): return "the \(role.rawValue) camera, as configured"
        case .lens(let role): return "a lens of the \(role.rawValue) camera"
        case .refused(let refusal): return refusal.text
        case .failing: return "failed again and again; to try it again, plug it in again"
        case .waiting(let role):
            return
                "better than the present \(role.rawValue) camera: takes over once nothing uses it"
        case .outranked: return "a better camera is chosen"
        case .unasked: return "both cameras are set in the configuration"
        }
    }
}

/// The verdict on a device: whether a role takes it, and if not, why.
package enum CameraVerdict: Hashable, Sendable {
    /// `auto` took it for the role.
    case chosen(Role)
    /// The source of the role names it.
    case named(Role)
    /// It is a lens of the role's camera.
    case lens(Role)
    /// `auto` does not take it.
    case refused(AutoRefusal)
    /// It failed again and again, and was left for another one.
    case failing
    /// It is better than the device that the role holds while it is in use.
    case waiting(Role)
    /// The roles have better ones.
    case outranked
    /// No source is `auto`, and none names it.
    case unasked
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
) -> CameraChoice {
    let sources = PerRole(back: back, front: front)
    let devices = devices.withoutCopies
    let taken = assigned(devices, sources, holding, policy)
    var idle = policy
    idle.isIdle = true
    // A device that would be taken if nobody looked waits for that moment.
    let later = policy.isIdle ? taken : assigned(devices, sources, holding, idle)
    func verdict(_ device: CameraDevice) -> CameraVerdict {
        if let role = Role.allCases.first(where: { taken[$0]?.identity == device.identity }) {
            return sources[role] == .auto ? .chosen(role) : .named(role)
        }
        if let role = policy.lens(device) { return .lens(role) }
        if let refusal = policy.refusal(of: device) { return .refused(refusal) }
        guard Role.allCases.contains(where: { sources[$0] == .auto }) else { return .unasked }
        if policy.failing.contains(device.identity) { return .failing }
        let role = Role.allCases.first { later[$0]?.identity == device.identity }
        return role.map { .waiting($0) } ?? .outranked
    }
    return CameraChoice(
        back: taken[.back],
        front: taken[.front],
        standings: devices.map {
            CameraStanding(
                device: $0,
                verdict: verdict($0),
                isFailing: policy.failing.contains($0.identity)
            )
        }
    )
}

extension Configuration {
    /// Returns `true` if `device` is one that the user wants left alone.
    package func ignores(_ device: CameraDevice) -> Bool {
        AutoPolicy(ignored: ignoredCameras).refusal(of: device) == .ignored
    }
}

extension [CameraDevice] {
    /// The devices, of which those that show a camera of libcamera's a second time are refused. A
    /// camera behind Intel's IPU6 serves one program at a time: v4l2-relayd, which copies it to a
    /// device of v4l2loopback, or libcamera.
    fileprivate var withoutCopies: [CameraDevice] {
        guard contains(where: { $0.isFixed && $0.identity.hasPrefix("pipewire:") }) else {
            return self
        }
        return map { device in
            var device = device
            let isCopy = ["Intel MIPI Camera", "Virtual Camera"].contains(device.name)
            if device.isRelay, device.refusal == nil, isCopy { device.refusal = .copy }
            return device
        }
    }
}

/// Returns the device of each role, as `assign` does.
private func assigned(
    _ devices: [CameraDevice],
    _ sources: PerRole<SourceSpecification>,
    _ holding: PerRole<String?>,
    _ policy: AutoPolicy
) -> [Role: CameraDevice] {
    var assignment = Assignment(devices.filter { $0.refusal != .noPictures }, holding, policy)
    for role in Role.allCases {
        if case .v4l2(let name) = sources[role] { assignment.take(role) { $0.isCalled(name) } }
    }
    assignment.free.removeAll { policy.refusal(of: $0) != nil || policy.lens($0) != nil }
    let automatic = Role.allCases.filter { sources[$0] == .auto }
    for role in automatic {
        assignment.take(role) {
            $0.identity == holding[role] && !policy.failing.contains($0.identity)
        }
    }
    assignment.fill(automatic)
    if policy.isIdle {
        // What one role gives up may be better than what the other one has.
        for _ in Role.allCases { for role in automatic { assignment.improve(role) } }
        assignment.fill(automatic)
    }
    return assignment.assigned
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

    /// Gives each of `roles` without one the best free device, first the role that it suits better.
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
