import Frames
import Imaging

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
