import Frames
import Glibc
import Platform

/// The dialogue of `doctor --fix` and `doctor --undo`: what is about to be done, the question, and
/// what became of it.
struct FixSession {
    /// `true` if no question is asked.
    let agreesToAll: Bool
    let json: Bool

    /// The outcome of a fix.
    struct Outcome {
        enum State: String {
            /// Every step took effect.
            case done
            /// Nothing had to be done.
            case good
            /// The user did not agree.
            case declined
            /// Nobody could be asked.
            case unasked
            /// It was tried in vain.
            case failed
            /// It is up to the user.
            case manual
        }

        let name: String
        var state: State
        var steps: [String] = []
        /// `true` if something of it was recorded, so that it can be undone.
        var isRecorded = false
        /// `true` if it takes effect later, so that the check still finds what it found.
        var isForLater = false
        /// More about it, in one sentence or several.
        var message: String?

        var document: JSON {
            .object([
                ("name", .string(name)), ("state", .string(state.rawValue)),
                ("steps", .array(steps.map { .string($0) })),
                ("message", message.map { .string($0) } ?? .null),
            ])
        }
    }

    /// `true` if there is somebody to ask: a terminal to ask at, and one to read from.
    private static let hasTerminal = isatty(0) == 1 && isatty(2) == 1

    /// Prints a line for people, whose foreign parts are printable.
    private func say(_ line: String) {
        if !json { Output.write(line + "\n") }
    }

    private func finish(_ outcomes: [Outcome], under name: String) throws {
        if json {
            let isWell = outcomes.allSatisfy { $0.state == .done || $0.state == .good }
            Output.write(
                JSON.document([
                    ("ok", .boolean(isWell)), (name, .array(outcomes.map(\.document))),
                ])
            )
        }
        if outcomes.contains(where: { $0.state == .unasked }) {
            let isUnchanged = !outcomes.contains { $0.state == .done }
            throw Failure(
                (isUnchanged ? "nothing was changed: " : "a part was left out: ")
                    + (json ? "--json asks no questions" : "there is no terminal to ask at")
                    + ". Add --yes to agree to all of this"
            )
        }
        let count = outcomes.count { $0.state == .failed }
        guard count == 0 else { throw Failure("\(count) of \(outcomes.count) could not be done") }
        let rest = outcomes.count { $0.state == .manual }
        guard rest == 0 else {
            throw Failure(
                rest == 1 ? "1 problem is left to you" : "\(rest) problems are left to you"
            )
        }
    }

    // MARK: Fixing

    /// Refuses to work with rights that are not those of the owner of the home directory: files
    /// would belong to another user, and the user's own systemd and bus would not be reached.
    ///
    /// - Throws: `Failure` for a program run by sudo(8) or pkexec(1), or in another's home.
    static func checkUser(
        _ variable: (String) -> String? = environmentVariable
    ) throws(Failure) {
        var status = stat()
        let isLent = ["SUDO_UID", "PKEXEC_UID"].contains { variable($0) != nil }
        let isForeign =
            variable("HOME").map { stat($0, &status) == 0 && status.st_uid != geteuid() } ?? false
        guard !isLent, !isForeign else {
            throw Failure(
                "run it as yourself, without sudo; it asks for a password where it needs one"
            )
        }
    }

    /// Fixes what is wrong, or of that, what `names` say.
    func fix(_ names: [String]) throws {
        try Self.checkUser()
        let checkup = Checkup()
        let findings = checkup.findings()
        if let unknown = names.first(where: { name in !findings.contains { $0.name == name } }) {
            if let browser = Browser(rawValue: unknown) { throw Failure.notInstalled(browser) }
            let all = findings.map(\.name) + Browser.allCases.map(\.rawValue)
            throw Failure(
                status: .usage,
                message: "there is no check called \(unknown.printable). Known: "
                    + all.reduce(into: [String]()) { known, name in
                        if !known.contains(name) { known.append(name) }
                    }.joined(separator: ", ")
            )
        }
        let chosen = chosen(of: findings, names, checkup)
        if chosen.isEmpty {
            say("Nothing needs fixing.")
            return try finish([], under: "fixes")
        }
        let fixer = Fixer(journal: try FixJournal(), permissions: checkup.desktop.permissions)
        var outcomes: [Outcome] = []
        // One fix may solve the next problem, too: a unit that is enabled starts the daemon.
        var (now, current) = (checkup, findings)
        for old in chosen {
            if outcomes.contains(where: { $0.state == .done }) {
                now = Checkup()
                current = now.findings()
            }
            // Several cameras, and several sources, have findings of one name.
            let finding =
                current.first { $0 == old } ?? current.first { $0.name == old.name } ?? old
            if !json { Output.write(Doctor.lines(finding)[0] + "\n") }
            outcomes.append(fix(finding, of: now, with: fixer))
        }
        if outcomes.contains(where: { $0.state == .done }) {
            say("")
            let after = Self.check(&outcomes)
            if !json { Output.write(after.flatMap(Doctor.lines).joined(separator: "\n") + "\n") }
            let recorded = outcomes.filter(\.isRecorded).map(\.name)
            if !recorded.isEmpty {
                let names = recorded.joined(separator: " ")
                say("To take it back: dualcamctl doctor --undo \(names)")
            }
        }
        try finish(outcomes, under: "fixes")
    }

    /// Returns those of `findings` that are to be fixed: what is wrong, or of that, what `names`
    /// say.
    private func chosen(of findings: [Finding], _ names: [String], _ checkup: Checkup) -> [Finding]
    {
        guard names.isEmpty else { return findings.filter { names.contains($0.name) } }
        var chosen = findings.filter { $0.outcome == .bad }
        guard chosen.contains(where: { Browser(rawValue: $0.name) != nil }) else { return chosen }
        // A browser that looks for cameras is to get one, too.
        if !chosen.contains(where: { $0.name == "access" }), checkup.desktop.isAccessMissing {
            chosen += findings.filter { $0.name == "access" }
        }
        // Before the first call, and only as a question: it is a matter of taste.
        if mayAsk, !agreesToAll, checkup.mirrored?.isEmpty == false {
            chosen += findings.filter { $0.name == "mirror" }
        }
        return chosen
    }

    /// The time in seconds that services have to notice what was done.
    private static let patience = 10.0

    /// Checks again what was done, which has failed where the problem stays. Returns the findings.
    static func check(
        _ outcomes: inout [Outcome],
        for patience: Double = patience,
        by findings: () -> [Finding] = { Checkup().findings() }
    ) -> [Finding] {
        let names = outcomes.filter { $0.state == .done }.map(\.name)
        let deadline = MonotonicClock.now + Timestamp(seconds: patience)
        while true {
            let findings = findings().filter { names.contains($0.name) }
            let bad = outcomes.indices.filter { index in
                let outcome = outcomes[index]
                return outcome.state == .done && !outcome.isForLater
                    && findings.contains { $0.name == outcome.name && $0.outcome == .bad }
            }
            guard !bad.isEmpty, MonotonicClock.now > deadline else {
                if bad.isEmpty { return findings }
                usleep(300_000)
                continue
            }
            for index in bad {
                let finding = findings.first {
                    $0.name == outcomes[index].name && $0.outcome == .bad
                }
                outcomes[index].state = .failed
                outcomes[index].message = finding.map { "It did not help: \($0.text.sentence)" }
            }
            return findings
        }
    }

    private func fix(_ finding: Finding, of checkup: Checkup, with fixer: Fixer) -> Outcome {
        let name = finding.name
        guard let fix = checkup.fix(for: finding), !fix.steps.isEmpty else {
            let obstacles = [
                "hide-cameras": checkup.hidingObstacle, "loopback": checkup.loopbackObstacle,
            ]
            if let obstacle = obstacles[name]??.sentence {
                say("  \(obstacle.printable)")
                return Outcome(name: name, state: .failed, message: obstacle)
            }
            if finding.outcome == .good {
                say("  There is nothing to do.")
                return Outcome(name: name, state: .good)
            }
            let message =
                finding.command.map { "Run it yourself: \($0)" } ?? "This is left to you."
            say("  \(message.printable)")
            return Outcome(name: name, state: .manual, message: message)
        }
        var needed: [FixStep] = []
        do throws(Failure) {
            for step in fix.steps where try fixer.isNeeded(step) { needed.append(step) }
        } catch {
            let text = error.message.sentence
            say("  \(text.printable)")
            if let command = finding.command, !command.hasPrefix("dualcamctl doctor") {
                say("  Or run it yourself: \(command.printable)")
            }
            return Outcome(name: name, state: .failed, message: text)
        }
        // What is well stays as it is, but for what is done only if it is asked for.
        guard !needed.isEmpty, finding.outcome == .bad || fix.isByName else {
            say("  There is nothing to do.")
            return Outcome(name: name, state: .good)
        }
        let texts = needed.map(\.text)
        let lines = needed.map {
            "  • \($0.text.printable)\($0.isUndone ? "" : " (--undo does not take this back)")."
        }
        for line in lines { say(line) }
        guard agreesToAll || mayAsk else {
            return Outcome(name: name, state: .unasked, steps: texts)
        }
        guard agreesToAll || Self.agrees([Doctor.lines(finding)[0]] + lines) else {
            return Outcome(name: name, state: .declined, steps: texts)
        }
        return perform(needed, of: fix, with: fixer)
    }

    /// Carries out the `steps` of `fix`, and says what became of it.
    func perform(_ steps: [FixStep], of fix: Fix, with fixer: Fixer) -> Outcome {
        let texts = steps.map(\.text)
        do throws(Failure) {
            for step in steps { try fixer.perform(step, of: fix.name) }
        } catch {
            let reason = error.message.sentence
            let message = fix.onFailure.map { "\(reason) \($0)" } ?? reason
            say("  \(Colour.red("✗")) \(message.printable)")
            return Outcome(name: fix.name, state: .failed, steps: texts, message: message)
        }
        say("  Done.\(fix.afterwards.map { " \($0)" } ?? "")")
        return Outcome(
            name: fix.name,
            state: .done,
            steps: texts,
            isRecorded: steps.contains(where: \.isUndone),
            isForLater: fix.isForLater,
            message: fix.afterwards
        )
    }

    /// `true` if a question can be asked, and the answer be no part of a document.
    private var mayAsk: Bool { Self.hasTerminal && !json }

    /// Asks at the terminal if that shall be done which the `lines` say. They are shown there, too,
    /// if the output goes elsewhere.
    private static func agrees(_ lines: [String]) -> Bool {
        let shown = isatty(1) == 1 ? "" : lines.map { $0 + "\n" }.joined()
        let question = Array((shown + "  Do it? [y/N] ").utf8)
        _ = Glibc.write(STDERR_FILENO, question, question.count)
        let answer = readLine(strippingNewline: true) ?? ""
        return ["y", "yes"].contains(answer.lowercased())
    }

    // MARK: Undoing

    /// Undoes the fixes, or those that `names` say, the last first.
    func undo(_ names: [String]) throws {
        try Self.checkUser()
        let journal = try FixJournal()
        var records: [(path: String, record: FixRecord)] = []
        var outcomes: [Outcome] = []
        for (path, result) in journal.records() {
            do throws(Failure) { records.append((path, try result.get())) } catch {
                // It may be the record of any fix, and does not keep others from being undone.
                let text = error.message.sentence
                say("\(Colour.red("✗")) \(text.printable)")
                outcomes.append(Outcome(name: "record", state: .failed, message: text))
            }
        }
        if let unknown = names.first(where: { name in !records.contains { $0.record.name == name } }
        ) {
            throw Failure(
                status: .usage,
                message: "there is no fix called \(unknown.printable) to undo"
            )
        }
        let chosen = records.filter { names.isEmpty || names.contains($0.record.name) }
        if chosen.isEmpty, outcomes.isEmpty { say("There is nothing to undo.") }
        let fixer = Fixer(
            journal: journal,
            permissions: CameraPermissions(connection: (try? Client())?.connection)
        )
        for (path, record) in chosen.reversed() {
            if case .root(let undoing) = record.change {
                let line = "  • \(FixStep.root(undoing, undoing: nil).text.printable)."
                say(line)
                guard agreesToAll || mayAsk else {
                    outcomes.append(Outcome(name: record.name, state: .unasked, steps: [undoing]))
                    continue
                }
                guard agreesToAll || Self.agrees([line]) else {
                    outcomes.append(Outcome(name: record.name, state: .declined, steps: [undoing]))
                    continue
                }
            }
            do throws(Failure) {
                let text = try fixer.undo(record)
                journal.remove(path)
                say("\(Colour.green("✓")) \(record.name.padded(to: 14)) \(text.printable).")
                var outcome = Outcome(name: record.name, state: .done, steps: [text])
                if record.name == "hide-cameras", record.isOfOwnFile {
                    let message = "This takes effect \(WirePlumberRules.whenTheyCount)."
                    say("  \(message)")
                    outcome.message = message
                }
                outcomes.append(outcome)
            } catch {
                let text = error.message.sentence
                say("\(Colour.red("✗")) \(record.name.padded(to: 14)) \(text.printable)")
                outcomes.append(Outcome(name: record.name, state: .failed, message: text))
            }
        }
        try finish(outcomes, under: "undone")
    }
}
