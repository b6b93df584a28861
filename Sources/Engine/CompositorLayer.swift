import DualCamCore
import Frames
import Imaging

/// One layer on its way to the canvas: its picture scaled and turned, ready to be written.
///
/// - Context: bound to the composite thread.
final class LayerSurface {
    private let canvas: Size
    private var scaled = Scratch()
    private var turned = Scratch()
    private var layer = Layer(role: .back, rect: Rect(x: 0, y: 0, width: 0, height: 0))
    private var frameIdentity: FrameIdentity?
    private var outer = PixelRect(x: 0, y: 0, width: 0, height: 0)
    private var piece = Piece(rect: PixelRect(x: 0, y: 0, width: 0, height: 0), content: .nothing)

    /// What the layer hides whole; even in x.
    private(set) var interior = PixelRect(x: 0, y: 0, width: 0, height: 0)

    init(canvas: Size) {
        self.canvas = canvas
    }

    /// Brings `picture` to the size and turn that `layer` shows it in.
    func prepare(_ layer: Layer, picture: CameraPicture) {
        self.layer = layer
        outer = layer.rect.outwards
        interior = layer.opacity >= 1 ? layer.rect.inwards.intersection(PixelRect(canvas)) : .none
        piece = Piece(rect: outer, content: content(of: picture))
    }

    /// Writes the layer to `output`, without what `hole` hides.
    func draw(
        into output: UnsafeMutablePointer<UInt8>,
        stride: Int,
        hole: PixelRect,
        packer: borrowing Packer
    ) {
        let visible = outer.intersection(PixelRect(canvas))
        guard !visible.isEmpty, layer.opacity > 0 else { return }
        for y in visible.y..<visible.maxY {
            let row = output + y * stride
            let covered = hole.intersection(
                PixelRect(x: visible.x, y: y, width: visible.width, height: 1)
            )
            let (left, right) =
                covered.isEmpty ? (visible.maxX, visible.maxX) : (covered.x, covered.maxX)
            piece.write(y: y, from: visible.x, to: left, into: row + 2 * visible.x, packer: packer)
            piece.write(y: y, from: right, to: visible.maxX, into: row + 2 * right, packer: packer)
        }
    }

    private func content(of picture: CameraPicture) -> Piece.Content {
        guard let frame = picture.frame, !outer.isEmpty else { return .nothing }
        let isWhole = layer.transform == .identity && frame.layout.size == outer.size
        if isWhole, let packed = picture.packed { return .packed(packed) }
        guard let planes = picture.planes else { return .nothing }
        return .planar(
            isWhole && planes.u.rowBytes == outer.width / 2 && planes.u.rows == outer.height
                ? planes : scale(planes),
            chromaShift: 0,
            color: frame.color
        )
    }

    private func scale(_ planes: Planes) -> Planes {
        let turn = layer.transform
        let target = FrameLayout(size: outer.size, format: .i422)
        let upright = FrameLayout(
            size: turn.inverse.apply(to: outer.size),
            format: turn.swapsAxes ? .i440 : .i422
        )
        let small = Planes(at: scaled.reserve(upright.byteCount), layout: upright)
        planes.luma.scale(to: small.luma)
        planes.u.scale(to: small.u)
        planes.v.scale(to: small.v)
        if turn == .identity { return small }
        let result = Planes(at: turned.reserve(target.byteCount), layout: target)
        small.luma.orient(turn, into: result.luma)
        small.u.orient(turn, into: result.u)
        small.v.orient(turn, into: result.v)
        return result
    }
}

extension PixelRect {
    /// No pixel.
    static let none = PixelRect(x: 0, y: 0, width: 0, height: 0)
}

extension Rect {
    /// The smallest rectangle of whole pixel pairs around this one.
    var outwards: PixelRect {
        let left = Int((x / 2).rounded(.down)) * 2
        let top = Int(y.rounded(.down))
        return PixelRect(
            x: left,
            y: top,
            width: Int((maxX / 2).rounded(.up)) * 2 - left,
            height: Int(maxY.rounded(.up)) - top
        )
    }

    /// The largest rectangle of whole pixel pairs inside this one.
    var inwards: PixelRect {
        let left = Int((x / 2).rounded(.up)) * 2
        let top = Int(y.rounded(.up))
        return PixelRect(
            x: left,
            y: top,
            width: max(0, Int((maxX / 2).rounded(.down)) * 2 - left),
            height: max(0, Int(maxY.rounded(.down)) - top)
        )
    }
}
