package import Capture
package import DualCamCore
package import Frames
package import Platform
package import Synchronization

/// A camera with a small picture every 10 ms, each lighter than the one before.
package final class CountedCamera: CameraSource {
    package let name = "Counted", identity = "test:counted"
    /// The number of pictures so far.
    package let pictures = Mutex(0)
    /// `true` while it is open.
    package let isOpen = Mutex(false)
    private let gate: Bell?

    /// Creates a camera that opens once `gate` has rung, if there is one.
    package init(behind gate: Bell? = nil) { self.gate = gate }

    /// Returns the luma of the picture with this number.
    package static func luma(_ count: Int) -> Double { Double(min(240, 20 + 4 * count)) }

    package func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        _ = gate?.wait(until: nil)
        return Stream(self)
    }

    package func openControls() throws(CaptureError) -> any ControlPort {
        throw CaptureError(.unsupported, "controls")
    }

    private final class Stream: CameraStream {
        let mode = CaptureMode(size: Size(width: 64, height: 48), rate: 100, format: .gray)
        private let source: CountedCamera

        init(_ source: CountedCamera) {
            self.source = source
            source.isOpen.withLock { $0 = true }
        }

        deinit { source.isOpen.withLock { $0 = false } }

        func suits(_ request: CaptureRequest) -> Bool { true }

        func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
            if bell.wait(until: MonotonicClock.now + Timestamp(seconds: 0.01)) { return .woken }
            let count = source.pictures.withLock { count in
                count += 1
                return count
            }
            return grayPicture(of: mode.size, luma: CountedCamera.luma(count), UInt64(count))
        }
    }
}

/// Returns a picture of one grey, with this number.
package func grayPicture(of size: Size, luma: Double, _ number: UInt64) -> CapturedEvent {
    let layout = FrameLayout(size: size, format: .gray)
    let buffer = FrameBuffer(byteCount: layout.byteCount)
    for index in buffer.bytes.indices { buffer.bytes[index] = UInt8(luma) }
    return .frame(
        Frame(
            buffer: buffer,
            layout: layout,
            color: .jpeg,
            timestamp: MonotonicClock.now,
            sequence: number
        )
    )
}
