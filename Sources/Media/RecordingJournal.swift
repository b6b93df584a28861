import Glibc
package import Platform

/// The list of recordings that were begun and not finished, kept on the disk for the next start of
/// the daemon: the file `recordings` beside `state.toml`, with an absolute path in each line.
///
/// Daemons on several buses of one user share it. Each change is read, made and written under a
/// lock.
///
/// - Context: Any thread that may wait for the disk.
package struct RecordingJournal: Sendable {
    private let file: StateFile

    /// Creates the journal of the user; `nil` without a home directory.
    package init?() {
        guard let file = StateFile("recordings") else { return nil }
        self.file = file
    }

    init(_ file: StateFile) { self.file = file }

    /// Returns the paths of the unfinished recordings.
    ///
    /// - Throws: `SystemError` when the file cannot be read.
    package func paths() throws(SystemError) -> [String] {
        // Earlier versions put a number and a space before some paths.
        (try file.load() ?? "").split(separator: "\n").compactMap { line in
            line.firstIndex(of: "/").map { String(line[$0...]) }
        }
    }

    /// Adds `path`, unless it is there.
    ///
    /// - Throws: `SystemError` when the journal cannot be read or written.
    package func add(_ path: String) throws(SystemError) {
        try change { $0.contains(path) ? $0 : $0 + [path] }
    }

    /// Removes `path`.
    ///
    /// - Throws: As `add(_:)`.
    package func remove(_ path: String) throws(SystemError) {
        try change { paths in paths.filter { $0 != path } }
    }

    private func change(_ body: ([String]) -> [String]) throws(SystemError) {
        try makeFolder(of: file.path)
        let lock = "\(file.path).lock"
        let number = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .last("open", lock) }
        let locked = Descriptor(owning: number)
        _ = FileLock.take(locked.number, waiting: true)
        let before = try paths()
        let after = body(before)
        guard after != before else { return }
        try file.store(after.map { $0 + "\n" }.joined())
    }
}
