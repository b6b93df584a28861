import CKernels
package import Frames
import Glibc

/// Finds faces in the pictures of one camera, one after the other: in all of the picture, in its
/// halves for smaller ones, and around those found before. It tells faces from what is none, and
/// recognises nobody. Bound to one thread.
package final class FaceFinder {
    private let network = KernelMemory(kernel_face_size())
    private var copy = HalvedCopy()
    private var first = Scratch()
    private var second = Scratch()
    private var scores = [Float](repeating: 0, count: Int(KERNEL_FACE_COUNT))
    private var boxes = [Float](repeating: 0, count: 16 * Int(KERNEL_FACE_COUNT))
    private var known: [Face] = []
    /// The number of pictures so far.
    private var count = 0

    /// The side of the network's picture.
    private static let side = Double(KERNEL_FACE_SIDE)
    /// The certainty that makes a face, and one that was there before, 0 … 1.
    private static let (sure, likely) = (0.7, 0.4)
    /// The share in common from which two boxes are one face.
    private static let same = 0.3

    /// Creates a finder, which takes some milliseconds and megabytes.
    package init() { kernel_face_prepare(network.pointer) }

    /// Returns the faces in `frame`, the largest first, as it is after `transform`. One that is
    /// far from those found before may be found some pictures later. None if the format is not YUV.
    package func find(in frame: Frame, _ transform: Transform) -> [Face] {
        guard let source = RoomFilter.planes(of: frame, &copy), source.luma.rowBytes > 1 else {
            return []
        }
        let picture = frame.picture
        let shown =
            transform.swapsAxes
            ? Rect(x: 0, y: 0, width: picture.height, height: picture.width) : picture
        let looksAround = known.isEmpty || count % 4 == 3
        let part = region(in: shown, looksAround).fraction(of: shown)
        count += 1
        let aspect = part.width * shown.width / (part.height * shown.height)
        let found = find(in: source, of: frame, transform, part, aspect: aspect)
        known =
            found
            + known.filter { old in
                looksAround && !found.contains { $0.box.overlap(with: old.box) > Self.same }
            }
        known.sort { $0.box.height > $1.box.height }
        return known
    }

    /// Returns the part of a picture of the size of `shown` to look through next, in pixels: all, a
    /// square at one end or the other, or a square around the known faces.
    private func region(in shown: Rect, _ looksAround: Bool) -> Rect {
        let least = min(shown.width, shown.height)
        let number = known.isEmpty ? count % 3 : count / 4 % 3
        var (side, x, y) = (least, shown.width, shown.height)
        if number == 1 { (x, y) = (0, 0) }
        if !looksAround {
            let place = shown.part(Rect.around(known.map(\.box)))
            side = max(3 * shown.height * known[0].box.height, 2 * place.width, 2 * place.height)
            (x, y) = (place.midX, place.midY)
        }
        if looksAround ? number == 0 : side > least { return shown }
        return Rect(
            x: min(max(0, x - side / 2), shown.width - side),
            y: min(max(0, y - side / 2), shown.height - side),
            width: side,
            height: side
        )
    }

    /// Returns the faces in `part` of a picture, which is `aspect` times as wide as high.
    private func find(
        in source: Planes,
        of frame: Frame,
        _ transform: Transform,
        _ part: Rect,
        aspect: Double
    ) -> [Face] {
        let square = Rect(x: 0, y: 0, width: Self.side, height: Self.side)
        let inset = square.fitting(aspect: aspect)
        let place = inset.nearest
        let small = source.cropped(to: frame.picture.part(transform.inverse.apply(to: part)))
            .scaled(to: place.size, transform: transform, &first, &second)
        show(small, frame.color, atX: place.x, place.y)
        kernel_face(network.pointer, &scores, &boxes)
        let candidates = FaceCandidate.all(scores, boxes, above: Self.likely)
        let isFull = frame.color.range == .full
        return FaceCandidate.merged(candidates, Self.same).compactMap { candidate in
            let inner = candidate.box.fraction(of: inset)
            let box = part.part(inner)
            let isKnown = known.contains { $0.box.overlap(with: box) > Self.same }
            let whole = PixelRect(small.size)
            let middle = PixelRect(covering: Rect(small.size).part(inner.scaled(by: 0.5)))
                .intersection(whole)
            guard isKnown || candidate.score >= Self.sure, !middle.isEmpty else { return nil }
            let pixels = small.luma.cropped(
                x: middle.x,
                y: middle.y,
                width: middle.width,
                height: middle.height
            )
            let luma = Double(pixels.level(of: 0.5))
            return Face(box: box, luma: isFull ? luma : (luma - 16) * 255 / 219)
        }
    }

    /// Makes `small`, which is as wide or as high as the network's picture, the middle of that. The
    /// rest is black. What is dark gets lighter.
    private func show(_ small: Planes, _ color: ColorSpace, atX left: Int, _ top: Int) {
        let colours = kernel_colours(color)
        let black: Float = color.range == .full ? 0 : 16
        let gain = 2 / max(small.luma.level(of: 0.99) - black, 32)
        for y in 0..<Int(Self.side) {
            guard let row = kernel_face_input(network.pointer, CInt(y)) else { return }
            row.update(repeating: -1, count: 3 * Int(Self.side))
            guard (0..<small.luma.rows).contains(y - top) else { continue }
            let pixels = row + 3 * left
            let (luma, u, v) = (
                small.luma.row(y - top), small.u.row(y - top), small.v.row(y - top)
            )
            for x in 0..<small.luma.rowBytes {
                let light = Float(luma[x]) - black
                let (blue, red) = (Float(u[x / 2]) - 128, Float(v[x / 2]) - 128)
                let green = light + colours.green_u * blue + colours.green_v * red
                pixels[3 * x] = min(max((light + colours.red_v * red) * gain - 1, -1), 1)
                pixels[3 * x + 1] = min(max(green * gain - 1, -1), 1)
                pixels[3 * x + 2] = min(max((light + colours.blue_u * blue) * gain - 1, -1), 1)
            }
        }
    }
}

/// A place that may be a face, in pixels of the network's picture.
struct FaceCandidate {
    var box: Rect
    /// The network's certainty, 0 … 1.
    var score: Double

    /// Returns what the network says of each place, by its `scores` and `values`, of which it is
    /// sure enough.
    static func all(_ scores: [Float], _ values: [Float], above least: Double) -> [FaceCandidate] {
        scores.indices.compactMap { index in
            let score = 1 / (1 + exp(-Double(scores[index])))
            guard score >= least else { return nil }
            let (cells, cell) = index < 512 ? (16, index / 2) : (8, (index - 512) / 6)
            let size = Double(Int(KERNEL_FACE_SIDE) / cells)
            let value = (0..<4).map { Double(values[16 * index + $0]) }
            let box = Rect(
                x: (Double(cell % cells) + 0.5) * size + value[0] - value[2] / 2,
                y: (Double(cell / cells) + 0.5) * size + value[1] - value[3] / 2,
                width: value[2],
                height: value[3]
            )
            return FaceCandidate(box: box, score: score)
        }
    }

    /// Returns one candidate for each face: the mean of those that have more than `share` in common
    /// with the surest of them, by how sure they are.
    static func merged(_ candidates: [FaceCandidate], _ share: Double) -> [FaceCandidate] {
        var rest = candidates.filter { $0.box.width > 0 && $0.box.height > 0 }
            .sorted { $0.score > $1.score }
        var faces: [FaceCandidate] = []
        while let best = rest.first {
            let same = rest.filter { $0.box.overlap(with: best.box) > share }
            rest.removeAll { $0.box.overlap(with: best.box) > share }
            let box = Rect.mean(same.map { ($0.box, $0.score) })
            faces.append(FaceCandidate(box: box, score: best.score))
        }
        return faces
    }
}

extension Plane {
    /// Returns the value that `share` of the bytes do not exceed.
    fileprivate func level(of share: Double) -> Float {
        var counts = [Int](repeating: 0, count: 256)
        for y in 0..<rows { for x in 0..<rowBytes { counts[Int(row(y)[x])] += 1 } }
        var left = Int(share * Double(rows * rowBytes))
        return Float(
            counts.firstIndex {
                left -= $0; return left < 0
            } ?? 255
        )
    }
}
