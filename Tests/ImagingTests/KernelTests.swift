import Frames
import Glibc
import TestJPEGs
import TestSupport
import Testing

@testable import Imaging

@Suite("Kernels compute what their references do") struct KernelTests {
    static let sizes = [
        Size(width: 1, height: 1), Size(width: 2, height: 2), Size(width: 17, height: 5),
        Size(width: 64, height: 48), Size(width: 131, height: 33),
    ]

    static let colors = [ColorSpace.Matrix.bt601, .bt709].flatMap { matrix in
        [ColorSpace.Range.full, .limited].map { ColorSpace(matrix: matrix, range: $0) }
    }

    @Test(arguments: colors, [2, 6, 16, 30, 62, 64, 130, 256, 1100])
    func packing(color: ColorSpace, width: Int) {
        let packer = Packer(color)
        var random = Chance(seed: UInt64(width))
        let tolerance = color == .video ? 0.001 : 1.0
        var worst = 0.0
        // A lost rounding moves every value by half a step.
        var bias = (luma: 0.0, u: 0.0, v: 0.0)
        var count = 0.0
        // Every luma, with chroma values as they may occur with it.
        for _ in 0..<(2048 / width + 1) {
            let luma = (0..<width).map { _ in UInt8(16 + random.next() % 220) }
            let u = (0..<width / 2).map { _ in UInt8(100 + random.next() % 57) }
            let v = (0..<width / 2).map { _ in UInt8(100 + random.next() % 57) }
            var packed = [UInt8](repeating: 0xaa, count: 2 * width + 1)
            packer.pack(luma: luma, u: u, v: v, count: width, into: &packed)
            #expect(packed[2 * width] == 0xaa, "nothing beyond the row")
            for x in 0..<width {
                let (y, u, v) = (Double(luma[x]), Double(u[x / 2]), Double(v[x / 2]))
                let expected = Reference.streamPixel(y: y, u: u, v: v, from: color)
                let pair = x / 2 * 4
                if (0.5..<254.5).contains(expected.y) {
                    count += 1
                    bias.luma += Double(packed[2 * x]) - expected.y
                    bias.u += Double(packed[pair + 1]) - expected.u
                    bias.v += Double(packed[pair + 3]) - expected.v
                }
                worst = max(
                    worst,
                    abs(Double(packed[2 * x]) - min(max(expected.y, 0), 255)),
                    abs(Double(packed[pair + 1]) - expected.u),
                    abs(Double(packed[pair + 3]) - expected.v)
                )
            }
        }
        #expect(worst <= tolerance)
        for bias in [bias.luma, bias.u, bias.v] { #expect(abs(bias / count) < 0.2) }
    }

    /// A grey ramp and the eight bars of full and three-quarter colour.
    static let swatches: [(r: Double, g: Double, b: Double)] =
        (0..<17).map { (Double($0) / 16, Double($0) / 16, Double($0) / 16) }
        + (0..<16).map {
            let level = $0 < 8 ? 1 : 0.75
            return ($0 & 1 != 0 ? level : 0, $0 & 2 != 0 ? level : 0, $0 & 4 != 0 ? level : 0)
        }

    @Test(arguments: [PixelFormat.i420, .i422, .i444])
    func rampsAndBarsSurviveJPEG(format: PixelFormat) throws {
        for (r, g, b) in Self.swatches {
            let luma = 0.299 * r + 0.587 * g + 0.114 * b
            let (u, v) = ((b - luma) / 1.772, (r - luma) / 1.402)
            func byte(_ value: Double) -> UInt8 { UInt8(min(max(value.rounded(), 0), 255)) }
            let size = Size(width: 32, height: 32)
            let values = [byte(255 * luma), byte(128 + 255 * u), byte(128 + 255 * v)]
            let jpeg = jpeg(of: flatFrame(size: size, format: format, values))
            let decoder = try JPEGDecoder()
            let layout = FrameLayout(size: size, format: format)
            let buffer = FrameBuffer(byteCount: layout.byteCount)
            try jpeg.withUnsafeBytes { bytes in
                let header = try decoder.header(of: bytes)
                try decoder.decode(bytes, header: header, into: buffer, layout: layout)
            }
            var first = Scratch()
            var second = Scratch()
            let planes = Planes(of: buffer, layout: layout)
                .scaled(to: size, transform: .identity, &first, &second)
            var packed = [UInt8](repeating: 0, count: 64)
            let (y, blue, red) = (planes.luma.row(9), planes.u.row(9), planes.v.row(9))
            Packer(.jpeg).pack(luma: y, u: blue, v: red, count: 32, into: &packed)
            #expect(abs(Double(packed[20]) - (16 + 219 * luma)) <= 2)
            #expect(abs(Double(packed[21]) - (128 + 224 * u)) <= 2)
            #expect(abs(Double(packed[23]) - (128 + 224 * v)) <= 2)
        }
    }

    @Test func fullRangeEndsWhereLimitedDoes() {
        let packer = Packer(.jpeg)
        let ramp = (0...255).map { UInt8($0) }
        let chroma = (0..<128).map { UInt8($0 * 2) }
        var packed = [UInt8](repeating: 0, count: 512)
        packer.pack(luma: ramp, u: chroma, v: chroma, count: 256, into: &packed)
        #expect(packed[0] == 16 && packed[510] == 235)
        #expect(packed[1] == 16 && packed[4 * 64 + 1] == 128)
        for x in 1..<256 { #expect(packed[2 * x] >= packed[2 * x - 2], "a ramp rises") }
    }

    static let formats = [PixelFormat.yuyv, .uyvy, .nv12, .i420, .i422, .i444, .i440, .i411, .gray]

    @Test(arguments: formats, sizes)
    func halving(format: PixelFormat, size: Size) throws {
        let frame = TestPicture.noise(size: size, format: format)
        var copy = HalvedCopy()
        for halvings in 0...3 {
            let made = copy.update(frame, halvings: halvings)
            let planes = try #require(made)
            let (width, height) = (max(1, size.width >> halvings), max(1, size.height >> halvings))
            #expect(planes.size == Size(width: width, height: height))
            for (index, plane) in [planes.luma, planes.u, planes.v].enumerated() {
                let worst = greatestDifference(plane) { x, y in
                    Reference.halved(frame, plane: index, x: x, y: y, halvings: halvings)
                }
                // Each halving rounds.
                #expect(worst <= (halvings == 0 ? 0.5 : 0.5 * Double(halvings + 1)), "\(halvings)")
            }
        }
    }

    /// Parts of a picture, relative to its extent, and the sizes at which they are seen.
    static let views: [(part: Rect, size: Size)] = [
        (Rect(x: 0, y: 0, width: 1, height: 1), Size(width: 2, height: 1)),
        (Rect(x: 0, y: 0, width: 1, height: 1), Size(width: 34, height: 20)),
        (Rect(x: 0, y: 0, width: 1, height: 1), Size(width: 66, height: 49)),
        (Rect(x: 0, y: 0, width: 1, height: 1), Size(width: 130, height: 97)),
        (Rect(x: 0, y: 0, width: 1, height: 1), Size(width: 300, height: 140)),
        (Rect(x: 0.25, y: 0.125, width: 0.5, height: 0.75), Size(width: 62, height: 40)),
        (Rect(x: 0.3, y: 0.2, width: 0.7, height: 0.8), Size(width: 18, height: 11)),
    ]

    @Test(arguments: formats, [Size(width: 131, height: 97)] + sizes)
    func scalingViews(format: PixelFormat, size: Size) {
        let frame = TestPicture.noise(size: size, format: format, color: .video)
        let transforms = Transform.all.filter { !$0.swapsAxes }
        var scaler = Scaler()
        for (index, (part, shown)) in Self.views.enumerated() {
            let part = Rect(
                x: part.x * Double(size.width),
                y: part.y * Double(size.height),
                width: part.width * Double(size.width),
                height: part.height * Double(size.height)
            )
            let view = View(part, at: shown, transform: transforms[index % transforms.count])
            let isYUV = scaler.prepare(frame, view)
            #expect(isYUV)
            let halvings = Scaler.halvings(part.width, as: shown.width)
            var row = [UInt8](repeating: 0, count: 2 * shown.width)
            var worst = 0.0
            for y in [0, shown.height / 3, shown.height - 1] {
                // In two parts, since a row may be hidden in between.
                let middle = shown.width / 6 * 2
                row.withUnsafeMutableBufferPointer { row in
                    guard let base = row.baseAddress else { return }
                    scaler.write(y: y, from: 0, to: middle, into: base)
                    scaler.write(y: y, from: middle, to: shown.width, into: base + 2 * middle)
                }
                for x in 0..<2 * shown.width {
                    let plane = x % 2 == 0 ? 0 : x % 4 / 2 + 1
                    let expected = Reference.seen(
                        frame,
                        view,
                        plane: plane,
                        x: plane == 0 ? x / 2 : x / 4,
                        y: y,
                        halvings: halvings
                    )
                    worst = max(worst, abs(Double(row[x]) - expected))
                }
            }
            // Places are kept to 128ths and 256ths of a pixel, and each step rounds.
            #expect(worst <= 2.5 + 0.5 * Double(halvings), "\(part) at \(shown)")
        }
    }

    @Test func aViewOfTheStreamsOwnKindIsCopied() {
        let size = Size(width: 34, height: 9)
        for format in [PixelFormat.yuyv, .uyvy, .i422] {
            let frame = TestPicture.noise(size: size, format: format, color: .video)
            var scaler = Scaler()
            let isYUV = scaler.prepare(frame, View(Rect(size), at: size))
            #expect(isYUV)
            var rows = [UInt8](repeating: 0, count: 2 * size.area)
            scaler.write(rows: 0..<size.height, into: &rows, stride: 2 * size.width)
            for y in 0..<size.height {
                for x in 0..<2 * size.width {
                    let plane = x % 2 == 0 ? 0 : x % 4 / 2 + 1
                    let column = plane == 0 ? x / 2 : x / 4
                    #expect(
                        rows[2 * y * size.width + x]
                            == frame.sample(plane: plane, x: column, y: y)
                    )
                }
            }
        }
    }

    @Test(arguments: Transform.all, sizes)
    func orienting(transform: Transform, size: Size) {
        let frame = TestPicture.noise(size: size, format: .gray)
        let layout = FrameLayout(size: transform.apply(to: size), format: .gray)
        let buffer = FrameBuffer(byteCount: layout.byteCount)
        let result = buffer.plane(0, of: layout)
        frame.plane(0).orient(transform, into: result)
        let worst = greatestDifference(frame.plane(0)) { x, y in
            let place = transform.apply(toX: x, y: y, in: size)
            return Double(result.row(place.y)[place.x])
        }
        #expect(worst == 0)
    }

    /// From, to and the largest difference from the mean: averaging is exact for whole factors.
    static let scales: [(Size, Size, Double)] = [
        (Size(width: 64, height: 48), Size(width: 32, height: 24), 1),
        (Size(width: 64, height: 48), Size(width: 16, height: 12), 1),
        (Size(width: 64, height: 48), Size(width: 64, height: 48), 0),
        (Size(width: 65, height: 49), Size(width: 40, height: 30), 4),
        (Size(width: 64, height: 48), Size(width: 7, height: 5), 4),
        (Size(width: 33, height: 17), Size(width: 100, height: 60), 5),
        (Size(width: 1, height: 1), Size(width: 31, height: 9), 0),
        (Size(width: 40, height: 30), Size(width: 1, height: 1), 4),
    ]

    @Test(arguments: scales)
    func scaling(from: Size, to: Size, tolerance: Double) {
        let frame = frame(size: from, format: .gray) { _, x, y in
            UInt8(40 + 100 * x / from.width + 60 * y / from.height)
        }
        let layout = FrameLayout(size: to, format: .gray)
        let buffer = FrameBuffer(byteCount: layout.byteCount)
        let result = buffer.plane(0, of: layout)
        frame.plane(0).scale(to: result)
        let worst = greatestDifference(result) { x, y in
            Reference.mean(frame.plane(0), x: x, y: y, width: to.width, height: to.height)
        }
        #expect(worst <= tolerance + 1e-9)
    }

    @Test(arguments: [PixelFormat.i420, .i422, .i444, .i440, .i411], Transform.all)
    func scalingAnySamplingToHalfWidthChroma(format: PixelFormat, transform: Transform) {
        let size = Size(width: 46, height: 34)
        let frame = flatFrame(size: size, format: format, [90, 60, 200])
        let planes = Planes(luma: frame.plane(0), u: frame.plane(1), v: frame.plane(2))
        var first = Scratch()
        var second = Scratch()
        for target in [Size(width: 20, height: 15), Size(width: 80, height: 61), size] {
            let result = planes.scaled(to: target, transform: transform, &first, &second)
            #expect(result.size == target)
            #expect(result.u.rowBytes == target.width / 2 && result.u.rows == target.height)
            // libyuv truncates averages instead of rounding them.
            for (plane, value) in [(result.luma, 90), (result.u, 60), (result.v, 200)] {
                #expect(greatestDifference(plane) { _, _ in Double(value) } <= 1)
            }
        }
    }

    @Test(arguments: [(0.8, 0.8), (1.7, 3.0), (4.0, 2.0)], sizes)
    func blurring(sigma: (Double, Double), size: Size) {
        let frame = TestPicture.noise(size: size, format: .gray)
        var blur = Blur()
        let result = blur.apply(to: frame.plane(0), sigmaX: sigma.0, sigmaY: sigma.1)
        var worst = 0.0
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (plane, (a, b)) = (frame.plane(0), sigma)
                let expected = Reference.blurred(plane, x: x, y: y, sigmaX: a, sigmaY: b)
                worst = max(worst, abs(Double(result[y * size.width + x]) - expected))
            }
        }
        #expect(worst < 0.01)
    }

    @Test func cutting() {
        var random = Chance(seed: 4)
        for count in [4, 8, 16, 20, 36, 200] {
            let content = (0..<count).map { _ in UInt8(random.next() % 256) }
            let before = (0..<count).map { _ in UInt8(random.next() % 256) }
            let mask = (0..<count).map { _ in UInt8(min(255, max(0, Int(random.next() % 400) - 70)))
            }
            for share in [0, 100, 255] {
                var after = before
                cut(content, by: mask, share: share, over: &after, count: count)
                for i in 0..<count {
                    let (first, second) = (Double(mask[i / 4 * 4]), Double(mask[i / 4 * 4 + 2]))
                    let own = i % 2 == 0 ? Double(mask[i]) : (first + second) / 2
                    let part = 1 - Double(share) / 255 * (1 - own / 255)
                    let exact = Double(before[i]) * (1 - part) + Double(content[i]) * part
                    #expect(abs(Double(after[i]) - exact) <= 1.6, "\(share)")
                    if part == 1 { #expect(after[i] == content[i]) }
                    if part == 0 { #expect(after[i] == before[i]) }
                }
            }
        }
    }

    @Test(arguments: [(Size(width: 1280, height: 720), 8), (Size(width: 86, height: 90), 4)])
    func shading(canvas: Size, cell: Int) {
        let shape = PixelRect(
            x: canvas.width / 16 * 4,
            y: canvas.height / 12 * 4,
            width: canvas.width / 16 * 8,
            height: canvas.height / 12 * 4
        )
        var shadow = SoftShadow(canvas: canvas)
        var mask = [UInt8](repeating: 0, count: 2 * canvas.width)
        for x in shape.x..<shape.maxX { mask[2 * x] = 255 }
        mask.withUnsafeBufferPointer { mask in
            guard let row = mask.baseAddress else { return }
            shadow.update(shape, opacity: 0.5, hides: false) { _, _ in row }
        }
        // Besides the blur, a cell is a mean, and between two the shadow is mixed.
        let sigma = Double(cell) * (1 + 1.0 / 12 + 1.0 / 6).squareRoot()
        func share(_ place: Double, _ from: Int, _ to: Int) -> Double {
            let scale = 1 / (sigma * 2.0.squareRoot())
            return (erf((place - Double(from)) * scale) - erf((place - Double(to)) * scale)) / 2
        }
        let drop = (6 * canvas.unit).rounded()
        var worst = 0.0
        for y in shadow.rows {
            var row = [UInt8](repeating: 240, count: 2 * canvas.width + 1)
            shadow.apply(y: y, to: &row)
            #expect(row[2 * canvas.width] == 240, "nothing beyond the row")
            let down = share(Double(y) + 0.5 - drop, shape.y, shape.maxY)
            for x in 0..<canvas.width {
                let part = 0.5 * down * share(Double(x) + 0.5, shape.x, shape.maxX)
                worst = max(worst, abs(Double(row[2 * x]) - (240 - 224 * part)))
                worst = max(worst, abs(Double(row[2 * x + 1]) - (240 - 112 * part)))
            }
        }
        #expect(worst < 8)
        #expect(shadow.rows.lowerBound > 0 && shadow.rows.upperBound < canvas.height)
    }

    @Test func blending() {
        var random = Chance(seed: 3)
        for count in [1, 2, 7, 16, 33, 200] {
            let keep = (0..<count).map { _ in UInt8(random.next() % 256) }
            let take = keep.map { UInt8(random.next() % UInt64(256 - Int($0))) }
            let add = zip(keep, take).map { UInt8((255 - Int($0) - Int($1)) / 2) }
            let content = (0..<count).map { _ in UInt8(random.next() % 256) }
            let before = (0..<count).map { _ in UInt8(random.next() % 256) }
            var after = before
            after.withUnsafeMutableBufferPointer { after in
                guard let base = after.baseAddress else { return }
                keep.withUnsafeBufferPointer { keep in
                    take.withUnsafeBufferPointer { take in
                        add.withUnsafeBufferPointer { add in
                            guard let row = WeightRow(keep, take, add) else { return }
                            row.apply(content, to: base, count: count)
                        }
                    }
                }
            }
            for i in 0..<count {
                let exact = Int(keep[i]) * Int(before[i]) + Int(take[i]) * Int(content[i])
                let expected = (Double(exact) / 255).rounded() + Double(add[i])
                #expect(Double(after[i]) == expected)
            }
        }
    }
}

extension Planes {
    init(of buffer: FrameBuffer, layout: FrameLayout) {
        self.init(
            luma: buffer.plane(0, of: layout),
            u: buffer.plane(1, of: layout),
            v: buffer.plane(2, of: layout)
        )
    }
}

extension WeightRow {
    init?(
        _ keep: UnsafeBufferPointer<UInt8>,
        _ take: UnsafeBufferPointer<UInt8>,
        _ add: UnsafeBufferPointer<UInt8>
    ) {
        guard let k = keep.baseAddress, let t = take.baseAddress, let a = add.baseAddress else {
            return nil
        }
        self.init(keep: k, take: t, add: a)
    }
}

@Suite("Grading") struct GradingTests {
    /// Returns one pair of pixels, graded.
    private func graded(_ y: UInt8, _ u: UInt8, _ v: UInt8, _ grading: Grading) -> [Int] {
        var row = [y, u, y, v]
        grading.apply(to: &row, count: 2)
        return [Int(row[0]), Int(row[1]), Int(row[3])]
    }

    @Test func gainsOfOneChangeNothing() {
        let none = Grading(red: 1, blue: 1, light: 1)
        for (y, u, v) in [(16, 128, 128), (110, 30, 220), (235, 240, 16)] as [(UInt8, UInt8, UInt8)]
        {
            #expect(graded(y, u, v, none) == [Int(y), Int(u), Int(v)])
        }
    }

    @Test func redAndBlueGrowAsTheyAre() {
        // By BT.601, a grey of 110 is 109.4 of 255 in each colour.
        let warm = graded(110, 128, 128, Grading(red: 1.1, blue: 0.9, light: 1))
        #expect(warm[0] == 110 && abs(warm[1] - 123) <= 1 && abs(warm[2] - 135) <= 1)
        // Black has no colour to amplify, and values outside of the colour range stay.
        #expect(graded(16, 128, 128, Grading(red: 1.2, blue: 1.2, light: 1)) == [16, 128, 128])
        #expect(graded(40, 40, 128, Grading(red: 1, blue: 0.8, light: 1)) == [40, 40, 128])
    }

    @Test func lightKeepsItsLimits() {
        #expect(graded(116, 128, 128, Grading(red: 1, blue: 1, light: 1.5)) == [166, 128, 128])
        #expect(graded(220, 100, 200, Grading(red: 1, blue: 1, light: 2)) == [235, 72, 240])
        #expect(graded(116, 148, 108, Grading(red: 1, blue: 1, light: 0.5)) == [66, 138, 118])
    }
}
