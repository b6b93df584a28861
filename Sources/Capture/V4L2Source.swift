import DualCamCore

/// A V4L2 camera, found by what it is called each time it is opened.
package struct V4L2Source: CameraSource {
    package let name: String
    package let identity: String
    /// What it is called in the directory.
    private let called: String

    /// A camera that is there.
    package init(_ device: CameraDevice) {
        name = device.name
        identity = device.identity
        called = String(device.identity.dropFirst("v4l2:".count))
    }

    /// A camera that is not there yet, by its by-id name, bus path or device path.
    package init(named called: String) {
        name = called
        identity = "v4l2:\(called)"
        self.called = called
    }

    /// Finds the device, sets the mode that suits `request` and starts it.
    ///
    /// Throws `notFound` when no such camera is attached, `unsupported` when it has no mode as
    /// configured (the error lists those that it has) or none at all, and what its calls mean.
    package func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        guard let found = CameraDirectory().cameras().first(where: { $0.isCalled(called) }) else {
            throw CaptureError(.notFound, "camera", called)
        }
        do {
            return try Self.stream(VideoDevice(path: found.path), request)
        } catch {
            throw Self.explained(error, found.path)
        }
    }

    /// `error` with what else is known of it: who has the device, or how to be let in.
    private static func explained(_ error: CaptureError, _ path: String) -> CaptureError {
        var detail = error.detail
        switch error.code {
        case .busy:
            let programs = holders(of: path)
            if !programs.isEmpty { detail = "held by \(programs.joined(separator: ", "))" }
        case .denied:
            detail = "the user has to be in the group video, or at the machine's own seat"
        default: return error
        }
        return CaptureError(
            error.code,
            error.operation,
            error.subject,
            errno: error.errno,
            detail: detail
        )
    }

    /// The stream of `device` in the mode that suits `request`.
    static func stream(
        _ device: VideoDevice,
        _ request: CaptureRequest
    ) throws(CaptureError) -> any CameraStream {
        let modes = try device.modes(for: request)
        guard let mode = chooseMode(modes, for: request) else {
            throw CaptureError(
                .unsupported,
                "capture mode",
                "\(request.mode) of \(device.path)",
                detail: modes.isEmpty
                    ? "the device offers none that can be read"
                    : "there are \(modes.map(\.description).joined(separator: ", "))"
            )
        }
        var unreduced = request
        unreduced.reduction = 0
        let first = chooseMode(modes, for: unreduced)
        return try VideoStream(device, mode, insteadOf: first == mode ? nil : first)
    }
}
