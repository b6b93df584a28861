package import Capture
package import DualCamCore
package import Frames
package import Platform
package import Synchronization
import TestJPEGs

/// A camera that opens, and gives pictures, as a test says.
package final class ScriptedCamera: CameraSource {
    /// Returns the next event of an open camera, on its thread; `number` events with a picture,
    /// damaged or not, came before.
    package typealias Next =
        @Sendable (_ number: Int, _ until: Timestamp, Bell) throws(CaptureError) -> CapturedEvent

    package static let size = Size(width: 64, height: 48)

    package let name: String
    package var identity: String { name }
    package let openings = Mutex(0)
    /// `true` while it is open.
    package let isOpen = Mutex(false)
    package let pictures = Mutex(0)
    private let mode: CaptureMode
    private let opening: @Sendable () throws(CaptureError) -> Void
    private let controls: @Sendable () throws(CaptureError) -> any ControlPort
    private let next: Next

    /// Creates a camera that is opened after `opening`, and gives what `next` returns.
    package init(
        _ name: String = "Scripted",
        rate: Double = 100,
        format: PixelFormat = .gray,
        next: @escaping Next = { _, until, bell in bell.wait(until: until) ? .woken : .timedOut },
        opening: @escaping @Sendable () throws(CaptureError) -> Void = {},
        controls: @escaping @Sendable () throws(CaptureError) -> any ControlPort = {
            () throws(CaptureError) in throw CaptureError(.unsupported, "controls")
        }
    ) {
        self.name = name
        mode = CaptureMode(size: Self.size, rate: rate, format: format)
        self.opening = opening
        self.controls = controls
        self.next = next
    }

    /// Returns a camera with a picture every 10 ms, each lighter than the one before, which opens
    /// once `gate` has rung, if there is one.
    package static func counting(behind gate: Bell? = nil) -> ScriptedCamera {
        ScriptedCamera(
            next: { number, _, bell in
                if bell.wait(until: MonotonicClock.now + Timestamp(seconds: 0.01)) { return .woken }
                return .frame(grayFrame(UInt8(luma(number + 1)), UInt64(number + 1)))
            },
            opening: { _ = gate?.wait(until: nil) }
        )
    }

    /// Returns the luma of the picture with this number of a camera that is counting.
    package static func luma(_ count: Int) -> Double { Double(min(240, 20 + 4 * count)) }

    package func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        openings.withLock { $0 += 1 }
        try opening()
        return Stream(self)
    }

    package func openControls() throws(CaptureError) -> any ControlPort { try controls() }

    private final class Stream: CameraStream {
        let mode: CaptureMode
        private let source: ScriptedCamera
        private var count = 0

        init(_ source: ScriptedCamera) {
            self.source = source
            mode = source.mode
            source.isOpen.withLock { $0 = true }
        }

        deinit { source.isOpen.withLock { $0 = false } }

        func suits(_ request: CaptureRequest) -> Bool { request.size == mode.size }

        func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
            let event = try source.next(count, deadline, bell)
            switch event {
            case .frame, .jpeg:
                source.pictures.withLock { $0 += 1 }
                count += 1
            case .dropped: count += 1
            default: break
            }
            return event
        }
    }
}

/// Returns a picture of one grey, of this moment.
package func grayFrame(
    _ luma: UInt8,
    _ number: UInt64,
    size: Size = ScriptedCamera.size
) -> Frame {
    flatFrame(size: size, format: .gray, at: MonotonicClock.now, sequence: number, [luma])
}
