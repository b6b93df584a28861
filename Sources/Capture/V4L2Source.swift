package import DualCamCore
import Frames
import Glibc
import Platform

/// A V4L2 camera at its last known node.
package struct V4L2Source: CameraSource {
    /// The name that the driver reports.
    package let name: String
    /// "v4l2:" and the name in /dev/v4l/by-id, or else the place on the bus.
    package let identity: String
    /// The path of its node, "/dev/video0"; empty if it is not attached.
    package let place: String
    /// The place on the bus; empty if unknown.
    private let bus: String
    /// `true` if it shows what another program feeds it.
    private let isRelay: Bool
    /// `true` if it was attached at some time.
    private let isKnown: Bool

    /// Creates the source of a camera. To open one that is not attached throws, and touches no
    /// node.
    package init(_ use: SourceUse) {
        name = use.name
        identity = use.identity
        place = use.place
        bus = use.device?.bus ?? ""
        isRelay = use.device?.isRelay ?? false
        isKnown = use.isKnown
    }

    /// Sets the mode that suits `request` and starts the device.
    ///
    /// - Throws: `gone` if the camera is not attached, `notFound` if it never was; `noMode` if it
    ///   has no mode as configured, or none that can be read (the error lists what it has), or
    ///   shows our own stream; `timedOut` if no program feeds it; `noSignal` if nothing sends a
    ///   picture to its input; otherwise the code of the failed call.
    package func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        do throws(CaptureError) {
            let device = try device()
            // We would show ourselves.
            if LoopbackMirror.feeds(place) {
                throw CaptureError(.noMode, "open", place, detail: "it shows DualCam's own stream")
            }
            // A program may begin to feed it at any time, so it is worth another try.
            if isRelay, try device.modes(for: request).isEmpty {
                throw CaptureError(.timedOut, "capture", place, detail: "no program feeds it")
            }
            try device.followSignal()
            return try Self.stream(device, request)
        } catch {
            throw Self.explained(error, place)
        }
    }

    /// Opens the node once more, for its controls.
    package func openControls() throws(CaptureError) -> any ControlPort {
        do throws(CaptureError) {
            return try VideoControls(device())
        } catch {
            throw Self.explained(error, place)
        }
    }

    /// Opens the node, which is still this camera's.
    private func device() throws(CaptureError) -> VideoDevice {
        guard !place.isEmpty else { throw missing }
        let device: VideoDevice
        do throws(CaptureError) {
            device = try VideoDevice(path: place)
        } catch {
            // Its node went with it, and udev has not said so yet.
            throw error.code == .notFound ? missing : error
        }
        try check(device)
        return device
    }

    /// Checks that `device`, at this camera's node, is this camera: another one may have taken over
    /// the node, before udev reports it.
    func check(_ device: VideoDevice) throws(CaptureError) {
        let found = try device.capability()
        guard found.isCamera || isRelay, bus.isEmpty || found.bus == bus else { throw missing }
    }

    private var missing: CaptureError {
        CaptureError(
            isKnown ? .gone : .notFound,
            "camera",
            String(identity.dropFirst("v4l2:".count))
        )
    }

    /// Returns `error` with more detail: who holds the device, or how to get access.
    private static func explained(_ error: CaptureError, _ path: String) -> CaptureError {
        var detail = error.detail
        var holder = ""
        switch error.code {
        case .busy:
            let programs = holders(of: path)
            if !programs.isEmpty {
                detail = "held by \(programs.map(\.description).joined(separator: ", "))"
            }
            // These hand pictures on to others, of which nothing is known here.
            holder =
                programs.first { !["pipewire", "wireplumber"].contains($0.name) }?.name ?? ""
        case .denied:
            detail = "log in at the computer's own seat; where there is none, join the group video"
        default: return error
        }
        return CaptureError(
            error.code,
            error.operation,
            error.subject,
            errno: error.errno,
            detail: detail,
            holder: holder
        )
    }

    /// Returns a stream of `device` in the mode that suits `request`.
    static func stream(
        _ device: VideoDevice,
        _ request: CaptureRequest
    ) throws(CaptureError) -> any CameraStream {
        let modes = try device.modes(for: request)
        if request.isFull { return try fullStream(device, modes, request) }
        guard let mode = chooseMode(modes, for: request) else {
            throw noMode(of: device, modes, request)
        }
        do throws(CaptureError) {
            return try VideoStream(device, mode, insteadOf: request.unreducedMode(mode, of: modes))
        } catch {
            // Some drivers report missing bandwidth as EIO, and so do broken devices. If no lighter
            // mode is left, it is not the bandwidth.
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
    /// Returns the error of `device`, which has none of `modes` for `request`.
    private static func noMode(
        of device: VideoDevice,
        _ modes: [CaptureMode],
        _ request: CaptureRequest
    ) -> CaptureError {
        let readable = modes.filter(\.format.isReadable).map(\.description)
        let detail: String
        if readable.isEmpty {
            let formats = Set(modes.map(\.format.description)).sorted().joined(separator: ", ")
            detail =
                formats.isEmpty
                ? "it offers no format" : "it offers only \(formats), which cannot be read"
        } else {
            detail = "there are \(readable.joined(separator: ", "))"
        }
        return CaptureError(
            .noMode,
            "capture mode",
            readable.isEmpty ? device.path : "\(request.mode) of \(device.path)",
            detail: detail
        )
    }

    /// Returns a stream of `device` for a photograph, in the largest of `modes` that the bus has
    /// room for.
    private static func fullStream(
        _ device: VideoDevice,
        _ modes: [CaptureMode],
        _ request: CaptureRequest
    ) throws(CaptureError) -> any CameraStream {
        var (request, last) = (request, CaptureMode?.none)
        var failure = noMode(of: device, modes, request)
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
    /// Returns the mode that would have been chosen from `modes` instead of `mode` if the bus had
    /// room; `nil` if it is the same.
    func unreducedMode(_ mode: CaptureMode, of modes: [CaptureMode]) -> CaptureMode? {
        var unreduced = self
        unreduced.reduction = 0
        let first = chooseMode(modes, for: unreduced)
        return first == mode ? nil : first
    }
}
