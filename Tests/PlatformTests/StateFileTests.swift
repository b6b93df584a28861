import Foundation
import Platform
import TestSupport
import Testing

@Suite("The state file") struct StateFileTests {
    private let scratch: ScratchDirectory
    private let directory: String
    private let file: StateFile

    init() throws {
        scratch = try ScratchDirectory()
        directory = "\(scratch.path)/state"
        file = StateFile(path: "\(directory)/dualcam/state.toml")
    }

    private func permissions(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `is written for its owner alone, as a whole, and read back`() throws {
        #expect(try file.load() == nil)
        #expect(try !file.exists())
        try file.store("a = 1\n")
        #expect(try file.load() == "a = 1\n")
        #expect(try permissions(of: file.path) == 0o600)
        #expect(try permissions(of: "\(directory)/dualcam") == 0o700)
        // Another file takes its place: whoever has opened the old one reads all of it.
        let old = try #require(FileHandle(forReadingAtPath: file.path))
        try file.store("b = 2\n")
        #expect(try old.readToEnd() == Data("a = 1\n".utf8))
        #expect(try file.load() == "b = 2\n")
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(directory)/dualcam")
        #expect(names == ["state.toml"])
    }

    @Test func `is removed, also if there is none`() throws {
        try file.remove()
        try file.store("")
        #expect(try file.exists())
        try file.remove()
        #expect(try !file.exists())
    }

    @Test func `is set aside, whatever it is, and never over another`() throws {
        try file.store("first")
        #expect(try file.setAside() == "\(file.path).damaged")
        try makeDirectory(file.path)
        #expect(#expect(throws: SystemError.self) { try file.load() }?.errno == EISDIR)
        #expect(try file.exists())
        #expect(try file.setAside() == "\(file.path).damaged-2")
        for number in 3...9 {
            try file.store("\(number)")
            #expect(try file.setAside() == "\(file.path).damaged-\(number)")
        }
        try file.store("one too many")
        #expect(throws: SystemError.self) { try file.setAside() }
        #expect(try String(contentsOfFile: "\(file.path).damaged", encoding: .utf8) == "first")
    }

    @Test func `tells a file that is no text, or too long, from none`() throws {
        try file.store("")
        try Data([0xff, 0xfe]).write(to: URL(fileURLWithPath: file.path))
        #expect(#expect(throws: SystemError.self) { try file.load() }?.errno == EILSEQ)
        try Data(count: 1 << 20 + 1).write(to: URL(fileURLWithPath: file.path))
        #expect(#expect(throws: SystemError.self) { try file.load() }?.errno == EFBIG)
    }

    @Test func `keeps the old text when the new one cannot be written`() throws {
        try makeDirectory(directory)
        // A file where the directory should be.
        try Data().write(to: URL(fileURLWithPath: "\(directory)/dualcam"))
        #expect(#expect(throws: SystemError.self) { try file.store("x") }?.errno == ENOTDIR)
        #expect(try file.load() == nil)
    }

    @Test("that cannot be looked at is neither there nor absent, but an error")
    func unknown() throws {
        try file.store("x")
        let loop = "\(directory)/loop"
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        for path in ["\(loop)/privacy", "\(directory)/\(String(repeating: "a", count: 300))"] {
            let unknown = StateFile(path: path)
            #expect(throws: SystemError.self) { try unknown.exists() }
            #expect(throws: SystemError.self) { try unknown.load() }
            #expect(throws: SystemError.self) { try unknown.remove() }
        }
        // These are known: nothing is there.
        for path in ["\(file.path)/privacy", "\(directory)/none/privacy"] {
            #expect(try !StateFile(path: path).exists())
            #expect(try StateFile(path: path).load() == nil)
        }
    }
}
