import Compositing
import DualCamCore
import Frames
import Glibc
import TestJPEGs
import Testing

/// A board of squares, and the camera that looks at it.
///
/// The board is 1.6 wide and 1 high; the camera has the focal length of a usual webcam.
struct SeenBoard {
    static let columns = 8
    static let rows = 5
    static let aspect = 1.6
    let size: Size
    let turn: (tilt: Double, pan: Double, roll: Double)
    let distance: Double

    private var focal: Double {
        let (width, height) = (Double(size.width), Double(size.height))
        return 0.65 * (width * width + height * height).squareRoot()
    }

    private var axes: (across: SIMD3<Double>, down: SIMD3<Double>, middle: SIMD3<Double>) {
        let (ct, st) = (cos(turn.tilt), sin(turn.tilt))
        let (cp, sp) = (cos(turn.pan), sin(turn.pan))
        let (cr, sr) = (cos(turn.roll), sin(turn.roll))
        func turned(_ p: SIMD3<Double>) -> SIMD3<Double> {
            let a = SIMD3(p.x * cr - p.y * sr, p.x * sr + p.y * cr, p.z)
            let b = SIMD3(a.x, a.y * ct - a.z * st, a.y * st + a.z * ct)
            return SIMD3(b.x * cp + b.z * sp, b.y, -b.x * sp + b.z * cp)
        }
        return (turned([1, 0, 0]), turned([0, 1, 0]), [0, 0, distance])
    }

    func place(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
        let (across, down, middle) = axes
        let point = middle + x * across + y * down
        return (
            Double(size.width) / 2 + focal * point.x / point.z,
            Double(size.height) / 2 + focal * point.y / point.z
        )
    }

    /// The board's corners as a perspective.
    var perspective: Perspective {
        func corner(_ x: Double, _ y: Double) -> NormalizedPoint {
            let place = place(x * Self.aspect / 2, y / 2)
            return NormalizedPoint(
                x: place.x / Double(size.width),
                y: place.y / Double(size.height)
            )
        }
        return Perspective(
            topLeft: corner(-1, -1),
            topRight: corner(1, -1),
            bottomRight: corner(1, 1),
            bottomLeft: corner(-1, 1)
        )
    }

    /// The luma of the board at a place, 0 … 1 across and down, and around it: the squares go on,
    /// so that its edges are none of their own.
    private static func squares(_ across: Double, _ down: Double) -> Double {
        let column = Int((across * Double(columns)).rounded(.down))
        return (column + Int((down * Double(rows)).rounded(.down))).isMultiple(of: 2) ? 40 : 210
    }

    /// The camera's picture of a thing with this luma: each pixel the mean of sixteen points.
    func frame(
        _ format: PixelFormat,
        of thing: (Double, Double) -> Double = Self.squares
    ) -> Frame {
        let (across, down, middle) = axes
        let normal = SIMD3(
            across.y * down.z - across.z * down.y,
            across.z * down.x - across.x * down.z,
            across.x * down.y - across.y * down.x
        )
        func light(_ x: Double, _ y: Double) -> Double {
            let ray = SIMD3(
                (x - Double(size.width) / 2) / focal,
                (y - Double(size.height) / 2) / focal,
                1
            )
            let point = ray * ((middle * normal).sum() / (ray * normal).sum()) - middle
            let (u, v) = ((point * across).sum(), (point * down).sum())
            return thing(u / Self.aspect + 0.5, v + 0.5)
        }
        return TestJPEGs.frame(size: size, format: format, color: .video) { plane, x, y in
            guard plane == 0 else { return 128 }
            var sum = 0.0
            for part in 0..<16 {
                sum += light(
                    Double(x) + (Double(part % 4) + 0.5) / 4,
                    Double(y) + (Double(part / 4) + 0.5) / 4
                )
            }
            return UInt8((sum / 16).rounded())
        }
    }

    static let poses = [
        SeenBoard(size: Size(width: 1280, height: 720), turn: (0, 0, 0), distance: 2.1),
        SeenBoard(size: Size(width: 1280, height: 720), turn: (0.7, 0, 0), distance: 2.6),
        SeenBoard(size: Size(width: 1280, height: 720), turn: (-0.5, 0.4, 0.1), distance: 2.7),
        SeenBoard(size: Size(width: 1280, height: 720), turn: (0.3, -0.6, -0.3), distance: 2.1),
        SeenBoard(size: Size(width: 1280, height: 720), turn: (0.2, 0.1, 1.1), distance: 4),
    ]
}

@Suite("A flat thing, straightened") struct PerspectivePictureTests {
    private static let canvas = Size(width: 1280, height: 800)

    private func picture(
        of board: SeenBoard,
        canvas: Size = Self.canvas,
        showing frame: Frame? = nil,
        _ change: (inout Layer) -> Void = { _ in }
    ) -> DrawnPicture {
        let scene = scene(of: board, on: canvas, change)
        return DrawnPicture(scene, canvas: canvas, back: frame ?? board.frame(.i420))
    }

    /// Returns the scene of a picture of `board` that fills the canvas.
    private func scene(
        of board: SeenBoard,
        on canvas: Size,
        _ change: (inout Layer) -> Void = { _ in }
    ) -> Scene {
        var layer = Layer(role: .back, rect: Rect(canvas))
        layer.source.perspective = board.perspective
        layer.fill = 1
        change(&layer)
        var scene = Scene()
        scene.append(layer)
        return scene
    }

    /// Returns the place between `from` and `to` at which the light crosses its middle.
    private func crossing(_ range: Range<Int>, _ light: (Int) -> UInt8) -> Double {
        var places: [Double] = []
        for at in range where (light(at) < 125) != (light(at + 1) < 125) {
            let (a, b) = (Double(light(at)), Double(light(at + 1)))
            places.append(Double(at) + 0.5 + (125 - a) / (b - a))
        }
        return places.count == 1 ? places[0] : .infinity
    }

    @Test(arguments: 0..<5)
    func linesAreStraightAndCornersAreInTheirPlaces(pose: Int) {
        let picture = picture(of: SeenBoard.poses[pose])
        let (columns, rows) = (SeenBoard.columns, SeenBoard.rows)
        let square = (width: 1280 / columns, height: 800 / rows)
        var worst = 0.0
        for column in 1..<columns {
            for y in stride(from: 8, to: 800, by: 16) where abs(y % square.height - 80) < 70 {
                let line = column * square.width
                let found = crossing(line - 40..<line + 40) { picture.pixel($0, y).y }
                worst = max(worst, abs(found - Double(line)))
            }
        }
        for row in 1..<rows {
            for x in stride(from: 8, to: 1280, by: 16) where abs(x % square.width - 80) < 70 {
                let line = row * square.height
                let found = crossing(line - 40..<line + 40) { picture.pixel(x, $0).y }
                worst = max(worst, abs(found - Double(line)))
            }
        }
        #expect(worst < 0.5)
    }

    @Test(arguments: 0..<5)
    func theShapeIsThatOfTheThing(pose: Int) {
        let board = SeenBoard.poses[pose]
        let shape = board.perspective.aspect(in: board.size.aspect)
        #expect(abs(shape / SeenBoard.aspect - 1) < 0.001)
    }

    @Test func thePartsAndTurnsOfItAreThoseOfThePicture() {
        let whole = picture(of: SeenBoard.poses[2])
        for transform in Transform.all {
            let size = transform.apply(to: Self.canvas)
            let turned = picture(of: SeenBoard.poses[2], canvas: size) { $0.transform = transform }
            var difference = 0
            for y in stride(from: 3, to: 800, by: 7) {
                for x in stride(from: 3, to: 1280, by: 7) {
                    let at = transform.apply(toX: x, y: y, in: Self.canvas)
                    let (a, b) = (whole.pixel(x, y).y, turned.pixel(at.x, at.y).y)
                    difference = max(difference, abs(Int(a) - Int(b)))
                }
            }
            #expect(difference <= 4, "\(transform)")
        }
        let quarter = picture(of: SeenBoard.poses[2], canvas: Size(width: 640, height: 400)) {
            $0.source.part = Rect(x: 0.5, y: 0.25, width: 0.5, height: 0.5)
        }
        var difference = 0
        for y in stride(from: 1, to: 400, by: 7) {
            for x in stride(from: 1, to: 640, by: 7) {
                let (a, b) = (whole.pixel(640 + x, 200 + y).y, quarter.pixel(x, y).y)
                difference = max(difference, abs(Int(a) - Int(b)))
            }
        }
        #expect(difference <= 4)
    }

    /// The last picture, blurred and darkened, is of the same thing in the same place.
    @Test(arguments: 0..<5) func aVeiledPictureIsStraightenedToo(pose: Int) {
        func quarters(_ across: Double, _ down: Double) -> Double {
            (across < 0.5) == (down < 0.4) ? 40 : 210
        }
        let board = SeenBoard.poses[pose]
        let seen = board.frame(.i420, of: quarters)
        let straight = frame(size: Self.canvas, format: .i420, color: .video) { plane, x, y in
            guard plane == 0 else { return 128 }
            return UInt8(quarters((Double(x) + 0.5) / 1280, (Double(y) + 0.5) / 800))
        }
        for (transform, part, veil) in [
            (Transform.identity, Rect.unit, 1.0), (.identity, .unit, 0.5),
            (Transform.all[1], Rect(x: 0.3, y: 0.2, width: 0.6, height: 0.6), 1),
        ] {
            let size = transform.apply(to: Self.canvas)
            func drawn(_ frame: Frame, in perspective: Perspective?) -> DrawnPicture {
                picture(of: board, canvas: size, showing: frame) {
                    $0.source.perspective = perspective
                    $0.source.part = part
                    $0.transform = transform
                    $0.veil = veil
                }
            }
            let veiled = drawn(seen, in: board.perspective)
            let expected = drawn(straight, in: nil)
            var worst = 0
            for y in stride(from: 3, to: size.height, by: 7) {
                // An edge seen from afar is soft; under half a veil it still shows.
                for x in stride(from: 3, to: size.width, by: 7)
                where veil == 1 || (abs(x - 640) > 8 && abs(y - 320) > 8) {
                    let (a, b) = (veiled.pixel(x, y).y, expected.pixel(x, y).y)
                    worst = max(worst, abs(Int(a) - Int(b)))
                }
            }
            #expect(worst <= 12, "\(transform), veiled by \(veil)")
        }
    }

    /// Squares of a tenth of a pixel, seen small, are grey: no pattern that is not there.
    @Test func whatIsTooFineIsGray() {
        let size = Size(width: 1280, height: 720)
        let back = frame(size: size, format: .i420, color: .video) { plane, x, y in
            plane > 0 ? 128 : (x + y) % 2 == 0 ? 40 : 210
        }
        let canvas = Size(width: 320, height: 180)
        let picture = picture(of: SeenBoard.poses[1], canvas: canvas, showing: back)
        var worst = 0
        for y in 0..<180 {
            for x in 0..<320 { worst = max(worst, abs(Int(picture.pixel(x, y).y) - 125)) }
        }
        #expect(worst <= 30)
    }

    @Test(arguments: [PixelFormat.i420, .i422, .i444, .i440, .i411, .gray, .yuyv, .uyvy, .nv12])
    func everyFormatIsStraightened(format: PixelFormat) {
        let back = flatFrame(size: Size(width: 64, height: 48), format: format, [255, 128, 128])
        let canvas = CompositorTests.canvas
        let picture = picture(of: SeenBoard.poses[3], canvas: canvas, showing: back)
        for y in 0..<48 { for x in 0..<64 { #expect(picture.pixel(x, y).y == 235) } }
    }

    @Test func anotherPerspectiveCountsForTheSamePictureToo() {
        let canvas = CompositorTests.canvas
        let compositor = Compositor(canvas: canvas)
        let back = noiseFrame(size: canvas, format: .i420)
        func drawn(_ pose: Int, by compositor: Compositor? = nil) -> [UInt8] {
            let scene = scene(of: SeenBoard.poses[pose], on: canvas)
            return DrawnPicture(scene, canvas: canvas, back: back, compositor: compositor).bytes
        }
        for pose in [1, 3, 1] { #expect(drawn(pose, by: compositor) == drawn(pose), "\(pose)") }
        #expect(drawn(1) != drawn(3))
    }
}
