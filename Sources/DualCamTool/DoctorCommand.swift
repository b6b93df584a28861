import ArgumentParser
import Control
import Doctor
import Frames

extension Browser: ExpressibleByArgument {}

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
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
        try expect(
            [fix, undo, trial != nil].count(where: { $0 }) <= 1,
            "Expected only one of --fix, --undo and --try."
        )
        try expect(fix || undo || names.isEmpty, "Names are for --fix and --undo.")
        try expect(fix || undo || !yes, "--yes is for --fix and --undo.")
    }

    func run() throws {
        let session = FixSession(agreesToAll: yes, json: options.json)
        if fix { return try session.fix(names) }
        if undo { return try session.undo(names) }
        if let trial { return try attempt(trial) }
        let checkup = Checkup()
        let findings = checkup.findings()
        let count = findings.count { $0.outcome == .bad }
        let checks = findings.map { finding in
            let isFixable = finding.outcome == .bad && checkup.fix(for: finding) != nil
            return JSON.object([
                ("name", .string(finding.name)),
                ("ok", finding.outcome == .unknown ? .null : .boolean(finding.outcome == .good)),
                ("text", .string(finding.text)), ("command", JSON(finding.command)),
                ("fix", .boolean(isFixable)),
            ])
        }
        show(findings, [("ok", .boolean(count == 0)), ("checks", .array(checks))])
        guard count == 0 else { throw Failure("\(count) problem\(count == 1 ? "" : "s") found") }
    }

    private func attempt(_ browser: Browser) throws {
        let checkup = Checkup()
        guard let camera = checkup.cameraName else {
            let message = "there is no stream to see; `dualcamctl doctor` says why"
            throw Failure(status: .notRunning, message: message)
        }
        let trial = BrowserTrial(browser: browser, desktop: checkup.desktop, camera: camera)
        let (finding, report) = try trial.run()
        let isWell = finding.outcome == .good
        show(
            [finding],
            [
                ("ok", .boolean(isWell)), ("browser", .string(browser.rawValue)),
                ("text", .string(finding.text)), ("cameras", JSON(report?.cameras ?? [])),
                ("frames", report?.frames.map { .number("\($0)") } ?? .null),
                ("seconds", .number("\(report?.seconds ?? 0)")),
                ("command", JSON(finding.command)),
            ]
        )
        if !isWell { throw Failure("\(browser.title) does not get the stream") }
    }

    private func show(_ findings: [Finding], _ document: [(String, JSON)]) {
        options.answer(document, text: findings.flatMap(\.lines).joined(separator: "\n") + "\n")
    }
}

extension Finding {
    /// The finding as it is printed: a line, and one with the command that helps.
    var lines: [String] {
        let mark =
            switch outcome {
            case .good: Colour.green("✓")
            case .bad: Colour.red("✗")
            case .unknown: "?"
            }
        let space = String(repeating: " ", count: 17)
        return ["\(mark) \(name.padded(to: 14)) \(text.printable)"]
            + (command.map { ["\(space)→ \($0.printable)"] } ?? [])
    }
}
