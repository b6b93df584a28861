import Frames
import Imaging

/// The newest frame of a camera's lens, and smaller copies of it. Bound to the composite thread.
final class CameraPicture {
    private(set) var frame: Frame?
    /// Its mask; `nil` before the first one. Without a frame, this picture has none.
    private(set) var cutout: CameraPicture?
    private var levels: [Level] = []
    private var identity: FrameIdentity?

    /// Makes `frame` the newest one, and drops the copies made of another.
    func take(_ frame: Frame?) {
        self.frame = frame
        let mask = frame?.cutout
        if cutout == nil, mask != nil { cutout = CameraPicture() }
        cutout?.take(mask)
        guard frame?.identity != identity else { return }
        identity = frame?.identity
        for level in levels { level.planes = nil }
    }

    /// Gives the frame back to its pool; the copies stay.
    func release() {
        frame = nil
        cutout?.release()
    }

    /// Returns the planes of the picture, or `nil` for a frame that is not YUV. They have the
    /// picture's own size, or are halved as often as they can be without becoming smaller than
    /// `size` (before the turn): scaling from there costs least and looks best. Allocates when a
    /// number of halvings first occurs.
    func planes(for size: Size) -> Planes? {
        guard let frame else { return nil }
        let whole = frame.layout.size
        let halvings = min(
            Scaler.halvings(Double(whole.width), as: size.width),
            Scaler.halvings(Double(whole.height), as: size.height)
        )
        return planes(halved: halvings)
    }

    /// Returns the planes of the picture, halved `halvings` times, or `nil` for a frame that is not
    /// YUV. Allocates when a number of halvings first occurs.
    func planes(halved halvings: Int) -> Planes? {
        guard let frame else { return nil }
        if halvings == 0, frame.layout.format.planarSubsampling != nil {
            return Planes(luma: frame.plane(0), u: frame.plane(1), v: frame.plane(2))
        }
        while levels.count <= halvings { levels.append(Level()) }
        let level = levels[halvings]
        if level.planes == nil { level.planes = level.copy.update(frame, halvings: halvings) }
        return level.planes
    }

    /// The picture, halved a fixed number of times.
    private final class Level {
        var copy = HalvedCopy()
        var planes: Planes?
    }
}

extension Frame {
    var identity: FrameIdentity {
        FrameIdentity(
            buffer: ObjectIdentifier(buffer),
            sequence: sequence,
            timestamp: timestamp,
            reduction: reduction
        )
    }
}

/// A value that tells frames apart. A buffer is used again, but never with the same count and time,
/// except for the same picture in another size.
struct FrameIdentity: Hashable {
    let buffer: ObjectIdentifier
    let sequence: UInt64
    let timestamp: Timestamp
    let reduction: Int
}
