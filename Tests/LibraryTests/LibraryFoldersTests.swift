import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import Library

@Suite("Directories of the library", .timeLimit(.minutes(5))) struct LibraryFoldersTests {
    private let scratch: ScratchDirectory
    private var root: String { scratch.path }

    init() throws { scratch = try ScratchDirectory() }

    private func write(_ path: String, _ text: String = "x") throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// The directories as the thread follows them.
    private final class Followed {
        private let folders: [String]
        private var leftOut: Set<String>
        private var now: LibraryFolders

        init(_ folders: [String], leavingOut leftOut: Set<String> = []) {
            (self.folders, self.leftOut) = (folders, leftOut)
            now = LibraryFolders(folders, leavingOut: leftOut)
        }

        var names: [String] { now.items.map { URL(filePath: $0.path).lastPathComponent }.sorted() }
        var items: [MediaItem] { now.items }
        var isElsewhere: Bool { now.isElsewhere }
        func member(_ path: String) -> String? { now.member(path) }

        func read() -> Bool {
            let before = now.items
            now = LibraryFolders(folders, leavingOut: leftOut)
            return now.items != before
        }

        /// Takes over changes that were reported. Returns `true` if the items changed.
        func settle() -> Bool { now.takeChanges() && read() }

        func leaveOut(_ paths: Set<String>) -> Bool {
            leftOut = paths
            return read()
        }
    }

    @Test func itIsTrueToWhatHappens() throws {
        let folder = "\(root)/pictures"
        try makeDirectory("\(folder)/below")
        try write("\(folder)/a.jpg")
        try write("\(folder)/below/no.jpg")
        try write("\(folder)/.hidden.jpg")
        try write("\(folder)/empty.jpg", "")
        try makeDirectory("\(folder)/folder.jpg")
        symlink("/etc/passwd", "\(folder)/link.jpg")
        mkfifo("\(folder)/pipe.jpg", 0o600)
        let library = Followed([folder, "\(root)/videos"])
        #expect(library.names == ["a.jpg"])
        #expect(!library.settle())

        // By a rename, like DualCam's own photographs.
        try write("\(folder)/.passing")
        #expect(!library.settle())
        rename("\(folder)/.passing", "\(folder)/b.jpg")
        #expect(library.settle())
        #expect(library.names == ["a.jpg", "b.jpg"])
        // Written in place: it is empty at first.
        let file = try #require(fopen("\(folder)/c.mkv", "w"))
        #expect(!library.settle())
        fputs("xyz", file)
        fclose(file)
        #expect(library.settle())
        #expect(library.items.first?.byteCount == 3)
        rename("\(folder)/b.jpg", "\(root)/b.jpg")
        unlink("\(folder)/a.jpg")
        #expect(library.settle())
        #expect(library.names == ["c.mkv"])
        try write("\(folder)/notes.txt")
        #expect(!library.settle())
    }

    @Test func directoriesComeGoAndComeAgain() throws {
        let (folder, other) = ("\(root)/one/two/pictures", "\(root)/elsewhere")
        let library = Followed([folder])
        #expect(library.names == [])
        for round in 1...3 {
            try makeDirectory(folder)
            try write("\(folder)/\(round).jpg")
            // Each directory on the way may appear by itself.
            #expect(library.settle())
            #expect(library.names == ["\(round).jpg"])
            switch round {
            case 1: try FileManager.default.removeItem(atPath: folder)
            case 2: rename("\(root)/one", other)
            default: rename(folder, "\(folder)-old")
            }
            #expect(library.settle())
            #expect(library.names == [])
            if round == 2 {
                rename(other, "\(root)/one")
                #expect(library.settle())
                #expect(library.names == ["2.jpg"])
                unlink("\(folder)/2.jpg")
                #expect(library.settle())
            }
        }
    }

    @Test func moreThanCanBeToldIsReadAnew() throws {
        try write("\(root)/a.jpg")
        let library = Followed([root])
        let limit = try String(
            contentsOfFile: "/proc/sys/fs/inotify/max_queued_events",
            encoding: .utf8
        )
        let count = try #require(Int(limit.filter(\.isNumber)))
        try write("\(root)/b.jpg")
        // Repeated events are merged, so two files take turns.
        for number in 0...count / 2 {
            chmod("\(root)/a.jpg", number % 2 == 0 ? 0o600 : 0o640)
            chmod("\(root)/b.jpg", number % 2 == 0 ? 0o600 : 0o640)
        }
        #expect(library.settle())
        #expect(library.names == ["a.jpg", "b.jpg"])
        unlink("\(root)/a.jpg")
        #expect(library.settle())
        #expect(library.names == ["b.jpg"])
    }

    @Test func oneDirectoryUnderTwoNamesHasItsFilesOnce() throws {
        let (folder, link) = ("\(root)/pictures", "\(root)/link")
        try makeDirectory(folder)
        symlink(folder, link)
        try write("\(folder)/a.jpg")
        for folders in [[link, folder], [link, link]] {
            let library = Followed(folders)
            #expect(library.names == ["a.jpg"])
            #expect(library.member("\(folder)/a.jpg") == "\(link)/a.jpg")
            #expect(library.member("\(link)/a.jpg") == "\(link)/a.jpg")
            try write("\(folder)/b.jpg")
            #expect(library.settle())
            #expect(library.names == ["a.jpg", "b.jpg"])
            #expect(!library.isElsewhere)
            unlink("\(folder)/b.jpg")
        }
    }

    @Test func whatNobodyTellsOfIsFoundByLooking() throws {
        for name in ["one", "two"] {
            try makeDirectory("\(root)/\(name)")
            try write("\(root)/\(name)/\(name).jpg")
        }
        // The link leads nowhere at first.
        symlink("\(root)/three", "\(root)/link")
        let library = Followed(["\(root)/link"])
        #expect(library.names == [] && !library.isElsewhere)
        rename("\(root)/one", "\(root)/three")
        #expect(library.isElsewhere && library.read())
        #expect(library.names == ["one.jpg"] && !library.isElsewhere)
        unlink("\(root)/link")
        symlink("\(root)/two", "\(root)/link")
        #expect(library.isElsewhere && library.read())
        #expect(library.names == ["two.jpg"] && !library.isElsewhere)
        unlink("\(root)/link")
        #expect(library.isElsewhere && library.read())
        #expect(library.names == [])
    }

    @Test func oneThatCannotBeWatchedDoesNotBlindTheOther() throws {
        symlink("\(root)/loop", "\(root)/loop")
        let library = Followed(["\(root)/loop", root])
        #expect(library.isElsewhere)
        try write("\(root)/a.jpg")
        #expect(library.settle())
        #expect(library.names == ["a.jpg"])
    }

    @Test func whatIsBeingWrittenIsLeftOut() throws {
        try write("\(root)/a.mkv")
        try write("\(root)/b.mkv")
        let library = Followed([root], leavingOut: ["\(root)/a.mkv"])
        #expect(library.names == ["b.mkv"])
        try write("\(root)/a.mkv", "more")
        #expect(!library.settle())
        #expect(library.leaveOut(["\(root)/b.mkv", "\(root)/c.mkv"]))
        #expect(library.names == ["a.mkv"])
        #expect(library.leaveOut([]))
        #expect(library.names == ["a.mkv", "b.mkv"])
    }

    @Test(arguments: [
        (0, 1_999, 1), (-1, 0, -1_000_000), (.max, 999_999_999, 9_223_372_036_853_999_999),
        (.min, 0, -9_223_372_036_853_000_000),
    ])
    func noTimeIsTooFar(_ seconds: Int, _ nanoseconds: Int, _ expected: Int64) {
        #expect(microseconds(seconds, nanoseconds: nanoseconds) == expected)
    }

    @Test func onlyItsOwnFilesAreOfTheLibrary() throws {
        let folder = "\(root)/pictures"
        try makeDirectory(folder)
        try write("\(folder)/a.jpg")
        try write("\(root)/other.jpg")
        symlink("\(root)/other.jpg", "\(folder)/link.jpg")
        let library = Followed([folder])
        #expect(library.member("\(folder)/a.jpg") != nil)
        for path in [
            "\(root)/other.jpg", "\(folder)/link.jpg", "\(folder)/../pictures/a.jpg",
            "\(folder)/./a.jpg", "\(folder)//a.jpg", "a.jpg", "", "/", "\(folder)/", folder,
            "/etc/passwd", "\(folder)/none.jpg",
        ] { #expect(library.member(path) == nil, "\(path)") }
    }
}

/// The lengths of movies as their headers state them.
@Suite("Lengths of movies") struct MovieLengthTests {
    private func seconds(_ bytes: [UInt8]) -> Double? {
        MovieLength.seconds { offset, count in
            offset < bytes.count ? Array(bytes[Int(offset)...].prefix(count)) : []
        }
    }

    /// A Matroska file of these children of its segment.
    private func matroska(_ children: [UInt8]) -> [UInt8] {
        [0x1a, 0x45, 0xdf, 0xa3, 0x80]  // An empty header.
            + [0x18, 0x53, 0x80, 0x67, 0x01] + [UInt8](repeating: 0xff, count: 7) + children
    }

    private func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    private func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        bytes(UInt32(8 + content.count)) + Array(type.utf8) + content
    }

    /// A movie header of MP4, version 0.
    private func header(scale: UInt32, duration: UInt32) -> [UInt8] {
        box(
            "mvhd",
            [UInt8](repeating: 0, count: 12) + bytes(scale) + bytes(duration)
                + Array(repeating: 0, count: 80)
        )
    }

    @Test func aMatroskaFileHasItInItsInfo() throws {
        let info: [UInt8] =
            [0xec, 0x83, 0, 0, 0]  // A void before it.
            + [0x15, 0x49, 0xa9, 0x66, 0x92]
            + [0x2a, 0xd7, 0xb1, 0x83, 0x0f, 0x42, 0x40]
            + [0x44, 0x89, 0x88] + bytes(Double(65_500).bitPattern)
        #expect(seconds(matroska(info)) == 65.5)
        // The same in half milliseconds.
        var fine = info
        let scale = try #require(fine.firstRange(of: [0x0f, 0x42, 0x40]))
        fine.replaceSubrange(scale, with: [0x07, 0xa1, 0x20])
        #expect(seconds(matroska(fine)) == 32.75)
    }

    @Test func anMP4FileHasItInItsMovieHeader() {
        let start =
            box("ftyp", Array("isom0000".utf8)) + box("mdat", Array(repeating: 7, count: 99))
        let movie = box("moov", header(scale: 1000, duration: 12_345))
        #expect(seconds(start + movie) == 12.345)
        // Boxes with a 64-bit size.
        let large = bytes(UInt32(1)) + Array("mdat".utf8) + bytes(UInt64(20)) + [1, 2, 3, 4]
        #expect(seconds(large + movie) == 12.345)
    }

    @Test func aFileThatDoesNotSayHasNone() {
        let unknown = box("moov", header(scale: 1000, duration: .max))
        let never = box("moov", header(scale: 0, duration: 5))
        let endless = [[UInt8]](repeating: box("free", []), count: 1000).flatMap { $0 }
        let backwards = bytes(UInt32(1)) + Array("mdat".utf8) + bytes(UInt64.max)
        let nan: [UInt8] = [0x15, 0x49, 0xa9, 0x66, 0x8b, 0x44, 0x89, 0x88]
        for file in [
            [], [0x1a], matroska([]), matroska([0x15, 0x49]), unknown, never, endless, backwards,
            matroska(nan + bytes(Double.nan.bitPattern)),
            matroska(nan + bytes(Double.infinity.bitPattern)),
            matroska(nan + bytes(Double(-5).bitPattern)), Array("text, not a movie".utf8),
        ] {
            #expect(seconds(file) == nil, "\(file.prefix(40))")
        }
    }

    /// Every file that is cut short, or has one byte changed, has none, or one that there may be.
    @Test func anyBytesAreRead() {
        func expectLength(_ file: [UInt8]) {
            #expect((0...366 * 86_400).contains(seconds(file) ?? 0), "\(file)")
        }
        let info: [UInt8] =
            [0x15, 0x49, 0xa9, 0x66, 0x8b, 0x44, 0x89, 0x88] + bytes(Double(1000).bitPattern)
        let files = [
            matroska(info),
            box("ftyp", [0, 0, 0, 0]) + box("moov", header(scale: 1000, duration: 5000)),
        ]
        for file in files {
            for place in file.indices {
                expectLength(Array(file.prefix(place)))
                for value: UInt8 in [0, 1, 0x7f, 0x80, 0xff] {
                    var changed = file
                    changed[place] = value
                    expectLength(changed)
                }
            }
        }
    }

    @Test func aLinkOrAPipeIsNoMovie() throws {
        let scratch = try ScratchDirectory()
        let folder = scratch.path
        symlink("/etc/passwd", "\(folder)/a.mkv")
        mkfifo("\(folder)/b.mkv", 0o600)
        for name in ["a", "b", "none"] {
            #expect(MovieLength.seconds(of: "\(folder)/\(name).mkv") == nil)
        }
    }
}
