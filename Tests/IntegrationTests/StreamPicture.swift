import Capture
import Frames
import TestSupport
import Testing

struct StreamPicture: CustomStringConvertible {
    let size: Size
    /// Short, since a failing test prints it.
    var description: String { "a picture of \(size)" }
    private let bytes: [UInt8]
    private let stride: Int

    init(_ frame: StreamReader.Frame, size: Size) {
        self.size = size
        bytes = frame.bytes
        stride = frame.stride
    }

    subscript(x: Int, y: Int) -> Color {
        let pair = y * stride + x / 2 * 4
        return Color(Int(bytes[y * stride + 2 * x]), Int(bytes[pair + 1]), Int(bytes[pair + 3]))
    }

    func luma(row y: Int) -> [Int] {
        (0..<size.width).map { Int(bytes[y * stride + 2 * $0]) }
    }

    func mean(_ area: PixelRect) -> Double {
        var sum = 0
        for y in area.y..<area.maxY {
            for x in area.x..<area.maxX { sum += Int(bytes[y * stride + 2 * x]) }
        }
        return Double(sum) / Double(area.size.area)
    }

    /// Returns the low `bits` of the frame counter of a test picture of `size`, shown upright in
    /// `rect`; `nil` if a square is neither black nor white.
    func counter(of size: Size, in rect: Rect, bits: Int = 16) -> Int? {
        let block = Double(FrameCounter.block(in: size))
        let scale = rect.width / Double(size.width)
        var value = 0
        for bit in 16 - bits..<16 {
            let x = rect.x + (Double(bit) + 0.5) * block * scale
            let level = self[Int(x), Int(rect.y + block / 2 * scale)].y
            guard level < 60 || level > 190 else { return nil }
            value = 2 * value + (level > 128 ? 1 : 0)
        }
        return value
    }

    func differs(from other: StreamPicture) -> Bool { bytes != other.bytes }
}

struct Color: Hashable, CustomStringConvertible {
    var y: Int
    var u: Int
    var v: Int

    init(_ y: Int, _ u: Int, _ v: Int) { (self.y, self.u, self.v) = (y, u, v) }

    static func gray(_ luma: Int) -> Color { Color(luma, 128, 128) }

    var description: String { "(\(y) \(u) \(v))" }

    func distance(to other: Color) -> Int {
        max(abs(y - other.y), abs(u - other.u), abs(v - other.v))
    }
}

/// A test picture without movement, as a function of the place on it, 0 … 1 in both directions.
enum Chart: String {
    case bars, ramp

    /// Bars of full colour, BT.601 limited range: white, yellow, cyan, green, magenta, red, blue,
    /// black.
    private static let colors = [
        Color(235, 128, 128), Color(210, 16, 146), Color(170, 166, 16), Color(145, 54, 34),
        Color(106, 202, 222), Color(81, 90, 240), Color(41, 240, 110), Color(16, 128, 128),
    ]

    /// Returns the colour at a place, or `nil` near an edge between two, and where the counter is.
    func color(_ x: Double, _ y: Double) -> Color? {
        guard (0...1).contains(x), (0...1).contains(y) else { return nil }
        guard y > 0.05 else { return nil }
        let isRamp = self == .ramp || y > 2.0 / 3
        if self == .bars, abs(y - 2.0 / 3) < 0.03 { return nil }
        if isRamp { return .gray(Int((16 + 219 * x).rounded())) }
        let place = (x * 8).truncatingRemainder(dividingBy: 1)
        guard place > 0.12, place < 0.88 else { return nil }
        return Chart.colors[min(7, Int(x * 8))]
    }
}

/// Expects `chart`, turned by `transform`, in `rect` of the picture, within ±2.
///
/// Compares a grid of points at least `margin` pixels inside `rect` and outside of `hidden`.
func expect(
    _ picture: StreamPicture,
    shows chart: Chart,
    in rect: Rect,
    turned transform: Transform = .identity,
    margin: Double = 4,
    besides hidden: Rect? = nil,
    _ comment: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let inner = rect.inset(by: margin)
    var worst = (distance: 0, text: "")
    var count = 0
    for row in 0..<37 {
        for column in 0..<61 {
            let x = Int(inner.x + inner.width * (Double(column) + 0.5) / 61)
            let y = Int(inner.y + inner.height * (Double(row) + 0.5) / 37)
            let outside = hidden?.inset(by: -36)
            if let outside, (outside.x...outside.maxX).contains(Double(x)),
                (outside.y...outside.maxY).contains(Double(y))
            {
                continue
            }
            // The origin of the pixel, in 10000 units along each side of the camera's picture.
            let unit = Size(width: 10_000, height: 10_000)
            let source = transform.inverse.apply(
                toX: Int((Double(x) + 0.5 - rect.x) / rect.width * 10_000),
                y: Int((Double(y) + 0.5 - rect.y) / rect.height * 10_000),
                in: unit
            )
            guard let wanted = chart.color(Double(source.x) / 10_000, Double(source.y) / 10_000)
            else { continue }
            count += 1
            let distance = picture[x, y].distance(to: wanted)
            if distance > worst.distance {
                worst = (distance, "\(picture[x, y]) at \(x), \(y) for \(wanted)")
            }
        }
    }
    #expect(count > 300, "\(comment) too few points", sourceLocation: sourceLocation)
    #expect(
        worst.distance <= 2,
        "\(chart.rawValue) \(comment): \(worst.text)",
        sourceLocation: sourceLocation
    )
}

extension StreamReader {
    func picture(within seconds: Double = 20) throws -> StreamPicture {
        // One frame may be under way.
        flush()
        _ = try next(within: seconds)
        let frame = try next(within: seconds)
        let size = try #require(format?.size)
        try #require(frame.bytes.count >= frame.stride * size.height)
        return StreamPicture(frame, size: size)
    }

    /// Returns the next picture for which `condition` holds; it is an error that `fixture` ends
    /// before.
    func picture(
        _ what: String,
        within seconds: Double = 20,
        while fixture: Child? = nil,
        where condition: (StreamPicture) -> Bool
    ) throws -> StreamPicture {
        try eventually(what, within: seconds, while: fixture) {
            let picture = try self.picture()
            return condition(picture) ? picture : nil
        }
    }

    /// Returns a picture of a stream in which nothing moves any more: three in a row are equal.
    func stillPicture(within seconds: Double = 20) throws -> StreamPicture {
        var last = try picture()
        var count = 0
        return try eventually("three pictures alike", within: seconds) {
            let picture = StreamPicture(try next(), size: last.size)
            count = picture.differs(from: last) ? 0 : count + 1
            last = picture
            return count >= 2 ? picture : nil
        }
    }
}
