import Glibc
import Platform

/// The record that undoes one step of a fix.
struct FixRecord: Equatable {
    /// The name of the finding that was fixed.
    let name: String
    let change: Change

    enum Change: Equatable {
        /// A file was written, or removed if `after` is `nil`. `folders` were made for it.
        case file(
            path: String,
            home: String?,
            form: FileForm,
            before: FileContent?,
            after: FileContent?,
            folders: [String]
        )
        /// The portal's permission of an application was changed, or forgotten.
        case permission(application: String, before: [String]?, after: [String]?)
        /// A unit of the user's was enabled and started, as far as it was not before.
        case unit(String, wasRunning: Bool, wasEnabled: Bool)
        /// A command was run as root, which this one undoes.
        case root(undoing: String)
    }

    /// `true` if a file was changed that is all ours.
    var isOfOwnFile: Bool {
        guard case .file(_, _, .own, _, _, _) = change else { return false }
        return true
    }

    private static let start = "dualcam-fix 1"

    // MARK: Writing

    /// The record as bytes: lines of a word and a value, an empty line, and the file's contents.
    var bytes: [UInt8] {
        var lines = [Self.start]
        func add(_ key: String, _ value: String) { lines.append("\(key) \(Self.escaped(value))") }
        var content: [UInt8] = []
        add("name", name)
        switch change {
        case .file(let path, let home, let form, let before, let after, let folders):
            add("form", form.rawValue)
            add("path", path)
            if let home { add("home", home) }
            for folder in folders { add("folder", folder) }
            if let before {
                add("before", "\(before.bytes.count) \(before.mode)")
                content += before.bytes
            }
            if let after {
                add("after", "\(after.bytes.count) \(after.mode)")
                content += after.bytes
            } else {
                add("removed", "true")
            }
        case .permission(let application, let before, let after):
            add("application", application)
            if let before {
                add("permissions", "\(before.count)")
                for value in before { add("was", value) }
            }
            if after == nil { add("forgotten", "true") }
            for value in after ?? [] { add("is", value) }
        case .unit(let name, let wasRunning, let wasEnabled):
            add("unit", name)
            add("running", "\(wasRunning)")
            add("enabled", "\(wasEnabled)")
        case .root(let undoing): add("undoing", undoing)
        }
        return Array((lines.joined(separator: "\n") + "\n\n").utf8) + content
    }

    // MARK: Reading

    /// Reads a record.
    ///
    /// - Throws: `Failure` if `bytes` are none.
    init(_ bytes: [UInt8]) throws(Failure) {
        let damaged = Failure("it is damaged")
        guard let end = Self.endOfLines(in: bytes), let values = Self.values(in: bytes[..<end])
        else { throw damaged }
        func one(_ key: String) -> String? { values[key]?.count == 1 ? values[key]?[0] : nil }
        guard let name = one("name") else { throw damaged }
        self.name = name
        if let path = one("path") {
            guard let form = one("form").flatMap(FileForm.init), path.hasPrefix("/"),
                !path.hasSuffix("/"), !path.contains("\0")
            else { throw damaged }
            var rest = bytes[(end + 2)...]
            func content(_ key: String) throws(Failure) -> FileContent? {
                guard values[key] != nil else { return nil }
                let numbers = (one(key) ?? "").split(separator: " ").compactMap { Int($0) }
                guard numbers.count == 2, (0...rest.count).contains(numbers[0]),
                    (0...0o7777).contains(numbers[1])
                else { throw damaged }
                defer { rest = rest.dropFirst(numbers[0]) }
                return FileContent(
                    bytes: Array(rest.prefix(numbers[0])),
                    mode: UInt32(numbers[1])
                )
            }
            let before = try content("before")
            let after = try content("after")
            let isRemoved = one("removed") == "true" && before != nil
            guard (after == nil) == isRemoved, rest.isEmpty else { throw damaged }
            change = .file(
                path: path,
                home: one("home"),
                form: form,
                before: before,
                after: after,
                folders: values["folder"] ?? []
            )
        } else if let application = one("application") {
            let before = values["was"] ?? []
            guard values["permissions"] == nil || one("permissions") == "\(before.count)" else {
                throw damaged
            }
            change = .permission(
                application: application,
                before: values["permissions"] == nil ? nil : before,
                after: values["forgotten"] == nil ? values["is"] ?? [] : nil
            )
        } else if let unit = one("unit"), let running = one("running").flatMap(Bool.init),
            // Older records are of units that were not enabled.
            let enabled = values["enabled"] == nil ? false : one("enabled").flatMap(Bool.init)
        {
            change = .unit(unit, wasRunning: running, wasEnabled: enabled)
        } else if let undoing = one("undoing") {
            change = .root(undoing: undoing)
        } else {
            throw damaged
        }
    }

    init(name: String, change: Change) {
        self.name = name
        self.change = change
    }

    /// Returns the values in the lines before the contents, by key; `nil` if these are no record's.
    private static func values(in bytes: ArraySlice<UInt8>) -> [String: [String]]? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.first?.elementsEqual(Self.start.utf8) == true else { return nil }
        var values: [String: [String]] = [:]
        for line in lines.dropFirst() {
            let words = line.split(
                separator: UInt8(ascii: " "),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard words.count == 2, let value = Self.unescaped(words[1]) else { return nil }
            values[String(decoding: words[0], as: UTF8.self), default: []].append(value)
        }
        return values
    }

    /// Returns the index of the two line ends before the contents.
    private static func endOfLines(in bytes: [UInt8]) -> Int? {
        let newline = UInt8(ascii: "\n")
        // What is before the contents is short.
        return bytes.indices.prefix(1 << 16).first {
            bytes[$0] == newline && $0 + 1 < bytes.count && bytes[$0 + 1] == newline
        }
    }

    /// Returns `text` without line ends: "%" and control characters as two digits after a "%".
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar == "%" || scalar.value < 0x20 {
                result += "%" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func unescaped(_ text: ArraySlice<UInt8>) -> String? {
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            result.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: result, as: UTF8.self)
    }
}

/// The records of what was fixed, one file each in ~/.local/state/dualcam/fixes, in their order.
struct FixJournal {
    private let folder: String

    /// The most records that are kept; the numbers in their names have four digits.
    private static let limit = 9999

    /// - Throws: `Failure` without a home directory.
    init() throws(Failure) {
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
    func records() -> [(path: String, record: Result<FixRecord, Failure>)] {
        files.map { file in
            let path = "\(folder)/\(file)"
            let record = Result { () throws(Failure) in
                do throws(Failure) {
                    return try FixRecord(try FixedFile(path).read(limit: 1 << 25)?.bytes ?? [])
                } catch {
                    throw Failure("cannot read \(path): \(error.message)")
                }
            }
            return (path, record)
        }
    }

    /// Adds `record`, and returns its path once it is on the disk. No other record is replaced,
    /// even if another process adds one at the same time.
    ///
    /// - Throws: `Failure` if it cannot be written; then nothing may be changed.
    func add(_ record: FixRecord) throws(Failure) -> String {
        let last = files.last.flatMap { Int($0.prefix(4)) } ?? 0
        for number in (last + 1)..<(max(last, Self.limit) + 1) {
            let digits = String(number)
            let name = String(repeating: "0", count: 4 - digits.count) + digits + ".fix"
            let file = try FixedFile("\(folder)/\(name)", makesFolders: true)
            if try file.create(FileContent(bytes: record.bytes, mode: 0o600)) { return file.path }
        }
        throw Failure("there are too many records in \(folder)")
    }

    /// Removes the record at `path`, and the folder with the last one.
    func remove(_ path: String) {
        unlink(path)
        rmdir(folder)
    }
}
