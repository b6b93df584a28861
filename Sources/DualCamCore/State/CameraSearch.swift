/// The facts by which the cameras' sources find their devices, and what they found: which device
/// each role uses, and what people should read about one that found none.
package struct CameraSearch: Hashable, Sendable {
    package internal(set) var cameras: PerRole<Configuration.Camera>
    /// The names of devices that `auto` never takes.
    var ignored: [String] = []
    /// The cameras and other video nodes that udev lists, and the cameras that only PipeWire has.
    var attached: [CameraDevice] = []
    var nodeCameras: [CameraDevice] = []
    /// `true` once udev's list is whole.
    var isListed = false
    /// The names of the cameras in PipeWire; `nil` before they are known.
    var nodes: Set<String>?
    /// The names in the configuration of nodes that have been there.
    var knownNodes: Set<String> = []
    /// The devices that sources have named so far, by source.
    var namedDevices: [String: SourceUse] = [:]
    /// The identities of the lenses' devices, by source.
    var lensNames: [String: String] = [:]
    /// The failures of devices that `auto` took.
    var trials = DeviceTrials()
    /// The device that each role left because it failed again and again.
    var left = PerRole<SourceUse?>(back: nil, front: nil)
    /// The paths of the files that are being looked for.
    var lookedFor: Set<String> = []
    /// A hint about a camera's file that is not there; empty if none.
    var fileHints = PerRole(back: "", front: "")
    /// The verdict on each device when the roles got their cameras last.
    package internal(set) var standings: [CameraStanding] = []
    package internal(set) var uses = PerRole(back: CameraUse(), front: CameraUse())
    /// The reason that the roles get their cameras anew. It is set while one event is handled.
    var reason: Reason?

    /// A reason to give the roles their cameras anew.
    enum Reason {
        /// Devices came or went.
        case found
        /// Something else is another one.
        case changed
        /// `auto` was chosen, which asks for its choice, not for a device left over.
        case freed
    }

    /// The most files that are looked for at once.
    static let mostLooks = 16

    package init(_ cameras: PerRole<Configuration.Camera>, ignored: [String] = []) {
        self.cameras = cameras
        self.ignored = ignored
    }

    /// The cameras and other video nodes that are there, as far as is known.
    package var devices: [CameraDevice] { attached + nodeCameras }

    /// Returns the facts for `auto`, where pictures are wanted if `isInUse`.
    func policy(isInUse: Bool) -> AutoPolicy {
        AutoPolicy(
            ignored: ignored,
            failing: trials.failing,
            isIdle: !isInUse,
            lenses: PerRole { cameras[$0].claimedDevices }
        )
    }

    /// Returns the sentences that people should read on the source of `role`, where `found` has a
    /// device or not; empty if all is well.
    func problem(of role: Role, _ found: CameraChoice, by policy: AutoPolicy) -> String {
        let source = cameras[role].source
        switch source {
        case .v4l2(let name):
            guard isListed, namedDevices[source.description] == nil else { return "" }
            return "The \(role.rawValue) camera \(name) was not found. "
                + whatIsThere(devices, insteadOf: name)
        case .pipewire(let name):
            guard let nodes, !nodes.contains(name), !knownNodes.contains(name) else { return "" }
            return "The \(role.rawValue) camera \(source.shown) was not found. "
                + whatIsThere(nodes: nodes.sorted(), insteadOf: name)
        case .auto: return automaticProblem(of: role, found, policy)
        case .test, .file, .url, .phone: return ""
        }
    }

    private func automaticProblem(
        of role: Role,
        _ found: CameraChoice,
        _ policy: AutoPolicy
    ) -> String {
        if let left = left[role], policy.failing.contains(left.identity) {
            return "\(left.name) failed again and again, so another camera is the "
                + "\(role.rawValue) camera now. To try it again, unplug it and plug it in."
        }
        // The back camera is the one that is missed first.
        let needsOther = cameras[role.other].source == .auto
        guard found.back == nil, found.front == nil, role == .back || !needsOther,
            !devices.isEmpty
        else { return "" }
        let reasons = devices.compactMap { device in
            policy.refusal(of: device).flatMap {
                // Nobody expects a camera from these.
                [.noPictures, .unfed, .ours, .echo, .virtual].contains($0)
                    ? nil : "\(device.name) (\(device.path)): \($0.text)"
            }
        }
        return reasons.isEmpty
            ? "" : "\"auto\" takes no camera: \(reasons.joined(separator: "; "))."
    }
}

extension Configuration.Camera {
    /// The names of the devices that are the camera's lenses, and so not available for automatic
    /// assignment. For a camera with an automatic source, the lens of factor 1 is not among them,
    /// since it is the camera itself.
    fileprivate var claimedDevices: [String] {
        lenses.compactMap { lens in
            guard source != .auto || lens.factor != 1, case .v4l2(let name)? = lens.source else {
                return nil
            }
            return name
        }
    }
}
