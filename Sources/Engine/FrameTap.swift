package import Frames

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
