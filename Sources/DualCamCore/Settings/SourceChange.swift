/// A source that a camera gets.
package struct SourceChange: Hashable, Sendable {
    package let role: Role
    package let source: SourceSpecification

    package init(role: Role, source: SourceSpecification) {
        self.role = role
        self.source = source
    }

    /// The same as a change of the file.
    package var change: Configuration.Change {
        .init("cameras.\(role.rawValue).source", .text(source.description))
    }
}

extension Configuration.Change {
    /// The `path` of the file with user and password for the camera of `role`, or none.
    package init(_ role: Role, credentials path: String?) {
        self.init("cameras.\(role.rawValue).credentials", .text(path ?? ""))
    }
}

extension Configuration {
    /// Returns the changes with which the camera of `role` has the source `wanted`. Both cameras
    /// never name the same device: if the other one does, it gets the source that this one had.
    /// Throws `DeviceNameError` if the device is a lens of the other camera, or our own stream.
    package func changes(
        using wanted: SourceSpecification,
        as role: Role,
        among devices: [CameraDevice]
    ) throws(DeviceNameError) -> [SourceChange] {
        if case .pipewire(let name) = wanted, output.makes(name) {
            throw DeviceNameError(
                code: .unusable,
                message: "\(name) is the picture that DualCam makes. Name a camera."
            )
        }
        let change = SourceChange(role: role, source: wanted)
        guard !wanted.canBeShared else { return [change] }
        let device = devices.first { $0.identity == wanted.description }
        func names(_ source: SourceSpecification?) -> Bool {
            if case .v4l2(let name) = source, let device { return device.isCalled(name) }
            return source == wanted
        }
        let other = cameras[role.other]
        guard !other.lenses.contains(where: { names($0.source) }) else {
            throw DeviceNameError(
                code: .taken,
                message: "\(device?.name ?? wanted.shown) is a lens of the \(role.other.rawValue) "
                    + "camera. Remove it from its lenses in the configuration first."
            )
        }
        guard names(other.source) else { return [change] }
        let former = cameras[role].source
        return [
            change, SourceChange(role: role.other, source: names(former) ? .auto : former),
        ]
    }
}
