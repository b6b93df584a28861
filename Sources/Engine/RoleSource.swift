package import Capture
package import DualCamCore
package import Frames
import Platform
import Synchronization

/// The pictures that a role's camera leaves in its slot, as those of a camera of their own. Another
/// thread opens and closes that camera.
package final class RoleSource: CameraSource {
    /// The place of the pictures, and the transform with which the stream shows them.
    package typealias View = (slot: FrameSlot, transform: Transform)

    package let name: String
    package let identity: String
    private let shown: Mutex<View>

    package init(_ name: String, identity: String, _ view: View) {
        (self.name, self.identity) = (name, identity)
        shown = Mutex(view)
    }

    /// The view of the camera now. Any thread.
    package var view: View {
        get { shown.withLock { $0 } }
        set { shown.withLock { $0 = newValue } }
    }

    /// Returns the pictures that come from now on.
    package func open(_ request: CaptureRequest) -> any CameraStream { RoleStream(self) }
}

private final class RoleStream: CameraStream {
    private let source: RoleSource
    private var last = MonotonicClock.now
    /// As large as a JPEG may be, since the camera's mode may not be known yet.
    let mode = CaptureMode(size: Size(width: 4096, height: 4096), rate: 0, format: .mjpg)
    var isEveryPictureNeeded = false

    /// The seconds between two looks, since a slot wakes the composite thread alone.
    private static let interval = 0.1

    init(_ source: RoleSource) { self.source = source }

    func suits(_ request: CaptureRequest) -> Bool { true }

    func next(until deadline: Timestamp, bell: Bell) -> CapturedEvent {
        while MonotonicClock.now < deadline {
            if let event = newest() { return event }
            let look = MonotonicClock.now + Timestamp(seconds: Self.interval)
            if bell.wait(until: min(look, deadline)) { return .woken }
        }
        return .timedOut
    }

    /// Returns the newest picture if it has not been returned.
    private func newest() -> CapturedEvent? {
        let slot = source.view.slot
        let (content, jpeg, original) = slot.newest
        guard content.arrival > last else { return nil }
        last = content.arrival
        if let frozen = slot.frozen { return .frame(frozen) }
        guard let jpeg else { return (original ?? content.frame).map { .frame($0) } }
        // A copy: a picture that is kept would keep the device open.
        let copy = FrameBuffer(byteCount: jpeg.byteCount)
        copy.bytes.copyMemory(from: jpeg.bytes)
        return .jpeg(
            JPEGFrame(
                buffer: copy,
                byteCount: jpeg.byteCount,
                timestamp: jpeg.timestamp,
                sequence: jpeg.sequence
            )
        )
    }
}
