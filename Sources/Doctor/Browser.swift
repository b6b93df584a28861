import Frames
import Glibc
import Platform

/// A browser that takes cameras from PipeWire if it is set to.
package enum Browser: String, CaseIterable {
    case chromium, chrome, edge, brave, vivaldi, firefox

    package var title: String { rawValue.capitalizedFirst }

    /// Returns `true` if a process that runs the program at the absolute `path` is this browser's.
    /// Packages, Snaps and Flatpaks have programs of other names.
    func runsAs(_ path: String) -> Bool {
        let program: Regex<Substring> =
            switch self {
            case .chromium:
                #//chromium(?:-browser)?$|/(?:chromium|ungoogled-chr)[^/]*/(?:.*/)?chrome$/#
            case .chrome: #//google/(?:.*/)?chrome$|/extra/chrome$/#
            case .edge: #//msedge$/#
            case .brave: #//brave$/#
            case .vivaldi: #//vivaldi(?:-bin)?$/#
            case .firefox: #//firefox(?:-esr)?$/#
            }
        return path.replacing(" (deleted)", with: "").contains(program)
    }

    /// The names that desktop entries have in one distribution or another.
    private static let entries: [Browser: [String]] = [
        .chromium: ["chromium", "chromium-browser", "org.chromium.Chromium"],
        .chrome: ["google-chrome", "com.google.Chrome"],
        .edge: ["microsoft-edge", "com.microsoft.Edge"],
        .brave: ["brave-browser", "com.brave.Browser"],
        .vivaldi: ["vivaldi-stable", "com.vivaldi.Vivaldi"],
        .firefox: ["firefox", "firefox-esr", "org.mozilla.firefox"],
    ]

    var desktopEntries: [String] { Self.entries[self] ?? [] }

    /// The forms in which browsers are distributed: packages, Snaps, Flatpaks.
    private static let forms: [Form] = [
        Form(.chromium, ["chromium", "chromium-browser"], ".config/chromium"),
        Form(.chromium, snap: "chromium", "common/chromium"),
        Form(.chromium, flatpak: "org.chromium.Chromium", "config/chromium"),
        Form(
            .chromium,
            flatpak: "io.github.ungoogled_software.ungoogled_chromium",
            "config/chromium"
        ),
        Form(.chrome, ["google-chrome-stable", "google-chrome"], ".config/google-chrome"),
        Form(.chrome, ["google-chrome-beta"], ".config/google-chrome-beta"),
        Form(.chrome, ["google-chrome-unstable"], ".config/google-chrome-unstable"),
        Form(.chrome, flatpak: "com.google.Chrome", "config/google-chrome"),
        Form(.edge, ["microsoft-edge-stable", "microsoft-edge"], ".config/microsoft-edge"),
        Form(.edge, ["microsoft-edge-beta"], ".config/microsoft-edge-beta"),
        Form(.edge, ["microsoft-edge-dev"], ".config/microsoft-edge-dev"),
        Form(.edge, flatpak: "com.microsoft.Edge", "config/microsoft-edge"),
        Form(.brave, ["brave-browser", "brave"], ".config/BraveSoftware/Brave-Browser"),
        Form(.brave, snap: "brave", "current/.config/BraveSoftware/Brave-Browser"),
        Form(.brave, flatpak: "com.brave.Browser", "config/BraveSoftware/Brave-Browser"),
        Form(.vivaldi, ["vivaldi-stable", "vivaldi"], ".config/vivaldi"),
        Form(.vivaldi, snap: "vivaldi", "current/.config/vivaldi"),
        Form(.vivaldi, flatpak: "com.vivaldi.Vivaldi", "config/vivaldi"),
        // Versions from 147 on use the second folder where the first is not there.
        Form(.firefox, ["firefox", "firefox-esr"], ".mozilla/firefox", ".config/mozilla/firefox"),
        Form(.firefox, snap: "firefox", "common/.mozilla/firefox"),
        Form(
            .firefox,
            flatpak: "org.mozilla.firefox",
            ".mozilla/firefox",
            "config/mozilla/firefox"
        ),
    ]

    /// A form in which the browser is distributed.
    private struct Form {
        let browser: Browser
        /// The names of a package's program; empty for the others.
        let programs: [String]
        let snap, flatpak: String?
        /// The places where its profiles may be, below the sandbox or, for a package, the home
        /// directory. The first is the one that it is given where there is none.
        let folders: [String]

        init(
            _ browser: Browser,
            _ programs: [String] = [],
            snap: String? = nil,
            flatpak: String? = nil,
            _ folders: String...
        ) {
            (self.browser, self.programs, self.folders) = (browser, programs, folders)
            (self.snap, self.flatpak) = (snap, flatpak)
        }

        /// Returns the command that starts it; `nil` if it is not installed.
        func command(_ home: String, _ system: String) -> [String]? {
            if let snap {
                let program = "\(system)/snap/bin/\(snap)"
                return access(program, X_OK) == 0 ? [program] : nil
            }
            if let flatpak {
                let folders = ["\(system)/var/lib/flatpak", "\(home)/.local/share/flatpak"]
                return folders.contains { isThere("\($0)/app/\(flatpak)") }
                    ? ["flatpak", "run", flatpak] : nil
            }
            return programs.first { name in
                // Ubuntu's packages chromium-browser and firefox only start the Snap.
                pathOfProgram(name).map { !Self.startsSnap($0) } ?? false
            }.map { [$0] }
        }

        private static func startsSnap(_ path: String) -> Bool {
            guard let target = resolvedPath(path) else { return false }
            if target.hasPrefix("/snap/") || target.hasSuffix("/snap") { return true }
            // A script is short.
            let script = wholeText(of: target, limit: 1 << 14)
            return script.hasPrefix("#!") && script.contains("/snap/bin/")
        }
    }

    /// A folder in which the browser keeps its profiles.
    struct Place: Equatable {
        let browser: Browser
        let folder: String
        /// The folder of the sandbox that it belongs to; `nil` for a package.
        let sandbox: String?
        /// The identity that the camera portal knows the browser by; `nil` for a package.
        let application: String?
        /// The command that starts the browser with these profiles; `nil` if it is not installed.
        let command: [String]?
        /// `true` if the browser was never started, so that no profile is there yet.
        let isNew: Bool

        /// "Chromium", "Chromium (Snap)", "Chromium (Flatpak)".
        var title: String {
            application == nil
                ? browser.title : browser.title + (isSnap ? " (Snap)" : " (Flatpak)")
        }

        var isSnap: Bool { application?.hasPrefix("snap.") ?? false }

        /// `false` for a Snap that was never started and keeps its profiles in the folder of its
        /// version, which has to be made by Snap itself.
        var takesFiles: Bool {
            guard isNew, let sandbox, folder.hasPrefix("\(sandbox)/current/") else { return true }
            return isThere("\(sandbox)/current")
        }
    }

    /// Returns the folders of profiles of this browser, below the home directory `home`: those that
    /// are there, and those that an installed browser makes when it is first started. `system` is
    /// the root of the file system.
    func places(in home: String, system: String = "") -> [Place] {
        guard home.hasPrefix("/") else { return [] }
        let mark = self == .firefox ? "profiles.ini" : "Local State"
        return Self.forms.filter { $0.browser == self }.flatMap { form -> [Place] in
            let sandbox =
                form.snap.map { "\(home)/snap/\($0)" }
                ?? form.flatpak.map { "\(home)/.var/app/\($0)" }
            let command = form.command(home, system)
            let all = form.folders.map { "\(sandbox ?? home)/\($0)" }
            let used = all.filter { isThere("\($0)/\(mark)") }
            let isNew = used.isEmpty
            return (!isNew ? used : command == nil ? [] : Array(all.prefix(1))).map { folder in
                Place(
                    browser: self,
                    folder: folder,
                    sandbox: sandbox,
                    application: form.snap.map { "snap.\($0)" } ?? form.flatpak,
                    command: command,
                    isNew: isNew
                )
            }
        }
    }
}

extension Browser.Place {
    /// The folder of Firefox's program, by which it knows its profile; `nil` if it is not found.
    private var firefoxProgramFolder: String? {
        // As its launcher in the Flatpak has it.
        if application != nil { return isSnap ? "/snap/firefox/current" : "/app/lib/firefox" }
        let program = command.flatMap { pathOfProgram($0[0]) }.flatMap(resolvedPath)
        // A script starts it in some distributions: firefox that of firefox-esr in Debian.
        let usual = ["firefox", "firefox-esr"].flatMap { name in
            ["/usr/lib/\(name)", "/usr/lib64/\(name)", "/opt/\(name)"]
        }
        return (program.map { [Platform.folder(of: $0)] + usual } ?? usual)
            .first { isThere("\($0)/application.ini") }
    }

    /// The files from which a Firefox that was never started makes its first profile, with their
    /// contents, in an order in which an interruption leaves none that is used in part. It takes a
    /// profile for its own that is the default, and whose `compatibility.ini` names its program
    /// folder.
    var firefoxSeeds: [(path: String, text: String)] {
        guard let program = firefoxProgramFolder else { return [] }
        let profiles = """
            [Profile0]
            Name=default
            IsRelative=1
            Path=\(Self.seed)
            Default=1

            [General]
            StartWithLastProfile=1
            Version=2

            """
        return [
            (
                "\(firefoxSeedProfile)/compatibility.ini",
                "[Compatibility]\nLastPlatformDir=\(program)\n"
            ), ("\(folder)/profiles.ini", profiles),
        ]
    }

    /// The folder of the profile that is made for a Firefox that was never started.
    var firefoxSeedProfile: String { "\(folder)/\(Self.seed)" }

    private static let seed = "dualcam.default"

    var firefoxProfiles: [String] {
        let files = ["profiles.ini", "installs.ini"].map {
            wholeText(of: "\(folder)/\($0)", limit: 1 << 20)
        }
        return FirefoxProfiles.used(profiles: files[0], installs: files[1])
            .map { $0.hasPrefix("/") ? $0 : "\(folder)/\($0)" }.filter(isThere)
    }

    /// The name of this computer.
    static var hostName: String {
        var names = utsname()
        uname(&names)
        return withUnsafeBytes(of: &names.nodename) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Returns the program that uses the profiles in `folder`; `nil` if none does. A browser in a
    /// sandbox counts its processes for itself, so its own lock tells nothing; but what it has open
    /// is seen by its user.
    static func user(of folder: String) -> String? {
        // A home directory may be that of several computers.
        if let lock = linkTarget("\(folder)/SingletonLock"), let cut = lock.lastIndex(of: "-"),
            lock[..<cut] != hostName
        {
            return "the computer \(lock[..<cut])"
        }
        func name(_ process: some StringProtocol) -> String {
            "\(content("/proc/\(process)/comm") ?? "a program") (\(process))"
        }
        // HOST-PROCESS for Chromium, ADDRESS:+PROCESS for Firefox.
        let own = ownProcesses()
        for lock in ["SingletonLock", "lock"].compactMap({ linkTarget("\(folder)/\($0)") }) {
            if let process = lock.split(whereSeparator: { "-:+".contains($0) }).last,
                own.contains(String(process))
            {
                return name(process)
            }
        }
        guard let prefix = resolvedPath(folder).map({ $0 + "/" }) else { return nil }
        return entries(of: "/proc").first { process in
            Int32(process).map { $0 != getpid() } ?? false
                && entries(of: "/proc/\(process)/fd").contains {
                    linkTarget("/proc/\(process)/fd/\($0)")?.hasPrefix(prefix) ?? false
                }
        }.map { name($0) }
    }
}
