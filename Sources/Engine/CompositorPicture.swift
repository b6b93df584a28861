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

/// A rectangle of the canvas and what is shown there.
struct LayerContent: ~Copyable {
    /// What rows are made of.
    enum Content {
        /// Calm dark grey: there is no picture yet.
        case nothing
        /// The camera's frame, as `scaler` was told.
        case view
        /// Planes of the content's own size, chroma half as wide.
        case planes(Planes, Packer)
    }
    /// The luma of a picture that is not there yet.
    static let calm: UInt8 = 32

    /// Where it lies; x and width are even. May reach beyond the canvas.
    var rect: PixelRect
    var content = Content.nothing
    var scaler = Scaler()

    /// Nothing at all.
    init() { rect = .none }

    /// Whether its rows are `scaler`'s.
    var isView: Bool { if case .view = content { true } else { false } }

    /// Writes the pixels from `x0` to before `x1` (both even) of the canvas's row `y`, all of
    /// them inside `rect`, to `destination` as Y U Y V.
    mutating func write(
        y: Int,
        from x0: Int,
        to x1: Int,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        guard x1 > x0 else { return }
        let (row, column, count) = (y - rect.y, x0 - rect.x, x1 - x0)
        switch content {
        case .nothing: Self.fill(destination, luma: Self.calm, count: count)
        case .view: scaler.write(y: row, from: column, to: column + count, into: destination)
        case .planes(let planes, let packer):
            packer.pack(
                luma: planes.luma.row(row) + column,
                u: planes.u.row(row) + column / 2,
                v: planes.v.row(row) + column / 2,
                count: count,
                into: destination
            )
        }
    }

    /// Writes `count` pixels of one grey.
    static func fill(_ destination: UnsafeMutablePointer<UInt8>, luma: UInt8, count: Int) {
        for i in 0..<count {
            destination[2 &* i] = luma
            destination[2 &* i &+ 1] = 128
        }
    }
}
