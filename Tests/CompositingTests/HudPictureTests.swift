import CCairo
import Compositing
import Foundation
import Frames
import Glibc
import Imaging
import Testing

@testable import DualCamCore

/// A camera with all controls, like those of a USB camera, some of them set by hand.
struct HudCamera {
    var controls = CameraControls()
    private var device: [DeviceControl]

    init(
        exposure: Int = 3,
        time: Int = 40,
        gain: Int = 102,
        focusAuto: Int = 1,
        focus: Int = 75,
        balanceAuto: Int = 1,
        kelvin: Int = 5500
    ) {
        let modes = [
            DeviceControl.Item(index: 1, name: "Manual"), .init(index: 3, name: "Aperture"),
        ]
        let rows: [(String, DeviceControl.Purpose, ClosedRange<Int>, Int)] = [
            ("auto_exposure", .exposureMode, 0...3, exposure),
            ("exposure", .exposureTime, 1...10000, time), ("gain", .gain, 0...255, gain),
            ("focus_auto", .focusAuto, 0...1, focusAuto), ("focus", .focus, 0...250, focus),
            ("wb_auto", .whiteBalanceAuto, 0...1, balanceAuto),
            ("wb", .temperature, 2800...6500, kelvin),
        ]
        device = zip(UInt32(1)..., rows).map { id, row in
            let (name, purpose, range, value) = row
            return .init(id: id, name: name, purpose: purpose, range: range, value: value)
        }
        device[0].menu = modes
        controls.read(device)
    }

    /// Creates the camera and gives it these commands, as a photographer would.
    init(_ first: ControlCommand, _ more: ControlCommand...) throws {
        self.init()
        for command in [first] + more {
            let plan = try controls.plan(command)
            for write in plan.switches + plan.values {
                for index in device.indices where device[index].id == write.id {
                    device[index].value = write.value
                }
            }
            controls.settle(plan, device)
        }
    }

    /// Returns the HUD in Pro mode, `seconds` after `dial` was turned, to its end or not.
    func hud(
        _ dial: Dial,
        limit: Bound? = nil,
        seconds: Double = 1,
        aperture: Double = 1.8,
        lenses: [Double] = [],
        zoom: Double = 1,
        missing: Double? = nil,
        canvas: Size = Size(width: 1280, height: 720),
        style: SceneStyle = SceneStyle()
    ) -> HudState {
        var state = State.withTwoCameras(
            canvas,
            style,
            after: .controls(.back, .set(ControlSettings(), aperture: aperture))
        )
        if !lenses.isEmpty {
            state.search.cameras.back.lenses = lenses.map {
                let source = $0 == 1 ? nil : SourceSpecification.v4l2("\($0)")
                return Configuration.LensSettings(name: "\($0)", factor: $0, source: source)
            }
            let devices = lenses.filter { $0 != missing }.map { factor in
                let name = factor == 1 ? "own" : "\(factor)"
                return CameraDevice(path: name, name: name, identity: name, orientation: .back)
            }
            let front = CameraDevice(
                path: "front",
                name: "front",
                identity: "other",
                orientation: .front
            )
            state.take(.cameras(.found(devices + [front], from: .kernel(isWhole: true))), 5)
            state.take(.lens(.back, .setZoom(zoom, middle: nil, duration: 0)), 5)
        }
        state.take(.pro(.setEnabled(true)), 10)
        state.take(.controls(.back, .read(identity: "own", controls)), 20)
        state.take(.controls(.back, .dialTurned(dial, limit: limit)), 100 - seconds)
        return state.scene.hud
    }
}

@Suite("The HUD in the picture") struct HudPictureTests {
    /// The cases to draw, each 100 s after the beginning.
    static let cases: [(name: String, make: @Sendable () throws -> HudState)] = [
        ("auto", { HudCamera().hud(.iso) }),
        ("iso", { try HudCamera(.shutter(4000), .iso(400)).hud(.iso) }),
        ("shutter", { try HudCamera(.shutter(4000), .iso(1250)).hud(.shutter) }),
        ("shutter-between", { try HudCamera(.shutter(3125)).hud(.shutter) }),
        ("focus", { try HudCamera(.focus(0.7)).hud(.focus) }),
        ("wb", { try HudCamera(.whiteBalance(.preset(.sunny))).hud(.whiteBalance) }),
        ("wb-software", { try HudCamera(.whiteBalance(.preset(.shade))).hud(.whiteBalance) }),
        ("limit", { try HudCamera.dark.hud(.iso, limit: .maximum, seconds: 0.06) }),
        ("idle", { try HudCamera(.shutter(4000), .iso(400)).hud(.iso, seconds: 5) }),
        ("wb-between", { try HudCamera(.whiteBalance(.kelvin(5600))).hud(.whiteBalance) }),
        ("unknown", { HudCamera.none.hud(.focus, aperture: 0) }),
        ("without-iso", { HudCamera().without(.gain).hud(.iso, aperture: 0) }),
        ("lenses", { HudCamera().hud(.iso, lenses: [0.5, 1, 3], zoom: 1) }),
        ("compensation", { try HudCamera(.iso(400), .compensation(-0.7)).hud(.iso) }),
        ("lens-fallback", { HudCamera().hud(.iso, lenses: [0.5, 1, 3], zoom: 3.5, missing: 3) }),
    ]
    static let now = Timestamp(seconds: 100)
    static let sizes = [Size(width: 1280, height: 720), Size(width: 1920, height: 1080)]

    private static func picture(
        _ hud: HudState,
        _ size: Size,
        over luma: UInt8
    ) throws -> DrawnPicture {
        var picture = DrawnPicture(Scene(), canvas: size)
        for index in stride(from: 0, to: picture.bytes.count, by: 2) {
            (picture.bytes[index], picture.bytes[index + 1]) = (luma, 128)
        }
        try picture.lay(hud, at: now)
        return picture
    }

    @Test("looks as it did, in every state", arguments: cases.map(\.name), sizes)
    func golden(name: String, size: Size) throws {
        let hud = try #require(try Self.cases.first { $0.name == name }?.make())
        let picture = try Self.picture(hud, size, over: 110)
        let unit = Double(size.height) / 720
        let top = name.hasPrefix("lens") ? 520.0 : 570
        let region = PixelRect(
            x: Int(300 * unit) / 2 * 2,
            y: Int(top * unit),
            width: size.width - 2 * (Int(300 * unit) / 2 * 2),
            height: size.height - Int(top * unit)
        )
        try picture.expectGolden("hud-\(name)-\(size.height)", region)
    }

    @Test(
        "keeps a contrast of 4.5:1 on whatever is behind it",
        arguments: [UInt8](arrayLiteral: 16, 110, 180, 235),
        sizes
    )
    func contrast(luma: UInt8, size: Size) throws {
        let hud = try HudCamera(.shutter(4000), .iso(400)).hud(.iso)
        let picture = try Self.picture(hud, size, over: luma)
        let unit = Double(size.height) / 720
        func at(_ x: Double, _ y: Double) -> Double { picture.light(Int(x * unit), Int(y * unit)) }
        /// Returns the brightest tenth of a percent in a part of the picture of 1280 x 720: the
        /// insides of letters.
        func letters(_ xs: Range<Int>, _ ys: Range<Int>) -> Double {
            var lights: [Double] = []
            for y in Int(Double(ys.lowerBound) * unit)..<Int(Double(ys.upperBound) * unit) {
                for x in Int(Double(xs.lowerBound) * unit)..<Int(Double(xs.upperBound) * unit) {
                    lights.append(picture.light(x, y))
                }
            }
            lights.sort()
            return lights[lights.count * 98 / 100]
        }
        func ratio(_ a: Double, _ b: Double) -> Double { (max(a, b) + 0.05) / (min(a, b) + 0.05) }
        let ground = at(640, 675)
        #expect(ratio(letters(560..<740, 680..<700), ground) >= 4.5, "values")
        #expect(ratio(letters(430..<510, 680..<700), ground) >= 4.5, "the amber one")
        let dial = at(360, 650)
        #expect(ratio(letters(536..<560, 618..<632), dial) >= 4.5, "the dial's numbers")
        #expect(ratio(letters(622..<658, 618..<632), dial) >= 4.5, "the current one")
        #expect(ratio(letters(556..<582, 638..<652), dial) >= 4.5, "its name")
        #expect(ratio(letters(590..<620, 638..<652), dial) >= 4.5, "its value")
    }

    @Test(
        "stays inside a narrow picture, with its longest values",
        arguments: [
            Size(width: 160, height: 120), Size(width: 320, height: 180),
            Size(width: 640, height: 360), Size(width: 720, height: 1280),
            Size(width: 360, height: 640),
        ]
    )
    func narrow(size: Size) throws {
        let hud = try HudCamera(.iso(3200), .shutter(200), .whiteBalance(.kelvin(10000)))
            .hud(.whiteBalance, aperture: 11)
        let picture = try Self.picture(hud, size, over: 110)
        var (darkest, lightest) = (UInt8.max, UInt8.min)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let luma = picture.pixel(x, y).y
                (darkest, lightest) = (min(darkest, luma), max(lightest, luma))
                let isMargin = min(x, size.width - 1 - x) < 2 || size.height - 1 - y < 2
                let isUpper = y < size.height / 2
                if isMargin || isUpper { #expect(luma == 110, "(\(x), \(y))") }
            }
        }
        #expect(darkest < 60 && lightest > 160)
        guard size.width == 720 else { return }
        let region = PixelRect(x: 0, y: 1040, width: 720, height: 240)
        try picture.expectGolden("hud-narrow-720", region, tile: 0.2)
    }

    @Test(
        "leaves an inset at the foot of the picture free",
        arguments: [
            Size(width: 1280, height: 720), Size(width: 640, height: 360),
            Size(width: 720, height: 1280),
        ],
        [0.2, 0.25, 0.35, 0.5]
    )
    func inset(canvas: Size, size: Double) throws {
        for corner in [Corner.bottomLeft, .bottomRight] {
            var style = SceneStyle()
            style.insetCorner = corner
            style.insetSize = size
            let hud = try HudCamera(.iso(3200), .shutter(200), .compensation(0.7))
                .hud(.iso, aperture: 11, lenses: [0.5, 1, 3], canvas: canvas, style: style)
            let inset = try #require(hud.content?.inset)
            #expect(inset.width == (Double(canvas.width) * size / 2).rounded() * 2)
            let picture = try Self.picture(hud, canvas, over: 110)
            var darkest = UInt8.max
            for y in 0..<canvas.height {
                for x in 0..<canvas.width {
                    let luma = picture.pixel(x, y).y
                    darkest = min(darkest, luma)
                    let isFree =
                        Double(x) >= inset.x && Double(x) < inset.maxX && Double(y) >= inset.y
                        && Double(y) < inset.maxY
                    if isFree, luma != 110 {
                        Issue.record("(\(x), \(y)) is covered")
                        return
                    }
                }
            }
            #expect(darkest < 60)
        }
    }

    /// The sizes that a stream usually has.
    private static let usualSizes = [
        Size(width: 640, height: 480), Size(width: 854, height: 480),
        Size(width: 1280, height: 720), Size(width: 1920, height: 1080),
        Size(width: 720, height: 1280),
    ]

    private struct Place {
        var area: PixelRect
        /// The pixels for one of a dial 620 wide and 78 high.
        var unit: Double

        /// The rows around `middle`, in units from the top of the dial.
        func rows(_ middle: Double, _ height: Double) -> Range<Int> {
            let top = Double(area.y) + (middle - height / 2) * unit
            return Int(top.rounded())..<Int((top + height * unit).rounded())
        }
    }

    /// Finds the dial of `hud`: on a white picture it is the upper one of two dark areas.
    private func place(of hud: HudState, _ size: Size) throws -> Place {
        let picture = try Self.picture(hud, size, over: 235)
        func dark(_ y: Int) -> [Int] { (0..<size.width).filter { picture.pixel($0, y).y < 120 } }
        let top = try #require((0..<size.height).first { dark($0).count > size.width / 4 })
        let end = try #require((top..<size.height).first { dark($0).isEmpty })
        let columns = dark((top + end) / 2)
        let (left, right) = (try #require(columns.first), try #require(columns.last))
        return Place(
            area: PixelRect(x: left, y: top, width: right + 1 - left, height: end - top),
            unit: Double(right + 1 - left) / 620
        )
    }

    private func runs(_ range: Range<Int>, apart: Int = 1, _ isLit: (Int) -> Bool) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for place in range where isLit(place) {
            if let last = runs.last, place - last.upperBound < apart {
                runs[runs.count - 1] = last.lowerBound..<place + 1
            } else {
                runs.append(place..<place + 1)
            }
        }
        return runs
    }

    /// Values of dials at which labels are close to each other, or to the value's own.
    private static let dials: [(Dial, ControlCommand)] =
        [2000, 4000, 5500, 5600, 6000, 6500, 10000].map {
            (.whiteBalance, .whiteBalance(.kelvin($0)))
        } + [100, 125, 3200].map { (.iso, .iso($0)) }
        + [200, 4000, 3125, 100_000].map { (.shutter, .shutter($0)) } + [(.focus, .focus(0.7))]

    @Test(
        "shows every label of a scale that is in sight, and none touches another",
        arguments: usualSizes,
        dials.indices
    )
    func labels(size: Size, number: Int) throws {
        let (dial, command) = Self.dials[number]
        let hud = try HudCamera(command).hud(dial, canvas: size)
        let scale = try #require(hud.content?.scale)
        let position = try #require(scale.position)
        let place = try place(of: hud, size)
        let picture = try Self.picture(hud, size, over: 16)
        let (left, right) = (place.area.x, place.area.maxX)
        let rows = place.rows(43, 15)
        // Digits are at most 9 units apart, labels at least as much as a digit is wide.
        let found = runs(left..<right, apart: Int((6 * place.unit).rounded())) { x in
            rows.contains { picture.pixel(x, $0).y > 60 }
        }
        let marks = scale.marks
        let ends = [marks.first?.position, marks.last?.position].compactMap(\.self).map(Double.init)
        let width = max(ends.max() ?? 0, position) - min(ends.min() ?? 0, position)
        let third = min(max(3 * 540 / max(1, width), 46), 92) / 3 * place.unit
        let middle = Double(left + right) / 2
        var count = 0
        for mark in marks {
            guard let label = mark.label else { continue }
            let x = middle + (Double(mark.position) - position) * third
            // What is farther out fades.
            guard abs(x - middle) < 215 * place.unit else { continue }
            count += 1
            let run = try #require(
                found.first { $0.contains(Int(x)) },
                "\(label) at \(x): \(found)"
            )
            let digits = Double(label.count) * place.unit
            #expect(
                Double(run.count) < 12 * digits && Double(run.count) > 5 * digits,
                "\(label) at \(x): \(run)"
            )
        }
        #expect(count >= 3)
    }

    @Test("writes captions that can be read in pictures of all sizes", arguments: usualSizes)
    func captions(size: Size) throws {
        let hud = try HudCamera(.whiteBalance(.kelvin(5600))).hud(.whiteBalance, canvas: size)
        let place = try place(of: hud, size)
        let picture = try Self.picture(hud, size, over: 16)
        let columns = place.area.x..<place.area.maxX
        let lines = runs(place.rows(63, 22)) { y in
            columns.contains { picture.pixel($0, y).y > 120 }
        }
        // Capitals of type of 16 px are 11 rows high. Type is smaller in small pictures, but can
        // still be read.
        let least = size.height >= 720 ? 11 * min(place.unit, Double(size.height) / 720) : 9
        #expect(lines.count == 1, "one line: \(lines)")
        #expect(Double(lines.first?.count ?? 0) >= least.rounded(.down), "\(lines)")
        #expect(size.height < 720 || place.unit >= 0.97)
    }

    @Test func `touches nothing but its pill and its dial`() throws {
        let size = Self.sizes[0]
        let picture = try Self.picture(HudCamera().hud(.iso), size, over: 110)
        for y in 0..<720 {
            for x in 0..<1280 {
                let isInside =
                    (330..<950).contains(x) && (582..<660).contains(y)
                    || (380..<900).contains(x) && (670..<710).contains(y)
                guard !isInside else { continue }
                #expect(picture.pixel(x, y) == Pixel(y: 110, u: 128, v: 128), "(\(x), \(y))")
            }
        }
    }
}

@Suite("The mark of a recording") struct MarkTests {
    /// Returns the scene of a recording that has run for `seconds`.
    private func mark(_ seconds: Double, _ canvas: Size, _ style: SceneStyle) throws -> MarkState {
        let (start, timedOut) = (
            RecordingEvent.start([.back], sound: false), RecordingEvent.startTimedOut
        )
        var state = State.withTwoCameras(
            canvas,
            style,
            after: .recording(start),
            .recording(timedOut)
        )
        state.take(.recording(.tick), 1 + seconds)
        return state.scene.mark
    }

    @Test(
        "is a pill with a red dot and the time, beside the inset",
        arguments: Corner.allCases,
        [
            Size(width: 1280, height: 720), Size(width: 640, height: 480),
            Size(width: 720, height: 1280), Size(width: 160, height: 120),
        ]
    )
    func looks(corner: Corner, canvas: Size) throws {
        var style = SceneStyle()
        style.insetCorner = corner
        let state = try mark(754, canvas, style)
        let time = Timestamp(seconds: 1000)
        #expect(state.opacity(at: time) == 1)
        let scene = SceneState.both(canvas, style)
        let plain = DrawnPicture(
            scene.scene(at: time),
            canvas: canvas,
            back: drawnFrame(size: canvas, isWarm: false),
            front: drawnFrame(size: canvas, isWarm: true)
        )
        var marked = plain
        let picture = MarkPicture(try #require(state.mark), canvas: canvas)
        picture.lay(over: &marked.bytes, stride: 2 * canvas.width, opacity: 1)
        var changed: [(x: Int, y: Int)] = []
        var reds = 0
        for y in 0..<canvas.height {
            for x in 0..<canvas.width where plain.pixel(x, y) != marked.pixel(x, y) {
                changed.append((x, y))
                if marked.pixel(x, y).v > 190 { reds += 1 }
            }
        }
        let columns = changed.map(\.x)
        let (left, right) = (try #require(columns.min()), try #require(columns.max()))
        #expect(corner == .topLeft ? left > canvas.width / 2 : right < canvas.width / 2)
        #expect(changed.allSatisfy { $0.y < canvas.height / 2 })
        #expect(reds > 4, "the dot")
    }

    @Test("of a pause has two bars in place of the dot")
    func pause() throws {
        let canvas = Size(width: 1280, height: 720)
        let mark = RecordMark(seconds: 7, isPaused: true, isRight: false)
        let plain = DrawnPicture(
            SceneState.both(canvas, SceneStyle()).scene(at: .zero),
            canvas: canvas
        )
        var marked = plain
        marked.bytes.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            MarkPicture(mark, canvas: canvas).lay(over: base, stride: 2 * canvas.width, opacity: 1)
        }
        // A row through the middle of the mark, up to the time.
        let row = (26..<26 + 15 + 12).map { marked.pixel($0, 26 + 19) }
        let bars = row.split { $0.y < 200 }
        #expect(bars.count == 2 && bars.allSatisfy { $0.count >= 3 }, "\(row.map(\.y))")
        #expect(row.allSatisfy { $0.v < 140 })
    }
}

extension HudCamera {
    func without(_ purpose: DeviceControl.Purpose) -> HudCamera {
        var camera = self
        camera.controls = CameraControls()
        camera.controls.read(controls.device.filter { $0.purpose != purpose })
        return camera
    }

    /// A camera whose ISO is at its end.
    static var dark: HudCamera { get throws { try HudCamera(.shutter(4000), .iso(3200)) } }

    /// A camera without any control.
    static var none: HudCamera {
        var camera = HudCamera()
        camera.controls = CameraControls()
        return camera
    }
}

extension DrawnPicture {
    mutating func lay(_ hud: HudState, at time: Timestamp) throws {
        let content = try #require(hud.content)
        let pose = try #require(hud.pose(at: time))
        let drawn = HudPicture(content, canvas: size)
        let stride = 2 * size.width
        drawn.lay(pose, over: &bytes, stride: stride)
    }

    private func color(_ x: Int, _ y: Int) -> (Double, Double, Double) {
        let pixel = pixel(x, y)
        let luma = 255.0 / 219 * (Double(pixel.y) - 16)
        let (u, v) = (255.0 / 224 * (Double(pixel.u) - 128), 255.0 / 224 * (Double(pixel.v) - 128))
        func clip(_ value: Double) -> Double { min(max(value, 0), 255) }
        return (
            clip(luma + 1.402 * v), clip(luma - 0.344136 * u - 0.714136 * v), clip(luma + 1.772 * u)
        )
    }

    /// Returns the relative luminance of a pixel, as WCAG 2 defines it.
    func light(_ x: Int, _ y: Int) -> Double {
        func linear(_ value: Double) -> Double {
            let part = value / 255
            return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        let (red, green, blue) = color(x, y)
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    func writePNG(_ region: PixelRect, to path: String) {
        let surface = cairo_image_surface_create(
            CAIRO_FORMAT_RGB24,
            CInt(region.width),
            CInt(region.height)
        )
        defer { cairo_surface_destroy(surface) }
        guard let data = cairo_image_surface_get_data(surface) else { return }
        let stride = Int(cairo_image_surface_get_stride(surface))
        for y in 0..<region.height {
            for x in 0..<region.width {
                let (red, green, blue) = color(region.x + x, region.y + y)
                let pixel =
                    UInt32(red.rounded()) << 16 | UInt32(green.rounded()) << 8
                    | UInt32(blue.rounded())
                UnsafeMutableRawPointer(data + y * stride + 4 * x).storeBytes(
                    of: pixel,
                    as: UInt32.self
                )
            }
        }
        cairo_surface_mark_dirty(surface)
        cairo_surface_write_to_png(surface, path)
    }

    func expectGolden(_ name: String, _ region: PixelRect, tile: Double = 0.16) throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Goldens/\(name).png")
        if ProcessInfo.processInfo.environment["DUALCAM_UPDATE_GOLDENS"] == "1" {
            writePNG(region, to: url.path)
        }
        let difference = try difference(region, fromPNG: url.path)
        // The letters of another release of the fonts are a little wider or bolder.
        #expect(
            difference.mean < 0.6 && difference.far < 0.015 && difference.tile < tile,
            "\(name): \(difference)"
        )
    }

    /// Returns the difference of a part of the picture from that in a file: the mean over all
    /// bytes, the share of pixels that are far off, and that share in the square of 32 × 32 where
    /// it is largest. Each pixel of one is compared with the pixel of the other that is nearest to
    /// it in colour, at most one pixel of a picture 720 high away; the worse of both directions
    /// counts, so that nothing may be missing or added.
    func difference(
        _ region: PixelRect,
        fromPNG path: String
    ) throws -> (mean: Double, far: Double, tile: Double) {
        let surface = cairo_image_surface_create_from_png(path)
        defer { cairo_surface_destroy(surface) }
        try #require(cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, "\(path)")
        let size = (cairo_image_surface_get_width(surface), cairo_image_surface_get_height(surface))
        try #require(size == (CInt(region.width), CInt(region.height)))
        let data = try #require(cairo_image_surface_get_data(surface))
        let stride = Int(cairo_image_surface_get_stride(surface))
        var (own, other): ([SIMD4<Int32>], [SIMD4<Int32>]) = ([], [])
        for y in 0..<region.height {
            for x in 0..<region.width {
                let (red, green, blue) = color(region.x + x, region.y + y)
                own.append([Int32(red.rounded()), Int32(green.rounded()), Int32(blue.rounded()), 0])
                let pixel = UnsafeRawPointer(data + y * stride + 4 * x).load(as: UInt32.self)
                other.append(
                    [Int32(pixel >> 16 & 255), Int32(pixel >> 8 & 255), Int32(pixel & 255), 0]
                )
            }
        }
        let count = Double(region.width * region.height)
        let reach = max(1, self.size.height / 540)
        var worst = (mean: 0.0, far: 0.0, tile: 0.0)
        for (picture, beside) in [(own, other), (other, own)] {
            var (sum, far, tiles) = (0, 0, [Int: Int]())
            for y in 0..<region.height {
                for x in 0..<region.width {
                    let pixel = picture[y * region.width + x]
                    var (least, most) = (Int32.max, Int32.max)
                    func compare(_ row: Int, _ column: Int) {
                        let distance = pixel &- beside[row * region.width + column]
                        let parts = distance.replacing(with: 0 &- distance, where: distance .< 0)
                        guard parts.wrappedSum() < least else { return }
                        (least, most) = (parts.wrappedSum(), parts.max())
                    }
                    compare(y, x)
                    for row in max(0, y - reach)...min(region.height - 1, y + reach)
                    where least > 6 {
                        for column in max(0, x - reach)...min(region.width - 1, x + reach) {
                            compare(row, column)
                        }
                    }
                    sum += Int(least)
                    guard most > 24 else { continue }
                    far += 1
                    tiles[y / 32 * region.width + x / 32, default: 0] += 1
                }
            }
            worst.mean = max(worst.mean, Double(sum) / count / 3)
            worst.far = max(worst.far, Double(far) / count)
            worst.tile = max(worst.tile, Double(tiles.values.max() ?? 0) / (32 * 32))
        }
        return worst
    }
}
