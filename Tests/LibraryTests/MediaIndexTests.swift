import Testing

@testable import Library

@Suite("Index of the library") struct MediaIndexTests {
    private static let folder = "/pictures"

    private func file(_ name: String, _ time: Int64) throws -> MediaIndex.File {
        let kind = try #require(MediaName(name))
        let item = MediaItem(
            path: "\(Self.folder)/\(name)",
            kind: kind.kind,
            camera: kind.camera,
            byteCount: 1,
            time: time
        )
        return MediaIndex.File(item, kind, in: Self.folder)
    }

    /// An index that can be changed and queried inside an expectation.
    private final class Kept {
        private var index = MediaIndex()
        var count: Int { index.count }
        func insert(_ file: MediaIndex.File) -> Bool { index.insert(file) }
        func remove(_ path: String) -> Bool { index.remove(path) }
        func contains(_ path: String) -> Bool { index.contains(path) }
        func place(of path: String) -> Int? { index.place(of: path) }
        func items(from offset: Int, count: Int) -> ArraySlice<MediaItem> {
            index.items(from: offset, count: count)
        }
    }

    private func index(_ files: [(String, Int64)]) throws -> Kept {
        let index = Kept()
        for (name, time) in files { #expect(index.insert(try file(name, time))) }
        return index
    }

    private func names(_ items: some Sequence<MediaItem>) -> [String] {
        items.map { String($0.path.dropFirst(Self.folder.count + 1)) }
    }

    @Test(arguments: [
        ("a.jpg", MediaItem.Kind?.some(.photo)), ("A.JPEG", .photo), ("b.mkv", .movie),
        ("b.x.Mp4", .movie), (".a.jpg", nil), (".dualcam-Xa3.jpg", nil), ("a.png", nil),
        ("jpg", nil), (".jpg", nil), ("a.jpg.part", nil), ("a.jp\u{1}", nil), ("", nil),
        ("\u{e4}\u{20ac}.jpg", .photo),
    ])
    func endsSayTheKind(_ name: String, _ kind: MediaItem.Kind?) {
        #expect(MediaName(name)?.kind == kind)
    }

    @Test(arguments: [
        ("DualCam_2026-11-21_143005.123_back.jpg", "back"),
        ("DualCam_2026-11-21_143005.123_front-2.mkv", "front"),
        ("DualCam_2026-11-21_143005.123_stream.mp4", "stream"),
        ("DualCam_2026-11-21_143005.123_side.jpg", nil),
        ("DualCam_2026-11-21_143005.123_back-.jpg", nil),
        ("DualCam_2026-11-21_143005.123_backs.jpg", nil),
        ("DualCam_2026-13-21_143005.123_back.jpg", nil),
        ("DualCam_2026-11-21_243005.123_back.jpg", nil),
        ("DualCam_2026-11-21_14x005.123_back.jpg", nil),
        ("DualCam_.jpg", nil), ("IMG_1.jpg", nil),
    ])
    func ourNamesSayTheCameraAndTheTime(_ name: String, _ camera: String?) throws {
        let found = try #require(MediaName(name))
        #expect(found.camera == camera)
        #expect((found.date != nil) == (camera != nil))
        if let date = found.date {
            #expect([date.year, date.month, date.day] == [2026, 11, 21])
            #expect([date.hour, date.minute, date.second, date.millisecond] == [14, 30, 5, 123])
        }
    }

    @Test func theNewestComesFirstAndPagesCoverAll() throws {
        let index = try index([("b.jpg", 5), ("a.jpg", 5), ("c.mkv", 9), ("d.mp4", 1)])
        #expect(index.count == 4)
        #expect(names(index.items(from: 0, count: 9)) == ["c.mkv", "a.jpg", "b.jpg", "d.mp4"])
        #expect(names(index.items(from: 1, count: 2)) == ["a.jpg", "b.jpg"])
        #expect(names(index.items(from: 3, count: 2)) == ["d.mp4"])
        #expect(names(index.items(from: 4, count: 2)) == [])
        #expect(names(index.items(from: .max, count: .max)) == [])
        #expect(names(index.items(from: 0, count: 0)) == [])
        for (place, name) in ["c.mkv", "a.jpg", "b.jpg", "d.mp4"].enumerated() {
            #expect(index.place(of: "\(Self.folder)/\(name)") == place)
        }
        #expect(index.place(of: "\(Self.folder)/e.jpg") == nil)
    }

    @Test func whatComesChangesAndGoesIsSeen() throws {
        let index = try index([("a.jpg", 1)])
        #expect(index.insert(try file("b.jpg", 2)))
        #expect(names(index.items(from: 0, count: 9)) == ["b.jpg", "a.jpg"])
        #expect(index.insert(try file("a.jpg", 3)))
        #expect(names(index.items(from: 0, count: 9)) == ["a.jpg", "b.jpg"])
        // Unchanged.
        #expect(!index.insert(try file("a.jpg", 3)))
        #expect(index.remove("\(Self.folder)/b.jpg"))
        #expect(!index.remove("\(Self.folder)/b.jpg"))
        #expect(names(index.items(from: 0, count: 9)) == ["a.jpg"])
    }

    @Test func aLivePhotoIsOneItem() throws {
        let index = try index([
            ("a.jpg", 1), ("a.mkv", 2), ("b.mkv", 3), ("c.jpg", 4), ("c.mp4", 5), ("d.jpeg", 6),
        ])
        let items = Array(index.items(from: 0, count: 9))
        #expect(names(items) == ["d.jpeg", "c.mp4", "c.jpg", "b.mkv", "a.jpg"])
        #expect(index.count == 5)
        #expect(items.compactMap(\.movie) == ["\(Self.folder)/a.mkv"])
        #expect(items.last?.movie != nil)
        #expect(index.contains("\(Self.folder)/a.mkv"))
        #expect(index.place(of: "\(Self.folder)/a.mkv") == nil)
        // The photo goes, and its movie is listed like any other.
        #expect(index.remove("\(Self.folder)/a.jpg"))
        #expect(names(index.items(from: 0, count: 9)).suffix(2) == ["b.mkv", "a.mkv"])
        // And the other way round.
        #expect(index.insert(try file("b.jpg", 1)))
        #expect(index.items(from: 0, count: 9).last?.movie == "\(Self.folder)/b.mkv")
        #expect(index.remove("\(Self.folder)/b.mkv"))
        #expect(index.items(from: 0, count: 9).last?.movie == nil)
    }
}
