import Frames
import Photos
import Platform
import TestJPEGs
import Testing

@Suite("Photographs from a camera's JPEG")
struct CameraPictureTests {
    private static let moment = WallTime(microseconds: 1_795_000_000_123_456)

    /// Returns a camera's JPEG with all that a phone writes about its owner.
    private func telling(_ size: Size, sampling: Sampling = .quarter) throws -> [UInt8] {
        let file = try photograph(
            of: sample(size),
            tag: 1,
            sampling: sampling,
            adding: [
                "Exif.Image.Make": "SECRET", "Exif.Photo.BodySerialNumber": "SECRET",
                "Exif.GPSInfo.GPSLatitude": "48/1 51/1 30/1", "Exif.Photo.UserComment": "SECRET",
                "Xmp.dc.creator": "SECRET",
            ],
            thumbnail: sample(Size(width: 32, height: 24))
        )
        let secret = Array("SECRET".utf8)
        let profile = Array("ICC_PROFILE\0".utf8) + [1, 1] + secret
        let more: [(UInt8, [UInt8])] = [
            (0xE2, profile), (0xE2, Array("MPF\0".utf8) + secret), (0xE4, secret),
            (0xED, Array("Photoshop 3.0\0".utf8) + secret), (0xFE, secret),
        ]
        return inserting(more.map { (marker: $0.0, payload: $0.1) }, into: file) + file + secret
    }

    private func taken(
        _ jpeg: [UInt8],
        _ transform: Transform = .identity,
        tags: [String: String] = [:]
    ) throws(PhotoError) -> Photograph {
        try Photograph.taken(jpeg: jpeg, upright: transform, at: Self.moment, tags: tags)
    }

    @Test(
        "only what DualCam writes stays, turned or not",
        arguments: [
            (Size(width: 96, height: 64), Transform.identity, EXIFOrientation.topLeft),
            (Size(width: 96, height: 64), .clockwise90, .topLeft),
            (Size(width: 90, height: 50), .identity, .topLeft),
            // It does not fill its blocks, so the tag has the orientation.
            (Size(width: 90, height: 50), .rotate180, .bottomRight),
        ]
    )
    func privacy(_ size: Size, _ transform: Transform, _ orientation: EXIFOrientation) throws {
        let jpeg = try telling(size)
        #expect(jpeg.contains(Array("SECRET".utf8)))
        let photo = try taken(jpeg, transform, tags: ["Exif.Image.Software": "DualCam"])
        #expect(!photo.bytes.contains(Array("SECRET".utf8)))
        #expect(photo.orientation == orientation)
        #expect(photo.outline.end == photo.bytes.count)
        let foreign = photo.outline.segments.filter { (0xE0...0xFE).contains($0.marker) }
        #expect(foreign.map(\.marker) == [0xE0, 0xE1])
        let metadata = try Metadata(of: photo.bytes)
        #expect(metadata["Exif.Image.Software"] == "DualCam")
        for tag in ["Exif.Image.Make", "Exif.GPSInfo.GPSLatitude", "Xmp.dc.creator"] {
            #expect(metadata[tag] == nil)
        }
        // Every pixel is as it was.
        let stored = try JPEGCodec.decode(photo.bytes).picture
        let turned = orientation == .topLeft ? transform : .identity
        guard case .done(let same) = try JPEGCodec.turn(jpeg, by: turned, progressive: false) else {
            Issue.record("not turned")
            return
        }
        #expect(try stored == JPEGCodec.decode(same).picture)
        #expect(photo.size == transform.apply(to: size))
    }

    @Test("a damaged JPEG is none, and says so, for the next may be whole")
    func damaged() throws {
        let jpeg = try telling(Size(width: 96, height: 64))
        func code(_ bytes: [UInt8]) -> PhotoError.Code? {
            do throws(PhotoError) {
                _ = try taken(bytes)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(jpeg) == nil)
        let outline = try JPEGOutline(of: jpeg)
        #expect(code(Array(jpeg[..<(outline.end - 40)])) == .damaged)
        // The end is there, and rows are missing before it.
        let middle = (outline.scan + outline.end) / 2
        #expect(code(Array(jpeg[..<middle]) + [0xFF, 0xD9]) == .damaged)
        // Half of the data are another picture's.
        var noise = jpeg
        for index in middle..<outline.end - 2 { noise[index] = 0xA5 }
        #expect(code(noise) == .damaged)
        #expect(code(Array("no picture".utf8)) == .notJPEG)
    }

    @Test(
        "what follows the end costs no pixel, and damage is told",
        arguments: FaultyJPEG.all.filter { $0.verdict != .noise }
    )
    func faults(_ fault: FaultyJPEG) throws {
        guard fault.verdict != .damage else {
            #expect(throws: PhotoError.self) { try taken(fault.bytes) }
            return
        }
        let size = ScriptedJPEG.size
        let picture = Raster(
            size: size,
            pixels: ScriptedJPEG.decoded(fault.bytes).map { UInt32($0) * 0x01_01_01 }
        )
        for transform in [Transform.identity, .clockwise90, .rotate180] {
            let photo = try taken(fault.bytes, transform)
            let pixels = try JPEGCodec.decode(photo.bytes).picture
            let luma = pixels.pixels.map { $0 & 0xFF_FF_FF }
            #expect(luma == picture.turned(by: transform).pixels)
            #expect(photo.outline.end == photo.bytes.count)
        }
    }

    @Test("the time is that of the picture, not of writing, and has its fraction and zone")
    func time() throws {
        let photo = try Photograph.taken(
            sample(Size(width: 32, height: 16)),
            upright: .identity,
            at: Self.moment,
            tags: [:]
        )
        let metadata = try Metadata(of: photo.bytes)
        let name = Self.moment.name
        #expect(name.hasSuffix(".123"))
        let date = try #require(metadata["Exif.Photo.DateTimeOriginal"])
        #expect(metadata["Exif.Photo.SubSecTimeOriginal"] == "123")
        #expect(
            date.replacing(":", with: "").replacing(" ", with: "_")
                == name.dropLast(4).replacing("-", with: "")
        )
        #expect(metadata["Exif.Photo.OffsetTimeOriginal"]?.wholeMatch(of: /[+-]\d\d:\d\d/) != nil)
    }

    @Test("lacks no tables where it is coded in a way that needs none")
    func tables() throws {
        func outline(_ frame: UInt8) throws -> JPEGOutline {
            let header: [UInt8] = [0xFF, frame, 0, 11, 8, 0, 16, 0, 16, 1, 1, 0x11, 0]
            let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0, 0, 0xFF, 0xD9]
            return try JPEGOutline(of: [0xFF, 0xD8] + header + scan)
        }
        for huffman in [0xC0, 0xC1, 0xC2] as [UInt8] { #expect(try !outline(huffman).hasTables) }
        for arithmetic in [0xC9, 0xCA] as [UInt8] { #expect(try outline(arithmetic).hasTables) }
    }

    @Test(
        "has the colours of a raw picture, whatever range these have",
        arguments: [
            (ColorSpace.Range.limited, [81, 90, 240], [255, 0, 0]),
            (.limited, [145, 54, 34], [0, 255, 0]), (.limited, [41, 240, 110], [0, 0, 255]),
            (.limited, [235, 128, 128], [255, 255, 255]), (.full, [76, 85, 255], [255, 0, 0]),
            (.full, [255, 128, 128], [255, 255, 255]), (.full, [16, 128, 128], [16, 16, 16]),
        ] as [(ColorSpace.Range, [UInt8], [Int])]
    )
    func colours(range: ColorSpace.Range, samples: [UInt8], expected: [Int]) {
        let color = ColorSpace(matrix: .bt601, range: range)
        let size = Size(width: 16, height: 8)
        let frame = flatFrame(size: size, format: .i420, color: color, samples)
        for pixel in Raster(frame).pixels {
            for (shift, value) in zip([0, 8, 16], expected) {
                #expect(abs(Int(pixel >> UInt32(shift) & 255) - value) <= 3)
            }
        }
    }
}
