import Frames
import Glibc

/// A mountain lake at dusk.
func paintLandscape(_ canvas: inout Canvas) {
    let aspect = canvas.aspect
    let horizon: Float = 0.66
    let sun = Point(aspect * 0.63, 0.53)
    // Sky.
    canvas.fill { point in
        let height = point.y / horizon
        return height < 0.55
            ? mix(Paint(0.10, 0.17, 0.38), Paint(0.42, 0.44, 0.68), height / 0.55)
            : mix(Paint(0.42, 0.44, 0.68), Paint(1.0, 0.76, 0.56), (height - 0.55) / 0.45)
    } shape: { _ in
        -1
    }
    canvas.glow(at: sun, radius: 0.75, Paint(0.75, 0.42, 0.22))
    canvas.glow(at: sun, radius: 0.22, Paint(0.9, 0.7, 0.4))
    canvas.fill({ _ in Paint(1, 0.95, 0.80) }, softness: 0.006) {
        ellipse($0, sun, Point(0.045, 0.045))
    }
    // Thin clouds, lit from below.
    for (y, x, length, height) in [
        (Float(0.16), Float(0.22), Float(0.30), Float(0.010)), (0.20, 0.35, 0.22, 0.007),
        (0.33, 0.82, 0.30, 0.009), (0.37, 0.70, 0.24, 0.006), (0.43, 0.14, 0.20, 0.006),
    ] {
        canvas.fill({ _ in Paint(1, 0.82, 0.76) }, softness: 0.03, opacity: 0.5) {
            ellipse($0, Point(aspect * x, y), Point(length, height))
        }
    }
    // Ridges, the farther the paler.
    let ridges: [(top: Float, height: Float, seed: Float, far: Paint, near: Paint)] = [
        (0.47, 0.12, 1.3, Paint(0.55, 0.47, 0.64), Paint(0.86, 0.66, 0.62)),
        (0.53, 0.10, 4.1, Paint(0.36, 0.35, 0.54), Paint(0.66, 0.52, 0.60)),
        (0.59, 0.08, 7.9, Paint(0.20, 0.23, 0.40), Paint(0.40, 0.37, 0.50)),
    ]
    for ridge in ridges {
        canvas.fill { point in
            mix(ridge.far, ridge.near, (point.y - ridge.top + 0.05) / 0.2)
        } shape: { point in
            max(
                ridgeLine(point.x, ridge.seed) * ridge.height + ridge.top - point.y,
                point.y - horizon
            )
        }
    }
    // The lake mirrors the sky, broken by ripples and the sun's road.
    canvas.fill { point in
        let depth = (point.y - horizon) / (1 - horizon)
        let ripple = sin(point.y * 240 + 3 * sin(point.x * 9)) * sin(point.x * 31 + point.y * 70)
        let water = mix(Paint(0.78, 0.58, 0.54), Paint(0.10, 0.15, 0.30), depth * 1.25)
        let road = exp(-pow((point.x - sun.x) / (0.035 + 0.13 * depth), 2))
        let glint = max(0, sin(point.y * 330 + 2 * sin(point.x * 23)))
        return water + ripple * 0.012 + Paint(0.9, 0.62, 0.36) * road * (0.25 + 0.55 * glint)
            * (1 - 0.6 * depth)
    } shape: {
        horizon - $0.y
    }
    canvas.fill({ _ in Paint(1, 0.86, 0.74) }, softness: 0.012, opacity: 0.55) {
        abs($0.y - horizon) - 0.002
    }
    // A dark shore with firs at the left, and a jetty at the right.
    let shore = Paint(0.05, 0.08, 0.12)
    canvas.fill { _ in
        shore
    } shape: { point in
        0.97 - 0.17 * exp(-pow(point.x / 0.55, 2)) + 0.006 * sin(point.x * 47) - point.y
    }
    for (x, base, height) in [
        (Float(0.05), Float(0.84), Float(0.30)), (0.14, 0.85, 0.40), (0.23, 0.86, 0.26),
        (0.31, 0.88, 0.33), (0.40, 0.90, 0.18), (0.47, 0.92, 0.12),
    ] {
        let middle = x * 1.1
        let bounds = Bounds(
            x: middle - height * 0.25...middle + height * 0.25,
            y: base - height...base + 0.03
        )
        canvas.fill({ _ in shore }, within: bounds) { point in
            let down = (point.y - (base - height)) / height
            let tier = (down * 7).truncatingRemainder(dividingBy: 1)
            let width = height * (0.02 + 0.16 * down * (0.55 + 0.45 * tier))
            return max(abs(point.x - middle) - width, -down * height)
        }
    }
    let jetty = Paint(0.09, 0.09, 0.13)
    canvas.fill({ _ in jetty }) {
        stroke($0, from: Point(aspect * 0.78, 0.875), to: Point(aspect * 1.02, 0.905), 0.007)
    }
    for (x, top) in [(Float(0.79), Float(0.86)), (0.85, 0.868), (0.92, 0.876), (0.985, 0.885)] {
        canvas.fill({ _ in jetty }) {
            stroke($0, from: Point(aspect * x, top), to: Point(aspect * x, top + 0.08), 0.0045)
        }
    }
}

/// The outline of a mountain ridge: about 0…1 at every x, no two seeds alike.
private func ridgeLine(_ x: Float, _ seed: Float) -> Float {
    // Absolute values make peaks where sines alone would make waves.
    let broad = abs(sin(x * 2.1 + seed)) + 0.5 * abs(sin(x * 4.7 + seed * 2.3))
    let fine = 0.20 * abs(sin(x * 13 + seed * 5.1)) + 0.08 * abs(sin(x * 37 + seed * 3.7))
    return 1 - (broad + fine) / 1.78
}

/// A person in front of a shelf, in the light of a lamp.
func paintPortrait(_ canvas: inout Canvas) {
    let aspect = canvas.aspect
    canvas.fill { point in
        mix(
            Paint(0.20, 0.42, 0.44),
            Paint(0.10, 0.24, 0.29),
            point.y * 0.8 + point.x / aspect * 0.2
        )
    } shape: { _ in
        -1
    }
    canvas.glow(at: Point(aspect * 0.80, 0.34), radius: 0.85, Paint(0.62, 0.42, 0.20))
    paintShelf(&canvas, at: Point(aspect * 0.17, 0.42))
    // Out of focus, a plant at the right.
    for (angle, length) in [
        (Float(-0.75), Float(0.26)), (-0.35, 0.33), (0.05, 0.36), (0.45, 0.30), (0.85, 0.22),
    ] {
        let root = Point(aspect * 0.88, 0.92)
        let tip = root + Point(sin(angle), -cos(angle)) * length
        canvas.fill(
            { mix(Paint(0.25, 0.50, 0.30), Paint(0.08, 0.27, 0.20), $0.y * 2 - 1) },
            softness: 0.012
        ) {
            leaf($0, from: root, to: tip, 0.055)
        }
    }
    canvas.fill({ _ in Paint(0.80, 0.55, 0.40) }, softness: 0.012) {
        roundedBox($0, Point(aspect * 0.88, 0.99), Point(0.10, 0.10), corner: 0.02)
    }
    paintPerson(&canvas, at: Point(aspect * 0.48, 0.46))
}

/// A shelf with books and a bowl, out of focus.
private func paintShelf(_ canvas: inout Canvas, at centre: Point) {
    let wood = Paint(0.42, 0.29, 0.21)
    for y in [Float(-0.02), 0.36] {
        canvas.fill({ _ in wood }, softness: 0.012) {
            roundedBox($0, centre + Point(0, y), Point(0.27, 0.013), corner: 0.004)
        }
    }
    let books: [(x: Float, width: Float, height: Float, paint: Paint)] = [
        (-0.235, 0.020, 0.19, Paint(0.82, 0.36, 0.27)),
        (-0.190, 0.017, 0.22, Paint(0.93, 0.78, 0.50)),
        (-0.148, 0.019, 0.17, Paint(0.25, 0.45, 0.60)),
        (-0.102, 0.021, 0.20, Paint(0.88, 0.86, 0.80)),
        (-0.058, 0.016, 0.23, Paint(0.33, 0.55, 0.47)),
    ]
    for shelf in [Float(-0.033), 0.347] {
        for (index, book) in books.enumerated() {
            let paint = shelf < 0 ? book.paint : books[(index + 2) % books.count].paint
            canvas.fill({ _ in paint }, softness: 0.012) {
                roundedBox(
                    $0,
                    centre + Point(shelf < 0 ? book.x : book.x + 0.24, shelf - book.height / 2),
                    Point(book.width, book.height / 2),
                    corner: 0.004
                )
            }
        }
    }
    canvas.fill({ _ in Paint(0.90, 0.66, 0.36) }, softness: 0.012) {
        max(ellipse($0, centre + Point(0.12, -0.12), Point(0.085, 0.09)), centre.y - 0.12 - $0.y)
    }
}

/// A friendly person, head and shoulders, looking a little to the left.
private func paintPerson(_ canvas: inout Canvas, at head: Point) {
    let (skin, shade) = (Paint(0.93, 0.72, 0.58), Paint(0.82, 0.56, 0.44))
    let hair = Paint(0.22, 0.13, 0.11)
    // Hair that falls behind the shoulders.
    canvas.fill({ _ in hair * 0.85 }) {
        min(
            ellipse($0, head + Point(0.005, -0.02), Point(0.205, 0.235)),
            roundedBox($0, head + Point(0.01, 0.14), Point(0.195, 0.17), corner: 0.11)
        )
    }
    canvas.fill({ mix(Paint(0.93, 0.66, 0.24), Paint(0.70, 0.42, 0.13), ($0.y - 0.72) * 2.4) }) {
        roundedBox($0, head + Point(0, 0.66), Point(0.37, 0.34), corner: 0.20)
    }
    // Neck, in the chin's shadow, and collar.
    canvas.fill({ mix(shade * 0.88, skin, ($0.y - head.y - 0.19) * 6) }) {
        min(
            roundedBox($0, head + Point(0, 0.24), Point(0.075, 0.13), corner: 0.05),
            ellipse($0, head + Point(0, 0.335), Point(0.115, 0.05))
        )
    }
    // Face, lit from the right.
    canvas.fill({ mix(shade, skin, ($0.x - head.x) * 3 + 0.62) }) {
        ellipse($0, head, Point(0.155, 0.20))
    }
    canvas.fill({ _ in Paint(0.93, 0.50, 0.42) }, softness: 0.06, opacity: 0.35) {
        min(
            ellipse($0, head + Point(-0.095, 0.065), Point(0.03, 0.025)),
            ellipse($0, head + Point(0.085, 0.065), Point(0.03, 0.025))
        )
    }
    // Fringe, parted at one side.
    canvas.fill({ mix(hair, Paint(0.40, 0.24, 0.17), ($0.x - head.x) * 3) }) { point in
        let cap = ellipse(point, head + Point(0.003, -0.03), Point(0.180, 0.205))
        let left = ellipse(point, head + Point(-0.155, 0.105), Point(0.215, 0.235))
        let right = ellipse(point, head + Point(0.130, 0.075), Point(0.125, 0.185))
        return max(cap, -min(left, right))
    }
    let dark = Paint(0.20, 0.12, 0.11)
    for side in [Float(-1), 1] {
        let eye = head + Point(side * 0.064 - 0.008, 0.0)
        canvas.fill({ _ in dark }) { ellipse($0, eye, Point(0.015, 0.020)) }
        canvas.fill({ _ in Paint(1, 1, 1) }) {
            ellipse($0, eye + Point(0.005, -0.007), Point(0.0045, 0.0045))
        }
        canvas.fill({ _ in hair }) {
            stroke($0, from: eye + Point(-0.028, -0.046), to: eye + Point(0.024, -0.050), 0.0055)
        }
        // Round glasses.
        canvas.fill({ _ in Paint(0.83, 0.62, 0.30) }) { abs(length($0 - eye) - 0.050) - 0.0035 }
    }
    canvas.fill({ _ in Paint(0.83, 0.62, 0.30) }) {
        stroke($0, from: head + Point(-0.022, -0.004), to: head + Point(0.006, -0.004), 0.0035)
    }
    canvas.fill({ _ in shade * 0.92 }, softness: 0.006) {
        stroke($0, from: head + Point(-0.014, 0.032), to: head + Point(-0.022, 0.056), 0.005)
    }
    // A smile: the lower part of a ring.
    canvas.fill({ _ in Paint(0.70, 0.25, 0.24) }) { point in
        let centre = head + Point(-0.008, 0.062)
        return max(abs(length(point - centre) - 0.056) - 0.0055, centre.y + 0.028 - point.y)
    }
}

/// How far `point` lies outside a leaf from `root` to `tip`, 2 × `width` at its widest.
private func leaf(_ point: Point, from root: Point, to tip: Point, _ width: Float) -> Float {
    let along = tip - root
    let reach = length(along)
    let unit = along / reach
    let (forward, aside) = (
        (unit * (point - root)).sum() / reach,
        abs(unit.x * (point - root).y - unit.y * (point - root).x)
    )
    guard forward > 0, forward < 1 else { return max(-forward, forward - 1) * reach + 0.01 }
    return aside - width * sin(.pi * forward.squareRoot())
}
