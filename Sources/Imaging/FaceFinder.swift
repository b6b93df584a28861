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
    private static let side = Int(KERNEL_FACE_SIDE)
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
        let region = looksAround ? scanned(shown) : followed(shown)
        count += 1
        let found = find(in: source, of: frame, transform, region, shown)
        known =
            looksAround
            ? found
                + known.filter { old in
                    !found.contains { $0.box.overlap(with: old.box) > Self.same }
                } : found
        known.sort { $0.box.height > $1.box.height }
        return known
    }

    /// Returns the next part of a picture of the size of `shown` to look through, in pixels.
    private func scanned(_ shown: Rect) -> Rect {
        let side = min(shown.width, shown.height)
        let number = known.isEmpty ? count % 3 : count / 4 % 3
        if number == 0 { return shown }
        let isLast = number == 2
        return Rect(
            x: isLast ? shown.width - side : 0,
            y: isLast ? shown.height - side : 0,
            width: side,
            height: side
        )
    }

    /// Returns a square around the known faces; all if they are far apart.
    private func followed(_ shown: Rect) -> Rect {
        let all = known.dropFirst().reduce(known[0].box) { $0.union($1.box) }
        let place = shown.part(all)
        let side = max(3 * shown.height * known[0].box.height, 2 * place.width, 2 * place.height)
        guard side < min(shown.width, shown.height) else { return shown }
        return Rect(
            x: min(max(0, place.midX - side / 2), shown.width - side),
            y: min(max(0, place.midY - side / 2), shown.height - side),
            width: side,
            height: side
        )
    }

    private func find(
        in source: Planes,
        of frame: Frame,
        _ transform: Transform,
        _ region: Rect,
        _ shown: Rect
    ) -> [Face] {
        let fraction = Rect(
            x: region.x / shown.width,
            y: region.y / shown.height,
            width: region.width / shown.width,
            height: region.height / shown.height
        )
        let part = frame.picture.part(transform.inverse.apply(to: fraction))
        let scale = Double(Self.side) / max(region.width, region.height)
        let size = Size(
            width: max(2, Int((region.width * scale / 2).rounded()) * 2),
            height: max(1, Int((region.height * scale).rounded()))
        )
        let small = source.cropped(to: part).scaled(
            to: size,
            transform: transform,
            &first,
            &second
        )
        show(small, frame.color)
        kernel_face(network.pointer, &scores, &boxes)
        let (black, white) = frame.color.range == .full ? (0.0, 255.0) : (16, 219)
        let candidates = FaceCandidate.all(scores, boxes, above: Self.likely)
        return FaceCandidate.merged(candidates, Self.same).compactMap { candidate in
            // The small picture is in the middle of the network's.
            let (left, top) = Self.start(of: size)
            let (side, width, height) = (
                Double(Self.side), Double(size.width), Double(size.height)
            )
            let inner = Rect(
                x: (candidate.box.x * side - Double(left)) / width,
                y: (candidate.box.y * side - Double(top)) / height,
                width: candidate.box.width * side / width,
                height: candidate.box.height * side / height
            )
            let box = fraction.part(inner)
            let eyes = fraction.y + (candidate.eyes * side - Double(top)) / height * fraction.height
            let isKnown = known.contains { $0.box.overlap(with: box) > Self.same }
            guard isKnown || candidate.score >= Self.sure else { return nil }
            let luma = small.luma.mean(Rect(size).part(inner.scaled(by: 0.5)))
            return Face(box: box, eyes: eyes, luma: (luma - black) * 255 / white)
        }
    }

    /// Returns the place of the first pixel of a picture of `size` in the middle of the network's.
    private static func start(of size: Size) -> (x: Int, y: Int) {
        ((side - size.width) / 2, (side - size.height) / 2)
    }

    /// Makes `small`, which is as wide or as high as the network's picture, the middle of that. The
    /// rest is black. What is dark gets lighter.
    private func show(_ small: Planes, _ color: ColorSpace) {
        let colours = kernel_colours(color)
        let (left, top) = Self.start(of: small.size)
        let black: Float = color.range == .full ? 0 : 16
        let gain = 2 / max(small.luma.level(of: 0.99) - black, 32)
        for y in 0..<Self.side {
            guard let row = kernel_face_input(network.pointer, CInt(y)) else { return }
            row.update(repeating: -1, count: 3 * Self.side)
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

/// A place that may be a face, in fractions of the network's picture.
struct FaceCandidate {
    var box: Rect
    var eyes: Double
    /// The network's certainty, 0 … 1.
    var score: Double

    /// Returns what the network says of each place, by its `scores` and `values`, of which it is
    /// sure enough.
    static func all(_ scores: [Float], _ values: [Float], above least: Double) -> [FaceCandidate] {
        scores.indices.compactMap { index in
            let score = 1 / (1 + exp(-Double(scores[index])))
            guard score >= least else { return nil }
            let (cells, cell) = index < 512 ? (16, index / 2) : (8, (index - 512) / 6)
            func value(_ number: Int) -> Double {
                Double(values[16 * index + number]) / Double(KERNEL_FACE_SIDE)
            }
            let x = (Double(cell % cells) + 0.5) / Double(cells)
            let y = (Double(cell / cells) + 0.5) / Double(cells)
            let (width, height) = (value(2), value(3))
            return FaceCandidate(
                box: Rect(
                    x: x + value(0) - width / 2,
                    y: y + value(1) - height / 2,
                    width: width,
                    height: height
                ),
                eyes: y + (value(5) + value(7)) / 2,
                score: score
            )
        }
    }

    /// Returns one candidate for each face: the mean of those that have more than `share` in common
    /// with the surest of them, by how sure they are.
    static func merged(_ candidates: [FaceCandidate], _ share: Double) -> [FaceCandidate] {
        var rest = candidates.sorted { $0.score > $1.score }
        var faces: [FaceCandidate] = []
        while let best = rest.first {
            let same = rest.filter { $0.box.overlap(with: best.box) > share }
            // A box without an area has nothing in common even with itself.
            rest = rest.dropFirst().filter { $0.box.overlap(with: best.box) <= share }
            let sum = same.reduce(0) { $0 + $1.score }
            guard sum > 0 else { continue }
            func mean(_ value: (FaceCandidate) -> Double) -> Double {
                same.reduce(0) { $0 + $1.score * value($1) } / sum
            }
            let box = Rect(
                x: mean(\.box.x),
                y: mean(\.box.y),
                width: mean(\.box.width),
                height: mean(\.box.height)
            )
            faces.append(FaceCandidate(box: box, eyes: mean(\.eyes), score: best.score))
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

    /// Returns the mean of the bytes in `part`, as far as it lies in the plane; 0 without any.
    fileprivate func mean(_ part: Rect) -> Double {
        let place = part.intersection(Rect(Size(width: rowBytes, height: rows)))
        let pixels = PixelRect(covering: place).intersection(
            PixelRect(Size(width: rowBytes, height: rows))
        )
        var sum = 0
        for y in pixels.y..<pixels.maxY {
            for x in pixels.x..<pixels.maxX { sum += Int(row(y)[x]) }
        }
        return Double(sum) / Double(max(1, pixels.size.area))
    }
}
