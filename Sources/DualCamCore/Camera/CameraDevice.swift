/// A camera attached to this machine.
package struct CameraDevice: Hashable, Sendable {
    /// The direction that a camera faces, as reported by its driver.
    package enum Orientation: Hashable, Sendable {
        /// Towards the user.
        case front
        /// Away from the user.
        case back
        /// Any direction; the camera is not fixed to the machine.
        case external
    }
    /// The path of its node, such as "/dev/video0". May change after a restart.
    package var path: String
    /// The name that people read.
    package var name: String
    /// The stable identity, kept over restarts: "v4l2:usb-…-video-index0",
    /// "v4l2:usb-0000:00:14.0-1".
    package var identity: String
    /// Other names that a configuration may use: by-id and by-path names, the bus path, device
    /// paths.
    package var aliases: Set<String>
    /// The place on the bus, as reported by the driver: "usb-0000:00:14.0-1"; empty if unknown.
    package var bus: String
    /// The direction that it faces, or `nil` if unknown.
    package var orientation: Orientation?
    /// `true` if it is built into the machine, according to the firmware.
    package var isFixed: Bool
    /// `true` if it gives pictures without colour only, as infrared cameras do.
    package var isMonochrome: Bool

    /// Creates a camera with what the directory found.
    package init(
        path: String,
        name: String,
        identity: String,
        aliases: Set<String> = [],
        bus: String = "",
        orientation: Orientation? = nil,
        isFixed: Bool = false,
        isMonochrome: Bool = false
    ) {
        self.path = path
        self.name = name
        self.identity = identity
        self.aliases = aliases
        self.bus = bus
        self.orientation = orientation
        self.isFixed = isFixed
        self.isMonochrome = isMonochrome
    }

    /// Returns `true` if "v4l2:`name`" in a configuration means this camera.
    package func isCalled(_ name: String) -> Bool {
        identity == "v4l2:\(name)" || path == name || aliases.contains(name)
    }
}

/// Assigns `devices` to the roles whose sources ask for a device.
///
/// Devices requested by name are assigned first. For `auto`, the order is: the device whose
/// identity the role has been `holding`, so that another device's arrival or removal changes no
/// role; a device that faces the role's direction; for the front, a device built into the machine;
/// for the back, a device that is not built in and does not face the front; the first free device
/// by identity, for the back before the front. Infrared cameras come last. Each device is assigned
/// once; a role without a device gets `nil`.
package func assign(
    _ devices: [CameraDevice],
    back: SourceSpecification,
    front: SourceSpecification,
    holding: PerRole<String?> = PerRole(back: nil, front: nil)
) -> (back: CameraDevice?, front: CameraDevice?) {
    var free = devices.sorted {
        ($0.isMonochrome ? 1 : 0, $0.identity) < ($1.isMonochrome ? 1 : 0, $1.identity)
    }
    var assigned: [Role: CameraDevice] = [:]
    func take(_ role: Role, where suits: (CameraDevice) -> Bool) {
        guard assigned[role] == nil, let index = free.firstIndex(where: suits) else { return }
        assigned[role] = free.remove(at: index)
    }
    let wanted: [(role: Role, source: SourceSpecification)] = [(.back, back), (.front, front)]
    for (role, source) in wanted {
        if case .v4l2(let name) = source { take(role) { $0.isCalled(name) } }
    }
    let automatic = wanted.filter { $0.source == .auto }.map(\.role)
    for role in automatic { take(role) { $0.identity == holding[role] } }
    for role in automatic {
        take(role) { $0.orientation == (role == .back ? .back : .front) && !$0.isMonochrome }
    }
    if automatic.contains(.front) { take(.front) { $0.isFixed && !$0.isMonochrome } }
    if automatic.contains(.back) {
        take(.back) { !$0.isFixed && $0.orientation != .front && !$0.isMonochrome }
    }
    for role in automatic { take(role) { _ in true } }
    return (assigned[.back], assigned[.front])
}
