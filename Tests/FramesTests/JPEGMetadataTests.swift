import Frames
import Testing

@Suite("Metadata of a camera's JPEG")
struct JPEGMetadataTests {
    private static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = payload.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + payload
    }

    private static let start: [UInt8] = [0xFF, 0xD8]
    private static let end: [UInt8] = [0xFF, 0xD9]
    private static let tables =
        segment(0xDB, [UInt8](repeating: 1, count: 65)) + segment(0xC4, [0, 1, 2])
    private static let frame = segment(0xC0, [8, 0, 8, 0, 8, 1, 1, 0x11, 0])
    /// A scan with a stuffed byte and a restart in its data.
    private static let scan =
        segment(0xDA, [1, 1, 0, 0, 63, 0]) + [1, 2, 0xFF, 0, 3, 0xFF, 0xD0, 4]
    private static let jfif =
        segment(0xE0, Array("JFIF\0".utf8) + [1, 1, 1, 0, 72, 0, 72, 0, 0])
    private static let adobe = segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1])
    private static let bare = start + tables + frame + scan + end

    private static let secret = Array("SECRET".utf8)

    @Test("a picture without any stays byte for byte")
    func bare() {
        #expect(JPEGMetadata.removed(from: Self.bare) == Self.bare)
        let whole =
            Self.start + Self.jfif + Self.adobe + Self.tables + Self.frame + Self.scan + Self.scan
            + Self.end
        #expect(JPEGMetadata.removed(from: whole) == whole)
    }

    @Test("every application segment and comment goes, wherever it is", arguments: 0xE0...0xFE)
    func foreign(_ marker: Int) {
        let foreign = Self.segment(UInt8(marker), Self.secret + [UInt8](repeating: 9, count: 20))
        let places = [
            Self.start + foreign + Self.tables + Self.frame + Self.scan + Self.end,
            Self.start + Self.tables + foreign + foreign + Self.frame + Self.scan + Self.end,
            Self.start + Self.tables + Self.frame + Self.scan + foreign + Self.end,
            Self.bare + foreign,
            Self.start + [0xFF, 0xFF] + foreign + Self.bare[2...],
        ]
        for file in places { #expect(JPEGMetadata.removed(from: file) == Self.bare) }
    }

    @Test("what follows the end goes, such as a second picture")
    func trailer() {
        #expect(JPEGMetadata.removed(from: Self.bare + Self.bare + Self.secret) == Self.bare)
    }

    @Test("of the headers for colours, only the first stays, without a thumbnail")
    func headers() {
        let thumbnail = Array("JFIF\0".utf8) + [1, 1, 1, 0, 72, 0, 72, 1, 2] + Self.secret
        let adobe = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1] + Self.secret
        let file =
            Self.start + Self.segment(0xE0, thumbnail) + Self.segment(0xE0, thumbnail)
            + Self.segment(0xE0, Array("JFXX\0".utf8) + Self.secret) + Self.segment(0xEE, adobe)
            + Self.segment(0xEE, adobe) + Self.bare[2...]
        #expect(
            JPEGMetadata.removed(from: file)
                == Self.start + Self.jfif + Self.adobe + Self.bare[2...]
        )
        // Too short to be what they say.
        let short =
            Self.start + Self.segment(0xE0, Array("JFIF\0".utf8) + [1])
            + Self.segment(0xEE, Array("Adobe".utf8)) + Self.bare[2...]
        #expect(JPEGMetadata.removed(from: short) == Self.bare)
    }

    @Test("whatever is cut or changed, nothing is read beyond the bytes")
    func hostile() {
        let file =
            Self.start + Self.segment(0xE1, Self.secret) + Self.jfif + Self.adobe + Self.bare[2...]
        let headers = file.count - Self.scan.count - Self.end.count
        for count in 0..<file.count {
            let left = JPEGMetadata.removed(from: Array(file[..<count]))
            // The header of the scan has ten bytes.
            #expect((left != nil) == (count >= headers + 10), "\(count)")
            if let left { #expect(!left.contains(Self.secret)) }
        }
        for index in file.indices {
            for value in [0, 1, 0x7F, 0xD8, 0xD9, 0xDA, 0xE1, 0xFF] as [UInt8] {
                var changed = file
                changed[index] = value
                if let left = JPEGMetadata.removed(from: changed) {
                    #expect(left.count <= changed.count)
                }
            }
        }
        for none in [[], [0xFF], [0xFF, 0xD8], Self.secret, Self.start + Self.end] {
            #expect(JPEGMetadata.removed(from: none) == nil)
        }
    }
}
