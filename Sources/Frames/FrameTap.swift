/// A receiver of every picture as it comes: a recording. It is called on the threads that make the
/// pictures, and must not keep them waiting.
package protocol FrameTap: AnyObject, Sendable {
    /// Takes a raw picture that is wanted back at once: keep only copies. Capture threads.
    func take(copying frame: Frame)
    /// Takes a raw picture, whose memory may be held for a while. The composite thread.
    func take(_ frame: Frame)
    /// Takes a JPEG taken at `time`; `bytes` are valid until this returns. Capture threads.
    func take(jpeg bytes: UnsafeRawBufferPointer, at time: Timestamp)
    /// Notes a picture that there was no memory for.
    func drop()
    /// Notes that the camera closed or was lost at `time`: later pictures are of another stream.
    func discontinue(at time: Timestamp)
}

/// A tap that passes every picture on to several others.
package final class FrameTaps: FrameTap {
    private let taps: [any FrameTap]

    package init(_ taps: [any FrameTap]) { self.taps = taps }

    /// Passes a raw picture on, to be copied.
    package func take(copying frame: Frame) { for tap in taps { tap.take(copying: frame) } }
    /// Passes a raw picture on.
    package func take(_ frame: Frame) { for tap in taps { tap.take(frame) } }
    /// Passes a JPEG on.
    package func take(jpeg bytes: UnsafeRawBufferPointer, at time: Timestamp) {
        for tap in taps { tap.take(jpeg: bytes, at: time) }
    }
    /// Passes on that a picture was dropped.
    package func drop() { for tap in taps { tap.drop() } }
    /// Passes on that the camera was closed or lost.
    package func discontinue(at time: Timestamp) {
        for tap in taps { tap.discontinue(at: time) }
    }
}
