import CKernels
import Frames
import Glibc
import Imaging
import TestSupport
import Testing

/// A page of memory between two that may not be touched.
private struct GuardedPage: ~Copyable {
    private static let size = 4096
    private let base: UnsafeMutableRawPointer

    init() throws {
        let size = Self.size
        // Where there is no memory, the second call fails.
        let mapped = mmap(nil, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        let start = try #require(mapped)
        let result = mprotect(start + size, size, PROT_READ | PROT_WRITE)
        try #require(result == 0)
        base = start
    }

    deinit { munmap(base, 3 * Self.size) }

    /// Returns the page's first or last bytes, of which there are at most 4096.
    func bytes(_ count: Int, atEnd: Bool) -> UnsafeMutablePointer<UInt8> {
        (base + (atEnd ? 2 * Self.size - count : Self.size)).assumingMemoryBound(to: UInt8.self)
    }
}

extension Chance {
    /// Returns a way through a picture that is `width` wide, from a row of `rows`, down in steps of
    /// at most `steep`, and across in such of at most twice `wide`.
    fileprivate mutating func warp(
        _ width: Int,
        _ rows: ClosedRange<Float>,
        _ steep: Float,
        _ wide: Float
    ) -> kernel_warp {
        func number(_ range: ClosedRange<Float>) -> Float {
            let share = Float(next() % 1001) / 1000
            return range.lowerBound + (range.upperBound - range.lowerBound) * share
        }
        return kernel_warp(
            x: number(-3...Float(width)),
            x_step: number(-1...2) * wide,
            y: number(rows),
            y_step: number(-1...1) * steep,
            d: number(0.5...1.5),
            d_step: number(0...0.01)
        )
    }
}

@Suite("Pictures in perspective") struct WarpTests {
    /// Returns the sample at a place between samples, which ends at the edges.
    private func sample(_ bytes: [UInt8], _ size: Size, _ x: Double, _ y: Double) -> Double {
        let x = min(max(x, 0), Double(size.width - 1)), y = min(max(y, 0), Double(size.height - 1))
        let (column, row) = (min(Int(x), size.width - 2), min(Int(y), size.height - 2))
        let (right, below) = (x - Double(column), y - Double(row))
        func at(_ x: Int, _ y: Int) -> Double { Double(bytes[(row + y) * size.width + column + x]) }
        let upper = at(0, 0) * (1 - right) + at(1, 0) * right
        let lower = at(0, 1) * (1 - right) + at(1, 1) * right
        return upper * (1 - below) + lower * below
    }

    // Gentle slopes are read in runs of 16 samples, steep ones sample by sample.
    @Test(arguments: [2, 3, 4, 5, 15, 16, 17, 130], [2, 3, 40])
    func eachSampleIsMixedOfFour(width: Int, height: Int) {
        let size = Size(width: width, height: height)
        var random = Chance(seed: UInt64(width * height))
        // Smooth, so that a 128th of a sample matters little.
        let bytes = (0..<size.area).map { UInt8(100 + 20 * ($0 % width % 3) + $0 / width % 5) }
        for round in 0..<40 {
            let steep: Float = round % 2 == 0 ? 1 : 0.1
            let warp = random.warp(width, -3...Float(height), steep, steep + 0.3)
            var row = [UInt8](repeating: 0xaa, count: 38)
            kernel_warp(&row, bytes, CInt(width), CInt(width), CInt(height), warp, 37)
            #expect(row[37] == 0xaa, "nothing beyond the row")
            // Two planes at once are what each is alone.
            var (pair, other) = (row, row)
            let reversed = Array(bytes.reversed())
            var alone = row
            kernel_warp(&alone, reversed, CInt(width), CInt(width), CInt(height), warp, 37)
            let shape = (CInt(width), CInt(height))
            kernel_warp_pair(&pair, &other, bytes, reversed, shape.0, shape.0, shape.1, warp, 37)
            #expect(pair == row && other == alone)
            for i in 0..<37 {
                let d = Double(warp.d) + Double(warp.d_step) * Double(i)
                let x = (Double(warp.x) + Double(warp.x_step) * Double(i)) / d
                let y = (Double(warp.y) + Double(warp.y_step) * Double(i)) / d
                #expect(abs(Double(row[i]) - sample(bytes, size, x, y)) < 1.2)
            }
        }
    }

    #if arch(x86_64)
    // Samples of their own are computed by the plain form of the kernel, rows by the fast one.
    @Test(arguments: [16, 17, 60], [2, 3, 40])
    func rowsAreWhatTheirSamplesAreAlone(width: Int, height: Int) throws {
        let memory = try GuardedPage()
        var random = Chance(seed: UInt64(width + height))
        for round in 0..<300 {
            // Against either end of the memory.
            let bytes = memory.bytes(width * height, atEnd: round % 2 == 0)
            for i in 0..<width * height { bytes[i] = UInt8(truncatingIfNeeded: random.next()) }
            let steep: Float = round % 3 == 0 ? 1 : 0.06
            let warp = random.warp(width, -1...Float(height), steep, steep + 0.2)
            let count = 1 + round % 170
            let shape = (CInt(width), CInt(height))
            var row = [UInt8](repeating: 0xaa, count: count + 1)
            kernel_warp(&row, bytes, shape.0, shape.0, shape.1, warp, CInt(count))
            let alone = (0..<count).map { i in
                var sample: UInt8 = 0
                let place = kernel_warp(
                    x: warp.x + warp.x_step * Float(i),
                    x_step: 0,
                    y: warp.y + warp.y_step * Float(i),
                    y_step: 0,
                    d: warp.d + warp.d_step * Float(i),
                    d_step: 0
                )
                kernel_warp(&sample, bytes, shape.0, shape.0, shape.1, place, 1)
                return sample
            }
            #expect(row == alone + [0xaa], "round \(round)")
        }
    }
    #endif

    @Test(arguments: [0, -1, Float.infinity, -.infinity, .nan, 1e30, -1e30, 1e-30])
    func noNumberReadsBesideThePlane(number: Float) {
        // The memory ends with the plane, and anything but its 7 would show.
        let size = Size(width: 24, height: 8)
        var bytes = [UInt8](repeating: 99, count: 3 * size.area)
        for i in size.area..<2 * size.area { bytes[i] = 7 }
        for field in 0..<6 {
            var warp = kernel_warp(x: 3, x_step: 1, y: 2, y_step: 0.1, d: 1, d_step: 0.01)
            switch field {
            case 0: warp.x = number
            case 1: warp.x_step = number
            case 2: warp.y = number
            case 3: warp.y_step = number
            case 4: warp.d = number
            default: warp.d_step = number
            }
            var row = [UInt8](repeating: 0, count: 40)
            bytes.withUnsafeBufferPointer { bytes in
                guard let base = bytes.baseAddress else { return }
                kernel_warp(&row, base + size.area, 24, 24, 8, warp, 40)
            }
            #expect(row.allSatisfy { $0 == 7 })
        }
    }

    @Test func aProjectionTakesCornersToCorners() {
        let corners: InlineArray<4, (x: Double, y: Double)> = [(3, 4), (90, 11), (70, 60), (8, 55)]
        let rect = Rect(x: 10, y: 20, width: 200, height: 100)
        let projection = Projection(rect, to: corners)
        let places = [(10.0, 20.0), (210, 20), (210, 120), (10, 120)]
        for (index, place) in places.enumerated() {
            let image = projection.apply(toX: place.0, y: place.1)
            #expect(abs(image.x - corners[index].x) < 1e-9)
            #expect(abs(image.y - corners[index].y) < 1e-9)
        }
        // The middle of a quadrilateral is where its diagonals cross.
        let middle = projection.apply(toX: 110, y: 70)
        let across = (middle.x - 3) * (60 - 4) - (middle.y - 4) * (70 - 3)
        let other = (middle.x - 90) * (55 - 11) - (middle.y - 11) * (8 - 90)
        #expect(abs(across) < 1e-6 && abs(other) < 1e-6)
    }
}
