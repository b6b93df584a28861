import Control
import DBusKit
import Glibc
import Platform

/// Checks all that lies between the stream and the apps: the user's systemd, the camera portal, the
/// browsers. It starts nothing but the portal's store, to ask it, and changes nothing.
package struct DesktopCheckup {
    /// The user's home directory; "" if the environment does not name it.
    let home: String
    private let connection: BusConnection?
    package let permissions: CameraPermissions

    init() {
        self.init(
            home: environmentVariable("HOME") ?? "",
            connection: (try? Client())?.connection
        )
    }

    /// The desktop of the user with this home directory and this session bus.
    init(home: String, connection: BusConnection? = nil) {
        self.home = home
        self.connection = connection
        permissions = CameraPermissions(connection: connection)
    }

    /// Returns the reply of a running service, or its error; `nil` without a session bus.
    private func ask(
        _ service: String,
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        _ arguments: String...
    ) -> Result<[Value], DBusError>? {
        guard let connection else { return nil }
        let call = MethodCall(
            member,
            of: interface,
            at: path,
            on: service,
            arguments.map { .string($0) },
            startsService: false,
            timeout: Client.defaultTimeout
        )
        return Result { () throws(DBusError) in try connection.call(call) }
    }

    /// The folder of the user's configuration files: $XDG_CONFIG_HOME, or ~/.config.
    var configurationFolder: String { BaseDirectory.configuration.path(in: home) }

    /// Checks if the daemon starts at login.
    var unitFinding: Finding {
        let systemd = "org.freedesktop.systemd1"
        let unit = "dualcamd.service"
        switch ask(
            systemd,
            "/org/freedesktop/systemd1",
            "\(systemd).Manager",
            "GetUnitFileState",
            unit
        ) {
        case nil: return .withoutBus
        case .success(let values):
            let state = values.first?.string ?? ""
            if state.hasPrefix("masked") {
                return .bad("\(unit) is masked", "systemctl --user unmask dualcamd")
            }
            return state != "disabled"
                ? .good("\(unit) is \(state)")
                : .bad(
                    "\(unit) is not enabled, so the camera is not there after you log in",
                    "systemctl --user enable --now dualcamd"
                )
        case .failure(let error):
            switch error.name.split(separator: ".").last {
            case "NoSuchUnit", "FileNotFound":
                return .bad(
                    "the user's systemd does not know \(unit)",
                    "systemctl --user daemon-reload"
                )
            case "ServiceUnknown", "NameHasNoOwner": return .good("no systemd runs this session")
            default: return .bad("cannot ask the user's systemd: \(error.message)")
            }
        }
    }

    // MARK: The portal

    /// Checks if the portal, where one runs, has noticed that there is a camera.
    func portalFinding(hasNode: Bool) -> Finding {
        let portal = "org.freedesktop.portal"
        let answer = ask(
            "\(portal).Desktop",
            "/org/freedesktop/portal/desktop",
            "org.freedesktop.DBus.Properties",
            "Get",
            "\(portal).Camera",
            "IsCameraPresent"
        )
        guard let answer else { return .withoutBus }
        guard case .variant(let isPresent)? = (try? answer.get())?.first else {
            return .good("none is running; apps that need it start it")
        }
        return hasNode && isPresent == .boolean(false)
            ? .bad(
                "the camera portal started before the camera, and does not see it",
                "systemctl --user restart xdg-desktop-portal"
            ) : .good("it offers cameras to apps")
    }

    /// The applications that the portal refuses the camera; `nil` if its store does not answer.
    var refused: [String]? {
        (try? permissions.stored())?.filter { $0.value.first == "no" }.keys.sorted()
    }

    /// Checks if an app was once refused the camera, which the portal remembers.
    var refusalFinding: Finding {
        guard connection != nil else { return .withoutBus }
        guard let refused else {
            return .unknown("cannot be checked without the portal's permission store")
        }
        guard let app = refused.first else { return .good("the portal remembers none") }
        // An app outside a sandbox has no name there.
        let name = app.isEmpty ? "an app outside a sandbox" : app
        return .bad(
            "\(name) was refused the camera, and the portal remembers this",
            "dualcamctl doctor --fix refusals"
        )
    }

    /// The identities by which portals know the browsers that are here, each with the browser's
    /// name: what needs a permission to get the camera without a question.
    var identities: [(application: String, title: String)] {
        Browser.allCases.flatMap { $0.places(in: home) }.compactMap { place in
            place.application.map { ($0, place.title) }
        } + packaged
    }

    /// The identities of the unsandboxed browsers: one for each name, "" if the portal knows none.
    private var packaged: [(application: String, title: String)] {
        let browsers = Browser.allCases.filter { browser in
            browser.places(in: home).contains { $0.application == nil }
        }
        guard !browsers.isEmpty else { return [] }
        return [("", "")]
            + browsers.flatMap { browser in
                browser.desktopEntries.filter { Self.desktopEntry($0) != nil }
                    .map { ($0, browser.title) }
            }
    }

    /// Returns the path of the system's desktop entry `name`; `nil` if there is none.
    private static func desktopEntry(_ name: String) -> String? {
        dataFolders.map { "\($0)/applications/\(name).desktop" }.first(where: isThere)
    }

    /// The folders of the system's data files: $XDG_DATA_DIRS, the first first.
    private static var dataFolders: [String] {
        (nonemptyVariable("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share")
            .split(separator: ":").map(String.init)
    }

    /// `true` if a browser that is here has no permission for the camera, and could be given one.
    package var isAccessMissing: Bool {
        guard let stored = try? permissions.stored() else { return false }
        return identities.contains { stored[$0.application] != CameraPermissions.granted }
    }

    /// The identities by which the portal knows the packaged browsers here, as the end of a
    /// sentence; "" if there are none, or its version is not known.
    private var portalIdentities: String {
        let names = packaged.map(\.application).filter { !$0.isEmpty }
        guard !packaged.isEmpty, let version = PortalVersion.installed(in: Self.dataFolders) else {
            return ""
        }
        guard version.knowsNames else {
            return
                "; portal \(version.text) treats all apps outside a sandbox as one, without a name"
        }
        guard !names.isEmpty else { return "" }
        let list = names.joined(separator: ", ")
        return "; portal \(version.text) knows them by name (\(list)) if the desktop starts them"
    }

    /// Checks if browsers get the camera without a question. GNOME refuses browsers that ask from a
    /// process without a window, as Chromium and its kin do, and nobody remembers that.
    var accessFinding: Finding {
        guard connection != nil else { return .withoutBus }
        let stored = (try? permissions.stored()) ?? [:]
        let isGranted = identities.allSatisfy {
            stored[$0.application] == CameraPermissions.granted
        }
        if isGranted, !identities.isEmpty {
            return .good("browsers may use cameras without asking you\(portalIdentities)")
        }
        let kin = Browser.allCases.first { $0 != .firefox && !$0.places(in: home).isEmpty }
        let desktop = environmentVariable("XDG_CURRENT_DESKTOP") ?? ""
        guard let kin, desktop.split(separator: ":").contains("GNOME") else {
            return .good("the desktop asks when an app first wants a camera\(portalIdentities)")
        }
        return .bad(
            "GNOME may refuse \(kin.title) the camera without asking you\(portalIdentities)",
            "dualcamctl doctor --fix access"
        )
    }

    // MARK: Browsers

    /// Checks if the browsers that are here look for cameras in PipeWire, one finding each.
    func browserFindings() -> [Finding] {
        let findings = Browser.allCases.compactMap { browser in
            browserFinding(browser)?.named(browser.rawValue)
        }
        let none = Finding.good("no browser that can use PipeWire cameras is installed")
        return findings.isEmpty ? [none.named("browsers")] : findings
    }

    /// Checks if `browser` looks for cameras in PipeWire; `nil` if it is not here.
    private func browserFinding(_ browser: Browser) -> Finding? {
        let places = browser.places(in: home)
        guard !places.isEmpty else { return nil }
        // However it was started, it has the switch.
        if Self.runs(browser, with: BrowserSwitch.feature) {
            return .good("\(browser.title) runs with \(BrowserSwitch.word)")
        }
        for step in browserSteps(places) {
            do throws(Failure) {
                let (before, after) = try step.contents()
                guard before != after else { continue }
            } catch {
                return .bad(error.message)
            }
            return .bad(
                "\(step.title) does not look for cameras in PipeWire",
                "dualcamctl doctor --fix \(browser.rawValue)"
            )
        }
        if browser == .edge, places.allSatisfy({ $0.application == nil }) {
            return places.flatMap(edgeEntries).isEmpty
                ? .bad(
                    "Edge has no setting for cameras in PipeWire; start it with "
                        + BrowserSwitch.word
                ) : .good("Edge looks for cameras in PipeWire if the desktop starts it")
        }
        let untouched = places.first { $0.isNew && browserSteps([$0]).isEmpty }
        if browser != .edge, let untouched {
            return .bad("\(untouched.title) was never started; start it once, and close it")
        }
        // A folder of profiles may be left of a browser that was removed, or be lost.
        if browser == .firefox, let place = places.first(where: { !$0.isNew }),
            places.allSatisfy(\.firefoxProfiles.isEmpty)
        {
            return .bad(
                "\(place.title) has no profile in \(place.folder); start it once, and close it"
            )
        }
        return .good("\(browser.title) looks for cameras in PipeWire")
    }

    /// Returns the changes after which the browsers with profiles in `places` look for cameras in
    /// PipeWire. Edge drops experiments that it does not know, but takes the switch.
    func browserSteps(_ places: [Browser.Place]) -> [FileStep] {
        places.flatMap { place -> [FileStep] in
            func step(_ path: String, _ form: FileForm, _ text: String? = nil) -> FileStep {
                FileStep(
                    title: place.title,
                    path: path,
                    home: place.sandbox,
                    form: form,
                    content: text.map { Array($0.utf8) },
                    closed: form == .chromiumFlags ? place.folder : nil,
                    makesFolders: place.isNew || form == .switches
                )
            }
            switch place.browser {
            case .edge:
                return place.sandbox.map { [step("\($0)/config/edge-flags.conf", .switches)] }
                    ?? edgeSteps(place)
            case _ where !place.takesFiles: return []
            case .firefox where place.isNew:
                let seeds = place.firefoxSeeds.map { step($0.path, .seed, $0.text) }
                let preferences = "\(place.firefoxSeedProfile)/user.js"
                return seeds.isEmpty ? [] : [step(preferences, .firefoxPreferences)] + seeds
            case .firefox:
                return place.firefoxProfiles.filter { !FirefoxPreferences.areSet(in: $0) }
                    .map { step("\($0)/user.js", .firefoxPreferences) }
            default: return [step("\(place.folder)/Local State", .chromiumFlags)]
            }
        }
    }

    /// The desktop entries that start the Edge with profiles in `place`: the user's, which the
    /// desktop prefers, and the system's.
    private func edgeEntries(_ place: Browser.Place) -> [(own: String, system: String?)] {
        let name = fileName(of: place.folder)
        // That of the stable channel has two names.
        let names = [name] + (name == "microsoft-edge" ? ["com.microsoft.Edge"] : [])
        return names.compactMap { name in
            let own = "\(BaseDirectory.data.path(in: home))/applications/\(name).desktop"
            let system = Self.desktopEntry(name)
            // Flatpak's entry of this name starts another Edge.
            guard let used = isThere(own) ? own : system,
                !wholeText(of: used).contains("flatpak run")
            else { return nil }
            return (own, system)
        }
    }

    /// Returns `true` if the Edge with profiles in `place` is started with the switch.
    func startsEdge(with place: Browser.Place) -> Bool {
        let isKnown = place.sandbox != nil || !edgeEntries(place).isEmpty
        return isKnown && browserSteps([place]).allSatisfy(\.isDone)
    }

    /// Returns the changes after which the packaged Edge with profiles in `place` starts with the
    /// switch: of the user's desktop entry, or of a copy of the system's.
    private func edgeSteps(_ place: Browser.Place) -> [FileStep] {
        edgeEntries(place).compactMap { own, system in
            let text =
                isThere(own) ? nil : system.flatMap { try? readFile($0, limit: FixedFile.limit) }
            let content = text.flatMap { try? FileForm.desktopEntry.fixed($0) }
            if text != nil, content == text { return nil }
            return FileStep(
                title: place.title,
                path: own,
                form: .desktopEntry,
                content: content,
                makesFolders: true
            )
        }
    }

    /// Returns `true` if this user runs `browser` with `word` in its command line.
    static func runs(_ browser: Browser, with word: String) -> Bool {
        ownProcesses().contains { process in
            linkTarget("/proc/\(process)/exe").map(browser.runsAs) ?? false
                && wholeText(of: "/proc/\(process)/cmdline").contains(word)
        }
    }
}

/// The version of the desktop's portal: it decides how apps outside a sandbox are identified.
struct PortalVersion {
    let numbers: [Int]

    /// The version as text: "1.20.3".
    var text: String { numbers.map(String.init).joined(separator: ".") }

    /// Reads what the portal's program says: "xdg-desktop-portal 1.20.3"; `nil` for other words.
    init?(_ words: String) {
        guard let found = words.prefixMatch(of: /xdg-desktop-portal\s+(\d+(?:\.\d+){1,3})(?:\s|$)/)
        else { return nil }
        numbers = found.1.split(separator: ".").compactMap { Int($0) }
        guard numbers.count == found.1.split(separator: ".").count else { return nil }
    }

    /// `true` if an app is known by the name of its desktop entry, as far as the desktop has
    /// started it or it has said its name. `false` if all apps outside a sandbox are one, without a
    /// name: in versions before 1.14, and for cameras from 1.19.2 until 1.21.
    var knowsNames: Bool {
        func isBefore(_ other: [Int]) -> Bool { numbers.lexicographicallyPrecedes(other) }
        return !isBefore([1, 14]) && (isBefore([1, 19, 2]) || !isBefore([1, 21]))
    }

    /// Returns the version of the portal that the session bus starts by the service file in one of
    /// `folders`, the first first; `nil` if there is none, or it does not say.
    static func installed(in folders: [String]) -> PortalVersion? {
        let file = "dbus-1/services/org.freedesktop.portal.Desktop.service"
        let path = folders.map { folder -> String in "\(folder)/\(file)" }.first {
            access($0, R_OK) == 0
        }
        // Another program may take the word for something else.
        guard let path,
            let line = wholeText(of: path).firstMatch(
                of: /(?m)^Exec=(\/(?:[^ \n]*\/)?xdg-desktop-portal)(?: |$)/
            )
        else { return nil }
        return Program.output(of: [String(line.1), "--version"]).flatMap(PortalVersion.init)
    }
}
