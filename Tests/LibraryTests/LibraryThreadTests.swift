import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Library

@Suite("The library", .timeLimit(.minutes(2))) struct LibraryThreadTests {
    private final class Shelf {
        let root: ScratchDirectory
        let library: LibraryThread

        init() throws {
            root = try ScratchDirectory()
            for name in ["photos", "movies", "others"] { mkdir("\(root.path)/\(name)", 0o700) }
            let count = Count()
            library = try LibraryThread(
                LibraryThread.Folders(photos: "\(root.path)/photos", movies: "\(root.path)/movies"),
                helper: ["--no-such-option"]
            ) { count.value.add(1, ordering: .relaxed) }
            self.count = count
        }

        private final class Count: Sendable { let value = Atomic(0) }
        private let count: Count

        /// The number of changes that were reported.
        var changeCount: Int { count.value.load(ordering: .relaxed) }

        func list(from offset: Int = 0, count: Int = 10) throws -> ([String], total: Int) {
            let found = Mutex<([String], Int)?>(nil)
            library.list(from: offset, count: count) { items, total in
                let names = items.map { $0.path.split(separator: "/").last.map(String.init) ?? "" }
                found.withLock { $0 = (names, total) }
            }
            return try eventually("the list") { found.withLock { $0 } }
        }

        func thumbnail(_ path: String) throws -> ThumbnailError.Code? {
            let found = Mutex<Result<CInt, ThumbnailError>?>(nil)
            library.thumbnail(of: path, .normal) { result in found.withLock { $0 = result } }
            let result = try eventually("the thumbnail") { found.withLock { $0 } }
            switch result {
            case .success(let file):
                close(file)
                return nil
            case .failure(let error): return error.code
            }
        }

        deinit {
            library.end()
            _ = library.wait(until: MonotonicClock.now + Timestamp(seconds: 20))
        }
    }

    @Test("lists both directories, and reports what comes and goes")
    func list() throws {
        let shelf = try Shelf()
        try shelf.root.put([1], "photos/a.jpg")
        try shelf.root.put([1], "movies/b.mkv")
        try shelf.root.put([1], "others/c.jpg")
        #expect(try shelf.list().total == 2)
        #expect(Set(try shelf.list().0) == ["a.jpg", "b.mkv"])
        #expect(try shelf.list(from: 1).0.count == 1 && shelf.list(count: 1).total == 2)
        #expect(shelf.changeCount == 0)
        try shelf.root.put([1], "photos/d.jpg")
        try eventually("the change") { shelf.changeCount == 1 }
        #expect(try shelf.list().total == 3)
        unlink("\(shelf.root.path)/movies/b.mkv")
        try eventually("the change") { shelf.changeCount == 2 }
        #expect(try shelf.list().total == 2)
    }

    @Test func `leaves out what is being written, and reports it when it is done`() throws {
        let shelf = try Shelf()
        try shelf.root.put([1], "photos/a.jpg")
        try shelf.root.put([1], "movies/b.mkv")
        shelf.library.leaveOut(["\(shelf.root.path)/movies//b.mkv"])
        #expect(try shelf.list().0 == ["a.jpg"])
        shelf.library.leaveOut([])
        try eventually("the change") { shelf.changeCount == 1 }
        #expect(try shelf.list().total == 2)
        shelf.library.leaveOut(["\(shelf.root.path)/movies/b.mkv"])
        try eventually("the change") { shelf.changeCount == 2 }
        #expect(try shelf.list().total == 1)
    }

    @Test func `takes other directories over, and reports it where that changes anything`() throws {
        let shelf = try Shelf()
        try shelf.root.put([1], "photos/a.jpg")
        try shelf.root.put([1], "others/c.jpg")
        #expect(try shelf.list().0 == ["a.jpg"])
        shelf.library.use(
            LibraryThread.Folders(
                photos: "\(shelf.root.path)/others",
                movies: "\(shelf.root.path)/movies"
            )
        )
        try eventually("the change") { shelf.changeCount == 1 }
        #expect(try shelf.list().0 == ["c.jpg"])
        try shelf.root.put([1], "others/d.jpg")
        try eventually("the change") { shelf.changeCount == 2 }
    }

    @Test func `makes thumbnails of its own files alone`() throws {
        let shelf = try Shelf()
        try shelf.root.put([1], "photos/a.jpg")
        try shelf.root.put([1], "others/c.jpg")
        symlink("../others/c.jpg", "\(shelf.root.path)/photos/link.jpg")
        #expect(try shelf.list().total >= 1)
        for path in [
            "\(shelf.root.path)/others/c.jpg", "\(shelf.root.path)/photos/../others/c.jpg",
            "/etc/passwd", "", "a.jpg", "\(shelf.root.path)/photos/none.jpg",
        ] { #expect(try shelf.thumbnail(path) == .notFound, "\(path)") }
        // Its helper is another program here, which makes none.
        #expect(try shelf.thumbnail("\(shelf.root.path)/photos/a.jpg") == .system)
    }
}
