import Frames
import Photos
import Testing

@Suite("Photographs made upright")
struct UprightTests {
    static let fitting = Size(width: 96, height: 64)

    @Test(arguments: 1...8, Sampling.allCases)
    func everyOrientationWithoutLoss(_ tag: Int, _ sampling: Sampling) throws {
        let picture = sample(Self.fitting)
        let file = try photograph(of: picture, tag: tag, sampling: sampling)
        let photograph = try Photograph(file)
        #expect(photograph.orientation.rawValue == tag)
        let result: [UInt8]
        switch try photograph.upright(lossy: false) {
        case .upright where tag == 1: result = file
        case .turned(let bytes) where tag != 1: result = bytes
        case let outcome:
            Issue.record("\(outcome)")
            return
        }
        #expect(try likeness(result, picture, gray: sampling == .gray) > 28)
        #expect(try Photograph(result).orientation == .topLeft)
        // Turned back, every coefficient is the same as before.
        let transform = EXIFOrientation(tag: tag).upright
        let bare = try JPEGCodec.turn(file, by: .identity, progressive: false)
        let there = try turned(file, transform)
        #expect(try .done(turned(there, transform.inverse)) == bare)
        #expect(
            try JPEGCodec.decode(there).picture.pixels == JPEGCodec.decode(result).picture.pixels
        )
    }

    private func turned(_ file: [UInt8], _ transform: Transform) throws -> [UInt8] {
        guard case .done(let result) = try JPEGCodec.turn(file, by: transform, progressive: false)
        else {
            Issue.record("\(transform) has a loss")
            return []
        }
        return result
    }

    /// 1080 rows are 67 and a half blocks of 4:2:0.
    @Test(arguments: [
        (2, true), (3, false), (4, false), (5, true), (6, false), (7, false), (8, true),
    ])
    func whatDoesNotFillItsBlocksIsKept(_ tag: Int, _ fits: Bool) throws {
        let picture = sample(tag > 4 ? Size(width: 56, height: 96) : Size(width: 96, height: 56))
        let file = try photograph(of: picture, tag: tag)
        switch try Photograph(file).upright(lossy: false) {
        case .turned(let bytes): #expect(try fits && likeness(bytes, picture) > 28)
        case .kept(let reason): #expect(!fits && reason == "its size does not fill its blocks")
        case let outcome: Issue.record("\(outcome)")
        }
        switch try Photograph(file).upright(lossy: true) {
        case .turned: #expect(fits)
        case .recoded(let bytes):
            #expect(try !fits && likeness(bytes, picture) > 28)
            #expect(try Photograph(bytes).orientation == .topLeft)
        case let outcome: Issue.record("\(outcome)")
        }
    }

    @Test(arguments: [0, 9, 255, 65535])
    func whatTheTagMustNotSayCountsAsUpright(_ tag: Int) throws {
        let file = try photograph(of: sample(Self.fitting), tag: tag)
        #expect(try Photograph(file).orientation == .topLeft)
        #expect(try Photograph(file).upright(lossy: true) == .upright)
    }

    /// Returns the picture of `file` turned without loss or, if `lossy`, coded anew.
    private func upright(_ file: [UInt8], lossy: Bool) throws -> [UInt8] {
        let outcome = try Photograph(file).upright(lossy: lossy)
        let result: [UInt8]? =
            switch outcome {
            case .turned(let bytes) where !lossy: bytes
            case .recoded(let bytes) where lossy: bytes
            default: nil
            }
        return try #require(result, "\(outcome)")
    }

    @Test(arguments: [false, true])
    func whatElseItSaysStays(_ lossy: Bool) throws {
        let picture = sample(lossy ? Size(width: 50, height: 70) : Size(width: 64, height: 96))
        let small = sample(Size(width: 32, height: 48))
        // A profile begins with its length, here 3000.
        let profile =
            Array("ICC_PROFILE\0".utf8) + [1, 1, 0, 0, 0x0B, 0xB8]
            + [UInt8](repeating: 7, count: 2996)
        let stored = picture.size.transposed
        let tags = [
            "Exif.Image.Make": "Maker", "Exif.Photo.FNumber": "28/10",
            "Exif.Photo.DateTimeOriginal": "2026:11:21 14:30:05",
            "Exif.Photo.PixelXDimension": "\(stored.width)",
            "Exif.Photo.PixelYDimension": "\(stored.height)",
            "Exif.Photo.SubjectArea": "10 5 8 4", "Xmp.tiff.Orientation": "6",
            "Xmp.dc.source": "the desk",
        ]
        var file = try photograph(of: picture, tag: 6, adding: tags, thumbnail: small)
        file = inserting([(0xE2, profile), (0xFE, Array("a comment".utf8))], into: file)
        file += Array("what follows".utf8)
        let result = try upright(file, lossy: lossy)
        #expect(try likeness(result, picture) > 28)
        #expect(try payloads(0xE2, in: result) == [profile])
        #expect(try payloads(0xFE, in: result) == [Array("a comment".utf8)])
        #expect(result.suffix(12) == file.suffix(12))
        let metadata = try Metadata(of: result)
        for tag in ["Exif.Image.Make", "Exif.Photo.FNumber", "Exif.Photo.DateTimeOriginal"] {
            #expect(metadata[tag] == tags[tag])
        }
        #expect(metadata["Exif.Photo.PixelXDimension"] == "\(picture.size.width)")
        #expect(metadata["Exif.Photo.PixelYDimension"] == "\(picture.size.height)")
        // An area 10 from the left and 5 from the top, turned a quarter clockwise.
        #expect(metadata["Exif.Photo.SubjectArea"] == "\(stored.height - 1 - 5) 10 4 8")
        #expect(metadata["Xmp.tiff.Orientation"] == "1")
        #expect(metadata["Xmp.dc.source"] == "the desk")
        #expect(try likeness(#require(metadata.thumbnail), small) > 25)
    }

    /// It says how the colours of the old file are coded.
    @Test(arguments: [false, true])
    func adobesMarkerIsNotThatOfAPictureCodedAnew(_ lossy: Bool) throws {
        let picture = sample(lossy ? Size(width: 50, height: 70) : Size(width: 64, height: 96))
        let adobe = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1]
        let file = inserting([(0xEE, adobe)], into: try photograph(of: picture, tag: 6))
        let result = try upright(file, lossy: lossy)
        #expect(try payloads(0xEE, in: result) == (lossy ? [] : [adobe]))
        #expect(try likeness(result, picture) > 28)
    }

    @Test func severalPicturesInOneFileAreKept() throws {
        let file = try photograph(of: sample(Self.fitting), tag: 3)
        let many = inserting([(0xE2, Array("MPF\0".utf8) + [0, 1, 2])], into: file)
        #expect(
            try Photograph(many).upright(lossy: true) == .kept("it holds more than one picture")
        )
    }

    @Test func tablesThatACameraLeftOutArePutIn() throws {
        let file = try JPEGCodec.encode(sample(Self.fitting), sampling: 1, quality: 80)
        let tables = try JPEGOutline(of: file).segments.filter { $0.marker == 0xC4 }
        var bare = file
        for table in tables.reversed() { bare.removeSubrange(table.range) }
        #expect(try !tables.isEmpty && !JPEGOutline(of: bare).hasTables)
        let whole = try JPEGCodec.completed(bare)
        #expect(try JPEGOutline(of: whole).hasTables)
        #expect(try JPEGCodec.decode(whole).picture == JPEGCodec.decode(file).picture)
        #expect(try JPEGCodec.completed(file) == file)
    }
}

@Suite("Files that are no photographs")
struct HostileTests {
    private static func file() throws -> [UInt8] {
        try photograph(
            of: sample(Size(width: 48, height: 32)),
            tag: 6,
            adding: ["Exif.Image.Make": "Maker", "Xmp.tiff.Orientation": "6"],
            thumbnail: sample(Size(width: 16, height: 8))
        )
    }

    private static func bare() throws -> [UInt8] {
        try JPEGCodec.encode(sample(Size(width: 48, height: 32)), sampling: 2, quality: 90)
    }

    private func code(_ bytes: [UInt8]) -> PhotoError.Code? {
        do throws(PhotoError) {
            _ = try Photograph(bytes).upright(lossy: true)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func whatIsNone() {
        #expect(code([]) == .notJPEG)
        #expect(code(Array("text".utf8)) == .notJPEG)
        #expect(code([0x89, 0x50, 0x4E, 0x47]) == .notJPEG)
        #expect(code([0xFF, 0xD8]) == .damaged)
        #expect(code([0xFF, 0xD8, 0xFF, 0xD9]) == .damaged)
    }

    @Test func everyTruncation() throws {
        let file = try Self.file()
        #expect(code(file) == nil)
        for count in 2..<file.count { #expect(code(Array(file[..<count])) == .damaged) }
    }

    /// Returns `file` with two bytes for its rows, and two for its columns.
    private func claiming(_ sizes: [UInt8], _ file: [UInt8]) throws -> [UInt8] {
        let outline = try JPEGOutline(of: file)
        let frame = try #require(outline.segments.first { $0.marker == 0xC0 }).payload.lowerBound
        var file = file
        file.replaceSubrange(frame + 1..<frame + 5, with: sizes)
        return file
    }

    @Test func aPictureOfTooManyPixels() throws {
        #expect(try code(claiming([0xFF, 0xFF, 0xFF, 0xFF], Self.file())) == .tooLarge)
        #expect(try code(claiming([0, 0, 0, 0], Self.file())) == .damaged)
    }

    @Test func aClaimOfPixelsThatItHasNoBytesFor() throws {
        #expect(try code(claiming([0x40, 0, 0x40, 0], Self.file())) == .damaged)
        // In a thumbnail, which is removed then.
        let thumbnail = try JPEGCodec.encode(
            sample(Size(width: 16, height: 8)),
            sampling: 2,
            quality: 9
        )
        let metadata = try Metadata(of: Self.bare())
        metadata.orientation = .bottomRight
        metadata.thumbnail = try claiming([0x4E, 0x20, 0x4E, 0x20], thumbnail)
        guard case .turned(let result) = try Photograph(metadata.written()).upright(lossy: false)
        else {
            Issue.record("not turned")
            return
        }
        #expect(try Metadata(of: result).thumbnail == nil)
    }

    @Test(
        "no more pixels are believed than the bytes can hold, at half a thousandth of a byte each"
    )
    func bomb() throws {
        let file = try Self.file()
        // The most that so many bytes may claim, in rows of 64 pixels, and one row more.
        let rows = (file.count + 1) * 512 / 64 - 1
        for (rows, isBelieved) in [(rows, true), (rows + 1, false)] {
            let claim = try claiming([UInt8(rows >> 8), UInt8(rows & 255), 0, 64], file)
            let outline = try? JPEGOutline(of: claim)
            #expect((outline != nil) == isBelieved, "\(rows) rows of \(file.count) bytes")
            if let outline { #expect(outline.size == Size(width: 64, height: rows)) }
        }
    }

    @Test("a thumbnail of more pixels than a thumbnail has is dropped, not decoded")
    func largeThumbnail() throws {
        for (size, isKept) in [
            (Size(width: 1024, height: 1024), true), (Size(width: 1040, height: 1024), false),
        ] {
            let plain = Raster(size: size, pixels: [UInt32](repeating: 0x80_8080, count: size.area))
            let metadata = try Metadata(of: Self.bare())
            metadata.orientation = .bottomRight
            metadata.thumbnail = try JPEGCodec.encode(plain, sampling: 2, quality: 9)
            let outcome = try Photograph(metadata.written()).upright(lossy: false)
            guard case .turned(let result) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
            #expect((try Metadata(of: result).thumbnail != nil) == isKept, "\(size)")
        }
    }

    @Test(arguments: ["-9223372036854775808 5", "9223372036854775807 5 1 1", "-1 -1", "1 2 3 4 5"])
    func placesThatCannotBe(_ place: String) throws {
        let metadata = try Metadata(of: Self.bare())
        metadata.orientation = .bottomRight
        metadata["Xmp.tiff.Orientation"] = "3"
        metadata["Exif.Photo.SubjectArea"] = place
        let file = try metadata.written()
        #expect(code(file) == nil)
    }
}

extension UprightTests {
    @Test(
        "a photograph that has to be coded anew keeps its sampling, turned with it",
        arguments: [3, 6, 8],
        [(Sampling.full, Sampling.full), (.half, .tall), (.tall, .half), (.quarter, .quarter)]
    )
    func recodedSampling(_ tag: Int, _ sampling: (stored: Sampling, turned: Sampling)) throws {
        let upright = tag == 3 ? Size(width: 92, height: 60) : Size(width: 60, height: 92)
        let file = try photograph(of: sample(upright), tag: tag, sampling: sampling.stored)
        guard case .recoded(let bytes) = try Photograph(file).upright(lossy: true) else {
            Issue.record("it fits its blocks")
            return
        }
        let expected = tag == 3 ? sampling.stored : sampling.turned
        #expect(try JPEGCodec.decode(bytes).sampling == expected.rawValue)
        #expect(try JPEGOutline(of: bytes).size == upright)
    }
}
