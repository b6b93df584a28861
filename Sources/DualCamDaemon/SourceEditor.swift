import Capture
import Control
import DBusKit
import DualCamCore
import Frames
import Glibc
import Logging
import Platform

/// Writes the cameras' sources into the user's configuration file, and takes them over at once.
/// Requests are carried out one after the other.
@MainActor
final class SourceEditor {
    private let daemon: Daemon
    private let loop: EventLoop
    private let file: EditedFile
    private let requests = CallerTurns()
    /// The closure called with the warnings about the file after it was written.
    var onWarnings: ([String]) -> Void = { _ in }

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
                run(answer) { () throws(EditFailure) in try file.set(sources, login) }
            } catch {
                finish(answer, error)
            }
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

    /// Does `work` where the file is, and takes over the sources that it returns.
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
            for change in outcome.sources {
                new.cameras[change.role].source = change.source
                new.cameras[change.role].credentials = change.credentials
                Log.control.notice(
                    "source",
                    metadata: [
                        "camera": "\(change.role.rawValue)", "source": "\(change.source.shown)",
                    ]
                )
            }
            daemon.reconfigure(new)
            onWarnings(outcome.warnings)
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
        let sources: [SourceChange]
        let warnings: [String]
    }

    /// The file named on the command line, if any.
    let override: String?

    /// The record that undoes the last change: the file's path, the number of bytes that it had, or
    /// -1 if it was not there, and these bytes and those written in their place.
    private var undoing: StateFile? { StateFile("use-undo") }

    /// Writes `sources` into the file, which is made if it is not there: with what is in /etc. The
    /// `login` is that of the first.
    func set(_ sources: [SourceChange], _ login: NetworkLogin?) throws(EditFailure) -> Outcome {
        var sources = sources
        for case .file(let file) in sources.prefix(1).map(\.source) where access(file, R_OK) != 0 {
            throw EditFailure(message: "\(SystemError.last("open", file))", isNoCamera: true)
        }
        guard let path = ConfigurationFile.writablePath(override: override) else {
            throw EditFailure(message: "There is no home directory for a configuration.")
        }
        let read = try load()
        let text = read?.text ?? ""
        let credentials = try keep(login, for: &sources[0], beside: path)
        let (after, warnings): (String, [ConfigurationWarning])
        do throws(ConfigurationError) {
            after = try Configuration.setting(
                sources.map { ($0.role, $0.source) },
                credentials: credentials,
                in: text,
                file: read?.path ?? path
            )
            (_, warnings) = try Configuration.parse(after, file: path)
        } catch {
            throw EditFailure(message: "Nothing was changed: \(error).")
        }
        let outcome = Outcome(sources: sources, warnings: warnings.map(\.description))
        guard after != text else { return outcome }
        let mark = read?.mark ?? ""
        let before = read?.path == path ? mark + text : nil
        try attempt { () throws(SystemError) in
            let record = "\(path)\n\(before?.utf8.count ?? -1)\n\(before ?? "")\(mark)\(after)"
            let earlier = try? undoing?.load()
            try undoing?.store(record)
            do throws(SystemError) {
                try makeFolder(of: path)
                try writeFile(Array((mark + after).utf8), to: path)
            } catch {
                // Nothing was changed, so an undo is still that of the change before.
                if let earlier { try? undoing?.store(earlier) } else { try? undoing?.remove() }
                throw error
            }
        }
        return outcome
    }

    /// Stores the `login`, and has `change` name its file. Without one, a camera gets its former
    /// one, and never the one of another. Returns what to write; `nil`: nothing.
    private func keep(
        _ login: NetworkLogin?,
        for change: inout SourceChange,
        beside path: String
    ) throws(EditFailure) -> (role: Role, path: String?)? {
        guard case .url(let address) = change.source else { return nil }
        let file = folder(of: absolutePath(path)) + "/" + address.loginFile
        if let login {
            try attempt { () throws(SystemError) in
                try makeFolder(of: path)
                try NewFile.replace(file, with: Array("\(login.line)\n".utf8), mode: 0o600)
            }
        }
        if login != nil || access(file, F_OK) == 0 {
            change.credentials = file
        } else if change.credentials?.hasSuffix(NetworkAddress.loginSuffix) ?? false {
            change.credentials = nil
        }
        return (change.role, change.credentials)
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
        let read = try load()
        do throws(ConfigurationError) {
            let (configuration, warnings) =
                try read.map { read throws(ConfigurationError) in
                    try Configuration.parse(read.text, file: read.path)
                } ?? (Configuration(), [])
            return Outcome(
                sources: Role.allCases.map {
                    let camera = configuration.cameras[$0]
                    return SourceChange(
                        role: $0,
                        source: camera.source,
                        credentials: camera.credentials
                    )
                },
                warnings: warnings.map(\.description)
            )
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
