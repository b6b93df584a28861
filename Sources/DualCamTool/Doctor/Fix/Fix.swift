import Glibc
import Platform

/// The steps of `doctor --fix` for one finding.
struct Fix {
    /// The name of the finding.
    let name: String
    let steps: [FixStep]
    /// The sentence that says what is left to do for the user, if anything.
    var afterwards: String?
    /// The sentence that says what is likely in the way where a step fails, if that is known.
    var onFailure: String?
    /// `true` if it takes effect later, as `afterwards` says.
    var isForLater = false

    /// `true` if it is also done where nothing is wrong, when it is asked for by its name.
    var isByName: Bool { ["hide-cameras", "access", "loopback", "mirror"].contains(name) }
}

/// One step of a fix. What it changes is recorded first, so that it can be undone.
enum FixStep {
    case file(FileStep)
    /// Lets an application use cameras, by the portal's permission store.
    case permission(application: String, title: String)
    /// Removes the refusal of an application from the portal's permission store.
    case refusal(application: String)
    /// Commands of systemctl(1) for the user's own units, without `--user`.
    case systemctl([String])
    /// A command of dualcamctl.
    case ourselves([String])
    /// A script of sh(1), which asks for an administrator's rights by `pkexec`, and what undoes it.
    case root(String, undoing: String?)

    /// `true` if it is recorded, so that `doctor --undo` takes it back.
    var isUndone: Bool {
        switch self {
        case .file, .permission, .refusal: true
        case .systemctl(let words): words.first == "enable"
        case .ourselves: false
        case .root(_, let undoing): undoing != nil
        }
    }

    /// The step in words, as a sentence without its full stop.
    var text: String {
        switch self {
        case .file(let step): step.text
        case .permission("", _):
            "Let apps outside a sandbox, if the portal has no name for them, use cameras "
                + "without asking you"
        case .refusal(""): "Forget that apps outside a sandbox were refused the camera"
        case .refusal(let application):
            "Forget that \(application) was refused the camera, so that it may ask again"
        case .permission(let application, let title):
            "Let \(title) use cameras without asking you, as \(application)"
        case .systemctl(let words): "Run systemctl --user \(words.joined(separator: " "))"
        case .ourselves(let words): "Run dualcamctl \(words.joined(separator: " "))"
        case .root(let script, _): "Run as an administrator: \(script)"
        }
    }
}

/// The change of a file.
struct FileStep {
    /// Whose file it is, for people: "Chromium (Flatpak)".
    let title: String
    let path: String
    /// The folder of the sandbox that may write here; `nil` if none may.
    var home: String?
    let form: FileForm
    /// The new content of a file that is all ours.
    var content: [UInt8]?
    /// The folder of a browser that has to be closed first.
    var closed: String?
    /// `true` if the folder of the file is made where it is missing.
    var makesFolders = false
    /// `true` if the file is removed.
    var removes = false

    /// The step in words, as a sentence without its full stop.
    var text: String {
        switch form {
        case .chromiumFlags, .firefoxPreferences:
            "Make \(title) look for cameras in PipeWire: one setting in \(path)"
        case .own: "\(removes ? "Remove" : "Write") \(title): \(path)"
        case .configuration:
            "Copy the stream to a loopback device: one setting in \(path)"
        case .hiding: "Note that you want this: hide-cameras = true in \(path)"
        case .desktopEntry, .switches:
            "Make \(title) look for cameras in PipeWire: the switch \(BrowserSwitch.word) in "
                + "\(path)"
        case .seed: "Give \(title), which was never started, its first profile: \(path)"
        }
    }

    /// `true` if the file is as it is to be.
    var isDone: Bool { (try? contents()).map { $0.before == $0.after } ?? false }

    /// Returns the file as it is, and as it is to be; `nil` for none.
    func contents() throws(Failure) -> (before: FileContent?, after: FileContent?) {
        // What is not there yet need not have a folder.
        let isThere = access(path, F_OK) == 0
        let before = isThere ? try FixedFile(path, inside: home).read() : nil
        if removes { return (before, nil) }
        let after: [UInt8]
        do throws(Failure) {
            if let content { after = content } else { after = try form.fixed(before?.bytes) }
        } catch {
            throw Failure("\(path) is left as it is: \(error.message)")
        }
        let isSecret = [.chromiumFlags, .firefoxPreferences].contains(form)
        let mode: UInt32 = isSecret ? 0o600 : 0o644
        return (before, FileContent(bytes: after, mode: before?.mode ?? mode))
    }
}

/// Carries out steps, records them and undoes them.
struct Fixer {
    let journal: FixJournal
    let permissions: CameraPermissions

    /// `false` if everything is already as `step` makes it, as far as that can be known.
    ///
    /// - Throws: `Failure` if the step cannot be done.
    func isNeeded(_ step: FixStep) throws(Failure) -> Bool {
        switch step {
        case .file(let step):
            let (before, after) = try step.contents()
            guard before != after else { return false }
            try checkClosed(step)
            return true
        case .permission(let application, _):
            return try permissions.stored()[application] != CameraPermissions.granted
        case .refusal(let application):
            return try permissions.stored()[application]?.first == "no"
        case .systemctl, .ourselves: return true
        case .root:
            guard Program.exists("pkexec") else {
                throw Failure(
                    "there is no pkexec, which asks for an administrator's password"
                )
            }
            return true
        }
    }

    /// - Throws: `Failure` if a program that rewrites the file of `step` runs.
    private func checkClosed(_ step: FileStep) throws(Failure) {
        guard let folder = step.closed, let user = Browser.Place.user(of: folder) else { return }
        throw Failure("close the browser first: \(user) uses \(folder)")
    }

    /// Carries out `step` of the fix `name`, and checks that it took effect.
    ///
    /// - Throws: `Failure` if it could not be done.
    func perform(_ step: FixStep, of name: String) throws(Failure) {
        switch step {
        case .file(let step): try change(step, of: name)
        case .permission(let application, _):
            try store(CameraPermissions.granted, for: application, of: name)
        case .refusal(let application): try store(nil, for: application, of: name)
        case .systemctl(let words):
            guard words.first == "enable", let unit = words.last else {
                return try Program.run(["systemctl", "--user"] + words)
            }
            func isTrue(_ word: String) -> Bool {
                Program.succeeds(["systemctl", "--user", word, "--quiet", unit])
            }
            // Kept if it fails: it may be enabled, and not start.
            _ = try record(
                .unit(unit, wasRunning: isTrue("is-active"), wasEnabled: isTrue("is-enabled")),
                of: name
            )
            try Program.run(["systemctl", "--user"] + words)
        case .ourselves(let words): try Program.run(["/proc/self/exe"] + words)
        case .root(let script, let undoing):
            // Kept if it fails: a part may be done.
            let path = try undoing.map { undoing throws(Failure) in
                try record(.root(undoing: undoing), of: name)
            }
            let status = try Program.status(of: ["sh", "-c", script])
            // By pkexec(1): the user gave up, or may not do it.
            if status == 126 || status == 127 {
                path.map(journal.remove)
                throw Failure("no administrator's rights were given, and nothing was run")
            }
            guard status == 0 else { throw Program.failure("sh", status) }
        }
    }

    /// Records a change that is about to be made, and returns the path of the record.
    private func record(
        _ change: FixRecord.Change,
        of name: String
    ) throws(Failure) -> String {
        try journal.add(FixRecord(name: name, change: change))
    }

    private func change(_ step: FileStep, of name: String) throws(Failure) {
        let file = try FixedFile(step.path, inside: step.home, makesFolders: step.makesFolders)
        let (before, after) = try step.contents()
        guard try before == file.read() else {
            throw Failure("\(step.path) is changing; try again")
        }
        do throws(Failure) {
            let path = try record(
                .file(
                    path: step.path,
                    home: step.home,
                    form: step.form,
                    before: before,
                    after: after,
                    folders: file.madeFolders
                ),
                of: name
            )
            do throws(Failure) {
                // It may have been started since the question.
                try checkClosed(step)
                try file.write(after)
            } catch {
                journal.remove(path)
                throw error
            }
        } catch {
            for folder in file.madeFolders.reversed() { rmdir(folder) }
            throw error
        }
        guard try file.read() == after else { throw Failure("\(step.path) was not kept") }
        if step.form == .configuration { Client.reloadDaemon() }
    }

    private func store(
        _ after: [String]?,
        for application: String,
        of name: String
    ) throws(Failure) {
        let before = try permissions.stored()[application]
        let path = try record(
            .permission(application: application, before: before, after: after),
            of: name
        )
        do throws(Failure) {
            try permissions.set(after, for: application)
        } catch {
            journal.remove(path)
            throw error
        }
        guard try permissions.stored()[application] == after else {
            throw Failure("the portal did not keep the permission")
        }
    }

    // MARK: Undoing

    /// Undoes what `record` says, and returns what was done as a sentence without its full stop.
    ///
    /// - Throws: `Failure` if it could not be done; then nothing was changed.
    func undo(_ record: FixRecord) throws(Failure) -> String {
        switch record.change {
        case .file(let path, let home, let form, let before, let after, let folders):
            return try undo(path, home, form, before, after, folders)
        case .permission(let application, let before, let after):
            let title = application.isEmpty ? "apps outside a sandbox" : application
            guard try permissions.stored()[application] == after else {
                return "The camera permission of \(title) was changed since, and stays"
            }
            try permissions.set(before, for: application)
            return "The camera permission of \(title) is as it was before"
        case .unit(let unit, let wasRunning, let wasEnabled):
            func run(_ words: String...) throws(Failure) {
                try Program.run(["systemctl", "--user"] + words + [unit])
            }
            switch (wasRunning, wasEnabled) {
            case (true, true): return "\(unit) was enabled and running before, and stays so"
            case (false, true):
                try run("stop")
                return "\(unit) was stopped; it was enabled before, and stays so"
            case (true, false):
                try run("disable")
                return "\(unit) is not enabled; it was running before, and still is"
            case (false, false):
                try run("disable", "--now")
                return "\(unit) is not enabled, and was stopped"
            }
        case .root(let undoing):
            try Program.run(["sh", "-c", undoing])
            return "Done as an administrator: \(undoing)"
        }
    }

    private func undo(
        _ path: String,
        _ home: String?,
        _ form: FileForm,
        _ before: FileContent?,
        _ after: FileContent?,
        _ folders: [String]
    ) throws(Failure) -> String {
        let name = folder(of: path)
        guard access(name, F_OK) == 0 else { return "\(path) is gone already" }
        let file = try FixedFile(path, inside: home)
        let now = try file.read()
        if form == .chromiumFlags, let user = Browser.Place.user(of: name) {
            throw Failure("close the browser first: \(user) uses \(name)")
        }
        if [.firefoxPreferences, .seed].contains(form), let user = Browser.Place.user(of: name) {
            throw Failure("close Firefox first: \(user) uses \(name)")
        }
        let text: String
        if now == before {
            text = "\(path) is already as it was before"
        } else if now == after {
            try file.write(before)
            text = before == nil ? "\(path) is removed" : "\(path) is as it was before"
        } else if let now {
            let bytes: [UInt8]?
            do throws(Failure) {
                bytes = try form.restored(now.bytes, from: before?.bytes)
            } catch {
                throw Failure("\(path) stays: \(error.message)")
            }
            guard let bytes else { return "The setting in \(path) was changed since, and stays" }
            if bytes == now.bytes { return "\(path) has changed since, and stays" }
            try file.write(FileContent(bytes: bytes, mode: now.mode))
            text = "\(path) has changed since, so only the setting was taken out"
        } else {
            text = "\(path) is gone already"
        }
        // Firefox has copied the preference there if it ran meanwhile.
        if form == .firefoxPreferences { try forget(in: "\(name)/prefs.js", home, before) }
        if form == .configuration { Client.reloadDaemon() }
        // What else is in them keeps them.
        for folder in folders.reversed() { rmdir(folder) }
        return text
    }

    /// Removes the preference from `prefs.js` if it has the value that was set here.
    private func forget(
        in path: String,
        _ home: String?,
        _ before: FileContent?
    ) throws(Failure) {
        let file = try FixedFile(path, inside: home)
        guard let content = try file.read() else { return }
        let preferences = try FirefoxPreferences(content.bytes)
        guard preferences.value(of: FirefoxPreferences.camera) == "true" else { return }
        let former = try before.flatMap { content throws(Failure) in
            try FirefoxPreferences(content.bytes).value(of: FirefoxPreferences.camera)
        }
        let bytes = preferences.setting(FirefoxPreferences.camera, to: former)
        try file.write(FileContent(bytes: bytes, mode: content.mode))
    }
}

/// Programs that a fix runs.
enum Program {
    /// Returns `true` if a program of this name is in PATH.
    static func exists(_ name: String) -> Bool { path(of: name) != nil }

    /// Returns the path of the first program of this name in PATH; `nil` if there is none.
    static func path(of name: String) -> String? {
        let path = environmentVariable("PATH") ?? "/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Runs a program to its end. What it says goes to standard error.
    ///
    /// - Throws: `Failure` if it cannot be started, or does not succeed.
    static func run(_ words: [String]) throws(Failure) {
        let status = try status(of: words)
        guard status == 0 else {
            throw failure(words[0] == "/proc/self/exe" ? "dualcamctl" : words[0], status)
        }
    }

    /// Returns the failure of a program that ended with `status`.
    static func failure(_ name: String, _ status: CInt) -> Failure {
        Failure("the command \(name) failed (exit status \(status))")
    }

    /// Runs a program to its end, and returns its exit status; 128 and the signal for one that was
    /// ended. What it says goes to standard error.
    ///
    /// - Throws: `Failure` if it cannot be started.
    static func status(of words: [String]) throws(Failure) -> CInt {
        do throws(SystemError) {
            let status = try end(of: words, output: .descriptor(STDERR_FILENO), errors: .inherited)
            return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f)
        } catch {
            throw Failure("\(error)")
        }
    }

    /// Returns `true` if a program ends with success. Nothing that it says is shown.
    static func succeeds(_ words: [String]) -> Bool {
        (try? end(of: words, output: .nothing, errors: .nothing)) == 0
    }

    /// Returns what a program says that prints a few lines; `nil` if it does not succeed.
    static func output(of words: [String]) -> String? {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        let reader = Descriptor(owning: ends[0])
        let writer = Descriptor(owning: ends[1])
        for number in ends { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(reader.number, F_SETFL, O_NONBLOCK)
        // What it says fits into the pipe.
        guard (try? end(of: words, output: .descriptor(writer.number), errors: .nothing)) == 0
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: 1 << 12)
        let count = read(reader.number, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    private static func end(
        of words: [String],
        output: StandardStream,
        errors: StandardStream
    ) throws(SystemError) -> CInt {
        let process = try spawn(
            words[0],
            words,
            environment: inheritedEnvironment,
            input: .inherited,
            output: output,
            errors: errors
        )
        var status: CInt = 0
        guard retryingInterrupts({ waitpid(process, &status, 0) }) == process else {
            throw .last("waitpid", words[0])
        }
        return status
    }
}
