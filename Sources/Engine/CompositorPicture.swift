import Frames
import Imaging

/// The newest frame of one camera, and what was made of it so far.
///
/// - Context: bound to the composite thread.
final class CameraPicture {
    private(set) var frame: Frame?
    private var scratch = Scratch()
    private var unpacked: Planes?
    private let levels = (0..<4).map { _ in Level() }
    private var identity: FrameIdentity?
    private let gray = FrameBuffer(byteCount: 64)

    init() {
        gray.bytes.initializeMemory(as: UInt8.self, repeating: 128)
    }

    /// Makes `frame` the newest one.
    func take(_ frame: Frame?) {
        self.frame = frame
        guard frame?.identity != identity else { return }
        identity = frame?.identity
        unpacked = nil
        for level in levels { level.planes = nil }
    }

    /// Gives the frame back to its pool; what was made of it stays.
    func release() { frame = nil }

    /// The picture at its own size or halved so often that it is not yet smaller than `size`
    /// (before it is turned), but for the pixels by which a rectangle is rounded up: from there
    /// it is scaled best and at least cost.
    func planes(for size: Size) -> Planes? {
        guard let frame else { return nil }
        let whole = frame.layout.size
        var halvings = 0
        while halvings < levels.count,
            whole.width >> (halvings + 1) >= max(size.width * 63 / 64, 2),
            whole.height >> (halvings + 1) >= max(size.height * 63 / 64, 2)
        {
            halvings += 1
        }
        return reduced(halvings)
    }

    private func reduced(_ halvings: Int) -> Planes? {
        guard halvings > 0 else { return planes }
        let level = levels[halvings - 1]
        if let planes = level.planes { return planes }
        // In one step from a quarter less, unless what lies between is there already.
        let isBetweenThere = halvings == 1 || levels[halvings - 2].planes != nil
        guard let source = reduced(halvings - (isBetweenThere ? 1 : 2)) else { return nil }
        let planes = source.reduced(by: isBetweenThere ? 2 : 4, in: &level.scratch)
        level.planes = planes
        return planes
    }

    /// The picture at a smaller size.
    private final class Level {
        var scratch = Scratch()
        var planes: Planes?
    }

    /// The frame's one plane, where it can be copied to the output as it is.
    var packed: Plane? {
        guard let frame, frame.layout.format == .yuyv, frame.color == .video else { return nil }
        return frame.plane(0)
    }

    /// The frame's planes, brought apart once a frame where they are not yet.
    ///
    /// For gray, chroma is a single neutral byte. `nil` for a frame that is not YUV.
    var planes: Planes? {
        guard let frame else { return nil }
        let layout = frame.layout
        if layout.format.planarSubsampling != nil {
            return Planes(luma: frame.plane(0), u: frame.plane(1), v: frame.plane(2))
        }
        if layout.format == .gray, let base = gray.bytes.baseAddress {
            let neutral = Plane(
                base: base.assumingMemoryBound(to: UInt8.self),
                stride: 1,
                rowBytes: 1,
                rows: 1
            )
            return Planes(luma: frame.plane(0), u: neutral, v: neutral)
        }
        if let unpacked { return unpacked }
        guard let format = Unpack.planarFormat(for: layout.format) else { return nil }
        let planar = FrameLayout(size: layout.size, format: format)
        let planes = Planes(at: scratch.reserve(planar.byteCount), layout: planar)
        Unpack.convert(frame, into: planes)
        unpacked = planes
        return planes
    }
}

extension Frame {
    /// What tells frames apart.
    var identity: FrameIdentity {
        FrameIdentity(
            buffer: ObjectIdentifier(buffer),
            sequence: sequence,
            timestamp: timestamp
        )
    }
}

/// What tells frames apart: a buffer comes again, but not with the same count and time.
struct FrameIdentity: Hashable {
    let buffer: ObjectIdentifier
    let sequence: UInt64
    let timestamp: Timestamp
}

/// A rectangle of the canvas and what is shown there.
struct Piece {
    /// What rows are made of.
    enum Content {
        /// Calm dark grey: there is no picture yet.
        case nothing
        /// Rows that are copied.
        case packed(Plane)
        /// Rows that are packed, chroma half as wide as luma and 1 / 2^`chromaShift` as high.
        case planar(Planes, chromaShift: Int, color: ColorSpace)
    }
    /// The luma of a picture that is not there yet.
    static let calm: UInt8 = 32

    /// Where it lies; x and width are even. May reach beyond the canvas.
    var rect: PixelRect
    var content: Content

    /// Writes the pixels from `x0` to before `x1` (both even) of the canvas's row `y`, all of
    /// them inside `rect`, to `destination` as Y U Y V.
    func write(
        y: Int,
        from x0: Int,
        to x1: Int,
        into destination: UnsafeMutablePointer<UInt8>,
        packer: borrowing Packer
    ) {
        guard x1 > x0 else { return }
        let (row, column, count) = (y - rect.y, x0 - rect.x, x1 - x0)
        switch content {
        case .nothing: Self.fill(destination, luma: Self.calm, count: count)
        case .packed(let plane):
            destination.update(from: plane.row(row) + 2 * column, count: 2 * count)
        case .planar(let planes, let chromaShift, let color):
            packer.pack(
                luma: planes.luma.row(row) + column,
                u: planes.u.row(row >> chromaShift) + column / 2,
                v: planes.v.row(row >> chromaShift) + column / 2,
                count: count,
                color: color,
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
