/// A device that is not attached, and stands for a camera meanwhile, since it may come back.
package struct AbsentDevice: Hashable, Sendable {
    /// The identity that it had.
    package let identity: String
    /// The name that it had.
    package let name: String

    /// A device with this identity and name.
    package init(identity: String, name: String) {
        self.identity = identity
        self.name = name
    }
}

/// Chooses the device that stands for a camera without one.
///
/// - Parameters:
///   - source: the source in the configuration.
///   - assigned: the device that the camera has now, if any.
///   - known: the device that the source named when it was attached.
///   - before: the device that the camera had until now.
///   - isInUse: `true` while pictures are wanted. A camera that is unplugged then keeps its role.
///   - attached: the identities of all attached devices.
/// - Returns: `nil` if the camera is what its source asks for.
package func absentDevice(
    for source: SourceSpecification,
    assigned: CameraDevice?,
    known: AbsentDevice?,
    before: AbsentDevice?,
    isInUse: Bool,
    attached: Set<String>
) -> AbsentDevice? {
    guard assigned == nil else { return nil }
    if let known { return known }
    guard source == .auto, isInUse, let before, !attached.contains(before.identity) else {
        return nil
    }
    return before
}
