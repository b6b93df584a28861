import Control
import DBusKit
import Frames
import GTK
import Glibc
import Platform
import ViewCore

/// The apps where the stream can be picked: the findings of `dualcamctl doctor`, and their fixes.
final class DoctorGroup {
    private unowned let rows: PreferenceRows
    private let again = Button("Check Again").style("flat")
    private let programs: PreferencesGroup
    private let zoom = GTK.Row("Zoom and others")
    private let makeDevice = Button("Make…")
    private let hiding = SwitchRow(
        "Hide the cameras themselves",
        "So that nobody picks the wrong one"
    )
    private let problems = PreferencesGroup("Problems")
    private var shown: [(group: PreferencesGroup, row: GTK.Row)] = []
    private var isBusy = false
    /// Does after that what was pressed meanwhile.
    private var waiting: (() -> Void)?
    /// The check whose mending was asked for once; a second press agrees.
    private var asked: String?

    init(_ rows: PreferenceRows) {
        self.rows = rows
        programs = PreferencesGroup("Programs", [zoom], after: again)
        problems.isVisible = false
        zoom.append(after: makeDevice)
        again.onClick { [unowned self] in
            asked = nil
            look()
        }
        makeDevice.onClick { [unowned self] in
            let (option, what) = device.isEmpty ? ("--fix", "made") : ("--undo", "removed")
            run([option, "loopback"], makeDevice, "The virtual camera could not be \(what).")
        }
        hiding.onToggle { [unowned self] isOn in
            let wish = ["desktop.hide-cameras": Value.boolean(isOn)]
            self.rows.daemon?.call(\ConfigurationInterface.set, wish) { [weak self] answer in
                // The rules follow the wish.
                if answer.error == nil { self?.run(["--fix", "hide-cameras"], nil) }
                self?.rows.done(answer.error)
            }
        }
        rows.bind(hiding, .key("desktop.hide-cameras")) { [unowned self] in
            hiding.isOn = $0.boolean ?? false
        }
        rows.bind { [unowned self] in
            zoom.words =
                device.isEmpty
                ? "They need a virtual camera. Asks for your password." : "Ready"
            makeDevice.label = device.isEmpty ? "Make…" : "Remove"
        }
        look()
    }

    var groups: [PreferencesGroup] { [programs, PreferencesGroup("", [hiding]), problems] }

    /// The device for programs that know no other cameras; empty if there is none.
    private var device: String { rows.daemon?[\StreamInterface.loopbackDevice] ?? "" }

    /// The client's program: beside this one, or where the shell finds it.
    static let program = programBeside("dualcamctl") ?? "dualcamctl"

    /// Runs doctor, and tells what it found; `nil` if that cannot be found out.
    static func check(_ done: @escaping (DoctorReport?) -> Void) {
        Subprocess.run([program, "doctor", "--json"]) { output, _ in
            done(output.flatMap { DoctorReport(json: $0) })
        }
    }

    private func look() {
        guard !isBusy else { return }
        isBusy = true
        again.isSensitive = false
        Self.check { [weak self] report in
            guard let self else { return }
            isBusy = false
            again.isSensitive = true
            if let next = waiting {
                waiting = nil
                next()
            } else if let report {
                show(report)
            }
        }
    }

    private func show(_ report: DoctorReport) {
        for (group, row) in shown { group.remove(row) }
        // What was to be mended is well now, or not.
        if let check = report.checks.first(where: { $0.name == asked && $0.isWell == false }) {
            rows.toast.show("That did not work: \(check.words)")
        }
        asked = nil
        shown = report.checks.compactMap { check in
            guard check.isApp || check.isWell == false else { return nil }
            let row = GTK.Row(check.title, check.words, after: check.isWell == true ? [tick] : [])
            if check.isFixable {
                let fix = Button(check.isApp ? "Turn On" : "Fix")
                fix.named("\(fix.label) \(check.title)")
                fix.onClick { [unowned self, unowned fix] in mend(check, fix) }
                row.append(after: fix)
            }
            return (check.isApp ? programs : problems, row)
        }
        for (group, row) in shown { group.append(row) }
        problems.isVisible = shown.contains { $0.group === problems }
    }

    private var tick: Widget { Image(icon: icon("check")).style("success") }

    private func mend(_ check: DoctorReport.Check, _ button: Button) {
        guard asked == check.name else {
            asked = check.name
            button.label = "Really \(check.isApp ? "Turn It On" : "Fix It")?"
            button.named(button.label)
            return
        }
        run(["--fix", check.name], button)
    }

    /// Runs doctor to change something. `failure` tells people that it did not.
    private func run(_ words: [String], _ button: Button?, _ failure: String? = nil) {
        guard !isBusy else { return waiting = { [unowned self] in run(words, button, failure) } }
        isBusy = true
        button?.isSensitive = false
        Subprocess.run([Self.program, "doctor"] + words + ["--yes"]) { [weak self] _, isWell in
            guard let self else { return }
            if !isWell, let failure { rows.toast.show(failure) }
            isBusy = false
            button?.isSensitive = true
            look()
        }
    }
}
