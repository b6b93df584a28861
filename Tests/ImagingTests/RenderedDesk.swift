import Frames
import Glibc
import TestSupport

/// A desk with a page on it, and clutter around and over the page, as a usual webcam sees it.
///
/// Everything about it follows from its number: how the camera looks, the light, the grain of the
/// desk, what is written, what lies beside the page, and a pen and sometimes a hand over its edge.
struct RenderedDesk {
    static let size = Size(width: 640, height: 360)

    private struct Thing {
        let (x, y, light): (Double, Double, Double)
        let (halfWidth, halfHeight): (Double, Double)
        let (isOverThePage, isRound): (Bool, Bool)

        private let (right, down): (Double, Double)

        init(
            at place: (x: Double, y: Double),
            turn: Double,
            half: (width: Double, height: Double),
            light: Double,
            isOverThePage: Bool = false,
            isRound: Bool = false
        ) {
            (x, y, self.light) = (place.x, place.y, light)
            (halfWidth, halfHeight) = half
            (self.isOverThePage, self.isRound) = (isOverThePage, isRound)
            (right, down) = (cos(turn), sin(turn))
        }

        func covers(_ u: Double, _ v: Double) -> Bool {
            let (dx, dy) = (u - x, v - y)
            let p = (dx * right + dy * down) / halfWidth
            let q = (dy * right - dx * down) / halfHeight
            return isRound ? p * p + q * q < 1 : abs(p) < 1 && abs(q) < 1
        }
    }

    /// The corners of the page in pixels, clockwise.
    let corners: [(x: Double, y: Double)]
    private let page: (width: Double, height: Double)
    private let axes: (across: SIMD3<Double>, down: SIMD3<Double>, middle: SIMD3<Double>)
    private let things: [Thing]
    private let desk: (light: Double, grain: Double, pitch: Double, turn: Double)
    private let paper: Double
    private let fall: (share: Double, turn: Double)
    private let writing: (lines: Double, hasFigure: Bool)
    private let hasPage: Bool
    private let random: Chance

    private static let focal =
        0.65 * Double(size.width * size.width + size.height * size.height).squareRoot()

    init(_ number: Int, hasPage: Bool = true) {
        var random = Chance(seed: UInt64(number) &* 7919)
        func any(_ least: Double, _ most: Double) -> Double {
            least + (most - least) * Double(random.next() >> 11) / Double(1 << 53)
        }
        self.hasPage = hasPage
        let (tilt, pan, roll) = (any(0, 0.8), any(-0.35, 0.35), any(-0.5, 0.5))
        let isUpright = any(0, 1) < 0.6
        let page = isUpright ? (width: 0.707, height: 1.0) : (width: 1.0, height: 0.707)
        self.page = page
        func turned(_ p: SIMD3<Double>) -> SIMD3<Double> {
            let a = SIMD3(p.x * cos(roll) - p.y * sin(roll), p.x * sin(roll) + p.y * cos(roll), p.z)
            let b = SIMD3(a.x, a.y * cos(tilt) - a.z * sin(tilt), a.y * sin(tilt) + a.z * cos(tilt))
            return SIMD3(b.x * cos(pan) + b.z * sin(pan), b.y, b.z * cos(pan) - b.x * sin(pan))
        }
        let axes = (
            across: turned([1, 0, 0]), down: turned([0, 1, 0]),
            middle: SIMD3(any(-0.15, 0.15), any(-0.1, 0.1), any(1.75, 2.7))
        )
        self.axes = axes
        func place(_ u: Double, _ v: Double) -> (x: Double, y: Double) {
            let point = axes.middle + u * axes.across + v * axes.down
            return (
                Double(Self.size.width) / 2 + Self.focal * point.x / point.z,
                Double(Self.size.height) / 2 + Self.focal * point.y / point.z
            )
        }
        let (right, bottom) = (page.width / 2, page.height / 2)
        corners = [
            place(-right, -bottom), place(right, -bottom), place(right, bottom),
            place(-right, bottom),
        ]
        desk = (any(50, 130), any(2, 10), any(30, 90), any(0, 3.1))
        paper = any(165, 225)
        fall = (any(0.5, 1), any(0, 6.28))
        var things: [Thing] = []
        for _ in 0..<6 {
            let (angle, distance) = (any(0, 6.28), any(0.75, 1.3))
            things.append(
                .init(
                    at: (distance * cos(angle), 0.8 * distance * sin(angle)),
                    turn: any(0, 3.1),
                    half: (any(0.08, 0.3), any(0.05, 0.22)),
                    light: any(15, 210),
                    isRound: any(0, 1) < 0.35
                )
            )
        }
        let pen = any(0, 6.28)
        things.append(
            .init(
                at: (right * cos(pen), bottom * sin(pen)),
                turn: any(0, 3.1),
                half: (any(0.1, 0.25), 0.012),
                light: any(15, 60),
                isOverThePage: true
            )
        )
        if any(0, 1) < 0.5 {
            let isBeside = any(0, 1) < 0.5
            things.append(
                .init(
                    at: isBeside
                        ? (right, any(-bottom / 2, bottom / 2))
                        : (any(-right / 2, right / 2), bottom),
                    turn: any(0, 3.1),
                    half: (any(0.08, 0.16), any(0.06, 0.1)),
                    light: any(90, 140),
                    isOverThePage: true,
                    isRound: true
                )
            )
        }
        self.things = things
        writing = (any(14, 28).rounded(), any(0, 1) < 0.4)
        self.random = random
    }

    /// `true` if the whole page is in the picture.
    var isWhole: Bool {
        corners.allSatisfy {
            $0.x > 4 && $0.y > 4 && $0.x < Double(Self.size.width) - 4
                && $0.y < Double(Self.size.height) - 4
        }
    }

    private func light(_ u: Double, _ v: Double) -> Double {
        let isPage = hasPage && abs(u) <= page.width / 2 && abs(v) <= page.height / 2
        for thing in things where thing.isOverThePage || !isPage {
            if thing.covers(u, v) { return thing.light }
        }
        guard isPage else {
            let along = desk.pitch * (u * cos(desk.turn) + v * sin(desk.turn))
            return desk.light + desk.grain * (sin(along + 2 * sin(5 * v)) + 0.5 * sin(2.3 * along))
        }
        let (s, t) = (u / page.width + 0.5, v / page.height + 0.5)
        if writing.hasFigure, (0.2...0.8).contains(s), (0.55...0.85).contains(t) {
            let isFrame = s < 0.215 || s > 0.785 || t < 0.56 || t > 0.84
            return isFrame ? 40 : 0.8 * paper
        }
        let line = t * writing.lines
        let number = line.rounded(.down)
        let isStroke =
            (0.1...0.9).contains(s) && (0.08...0.92).contains(t) && line - number > 0.6
            && sin(220 * s + 9 * number) > -0.2 && sin(37 * s + 5 * number) > -0.7
        return isStroke ? 45 : paper
    }

    func frame() -> Frame {
        let (width, height) = (Double(Self.size.width), Double(Self.size.height))
        let (a, b, middle) = (axes.across, axes.down, axes.middle)
        let normal = SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
        // Where a ray meets the desk: numbers once, since tests are not optimized.
        let depth = (middle * normal).sum()
        let (nx, ny, nz) = (normal.x, normal.y, normal.z)
        let (ax, ay, az, am) = (a.x, a.y, a.z, (middle * a).sum())
        let (bx, by, bz, bm) = (b.x, b.y, b.z, (middle * b).sum())
        let (right, down) = (cos(fall.turn), sin(fall.turn))
        let layout = FrameLayout(size: Self.size, format: .gray)
        let buffer = FrameBuffer(byteCount: layout.byteCount)
        let plane = buffer.plane(0, of: layout)
        var random = random
        for y in 0..<Self.size.height {
            let row = plane.row(y)
            let ry = (Double(y) + 0.5 - height / 2) / Self.focal
            for x in 0..<Self.size.width {
                let rx = (Double(x) + 0.5 - width / 2) / Self.focal
                let distance = depth / (rx * nx + ry * ny + nz)
                let u = (rx * ax + ry * ay + az) * distance - am
                let v = (rx * bx + ry * by + bz) * distance - bm
                let here = distance > 0 ? light(u, v) : 90
                let across = (Double(x) / width - 0.5) * right
                let there = (Double(y) / height - 0.5) * down + across
                let falling = 1 - (1 - fall.share) * (0.5 + 0.7 * there)
                let noise = Double(Int(random.next() % 13) - 6)
                row[x] = UInt8(max(16, min(235, 16 + here * falling + noise)))
            }
        }
        return Frame(buffer: buffer, layout: layout, color: .video, timestamp: .zero, sequence: 0)
    }
}
