package import Control
import Glibc
import Platform

/// The record that undoes one step of a fix.
package struct FixRecord: Equatable {
    /// The name of the finding that was fixed.
    package let name: String
    let change: Change

    enum Change: Equatable {
        case file(FileChange)
        /// The portal's permission of an application was changed, or forgotten.
        case permission(application: String, before: [String]?, after: [String]?)
        /// A unit of the user's was enabled and started, as far as it was not before.
        case unit(String, wasRunning: Bool, wasEnabled: Bool)
        case root(RootChange)
    }

    /// A file was written, or removed if `after` is `nil`.
    struct FileChange: Equatable {
        var path: String
        /// The folder of the sandbox that may write there.
        var home: String?
        var form: FileForm
        var before, after: FileContent?
        /// The folders that were made for it.
        var folders: [String] = []
    }

    /// `true` if a file was changed that is all ours.
    package var isOfOwnFile: Bool {
        guard case .file(let file) = change else { return false }
        return file.form == .own
    }

    /// The script that an administrator runs to undo it, if one does.
    package var script: String? {
        guard case .root(let change) = change else { return nil }
        return change.undoing
    }

    private static let start = "dualcam-fix 1"

    init(name: String, change: Change) {
        self.name = name
        self.change = change
    }

    /// The record as bytes: lines of a word and a value, an empty line, and the file's contents.
    var bytes: [UInt8] {
        var lines = [Self.start]
        func add(_ key: String, _ values: String?...) {
            for value in values.compactMap({ $0 }) {
                // Without line ends: "%" and control characters as two digits after a "%".
                let parts = value.unicodeScalars.map { scalar in
                    scalar == "%" || scalar.value < 0x20
                        ? "%" + String(0x100 + scalar.value, radix: 16).suffix(2) : String(scalar)
                }
                lines.append("\(key) \(parts.joined())")
            }
        }
        var content: [UInt8] = []
        add("name", name)
        switch change {
        case .file(let file):
            add("form", file.form.rawValue)
            add("path", file.path)
            add("home", file.home)
            for folder in file.folders { add("folder", folder) }
            for (key, part) in [("before", file.before), ("after", file.after)] {
                add(key, part.map { "\($0.bytes.count) \($0.mode)" })
                content += part?.bytes ?? []
            }
            if file.after == nil { add("removed", "true") }
        case .permission(let application, let before, let after):
            add("application", application)
            add("permissions", before.map { "\($0.count)" })
            for value in before ?? [] { add("was", value) }
            if after == nil { add("forgotten", "true") }
            for value in after ?? [] { add("is", value) }
        case .unit(let name, let wasRunning, let wasEnabled):
            add("unit", name)
            add("running", "\(wasRunning)")
            add("enabled", "\(wasEnabled)")
        case .root(let change): add("root", change.rawValue)
        }
        return Array((lines.joined(separator: "\n") + "\n\n").utf8) + content
    }

    /// Returns a value with the characters that were written as digits; `nil` for another "%".
    private static func unescaped(_ text: String) -> String? {
        let escape = /%([0-9a-f]{2})/.matchingSemantics(.unicodeScalar)
        guard !text.replacing(escape, with: "").contains("%") else { return nil }
        return text.replacing(escape) {
            UInt8($0.1, radix: 16).map { String(UnicodeScalar($0)) } ?? ""
        }
    }

    init(_ bytes: [UInt8]) throws(Failure) {
        let damaged = Failure("it is damaged")
        // The lines before the contents are short.
        guard let end = bytes.prefix(1 << 16).firstRange(of: Array("\n\n".utf8)),
            let text = String(validating: bytes[..<end.lowerBound], as: UTF8.self)
        else { throw damaged }
        var values: [String: [String]] = [:]
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines.dropFirst() {
            guard let space = line.firstIndex(of: " "),
                let value = Self.unescaped(String(line[space...].dropFirst()))
            else { throw damaged }
            values[String(line[..<space]), default: []].append(value)
        }
        func one(_ key: String) -> String? { values[key]?.count == 1 ? values[key]?[0] : nil }
        guard lines.first.map(String.init) == Self.start, let name = one("name") else {
            throw damaged
        }
        self.name = name
        if let path = one("path") {
            guard let form = one("form").flatMap(FileForm.init), path.hasPrefix("/"),
                !path.hasSuffix("/"), !path.contains("\0")
            else { throw damaged }
            var rest = bytes[end.upperBound...]
            func content(_ key: String) throws(Failure) -> FileContent? {
                guard values[key] != nil else { return nil }
                let numbers = (one(key) ?? "").split(separator: " ").compactMap { Int($0) }
                guard numbers.count == 2, (0...rest.count).contains(numbers[0]),
                    (0...0o7777).contains(numbers[1])
                else { throw damaged }
                defer { rest = rest.dropFirst(numbers[0]) }
                return FileContent(bytes: Array(rest.prefix(numbers[0])), mode: UInt32(numbers[1]))
            }
            let (before, after) = (try content("before"), try content("after"))
            let isRemoved = one("removed") == "true" && before != nil
            guard (after == nil) == isRemoved, rest.isEmpty else { throw damaged }
            change = .file(
                FileChange(
                    path: path,
                    home: one("home"),
                    form: form,
                    before: before,
                    after: after,
                    folders: values["folder"] ?? []
                )
            )
        } else if let application = one("application") {
            let before = values["was"] ?? []
            let hasBefore = values["permissions"] != nil
            guard !hasBefore || one("permissions") == "\(before.count)" else { throw damaged }
            change = .permission(
                application: application,
                before: hasBefore ? before : nil,
                after: values["forgotten"] == nil ? values["is"] ?? [] : nil
            )
        } else if let unit = one("unit"), let running = one("running").flatMap(Bool.init),
            // Older records are of units that were not enabled.
            let enabled = values["enabled"] == nil ? false : one("enabled").flatMap(Bool.init),
            // It becomes an argument of systemctl(1).
            !unit.hasPrefix("-")
        {
            change = .unit(unit, wasRunning: running, wasEnabled: enabled)
        } else if let known = RootChange(
            // Older records have a command as `undoing`. What a record says is never run.
            rawValue: one("root") ?? (one("undoing") == nil ? "" : name)
        ) {
            change = .root(known)
        } else {
            throw damaged
        }
    }
}

/// The records of what was fixed, one file each in ~/.local/state/dualcam/fixes, in their order.
package struct FixJournal: Sendable {
    private let folder: String

    /// The most records that are kept; the numbers in their names have four digits.
    private static let limit = 9999

    /// The user's records. Throws `Failure` without a home directory.
    package init() throws(Failure) {
        guard let path = StateFile("fixes")?.path else {
            throw Failure("there is no home directory: HOME is not set")
        }
        folder = path
    }

    init(folder: String) { self.folder = folder }

    /// The names of the records' files, the oldest first.
    private var files: [String] {
        entries(of: folder).filter { $0.utf8.count == 8 && $0.hasSuffix(".fix") }.sorted()
    }

    /// Returns the records, the oldest first, each with its file's path or what is wrong with it.
    package func records() -> [(path: String, record: Result<FixRecord, Failure>)] {
        files.map { file in
            let path = "\(folder)/\(file)"
            let record = Result { () throws(Failure) in
                try FixRecord(try FixedFile(path).read(limit: 1 << 25)?.bytes ?? [])
            }
            return (path, record.mapError { Failure("cannot read \(path): \($0.message)") })
        }
    }

    /// Adds `record`, and returns its path once it is on the disk. No other record is replaced,
    /// even if another process adds one at the same time. Throws `Failure` if it cannot be written;
    /// then nothing may be changed.
    func add(_ record: FixRecord) throws(Failure) -> String {
        let last = files.last.flatMap { Int($0.prefix(4)) } ?? 0
        for number in (last + 1)..<(max(last, Self.limit) + 1) {
            let name = String(10_000 + number).suffix(4) + ".fix"
            let file = try FixedFile("\(folder)/\(name)", makesFolders: true)
            if try file.create(FileContent(bytes: record.bytes, mode: 0o600)) { return file.path }
        }
        throw Failure("there are too many records in \(folder)")
    }

    /// Removes the record at `path`, and the folder with the last one.
    package func remove(_ path: String) {
        unlink(path)
        rmdir(folder)
    }
}
