package import Control
import Glibc
import Platform

/// The steps of `doctor --fix` for one finding.
package struct Fix {
    /// The name of the finding.
    package let name: String
    package let steps: [FixStep]
    /// The sentence that says what is left to do for the user, if anything.
    package var afterwards: String?
    /// The sentence that says what is likely in the way where a step fails, if that is known.
    package var onFailure: String?
    /// `true` if it takes effect later, as `afterwards` says.
    package var isForLater = false

    /// `true` if it is also done where nothing is wrong, when it is asked for by its name.
    package var isByName: Bool { ["hide-cameras", "access", "loopback", "mirror"].contains(name) }
}

/// One step of a fix. A change that can be undone is recorded first.
package enum FixStep {
    case file(FileStep)
    /// Lets an application use cameras, by the portal's permission store.
    case permission(application: String, title: String)
    /// Removes the refusal of an application from the portal's permission store.
    case refusal(application: String)
    /// Commands of systemctl(1) for the user's own units, without `--user`.
    case systemctl([String])
    /// A command of dualcamctl.
    case ourselves([String])
    /// A script of sh(1) that asks for rights by `pkexec`, and its change, if that can be undone.
    case root(String, RootChange?)

    /// `true` if it is recorded, so that `doctor --undo` takes it back.
    package var isUndone: Bool {
        switch self {
        case .file, .permission, .refusal: true
        case .systemctl(let words): words.first == "enable"
        case .ourselves: false
        case .root(_, let change): change != nil
        }
    }

    /// The step in words, as a sentence without its full stop.
    package var text: String {
        switch self {
        case .file(let step): step.text
        case .permission("", _):
            "Let apps outside a sandbox, if the portal has no name for them, use cameras "
                + "without asking you"
        case .permission(let application, let title):
            "Let \(title) use cameras without asking you, as \(application)"
        case .refusal(""): "Forget that apps outside a sandbox were refused the camera"
        case .refusal(let application):
            "Forget that \(application) was refused the camera, so that it may ask again"
        case .systemctl(let words): "Run systemctl --user \(words.joined(separator: " "))"
        case .ourselves(let words): "Run dualcamctl \(words.joined(separator: " "))"
        case .root(let script, _): "Run as an administrator: \(script)"
        }
    }
}

/// A change that an administrator made and that can be undone.
package enum RootChange: String {
    /// The installation of v4l2loopback, its settings, and its load now and at each start.
    case loopback

    private static let options = "options v4l2loopback exclusive_caps=1 card_label=DualCam"
    /// The files with its settings, and their lines.
    static let files = [
        (path: "/etc/modprobe.d/dualcam.conf", line: options),
        (path: "/etc/modules-load.d/dualcam.conf", line: "v4l2loopback"),
    ]

    /// The script that makes it. To pkexec, 126 and 127 have a meaning.
    var script: String {
        let settings = Self.files.map { "echo \($0.line) >\($0.path)" }.joined(separator: " && ")
        return "pkexec sh -c 'apt-get install -y v4l2loopback-dkms && \(settings) && "
            + "modprobe v4l2loopback || exit 1'"
    }

    /// The script that undoes it. A program may read the device.
    var undoing: String {
        "pkexec sh -c '\(Self.removal(of: Self.files)); modprobe -r v4l2loopback || "
            + "echo It is unloaded when the computer is next started. >&2'"
    }

    /// Returns a script that removes files which still have their one line. Fits in single quotes.
    static func removal(of files: [(path: String, line: String)]) -> String {
        files.map { path, line in
            "[ \"$(cat \(path) 2>/dev/null)\" != \"\(line)\" ] || rm -f \(path)"
        }.joined(separator: "; ")
    }
}

/// Carries out steps, records them and undoes them.
package struct Fixer {
    let journal: FixJournal
    let permissions: CameraPermissions

    package init(journal: FixJournal, permissions: CameraPermissions) {
        self.journal = journal
        self.permissions = permissions
    }

    /// Returns `false` if everything is already as `step` makes it, as far as that can be known.
    /// Throws `Failure` if the step cannot be done.
    package func isNeeded(_ step: FixStep) throws(Failure) -> Bool {
        switch step {
        case .file(let step):
            let (before, after) = try step.contents()
            if before != after { try checkClosed(step) }
            return before != after
        case .permission(let application, _):
            return try permissions.stored()[application] != CameraPermissions.granted
        case .refusal(let application):
            return try permissions.stored()[application]?.first == "no"
        case .systemctl, .ourselves: return true
        case .root:
            guard pathOfProgram("pkexec") == nil else { return true }
            throw Failure("there is no pkexec, which asks for an administrator's password")
        }
    }

    /// Carries out `step` of the fix `name`, and checks its effect. Throws `Failure` if it fails.
    package func perform(_ step: FixStep, of name: String) throws(Failure) {
        switch step {
        case .file(let step): try change(step, of: name)
        case .permission(let application, _):
            try store(CameraPermissions.granted, for: application, of: name)
        case .refusal(let application): try store(nil, for: application, of: name)
        case .systemctl(let words):
            if words.first == "enable", let unit = words.last {
                func isTrue(_ word: String) -> Bool {
                    Program.succeeds(["systemctl", "--user", word, "--quiet", unit])
                }
                let change = FixRecord.Change.unit(
                    unit,
                    wasRunning: isTrue("is-active"),
                    wasEnabled: isTrue("is-enabled")
                )
                // Kept if it fails: it may be enabled, and not start.
                _ = try journal.add(FixRecord(name: name, change: change))
            }
            try Program.run(["systemctl", "--user"] + words)
        case .ourselves(let words): try Program.run(["/proc/self/exe"] + words)
        case .root(let script, let change):
            // Kept if it fails: a part may be done.
            let path = try change.map { change throws(Failure) in
                try journal.add(FixRecord(name: name, change: .root(change)))
            }
            let status = try Program.status(of: ["sh", "-c", script])
            guard status != 0 else { return }
            // By pkexec(1): the user gave up, or may not do it.
            if status == 126 || status == 127 {
                path.map(journal.remove)
                throw Failure("no administrator's rights were given, and nothing was run")
            }
            throw Failure("the command sh failed (exit status \(status))")
        }
    }

    /// Records a change, and makes it. One that fails has no record.
    private func record(
        _ change: FixRecord.Change,
        of name: String,
        _ make: () throws(Failure) -> Void
    ) throws(Failure) {
        let path = try journal.add(FixRecord(name: name, change: change))
        do throws(Failure) { try make() } catch {
            journal.remove(path)
            throw error
        }
    }

    /// - Throws: `Failure` if a program that rewrites the file of `step` runs.
    private func checkClosed(_ step: FileStep) throws(Failure) {
        guard let folder = step.closed, let user = Browser.Place.user(of: folder) else { return }
        throw Failure("close the browser first: \(user) uses \(folder)")
    }

    private func change(_ step: FileStep, of name: String) throws(Failure) {
        let file = try FixedFile(step.path, inside: step.home, makesFolders: step.makesFolders)
        do throws(Failure) {
            let (before, after) = try step.contents()
            guard try before == file.read() else {
                throw Failure("\(step.path) is changing; try again")
            }
            let change = FixRecord.FileChange(
                path: step.path,
                home: step.home,
                form: step.form,
                before: before,
                after: after,
                folders: file.madeFolders
            )
            try record(.file(change), of: name) { () throws(Failure) in
                // It may have been started since the question.
                try checkClosed(step)
                try file.write(after)
            }
            guard try file.read() == after else { throw Failure("\(step.path) was not kept") }
        } catch {
            FixedFile.removeFolders(file.madeFolders)
            throw error
        }
        if step.form == .configuration { Client.reloadDaemon() }
    }

    private func store(
        _ after: [String]?,
        for application: String,
        of name: String
    ) throws(Failure) {
        let before = try permissions.stored()[application]
        try record(.permission(application: application, before: before, after: after), of: name) {
            () throws(Failure) in try permissions.set(after, for: application)
        }
        guard try permissions.stored()[application] == after else {
            throw Failure("the portal did not keep the permission")
        }
    }

    // MARK: Undoing

    /// Undoes what `record` says, and returns what was done as a sentence without its full stop.
    /// Throws `Failure` if it could not be done; then nothing was changed.
    package func undo(_ record: FixRecord) throws(Failure) -> String {
        switch record.change {
        case .file(let change): return try undo(change)
        case .permission(let application, let before, let after):
            let title = application.isEmpty ? "apps outside a sandbox" : application
            guard try permissions.stored()[application] == after else {
                return "The camera permission of \(title) was changed since, and stays"
            }
            try permissions.set(before, for: application)
            return "The camera permission of \(title) is as it was before"
        case .unit(let unit, let wasRunning, let wasEnabled):
            let (words, text): ([String], String) =
                switch (wasRunning, wasEnabled) {
                case (true, true): ([], "was enabled and running before, and stays so")
                case (false, true): (["stop"], "was stopped; it was enabled before, and stays so")
                case (true, false):
                    (["disable"], "is not enabled; it was running before, and still is")
                case (false, false): (["disable", "--now"], "is not enabled, and was stopped")
                }
            if !words.isEmpty { try Program.run(["systemctl", "--user"] + words + [unit]) }
            return "\(unit) \(text)"
        case .root(let change):
            try Program.run(["sh", "-c", change.undoing])
            return "Done as an administrator: \(change.undoing)"
        }
    }

    private func undo(_ change: FixRecord.FileChange) throws(Failure) -> String {
        let (path, folder) = (change.path, folder(of: change.path))
        guard isThere(folder) else { return "\(path) is gone already" }
        let file = try FixedFile(path, inside: change.home)
        let now = try file.read()
        let names: [FileForm: String] = [
            .chromiumFlags: "the browser", .firefoxPreferences: "Firefox", .seed: "Firefox",
        ]
        if let name = names[change.form], let user = Browser.Place.user(of: folder) {
            throw Failure("close \(name) first: \(user) uses \(folder)")
        }
        let text: String
        if now == change.before {
            text = "\(path) is already as it was before"
        } else if now == change.after {
            try file.write(change.before)
            text = change.before == nil ? "\(path) is removed" : "\(path) is as it was before"
        } else if let now {
            let bytes: [UInt8]?
            do throws(Failure) {
                bytes = try change.form.restored(now.bytes, from: change.before?.bytes)
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
        if change.form == .firefoxPreferences {
            // Firefox has copied the preference there if it ran meanwhile.
            let copy = try FixedFile("\(folder)/prefs.js", inside: change.home)
            if let now = try copy.read(),
                let bytes = try change.form.restored(now.bytes, from: change.before?.bytes)
            {
                try copy.write(FileContent(bytes: bytes, mode: now.mode))
            }
        }
        if change.form == .configuration { Client.reloadDaemon() }
        // What else is in them keeps them.
        FixedFile.removeFolders(change.folders)
        return text
    }
}

/// Programs that are run to their ends.
package enum Program {
    /// Runs a program, which has to succeed. What it says goes to standard error.
    static func run(_ words: [String]) throws(Failure) {
        let status = try status(of: words)
        let name = words[0] == "/proc/self/exe" ? "dualcamctl" : words[0]
        guard status == 0 else {
            throw Failure("the command \(name) failed (exit status \(status))")
        }
    }

    /// Runs a program, and returns its exit status; 128 and the signal for one that was ended. What
    /// it says goes to standard error. Throws `Failure` if it cannot be started.
    package static func status(of words: [String]) throws(Failure) -> CInt {
        try named { () throws(SystemError) in
            try end(of: words, output: .descriptor(STDERR_FILENO), errors: .inherited)
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
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let reader = Descriptor(owning: ends[0])
        let writer = Descriptor(owning: ends[1])
        // What it says fits into the pipe.
        var bytes = [UInt8](repeating: 0, count: 1 << 12)
        guard (try? end(of: words, output: .descriptor(writer.number), errors: .nothing)) == 0,
            case let count = read(reader.number, &bytes, bytes.count), count > 0
        else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self)
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
        return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f)
    }
}
