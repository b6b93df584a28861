import Foundation
import Frames
import Glibc
import Photos
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Library

/// A queue of thumbnails whose worker is this process.
private struct Maker {
    let cache: ThumbnailCache
    let program: String

    func make(_ path: String, _ size: ThumbnailSize) throws(ThumbnailError) {
        let request = try ThumbnailRequest(path, size, cache)
        let answer = ThumbnailWorker.answer(
            to: request.message,
            request.descriptors,
            program: program
        )
        close(try request.finish(ThumbnailAnswer(answer.message)))
    }
}

extension ThumbnailCache {
    fileprivate func facts(_ place: String?, _ subject: Subject) -> PNGFile.Facts? {
        guard let place, let number = try? Self.open(place) else { return nil }
        defer { close(number) }
        return subject.facts(in: number)
    }

    fileprivate func holds(_ subject: Subject, _ size: ThumbnailSize) -> Bool {
        facts(place(of: subject.path, size), subject)
            .map { max($0.size.width, $0.size.height) <= size.rawValue } ?? false
    }
}

@Suite("Thumbnails", .timeLimit(.minutes(2))) struct ThumbnailTests {
    private static let program = "dualcam-test"

    private let scratch: ScratchDirectory
    private var root: String { scratch.path }
    private var maker: Maker {
        Maker(cache: ThumbnailCache(root: "\(root)/cache/thumbnails"), program: Self.program)
    }

    init() throws { scratch = try ScratchDirectory() }

    /// Returns a JPEG whose upper left quarter is red, the rest blue, with the tag of its
    /// orientation.
    private func photograph(_ size: Size, tag: Int = 1) throws -> [UInt8] {
        let upright = EXIFOrientation(tag: tag).upright
        let shown = upright.apply(to: size)
        let picture = Raster(
            size: shown,
            pixels: (0..<shown.area).map { place in
                let (x, y) = (place % shown.width, place / shown.width)
                return x < shown.width / 2 && y < shown.height / 2 ? 0x0000FF : 0xFF0000
            }
        )
        let bare = try JPEGCodec.encode(
            picture.turned(by: upright.inverse),
            sampling: 0,
            quality: 95
        )
        let metadata = try Metadata(of: bare)
        metadata["Exif.Image.Orientation"] = "\(tag)"
        return try metadata.written()
    }

    private func write(_ size: Size, tag: Int = 1, to path: String) throws {
        try Data(photograph(size, tag: tag)).write(to: URL(filePath: path))
    }

    private func subject(_ path: String) throws -> ThumbnailCache.Subject {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return try #require(ThumbnailCache.Subject(path, status))
    }

    private func facts(_ path: String?) throws -> PNGFile.Facts {
        try #require(PNGFile.facts(of: readFile(path ?? "", limit: 1 << 24)))
    }

    private func error(_ body: () throws(ThumbnailError) -> Void) -> ThumbnailError? {
        do throws(ThumbnailError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [(0, nil), (1, 128), (128, 128), (129, 256), (600, 1024), (1025, nil)])
    func sizesAreRoundedUp(_ asked: Int, _ given: Int?) {
        #expect(ThumbnailSize(atLeast: asked)?.rawValue == given)
    }

    /// The example is the standard's.
    @Test func theNameIsTheStandards() throws {
        #expect(
            maker.cache.place(of: "/home/jens/photos/me.png", .normal)
                == "\(root)/cache/thumbnails/normal/c6ee772d9e49320e97ec29a7eb5b1697.png"
        )
    }

    @Test func theyAreUprightInTheirPlaceAndSayOfWhatTheyAre() throws {
        for tag in 1...8 {
            let path = "\(root)/\u{e4} \(tag).jpg"
            try write(Size(width: 640, height: 480), tag: tag, to: path)
            let size = tag % 2 == 0 ? ThumbnailSize.normal : .large
            try maker.make(path, size)
            let place = maker.cache.place(of: path, size)
            let facts = try facts(place)
            let length = size.rawValue
            #expect(
                facts.size
                    == (tag > 4
                        ? Size(width: length * 3 / 4, height: length)
                        : Size(width: length, height: length * 3 / 4))
            )
            let subject = try subject(path)
            #expect(
                facts.texts == [
                    "Thumb::URI": "file://\(root)/%C3%A4%20\(tag).jpg",
                    "Thumb::MTime": "\(subject.modified)",
                    "Thumb::Size": "\(subject.byteCount)", "Thumb::Mimetype": "image/jpeg",
                    "Thumb::Image::Width": tag > 4 ? "480" : "640",
                    "Thumb::Image::Height": tag > 4 ? "640" : "480",
                    "Software": Self.program,
                ]
            )
            var status = stat()
            let file = try #require(place)
            #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let folder = URL(filePath: file).deletingLastPathComponent().path
            #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy {
                    $0.count == 36
                }
            )
        }
    }

    @Test func asSmallAsThePictureIsAndNoSmaller() throws {
        let path = "\(root)/a.jpg"
        for (size, shown) in [
            (Size(width: 100, height: 60), Size(width: 100, height: 60)),
            (Size(width: 2000, height: 8), Size(width: 256, height: 1)),
            (Size(width: 1, height: 1), Size(width: 1, height: 1)),
            (Size(width: 1000, height: 1999), Size(width: 128, height: 256)),
        ] {
            try write(size, to: path)
            try maker.make(path, .large)
            #expect(try facts(maker.cache.place(of: path, .large)).size == shown, "\(size)")
            try FileManager.default.removeItem(atPath: path)
            // The next file may have the same length and second, but is another one.
            try FileManager.default.removeItem(atPath: "\(root)/cache")
        }
    }

    @Test func whatOthersMadeIsUsedWhileItIsOfTheFileAsItIs() throws {
        let path = "\(root)/a.jpg"
        try write(Size(width: 64, height: 64), to: path)
        let subject = try subject(path)
        let place = try #require(maker.cache.place(of: path, .normal))
        let uri = ("Thumb::URI", subject.uri)
        let time = ("Thumb::MTime", "\(subject.modified)")
        let cases: [(texts: [(key: String, value: String)], size: Int, isValid: Bool)] = [
            ([uri, time], 128, true),
            ([uri, time, ("Thumb::Size", "\(subject.byteCount)")], 9, true),
            ([uri, time], 129, false), ([uri], 9, false), ([time], 9, false), ([], 9, false),
            ([("Thumb::URI", "file:///b.jpg"), time], 9, false),
            ([uri, ("Thumb::MTime", "1")], 9, false), ([uri, ("Thumb::MTime", "x")], 9, false),
            ([uri, time, ("Thumb::Size", "1")], 9, false),
        ]
        for (texts, size, isValid) in cases {
            try makeDirectory(URL(filePath: place).deletingLastPathComponent().path)
            let file = try NewFile(for: place, mode: 0o600)
            let picture = Raster(
                size: Size(width: size, height: 1),
                pixels: [UInt32](repeating: 0, count: size)
            )
            try PNGFile.write(picture, texts, to: file.descriptor, called: place)
            try file.replace()
            #expect(maker.cache.holds(subject, .normal) == isValid, "\(texts)")
            try maker.make(path, .normal)
            #expect(maker.cache.holds(subject, .normal))
            #expect(try facts(place).texts.keys.contains("Software") == !isValid)
        }
        // Cut off, or no PNG.
        let whole = try readFile(place, limit: 1 << 20)
        for bytes in [Array(whole.dropLast(20)), Array(whole.prefix(30)), [], [1, 2, 3]] {
            try Data(bytes).write(to: URL(filePath: place))
            #expect(!maker.cache.holds(subject, .normal))
        }
        // Written again, it is another file.
        try maker.make(path, .normal)
        utimensat(
            AT_FDCWD,
            path,
            [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)],
            0
        )
        #expect(!maker.cache.holds(try self.subject(path), .normal))
    }

    @Test func `a file without a picture says why`() throws {
        let whole = try photograph(Size(width: 64, height: 64))
        // The header's height and width are at SOF0.
        var huge = whole
        let frame = try #require(huge.indices.first { huge[$0] == 0xFF && huge[$0 + 1] == 0xC0 })
        for place in 5...8 { huge[frame + place] = 0xFF }
        let cases: [(name: String, bytes: [UInt8], reason: String)] = [
            ("cut.jpg", Array(whole.prefix(whole.count / 2)), "it ends early"),
            ("text.jpg", Array("no picture".utf8), "it is not a JPEG"),
            ("huge.jpg", huge, "65535x65535"), ("text.mkv", Array("no movie".utf8), "no movie"),
            ("photo.mp4", [0, 0, 0, 8] + Array("ftypx".utf8), "no movie"),
        ]
        for (name, bytes, reason) in cases {
            let path = "\(root)/\(name)"
            try Data(bytes).write(to: URL(filePath: path))
            let error = error { () throws(ThumbnailError) in try maker.make(path, .normal) }
            #expect(error?.code == .unreadable, "\(name)")
            #expect(error?.description.contains(reason) ?? false, "\(String(describing: error))")
        }
        for (path, code) in [
            ("\(root)/none.jpg", ThumbnailError.Code.notFound), (root, .notFound),
            ("\(root)/link.jpg", .notFound),
        ] {
            symlink("\(root)/cut.jpg", "\(root)/link.jpg")
            let error = error { () throws(ThumbnailError) in try maker.make(path, .normal) }
            #expect(error?.code == code, "\(String(describing: error))")
        }
    }

    /// A queue whose worker is the shell, which runs `script`.
    private func queue(timeout: Double = 20, _ script: String) -> ThumbnailQueue {
        ThumbnailQueue(["-c", script], maker.cache, timeout: timeout, program: "/bin/sh")
    }

    /// Has `queue` make a thumbnail of each of `paths`. Returns the errors.
    private func errors(_ queue: ThumbnailQueue, _ paths: [String]) throws -> [ThumbnailError?] {
        let results = Mutex<[String: ThumbnailError?]>([:])
        for path in paths {
            queue.make(path, .normal) { result in
                results.withLock {
                    switch result {
                    case .success(let file):
                        close(file)
                        $0[path] = .some(nil)
                    case .failure(let error): $0[path] = error
                    }
                }
            }
        }
        try eventually("the queue", within: 60) { results.withLock { $0.count == paths.count } }
        return results.withLock { results in paths.map { results[$0] ?? nil } }
    }

    private func lines(_ path: String) throws -> [String] {
        try String(decoding: readFile(path, limit: 9999), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    @Test(arguments: [("SEGV", "signal 11", 2), ("XCPU", "it takes too long to read", 1)])
    func `a file that ends its reader is remembered as bad while it stays`(
        _ signal: String,
        _ reason: String,
        _ attempts: Int
    ) throws {
        let path = try scratch.put([1], "bad.jpg")
        let messages = "\(root)/messages"
        let queue = queue(
            "dd bs=9999 count=1 status=none >>\(messages); echo >>\(messages); kill -\(signal) $$"
        )
        for _ in 1...2 {
            let error = try #require(errors(queue, [path])[0])
            #expect(error.code == .unreadable && error.description.contains(reason), "\(error)")
            // A crash is tried twice, since a lack of memory may have been the reason.
            #expect(try lines(messages) == [String](repeating: "128 \(path)", count: attempts))
        }
        try Data([1, 2]).write(to: URL(filePath: path))
        _ = try errors(queue, [path])
        #expect(try lines(messages).count == 2 * attempts)
    }

    @Test func `a file without a picture is not read again until it changes`() throws {
        let path = try scratch.put([1], "bad.jpg")
        let log = "\(root)/log"
        let queue = queue(
            """
            while file=$(dd bs=9999 count=1 status=none) && [ "$file" ]
            do echo "$file" >>\(log); printf 'content x' >&0
            done
            """
        )
        for _ in 1...2 {
            let error = try #require(errors(queue, [path])[0])
            #expect(error == ThumbnailError(.unreadable, "\(path): x"))
            #expect(try lines(log) == ["128 \(path)"])
        }
    }

    @Test(arguments: [
        ("exit 3", "status 3", ThumbnailError.Code.system), ("kill -KILL $$", "signal 9", .system),
        ("sleep 9", "too long", .system),
        ("printf 'denied not yours' >&0; sleep 9", "yours", .denied),
        ("printf 'made up' >&0; sleep 9", "up", .system),
    ])
    func aWorkerThatFailsIsNoFilesFault(
        _ script: String,
        _ reason: String,
        _ code: ThumbnailError.Code
    ) throws {
        let path = try scratch.put([1], "1.jpg")
        let log = "\(root)/log"
        let queue = queue(
            timeout: reason == "too long" ? 0.2 : 20,
            "dd bs=9999 count=1 status=none >/dev/null; echo >>\(log); \(script)"
        )
        for count in 1...2 {
            let error = try #require(errors(queue, [path])[0])
            #expect(error.description.contains(reason) && error.code == code, "\(error)")
            #expect(try readFile(log, limit: 99).count == count)
        }
    }

    @Test func `files that take long keep no other program waiting, be they few or many`() throws {
        let queue = queue(
            timeout: 60,
            """
            while file=$(dd bs=9999 count=1 status=none) && [ "$file" ]
            do case $file in (*slow*) sleep 99;; esac; printf 'system x' >&0
            done
            """
        )
        let made = Mutex<Set<String>>([])
        func make(_ name: String, for owner: String) throws {
            let path = try scratch.put([1], "\(name).jpg")
            queue.make(path, .normal, for: owner) { _ in
                made.withLock { _ = $0.insert(name) }
            }
        }
        // The first owner has places for two, and the second one for the others.
        for number in 1...9 { try make("slow\(number)", for: "a") }
        for name in ["b", "c"] { try make(name, for: name) }
        try make("slow", for: "d")
        try make("d", for: "d")
        try eventually("the others", within: 60) {
            made.withLock { $0 == ["b", "c", "d"] }
        }
    }

    @Test func `a worker makes one after the other, and ends`() throws {
        let paths = try (1...9).map { try scratch.put([1], "\($0).jpg") }
        let log = "\(root)/log"
        let queue = queue(
            """
            echo start >>\(log)
            while file=$(dd bs=9999 count=1 status=none) && [ "$file" ]
            do sleep 0.1; echo "$file" >>\(log); printf 'system x' >&0
            done
            echo end >>\(log)
            """
        )
        #expect(try errors(queue, paths).allSatisfy { $0?.code == .system })
        try eventually("the end", within: 20) {
            let lines = try lines(log)
            return lines.count { $0 == "start" } == lines.count { $0 == "end" }
        }
        let written = try lines(log)
        #expect(written.count { $0 == "start" } < paths.count)
        #expect(Set(written.filter { $0.hasPrefix("128") }) == Set(paths.map { "128 \($0)" }))
    }

    @Test func `a worker that has ended since its answer is replaced`() throws {
        let paths = try (1...6).map { try scratch.put([1], "\($0).jpg") }
        let queue = queue("dd bs=9999 count=1 status=none >/dev/null; printf 'system x' >&0")
        for error in try errors(queue, paths) { #expect(error == ThumbnailError(.system, "x")) }
    }

    @Test func `of two requests for a bad file, one ends its readers`() throws {
        let path = try scratch.put([1], "bad.jpg")
        let log = "\(root)/log"
        let queue = queue(
            "dd bs=9999 count=1 status=none >/dev/null; echo x >>\(log); sleep 0.1; kill -SEGV $$"
        )
        let done = Mutex(0)
        for _ in 1...2 { queue.make(path, .normal) { _ in done.withLock { $0 += 1 } } }
        try eventually("both", within: 60) { done.withLock { $0 == 2 } }
        #expect(try lines(log) == ["x", "x"])
    }

    @Test func `a pipe in the cache keeps nobody waiting`() throws {
        let folder = "\(root)/cache/thumbnails/normal"
        try makeDirectory(folder)
        mkfifo("\(folder)/pipe.png", 0o600)
        #expect(throws: SystemError.self) { try ThumbnailCache.open("\(folder)/pipe.png") }
    }

    @Test func answersAreWhatWasAnswered() {
        for answer in [
            ThumbnailAnswer.made, .held, .unreadable("a b"),
            .failed(ThumbnailError(.noSpace, "write x: full")),
        ] { #expect(ThumbnailAnswer(answer.message) == answer) }
        for strange in ["", "what", "  ", "made ", "held x", "\u{0}"] {
            guard case .failed(let error) = ThumbnailAnswer(Array(strange.utf8)) else {
                Issue.record("\(strange)")
                continue
            }
            #expect(error.code == .system)
        }
    }

    /// A playlist that gives itself out for a movie must not show what it points at.
    @Test func aPlaylistShowsNothingOfOtherFiles() throws {
        let (secret, movie) = ("\(root)/secret.jpg", "\(root)/secret.ts")
        try Data(photograph(Size(width: 64, height: 64))).write(to: URL(filePath: secret))
        try ffmpeg(["-loop", "1", "-t", "1", "-i", secret, "-pix_fmt", "yuv420p", movie])
        let lists = [
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n\(movie)\n#EXT-X-ENDLIST\n",
            "ffconcat version 1.0\nfile \(secret)\n", "ffconcat version 1.0\nfile secret.ts\n",
            "concat:\(movie)|\(movie)", "subfile,,start,0,end,0,,:\(movie)", movie,
        ]
        for (number, list) in lists.enumerated() {
            for ending in ["mkv", "mp4"] {
                let path = "\(root)/\(number).\(ending)"
                try Data(list.utf8).write(to: URL(filePath: path))
                let error = error { () throws(ThumbnailError) in try maker.make(path, .normal) }
                #expect(error?.code == .unreadable, "\(list)")
                #expect(!maker.cache.holds(try subject(path), .normal))
            }
        }
    }
}
