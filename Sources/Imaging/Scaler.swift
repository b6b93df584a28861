import CKernels
package import Frames

/// The shown part of a picture, upright or reflected, and its size.
package struct View: Hashable, Sendable {
    /// The part, in the frame's own pixels, all of it inside.
    package var part: Rect
    /// The size of the view, in pixels; the width is even.
    package var size: Size
    package var isMirrored: Bool
    package var isFlipped: Bool

    /// Creates the view of `part` at `size`, turned by `transform`, which must keep rows as rows.
    package init(_ part: Rect, at size: Size, transform: Transform = .identity) {
        precondition(!transform.swapsAxes && size.width > 0 && size.height > 0)
        precondition(size.width % 2 == 0)
        self.part = part
        self.size = size
        isFlipped = transform.quarterTurns == 2
        isMirrored = transform.isMirrored != isFlipped
    }
}

/// Writes views of frames of any format as rows of the stream's packed 4:2:2.
///
/// It halves the picture while that leaves it large enough, then interpolates between four
/// neighbours: down a column first, in rows in memory order, then along the row. Rows that need no
/// scaling are copied, or packed. Bound to one thread; valid while the frame that it was prepared
/// for is held.
package struct Scaler: ~Copyable {
    private var reader = RowReader()
    private var packer = Packer(.video)
    private var view = View(Rect(x: 0, y: 0, width: 2, height: 1), at: Size(width: 2, height: 1))
    /// The rows as they lie in memory, if they need only be copied.
    private var packed: Plane?
    /// `true` if each row of the view is one of the picture's, halved or not; the same of columns.
    private var areRowsWhole = false
    private var areColumnsWhole = false

    private var memory = Scratch()
    /// The plan of each sixteen columns, and its source.
    private var plan: UnsafeMutablePointer<kernel_columns>
    private var geometry: Geometry?
    private var rows = Scratch()
    /// A row mixed of two of the picture, and the view's row that it is.
    private var luma: UnsafeMutablePointer<UInt8>
    private var chroma: UnsafeMutablePointer<UInt8>
    private var mixed = -1

    /// The source of a plan of the columns.
    private struct Geometry: Hashable {
        var view: View
        var source: Size
    }

    package init() {
        plan = UnsafeMutableRawPointer(memory.reserve(MemoryLayout<kernel_columns>.stride))
            .assumingMemoryBound(to: kernel_columns.self)
        luma = rows.reserve(64)
        chroma = luma
    }

    /// Returns the number of times to halve a picture of which `extent` pixels are shown as
    /// `shown`: it must not become smaller than it is shown, apart from the pixels by which a
    /// rectangle is rounded up.
    package static func halvings(_ extent: Double, as shown: Int) -> Int {
        var halvings = 0
        while suffices(extent / Double(2 << halvings), for: Double(shown)) { halvings += 1 }
        return halvings
    }

    /// Returns `true` if `count` pixels are enough to draw `shown` of them.
    static func suffices(_ count: Double, for shown: Double) -> Bool {
        count >= max(shown * 63 / 64, 2)
    }

    /// Writes `view` of `frame` from now on. Returns `false` if the format is not YUV. Allocates
    /// only for the largest picture and view so far.
    package mutating func prepare(_ frame: Frame, _ view: View) -> Bool {
        let halvings = Self.halvings(view.part.width, as: view.size.width)
        guard reader.prepare(frame, halvings: halvings) else { return false }
        self.view = view
        mixed = -1
        packer = Packer(frame.color)
        let size = frame.layout.size
        let all = view.part == Rect(size)
        areRowsWhole = all && view.size.height << halvings == size.height
        areColumnsWhole = all && view.size.width << halvings == size.width && !view.isMirrored
        let isCopied = areRowsWhole && areColumnsWhole && halvings == 0
        let isStream = frame.layout.format == .yuyv && frame.color == .video
        packed = isCopied && isStream ? frame.plane(0) : nil
        let stride = (reader.size.width + 127) / 64 * 64
        luma = rows.reserve(2 * stride)
        chroma = luma + stride
        if !areColumnsWhole { planColumns(of: size) }
        return true
    }

    private mutating func planColumns(of source: Size) {
        let geometry = Geometry(view: view, source: source)
        guard geometry != self.geometry else { return }
        self.geometry = geometry
        let blocks = (view.size.width + Self.block - 1) / Self.block
        plan = UnsafeMutableRawPointer(
            memory.reserve(blocks * MemoryLayout<kernel_columns>.stride)
        )
        .assumingMemoryBound(to: kernel_columns.self)
        kernel_plan(
            plan,
            CInt(view.size.width),
            axis(of: reader.size.width, as: view.size.width, whole: source.width),
            axis(of: reader.pairs, as: view.size.width / 2, whole: source.width),
            view.isMirrored ? 1 : 0
        )
    }

    /// Returns the axis of `total` columns of the view along `count` samples, which stand for
    /// `whole` columns of the frame: the middle of each lies in the middle of the samples that it
    /// covers.
    private func axis(of count: Int, as total: Int, whole: Int) -> kernel_axis {
        let scale = Double(count) / Double(whole)
        let step = view.part.width * scale / Double(total)
        let start = view.part.x * scale + step / 2 - 0.5
        return kernel_axis(
            start: Int64(start * 0x1p32),
            step: Int64(step * 0x1p32),
            count: Int32(count)
        )
    }

    /// Writes the pixels of the view's row `y` from `x0` up to `x1` (both even) to `destination`.
    package mutating func write(
        y: Int,
        from x0: Int,
        to x1: Int,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        let y = view.isFlipped ? view.size.height - 1 - y : y
        let count = x1 - x0
        if let packed {
            destination.update(from: packed.row(y) + 2 * x0, count: 2 * count)
            return
        }
        if areColumnsWhole {
            // Scaling reads beyond a row's end, which the frame's memory does not allow.
            let row = areRowsWhole ? reader.row(y) : mixedRow(y)
            packer.pack(
                luma: row.luma + x0,
                chroma: row.chroma + x0,
                count: count,
                into: destination
            )
            return
        }
        let row = mixedRow(y)
        var x = x0
        if x % Self.block != 0 {
            x += write(row, from: x, to: min(x1, x + Self.block - x % Self.block), destination)
        }
        let blocks = (x1 - x) / Self.block
        if blocks > 0 {
            let target = destination + 2 * (x - x0)
            kernel_scale(
                target,
                row.luma,
                row.chroma,
                plan + x / Self.block,
                CInt(blocks),
                packer.gain
            )
            x += blocks * Self.block
        }
        if x < x1 { x += write(row, from: x, to: x1, destination + 2 * (x - x0)) }
        packer.finish(destination, count: count)
    }

    /// Writes whole rows of the view to `destination`, `stride` bytes apart; in one copy if it can.
    package mutating func write(
        rows: Range<Int>,
        into destination: UnsafeMutablePointer<UInt8>,
        stride: Int
    ) {
        if let packed, !view.isFlipped, packed.stride == stride, packed.rowBytes == stride {
            destination.update(from: packed.row(rows.lowerBound), count: stride * rows.count)
            return
        }
        for y in rows {
            let target = destination + (y - rows.lowerBound) * stride
            write(y: y, from: 0, to: view.size.width, into: target)
        }
    }

    /// The pixels that are planned and scaled at a time.
    private static let block = 16

    /// Writes pixels of a block of which others are not wanted, and returns their number.
    private func write(
        _ row: SplitRow,
        from: Int,
        to: Int,
        _ destination: UnsafeMutablePointer<UInt8>
    ) -> Int {
        var pixels = Self.pixels
        var span = pixels.mutableSpan
        span.withUnsafeMutableBufferPointer { pixels in
            guard let base = pixels.baseAddress else { return }
            kernel_scale(base, row.luma, row.chroma, plan + from / Self.block, 1, packer.gain)
            destination.update(from: base + 2 * (from % Self.block), count: 2 * (to - from))
        }
        return to - from
    }

    private static var pixels: [32 of UInt8] { .init(repeating: 0) }

    /// Mixes the two rows of the picture between which the view's row `y` lies.
    private mutating func mixedRow(_ y: Int) -> SplitRow {
        let row = SplitRow(luma: luma, chroma: chroma)
        guard y != mixed else { return row }
        mixed = y
        let scale = Double(1 << reader.halvings)
        let step = view.part.height / scale / Double(view.size.height)
        let place = view.part.y / scale + (Double(y) + 0.5) * step - 0.5
        let last = reader.size.height - 1
        let fixed = Int(max(0, min(place, Double(last))) * 256 + 0.5)
        reader.mix(fixed / 256, share: fixed % 256, into: luma, chroma)
        return row
    }
}
