import Frames
import Imaging

/// The newest frame of one lens of a camera, and what was made of it so far.
///
/// - Context: bound to the composite thread.
final class CameraPicture {
    private(set) var frame: Frame?
    private var levels: [Level] = []
    private var identity: FrameIdentity?

    /// Makes `frame` the newest one.
    func take(_ frame: Frame?) {
        self.frame = frame
        guard frame?.identity != identity else { return }
        identity = frame?.identity
        for level in levels { level.planes = nil }
    }

    /// Gives the frame back to its pool; what was made of it stays.
    func release() { frame = nil }

    /// The picture's planes at its own size, or halved so often that it is not yet smaller than
    /// `size` (before it is turned): from there it is scaled best and at least cost. `nil` for a
    /// frame that is not YUV. Allocates the first time that it is halved so often.
    func planes(for size: Size) -> Planes? {
        guard let frame else { return nil }
        let whole = frame.layout.size
        let halvings = min(
            Scaler.halvings(Double(whole.width), as: size.width),
            Scaler.halvings(Double(whole.height), as: size.height)
        )
        if halvings == 0, frame.layout.format.planarSubsampling != nil {
            return Planes(luma: frame.plane(0), u: frame.plane(1), v: frame.plane(2))
        }
        while levels.count <= halvings { levels.append(Level()) }
        let level = levels[halvings]
        if level.planes == nil { level.planes = level.copy.update(frame, halvings: halvings) }
        return level.planes
    }

    /// The picture at a smaller size.
    private final class Level {
        var copy = HalvedCopy()
        var planes: Planes?
    }
}

extension Frame {
    /// What tells frames apart.
    var identity: FrameIdentity {
        FrameIdentity(
            buffer: ObjectIdentifier(buffer),
            sequence: sequence,
            timestamp: timestamp,
            reduction: reduction
        )
    }
}

/// What tells frames apart: a buffer comes again, but not with the same count and time, except for
/// the same picture in another size.
struct FrameIdentity: Hashable {
    let buffer: ObjectIdentifier
    let sequence: UInt64
    let timestamp: Timestamp
    let reduction: Int
}
