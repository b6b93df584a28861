import Platform
import Testing

@testable import Library

@Suite("Items of the library") struct MediaItemTests {
    private static let folder = "/pictures"

    private func items(_ files: [(name: String, time: Int64)]) throws -> [MediaItem] {
        MediaItem.items(
            of: try files.map { file in
                let facts = try #require(MediaName(file.name))
                return MediaItem(
                    path: "\(Self.folder)/\(file.name)",
                    kind: facts.kind,
                    camera: facts.camera,
                    byteCount: 1,
                    time: file.time
                )
            }
        )
    }

    private func names(_ items: [MediaItem]) -> [String] {
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
        let time = found.time.map { WallTime(microseconds: $0).text("%F %T") }
        #expect(time == camera.map { _ in "2026-11-21 14:30:05" })
        #expect((found.time ?? 123_000) % 1_000_000 == 123_000)
    }

    @Test func theNewestComesFirst() throws {
        let items = try items([("b.jpg", 5), ("a.jpg", 5), ("c.mkv", 9), ("d.mp4", 1)])
        #expect(names(items) == ["c.mkv", "a.jpg", "b.jpg", "d.mp4"])
    }

    @Test func aLivePhotoIsOneItem() throws {
        let files: [(name: String, time: Int64)] = [
            ("a.jpg", 1), ("a.MKV", 2), ("b.mkv", 3), ("c.jpg", 4), ("c.mp4", 5), ("d.jpeg", 6),
        ]
        let all = try items(files)
        #expect(names(all) == ["d.jpeg", "c.mp4", "c.jpg", "b.mkv", "a.jpg"])
        #expect(all.map(\.movie) == [nil, nil, nil, nil, "\(Self.folder)/a.MKV"])
        // The photo goes, and its movie is listed like any other.
        #expect(try names(items(Array(files.dropFirst()))).suffix(2) == ["b.mkv", "a.MKV"])
    }
}
