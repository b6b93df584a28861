import Frames
import Glibc

func paintLandscape(_ canvas: inout Canvas) {
    let aspect = canvas.aspect
    let everywhere = 0...aspect
    let horizon: Float = 0.66
    let sun = Point(aspect * 0.63, 0.535)
    // Sky.
    canvas.fill({ point in
        let height = point.y / horizon
        return height < 0.55
            ? mix(Paint(0.10, 0.17, 0.38), Paint(0.42, 0.44, 0.68), height / 0.55)
            : mix(Paint(0.42, 0.44, 0.68), Paint(1.0, 0.76, 0.56), (height - 0.55) / 0.45)
    }) { _ in
        -1
    }
    canvas.glow(at: sun, radius: 0.95, Paint(0.80, 0.46, 0.24))
    canvas.glow(at: sun, radius: 0.30, Paint(0.9, 0.7, 0.4))
    canvas.fillEllipse(sun, Point(0.048, 0.048), softness: 0.006) { _ in Paint(1, 0.95, 0.80) }
    // Thin clouds, lit from below.
    for (y, x, length, height) in [
        (Float(0.16), Float(0.22), Float(0.30), Float(0.010)), (0.20, 0.35, 0.22, 0.007),
        (0.33, 0.82, 0.30, 0.009), (0.37, 0.70, 0.24, 0.006), (0.42, 0.14, 0.20, 0.006),
    ] {
        // The distance is relative to the height, so the soft ends reach far.
        let bounds = Bounds(Point(aspect * x, y), Point(length * 5, 0.03))
        canvas.fill({ _ in Paint(1, 0.82, 0.76) }, softness: 0.03, opacity: 0.5, within: bounds) {
            ellipse($0, Point(aspect * x, y), Point(length, height))
        }
    }
    // Ridges; the farther ones are paler.
    let ridges: [(top: Float, height: Float, seed: Float, far: Paint, near: Paint)] = [
        (0.46, 0.16, 1.3, Paint(0.55, 0.47, 0.64), Paint(0.86, 0.66, 0.62)),
        (0.53, 0.13, 4.1, Paint(0.36, 0.35, 0.54), Paint(0.66, 0.52, 0.60)),
        (0.59, 0.09, 7.9, Paint(0.20, 0.23, 0.40), Paint(0.40, 0.37, 0.50)),
    ]
    for ridge in ridges {
        let bounds = Bounds(x: everywhere, y: ridge.top - 0.01...horizon)
        canvas.fill(
            { mix(ridge.far, ridge.near, ($0.y - ridge.top + 0.05) / 0.2) },
            within: bounds
        ) { point in
            ridgeLine(point.x, ridge.seed) * ridge.height + ridge.top - point.y
        }
    }
    // The lake reflects the sky, broken by ripples and by the sun's glitter.
    canvas.fill(
        { point in
            let depth = (point.y - horizon) / (1 - horizon)
            let ripple =
                sin(point.y * 240 + 3 * sin(point.x * 9)) * sin(point.x * 31 + point.y * 70)
            let water = mix(Paint(0.78, 0.58, 0.54), Paint(0.10, 0.15, 0.30), depth * 1.25)
            let aside = (point.x - sun.x) / (0.035 + 0.13 * depth)
            let glint = max(0, sin(point.y * 330 + 2 * sin(point.x * 23)))
            let road = exp(-aside * aside) * (0.25 + 0.55 * glint) * (1 - 0.6 * depth)
            return water + ripple * 0.012 + Paint(0.9, 0.62, 0.36) * road
        },
        within: Bounds(x: everywhere, y: horizon...1)
    ) {
        horizon - $0.y
    }
    // Mist at the water's edge.
    let mist = Bounds(x: everywhere, y: horizon - 0.015...horizon + 0.015)
    canvas.fill({ _ in Paint(1, 0.86, 0.74) }, softness: 0.012, opacity: 0.55, within: mist) {
        abs($0.y - horizon) - 0.002
    }
    paintShore(&canvas)
}

/// Paints the near shore: dark, with firs at the left and a jetty at the right.
private func paintShore(_ canvas: inout Canvas) {
    let aspect = canvas.aspect
    let shore = Paint(0.05, 0.08, 0.12)
    canvas.fill({ _ in shore }, within: Bounds(x: 0...aspect, y: 0.75...1)) { point in
        let fall = point.x / 0.62
        return 1.04 - 0.24 * exp(-fall * fall) + 0.005 * sin(point.x * 43) - point.y
    }
    for (x, base, height) in [
        (Float(0.05), Float(0.84), Float(0.30)), (0.14, 0.85, 0.40), (0.23, 0.86, 0.26),
        (0.31, 0.88, 0.33), (0.40, 0.91, 0.18), (0.47, 0.94, 0.12),
    ] {
        let (middle, top) = (x * 1.1, base - height)
        let bounds = Bounds(x: middle - height / 4...middle + height / 4, y: top...base + 0.03)
        canvas.fill({ _ in shore }, within: bounds) { point in
            let down = (point.y - top) / height
            let tier = (down * 7).truncatingRemainder(dividingBy: 1)
            return abs(point.x - middle) - height * (0.004 + 0.17 * down * (0.5 + 0.5 * tier))
        }
    }
    let wood = Paint(0.09, 0.09, 0.13)
    canvas.draw(from: Point(aspect * 0.78, 0.875), to: Point(aspect * 1.02, 0.905), 0.007, wood)
    for (x, top) in [(Float(0.79), Float(0.86)), (0.85, 0.868), (0.92, 0.876), (0.985, 0.885)] {
        let head = Point(aspect * x, top)
        canvas.draw(from: head, to: head + Point(0, 0.08), 0.0045, wood)
    }
}

/// Returns the outline of a mountain ridge: about 0…1, with 0 at a peak, different for each seed.
private func ridgeLine(_ x: Float, _ seed: Float) -> Float {
    // Absolute values make peaks; sines alone would make waves.
    let broad = abs(sin(x * 2.1 + seed)) + 0.5 * abs(sin(x * 4.7 + seed * 2.3))
    let fine = 0.22 * abs(sin(x * 13 + seed * 5.1)) + 0.08 * abs(sin(x * 37 + seed * 3.7))
    return (broad + fine) / 1.8
}

func paintPortrait(_ canvas: inout Canvas) {
    let aspect = canvas.aspect
    canvas.fill({ point in
        let fall = point.y * 0.8 + point.x / aspect * 0.2
        return mix(Paint(0.20, 0.42, 0.44), Paint(0.10, 0.24, 0.29), fall)
    }) { _ in
        -1
    }
    canvas.glow(at: Point(aspect * 0.80, 0.34), radius: 1.15, Paint(0.70, 0.47, 0.24))
    paintShelf(&canvas, at: Point(aspect * 0.17, 0.42))
    paintPlant(&canvas, at: Point(aspect * 0.88, 0.92))
    paintPerson(&canvas, at: Point(aspect * 0.48, 0.46))
}

private func paintPlant(_ canvas: inout Canvas, at root: Point) {
    for (angle, length) in [
        (Float(-0.75), Float(0.26)), (-0.35, 0.33), (0.05, 0.36), (0.45, 0.30), (0.85, 0.22),
    ] {
        let tip = root + Point(sin(angle), -cos(angle)) * length
        canvas.fill(
            { mix(Paint(0.25, 0.50, 0.30), Paint(0.08, 0.27, 0.20), $0.y * 2 - 1) },
            softness: 0.012,
            within: Bounds(root, Point(0.45, 0.45))
        ) {
            leaf($0, from: root, to: tip, 0.055)
        }
    }
    canvas.fillBox(root + Point(0, 0.07), Point(0.10, 0.10), corner: 0.02, softness: 0.012) { _ in
        Paint(0.80, 0.55, 0.40)
    }
}

/// Paints a shelf with books and a bowl, out of focus.
private func paintShelf(_ canvas: inout Canvas, at centre: Point) {
    let blur: Float = 0.012
    for y in [Float(-0.02), 0.36] {
        let board = centre + Point(0, y)
        canvas.fillBox(board, Point(0.27, 0.013), corner: 0.004, softness: blur) { _ in
            Paint(0.42, 0.29, 0.21)
        }
    }
    let books: [(x: Float, width: Float, height: Float, paint: Paint)] = [
        (-0.235, 0.020, 0.19, Paint(0.82, 0.36, 0.27)),
        (-0.190, 0.017, 0.22, Paint(0.93, 0.78, 0.50)),
        (-0.148, 0.019, 0.17, Paint(0.25, 0.45, 0.60)),
        (-0.102, 0.021, 0.20, Paint(0.88, 0.86, 0.80)),
        (-0.058, 0.016, 0.23, Paint(0.33, 0.55, 0.47)),
    ]
    for (index, book) in books.enumerated() {
        for (x, y, paint) in [
            (book.x, Float(-0.033), book.paint),
            (book.x + 0.24, 0.347, books[(index + 2) % books.count].paint),
        ] {
            let middle = centre + Point(x, y - book.height / 2)
            let half = Point(book.width, book.height / 2)
            canvas.fillBox(middle, half, corner: 0.004, softness: blur) { _ in paint }
        }
    }
    let bowl = centre + Point(0.12, -0.12)
    canvas.fill(
        { _ in Paint(0.90, 0.66, 0.36) },
        softness: blur,
        within: Bounds(bowl, Point(0.11, 0.11))
    ) {
        max(ellipse($0, bowl, Point(0.085, 0.09)), bowl.y - $0.y)
    }
}

/// Paints a friendly person, head and shoulders, looking a little to the left.
private func paintPerson(_ canvas: inout Canvas, at head: Point) {
    let (skin, shade) = (Paint(0.93, 0.72, 0.58), Paint(0.82, 0.56, 0.44))
    let hair = Paint(0.22, 0.13, 0.11)
    // Hair behind the shoulders.
    canvas.fillEllipse(head + Point(0.005, -0.02), Point(0.205, 0.235)) { _ in hair * 0.85 }
    canvas.fillBox(head + Point(0.008, 0.14), Point(0.197, 0.17), corner: 0.11) { _ in hair * 0.85 }
    canvas.fillBox(head + Point(0, 0.66), Point(0.37, 0.34), corner: 0.20) {
        mix(Paint(0.93, 0.66, 0.24), Paint(0.70, 0.42, 0.13), ($0.y - 0.72) * 2.4)
    }
    // The neck, in the chin's shadow, and the open collar.
    for part in [Point(0.115, 0.05), Point(0.075, 0.13)] {
        let paint = { (point: Point) in mix(shade * 0.88, skin, (point.y - head.y - 0.19) * 6) }
        if part.x > part.y {
            canvas.fillEllipse(head + Point(0, 0.335), part, paint)
        } else {
            canvas.fillBox(head + Point(0, 0.24), part, corner: 0.05, paint)
        }
    }
    // The face, lit from the right.
    canvas.fillEllipse(head, Point(0.155, 0.20)) {
        mix(shade, skin, ($0.x - head.x) * 3 + 0.62)
    }
    for cheek in [Point(-0.095, 0.065), Point(0.085, 0.065)] {
        canvas.fillEllipse(head + cheek, Point(0.03, 0.025), softness: 0.06, opacity: 0.35) { _ in
            Paint(0.93, 0.50, 0.42)
        }
    }
    // The fringe, parted at one side.
    canvas.fill(
        { mix(hair, Paint(0.40, 0.24, 0.17), ($0.x - head.x) * 3) },
        within: Bounds(head, Point(0.25, 0.25))
    ) { point in
        let cap = ellipse(point, head + Point(0.003, -0.03), Point(0.180, 0.205))
        let left = ellipse(point, head + Point(-0.10, 0.13), Point(0.225, 0.27))
        let right = ellipse(point, head + Point(0.115, 0.09), Point(0.120, 0.22))
        return max(cap, -min(left, right))
    }
    paintFeatures(&canvas, at: head, skinShade: shade, hair)
}

/// Paints eyes, brows, glasses, nose and a smile.
private func paintFeatures(
    _ canvas: inout Canvas,
    at head: Point,
    skinShade shade: Paint,
    _ hair: Paint
) {
    let wire = Paint(0.83, 0.62, 0.30)
    for side in [Float(-1), 1] {
        let eye = head + Point(side * 0.064 - 0.008, 0)
        canvas.fillEllipse(eye, Point(0.015, 0.020)) { _ in Paint(0.20, 0.12, 0.11) }
        canvas.fillEllipse(eye + Point(0.005, -0.007), Point(0.0045, 0.0045)) { _ in
            Paint(1, 1, 1)
        }
        let brow = (eye + Point(side * -0.024, -0.064), eye + Point(side * 0.028, -0.061))
        canvas.draw(from: brow.0, to: brow.1, 0.0055, hair)
        canvas.fill({ _ in wire }, within: Bounds(eye, Point(0.06, 0.06))) {
            abs(length($0 - eye) - 0.050) - 0.0035
        }
    }
    canvas.draw(from: head + Point(-0.022, -0.004), to: head + Point(0.006, -0.004), 0.0035, wire)
    let nose = (head + Point(-0.014, 0.032), head + Point(-0.022, 0.056))
    canvas.draw(from: nose.0, to: nose.1, 0.005, softness: 0.006, shade * 0.92)
    // The smile is the lower part of a ring.
    let mouth = head + Point(-0.008, 0.062)
    canvas.fill({ _ in Paint(0.70, 0.25, 0.24) }, within: Bounds(mouth, Point(0.08, 0.08))) {
        max(abs(length($0 - mouth) - 0.056) - 0.0055, mouth.y + 0.028 - $0.y)
    }
}

/// Returns how far `point` lies outside a leaf from `root` to `tip`, 2 × `width` at its widest.
private func leaf(_ point: Point, from root: Point, to tip: Point, _ width: Float) -> Float {
    let along = tip - root
    let reach = length(along)
    let unit = along / reach
    let offset = point - root
    let forward = (unit * offset).sum() / reach
    guard forward > 0, forward < 1 else { return max(-forward, forward - 1) * reach + 0.01 }
    return abs(unit.x * offset.y - unit.y * offset.x) - width * sin(.pi * forward.squareRoot())
}
