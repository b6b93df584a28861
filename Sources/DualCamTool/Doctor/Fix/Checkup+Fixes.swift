import DualCamCore
import Glibc
import Platform

extension Checkup {
    /// Returns what `doctor --fix` can do about `finding`; `nil` if that is up to the user.
    func fix(for finding: Finding) -> Fix? {
        let name = finding.name
        if let browser = Browser(rawValue: name) {
            let steps = desktop.browserSteps(browser.places(in: desktop.home))
            guard !steps.isEmpty else { return nil }
            return Fix(
                name: name,
                steps: steps.map { .file($0) },
                afterwards: Self.afterwards(browser, steps)
            )
        }
        switch name {
        case "refusals":
            return Fix(
                name: name,
                steps: desktop.refused.map { .refusal(application: $0) }
            )
        case "access": return Fix(name: name, steps: desktop.browserPermissions)
        case "hide-cameras": return hidingFix
        case "mirror": return mirrorFix
        case "loopback": return loopbackFix(finding)
        default: return finding.command.flatMap { commandFix(name, $0) }
        }
    }

    /// Returns the sentence that says what is left to do after `steps` of `browser`, if anything.
    private static func afterwards(_ browser: Browser, _ steps: [FileStep]) -> String? {
        switch browser {
        case .firefox: return "Restart Firefox if it is open."
        case .edge where steps.contains { $0.form == .desktopEntry }:
            return "Restart Edge if it is open. In a terminal, start it with "
                + "\(BrowserSwitch.word)."
        case .edge: return "Restart Edge if it is open."
        default: return nil
        }
    }

    /// The fix that runs the command of a finding.
    private func commandFix(_ name: String, _ command: String) -> Fix? {
        let words = command.split(separator: " ").map(String.init)
        if words.starts(with: ["systemctl", "--user"]) {
            return Fix(name: name, steps: [.systemctl(Array(words.dropFirst(2)))])
        }
        if words == ["dualcamctl", "start"] {
            return Fix(name: name, steps: [.ourselves(["start"])])
        }
        guard let script = Self.rootScript(command) else { return nil }
        let isForLogin = words.contains("usermod")
        return Fix(
            name: name,
            steps: [.root(script, undoing: nil)],
            afterwards: isForLogin ? "This takes effect at your next login." : nil,
            isForLater: isForLogin
        )
    }

    /// Returns the script that does by pkexec(1) what the line `command` does by sudo(8); `nil` for
    /// another line.
    ///
    /// pkexec looks for a program where the user's PATH leads, which in Debian is not where those
    /// for administrators are; the shell that it starts looks there, too.
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
        guard let mirrored, !mirrored.isEmpty else { return nil }
        return Fix(
            name: "mirror",
            steps: mirrored.map { .ourselves(["mirror", "off", "--camera", $0.rawValue]) },
            afterwards: "To mirror a picture again, use `dualcamctl mirror on`."
        )
    }

    private var hidingFix: Fix? {
        let name = "hide-cameras"
        let former = hidesCameras == false ? hidingRulesOfOurs : []
        guard former.isEmpty else {
            return Fix(
                name: name,
                steps: former.map { .file(rulesStep($0, content: nil)) },
                afterwards: "This takes effect \(WirePlumberRules.whenTheyCount)."
            )
        }
        guard let rules = hidingRules else { return nil }
        let path = "\(desktop.configurationFolder)/wireplumber/\(rules.file)"
        var steps = [rulesStep(path, content: Array(rules.text.utf8))]
        // Without the wish, the rules would be taken for a rest.
        if hidesCameras != true { steps.insert(setting(.hiding), at: 0) }
        return Fix(
            name: name,
            steps: steps.map { .file($0) },
            afterwards: "This takes effect \(WirePlumberRules.whenTheyCount)."
                + (unhidableCameras.map {
                    " Not hidden, for lack of a permanent name: \($0)."
                } ?? "")
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

    /// Copies the stream to a loopback device, where none is configured, and makes a device
    /// where there is none.
    private func loopbackFix(_ finding: Finding) -> Fix? {
        if let command = finding.command, !command.hasPrefix("sudo apt ") {
            return commandFix(finding.name, command)
        }
        let isConfigured = loopbackDevice != .none
        guard isConfigured || loopbackObstacle == nil else { return nil }
        var steps: [FixStep] = []
        if isConfigured ? finding.command != nil : LoopbackModule.devices().isEmpty {
            guard let module = loopbackModule else { return nil }
            steps.append(module)
        }
        if !isConfigured { steps.append(.file(setting(.configuration))) }
        return Fix(
            name: "loopback",
            steps: steps,
            onFailure: SecureBoot.isOn() ? SecureBoot.advice : nil
        )
    }

    /// The reason why no loopback device can be set up; `nil` if one can be.
    var loopbackObstacle: String? {
        guard loopbackDevice == .none, LoopbackModule.devices().isEmpty, loopbackModule == nil
        else { return nil }
        return "there is no v4l2loopback device. Install and load this kernel module, then try "
            + "again"
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

    /// The installation of v4l2loopback, its settings, and its load now and at each start; `nil` if
    /// that is up to an administrator.
    private var loopbackModule: FixStep? {
        guard Program.exists("apt-get") else { return nil }
        let settings = "/etc/modprobe.d/dualcam.conf"
        let list = "/etc/modules-load.d/dualcam.conf"
        // What an administrator wrote there stays.
        guard access(settings, F_OK) != 0, access(list, F_OK) != 0 else { return nil }
        let options = "options v4l2loopback exclusive_caps=1 card_label=DualCam"
        let module = "v4l2loopback"
        let removal = Self.removal(of: [(settings, options), (list, module)])
        return .root(
            "pkexec sh -c 'apt-get install -y v4l2loopback-dkms && "
                + "echo \(options) >\(settings) && "
                // 126 and 127 are for pkexec alone.
                + "echo \(module) >\(list) && modprobe \(module) || exit 1'",
            undoing: "pkexec sh -c '\(removal); modprobe -r \(module) || "
                // A program reads the device.
                + "echo It is unloaded when the computer is next started. >&2'"
        )
    }
}

extension Checkup {
    /// Returns a script that removes the files of one line each which still have that line alone.
    /// It may be within single quotes.
    static func removal(of files: [(path: String, line: String)]) -> String {
        files.map { path, line in
            "[ \"$(cat \(path) 2>/dev/null)\" != \"\(line)\" ] || rm -f \(path)"
        }.joined(separator: "; ")
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
