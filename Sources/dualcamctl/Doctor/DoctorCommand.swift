import ArgumentParser

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check everything the camera needs, and say how to fix what is wrong.",
        discussion: """
            Changes nothing, and does not start the daemon. The exit status is 0 if all is well, 1 \
            otherwise.
            """
    )
    @OptionGroup var options: CommonOptions

    func run() throws {
        let findings = Checkup().findings()
        let bad = findings.filter { $0.outcome == .bad }
        Output.write(
            options.json
                ? Doctor.document(findings)
                : findings.flatMap(Doctor.lines).joined(separator: "\n") + "\n"
        )
        guard !bad.isEmpty else { return }
        throw Failure(
            status: .failed,
            message: bad.count == 1 ? "one thing is amiss" : "\(bad.count) things are amiss"
        )
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

    static func document(_ findings: [Finding]) -> String {
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
                        ])
                    }
                )
            ),
        ])
    }
}
