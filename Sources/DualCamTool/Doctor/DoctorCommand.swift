import ArgumentParser

extension Browser: ExpressibleByArgument {}

extension Verbs {
    static let doctor: List = [Doctor.self]
}

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check everything the camera needs, and fix what is wrong.",
        discussion: """
            Without options, it changes nothing and does not start the daemon. The exit status is 0 \
            if all is well, 1 otherwise. With --fix, it says what it is about to do and asks before \
            each change; --undo takes it back. With --try, it starts a browser that has your \
            setting for PipeWire cameras and an otherwise empty profile.
            """
    )
    @Flag(help: "Fix the problems found, or only those named.")
    var fix = false
    @Flag(help: "Undo all fixes, or only those named.")
    var undo = false
    @Option(
        name: .customLong("try"),
        help: ArgumentHelp(
            "Open the stream in this browser, without a window, and count frames.",
            valueName: "browser"
        )
    )
    var trial: Browser?
    @Flag(help: "Agree to every change, for scripts.")
    var yes = false
    @Argument(help: "The names of checks, as doctor prints them.")
    var names: [String] = []
    @OptionGroup var options: CommonOptions

    func validate() throws {
        guard [fix, undo, trial != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("Expected only one of --fix, --undo and --try.")
        }
        guard fix || undo || names.isEmpty else {
            throw ValidationError("Names are for --fix and --undo.")
        }
        guard fix || undo || !yes else { throw ValidationError("--yes is for --fix and --undo.") }
    }

    func run() throws {
        if fix { return try FixSession(agreesToAll: yes, json: options.json).fix(names) }
        if undo { return try FixSession(agreesToAll: yes, json: options.json).undo(names) }
        if let trial { return try attempt(trial) }
        let checkup = Checkup()
        let findings = checkup.findings()
        let bad = findings.filter { $0.outcome == .bad }
        Output.write(
            options.json
                ? Doctor.document(findings) { checkup.fix(for: $0) != nil }
                : findings.flatMap(Doctor.lines).joined(separator: "\n") + "\n"
        )
        guard !bad.isEmpty else { return }
        throw Failure(
            status: .failed,
            message: "\(bad.count) problem\(bad.count == 1 ? "" : "s") found"
        )
    }

    /// Tries the stream in `browser`.
    private func attempt(_ browser: Browser) throws {
        let checkup = Checkup()
        guard let name = checkup.cameraName else {
            throw Failure(
                status: .notRunning,
                message: "there is no stream to see; `dualcamctl doctor` says why"
            )
        }
        let trial = BrowserTrial(browser: browser, home: checkup.desktop.home, camera: name)
        let outcome = try trial.run()
        if options.json {
            let report = outcome.report
            Output.write(
                JSON.document([
                    ("ok", .boolean(outcome.isWell)), ("browser", .string(browser.rawValue)),
                    ("text", .string(outcome.text)),
                    ("cameras", .array((report?.cameras ?? []).map { .string($0) })),
                    ("frames", report?.frames.map { .number("\($0)") } ?? .null),
                    ("seconds", .number("\(report?.seconds ?? 0)")),
                    ("command", outcome.command.map { .string($0) } ?? .null),
                ])
            )
        } else {
            let finding = Finding(
                name: browser.rawValue,
                outcome: outcome.isWell ? .good : .bad,
                text: outcome.text,
                command: outcome.command
            )
            Output.write(Doctor.lines(finding).joined(separator: "\n") + "\n")
        }
        if !outcome.isWell { throw Failure("\(browser.title) does not get the stream") }
    }

    static func lines(_ finding: Finding) -> [String] {
        let mark =
            switch finding.outcome {
            case .good: Colour.green("✓")
            case .bad: Colour.red("✗")
            case .unknown: "?"
            }
        let first = "\(mark) \(finding.name.padded(to: 14)) \(finding.text.printable)"
        let command = finding.command.map {
            String(repeating: " ", count: 17) + "→ \($0.printable)"
        }
        return [first] + (command.map { [$0] } ?? [])
    }

    static func document(
        _ findings: [Finding],
        isFixable: (Finding) -> Bool
    ) -> String {
        JSON.document([
            ("ok", .boolean(findings.allSatisfy { $0.outcome != .bad })),
            (
                "checks",
                .array(
                    findings.map {
                        .object([
                            ("name", .string($0.name)),
                            ("ok", $0.outcome == .unknown ? .null : .boolean($0.outcome == .good)),
                            ("text", .string($0.text)),
                            ("command", $0.command.map { .string($0) } ?? .null),
                            ("fix", .boolean($0.outcome == .bad && isFixable($0))),
                        ])
                    }
                )
            ),
        ])
    }
}
