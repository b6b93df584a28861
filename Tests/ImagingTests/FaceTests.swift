import CCairo
import CKernels
import Foundation
import Frames
import TestJPEGs
import TestSupport
import Testing

@testable import Imaging

@Suite("A face") struct FaceTests {
    /// A picture in `Persons`, each pixel blue, green, red and one unused byte.
    private struct Picture {
        let size: Size
        let bytes: [UInt8]

        init(_ name: String) throws {
            let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("Persons/\(name).png").path
            let surface = cairo_image_surface_create_from_png(path)
            defer { cairo_surface_destroy(surface) }
            let data = try #require(cairo_image_surface_get_data(surface), "\(path)")
            size = Size(
                width: Int(cairo_image_surface_get_width(surface)),
                height: Int(cairo_image_surface_get_height(surface))
            )
            try #require(Int(cairo_image_surface_get_stride(surface)) == 4 * size.width)
            bytes = Array(UnsafeBufferPointer(start: data, count: 4 * size.area))
        }

        /// Returns the picture `scale` times as large, on a gray one of `whole` from (`x`, `y`) on,
        /// turned by `transform`, and `light` times as light.
        func frame(
            scale: Int = 3,
            on whole: Size? = nil,
            at x: Int = 0,
            _ y: Int = 0,
            turned transform: Transform = .identity,
            light: Double = 1
        ) -> Frame {
            let whole = whole ?? Size(width: scale * size.width, height: scale * size.height)
            let shown = transform.apply(to: whole)
            return TestJPEGs.frame(size: shown, format: .i420, color: .jpeg) { plane, column, row in
                let (h, v) = plane == 0 ? (1, 1) : (2, 2)
                let place = transform.inverse.apply(toX: column * h, y: row * v, in: shown)
                let (left, top) = ((place.x - x) / scale, (place.y - y) / scale)
                let isInside =
                    place.x >= x && place.y >= y && left < size.width && top < size.height
                guard isInside else { return plane == 0 ? UInt8(90 * light) : 128 }
                let index = 4 * (top * size.width + left)
                let (blue, green, red) = (
                    Double(bytes[index]) * light, Double(bytes[index + 1]) * light,
                    Double(bytes[index + 2]) * light
                )
                let luma = 0.299 * red + 0.587 * green + 0.114 * blue
                let value = [luma, (blue - luma) / 1.772 + 128, (red - luma) / 1.402 + 128][plane]
                return UInt8(max(0, min(255, value.rounded())))
            }
        }
    }

    /// The strongest place of each picture as the network's makers find it, its score, and the
    /// first of its numbers.
    @Test(
        "is found by the network as by its makers",
        arguments: [
            ("astronaut", 239, 2.8305, [-3.670, -0.156, 24.384, 24.384, -9.314, -6.640, 1.910]),
            ("drawn", 241, 2.2855, [-0.656, 3.465, 19.756, 19.756, -6.247, 0.491, 1.801]),
            ("desk", 674, -1.0693, [-6.540, 2.038, 48.026, 48.020, -21.962, -9.238, -4.143]),
        ]
    )
    func network(_ name: String, _ place: Int, _ score: Double, _ values: [Double]) throws {
        let picture = try Picture("\(name)-128x128")
        let network = KernelMemory(kernel_face_size())
        kernel_face_prepare(network.pointer)
        for y in 0..<128 {
            let row = try #require(kernel_face_input(network.pointer, CInt(y)))
            for x in 0..<128 {
                for color in 0..<3 {
                    let byte = picture.bytes[4 * (128 * y + x) + 2 - color]
                    row[3 * x + color] = Float(byte) / 127.5 - 1
                }
            }
        }
        var scores = [Float](repeating: 0, count: 896)
        var boxes = [Float](repeating: 0, count: 16 * 896)
        // Nothing is left of a picture before.
        for _ in 0..<2 { kernel_face(network.pointer, &scores, &boxes) }
        #expect(scores.indices.max { scores[$0] < scores[$1] } == place)
        #expect(abs(Double(scores[place]) - score) < 1e-3)
        for (index, value) in values.enumerated() {
            #expect(abs(Double(boxes[16 * place + index]) - value) < 1e-3, "\(index)")
        }
    }

    /// Each way that a camera can be mounted, mirrored or not.
    @Test("is found where it is, whichever way the camera is mounted", arguments: Transform.all)
    func mounted(_ transform: Transform) throws {
        for (name, x, y, height) in [("astronaut", 0.44, 0.44, 0.34), ("drawn", 0.526, 0.49, 0.27)]
        {
            let frame = try Picture(name).frame(turned: transform.inverse)
            let faces = FaceFinder().find(in: frame, transform)
            #expect(faces.count == 1)
            let face = try #require(faces.first)
            #expect(abs(face.box.midX - x) < 0.02 && abs(face.box.midY - y) < 0.03, "\(face)")
            #expect(abs(face.box.height - height) < 0.05 && face.eyes < face.box.midY)
        }
    }

    @Test("is found small, at the side, and in the dark, and then followed")
    func small() throws {
        let picture = try Picture("drawn")
        let whole = Size(width: 1280, height: 720)
        for (x, light) in [
            (10, 1), (500, 1), (250, 0.15),
        ] as [(Int, Double)] {
            let finder = FaceFinder()
            let frame = picture.frame(
                scale: 3,
                on: whole,
                at: x,
                240,
                light: light
            )
            var faces: [Face] = []
            // All of the picture, then its halves.
            for _ in 0..<3 where faces.isEmpty { faces = finder.find(in: frame, .identity) }
            for _ in 0..<6 {
                let again = finder.find(in: frame, .identity)
                #expect(again.count == 1)
                let moved = abs((again.first?.box.midX ?? 0) - (faces.first?.box.midX ?? 1))
                #expect(moved < 0.01)
            }
            let middle = (Double(x) + 0.526 * 768) / 1280
            #expect(abs((faces.first?.box.midX ?? 0) - middle) < 0.02, "\(x) \(faces)")
            // It is gone at once when it is.
            let desk = picture.frame(scale: 1, on: whole, at: 2000, 0)
            _ = finder.find(in: desk, .identity)
            #expect((0..<4).allSatisfy { _ in finder.find(in: desk, .identity).isEmpty })
        }
    }

    @Test func `has the luma of its middle, whatever the range of the picture's numbers`() throws {
        let picture = try Picture("drawn").frame()
        let full = try #require(FaceFinder().find(in: picture, .identity).first)
        let half = try #require(
            FaceFinder().find(in: try Picture("drawn").frame(light: 0.5), .identity).first
        )
        #expect(full.luma > 100 && abs(half.luma - full.luma / 2) < 3)
    }

    @Test("is one of all places that have much in common, by how sure they are")
    func merging() {
        func box(_ x: Double, _ score: Double) -> FaceCandidate {
            FaceCandidate(box: Rect(x: x, y: 10, width: 20, height: 20), score: score)
        }
        let faces = FaceCandidate.merged([box(10, 0.9), box(12, 0.6), box(60, 0.7)], 0.3)
        #expect(faces.count == 2 && faces.map(\.score) == [0.9, 0.7])
        let mean: Double = (10 * 0.9 + 12 * 0.6) / 1.5
        #expect(abs(faces[0].box.x - mean) < 1e-9 && abs(faces[1].box.x - 60) < 1e-9)
        // A place is the middle of its cell: two in each of the fine, six in the coarse.
        var scores = [Float](repeating: -9, count: 896)
        var values = [Float](repeating: 0, count: 16 * 896)
        for place in [2 * 17, 512 + 6 * 9 + 5] {
            scores[place] = 3
            values[16 * place + 2] = 64
            values[16 * place + 3] = 32
        }
        let found = FaceCandidate.all(scores, values, above: 0.5)
        let middles: [Double] = [12, 24]
        #expect(found.map(\.box.midX) == middles && found.map(\.box.midY) == middles)
        #expect(found.allSatisfy { $0.box.width == 64 && $0.box.height == 32 })
    }
}
