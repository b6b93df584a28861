package import Frames

/// Somebody who gets every picture, as it comes: a recording.
///
/// It is called on the threads that make the pictures, and keeps none of them waiting.
package protocol FrameTap: AnyObject, Sendable {
    /// A raw picture, whose memory is wanted back at once: what is kept of it is a copy. Capture threads.
    func take(copying frame: Frame)
    /// A raw picture, whose memory may be held for a while. The composite thread.
    func take(_ frame: Frame)
    /// A JPEG that a camera took at `time`, valid until this returns. Capture threads.
    func take(jpeg bytes: UnsafeRawBufferPointer, at time: Timestamp)
    /// There was a picture, and no memory for it.
    func drop()
    /// The camera was closed at `time`, or is lost: what comes next, if anything, is another stream.
    func discontinue(at time: Timestamp)
}
