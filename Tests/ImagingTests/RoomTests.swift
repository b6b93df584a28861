import CCairo
import CKernels
import Foundation
import Frames
import Imaging
import TestJPEGs
import TestSupport
import Testing

@Suite("The room behind a person") struct RoomTests {
    private static let small = Size(width: 256, height: 144)
    private static let (green, violet) = ([UInt8](arrayLiteral: 150, 44, 21), [120, 190, 150])

    /// Returns the bytes of a picture in `Persons`: blue, green, red and one unused of each pixel.
    private static func pixels(_ name: String) throws -> [UInt8] {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Persons/\(name).png").path
        let surface = cairo_image_surface_create_from_png(path)
        defer { cairo_surface_destroy(surface) }
        try #require(cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, "\(path)")
        let data = try #require(cairo_image_surface_get_data(surface))
        let stride = Int(cairo_image_surface_get_stride(surface))
        if cairo_image_surface_get_format(surface) == CAIRO_FORMAT_A8 {
            return (0..<small.height).flatMap { y in
                (0..<small.width).flatMap { [UInt8](repeating: data[y * stride + $0], count: 4) }
            }
        }
        try #require(stride == 4 * small.width)
        return Array(UnsafeBufferPointer(start: data, count: stride * small.height))
    }

    /// A person in a green room, `scale` times as large as in `Persons`, turned by `transform`.
    private static func person(
        _ name: String = "drawn",
        scale: Int = 4,
        format: PixelFormat = .i422,
        turned transform: Transform = .identity
    ) throws -> (frame: Frame, mask: [UInt8]) {
        let (bytes, mask) = (try pixels(name), try pixels("\(name)-mask"))
        let size = Size(width: scale * small.width, height: scale * small.height)
        let shown = transform.apply(to: size)
        let (h, v) = format.planarSubsampling ?? (1, 1)
        let picture = frame(size: shown, format: format, color: .jpeg) { plane, x, y in
            let (across, down) = plane == 0 ? (1, 1) : (h, v)
            let place = transform.inverse.apply(toX: x * across, y: y * down, in: shown)
            let index = 4 * (place.y / scale * small.width + place.x / scale)
            guard mask[index] > 4 else { return green[plane] }
            let (blue, leaf, red) = (
                Double(bytes[index]), Double(bytes[index + 1]), Double(bytes[index + 2])
            )
            let luma = 0.299 * red + 0.587 * leaf + 0.114 * blue
            let value = [luma, (blue - luma) / 1.772 + 128, (red - luma) / 1.402 + 128][plane]
            return UInt8(max(0, min(255, value.rounded())))
        }
        return (picture, mask)
    }

    @Test("is told from it as by the network's makers", arguments: ["astronaut", "drawn"])
    func masks(_ name: String) throws {
        let bytes = try Self.pixels(name)
        let expected = try Self.pixels("\(name)-mask")
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: kernel_person_size(),
            alignment: 64
        )
        defer { memory.deallocate() }
        let person = OpaquePointer(memory)
        kernel_person_prepare(person)
        for y in 0..<Self.small.height {
            let row = try #require(kernel_person_input(person, CInt(y)))
            for x in 0..<Self.small.width {
                for color in 0..<3 {
                    let byte = bytes[4 * (y * Self.small.width + x) + 2 - color]
                    row[3 * x + color] = Float(byte) / 255
                }
            }
        }
        var mask = [Float](repeating: 0, count: Self.small.area)
        kernel_person(person, &mask)
        var (worst, both, either) = (0, 0, 0)
        for (index, share) in mask.enumerated() {
            let (byte, wanted) = (Int((share * 255).rounded()), Int(expected[4 * index]))
            worst = max(worst, abs(byte - wanted))
            both += byte > 127 && wanted > 127 ? 1 : 0
            either += byte > 127 || wanted > 127 ? 1 : 0
        }
        #expect(worst <= 1 && Double(both) >= 0.999 * Double(either))
        #expect(either > Self.small.area / 10)
    }

    /// Each way that a camera can be mounted, mirrored or not.
    @Test(
        "is nowhere seen where another picture is, and the person is whole",
        arguments: Transform.all
    )
    func replaced(_ transform: Transform) throws {
        let (picture, mask) = try Self.person(turned: transform.inverse)
        // Its left half is white.
        let other = frame(size: Size(width: 320, height: 240), format: .i420) { plane, x, _ in
            plane == 0 && x < 160 ? 255 : UInt8(Self.violet[plane])
        }
        let cover = RoomCover(picture: other, transform: transform)
        let shown = try #require(RoomFilter().hide(picture, by: cover))
        #expect(shown.isRoomHidden && shown.layout == picture.layout)
        var (seen, person, kept) = (0, 0, 0)
        let size = shown.layout.size
        for y in 0..<size.height {
            for x in stride(from: 0, to: size.width, by: 2) {
                let place = transform.apply(toX: x, y: y, in: size)
                let sure = mask[4 * (place.y / 4 * Self.small.width + place.x / 4)]
                let color = (0..<3).map { Int(shown.plane($0).row(y)[$0 == 0 ? x : x / 2]) }
                let before = (0..<3).map { Int(picture.plane($0).row(y)[$0 == 0 ? x : x / 2]) }
                seen += abs(color[1] - 44) < 24 && abs(color[2] - 21) < 24 ? 1 : 0
                if sure > 250 {
                    person += 1
                    kept += color == before ? 1 : 0
                }
            }
        }
        #expect(seen == 0, "pixels of the room")
        #expect(person > 20000 && Double(kept) > 0.9 * Double(person), "\(kept) of \(person)")
        // It is upright, and not mirrored, as people see it.
        let corners = [(4, 4), (size.width - 6, size.height - 6)].map { x, y in
            (transform.apply(toX: x, y: y, in: size), shown.plane(0).row(y)[x])
        }
        let width = transform.apply(to: size).width
        for (place, luma) in corners {
            #expect(abs(Int(luma) - (place.x < width / 2 ? 255 : Self.violet[0])) < 3, "\(place)")
        }
    }

    /// The mask is a plane of the frame, which otherwise stays but at the person's edge.
    @Test func `is told by the mask of a person who is cut out`() throws {
        let (picture, sure) = try Self.person()
        #expect(RoomFilter().hide(picture, by: RoomCover())?.cutout == nil)
        let cover = RoomCover(showsRoom: true)
        let shown = try #require(RoomFilter().hide(picture, by: cover, cutsOut: true))
        let mask = try #require(shown.cutout)
        #expect(!shown.isRoomHidden && mask.layout.size == picture.layout.size)
        let copy = shown.copy()
        #expect(copy.cutout?.plane(0).row(288)[512] == mask.plane(0).row(288)[512])
        var (both, either, changed) = (0, 0, 0)
        for y in 0..<mask.layout.size.height {
            for x in 0..<mask.layout.size.width {
                let isPerson = sure[4 * (y / 4 * Self.small.width + x / 4)] > 127
                let (share, luma) = (mask.plane(0).row(y)[x], shown.plane(0).row(y)[x])
                both += isPerson && share > 127 ? 1 : 0
                either += isPerson || share > 127 ? 1 : 0
                changed += share == 0 && luma != picture.plane(0).row(y)[x] ? 1 : 0
            }
        }
        #expect(Double(both) >= 0.95 * Double(either), "\(both) of \(either)")
        #expect(changed == 0)
    }

    @Test("gives way by and by, and on the way shows no more of it than before")
    func fading() throws {
        let picture = try Self.person().frame
        let other = flatFrame(size: Self.small, format: .i420, Self.violet.map { UInt8($0) })
        func chroma(_ cover: RoomCover, _ former: RoomCover, _ share: Double) throws -> Int {
            let shown = try #require(
                RoomFilter().hide(picture, by: cover, after: (former, share))
            )
            #expect(shown.isRoomHidden == !(cover.showsRoom || former.showsRoom))
            return Int(shown.plane(2).row(10)[10])
        }
        let (room, hidden) = (RoomCover(showsRoom: true), RoomCover(picture: other))
        let red = try stride(from: 1.0, through: 0, by: -0.25).map { try chroma(hidden, room, $0) }
        #expect(red == red.sorted() && abs(red[0] - 21) <= 1 && abs(red[4] - 150) <= 1)
        #expect(abs(red[2] - 85) <= 2)
        #expect(abs(try chroma(room, hidden, 0.5) - 85) <= 2)
        // From one that hides to another, the room is not seen at all.
        let second = RoomCover(picture: flatFrame(size: Self.small, format: .i420, [9, 99, 50]))
        #expect(abs(try chroma(second, hidden, 0.5) - 100) <= 2)
    }

    @Test func `has no detail left where it is blurred`() throws {
        let (picture, mask) = try Self.person()
        for y in 0..<picture.layout.size.height {
            for x in 0..<picture.layout.size.width
            where mask[4 * (y / 4 * Self.small.width + x / 4)] < 5 && x / 8 % 2 == 0 {
                picture.plane(0).row(y)[x] = 90
            }
        }
        let shown = try #require(RoomFilter().hide(picture, by: RoomCover(blur: 0)))
        var worst = 0
        for y in stride(from: 0, to: 200, by: 10) {
            for x in 0..<200 {
                let row = shown.plane(0).row(y)
                worst = max(worst, abs(Int(row[x]) - Int(row[x + 8])))
            }
        }
        #expect(worst <= 3)
    }

    @Test("is hidden with all else while nobody is found, or looked for", arguments: [false, true])
    func nobody(hidesAll: Bool) throws {
        let empty = flatFrame(size: Size(width: 640, height: 360), format: .i420, Self.green)
        let picture = hidesAll ? try Self.person().frame : empty
        let other = flatFrame(size: Self.small, format: .i420, Self.violet.map { UInt8($0) })
        let cover = RoomCover(picture: other, hidesAll: hidesAll)
        let shown = try #require(RoomFilter().hide(picture, by: cover))
        for index in 0..<3 {
            let worst = greatestDifference(shown.plane(index)) { _, _ in Double(Self.violet[index])
            }
            #expect(worst <= 1)
        }
    }

    @Test func `is hidden where a person was long ago`() throws {
        let filter = RoomFilter()
        let violet = flatFrame(size: Self.small, format: .i420, Self.violet.map { UInt8($0) })
        let cover = RoomCover(picture: violet)
        _ = filter.hide(try Self.person().frame, by: cover)
        let size = Size(width: 1024, height: 576)
        let empty = flatFrame(
            size: size,
            format: .i422,
            at: Timestamp(seconds: 10),
            Self.green
        )
        let shown = try #require(filter.hide(empty, by: cover, reusing: true))
        for index in 0..<3 {
            let worst = greatestDifference(shown.plane(index)) { _, _ in Double(Self.violet[index])
            }
            #expect(worst <= 1)
        }
    }

    @Test(
        "is hidden in each format and at any size",
        arguments: [
            (.yuyv, 640, 480), (.uyvy, 64, 48), (.nv12, 1920, 1080), (.gray, 427, 241),
            (.i444, 161, 91), (.i420, 16, 10), (.i411, 320, 180), (.i440, 144, 256),
        ] as [(PixelFormat, Int, Int)]
    )
    func formats(_ format: PixelFormat, _ width: Int, _ height: Int) throws {
        let picture = flatFrame(
            size: Size(width: width, height: height),
            format: format,
            Self.green
        )
        let filter = RoomFilter()
        for other in [nil, flatFrame(size: Self.small, format: .i420, [50, 60, 70])] {
            let shown = try #require(filter.hide(picture, by: RoomCover(picture: other)))
            #expect(shown.layout.size == picture.layout.size && shown.isRoomHidden)
            guard other != nil else { continue }
            for index in 0..<3 {
                let worst = greatestDifference(shown.plane(index)) { _, _ in
                    Double([50, 60, 70][index])
                }
                #expect(worst <= 1)
            }
        }
        let color = flatFrame(size: Self.small, format: .i420, color: .video, [50, 60, 70])
        _ = filter.hide(color, by: RoomCover())
    }

    @Test func `does not flicker where the picture stands still, and is gone soon`()
        throws
    {
        let (still, mask) = try Self.person()
        let filter = RoomFilter()
        let white = flatFrame(size: Self.small, format: .i420, [255, 128, 128])
        func shown(_ picture: Frame, _ number: Int) throws -> Frame {
            var picture = picture
            picture.timestamp = Timestamp(seconds: Double(number) / 30)
            return try #require(filter.hide(picture, by: RoomCover(picture: white)))
        }
        var random = Chance(seed: 3)
        var (before, now): (Frame?, Frame?)
        for number in 0..<8 {
            let noisy = still.copy()
            for y in 0..<noisy.layout.size.height {
                let row = noisy.plane(0).row(y)
                for x in 0..<noisy.layout.size.width {
                    let noise = (0..<4).reduce(0) { sum, _ in sum + Int(random.next() % 7) - 3 }
                    row[x] = UInt8(max(0, min(255, Int(row[x]) + noise)))
                }
            }
            (before, now) = (now, try shown(noisy, number))
        }
        let (old, new) = (try #require(before).plane(0), try #require(now).plane(0))
        // The room is one white, so what changes there is the mask's edge.
        var (sum, count) = (0, 0)
        for y in 0..<still.layout.size.height {
            for x in 0..<still.layout.size.width
            where mask[4 * (y / 4 * Self.small.width + x / 4)] < 5 {
                sum += abs(Int(new.row(y)[x]) - Int(old.row(y)[x]))
                count += 1
            }
        }
        #expect(Double(sum) / Double(count) < 1.5)
        // Gone in a quarter of a second.
        let empty = flatFrame(size: still.layout.size, format: .i422, Self.green)
        let last = try (8..<16).map { try shown(empty, $0).plane(0).row(288)[512] }
        #expect(last.last.map { $0 >= 254 } == true, "\(last)")
    }

    @Test func `goes with a person who moves`() throws {
        let (still, _) = try Self.person()
        let white = RoomCover(
            picture: flatFrame(size: Self.small, format: .i420, [255, 128, 128])
        )
        // With all that was seen before, and as in the first picture.
        let filter = RoomFilter()
        for number in 0..<8 {
            var moved = still.copy()
            for (plane, step) in [(0, 12), (1, 6), (2, 6)] {
                for y in 0..<moved.plane(plane).rows {
                    let (to, from) = (moved.plane(plane).row(y), still.plane(plane).row(y))
                    for x in 0..<moved.plane(plane).rowBytes {
                        to[x] = from[min(x + number * step, moved.plane(plane).rowBytes - 1)]
                    }
                }
            }
            moved.timestamp = Timestamp(seconds: Double(number) / 30)
            let shown = try #require(filter.hide(moved, by: white))
            let alone = try #require(RoomFilter().hide(moved, by: white))
            var (sum, count) = (0, 0)
            withExtendedLifetime((shown, alone)) {
                let (shown, alone) = (shown.plane(0), alone.plane(0))
                for y in 0..<shown.rows {
                    for x in 0..<shown.rowBytes {
                        sum += abs(Int(shown.row(y)[x]) - Int(alone.row(y)[x]))
                        count += 1
                    }
                }
                if number == 0 { #expect(shown.row(40)[8] > 250, "the cover, beside the person") }
            }
            #expect(Double(sum) / Double(count) < 0.5)
        }
    }
}
