import Frames
import Glibc

/// A moving picture without a camera: a still background, and one sprite that moves before it.
///
/// No picture equals its own mirror image or its own rotation, so that tests can tell them apart.
enum TestPicture: String, CaseIterable {
    /// Mountains over a lake at dusk, with a drifting balloon.
    case back
    /// A person at home, with a swinging lamp.
    case front
    /// The same person, from a camera mounted upright.
    case portrait
    /// Eight colour bars, from white to black, over a grey ramp; only the counter moves.
    case bars
    /// Luma 16 to 235 from left to right, without colour; only the counter moves.
    case ramp

    /// Returns the size of a camera's picture that fills `size`: even, at least 32, upright for
    /// `portrait`.
    func extent(filling size: Size) -> Size {
        let even = Size(width: max(32, size.width / 2 * 2), height: max(32, size.height / 2 * 2))
        return self == .portrait && even.width > even.height ? even.transposed : even
    }

    /// Draws the background into `buffer`, laid out as `layout`: planar YUV 4:2:0, BT.601 in
    /// limited range.
    func drawBackground(into buffer: FrameBuffer, _ layout: FrameLayout) {
        switch self {
        case .back:
            var canvas = Canvas(size: layout.size)
            paintLandscape(&canvas)
            canvas.write(to: buffer, layout)
        case .front, .portrait:
            var canvas = Canvas(size: layout.size)
            paintPortrait(&canvas)
            canvas.write(to: buffer, layout)
        case .bars: drawBars(into: buffer, layout, ramp: layout.size.height * 2 / 3)
        case .ramp: drawBars(into: buffer, layout, ramp: 0)
        }
    }

    /// Returns the sprite at its place after `seconds`, on a picture of `size`; `nil` if there is
    /// none.
    func sprite(after seconds: Double, in size: Size) -> TestSprite? {
        let aspect = Float(size.width) / Float(size.height)
        // Whole turns are removed before the conversion to `Float`, which would lose precision.
        func angle(every period: Double) -> Float {
            Float((seconds / period).truncatingRemainder(dividingBy: 1) * 2 * .pi)
        }
        switch self {
        case .back:
            let centre = Point(
                aspect * (0.30 + 0.17 * sin(angle(every: 17))),
                0.30 + 0.07 * cos(angle(every: 8.5))
            )
            return .balloon(centre)
        case .front, .portrait:
            let pivot = Point(aspect * (self == .front ? 0.80 : 0.82), -0.02)
            let swing = 0.26 * sin(angle(every: 3.2))
            return .lamp(pivot, cord: Point(sin(swing), cos(swing)))
        case .bars, .ramp: return nil
        }
    }
}

/// Draws colour bars from the top, and a grey ramp from row `ramp` to the bottom.
///
/// The bars are white, yellow, cyan, green, magenta, red, blue and black, at full strength. Each is
/// an eighth of the width, rounded to even.
private func drawBars(into buffer: FrameBuffer, _ layout: FrameLayout, ramp: Int) {
    let (width, height) = (layout.size.width, layout.size.height)
    let ramp = ramp / 2 * 2
    let planes = (0..<3).map { buffer.plane($0, of: layout) }
    for x in 0..<width {
        let index = min(7, x / 2 * 16 / width)
        let color = videoColor(
            Paint(index & 2 == 0 ? 1 : 0, index & 4 == 0 ? 1 : 0, index & 1 == 0 ? 1 : 0)
        )
        let level = 16 + Float(219 * x) / Float(max(1, width - 1))
        for y in 0..<height { planes[0].row(y)[x] = byte(y < ramp ? color.x : level) }
        guard x % 2 == 0 else { continue }
        for y in 0..<planes[1].rows {
            planes[1].row(y)[x / 2] = 2 * y < ramp ? byte(color.y) : 128
            planes[2].row(y)[x / 2] = 2 * y < ramp ? byte(color.z) : 128
        }
    }
}
