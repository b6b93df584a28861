import Compositing
import DualCamCore
import Frames
import TestJPEGs
import Testing

@Suite("The compositor") struct CompositorTests {
    static let canvas = Size(width: 64, height: 48)
    static let gray = Pixel(y: 32, u: 128, v: 128)

    private func scene(_ change: (inout Layer) -> Void = { _ in }) -> Scene {
        var layer = Layer(role: .back, rect: Rect(Self.canvas))
        change(&layer)
        var scene = Scene()
        scene.append(layer)
        return scene
    }

    /// Returns `back`, drawn on the canvas as a layer after `change`.
    private func drawn(_ back: Frame?, _ change: (inout Layer) -> Void = { _ in }) -> DrawnPicture {
        DrawnPicture(scene(change), canvas: Self.canvas, back: back)
    }

    private func isFlat(_ picture: DrawnPicture, _ pixel: Pixel) -> Bool {
        (0..<picture.size.height).allSatisfy { y in
            (0..<picture.size.width).allSatisfy { picture.pixel($0, y) == pixel }
        }
    }

    @Test(arguments: [PixelFormat.i420, .i422, .i444, .i440, .i411, .gray, .yuyv, .uyvy, .nv12])
    func aFlatPictureFillsTheCanvasInTheStreamsRange(format: PixelFormat) {
        for size in [Self.canvas, Size(width: 32, height: 24), Size(width: 128, height: 96)] {
            let back = flatFrame(size: size, format: format, [255, 128, 128])
            // Packed formats have one value for all their bytes here: chroma is 240, too.
            let chroma: UInt8 = format == .yuyv || format == .uyvy ? 240 : 128
            let picture = drawn(back)
            #expect(isFlat(picture, Pixel(y: 235, u: chroma, v: chroma)), "\(size)")
        }
    }

    @Test func aPackedPictureOfTheStreamsOwnKindIsCopied() {
        let back = noiseFrame(size: Self.canvas, format: .yuyv, color: .video)
        let picture = drawn(back)
        for y in 0..<48 {
            let row = Array(UnsafeBufferPointer(start: back.plane(0).row(y), count: 128))
            #expect(Array(picture.bytes[y * 128..<(y + 1) * 128]) == row)
        }
    }

    @Test func whatIsNotThereYetIsCalmGray() {
        #expect(isFlat(drawn(nil), Self.gray))
        #expect(isFlat(DrawnPicture(Scene(), canvas: Self.canvas), Self.gray))
        var backdrop = Scene()
        backdrop.backdrop = .front
        backdrop.backdropMix = 0.5
        #expect(isFlat(DrawnPicture(backdrop, canvas: Self.canvas), Self.gray))
    }

    @Test(arguments: Transform.all)
    func aPictureIsTurnedAsItsLayerSays(transform: Transform) {
        // One bright quarter, large enough that scaling does not affect its middle.
        let size = Size(width: 64, height: 48)
        let back = frame(size: size, format: .i420) { plane, x, y in
            plane > 0 ? 128 : x < 32 && y < 24 ? 255 : 0
        }
        let picture = drawn(back) {
            $0.transform = transform
            $0.fill = 1
        }
        let place = transform.apply(toX: 16, y: 12, in: size)
        let turned = transform.apply(to: size)
        let (right, below) = (place.x > turned.width / 2, place.y > turned.height / 2)
        for (x, y) in [(16, 12), (47, 12), (16, 35), (47, 35)] {
            let isBright = (x > 32) == right && (y > 24) == below
            #expect(picture.pixel(x, y).y == (isBright ? 235 : 16), "at \(x), \(y)")
        }
    }

    @Test(arguments: [0.0, 1], Transform.all)
    func aSmallerCopyOfAPictureLiesWhereThePictureDoes(fill: Double, transform: Transform) throws {
        // A size that the scale does not divide, with a bright rectangle off its centre.
        let size = Size(width: 202, height: 118)
        func light(_ x: Double, _ y: Double) -> UInt8 {
            (60..<140).contains(x) && (20..<70).contains(y) ? 230 : 20
        }
        let whole = frame(size: size, format: .i422) { plane, x, y in
            plane > 0 ? 128 : light(Double(x), Double(y))
        }
        let small = frame(size: Size(width: 51, height: 30), format: .i422) { plane, x, y in
            // The mean of the pixels that it stands for.
            guard plane == 0 else { return 128 }
            let means = (0..<16).map { Int(light(Double(4 * x + $0 % 4), Double(4 * y + $0 / 4))) }
            return UInt8(means.reduce(0, +) / 16)
        }
        let copy = Frame(
            buffer: small.buffer,
            layout: small.layout,
            color: small.color,
            timestamp: .zero,
            sequence: 0,
            pictureSize: size,
            reduction: 4
        )
        let pictures = [whole, copy].map { frame in
            drawn(frame) {
                $0.rect = Rect(x: 8, y: 6, width: 44, height: 30)
                $0.transform = transform
                $0.fill = fill
            }
        }
        // The centre of the light, and its amount.
        let measures = pictures.map { picture in
            var (sum, across, down) = (0.0, 0.0, 0.0)
            for y in 0..<48 {
                for x in 0..<64 where picture.pixel(x, y).y > 150 {
                    let light = Double(picture.pixel(x, y).y)
                    (sum, across, down) =
                        (sum + light, across + light * Double(x), down + light * Double(y))
                }
            }
            return (sum, across / sum, down / sum)
        }
        // On its side it is cropped by whole blocks of four of the copy's pixels.
        let slack = fill == 1 && transform.swapsAxes ? 3.0 : 1
        #expect(abs(measures[0].0 / measures[1].0 - 1) < 0.1 * slack)
        #expect(abs(measures[0].1 - measures[1].1) < 0.6 * slack)
        #expect(abs(measures[0].2 - measures[1].2) < 0.6 * slack)
    }

    @Test func aPictureOfAnotherShapeIsFittedAsItsLayerSays() {
        let back = flatFrame(size: Size(width: 24, height: 48), format: .i420, [255, 128, 128])
        let black = drawn(back) { $0.blur = 0 }
        #expect(black.pixel(10, 20).y == 16 && black.pixel(53, 20).y == 16)
        #expect(black.pixel(22, 20).y == 235 && black.pixel(41, 20).y == 235)
        let blur = drawn(back)
        // 60 % of the light.
        #expect(abs(Int(blur.pixel(10, 20).y) - (16 + 131)) <= 1)
        #expect(blur.pixel(31, 20).y == 235)
        let crop = drawn(back) { $0.fill = 1 }
        #expect(isFlat(crop, Pixel(y: 235, u: 128, v: 128)))
    }

    @Test(arguments: Transform.all, [0.0, 0.25, 0.5, 0.75, 1])
    func aPictureGrowsFromFittedToFillingWithoutAGapOrAJump(transform: Transform, fill: Double) {
        // A picture much wider than the canvas, upright.
        let wide = Size(width: 128, height: 48)
        let size = transform.inverse.apply(to: wide)
        let back = flatFrame(size: size, format: .i420, [255, 128, 128])
        let picture = drawn(back) {
            $0.transform = transform
            $0.blur = 0
            $0.fill = fill
        }
        // 24 rows of 48 when fitted, all when filling; and always from edge to edge.
        let rows = 24 + 24 * fill
        for y in 0..<48 {
            let isInside = abs(Double(y) + 0.5 - 24) < rows / 2
            for x in [0, 1, 31, 62, 63] {
                #expect(picture.pixel(x, y).y == (isInside ? 235 : 16), "(\(x), \(y))")
            }
        }
    }

    @Test(arguments: Transform.all)
    func aCropIsAboutItsPlaceAsFarAsThereIsRoom(transform: Transform) {
        // Upright, the picture is twice as wide as the canvas, and brighter to the right.
        let wide = Size(width: 128, height: 48)
        let size = transform.inverse.apply(to: wide)
        let back = frame(size: size, format: .i420, color: .video) { plane, x, y in
            guard plane == 0 else { return 128 }
            return UInt8(50 + transform.apply(toX: x, y: y, in: size).x)
        }
        func luma(about place: Double) -> (left: UInt8, right: UInt8) {
            let picture = drawn(back) {
                $0.transform = transform
                $0.fill = 1
                $0.source.place = NormalizedPoint(x: place, y: 0.5)
            }
            return (picture.pixel(2, 24).y, picture.pixel(61, 24).y)
        }
        for (place, start) in [(0.0, 0), (0.25, 0), (0.375, 16), (0.5, 32), (0.75, 64), (1, 64)] {
            let found = luma(about: place)
            #expect(abs(Int(found.left) - (52 + start)) <= 2, "\(place)")
            #expect(abs(Int(found.right) - (111 + start)) <= 2, "\(place)")
        }
    }

    /// The mask goes through the same crop, turn and zoom as the picture.
    @Test(arguments: Transform.all, [0.0, 1])
    func `a person is cut out where the picture shows one`(transform: Transform, fill: Double) {
        let size = Size(width: 96, height: 64)
        // White where the person is, in one corner; the rest is mid grey.
        func isPerson(_ x: Int, _ y: Int) -> Bool { x < 40 && y < 24 }
        var back = frame(size: size, format: .i420, color: .video) { plane, x, y in
            plane > 0 ? 128 : isPerson(x, y) ? 235 : 90
        }
        func drawn(_ cutout: Double, _ back: Frame) -> DrawnPicture {
            let part = Rect(x: 0.1, y: 0, width: 0.9, height: 0.9)
            return self.drawn(back) {
                ($0.transform, $0.fill, $0.cutout, $0.blur) = (transform, fill, cutout, 0)
                $0.source.part = transform.apply(to: part)
            }
        }
        // Without a mask, nothing of it is there.
        #expect(isFlat(drawn(1, back), Self.gray))
        back.mask = frame(size: size, format: .gray) { isPerson($1, $2) ? 255 : 0 }.buffer
        let (whole, half, none) = (drawn(0, back), drawn(0.5, back), drawn(1, back))
        var (persons, rooms) = (0, 0)
        for y in 0..<48 {
            for x in 0..<64 {
                let luma = [whole, half, none].map { Int($0.pixel(x, y).y) }
                if luma[0] == 235 {
                    persons += 1
                    #expect(luma[1] >= 234 && luma[2] >= 234 || isEdge(x, y, whole))
                } else if luma[0] == 90, !isEdge(x, y, whole) {
                    rooms += 1
                    #expect(abs(luma[1] - 61) <= 1 && luma[2] == 32)
                }
            }
        }
        #expect(persons > 100 && rooms > 500)
    }

    @Test func `a person's shadow is soft and lies around the person, whatever the room is`() {
        // In the middle, down to the lower edge.
        func isPerson(_ x: Int, _ y: Int) -> Bool { (24..<40).contains(x) && y >= 20 }
        let mask = frame(size: Self.canvas, format: .gray) { isPerson($1, $2) ? 255 : 0 }.buffer
        let white = flatFrame(size: Self.canvas, format: .i420, color: .video, [235, 128, 128])
        func drawn(_ shadow: Double, cutout: Double = 1, room: UInt8 = 60) -> DrawnPicture {
            var front = frame(size: Self.canvas, format: .i420, color: .video) { plane, x, y in
                let scale = plane > 0 ? 2 : 1
                return isPerson(x * scale, y * scale) ? 128 : room
            }
            front.mask = mask
            var scene = scene()
            var person = Layer(role: .front, rect: Rect(Self.canvas))
            (person.cutout, person.shadowOpacity) = (cutout, shadow)
            scene.append(person)
            return DrawnPicture(scene, canvas: Self.canvas, back: white, front: front)
        }
        let (plain, shaded) = (drawn(0), drawn(0.4))
        #expect(shaded.bytes == drawn(0.4, room: 200).bytes)
        let row = (0..<64).map { shaded.pixel($0, 30).y }
        #expect(row[24..<40].allSatisfy { $0 == 128 })
        #expect(Array(row[..<24]) == row[..<24].sorted(by: >) && (190...200).contains(row[23]))
        #expect(Array(row[40...]) == row[40...].sorted() && (190...200).contains(row[40]))
        #expect(row[8] == 235 && row[56] == 235)
        #expect(shaded.pixel(32, 4) == plain.pixel(32, 4))
        #expect(shaded.pixel(32, 16).y < 230)
        // The person does not end at the edge of the picture.
        #expect((0..<64).map { shaded.pixel($0, 47).y } == row)
        // It comes with the person.
        let (half, none) = (drawn(0.4, cutout: 0.5), drawn(0, cutout: 0.5))
        #expect(half.pixel(21, 30).y < none.pixel(21, 30).y)
    }

    /// Returns `true` beside another luma.
    private func isEdge(_ x: Int, _ y: Int, _ picture: DrawnPicture) -> Bool {
        (max(0, y - 2)...min(47, y + 2)).contains { below in
            (max(0, x - 2)...min(63, x + 2)).contains {
                picture.pixel($0, below) != picture.pixel(x, y)
            }
        }
    }

    @Test(arguments: [PixelFormat.yuyv, .i422])
    func aPictureThatIsCopiedIsGradedAsOneThatIsNot(format: PixelFormat) {
        let back = flatFrame(size: Self.canvas, format: format, color: .video, [100, 128, 128])
        func luma(_ grade: Grade, borderWidth: Double) -> UInt8 {
            let picture = drawn(back) {
                $0.source.grade = grade
                $0.borderWidth = borderWidth
            }
            return picture.pixel(30, 20).y
        }
        var brighter = Grade.none
        brighter.light = 1.5
        #expect(luma(.none, borderWidth: 0) == 100)
        #expect(luma(brighter, borderWidth: 0) > 110)
        #expect(luma(brighter, borderWidth: 0) == luma(brighter, borderWidth: 2))
    }

    @Test(arguments: [Layout.sideBySide, .stacked])
    func whatIsBehindPicturesIsGradedAsTheyAreAllThroughASwap(layout: Layout) {
        let canvas = Size(width: 128, height: 72)
        var style = SceneStyle()
        style.layout = layout
        style.background = .blur
        var state = SceneState.both(canvas, style)
        let flat = flatFrame(size: canvas, format: .i422, color: .video, [100, 128, 128])
        func behind(_ state: SceneState, seconds: Double) -> Pixel {
            let scene = state.scene(at: Timestamp(seconds: seconds))
            return DrawnPicture(scene, canvas: canvas, back: flat, front: flat).pixel(0, 0)
        }
        let plain = behind(state, seconds: 0)
        for role in Role.allCases {
            state.grades[role].a.light = 1.5
            state.grades[role].a.red = 1.3
        }
        let graded = behind(state, seconds: 0)
        #expect(abs(Double(graded.y) - 16 - 1.5 * Double(plain.y - 16)) < 2)
        #expect(graded.v > plain.v + 4)
        state.setSwapped(true, at: .zero)
        for step in 0...10 {
            let pixel = behind(state, seconds: 0.03 * Double(step))
            #expect(abs(Int(pixel.y) - Int(graded.y)) <= 1, "step \(step): \(pixel)")
            #expect(abs(Int(pixel.v) - Int(graded.v)) <= 1, "step \(step): \(pixel)")
        }
        // Between a graded picture and an ungraded one, the grade changes gradually.
        state.grades.front.a = .none
        var last = Int(graded.y)
        for step in 0...10 {
            let luma = Int(behind(state, seconds: 0.03 * Double(step)).y)
            #expect(luma <= last && last - luma < 12, "step \(step): \(luma) after \(last)")
            last = luma
        }
        #expect(abs(last - Int(plain.y)) <= 1)
    }

    @Test(arguments: Transform.all, [false, true])
    func aPartIsShownAsIfItWereTheWholePicture(transform: Transform, isCropped: Bool) {
        // Four quarters; the part is within one of them.
        let size = Size(width: 128, height: 96)
        let back = frame(size: size, format: .i420) { plane, x, y in
            plane > 0 ? 128 : UInt8(40 + (x < 64 ? 0 : 60) + (y < 48 ? 0 : 120))
        }
        for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let part = Rect(
                x: 0.1 + 0.5 * Double(column),
                y: 0.1 + 0.5 * Double(row),
                width: 0.3,
                height: 0.3
            )
            let picture = drawn(back) {
                $0.transform = transform
                $0.source.part = transform.apply(to: part)
                $0.blur = 0
                $0.fill = isCropped ? 1 : 0
            }
            let value = 40 + 60.0 * Double(column) + 120 * Double(row)
            let luma = Int((16 + value * 219 / 255).rounded())
            let middle = picture.pixel(32, 24)
            #expect(abs(Int(middle.y) - luma) <= 1, "quarter \(column), \(row): \(middle)")
            let isWhole = isCropped || !transform.swapsAxes
            for (x, y) in [(1, 1), (62, 1), (1, 46), (62, 46)] where isWhole {
                #expect(abs(Int(picture.pixel(x, y).y) - luma) <= 1)
            }
        }
    }

    @Test(arguments: [false, true], [1.0, 0.5])
    func thePictureOfAnotherLensTakesThePlaceOfTheOneThatIsShown(turned: Bool, opacity: Double) {
        let first = flatFrame(size: Self.canvas, format: .i422, color: .video, [60, 128, 128])
        let second = flatFrame(size: Self.canvas, format: .yuyv, color: .video, [200])
        var last = UInt8(0)
        for step in 0...10 {
            let scene = scene {
                if turned { $0.transform = .rotate180 }
                $0.opacity = opacity
                var next = LayerSource()
                next.pipeline = .b
                next.grade.light = 0.8
                $0.next = next
                $0.nextShare = Double(step) / 10
            }
            var over = Scene()
            over.append(Layer(role: .front, rect: Rect(Self.canvas)))
            over.append(scene[0])
            let ground = flatFrame(size: Self.canvas, format: .i422, color: .video, [16, 128, 128])
            let picture = DrawnPicture(
                over,
                canvas: Self.canvas,
                back: first,
                front: ground,
                second: PerRole(back: second, front: nil)
            )
            let luma = picture.pixel(30, 20).y
            // The graded luma of the second is 16 + 0.8 (200 - 16).
            let wanted = 16 + opacity * (44 + (163 - 60) * Double(step) / 10)
            #expect(abs(Double(luma) - wanted) < 2.5, "step \(step)")
            #expect(luma >= last)
            last = luma
        }
    }

    @Test func aVeilDarkensStepByStep() {
        let back = flatFrame(size: Self.canvas, format: .i422, [255, 128, 128])
        var last: UInt8 = 235
        for step in 0...10 {
            let picture = drawn(back) { $0.veil = Double(step) / 10 }
            let luma = picture.pixel(30, 20).y
            #expect(luma <= last)
            last = luma
        }
        #expect(abs(Int(last) - Int(16 + 219 * 0.72)) <= 1)
    }

    /// Returns scenes as they occur, at rest and in the middle of changes.
    static func scenes(canvas: Size, transform: Transform) -> [Scene] {
        Layout.allCases.flatMap { layout in
            var style = SceneStyle()
            style.layout = layout
            style.swapIcon = false
            style.insetBorder = 30
            style.insetRadius = 120
            var state = SceneState.both(canvas, style)
            state.transforms.front = transform
            state.setSwapped(true, at: .zero)
            state.setNotice(.interrupted(.stalled), of: .back, at: Timestamp(seconds: 0.1))
            return [0, 0.05, 0.1, 0.17, 0.2, 0.28, 0.5]
                .map { state.scene(at: Timestamp(seconds: $0)) }
        }
    }

    @Test(arguments: Transform.all)
    func everyPixelIsDrawnAndNothingIsLeftOver(transform: Transform) {
        let sizes = [
            Self.canvas, Size(width: 1, height: 1), Size(width: 33, height: 71),
            Size(width: 300, height: 20), Size(width: 130, height: 94),
        ]
        let formats = [PixelFormat.yuyv, .i420, .gray, .nv12, .i444, .uyvy, .i411, .i440]
        let kept = Compositor(canvas: Self.canvas)
        var front: Frame?
        for (index, scene) in Self.scenes(canvas: Self.canvas, transform: transform).enumerated() {
            let back = noiseFrame(
                size: sizes[index % sizes.count],
                format: formats[index % formats.count],
                sequence: UInt64(index)
            )
            // The same frame twice, since a camera may be slower than the stream.
            if index % 2 == 0 {
                front = noiseFrame(
                    size: sizes[(index / 2 + 2) % sizes.count],
                    format: formats[(index / 2 + 3) % formats.count],
                    sequence: UInt64(index)
                )
            }
            // A compositor that drew other scenes before, and a new one, over other bytes.
            let used = DrawnPicture(
                scene,
                canvas: Self.canvas,
                back: back,
                front: front,
                compositor: kept
            )
            let new = DrawnPicture(scene, canvas: Self.canvas, back: back, front: front, over: 0)
            // A quarter of a picture may be half of its half, which is rounded twice.
            let worst = zip(used.bytes, new.bytes).map { abs(Int($0) - Int($1)) }.max()
            #expect(worst.map { $0 <= 1 } ?? false, "scene \(index)")
        }
    }

    @Test func theIconIsLightOnDarkAndStaysInItsCorner() {
        let canvas = Size(width: 640, height: 360)
        let back = flatFrame(size: canvas, format: .i422, color: .video, [126, 128, 128])
        var with = scene {
            $0.rect = Rect(canvas)
            $0.iconOpacity = 1
        }
        let picture = DrawnPicture(with, canvas: canvas, back: back)
        var (darkest, lightest) = (255, 0)
        for y in 0..<360 {
            for x in 0..<640 {
                let pixel = picture.pixel(x, y)
                #expect(pixel.u == 128 && pixel.v == 128)
                let inCorner = x >= 640 - 18 && x < 640 - 2 && y >= 2 && y < 18
                if !inCorner { #expect(pixel.y == 126) }
                darkest = min(darkest, Int(pixel.y))
                lightest = max(lightest, Int(pixel.y))
            }
        }
        #expect(abs(darkest - 71) <= 3 && lightest > 180)
        with = scene { $0.rect = Rect(canvas) }
        #expect(
            isFlat(DrawnPicture(with, canvas: canvas, back: back), Pixel(y: 126, u: 128, v: 128))
        )
    }

    @Test func theBackdropHasItsOwnColoursAgainOnceTheyAreNotGraded() {
        let compositor = Compositor(canvas: Self.canvas)
        let back = flatFrame(size: Self.canvas, format: .i420, [150, 100, 160])
        func drawn(_ grade: Grade, by compositor: Compositor? = nil) -> [UInt8] {
            var layer = Layer(role: .back, rect: Rect(x: 16, y: 12, width: 32, height: 24))
            layer.source.grade = grade
            var scene = Scene()
            scene.append(layer)
            scene.backdrop = .back
            return DrawnPicture(scene, canvas: Self.canvas, back: back, compositor: compositor)
                .bytes
        }
        let plain = drawn(.none)
        #expect(drawn(Grade(from: 4000, to: 7000), by: compositor) != plain)
        #expect(drawn(.none, by: compositor) == plain)
    }
}
