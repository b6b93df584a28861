import DBusKit
import Glibc
import Platform

/// Checks all that lies between the stream and the apps: the user's systemd, the camera portal, the
/// browsers. It starts nothing and changes nothing.
struct DesktopCheckup {
    /// The user's home directory; "" if the environment does not name it.
    let home: String
    let connection: BusConnection?

    init(home: String = environmentVariable("HOME") ?? "") {
        self.home = home
        connection = (try? Client())?.connection
    }

    /// Returns the reply of a running service, or the reason why there is none.
    private func ask(
        _ member: String,
        of interface: String,
        at path: ObjectPath,
        on service: String,
        _ arguments: [Value]
    ) -> Result<[Value], DBusError> {
        guard let connection else { return .failure(.failed("there is no session bus")) }
        let call = MethodCall(
            member,
            of: interface,
            at: path,
            on: service,
            arguments,
            startsService: false,
            timeout: Client.defaultTimeout
        )
        return Result { () throws(DBusError) in try connection.call(call) }
    }

    /// The folder of the user's configuration files: $XDG_CONFIG_HOME, or ~/.config.
    var configurationFolder: String { BaseDirectory.configuration.path(in: home) }

    // MARK: systemd

    /// `true` if the user's systemd takes commands: systemctl(1) reaches it at this socket, with or
    /// without a session bus.
    var runsSystemd: Bool {
        let directory = environmentVariable("XDG_RUNTIME_DIR") ?? ""
        return access("\(directory)/systemd/private", F_OK) == 0
    }

    /// Checks if the daemon starts at login.
    func unitFinding() -> Finding {
        let name = "unit"
        guard connection != nil else {
            return .unknown(name, "cannot be checked without a session bus")
        }
        let answer = ask(
            "GetUnitFileState",
            of: "org.freedesktop.systemd1.Manager",
            at: "/org/freedesktop/systemd1",
            on: "org.freedesktop.systemd1",
            [.string("dualcamd.service")]
        )
        switch answer {
        case .success(let values):
            let state = values.first?.string ?? ""
            if state.hasPrefix("masked") {
                return .bad(
                    name,
                    "dualcamd.service is masked",
                    mendedBy: "systemctl --user unmask dualcamd"
                )
            }
            guard state == "disabled" else { return .good(name, "dualcamd.service is \(state)") }
            return .bad(
                name,
                "dualcamd.service is not enabled, so the camera is not there after you log in",
                mendedBy: "systemctl --user enable --now dualcamd"
            )
        case .failure(let error)
        where error.name.hasSuffix(".NoSuchUnit")
            || error.name.hasSuffix(".FileNotFound"):
            return .bad(
                name,
                "the user's systemd does not know dualcamd.service",
                mendedBy: "systemctl --user daemon-reload"
            )
        case .failure(let error)
        where error.name.hasSuffix(".ServiceUnknown")
            || error.name.hasSuffix(".NameHasNoOwner"):
            return .good(name, "no systemd runs this session")
        case .failure(let error):
            return .bad(name, "cannot ask the user's systemd: \(error.message)")
        }
    }

    // MARK: The portal

    private static let portal = "org.freedesktop.portal.Desktop"

    /// Checks if the portal, where one runs, has noticed that there is a camera.
    func portalFinding(hasNode: Bool) -> Finding {
        let name = "portal"
        guard connection != nil else {
            return .unknown(name, "cannot be checked without a session bus")
        }
        let answer = ask(
            "Get",
            of: "org.freedesktop.DBus.Properties",
            at: "/org/freedesktop/portal/desktop",
            on: Self.portal,
            [.string("org.freedesktop.portal.Camera"), .string("IsCameraPresent")]
        )
        guard case .variant(let isPresent)? = (try? answer.get())?.first else {
            return .good(name, "none is running; apps that need it start it")
        }
        guard hasNode, isPresent == .boolean(false) else {
            return .good(name, "it offers cameras to apps")
        }
        return .bad(
            name,
            "the camera portal started before the camera, and does not see it",
            mendedBy: "systemctl --user restart xdg-desktop-portal"
        )
    }

    /// The camera permissions that the portal stores.
    var permissions: CameraPermissions { CameraPermissions(connection: connection) }

    /// The applications that the portal refuses the camera, by its store; empty without one.
    var refused: [String] {
        let stored = (try? permissions.stored(startsService: false)) ?? [:]
        return stored.filter { $0.value.first == "no" }.keys.sorted()
    }

    /// Checks if an app was once refused the camera, which the portal remembers.
    func refusalFinding() -> Finding {
        let name = "refusals"
        guard connection != nil else {
            return .unknown(name, "cannot be checked without a session bus")
        }
        guard let app = refused.first else { return .good(name, "the portal remembers none") }
        // An app outside a sandbox has no name there.
        return .bad(
            name,
            "\(app.isEmpty ? "an app outside a sandbox" : app) was refused the camera, and the portal remembers this",
            mendedBy: "dualcamctl doctor --fix refusals"
        )
    }

    /// The permissions with which the browsers that are here get the camera without a
    /// question: the identities by which portals know them.
    var browserPermissions: [FixStep] {
        Browser.allCases.flatMap { $0.places(in: home) }.compactMap { place in
            place.application.map { .permission(application: $0, title: place.title) }
        } + packagedPermissions
    }

    /// The permissions of the browsers outside a sandbox: one for those that the portal knows no
    /// name of, and one for each name.
    private var packagedPermissions: [FixStep] {
        let packaged = Browser.allCases.filter { browser in
            browser.places(in: home).contains { $0.application == nil }
        }
        guard !packaged.isEmpty else { return [] }
        return [.permission(application: "", title: "")]
            + packaged.flatMap { browser in
                browser.desktopEntries.filter { Self.desktopEntry($0) != nil }.map {
                    .permission(application: $0, title: browser.title)
                }
            }
    }

    /// Returns the path of the system's desktop entry `name`; `nil` if there is none.
    private static func desktopEntry(_ name: String) -> String? {
        dataFolders.map { "\($0)/applications/\(name).desktop" }.first { access($0, F_OK) == 0 }
    }

    /// The folders of the system's data files: $XDG_DATA_DIRS, the first first.
    private static var dataFolders: [String] {
        (nonemptyVariable("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share")
            .split(separator: ":").map(String.init)
    }

    /// The folder of the user's data files: $XDG_DATA_HOME, or ~/.local/share.
    private var ownDataFolder: String { BaseDirectory.data.path(in: home) }

    /// `true` if a browser that is here has no permission for the camera, and could be given one.
    var isAccessMissing: Bool {
        guard let stored = try? permissions.stored() else { return false }
        return browserPermissions.contains { step in
            guard case .permission(let application, _) = step else { return false }
            return stored[application] != CameraPermissions.granted
        }
    }

    /// The identities by which the portal knows the packaged browsers here, as the end of a
    /// sentence; "" if there are none, or its version is not known.
    private var identities: String {
        var names: [String] = []
        var isAny = false
        for case .permission(let application, _) in packagedPermissions {
            if application.isEmpty { isAny = true } else { names.append(application) }
        }
        guard isAny, let version = PortalVersion.installed(in: Self.dataFolders) else { return "" }
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
    func accessFinding() -> Finding {
        let name = "access"
        guard connection != nil else {
            return .unknown(name, "cannot be checked without a session bus")
        }
        let stored = (try? permissions.stored(startsService: false)) ?? [:]
        let kin = Browser.allCases.filter { $0 != .firefox && !$0.places(in: home).isEmpty }
        let desktop = environmentVariable("XDG_CURRENT_DESKTOP") ?? ""
        let isGranted = browserPermissions.allSatisfy { step in
            guard case .permission(let application, _) = step else { return true }
            return stored[application] == CameraPermissions.granted
        }
        if isGranted, !browserPermissions.isEmpty {
            return .good(name, "browsers may use cameras without asking you\(identities)")
        }
        guard let first = kin.first, desktop.split(separator: ":").contains("GNOME") else {
            return .good(name, "the desktop asks when an app first wants a camera\(identities)")
        }
        return .bad(
            name,
            "GNOME may refuse \(first.title) the camera without asking you\(identities)",
            mendedBy: "dualcamctl doctor --fix access"
        )
    }

    // MARK: Browsers

    /// Checks if the browsers that are here look for cameras in PipeWire, one finding each.
    func browserFindings() -> [Finding] {
        let findings = Browser.allCases.compactMap(browserFinding)
        return findings.isEmpty
            ? [.good("browsers", "no browser that can use PipeWire cameras is installed")]
            : findings
    }

    /// Checks if `browser` looks for cameras in PipeWire; `nil` if it is not here.
    private func browserFinding(_ browser: Browser) -> Finding? {
        let places = browser.places(in: home)
        guard !places.isEmpty else { return nil }
        let name = browser.rawValue
        // However it was started, it has the switch.
        if Self.runs(browser, with: "WebRtcPipeWireCamera") {
            return .good(
                name,
                "\(browser.title) runs with --enable-features=WebRtcPipeWireCamera"
            )
        }
        for step in browserSteps(places) {
            do throws(Failure) {
                let (before, after) = try step.contents()
                guard before != after else { continue }
            } catch {
                return .bad(name, error.message)
            }
            return .bad(
                name,
                "\(step.title) does not look for cameras in PipeWire",
                mendedBy: "dualcamctl doctor --fix \(name)"
            )
        }
        if browser != .edge,
            let place = places.first(where: { browserSteps([$0]).isEmpty && $0.isNew })
        {
            return .bad(name, "\(place.title) was never started; start it once, and close it")
        }
        if browser == .edge, places.allSatisfy({ $0.application == nil }) {
            guard !places.flatMap(edgeEntries).isEmpty else {
                return .bad(
                    name,
                    "Edge has no setting for cameras in PipeWire; start it with "
                        + BrowserSwitch.word
                )
            }
            return .good(name, "Edge looks for cameras in PipeWire if the desktop starts it")
        }
        return .good(name, "\(browser.title) looks for cameras in PipeWire")
    }

    /// Returns the changes after which the browsers with profiles in `places` look for cameras in
    /// PipeWire. Edge drops experiments that it does not know, but takes the switch.
    func browserSteps(_ places: [Browser.Place]) -> [FileStep] {
        places.flatMap { place -> [FileStep] in
            switch place.browser {
            case .edge: edgeSteps(place)
            case _ where !place.takesFiles: []
            case .firefox where place.isNew:
                Self.firstProfile(place)
            case .firefox:
                place.firefoxProfiles.filter { !Self.isOn(in: $0) }.map { profile in
                    FileStep(
                        title: place.title,
                        path: "\(profile)/user.js",
                        home: place.sandbox,
                        form: .firefoxPreferences
                    )
                }
            default:
                [
                    FileStep(
                        title: place.title,
                        path: "\(place.folder)/Local State",
                        home: place.sandbox,
                        form: .chromiumFlags,
                        closed: place.folder,
                        makesFolders: place.isNew
                    )
                ]
            }
        }
    }

    /// The desktop entries that start the Edge with profiles in `place`: the user's, which the
    /// desktop prefers, and the system's.
    private func edgeEntries(_ place: Browser.Place) -> [(own: String, system: String?)] {
        guard let folder = place.folder.split(separator: "/").last.map(String.init) else {
            return []
        }
        // That of the stable channel has two names.
        let names = [folder] + (folder == "microsoft-edge" ? ["com.microsoft.Edge"] : [])
        return names.compactMap { name in
            let own = "\(ownDataFolder)/applications/\(name).desktop"
            let system = Self.desktopEntry(name)
            let used = access(own, F_OK) == 0 ? own : system
            // Flatpak's entry of this name starts another Edge.
            guard let used, !wholeText(of: used).contains("flatpak run") else { return nil }
            return (own, system)
        }
    }

    /// Returns `true` if the Edge with profiles in `place` is started with the switch.
    func startsEdge(with place: Browser.Place) -> Bool {
        let isKnown = place.sandbox != nil || !edgeEntries(place).isEmpty
        return isKnown && edgeSteps(place).allSatisfy(\.isDone)
    }

    /// Returns the changes after which the Edge with profiles in `place` starts with the switch.
    private func edgeSteps(_ place: Browser.Place) -> [FileStep] {
        if let sandbox = place.sandbox {
            return [
                FileStep(
                    title: place.title,
                    path: "\(sandbox)/config/edge-flags.conf",
                    home: sandbox,
                    form: .switches,
                    makesFolders: true
                )
            ]
        }
        return edgeEntries(place).compactMap { own, system in
            let isOwn = access(own, F_OK) == 0
            let text = isOwn ? nil : system.flatMap { try? readFile($0, limit: FixedFile.limit) }
            if let text, (try? BrowserSwitch.isSet(in: text, .entry)) == true { return nil }
            return FileStep(
                title: place.title,
                path: own,
                form: .desktopEntry,
                content: text.flatMap { try? BrowserSwitch.setting(in: $0, .entry) },
                makesFolders: true
            )
        }
    }

    /// Returns the changes that give a Firefox which was never started its first profile, with the
    /// preference.
    private static func firstProfile(_ place: Browser.Place) -> [FileStep] {
        func step(_ path: String, _ form: FileForm, _ text: String?) -> FileStep {
            FileStep(
                title: place.title,
                path: path,
                home: place.sandbox,
                form: form,
                content: text.map { Array($0.utf8) },
                makesFolders: true
            )
        }
        let seeds = place.firefoxSeeds.map { step($0.path, .seed, $0.text) }
        guard !seeds.isEmpty else { return [] }
        return [step("\(place.firefoxSeedProfile)/user.js", .firefoxPreferences, nil)] + seeds
    }

    /// `true` if a person set the preference in the Firefox profile `folder`, in `about:config`.
    private static func isOn(in folder: String) -> Bool {
        func value(_ name: String) -> String? {
            guard let bytes = try? readFile("\(folder)/\(name)", limit: FixedFile.limit) else {
                return nil
            }
            return (try? FirefoxPreferences(bytes))?.value(of: FirefoxPreferences.camera)
        }
        // What is in user.js counts at each start.
        return (value("user.js") ?? value("prefs.js")) == "true"
    }

    /// Returns `true` if this user runs `browser` with `word` in its command line.
    static func runs(_ browser: Browser, with word: String) -> Bool {
        ownProcesses().contains { process in
            linkTarget("/proc/\(process)/exe").map(browser.runsAs) ?? false
                && wholeText(of: "/proc/\(process)/cmdline").contains(word)
        }
    }
}

/// Returns the numbers of this user's processes, as /proc names them.
func ownProcesses() -> [String] {
    entries(of: "/proc").filter { process in
        var status = stat()
        return Int32(process) != nil && stat("/proc/\(process)", &status) == 0
            && status.st_uid == geteuid()
    }
}
