package import Frames

/// A request for pictures from a camera.
package struct CaptureRequest: Hashable, Sendable {
    /// The size that the picture has to fill, in pixels, upright as the camera is mounted.
    package var size: Size
    /// The highest useful rate, in frames per second.
    package var rate: Int
    package var mode: CaptureModePreference
    /// The number of steps to reduce the load on the bus: a compressed format first, then fewer
    /// frames, then a smaller picture. No effect if the user chose a mode.
    package var reduction: Int
    /// `true` for a photograph: the mode with the most pixels, whatever else was requested.
    package var isFull = false

    /// A request for pictures that fill `size`, `rate` times a second, preferably in `mode`.
    package init(size: Size, rate: Int, mode: CaptureModePreference = .auto, reduction: Int = 0) {
        self.size = size
        self.rate = rate
        self.mode = mode
        self.reduction = reduction
    }
}

extension State {
    /// Returns the request for the camera of `role`, as `configuration` has it. Its size is that of
    /// the whole output, since either camera may become the main picture at any time.
    package func captureRequest(
        for role: Role,
        _ configuration: Configuration
    ) -> CaptureRequest {
        let camera = cameras[role]
        let size = configuration.output.size
        let isOnItsSide = camera.rotation % 180 != 0
        var request = CaptureRequest(
            size: isOnItsSide ? size.transposed : size,
            rate: configuration.output.frameRate,
            mode: configuration.cameras[role].capture,
            reduction: camera.reduction
        )
        request.isFull = [.asked, .on].contains(camera.full)
        // The bandwidth that it gave up for the other camera may be free for a moment.
        if request.isFull { request.reduction = 0 }
        return request
    }
}
