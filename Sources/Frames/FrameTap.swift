/// A receiver of every picture as it comes: a recording.
///
/// It is called on the threads that make the pictures, and must not keep them waiting.
package protocol FrameTap: AnyObject, Sendable {
    /// Takes a raw picture, whose memory is wanted back at once: anything kept of it must be a
    /// copy.
    ///
    /// - Context: capture threads.
    func take(copying frame: Frame)
    /// Takes a raw picture, whose memory may be held for a while.
    ///
    /// - Context: the composite thread.
    func take(_ frame: Frame)
    /// Takes a JPEG that a camera took at `time`; `bytes` are valid until this returns.
    ///
    /// - Context: capture threads.
    func take(jpeg bytes: UnsafeRawBufferPointer, at time: Timestamp)
    /// Notes a picture that there was no memory for.
    func drop()
    /// Notes that the camera was closed or lost at `time`: pictures after it belong to another
    /// stream.
    func discontinue(at time: Timestamp)
}

/// A tap that passes every picture on to several others.
package final class FrameTaps: FrameTap {
    private let taps: [any FrameTap]

    /// Creates a tap that passes pictures on to `taps`, in their order.
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
