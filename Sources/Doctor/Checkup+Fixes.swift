import Control
import DualCamCore
import Frames
import Glibc
import Platform

extension Checkup {
    /// Returns what `doctor --fix` can do about `finding`; `nil` if that is up to the user.
    package func fix(for finding: Finding) -> Fix? {
        let name = finding.name
        if let browser = Browser(rawValue: name) {
            let steps = desktop.browserSteps(browser.places(in: desktop.home))
            let isStarted = steps.contains { $0.form == .desktopEntry }
            let afterwards: String? =
                switch browser {
                case .firefox, .edge: "Restart \(browser.title) if it is open."
                default: nil
                }
            let hint = isStarted ? " In a terminal, start it with \(BrowserSwitch.word)." : ""
            return steps.isEmpty
                ? nil
                : Fix(
                    name: name,
                    steps: steps.map { .file($0) },
                    afterwards: afterwards.map { $0 + hint }
                )
        }
        switch name {
        case "refusals":
            let refused = desktop.refused ?? []
            return Fix(name: name, steps: refused.map { .refusal(application: $0) })
        case "access":
            let steps = desktop.identities.map(FixStep.permission)
            return Fix(name: name, steps: steps)
        case "hide-cameras": return hidingFix
        case "mirror": return mirrorFix
        case "loopback": return loopbackFix(finding)
        default: return finding.command.flatMap { commandFix(name, $0) }
        }
    }

    /// Returns the fix that runs the command of a finding.
    private func commandFix(_ name: String, _ command: String) -> Fix? {
        let words = command.split(separator: " ").map(String.init)
        if words.starts(with: ["systemctl", "--user"]) {
            return Fix(name: name, steps: [.systemctl(Array(words.dropFirst(2)))])
        }
        if words == ["dualcamctl", "start"] {
            return Fix(name: name, steps: [.ourselves(["start"])])
        }
        guard let script = Self.rootScript(command) else { return nil }
        guard words.contains("usermod") else { return Fix(name: name, steps: [.root(script, nil)]) }
        let afterwards = "This takes effect at your next login."
        return Fix(
            name: name,
            steps: [.root(script, nil)],
            afterwards: afterwards,
            isForLater: true
        )
    }

    /// Returns the script that does by pkexec(1) what the line `command` does by sudo(8); `nil` for
    /// another line. pkexec looks for a program where the user's PATH leads, which in Debian is not
    /// where those for administrators are; the shell that it starts looks there, too.
    static func rootScript(_ command: String) -> String? {
        guard command.hasPrefix("sudo "), !command.contains("'"),
            let user = getpwuid(geteuid()).map({ String(cString: $0.pointee.pw_name) }),
            // What would have to be quoted twice.
            user.quotedForShell == user
        else { return nil }
        let words = command.dropFirst("sudo ".count).replacing("\"$USER\"", with: user)
        // 126 and 127 are for pkexec alone.
        return "pkexec sh -c '\(words) || exit 1'"
    }

    private var mirrorFix: Fix? {
        guard let roles = mirrored?.map(\.rawValue), !roles.isEmpty else { return nil }
        let back = roles.map { "dualcamctl mirror on --camera \($0)" }.joined(separator: "; ")
        return Fix(
            name: "mirror",
            steps: roles.map { .ourselves(["mirror", "off", "--camera", $0]) },
            afterwards: "To mirror it again: \(back)"
        )
    }

    private var hidingFix: Fix? {
        let former = hidesCameras == false ? hidingRulesOfOurs : []
        var steps = former.map { rulesStep($0, content: nil) }
        var exception = ""
        if former.isEmpty {
            guard let rules = hidingRules else { return nil }
            let path = "\(desktop.configurationFolder)/wireplumber/\(rules.file)"
            // Without that key, the rules would seem to be left over.
            if hidesCameras != true { steps.append(setting(.hiding)) }
            steps.append(rulesStep(path, content: Array(rules.text.utf8)))
            exception =
                unhidableCameras.map { " Not hidden, for lack of a permanent name: \($0)." } ?? ""
        }
        return Fix(
            name: "hide-cameras",
            steps: steps.map { .file($0) },
            afterwards: WirePlumberRules.effect + exception
        )
    }

    /// Returns the step that writes WirePlumber's rules to `path`, or removes them for `nil`.
    private func rulesStep(_ path: String, content: [UInt8]?) -> FileStep {
        FileStep(
            title: "rules for WirePlumber that hide the cameras DualCam uses",
            path: path,
            form: .own,
            content: content,
            makesFolders: content != nil,
            removes: content == nil
        )
    }

    /// Returns the fix that copies the stream to a loopback device, where none is configured, and
    /// makes a device where there is none.
    private func loopbackFix(_ finding: Finding) -> Fix? {
        if let command = finding.command, !command.hasPrefix("sudo apt ") {
            return commandFix(finding.name, command)
        }
        let isConfigured = loopbackDevice != .none
        guard isConfigured || loopbackObstacle == nil else { return nil }
        var steps: [FixStep] = []
        if isConfigured ? finding.command != nil : LoopbackModule.devices().isEmpty {
            guard mayInstallModule else { return nil }
            steps.append(.root(RootChange.loopback.script, .loopback))
        }
        if !isConfigured { steps.append(.file(setting(.configuration))) }
        let advice = SecureBoot.isOn() ? SecureBoot.advice : nil
        return Fix(name: "loopback", steps: steps, onFailure: advice)
    }

    /// The reason why no loopback device can be set up; `nil` if one can be.
    var loopbackObstacle: String? {
        guard loopbackDevice == .none, LoopbackModule.devices().isEmpty, !mayInstallModule
        else { return nil }
        return "there is no v4l2loopback device. Install and load this kernel module, then try "
            + "again"
    }

    /// `true` if v4l2loopback can be installed here. What an administrator wrote stays.
    private var mayInstallModule: Bool {
        pathOfProgram("apt-get") != nil && !RootChange.files.contains { isThere($0.path) }
    }

    /// Returns the step that sets what `form` says in the user's configuration, which begins as
    /// that of the system where there is none.
    private func setting(_ form: FileForm) -> FileStep {
        let own = "\(desktop.configurationFolder)/dualcam/dualcam.toml"
        let used = configurationPath ?? own
        let isOfSystem = used.hasPrefix("/etc/")
        let text = isOfSystem ? try? readFile(used, limit: FixedFile.limit) : nil
        return FileStep(
            title: "DualCam",
            path: isOfSystem ? own : used,
            form: form,
            content: text.flatMap { try? form.fixed($0) },
            makesFolders: true
        )
    }
}

/// Secure Boot, with which the kernel loads only modules with a known signature.
enum SecureBoot {
    /// The remedy that lets the kernel load a module that was built here.
    static let advice =
        "Secure Boot is on: the kernel refuses the module until you enrol its key. Run "
        + "`sudo mokutil --import /var/lib/dkms/mok.pub`, restart the computer, and try again."

    /// Returns `true` if the firmware, whose variables are files in `folder`, says that it is on.
    static func isOn(_ folder: String = "/sys/firmware/efi/efivars") -> Bool {
        let name = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        // Four bytes of attributes, then the value.
        let bytes = try? readFile("\(folder)/\(name)", limit: 16)
        return bytes?.count == 5 && bytes?.last == 1
    }
}
