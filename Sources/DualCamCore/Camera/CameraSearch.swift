/// The facts by which the cameras' sources find their devices, and by which people are told why one
/// found none.
package struct CameraSearch: Hashable, Sendable {
    /// The cameras' settings.
    package var cameras: PerRole<Configuration.Camera>
    /// The facts for `auto`.
    package var policy: AutoPolicy
    /// The attached cameras and other video nodes, as far as is known.
    package var devices: [CameraDevice] = []
    /// `true` once the attached cameras were listed.
    package var isListed = false
    /// The devices that sources have named so far, by source.
    package var namedDevices: [String: CameraDevice] = [:]
    /// The names of the cameras in PipeWire; `nil` before they are known.
    package var nodes: Set<String>?
    /// The names in the configuration of nodes that have been there.
    package var knownNodes: Set<String> = []
    /// The device that each role left because it failed again and again.
    package var left = PerRole<AbsentDevice?>(back: nil, front: nil)

    /// A search that has not begun, by `configuration`. The devices `failing` fail again and again;
    /// pictures are wanted if `isInUse`.
    package init(_ configuration: Configuration, failing: Set<String>, isInUse: Bool) {
        cameras = configuration.cameras
        policy = AutoPolicy(
            ignored: configuration.ignoredCameras,
            failing: failing,
            yields: !isInUse,
            lenses: PerRole { configuration.cameras[$0].claimedDevices }
        )
    }

    /// Returns the sentences that people should read on the source of `role`, where `found` has a
    /// device or not; empty if all is well.
    package func problem(of role: Role, _ found: CameraChoice) -> String {
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
        case .auto: return automaticProblem(of: role, found)
        case .test, .file, .url: return ""
        }
    }

    private func automaticProblem(of role: Role, _ found: CameraChoice) -> String {
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
