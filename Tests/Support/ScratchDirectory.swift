import Foundation
import Glibc
package import Platform

/// A directory of a test's own. It goes with this object, or with the test's process, however that
/// dies.
package final class ScratchDirectory: Sendable {
    /// Its path, short enough for the path of a socket in it (107 bytes), and without blanks.
    package let path: String

    /// Creates the directory in TMPDIR, or in /tmp.
    package init() throws(SystemError) {
        let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(parent)/dc-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw .last("mkdtemp", parent)
        }
        self.path = path
        Reaper.shared.clean(path)
    }

    deinit { remove() }

    /// Runs `body` with the path of a new directory.
    package static func with<Result>(_ body: (String) throws -> Result) throws -> Result {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        return try body(directory.path)
    }

    /// Removes it with all that is in it. Harmless when called twice.
    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file called `name`, and makes the folders that it is in. Returns its path.
    @discardableResult
    package func put(_ bytes: some Sequence<UInt8>, _ name: String) throws -> String {
        let path = "\(path)/\(name)"
        try TestSupport.put(bytes, at: path)
        return path
    }

    /// Writes a file of text called `name`, and makes the folders that it is in. Returns its path.
    @discardableResult
    package func put(_ text: String, _ name: String) throws -> String {
        try put(text.utf8, name)
    }

    /// Returns the text of the file called `name`.
    package func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
    }

    /// The names of its files, sorted.
    package var content: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}

/// Writes a file, and makes the folders that it is in. Foundation's descriptors would pass to
/// programs that other tests start meanwhile.
package func put(_ bytes: some Sequence<UInt8>, at path: String, mode: Int = 0o600) throws {
    try makeFolder(of: path)
    let file = try NewFile(for: path, mode: UInt32(mode))
    try file.write(Array(bytes))
    try file.replace(syncing: false)
}

/// Writes a file of text, and makes the folders that it is in.
package func put(_ text: String, at path: String, mode: Int = 0o600) throws {
    try put(text.utf8, at: path, mode: mode)
}

/// Returns the object of JSON in `text`.
package func jsonObject(_ text: String) throws -> [String: Any] {
    let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8))
    guard let object = parsed as? [String: Any] else {
        throw ServiceFailed(description: "no object: \(text)")
    }
    return object
}
