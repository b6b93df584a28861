import DBusKit
import Glibc
import Platform

/// Checks all that lies between the stream and the apps: the user's systemd, the camera portal, the
/// browsers. It starts nothing and changes nothing.
struct DesktopCheckup {
    /// The user's home directory; "" if the environment does not name it.
    let home: String
    private let connection: BusConnection?

    init(home: String = getenv("HOME").map { String(cString: $0) } ?? "") {
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

    // MARK: systemd

    /// `true` if the user's systemd takes commands: systemctl(1) reaches it at this socket, with or
    /// without a session bus.
    var runsSystemd: Bool {
        let directory = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        return access("\(directory)/systemd/private", F_OK) == 0
    }

    /// Checks if the daemon starts at login.
    func unitFinding() -> Finding {
        let name = "unit"
        guard connection != nil else { return .unknown(name, "nobody tells without a session bus") }
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
                "dualcamd.service is not enabled, so the camera is not there from login on",
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
            return .bad(name, "the user's systemd does not say: \(error.message)")
        }
    }

    // MARK: The portal

    private static let portal = "org.freedesktop.portal.Desktop"

    /// Checks if the portal, where one runs, has noticed that there is a camera.
    func portalFinding(hasNode: Bool) -> Finding {
        let name = "portal"
        guard connection != nil else { return .unknown(name, "nobody tells without a session bus") }
        let answer = ask(
            "Get",
            of: "org.freedesktop.DBus.Properties",
            at: "/org/freedesktop/portal/desktop",
            on: Self.portal,
            [.string("org.freedesktop.portal.Camera"), .string("IsCameraPresent")]
        )
        guard case .variant(let isPresent)? = (try? answer.get())?.first else {
            return .good(name, "none runs; apps that need it start it")
        }
        guard hasNode, isPresent == .boolean(false) else {
            return .good(name, "it offers cameras to apps")
        }
        return .bad(
            name,
            "the camera portal was there before the camera, and does not see it",
            mendedBy: "systemctl --user restart xdg-desktop-portal"
        )
    }

    /// Checks if an app was once refused the camera, which the portal remembers.
    func refusalFinding() -> Finding {
        let name = "refusals"
        let store = "org.freedesktop.impl.portal.PermissionStore"
        let path = "/org/freedesktop/impl/portal/PermissionStore"
        guard connection != nil else { return .unknown(name, "nobody tells without a session bus") }
        let answer = ask(
            "Lookup",
            of: store,
            at: "/org/freedesktop/impl/portal/PermissionStore",
            on: store,
            [.string("devices"), .string("camera")]
        )
        guard case .dictionary(let apps, _, _)? = (try? answer.get())?.first else {
            return .good(name, "the portal remembers none")
        }
        let refused = apps.filter { $0.value.array?.first == .string("no") }
            .compactMap(\.key.string).sorted()
        guard let app = refused.first else { return .good(name, "the portal remembers none") }
        // An app outside a sandbox has no name there.
        return .bad(
            name,
            "\(app.isEmpty ? "an app without a sandbox" : app) was refused the camera, and stays so",
            mendedBy: "busctl --user call \(store) \(path) \(store) DeletePermission sss devices "
                + "camera \(app.isEmpty ? "''" : app.quotedForShell)"
        )
    }

    // MARK: Browsers

    /// Checks if the browsers in use here look for cameras in PipeWire.
    func browserFinding() -> Finding {
        let name = "browsers"
        let chromiums = ["chromium", "google-chrome"].filter {
            access("\(home)/.config/\($0)/Local State", F_OK) == 0
        }
        let firefoxes = entries(of: "\(home)/.mozilla/firefox").filter {
            access("\(home)/.mozilla/firefox/\($0)/prefs.js", F_OK) == 0
        }
        for browser in chromiums
        where !wholeText(of: "\(home)/.config/\(browser)/Local State").contains(
            "enable-webrtc-pipewire-camera@1"
        ) && !Self.runs(with: "WebRtcPipeWireCamera") {
            return .bad(
                name,
                "\(browser) does not look for cameras in PipeWire",
                mendedBy: "\(browser) chrome://flags/#enable-webrtc-pipewire-camera"
            )
        }
        let preference = "user_pref(\"media.webrtc.camera.allow-pipewire\", true);"
        for profile in firefoxes.sorted() {
            let folder = "\(home)/.mozilla/firefox/\(profile)"
            let isOn = ["prefs.js", "user.js"].contains {
                wholeText(of: "\(folder)/\($0)").contains(preference)
            }
            guard !isOn else { continue }
            return .bad(
                name,
                "Firefox, profile \(profile), does not look for cameras in PipeWire",
                mendedBy: "echo '\(preference)' >>\("\(folder)/user.js".quotedForShell)"
            )
        }
        return chromiums.isEmpty && firefoxes.isEmpty
            ? .good(name, "neither Chromium nor Firefox was used here")
            : .good(name, "they look for cameras in PipeWire")
    }

    /// Returns `true` if a program of this machine runs with `word` in its command line.
    private static func runs(with word: String) -> Bool {
        entries(of: "/proc").contains {
            Int32($0) != nil && wholeText(of: "/proc/\($0)/cmdline").contains(word)
        }
    }
}

/// Returns the whole file as text, or "" if it cannot be read.
func wholeText(of path: String) -> String {
    guard let file = fopen(path, "re") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < 1 << 24 {
        let count = fread(&part, 1, part.count, file)
        guard count > 0 else { break }
        bytes += part[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
}
