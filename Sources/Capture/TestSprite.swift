import Frames

/// The moving part of a test picture.
enum TestSprite {
    /// A hot-air balloon; the point is the centre of its envelope.
    case balloon(Point)
    /// A lamp that hangs from a point, along the unit vector `cord`.
    case lamp(Point, cord: Point)

    var bounds: Bounds {
        switch self {
        case .balloon(let centre):
            return Bounds(
                x: centre.x - 0.09...centre.x + 0.09,
                y: centre.y - 0.10...centre.y + 0.17
            )
        case .lamp(let pivot, let cord):
            let shade = pivot + cord * 0.30
            return Bounds(
                x: min(pivot.x, shade.x - 0.11)...max(pivot.x, shade.x + 0.11),
                y: pivot.y...shade.y + 0.09
            )
        }
    }

    /// Returns its colour at `point`, and its coverage of the background there, 0…1. Edges are
    /// `edge` wide.
    @inline(__always)
    func color(at point: Point, edge: Float) -> (paint: Paint, cover: Float) {
        @inline(__always) func cover(_ distance: Float) -> Float {
            min(max(0.5 - distance / edge, 0), 1)
        }
        switch self {
        case .balloon(let centre):
            let offset = point - centre
            let below = offset.y > 0
            // Round above and tapered below, like real balloons.
            let radii = Point(below ? 0.082 - offset.y * 0.38 : 0.082, below ? 0.110 : 0.088)
            let envelope = ellipse(offset, .zero, radii)
            if envelope < edge {
                // Stripes that follow the curve; an odd number of seams to the left means red.
                let height = offset.y / 0.115
                let reach = max(0.01, (1 - height * height).squareRoot() * 0.082)
                let across = offset.x / reach
                let seams: InlineArray<5, Float> = [-0.97, -0.65, -0.08, 0.52, 0.92]
                var isRed = false
                for index in 0..<5 where across > seams[index] {
                    isRed.toggle()
                }
                let light = min(max(0.80 + 3.1 * offset.x - 0.9 * offset.y, 0.5), 1.05)
                let paint = isRed ? Paint(0.90, 0.27, 0.22) : Paint(0.99, 0.90, 0.74)
                return (paint * light, cover(envelope))
            }
            guard offset.y > 0.09 else { return (.zero, 0) }
            let basket = roundedBox(offset, Point(0, 0.148), Point(0.014, 0.012), corner: 0.004)
            let ropes = min(
                stroke(offset, from: Point(-0.022, 0.098), to: Point(-0.011, 0.138), 0.0012),
                stroke(offset, from: Point(0.022, 0.098), to: Point(0.011, 0.138), 0.0012)
            )
            return (Paint(0.23, 0.14, 0.11), cover(min(basket, ropes)))
        case .lamp(let pivot, let cord):
            let offset = point - pivot
            // Rotated so that it hangs straight down.
            let hung = Point(
                offset.x * cord.y - offset.y * cord.x,
                offset.x * cord.x + offset.y * cord.y
            )
            let wire = max(abs(hung.x) - 0.0028, hung.y - 0.25)
            let down = (hung.y - 0.235) / 0.095
            let shade = max(abs(hung.x) - (0.022 + 0.070 * down), max(-down, down - 1) * 0.095)
            if hung.y < 0.2 || (shade > wire && wire < edge) {
                return (Paint(0.10, 0.12, 0.13), cover(wire))
            }
            let bulb = max(ellipse(hung, Point(0, 0.330), Point(0.036, 0.036)), 0.329 - hung.y)
            if bulb < shade { return (Paint(1, 0.95, 0.78), cover(bulb)) }
            let paint = mix(Paint(0.98, 0.72, 0.34), Paint(0.75, 0.30, 0.18), 0.5 - hung.x * 5)
            return (paint, cover(shade))
        }
    }

    /// Draws it over the planar 4:2:0 picture in `buffer`. Changes only the pixels of `bounds`.
    func draw(into buffer: FrameBuffer, _ layout: FrameLayout) {
        let area = bounds.pixels(in: layout.size)
        let edge = 1 / Float(layout.size.height)
        let luma = buffer.plane(0, of: layout)
        let (u, v) = (buffer.plane(1, of: layout), buffer.plane(2, of: layout))
        for y in area.y..<area.maxY {
            let row = luma.row(y)
            for x in area.x..<area.maxX {
                let point = Point(Float(x) + 0.5, Float(y) + 0.5) * edge
                let (paint, cover) = color(at: point, edge: edge)
                guard cover > 0 else { continue }
                row[x] = byte(Float(row[x]) + (videoColor(paint).x - Float(row[x])) * cover)
            }
        }
        for y in area.y / 2..<area.maxY / 2 {
            for x in area.x / 2..<area.maxX / 2 {
                let point = Point(Float(2 * x + 1), Float(2 * y + 1)) * edge
                // Chroma has half the resolution, so its edges are twice as wide.
                let (paint, cover) = color(at: point, edge: 2 * edge)
                guard cover > 0 else { continue }
                let color = videoColor(paint)
                u.row(y)[x] = byte(Float(u.row(y)[x]) + (color.y - Float(u.row(y)[x])) * cover)
                v.row(y)[x] = byte(Float(v.row(y)[x]) + (color.z - Float(v.row(y)[x])) * cover)
            }
        }
    }
}
