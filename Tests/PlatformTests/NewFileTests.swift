import Foundation
import TestSupport
import Testing

@testable import Platform

/// A table of calls as of a file system that refuses some of them.
private func calls(unnamed: Bool, renaming: CInt? = nil) -> FileCalls {
    var calls = FileCalls()
    @Sendable func refuse(_ error: CInt) -> CInt {
        errno = error
        return -1
    }
    if !unnamed { calls.openUnnamed = { _ in refuse(EOPNOTSUPP) } }
    if let error = renaming {
        calls.renameToNew = { _, _ in refuse(EINVAL) }
        calls.link = { _, _ in refuse(error) }
        calls.linkUnnamed = { _, _ in refuse(error) }
        calls.rename = { _, _ in refuse(error) }
    }
    return calls
}

/// The file systems to test: this one, one without unnamed files, and one that knows nothing, which
/// it says in several ways.
private let systems: [(name: String, calls: FileCalls)] = [
    ("unnamed", FileCalls()),
    ("named", calls(unnamed: false)),
    ("MTP", calls(unnamed: false, renaming: ENOSYS)),
    ("MTP that says EPERM", calls(unnamed: false, renaming: EPERM)),
    ("no links", calls(unnamed: true, renaming: EOPNOTSUPP)),
]

@Suite("New files") struct NewFileTests {
    private let scratch: ScratchDirectory
    private var folder: String { scratch.path }

    init() throws { scratch = try ScratchDirectory() }

    private func names() -> [String] { entries(of: folder).sorted() }

    private func mode(_ name: String) -> UInt32 {
        var status = stat()
        return stat("\(folder)/\(name)", &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test("they appear when they are complete, and never replace another", arguments: systems)
    func place(_ system: (name: String, calls: FileCalls)) throws {
        let path = "\(folder)/a"
        do {
            let file = try NewFile(for: path, mode: 0o640, calls: system.calls)
            try file.write(Array("one".utf8))
            #expect(!names().contains("a"))
            try file.place()
            #expect(try scratch.text("a") == "one")
        }
        #expect(mode("a") == 0o640)
        do {
            let second = try NewFile(for: path, mode: 0o600, calls: system.calls)
            try second.write(Array("two".utf8))
            #expect(#expect(throws: SystemError.self) { try second.place() }?.errno == EEXIST)
        }
        #expect(try scratch.text("a") == "one" && names() == ["a"])
        do { _ = try NewFile(for: "\(folder)/never", mode: 0o600, calls: system.calls) }
        #expect(names() == ["a"])
    }

    @Test("they replace another at once", arguments: systems.prefix(2))
    func replace(_ system: (name: String, calls: FileCalls)) throws {
        for (content, mode) in [("one", 0o600), ("two", 0o644)] as [(String, UInt32)] {
            let file = try NewFile(for: "\(folder)/a", mode: mode, calls: system.calls)
            try file.write(Array(content.utf8))
            try file.replace()
            #expect(try scratch.text("a") == content && self.mode("a") == mode && names() == ["a"])
        }
    }

    @Test("where nothing can be renamed, what is there stays", arguments: systems.dropFirst(2))
    func refuse(_ system: (name: String, calls: FileCalls)) throws {
        do {
            let file = try NewFile(for: "\(folder)/a", mode: 0o600, calls: system.calls)
            try file.write(Array("one".utf8))
            try file.replace()
            #expect(try scratch.text("a") == "one")
            let second = try NewFile(for: "\(folder)/a", mode: 0o600, calls: system.calls)
            #expect(throws: SystemError.self) { try second.replace() }
        }
        #expect(try scratch.text("a") == "one" && names() == ["a"])
    }

    @Test func `a large file is whole where it has to be copied`() throws {
        let bytes = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        let file = try NewFile(
            for: "\(folder)/a",
            mode: 0o600,
            calls: calls(unnamed: false, renaming: ENOSYS)
        )
        try file.write(bytes)
        try file.place()
        #expect(try Data(contentsOf: URL(filePath: "\(folder)/a")) == Data(bytes))
    }

    @Test func `what a crash left goes with the next write, and nothing else does`() throws {
        let left = ".dualcam-0123456789abcdef.part"
        let others = [
            ".dualcam-backup", ".dualcam-0123456789abcdef", ".dualcam-0123456789abcdeg.part",
            "x.dualcam-0123456789abcdef.part",
        ]
        for name in others + [left] { try Data([1]).write(to: URL(filePath: "\(folder)/\(name)")) }
        mkdir("\(folder)/.dualcam-00000000000000d1.part", 0o700)
        symlink("\(folder)/.dualcam-backup", "\(folder)/.dualcam-00000000000000e1.part")
        let held = try NewFile(for: "\(folder)/a", mode: 0o600, calls: calls(unnamed: false))
        let kept = names()
        #expect(!kept.contains(left))
        #expect(kept.count == others.count + 3)
        // Not the one that is being written.
        NewFile.removeLeftovers(in: folder + "/")
        #expect(names() == kept)
        try held.place()
        #expect(names().contains("a") && names().count == kept.count)
    }

    @Test("killed at any time, none leaves anything that the next does not remove")
    func killed() throws {
        for (calls, count) in [(FileCalls(), 0), (calls(unnamed: false), 1)] {
            #expect(try crashed(calls) == count)
            NewFile.removeLeftovers(in: folder + "/")
            #expect(names() == [])
        }
    }

    /// Returns how many names there are once the descriptors of a file are closed, as by a kill.
    private func crashed(_ calls: FileCalls) throws -> Int {
        let file = try NewFile(for: "\(folder)/a", mode: 0o600, calls: calls)
        try file.write([1])
        // The lock goes with the last descriptor; the file itself stays for ever.
        close(file.descriptor)
        _ = Unmanaged.passRetained(file)
        return names().count
    }
}

@Suite("Files that a person names") struct WriteFileTests {
    private let scratch: ScratchDirectory
    private var folder: String { scratch.path }

    init() throws { scratch = try ScratchDirectory() }

    private func put(_ text: String, _ name: String) throws {
        try writeFile(Array(text.utf8), to: "\(folder)/\(name)")
    }

    private func status(_ name: String) -> stat {
        var status = stat()
        lstat("\(folder)/\(name)", &status)
        return status
    }

    @Test("a file keeps its permissions, and is replaced, not written into")
    func permissions() throws {
        try put("one", "a")
        chmod("\(folder)/a", 0o640)
        let before = status("a")
        try put("two", "a")
        let after = status("a")
        #expect(try scratch.text("a") == "two")
        #expect(after.st_mode == before.st_mode && after.st_ino != before.st_ino)
        #expect(after.st_uid == before.st_uid && after.st_gid == before.st_gid)
    }

    @Test func `a new one has what the umask leaves`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchDirectory()
            defer { scratch.remove() }
            let folder = scratch.path
            umask(0o027)
            try writeFile([1], to: "\(folder)/a")
            var status = stat()
            precondition(stat("\(folder)/a", &status) == 0 && status.st_mode & 0o777 == 0o640)
        }
    }

    @Test("links are followed, also to what is not there yet, but not in a circle")
    func links() throws {
        try put("one", "a")
        mkdir("\(folder)/deep", 0o700)
        symlink("../deep/two", "\(folder)/deep/one")
        symlink("deep/one", "\(folder)/chain")
        symlink("\(folder)/a", "\(folder)/link")
        symlink("circle", "\(folder)/circle")
        try put("by link", "link")
        try put("by chain", "chain")
        #expect(try scratch.text("a") == "by link" && scratch.text("deep/two") == "by chain")
        for name in ["link", "chain", "deep/one"] {
            #expect(status(name).st_mode & S_IFMT == S_IFLNK)
        }
        #expect(#expect(throws: SystemError.self) { try put("x", "circle") }?.errno == ELOOP)
        #expect(#expect(throws: SystemError.self) { try put("x", "deep") }?.errno == EISDIR)
        #expect(#expect(throws: SystemError.self) { try put("x", "none/a") }?.errno == ENOENT)
    }

    @Test func `a pipe, a device and a descriptor are written to, and stay what they are`() throws {
        let pipe = "\(folder)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        try put("through", "pipe")
        var bytes = [UInt8](repeating: 0, count: 64)
        #expect(read(reader, &bytes, bytes.count) == 7)
        #expect(status("pipe").st_mode & S_IFMT == S_IFIFO)
        let full = #expect(throws: SystemError.self) { try writeFile([1], to: "/dev/full") }
        #expect(full?.errno == ENOSPC)
        try writeFile([1], to: "/dev/null")
        var null = stat()
        #expect(stat("/dev/null", &null) == 0 && null.st_mode & S_IFMT == S_IFCHR)
        // What is before it in the file stays there.
        try put("before, ", "a")
        let number = open("\(folder)/a", O_WRONLY | O_APPEND | O_CLOEXEC)
        defer { close(number) }
        try writeFile(Array("in ".utf8), to: "/dev/fd/\(number)")
        try writeFile(Array("it".utf8), to: "/proc/self/fd/\(number)")
        #expect(try scratch.text("a") == "before, in it")
    }
}
