import Frames
import Imaging

/// A rectangle of the canvas and the picture in it.
struct LayerContent: ~Copyable {
    enum Content {
        /// No picture yet: calm dark grey.
        case nothing
        /// The camera's frame, as `scaler` was prepared.
        case view
        /// Planes of the content's own size, chroma half as wide.
        case planes(Planes, Packer)
    }
    /// The luma shown before the first picture.
    static let calm: UInt8 = 32
    static let black: UInt8 = 16

    /// The rectangle on the canvas; x and width are even. May reach beyond the canvas.
    var rect: PixelRect
    var content = Content.nothing
    var scaler = Scaler()

    init() { rect = .none }

    /// `true` if the rows come from `scaler`.
    var isView: Bool { if case .view = content { true } else { false } }

    /// Writes the pixels of the canvas's row `y` from `x0` up to `x1` (both even, all inside
    /// `rect`) to `destination`, as Y U Y V.
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
