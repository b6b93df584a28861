import Glibc
package import Platform

/// The list of recordings that were begun and not finished, kept on the disk for the next start of
/// the daemon: the file `recordings` beside `state.toml`.
///
/// Daemons on several buses of one user share it. Each change is read, made and written under a
/// lock.
///
/// - Context: Any thread that may wait for the disk.
package struct RecordingJournal: Sendable {
    /// An unfinished recording.
    package struct Entry: Hashable, Sendable {
        /// The absolute path of the file.
        package var path: String
        /// The number of attempts to repair it that did not end.
        package var attempts = 0
    }

    private let file: StateFile

    /// Creates the journal of the user; `nil` without a home directory.
    package init?() {
        guard let file = StateFile("recordings") else { return nil }
        self.file = file
    }

    /// Creates the journal in `file`.
    init(_ file: StateFile) { self.file = file }

    /// Returns the unfinished recordings.
    ///
    /// - Throws: `SystemError` when the file cannot be read.
    package func entries() throws(SystemError) -> [Entry] {
        (try file.load() ?? "").split(separator: "\n").compactMap { Self.entry(in: $0) }
    }

    /// Adds `path`, unless it is there.
    ///
    /// - Throws: `SystemError` when the journal cannot be read or written.
    package func add(_ path: String) throws(SystemError) {
        try change { entries in
            if !entries.contains(where: { $0.path == path }) { entries.append(Entry(path: path)) }
        }
    }

    /// Removes `path`.
    ///
    /// - Throws: As `add(_:)`.
    package func remove(_ path: String) throws(SystemError) {
        try change { entries in entries.removeAll { $0.path == path } }
    }

    /// Sets the number of attempts to repair `path`, if it is there.
    ///
    /// - Throws: As `add(_:)`.
    package func set(attempts: Int, of path: String) throws(SystemError) {
        try change { entries in
            for index in entries.indices where entries[index].path == path {
                entries[index].attempts = attempts
            }
        }
    }

    private func change(_ body: (inout [Entry]) -> Void) throws(SystemError) {
        try makeFolder(of: file.path)
        let lock = "\(file.path).lock"
        let number = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .last("open", lock) }
        let locked = Descriptor(owning: number)
        _ = FileLock.take(locked.number, waiting: true)
        let before = try entries()
        var after = before
        body(&after)
        guard after != before else { return }
        try file.store(after.map { Self.line($0) + "\n" }.joined())
    }

    /// Returns the line for `entry`: its path, after the number of attempts if there were any.
    private static func line(_ entry: Entry) -> String {
        entry.attempts == 0 ? entry.path : "\(entry.attempts) \(entry.path)"
    }

    /// Returns the entry in `line`; `nil` for anything else.
    private static func entry(in line: Substring) -> Entry? {
        if line.hasPrefix("/") { return Entry(path: String(line)) }
        let words = line.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let attempts = Int(words[0]), (0...1000).contains(attempts),
            words[1].hasPrefix("/")
        else { return nil }
        return Entry(path: String(words[1]), attempts: attempts)
    }
}
