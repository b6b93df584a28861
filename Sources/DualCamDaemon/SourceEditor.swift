import Capture
import Control
import DBusKit
import DualCamCore
import Frames
import Glibc
import Logging
import Platform

/// Writes the cameras' sources and other keys into the user's configuration file, and takes them
/// over at once. Requests are carried out one after the other.
@MainActor
final class SourceEditor {
    private let daemon: Daemon
    private let loop: EventLoop
    private let file: EditedFile
    private let requests = CallerTurns()
    /// The closure called with the warnings about the file after it was written.
    var onEdited: ([String]) -> Void = { _ in }

    /// The answer to a request: nothing, or the error.
    typealias Answer = (DBusError?) -> Void

    /// `path` is the configuration file named on the command line, if any.
    init(_ daemon: Daemon, loop: EventLoop, path: String?) {
        self.daemon = daemon
        self.loop = loop
        file = EditedFile(override: path)
    }

    /// Makes the device that `word` names the camera of `role`, for `caller`. If it is configured
    /// for the other role, the two roles swap what is configured. The `login` is that of a camera
    /// on the network.
    func use(
        _ word: String,
        as role: Role,
        _ login: NetworkLogin? = nil,
        for caller: String = "",
        _ answer: @escaping Answer
    ) {
        let work = { [self] in
            do throws(DBusError) {
                let sources = try sources(using: word, as: role)
                if case .test(let name) = sources.first?.source {
                    do throws(UnknownTestPicture) {
                        _ = try SourceUse(.test(name), role: role, device: nil)
                    } catch {
                        throw DBusError.notSupported("\(error)")
                    }
                }
                if login != nil {
                    guard case .url? = sources.first?.source else { throw DBusError.needsNetwork }
                }
                let file = file
                run(answer) { () throws(EditFailure) in try file.use(sources, login) }
            } catch {
                finish(answer, error)
            }
        }
        requests.add(work, of: caller)
    }

    /// Sets keys of the file, such as "output.width"; all of them or none.
    func set(_ values: [String: Value], for caller: String, _ answer: @escaping Answer) {
        let changes = values.map { Configuration.Change($0.key, Plain($0.value)) }
            .sorted { $0.key < $1.key }
        let work = { [self] in
            var new = daemon.configuration
            do throws(UnreadableValue) {
                for change in changes {
                    guard !change.key.hasSuffix(".source") else {
                        return finish(answer, .notSupported("Camera.Use sets \(change.key)."))
                    }
                    try new.set(change)
                }
            } catch {
                let message = "\(error.value) is not \(error.expected)."
                return finish(answer, .outOfRange(message))
            }
            let file = file
            run(answer) { () throws(EditFailure) in try file.set(changes, isUse: false) }
        }
        requests.add(work, of: caller)
    }

    /// Restores the file as it was before the last `use`.
    func undo(for caller: String = "", _ answer: @escaping Answer) {
        let work = { [self] in
            let file = file
            run(answer) { () throws(EditFailure) in try file.undo() }
        }
        requests.add(work, of: caller)
    }

    /// Begins no request that waits.
    func end() { requests.clear() }

    private func finish(_ answer: Answer, _ error: DBusError?) {
        answer(error)
        requests.finish()
    }

    /// Returns the sources to write so that the device called `word` is the camera of `role`.
    private func sources(
        using word: String,
        as role: Role
    ) throws(DBusError) -> [SourceChange] {
        do throws(DeviceNameError) {
            let devices = daemon.state.search.devices
            let wanted = try source(called: word, among: devices)
            return try daemon.configuration.changes(using: wanted, as: role, among: devices)
        } catch {
            throw DBusError(error)
        }
    }

    /// Does `work` where the file is, and takes over what it returns.
    private func run(
        _ answer: @escaping Answer,
        _ work: @escaping @Sendable () throws(EditFailure) -> EditedFile.Outcome
    ) {
        // Unsafe: both closures run on the main thread alone.
        nonisolated(unsafe) let answer = answer
        let mailbox = loop.mailbox
        daemon.files.post(.configuration) {
            let result = Result { () throws(EditFailure) in try work() }
            mailbox.onMain { self.take(result, answer) }
        }
    }

    private func take(_ result: Result<EditedFile.Outcome, EditFailure>, _ answer: Answer) {
        switch result {
        case .failure(let failure):
            Log.control.warning("configuration", metadata: ["reason": "\(failure.message)"])
            finish(
                answer,
                failure.isNoCamera ? .noCamera(failure.message) : .failed(failure.message)
            )
        case .success(let outcome):
            var new = daemon.configuration
            for change in outcome.changes {
                // What the file has was read already.
                try? new.set(change)
                Log.control.notice("set", metadata: ["key": "\(change.key)"])
            }
            daemon.reconfigure(new)
            onEdited(outcome.warnings)
            finish(answer, nil)
        }
    }
}

/// The reason that the configuration file was not written.
private struct EditFailure: Error {
    /// The reason for people, as a sentence.
    let message: String
    /// `true` if the source wanted is not there.
    var isNoCamera = false
}

/// The configuration file as it is written, and what undoes that. The thread `configuration`.
private struct EditedFile: Sendable {
    struct Outcome: Sendable {
        let changes: [Configuration.Change]
        let warnings: [String]
    }

    /// The file named on the command line, if any.
    let override: String?

    /// The record that undoes the last change: the file's path, the number of bytes that it had, or
    /// -1 if it was not there, and these bytes and those written in their place.
    private var undoing: StateFile? { StateFile("use-undo") }

    /// Makes `sources` those of their cameras. The `login` is that of the first.
    func use(_ sources: [SourceChange], _ login: NetworkLogin?) throws(EditFailure) -> Outcome {
        for case .file(let path) in sources.prefix(1).map(\.source) where access(path, R_OK) != 0 {
            throw EditFailure(message: "\(SystemError.last("open", path))", isNoCamera: true)
        }
        let former = try parsed(load()).configuration.cameras
        var changes = sources.map(\.change)
        for (index, new) in sources.enumerated() {
            var kept: String?
            if case .url(let address) = new.source {
                kept = credentials(of: address, isNew: index == 0 && login != nil, former)
            } else if former[new.role].credentials == nil {
                continue
            }
            changes.append(.init(new.role, credentials: kept))
        }
        if let login, case .url(let address)? = sources.first?.source,
            let file = loginFile(of: address)
        {
            // A login is replaced only if the camera can be configured.
            _ = try edit(changes)
            try attempt { () throws(SystemError) in
                try makeFolder(of: file)
                try NewFile.replace(file, with: Array("\(login.line)\n".utf8), mode: 0o600)
            }
        }
        return try set(changes, isUse: true)
    }

    /// The configuration file before and after a change.
    private struct Edit {
        /// The path to write to.
        let path: String
        let read: ConfigurationFile?
        let after: String
        let warnings: [ConfigurationWarning]
    }

    /// Returns what `changes` make of the file, which stays.
    private func edit(_ changes: [Configuration.Change]) throws(EditFailure) -> Edit {
        guard let path = ConfigurationFile.writablePath(override: override) else {
            throw EditFailure(message: "There is no home directory for a configuration.")
        }
        let read = try load()
        do throws(ConfigurationError) {
            let after = try Configuration.setting(
                changes,
                in: read?.text ?? "",
                file: read?.path ?? path
            )
            let (_, warnings) = try Configuration.parse(after, file: path)
            return Edit(path: path, read: read, after: after, warnings: warnings)
        } catch {
            throw EditFailure(message: "Nothing was changed: \(error).")
        }
    }

    /// Writes `changes` into the file, which is made if it is not there: with what is in /etc. If
    /// it `isUse`, `undo` takes it back.
    func set(
        _ changes: [Configuration.Change],
        isUse: Bool
    ) throws(EditFailure) -> Outcome {
        let edit = try edit(changes)
        let (path, read, after) = (edit.path, edit.read, edit.after)
        let text = read?.text ?? ""
        let outcome = Outcome(changes: changes, warnings: edit.warnings.map(\.description))
        guard after != text else { return outcome }
        let mark = read?.mark ?? ""
        let before = read?.path == path ? mark + text : nil
        try attempt { () throws(SystemError) in
            let record = "\(path)\n\(before?.utf8.count ?? -1)\n\(before ?? "")\(mark)\(after)"
            let earlier = try? undoing?.load()
            if isUse { try undoing?.store(record) }
            do throws(SystemError) {
                try makeFolder(of: path)
                try writeFile(Array((mark + after).utf8), to: path)
            } catch {
                // Nothing was changed, so an undo is still that of the change before.
                guard isUse else { throw error }
                if let earlier { try? undoing?.store(earlier) } else { try? undoing?.remove() }
                throw error
            }
        }
        return outcome
    }

    /// Returns the path of the file with the login of `address`: ours, if it is there or `isNew`,
    /// or that of the camera which had the same host and port in the file before.
    private func credentials(
        of address: NetworkAddress,
        isNew: Bool,
        _ former: PerRole<Configuration.Camera>
    ) -> String? {
        let file = loginFile(of: address)
        if let file, isNew || access(file, F_OK) == 0 { return file }
        let same = Role.allCases.map { former[$0] }.filter { camera in
            guard case .url(let other) = camera.source else { return false }
            return other.host == address.host && other.port == address.port
        }
        let named = (same.first { $0.source == .url(address) } ?? same.first)?.credentials
        return named == file ? nil : named
    }

    /// The place of the login of `address` that we store; `nil` without a home directory.
    private func loginFile(of address: NetworkAddress) -> String? {
        ConfigurationFile.writablePath(override: override).map {
            "\(folder(of: absolutePath($0)))/\(address.loginFile)"
        }
    }

    /// Restores the file as it was before the last change.
    func undo() throws(EditFailure) -> Outcome {
        let nothing = EditFailure(message: "There is nothing to undo.")
        var record: String?
        try attempt { () throws(SystemError) in record = try undoing?.load() }
        guard let record else { throw nothing }
        let parts = record.utf8.split(
            separator: UInt8(ascii: "\n"),
            maxSplits: 2,
            omittingEmptySubsequences: false
        )
        guard parts.count == 3, let path = String(parts[0]),
            let count = Int(String(parts[1]) ?? ""),
            count <= parts[2].count
        else { throw nothing }
        let (before, after) = (
            Array(parts[2].prefix(max(0, count))), parts[2].dropFirst(max(0, count))
        )
        var now: [UInt8] = []
        try attempt { () throws(SystemError) in now = try readFile(path, limit: 1 << 20) }
        guard now.elementsEqual(after) else {
            throw EditFailure(message: "\(path) was changed since then, so nothing is undone.")
        }
        try attempt { () throws(SystemError) in
            if count < 0 {
                try ConfigurationFile.remove(path)
            } else {
                try writeFile(before, to: path)
            }
        }
        // It is undone even if its record stays.
        try? undoing?.remove()
        let (configuration, warnings) = try parsed(load())
        return Outcome(
            changes: Role.allCases.flatMap { role in
                let camera = configuration.cameras[role]
                return [
                    SourceChange(role: role, source: camera.source).change,
                    .init(role, credentials: camera.credentials),
                ]
            },
            warnings: warnings.map(\.description)
        )
    }

    private func parsed(
        _ read: ConfigurationFile?
    ) throws(EditFailure) -> (configuration: Configuration, [ConfigurationWarning]) {
        guard let read else { return (Configuration(), []) }
        do throws(ConfigurationError) {
            return try Configuration.parse(read.text, file: read.path)
        } catch {
            throw EditFailure(message: "\(error).")
        }
    }

    private func load() throws(EditFailure) -> ConfigurationFile? {
        do throws(SystemError) {
            return try ConfigurationFile.load(override: override)
        } catch {
            if error.errno == ENOENT { return nil }
            throw EditFailure(message: "The configuration cannot be read: \(error).")
        }
    }

    private func attempt(_ body: () throws(SystemError) -> Void) throws(EditFailure) {
        do throws(SystemError) {
            try body()
        } catch {
            throw EditFailure(message: "The configuration was not changed: \(error).")
        }
    }
}
