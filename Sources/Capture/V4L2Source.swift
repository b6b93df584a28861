import DualCamCore
import Glibc
import Platform

/// A V4L2 camera at the node where udev saw it last.
package struct V4L2Source: CameraSource {
    /// What the driver calls it.
    package let name: String
    /// "v4l2:" and the name in /dev/v4l/by-id, else the place on the bus.
    package let identity: String
    /// Its node, "/dev/video0"; empty while it is not there.
    package let place: String
    /// Where it is plugged in; empty where unknown.
    private let bus: String

    /// A camera that is there.
    package init(_ device: CameraDevice) {
        name = device.name
        identity = device.identity
        place = device.path
        bus = device.bus
    }

    /// A camera that is not there yet, by its by-id name, bus path or device path.
    package init(named called: String) {
        self.init(missing: "v4l2:\(called)", name: called)
    }

    /// A camera that has been there, or may come: opening it fails, and no node is touched.
    package init(missing identity: String, name: String) {
        self.name = name
        self.identity = identity
        place = ""
        bus = ""
    }

    /// Sets the mode that suits `request` and starts the device.
    ///
    /// Throws `notFound` when the camera is not there, `unsupported` when it has no mode as
    /// configured (the error lists those that it has) or none at all, and what its calls mean.
    package func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        do throws(CaptureError) {
            return try Self.stream(device(), request)
        } catch {
            throw Self.explained(error, place)
        }
    }

    /// Opens its node once more, for its controls.
    package func openControls() throws(CaptureError) -> any ControlPort {
        do throws(CaptureError) {
            return try VideoControls(device())
        } catch {
            throw Self.explained(error, place)
        }
    }

    /// Its node, open, and still its own.
    private func device() throws(CaptureError) -> VideoDevice {
        let missing = CaptureError(
            .notFound,
            "camera",
            String(identity.dropFirst("v4l2:".count))
        )
        guard !place.isEmpty else { throw missing }
        let device = try VideoDevice(path: place)
        // Plugged out and another one in, that may have got its node, and udev has yet to tell.
        let found = try device.capability()
        guard found.isCamera, bus.isEmpty || found.bus == bus else { throw missing }
        return device
    }

    /// `error` with what else is known of it: who has the device, or how to be let in.
    private static func explained(_ error: CaptureError, _ path: String) -> CaptureError {
        var detail = error.detail
        switch error.code {
        case .busy:
            let programs = holders(of: path)
            if !programs.isEmpty {
                detail = "held by \(programs.map(\.description).joined(separator: ", "))"
            }
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
        if request.isFull { return try fullStream(device, modes, request) }
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
        do throws(CaptureError) {
            return try VideoStream(device, mode, insteadOf: request.unreducedMode(mode, of: modes))
        } catch {
            // Without bandwidth some drivers say EIO; so do broken devices. What needs next to no
            // bandwidth and fails all the same is broken.
            var lighter = request
            lighter.reduction += 1
            guard error.code == .bandwidth, error.errno == EIO,
                chooseMode(modes, for: lighter) == mode
            else { throw error }
            throw CaptureError(.system, error.operation, error.subject, errno: error.errno)
        }
    }
}

extension V4L2Source {
    /// The stream of `device` for a photograph, in the largest of its `modes` that the bus has room for.
    private static func fullStream(
        _ device: VideoDevice,
        _ modes: [CaptureMode],
        _ request: CaptureRequest
    ) throws(CaptureError) -> any CameraStream {
        var (request, last) = (request, CaptureMode?.none)
        var failure = CaptureError(.unsupported, "capture mode", device.path)
        while let mode = chooseMode(modes, for: request), mode != last {
            do throws(CaptureError) {
                return try VideoStream(device, mode)
            } catch {
                guard error.code == .bandwidth else { throw error }
                failure = error
            }
            last = mode
            request.reduction += 1
        }
        throw failure
    }
}

extension CaptureRequest {
    /// What would have been chosen of `modes` in place of `mode`, if the bus had room for it; `nil`
    /// where that is the same.
    func unreducedMode(_ mode: CaptureMode, of modes: [CaptureMode]) -> CaptureMode? {
        var unreduced = self
        unreduced.reduction = 0
        let first = chooseMode(modes, for: unreduced)
        return first == mode ? nil : first
    }
}
