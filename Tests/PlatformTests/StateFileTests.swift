import Foundation
import Platform
import TestSupport
import Testing

@Suite("The state file")
struct StateFileTests {
    private let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("dualcam-state-\(UUID())").path

    /// Runs `body` with the file of this test.
    private func with(_ body: (StateFile) throws -> Void) throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(StateFile(path: "\(directory)/dualcam/state.toml"))
    }

    private func permissions(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("is written for its owner alone, as a whole, and read back")
    func storing() throws {
        try with { file in
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
    }

    @Test("is removed, also if there is none")
    func removing() throws {
        try with { file in
            try file.remove()
            try file.store("")
            #expect(try file.exists())
            try file.remove()
            #expect(try !file.exists())
        }
    }

    @Test("is set aside, whatever it is, and never over another")
    func settingAside() throws {
        try with { file in
            try file.store("first")
            #expect(try file.setAside() == "\(file.path).damaged")
            try FileManager.default.createDirectory(
                atPath: file.path,
                withIntermediateDirectories: false
            )
            let error = #expect(throws: SystemError.self) { try file.load() }
            #expect(error?.errno == EISDIR)
            #expect(try file.exists())
            #expect(try file.setAside() == "\(file.path).damaged-2")
            for number in 3...9 {
                try file.store("\(number)")
                #expect(try file.setAside() == "\(file.path).damaged-\(number)")
            }
            try file.store("one too many")
            #expect(throws: SystemError.self) { try file.setAside() }
            let first = try String(contentsOfFile: "\(file.path).damaged", encoding: .utf8)
            #expect(first == "first")
        }
    }

    @Test("tells a file that is no text, or too long, from none")
    func damage() throws {
        try with { file in
            try file.store("")
            try Data([0xff, 0xfe]).write(to: URL(fileURLWithPath: file.path))
            #expect(#expect(throws: SystemError.self) { try file.load() }?.errno == EILSEQ)
            try Data(count: 1 << 20 + 1).write(to: URL(fileURLWithPath: file.path))
            #expect(#expect(throws: SystemError.self) { try file.load() }?.errno == EFBIG)
        }
    }

    @Test("keeps the old text when the new one cannot be written")
    func failing() throws {
        try with { file in
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true
            )
            // A file where the directory should be.
            try Data().write(to: URL(fileURLWithPath: "\(directory)/dualcam"))
            #expect(#expect(throws: SystemError.self) { try file.store("x") }?.errno == ENOTDIR)
            #expect(try file.load() == nil)
        }
    }

    @Test("that cannot be looked at is neither there nor absent, but an error")
    func unknown() throws {
        try with { file in
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
}
