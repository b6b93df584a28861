import Frames
import GTK
import Glibc
import Platform
import ViewCore

/// The apps where the stream can be picked: the findings of `dualcamctl doctor`, and their fixes.
///
/// - Context: bound to GTK's thread.
final class DoctorGroup {
    let group: PreferencesGroup
    /// Called with what came of mending.
    var onResult: (String) -> Void = { _ in }
    private let again = Button("Check Again")
    private let summary: Row
    private var rows: [Row] = []
    private var isBusy = false
    /// The check whose mending was asked for once; a second press agrees.
    private var asked: String?

    init() {
        summary = Row("Checking…", after: [again])
        group = PreferencesGroup("DualCam in Apps", "", [summary])
        again.onClick { [unowned self] in look() }
        look()
    }

    /// The client's program: beside this one, or where the shell finds it.
    private static let program = programBeside("dualcamctl") ?? "dualcamctl"

    private func look() {
        guard !isBusy else { return }
        isBusy = true
        again.isSensitive = false
        Subprocess.run([Self.program, "doctor", "--json"]) { [weak self] output in
            guard let self else { return }
            isBusy = false
            again.isSensitive = true
            guard let report = output.flatMap({ DoctorReport(json: $0) }) else {
                return summary.title = "This cannot be checked here"
            }
            show(report)
        }
    }

    private func show(_ report: DoctorReport) {
        rows.forEach(group.remove)
        let bad = report.checks.filter { $0.isWell == false }
        summary.title =
            bad.isEmpty
            ? "Apps can use it" : bad.count == 1 ? "1 problem" : "\(bad.count) problems"
        rows = bad.map { check in
            var after: [Widget] = []
            if check.isFixable {
                let fix = Button("Fix")
                fix.named("Fix \(check.title)")
                fix.onClick { [unowned self, unowned fix] in mend(check, fix) }
                after = [fix]
            }
            return Row(check.title, check.text.sentence.withoutCommands, after: after)
        }
        rows.forEach(group.append)
    }

    private func mend(_ check: DoctorReport.Check, _ button: Button) {
        guard asked == check.name else {
            asked = check.name
            button.label = "Really Fix It?"
            button.named(button.label)
            return
        }
        guard !isBusy else { return }
        (asked, isBusy) = (nil, true)
        button.isSensitive = false
        Subprocess.run([Self.program, "doctor", "--fix", check.name, "--yes"]) {
            [weak self] output in
            guard let self else { return }
            isBusy = false
            let last = output?.split(separator: "\n").last.map(String.init)
            onResult(last?.withoutCommands ?? "That did not work.")
            look()
        }
    }
}
