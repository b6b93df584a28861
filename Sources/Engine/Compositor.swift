package import DualCamCore
package import Frames
import Imaging

/// Draws scenes: two cameras' frames into one picture of packed 4:2:2, BT.601 limited range.
///
/// What it needs on the way is kept from frame to frame and grows only when sizes do; in a steady
/// state `composite` does not allocate. It does not block, log or fail.
///
/// - Context: bound to the composite thread.
package final class Compositor {
    /// Extent of the output in pixels; the width is even.
    package let canvas: Size
    private let back = CameraPicture()
    private let front = CameraPicture()
    private let surfaces: [LayerSurface]
    private var packer: Packer

    /// A compositor for a canvas of `canvas`, whose width is even.
    package init(canvas: Size) {
        precondition(canvas.width > 0 && canvas.height > 0 && canvas.width % 2 == 0)
        self.canvas = canvas
        surfaces = (0..<4).map { _ in LayerSurface(canvas: canvas) }
        packer = Packer(width: canvas.width)
    }

    /// Draws `scene` with the newest frame of each camera, `nil` where there is none yet, into
    /// `output`: height × `stride` bytes, of which 2 · width in each row are written.
    package func composite(
        _ scene: Scene,
        back backFrame: Frame?,
        front frontFrame: Frame?,
        into output: UnsafeMutablePointer<UInt8>,
        stride: Int
    ) {
        precondition(stride >= 2 * canvas.width)
        back.take(backFrame)
        front.take(frontFrame)
        var isCovered = false
        for index in 0..<scene.count {
            let layer = scene[index]
            surfaces[index].prepare(layer, picture: picture(of: layer.role))
            isCovered = isCovered || surfaces[index].interior == PixelRect(canvas)
        }
        if !isCovered { fill(output, stride: stride) }
        for index in 0..<scene.count {
            surfaces[index].draw(
                into: output,
                stride: stride,
                hole: hole(above: index, of: scene),
                packer: packer
            )
        }
    }

    private func picture(of role: Role) -> CameraPicture { role == .back ? back : front }

    /// The largest rectangle that the layers above `index` hide whole.
    private func hole(above index: Int, of scene: Scene) -> PixelRect {
        var hole = PixelRect(x: 0, y: 0, width: 0, height: 0)
        for upper in index + 1..<max(scene.count, index + 1) {
            let interior = surfaces[upper].interior
            if interior.size.area > hole.size.area { hole = interior }
        }
        return hole
    }

    private func fill(_ output: UnsafeMutablePointer<UInt8>, stride: Int) {
        for y in 0..<canvas.height { Piece.calm(output + y * stride, count: canvas.width) }
    }
}
