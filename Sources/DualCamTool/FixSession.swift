import Control
import Doctor
import Frames
import Glibc
import Platform

/// The dialogue of `doctor --fix` and `doctor --undo`: what is about to be done, the question, and
/// what became of it.
struct FixSession {
    /// `true` if no question is asked.
    let agreesToAll: Bool
    let json: Bool

    struct Outcome {
        enum State: String {
            case done
            /// Nothing had to be done.
            case good
            case declined
            /// Nobody could be asked.
            case unasked
            case failed
            /// It is up to the user.
            case manual
        }

        let name: String
        var state: State
        var steps: [String] = []
        /// More about it, in one sentence or several.
        var message: String?
        /// `true` if something of it was recorded, so that it can be undone.
        var isRecorded = false
        /// `true` if it takes effect later, so that the check still finds what it found.
        var isForLater = false
    }

    /// `true` if a question can be asked, and the answer be no part of a document.
    private var mayAsk: Bool { isatty(0) == 1 && isatty(2) == 1 && !json }

    /// Prints a line for people, whose foreign parts are printable.
    private func say(_ line: String) {
        if !json { Output.write(line + "\n") }
    }

    /// Says with `mark` what became of the fix or record called `name`.
    private func say(_ mark: String, _ name: String, _ text: String) {
        say("\(mark) \(name.padded(to: 14)) \(text.printable)")
    }

    private func finish(_ outcomes: [Outcome], under name: String) throws {
        func count(_ states: Outcome.State...) -> Int {
            outcomes.count { states.contains($0.state) }
        }
        if json {
            let documents = outcomes.map { outcome in
                JSON.object([
                    ("name", .string(outcome.name)), ("state", .string(outcome.state.rawValue)),
                    ("steps", JSON(outcome.steps)), ("message", JSON(outcome.message)),
                ])
            }
            let isWell = count(.done, .good) == outcomes.count
            Output.write(JSON.document([("ok", .boolean(isWell)), (name, .array(documents))]))
        }
        if count(.unasked) > 0 {
            let begin = count(.done) == 0 ? "nothing was changed" : "a part was left out"
            let reason = json ? "--json asks no questions" : "there is no terminal to ask at"
            throw Failure("\(begin): \(reason). Add --yes to agree to all of this")
        }
        let (all, failed, left) = (outcomes.count, count(.failed), count(.manual, .declined))
        if failed > 0 {
            throw Failure(all == 1 ? "this could not be done" : "\(failed) of \(all) failed")
        }
        let problems = left == 1 ? "1 problem is" : "\(left) problems are"
        if left > 0 { throw Failure("\(problems) left to you") }
    }

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
        guard isLent || isForeign else { return }
        throw Failure(
            "run it as yourself, without sudo; it asks for a password where it needs one"
        )
    }

    /// Returns `nil` if the `lines`, which were said, may be done, and otherwise the state of what
    /// is not. They are shown at the terminal, too, if the output goes elsewhere.
    private func refusal(of lines: [String]) -> Outcome.State? {
        if agreesToAll { return nil }
        guard mayAsk else { return .unasked }
        let shown = isatty(1) == 1 ? "" : lines.map { $0 + "\n" }.joined()
        let question = Array((shown + "  Do it? [y/N] ").utf8)
        _ = Glibc.write(STDERR_FILENO, question, question.count)
        return ["y", "yes"].contains((readLine() ?? "").lowercased()) ? nil : .declined
    }

    // MARK: Fixing

    /// Fixes what is wrong, or of that, what `names` say.
    func fix(_ names: [String]) throws {
        try Self.checkUser()
        let checkup = Checkup()
        let findings = checkup.findings()
        let unknown = names.filter { name in !findings.contains { $0.name == name } }
        if let unknown = unknown.first(where: { Browser(rawValue: $0) == nil }) {
            let all = findings.map(\.name) + Browser.allCases.map(\.rawValue)
            let known = all.indices.filter { all.firstIndex(of: all[$0]) == $0 }.map { all[$0] }
            let list = known.joined(separator: ", ")
            let message = "there is no check called \(unknown.printable). Known: \(list)"
            throw Failure(status: .usage, message: message)
        }
        var outcomes: [Outcome] = []
        for browser in unknown.compactMap(Browser.init) {
            guard names.count > 1 else { throw browser.notInstalled }
            let message = browser.notInstalled.message.sentence
            say(Colour.red("✗"), browser.rawValue, message)
            outcomes.append(Outcome(name: browser.rawValue, state: .failed, message: message))
        }
        let chosen = chosen(of: findings, names, checkup)
        if chosen.isEmpty, outcomes.isEmpty {
            say("Nothing needs fixing.")
            return try finish([], under: "fixes")
        }
        let fixer = Fixer(journal: try FixJournal(), permissions: checkup.desktop.permissions)
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
            say(finding.lines[0])
            outcomes.append(fix(finding, of: now, with: fixer))
        }
        if outcomes.contains(where: { $0.state == .done }) {
            say("")
            say(Self.check(&outcomes).flatMap(\.lines).joined(separator: "\n"))
            let recorded = outcomes.filter(\.isRecorded).map(\.name).joined(separator: " ")
            if !recorded.isEmpty { say("To take it back: dualcamctl doctor --undo \(recorded)") }
        }
        try finish(outcomes, under: "fixes")
    }

    /// Returns those of `findings` that are to be fixed: what is wrong, or what `names` say.
    private func chosen(
        of findings: [Finding],
        _ names: [String],
        _ checkup: Checkup
    ) -> [Finding] {
        guard names.isEmpty else { return findings.filter { names.contains($0.name) } }
        let bad = findings.filter { $0.outcome == .bad }
        guard bad.contains(where: { Browser(rawValue: $0.name) != nil }) else { return bad }
        // A browser that looks for cameras is to get one, too. Before the first call, and only as a
        // question: the mirror is a matter of taste.
        let isAccessNamed = bad.contains { $0.name == "access" }
        let access = !isAccessNamed && checkup.desktop.isAccessMissing ? "access" : nil
        let mirror =
            mayAsk && !agreesToAll && checkup.mirrored?.isEmpty == false ? "mirror" : nil
        return bad
            + [access, mirror].flatMap { name in findings.filter { $0.name == name } }
    }

    /// Checks again what was done, which has failed where the problem stays for the `patience` in
    /// seconds that services have to notice. Returns the findings.
    static func check(
        _ outcomes: inout [Outcome],
        for patience: Double = 10,
        by findings: () -> [Finding] = { Checkup().findings() }
    ) -> [Finding] {
        let names = outcomes.filter { $0.state == .done }.map(\.name)
        let awaited = outcomes.filter { $0.state == .done && !$0.isForLater }.map(\.name)
        let deadline = MonotonicClock.now + Timestamp(seconds: patience)
        while true {
            let findings = findings().filter { names.contains($0.name) }
            let bad = findings.filter { $0.outcome == .bad && awaited.contains($0.name) }
            if bad.isEmpty { return findings }
            guard MonotonicClock.now > deadline else {
                // A check looks at all that there is.
                usleep(1_000_000)
                continue
            }
            for index in outcomes.indices where outcomes[index].state == .done {
                if let finding = bad.first(where: { $0.name == outcomes[index].name }) {
                    outcomes[index].state = .failed
                    outcomes[index].message = "It did not help: \(finding.text.sentence)"
                }
            }
            return findings
        }
    }

    private func fix(_ finding: Finding, of checkup: Checkup, with fixer: Fixer) -> Outcome {
        let name = finding.name
        func nothing() -> Outcome {
            say("  There is nothing to do.")
            return Outcome(name: name, state: .good)
        }
        guard let fix = checkup.fix(for: finding), !fix.steps.isEmpty else {
            if let obstacle = checkup.obstacle(to: name)?.sentence {
                say("  \(Colour.red("✗")) \(obstacle.printable)")
                return Outcome(name: name, state: .failed, message: obstacle)
            }
            if finding.outcome == .good { return nothing() }
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
        guard !needed.isEmpty, finding.outcome == .bad || fix.isByName else { return nothing() }
        let lines = needed.map {
            "  • \($0.text.printable)\($0.isUndone ? "" : " (--undo does not take this back)")."
        }
        for line in lines { say(line) }
        if let state = refusal(of: [finding.lines[0]] + lines) {
            return Outcome(name: name, state: state, steps: needed.map(\.text))
        }
        return perform(needed, of: fix, with: fixer)
    }

    /// Carries out the `steps` of `fix`, and says what became of it.
    func perform(_ steps: [FixStep], of fix: Fix, with fixer: Fixer) -> Outcome {
        var outcome = Outcome(name: fix.name, state: .done, steps: steps.map(\.text))
        do throws(Failure) {
            for step in steps { try fixer.perform(step, of: fix.name) }
            say("  Done.\(fix.afterwards.map { " \($0)" } ?? "")")
            outcome.message = fix.afterwards
            outcome.isRecorded = steps.contains(where: \.isUndone)
            outcome.isForLater = fix.isForLater
        } catch {
            let message = error.message.sentence + (fix.onFailure.map { " \($0)" } ?? "")
            say("  \(Colour.red("✗")) \(message.printable)")
            (outcome.state, outcome.message) = (.failed, message)
        }
        return outcome
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
        let known = records.map(\.record.name)
        if let unknown = names.first(where: { !known.contains($0) }) {
            let message = "there is no fix called \(unknown.printable) to undo"
            throw Failure(status: .usage, message: message)
        }
        let chosen = records.filter { names.isEmpty || names.contains($0.record.name) }
        if chosen.isEmpty, outcomes.isEmpty { say("There is nothing to undo.") }
        let permissions = CameraPermissions(connection: (try? Client())?.connection)
        let fixer = Fixer(journal: journal, permissions: permissions)
        for (path, record) in chosen.reversed() {
            outcomes.append(undo(record, with: fixer))
            if outcomes.last?.state == .done { journal.remove(path) }
        }
        try finish(outcomes, under: "undone")
    }

    private func undo(_ record: FixRecord, with fixer: Fixer) -> Outcome {
        var outcome = Outcome(name: record.name, state: .done)
        if let script = record.script {
            let line = "  • \(FixStep.root(script, nil).text)."
            say(line)
            if let state = refusal(of: [line]) {
                return Outcome(name: record.name, state: state, steps: [script])
            }
        }
        do throws(Failure) {
            let text = try fixer.undo(record)
            outcome.steps = [text]
            say(Colour.green("✓"), record.name, "\(text).")
            if record.name == "hide-cameras", record.isOfOwnFile {
                outcome.message = WirePlumberRules.effect
                say("  \(WirePlumberRules.effect)")
            }
        } catch {
            let text = error.message.sentence
            say(Colour.red("✗"), record.name, text)
            (outcome.state, outcome.message) = (.failed, text)
        }
        return outcome
    }
}
