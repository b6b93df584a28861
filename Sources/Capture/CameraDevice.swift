package import DualCamCore

/// A camera that is attached to this machine.
package struct CameraDevice: Hashable, Sendable {
    /// Which way a camera looks, where its driver tells.
    package enum Orientation: Hashable, Sendable {
        /// At the user.
        case front
        /// Away from the user.
        case back
        /// Wherever it was put.
        case external
    }
    /// Its node now: "/dev/video0". Another one after the next start, maybe.
    package var path: String
    /// What people call it.
    package var name: String
    /// What it is known by, the same after a restart: "v4l2:usb-…-video-index0", "v4l2:usb-0000:00:14.0-1".
    package var identity: String
    /// What else it may be called in a configuration: by-id and by-path names, bus path, device paths.
    package var aliases: Set<String>
    /// Where it is plugged in, as its driver says it: "usb-0000:00:14.0-1"; empty where unknown.
    package var bus: String
    /// Which way it looks, where that is known.
    package var orientation: Orientation?
    /// Built into the machine, as the firmware tells.
    package var isFixed: Bool
    /// It gives pictures without colours only, as infrared cameras do.
    package var isMonochrome: Bool

    /// A camera, as the directory found it.
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

    /// Whether a configuration that says "v4l2:`name`" means this one.
    package func isCalled(_ name: String) -> Bool {
        identity == "v4l2:\(name)" || path == name || aliases.contains(name)
    }
}

/// Which of `devices` is for which role, where the roles' sources ask for a device at all.
///
/// Those that are asked for by name come first. Then, for `auto`: the one whose identity the role
/// has been `holding`, so that none changes its role because another one comes or goes; one that
/// looks that way; for the front one that is fixed to the machine, for the back one that is not;
/// else the first free one by identity, for the back before the front. Infrared cameras are taken
/// last. No device is given twice, and a role for which none is left gets none.
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

/// The source that `specification` asks for, to be opened for `role`; `nil` when `auto` has no device.
///
/// `device` is what `assign` gave the role. A V4L2 device that is not there makes a source all the
/// same, which says so when it is opened, as does a node of PipeWire. Throws `unsupported` for a test
/// picture that there is not.
package func cameraSource(
    _ specification: SourceSpecification,
    role: Role,
    device: CameraDevice?
) throws(CaptureError) -> (any CameraSource)? {
    switch specification {
    case .auto: device.map { V4L2Source($0) }
    case .v4l2(let name): device.map { V4L2Source($0) } ?? V4L2Source(named: name)
    case .test(let name): try TestSource(name, role: role)
    case .file(let path): FileSource(path: path)
    case .pipewire(let node): PipeWireSource(node: node)
    }
}
