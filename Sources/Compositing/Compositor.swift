package import DualCamCore
package import Frames
import Imaging

/// Draws scenes: the frames of two cameras in one picture of packed 4:2:2, BT.601 limited range.
/// Its buffers are kept from frame to frame and grow only when sizes do; in a steady state
/// `composite` does not allocate. It does not block, log or fail. Bound to the composite thread.
package final class Compositor {
    /// The size of the output, in pixels; the width is even.
    package let canvas: Size
    private let pictures = PerRole(
        back: PerPipeline(a: CameraPicture(), b: CameraPicture()),
        front: PerPipeline(a: CameraPicture(), b: CameraPicture())
    )
    private let surfaces: [LayerSurface]
    private var backdrop: Backdrop
    private var otherBackdrop: Backdrop
    private var row = Scratch()

    /// Creates a compositor for a canvas of this size, whose width is even.
    package init(canvas: Size) {
        precondition(canvas.width > 0 && canvas.height > 0 && canvas.width % 2 == 0)
        self.canvas = canvas
        let mark = FreezeMark(canvas: canvas)
        surfaces = (0..<6).map { _ in LayerSurface(canvas: canvas, mark) }
        backdrop = Backdrop(canvas: canvas)
        otherBackdrop = Backdrop(canvas: canvas)
    }

    /// Draws `scene` into `output`: height × `stride` bytes, of which 2 · width in each row are
    /// written.
    ///
    /// `backFrame` and `frontFrame` are the newest frames of the cameras' pipelines A, `second`
    /// those of B; `nil` before the first. `labels` are the words of each camera's notice; `nil`
    /// without a notice, or while its words are not drawn yet. The HUD lies on top.
    package func composite(
        _ scene: Scene,
        back backFrame: Frame?,
        front frontFrame: Frame?,
        second: PerRole<Frame?> = PerRole(back: nil, front: nil),
        labels: PerRole<NoticeLabels?>,
        hud: (pose: HudState.Pose, picture: HudPicture)? = nil,
        into output: UnsafeMutablePointer<UInt8>,
        stride: Int
    ) {
        precondition(stride >= 2 * canvas.width)
        pictures.back.a.take(backFrame)
        pictures.back.b.take(second.back)
        pictures.front.a.take(frontFrame)
        pictures.front.b.take(second.front)
        var isCovered = false
        for index in 0..<scene.count {
            let layer = scene[index]
            surfaces[index].prepare(layer, of: pictures[layer.role], labels: labels[layer.role])
            isCovered = isCovered || surfaces[index].interior == PixelRect(canvas)
        }
        if !isCovered { drawBackdrop(of: scene, into: output, stride: stride) }
        for index in 0..<scene.count {
            surfaces[index].draw(
                into: output,
                stride: stride,
                hole: hole(above: index, of: scene)
            )
        }
        if let hud { hud.picture.lay(hud.pose, over: output, stride: stride) }
        for role in Role.allCases {
            pictures[role].a.release()
            pictures[role].b.release()
        }
    }

    /// Returns the largest rectangle that a layer above `index` hides completely.
    private func hole(above index: Int, of scene: Scene) -> PixelRect {
        var hole = PixelRect.none
        for upper in index + 1..<max(scene.count, index + 1) {
            let interior = surfaces[upper].interior
            if interior.size.area > hole.size.area { hole = interior }
        }
        return hole
    }

    /// Covers the canvas with the backdrop, or calm grey without one, where no layer hides it.
    private func drawBackdrop(
        of scene: Scene,
        into output: UnsafeMutablePointer<UInt8>,
        stride: Int
    ) {
        let hole = hole(above: -1, of: scene)
        let opacity = scene.backdrop == nil ? 1 : scene.backdropOpacity
        guard opacity > 0 else {
            for y in 0..<canvas.height {
                let (left, right) = hole.outside(0..<canvas.width, y: y)
                blacken(output + y * stride, left)
                blacken(output + y * stride, right)
            }
            return
        }
        if let role = scene.backdrop, scene.backdropMix < 1 {
            backdrop.prepare(pictures[role], scene.look(of: role))
        } else {
            backdrop.clear()
        }
        let share = scene.backdrop == nil ? 0 : min(255, Int(scene.backdropMix * 256))
        if let role = scene.backdrop, share > 0 {
            otherBackdrop.prepare(pictures[role.other], scene.look(of: role.other))
        }
        let other = row.reserve(4 * canvas.width)
        let black = other + 2 * canvas.width
        LayerContent.fill(black, luma: LayerContent.black, count: canvas.width)
        let dark = min(255, Int((1 - opacity) * 256))
        for y in 0..<canvas.height {
            let target = output + y * stride
            let (left, right) = hole.outside(0..<canvas.width, y: y)
            backdrop.write(y: y, left, into: target)
            backdrop.write(y: y, right, into: target)
            if share > 0 {
                otherBackdrop.write(y: y, left, into: other)
                otherBackdrop.write(y: y, right, into: other)
                lay(other, share, over: target, left, right)
            }
            if dark > 0 { lay(black, dark, over: target, left, right) }
        }
    }

    private func blacken(_ row: UnsafeMutablePointer<UInt8>, _ part: Range<Int>) {
        LayerContent.fill(row + 2 * part.lowerBound, luma: LayerContent.black, count: part.count)
    }

    /// Mixes `share` / 256 of `other` into two parts of a row.
    private func lay(
        _ other: UnsafePointer<UInt8>,
        _ share: Int,
        over row: UnsafeMutablePointer<UInt8>,
        _ left: Range<Int>,
        _ right: Range<Int>
    ) {
        func lay(_ part: Range<Int>) {
            let start = 2 * part.lowerBound
            mix(
                row + start,
                other + start,
                fraction: share,
                count: 2 * part.count,
                into: row + start
            )
        }
        lay(left)
        lay(right)
    }
}

/// A camera's picture, blurred and darkened, over the whole canvas.
struct Backdrop: ~Copyable {
    /// The blur as a fraction of the height, and the share of the light that is left: less than
    /// beside a single picture, so that framed pictures stand out.
    private static let (blur, brightness) = (30.0 / 720, 0.36)

    private let canvas: Size
    private var cached = CachedCopy()
    private var hasPicture = false
    private var grading: Grading?

    init(canvas: Size) { self.canvas = canvas }

    /// Makes it from the camera's newest picture as `look` says; calm grey if there is none.
    mutating func prepare(_ pipelines: PerPipeline<CameraPicture>, _ look: Look) {
        grading = look.grade == .none ? nil : Grading(look.grade)
        hasPicture = cached.update(
            pipelines[look.pipeline],
            recipe: BlurredCopy.Recipe(
                part: look.part,
                transform: look.transform,
                size: canvas,
                sigma: Self.blur,
                brightness: Self.brightness
            )
        )
    }

    mutating func clear() { hasPicture = false }

    /// Writes the pixels of `range` in row `y`, both ends even, to their place in `row`.
    mutating func write(y: Int, _ range: Range<Int>, into row: UnsafeMutablePointer<UInt8>) {
        guard !range.isEmpty else { return }
        let (x0, x1) = (range.lowerBound, range.upperBound)
        if hasPicture {
            cached.copy.write(y: y, from: x0, to: x1, into: row + 2 * x0)
            grading?.apply(to: row + 2 * x0, count: range.count)
        } else {
            LayerContent.fill(row + 2 * x0, luma: LayerContent.calm, count: range.count)
        }
    }
}

/// The lens, part, turn and colours in which a role's picture is shown.
struct Look {
    var pipeline = CapturePipeline.a
    /// The part of the picture that is shown, before the turn.
    var part = Rect.unit
    var transform = Transform.identity
    var grade = Grade.none

    init() {}
    init(_ layer: Layer) {
        pipeline = layer.source.pipeline
        part = layer.sourcePart(of: layer.source)
        transform = layer.transform
        grade = layer.source.grade
    }
}

extension Scene {
    /// Returns the look of the role's picture in its lowest layer; the plain one without a layer.
    func look(of role: Role) -> Look {
        for index in 0..<count where self[index].role == role {
            return Look(self[index])
        }
        return Look()
    }
}
