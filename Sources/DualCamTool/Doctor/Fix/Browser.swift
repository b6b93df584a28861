import Glibc
import Platform

/// A browser that takes cameras from PipeWire if it is set to.
enum Browser: String, CaseIterable {
    case chromium, chrome, edge, brave, vivaldi, firefox

    /// The name for people.
    var title: String {
        switch self {
        case .chromium: "Chromium"
        case .chrome: "Chrome"
        case .edge: "Edge"
        case .brave: "Brave"
        case .vivaldi: "Vivaldi"
        case .firefox: "Firefox"
        }
    }

    /// The names that its desktop entry has in one distribution or another.
    var desktopEntries: [String] {
        switch self {
        case .chromium: ["chromium", "chromium-browser", "org.chromium.Chromium"]
        case .chrome: ["google-chrome", "com.google.Chrome"]
        case .edge: ["microsoft-edge", "com.microsoft.Edge"]
        case .brave: ["brave-browser", "com.brave.Browser"]
        case .vivaldi: ["vivaldi-stable", "com.vivaldi.Vivaldi"]
        case .firefox: ["firefox", "firefox-esr", "org.mozilla.firefox"]
        }
    }

    /// A folder in which the browser keeps its profiles.
    struct Place: Equatable {
        let browser: Browser
        /// The absolute path of the folder.
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
            guard application != nil else { return browser.title }
            return browser.title + (isSnap ? " (Snap)" : " (Flatpak)")
        }

        /// `true` for a Snap.
        var isSnap: Bool { application?.hasPrefix("snap.") ?? false }

        /// `false` for a Snap that was never started and keeps its profiles in the folder of its
        /// version, which has to be made by Snap itself.
        var takesFiles: Bool {
            guard isNew, let sandbox, folder.hasPrefix("\(sandbox)/current/") else { return true }
            return access("\(sandbox)/current", F_OK) == 0
        }
    }

    /// Returns the folders of profiles of this browser, below the home directory `home`: those that
    /// are there, and those that an installed browser makes when it is first started. `system` is
    /// the root of the file system.
    func places(in home: String, system: String = "") -> [Place] {
        guard home.hasPrefix("/") else { return [] }
        return forms.flatMap { form -> [Place] in
            let root = form.sandbox.map { "\(home)/\($0)" }
            let command = form.command(home, system)
            func place(_ folder: String, isNew: Bool) -> Place {
                Place(
                    browser: self,
                    folder: "\(root ?? home)/\(folder)",
                    sandbox: root,
                    application: form.application,
                    command: command,
                    isNew: isNew
                )
            }
            let used = form.folders.map { place($0, isNew: false) }
                .filter { access("\($0.folder)/\(mark)", F_OK) == 0 }
            guard used.isEmpty, command != nil, let folder = form.folders.first else { return used }
            return [place(folder, isNew: true)]
        }
    }

    /// Returns `true` if this browser is installed for the user with the home directory `home`.
    func isInstalled(in home: String) -> Bool { places(in: home).contains { $0.command != nil } }

    /// The file that is in each folder of profiles.
    private var mark: String { self == .firefox ? "profiles.ini" : "Local State" }

    /// Returns `true` if a process that runs the program at the absolute `path` is this browser's.
    /// Packages, Snaps and Flatpaks have programs of other names.
    func runsAs(_ path: String) -> Bool {
        let words = path.replacing(" (deleted)", with: "").split(separator: "/").map(String.init)
        guard let name = words.last else { return false }
        let folder = words.dropLast().last ?? ""
        return switch self {
        case .chromium:
            ["chromium", "chromium-browser"].contains(name)
                || name == "chrome"
                    && words.contains { $0.hasPrefix("chromium") || $0.hasPrefix("ungoogled-chr") }
        case .chrome:
            name == "chrome" && (words.contains("google") || folder == "extra")
        case .edge: name == "msedge"
        case .brave: name == "brave"
        case .vivaldi: name == "vivaldi-bin" || name == "vivaldi"
        case .firefox: name == "firefox" || name == "firefox-esr"
        }
    }

    /// A form in which the browser is distributed.
    private struct Form {
        /// The places where its profiles may be, below the sandbox or, for a package, the home
        /// directory. The first is the one that it is given where there is none.
        let folders: [String]
        /// The names of a package's program; empty for the others.
        var programs: [String] = []
        var snap: String?
        var flatpak: String?

        /// The folder of the sandbox below the home directory; `nil` for a package.
        var sandbox: String? { snap.map { "snap/\($0)" } ?? flatpak.map { ".var/app/\($0)" } }
        /// The identity that the camera portal knows it by; `nil` for a package.
        var application: String? { snap.map { "snap.\($0)" } ?? flatpak }

        /// Returns the command that starts it; `nil` if it is not installed.
        func command(_ home: String, _ system: String) -> [String]? {
            if let snap {
                let program = "\(system)/snap/bin/\(snap)"
                return access(program, X_OK) == 0 ? [program] : nil
            }
            if let flatpak {
                let isThere = ["\(system)/var/lib/flatpak", "\(home)/.local/share/flatpak"]
                    .contains { access("\($0)/app/\(flatpak)", F_OK) == 0 }
                return isThere ? ["flatpak", "run", flatpak] : nil
            }
            return programs.first { name in
                // Ubuntu's packages chromium-browser and firefox only start the Snap.
                Program.path(of: name).map { !Self.startsSnap($0) } ?? false
            }.map { [$0] }
        }

        private static func startsSnap(_ path: String) -> Bool {
            guard let target = resolvedPath(path) else { return false }
            if target.hasPrefix("/snap/") || target.hasSuffix("/snap") { return true }
            // A script is short.
            guard let bytes = try? readFile(target, limit: 1 << 14), bytes.starts(with: "#!".utf8)
            else { return false }
            return bytes.firstRange(of: Array("/snap/bin/".utf8)) != nil
        }

        static func package(_ programs: [String], _ folders: String...) -> Form {
            Form(folders: folders, programs: programs)
        }

        static func snap(_ name: String, _ folder: String) -> Form {
            Form(folders: [folder], snap: name)
        }

        static func flatpak(_ name: String, _ folders: String...) -> Form {
            Form(folders: folders, flatpak: name)
        }
    }

    /// The forms in which it is distributed: packages, Snaps, Flatpaks.
    private var forms: [Form] {
        switch self {
        case .chromium:
            let free = "io.github.ungoogled_software.ungoogled_chromium"
            return [
                .package(["chromium", "chromium-browser"], ".config/chromium"),
                .snap("chromium", "common/chromium"),
                .flatpak("org.chromium.Chromium", "config/chromium"),
                .flatpak(free, "config/chromium"),
            ]
        case .chrome:
            return [
                .package(["google-chrome-stable", "google-chrome"], ".config/google-chrome"),
                .package(["google-chrome-beta"], ".config/google-chrome-beta"),
                .package(["google-chrome-unstable"], ".config/google-chrome-unstable"),
                .flatpak("com.google.Chrome", "config/google-chrome"),
            ]
        case .edge:
            return [
                .package(["microsoft-edge-stable", "microsoft-edge"], ".config/microsoft-edge"),
                .package(["microsoft-edge-beta"], ".config/microsoft-edge-beta"),
                .package(["microsoft-edge-dev"], ".config/microsoft-edge-dev"),
                .flatpak("com.microsoft.Edge", "config/microsoft-edge"),
            ]
        case .brave:
            let folder = "BraveSoftware/Brave-Browser"
            return [
                .package(["brave-browser", "brave"], ".config/\(folder)"),
                .snap("brave", "current/.config/\(folder)"),
                .flatpak("com.brave.Browser", "config/\(folder)"),
            ]
        case .vivaldi:
            return [
                .package(["vivaldi-stable", "vivaldi"], ".config/vivaldi"),
                .snap("vivaldi", "current/.config/vivaldi"),
                .flatpak("com.vivaldi.Vivaldi", "config/vivaldi"),
            ]
        case .firefox:
            // Versions from 147 on use the second where the first is not there.
            return [
                .package(
                    ["firefox", "firefox-esr"],
                    ".mozilla/firefox",
                    ".config/mozilla/firefox"
                ),
                .snap("firefox", "common/.mozilla/firefox"),
                .flatpak("org.mozilla.firefox", ".mozilla/firefox", "config/mozilla/firefox"),
            ]
        }
    }
}

extension Browser.Place {
    /// The folder of the program files of Firefox, by which it knows a profile as its own; `nil` if
    /// it is not found.
    var firefoxProgramFolder: String? {
        // As its launcher in the Flatpak has it.
        if application != nil { return isSnap ? "/snap/firefox/current" : "/app/lib/firefox" }
        var folders: [String] = []
        if let path = command.flatMap({ Program.path(of: $0[0]) }),
            let program = resolvedPath(path)
        {
            folders.append(Platform.folder(of: program))
        }
        // A script starts it in some distributions: firefox that of firefox-esr in Debian.
        for name in ["firefox", "firefox-esr"] {
            folders += ["/usr/lib/\(name)", "/usr/lib64/\(name)", "/opt/\(name)"]
        }
        return folders.first { access("\($0)/application.ini", F_OK) == 0 }
    }

    /// The files from which a Firefox that was never started makes its first profile, with their
    /// contents, in an order in which an interruption leaves none that is used in part.
    ///
    /// It takes a profile for its own that is the default, and whose `compatibility.ini` names its
    /// program folder.
    var firefoxSeeds: [(path: String, text: String)] {
        guard let program = firefoxProgramFolder else { return [] }
        return [
            (
                "\(firefoxSeedProfile)/compatibility.ini",
                "[Compatibility]\nLastPlatformDir=\(program)\n"
            ),
            (
                "\(folder)/profiles.ini",
                """
                [Profile0]
                Name=default
                IsRelative=1
                Path=\(Self.seed)
                Default=1

                [General]
                StartWithLastProfile=1
                Version=2

                """
            ),
        ]
    }

    /// The folder of the profile that is made for a Firefox that was never started.
    var firefoxSeedProfile: String { "\(folder)/\(Self.seed)" }

    private static let seed = "dualcam.default"

    /// The folders of the profiles that Firefox uses here.
    var firefoxProfiles: [String] {
        func text(_ name: String) -> String {
            wholeText(of: "\(folder)/\(name)", limit: 1 << 20)
        }
        return FirefoxProfiles.used(profiles: text("profiles.ini"), installs: text("installs.ini"))
            .map { $0.hasPrefix("/") ? $0 : "\(folder)/\($0)" }
            .filter { access($0, F_OK) == 0 }
    }

    /// The name of this computer.
    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the program that uses the profiles in `folder`; `nil` if none does.
    ///
    /// A browser in a sandbox counts its processes for itself, so its own lock tells nothing; but
    /// what it has open is seen by its user.
    static func user(of folder: String) -> String? {
        // A home directory may be that of several computers.
        if let lock = linkTarget("\(folder)/SingletonLock"), let cut = lock.lastIndex(of: "-"),
            lock[..<cut] != hostName
        {
            return "the computer \(lock[..<cut])"
        }
        // HOST-PROCESS for Chromium, ADDRESS:+PROCESS for Firefox.
        for name in ["SingletonLock", "lock"] {
            guard let lock = linkTarget("\(folder)/\(name)"),
                let process = lock.split(whereSeparator: { "-:+".contains($0) }).last,
                Int32(process) != nil
            else { continue }
            var status = stat()
            if stat("/proc/\(process)", &status) == 0, status.st_uid == geteuid(),
                let name = content("/proc/\(process)/comm")
            {
                return "\(name) (\(process))"
            }
        }
        guard let prefix = resolvedPath(folder).map({ $0 + "/" }) else { return nil }
        for process in entries(of: "/proc") where Int32(process).map({ $0 != getpid() }) ?? false {
            for number in entries(of: "/proc/\(process)/fd") {
                guard let file = linkTarget("/proc/\(process)/fd/\(number)"), file.hasPrefix(prefix)
                else {
                    continue
                }
                return "\(content("/proc/\(process)/comm") ?? "a program") (\(process))"
            }
        }
        return nil
    }
}
