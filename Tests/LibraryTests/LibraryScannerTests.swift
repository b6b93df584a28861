import Foundation
import Glibc
import TestSupport
import Testing

@testable import Library

@Suite("Directories of the library", .timeLimit(.minutes(2)))
struct LibraryScannerTests {
    /// Runs `body` in a directory of its own.
    private func inDirectory(_ body: (String) throws -> Void) throws {
        try ScratchDirectory.with(body)
    }

    private func write(_ path: String, _ text: String = "x") throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    private func names(_ scanner: LibraryScanner) -> [String] {
        scanner.index.items(from: 0, count: .max).map { URL(filePath: $0.path).lastPathComponent }
            .sorted()
    }

    /// Takes over changes as the thread does. Returns `true` if there were any.
    private func settle(_ scanner: LibraryScanner) -> Bool {
        let update = scanner.update()
        return update.isStale && scanner.read() || update.hasChanged
    }

    @Test func itIsTrueToWhatHappens() throws {
        try inDirectory { root in
            let folder = "\(root)/pictures"
            try FileManager.default.createDirectory(
                atPath: "\(folder)/below",
                withIntermediateDirectories: true
            )
            try write("\(folder)/a.jpg")
            try write("\(folder)/below/no.jpg")
            try write("\(folder)/.hidden.jpg")
            try write("\(folder)/empty.jpg", "")
            try FileManager.default.createDirectory(
                atPath: "\(folder)/folder.jpg",
                withIntermediateDirectories: true
            )
            symlink("/etc/passwd", "\(folder)/link.jpg")
            mkfifo("\(folder)/pipe.jpg", 0o600)
            let scanner = LibraryScanner([folder, "\(root)/videos"])
            #expect(names(scanner) == ["a.jpg"])
            #expect(!settle(scanner))

            // By a rename, like DualCam's own photographs.
            try write("\(folder)/.passing")
            #expect(!settle(scanner))
            rename("\(folder)/.passing", "\(folder)/b.jpg")
            #expect(settle(scanner))
            #expect(names(scanner) == ["a.jpg", "b.jpg"])
            // Written in place: it is empty at first.
            let file = try #require(fopen("\(folder)/c.mkv", "w"))
            #expect(!settle(scanner))
            fputs("xyz", file)
            fclose(file)
            #expect(settle(scanner))
            let first = scanner.index.items(from: 0, count: 1).first
            #expect(first?.byteCount == 3)
            rename("\(folder)/b.jpg", "\(root)/b.jpg")
            unlink("\(folder)/a.jpg")
            #expect(settle(scanner))
            #expect(names(scanner) == ["c.mkv"])
            try write("\(folder)/notes.txt")
            #expect(!settle(scanner))
        }
    }

    @Test func directoriesComeGoAndComeAgain() throws {
        try inDirectory { root in
            let (folder, other) = ("\(root)/one/two/pictures", "\(root)/elsewhere")
            let scanner = LibraryScanner([folder])
            #expect(names(scanner) == [])
            for round in 1...3 {
                try FileManager.default.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true
                )
                try write("\(folder)/\(round).jpg")
                // Each directory on the way may appear by itself.
                #expect(settle(scanner))
                #expect(names(scanner) == ["\(round).jpg"])
                switch round {
                case 1: try FileManager.default.removeItem(atPath: folder)
                case 2: rename("\(root)/one", other)
                default: rename(folder, "\(folder)-old")
                }
                #expect(settle(scanner))
                #expect(names(scanner) == [])
                if round == 2 {
                    rename(other, "\(root)/one")
                    #expect(settle(scanner))
                    #expect(names(scanner) == ["2.jpg"])
                    unlink("\(folder)/2.jpg")
                    #expect(settle(scanner))
                }
            }
        }
    }

    @Test func moreThanCanBeToldIsReadAnew() throws {
        try inDirectory { root in
            try write("\(root)/a.jpg")
            let scanner = LibraryScanner([root])
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
            #expect(scanner.update() == LibraryScanner.Update(hasChanged: true, isStale: true))
            #expect(!scanner.read())
            #expect(names(scanner) == ["a.jpg", "b.jpg"])
            unlink("\(root)/a.jpg")
            #expect(settle(scanner))
            #expect(names(scanner) == ["b.jpg"])
        }
    }

    @Test func oneDirectoryUnderTwoNamesHasItsFilesOnce() throws {
        try inDirectory { root in
            let (folder, link) = ("\(root)/pictures", "\(root)/link")
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
            symlink(folder, link)
            try write("\(folder)/a.jpg")
            for folders in [[link, folder], [link, link]] {
                let scanner = LibraryScanner(folders)
                #expect(names(scanner) == ["a.jpg"])
                #expect(scanner.member("\(folder)/a.jpg") == "\(link)/a.jpg")
                #expect(scanner.member("\(link)/a.jpg") == "\(link)/a.jpg")
                try write("\(folder)/b.jpg")
                #expect(settle(scanner))
                #expect(names(scanner) == ["a.jpg", "b.jpg"])
                #expect(!scanner.isElsewhere)
                unlink("\(folder)/b.jpg")
            }
        }
    }

    @Test func whatNobodyTellsOfIsFoundByLooking() throws {
        try inDirectory { root in
            for name in ["one", "two"] {
                try FileManager.default.createDirectory(
                    atPath: "\(root)/\(name)",
                    withIntermediateDirectories: true
                )
                try write("\(root)/\(name)/\(name).jpg")
            }
            // The link leads nowhere at first.
            symlink("\(root)/three", "\(root)/link")
            let scanner = LibraryScanner(["\(root)/link"])
            #expect(names(scanner) == [] && !scanner.isElsewhere)
            rename("\(root)/one", "\(root)/three")
            #expect(scanner.isElsewhere && scanner.read())
            #expect(names(scanner) == ["one.jpg"] && !scanner.isElsewhere)
            unlink("\(root)/link")
            symlink("\(root)/two", "\(root)/link")
            #expect(scanner.isElsewhere && scanner.read())
            #expect(names(scanner) == ["two.jpg"] && !scanner.isElsewhere)
            unlink("\(root)/link")
            #expect(scanner.isElsewhere && scanner.read())
            #expect(names(scanner) == [])
        }
    }

    @Test func oneThatCannotBeWatchedDoesNotBlindTheOther() throws {
        try inDirectory { root in
            symlink("\(root)/loop", "\(root)/loop")
            let scanner = LibraryScanner(["\(root)/loop", root])
            #expect(scanner.isElsewhere)
            try write("\(root)/a.jpg")
            #expect(settle(scanner))
            #expect(names(scanner) == ["a.jpg"])
        }
    }

    @Test func whatIsBeingWrittenIsLeftOut() throws {
        try inDirectory { root in
            try write("\(root)/a.mkv")
            try write("\(root)/b.mkv")
            let scanner = LibraryScanner([root], leavingOut: ["\(root)/a.mkv"])
            #expect(names(scanner) == ["b.mkv"])
            try write("\(root)/a.mkv", "more")
            #expect(!settle(scanner))
            #expect(scanner.leaveOut(["\(root)/b.mkv", "\(root)/c.mkv"]))
            #expect(names(scanner) == ["a.mkv"])
            #expect(scanner.leaveOut([]))
            #expect(names(scanner) == ["a.mkv", "b.mkv"])
            #expect(!scanner.leaveOut([]))
        }
    }

    @Test(arguments: [
        (0, 1_999, 1), (-1, 0, -1_000_000), (.max, 999_999_999, 9_223_372_036_853_999_999),
        (.min, 0, -9_223_372_036_853_000_000),
    ])
    func noTimeIsTooFar(_ seconds: Int, _ nanoseconds: Int, _ expected: Int64) {
        #expect(microseconds(seconds, nanoseconds: nanoseconds) == expected)
    }

    @Test func onlyItsOwnFilesAreOfTheLibrary() throws {
        try inDirectory { root in
            let folder = "\(root)/pictures"
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
            try write("\(folder)/a.jpg")
            try write("\(root)/other.jpg")
            symlink("\(root)/other.jpg", "\(folder)/link.jpg")
            let scanner = LibraryScanner([folder])
            #expect(scanner.member("\(folder)/a.jpg") != nil)
            for path in [
                "\(root)/other.jpg", "\(folder)/link.jpg", "\(folder)/../pictures/a.jpg",
                "\(folder)/./a.jpg", "\(folder)//a.jpg", "a.jpg", "", "/", "\(folder)/", folder,
                "/etc/passwd", "\(folder)/none.jpg",
            ] { #expect(scanner.member(path) == nil, "\(path)") }
        }
    }
}
