import Control
import DBusKit
import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import Doctor
@testable import DualCamTool

func expect(
    _ text: String,
    says words: String,
    sourceLocation: SourceLocation = #_sourceLocation
) { #expect(text.contains(words), "\(words) in\n\(text)", sourceLocation: sourceLocation) }

@Suite("dualcamctl doctor --fix", .timeLimit(.minutes(5)))
struct FixTests {
    private let user: User

    init() throws { user = try User() }

    /// A user with a home directory, in a session without a daemon.
    private final class User {
        let session: PrivateSession
        /// The additions to the environment of doctor.
        var variables: [String: String] = [:]
        var home: String { "\(session.directory)/home" }

        init() throws {
            session = try PrivateSession([.bus])
        }

        func path(_ name: String) -> String { "\(home)/\(name)" }

        func write(_ text: String, _ name: String, mode: Int = 0o600) throws {
            try put(text, at: path(name), mode: mode)
        }

        func text(_ name: String) throws -> String {
            try String(contentsOfFile: path(name), encoding: .utf8)
        }

        /// The kind, permissions and content of everything in the home directory, but for what
        /// belongs to DualCam's own state.
        func everything() throws -> [String: String] {
            var result: [String: String] = [:]
            for case let name as String in FileManager.default.enumerator(atPath: home) ?? .init()
            where name != ".local" && !name.hasPrefix(".local/state") {
                var status = stat()
                #expect(lstat(path(name), &status) == 0)
                let bytes = try? readFile(path(name), limit: 1 << 20)
                let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path(name))
                result[name] =
                    "\(String(status.st_mode, radix: 8)) \(bytes.map { "\($0)" } ?? "-")"
                    + (link ?? "")
            }
            return result
        }

        /// Programs that take the place of the system's: each adds its words to the file `calls`.
        func imitate(_ programs: String..., saying: String = "exit 0") throws {
            for program in programs {
                let script =
                    "#!/bin/sh\necho \"\(program) $*\" >>'\(session.directory)/calls'\n\(saying)\n"
                try put(script, at: "\(session.directory)/bin/\(program)", mode: 0o755)
            }
        }

        var calls: [String] {
            let text = try? String(contentsOfFile: "\(session.directory)/calls", encoding: .utf8)
            return (text ?? "").split(separator: "\n").map(String.init)
        }

        private func startDoctor(_ arguments: [String]) throws -> Child {
            let path = session.environment["PATH"] ?? ""
            return try session.run(
                FakeDaemon.tool,
                ["doctor"] + arguments,
                adding: variables.merging(["PATH": "\(session.directory)/bin:\(path)"]) { $1 }
            )
        }

        /// Runs `dualcamctl doctor` to its end.
        @discardableResult
        func doctor(_ arguments: String..., expecting status: CInt = 0) throws -> Child {
            let child = try startDoctor(arguments)
            let exit = try child.wait(within: 60)
            #expect(exit == .status(status), "\(arguments): \(child.output)\(child.errors)")
            return child
        }

        /// Fixes the loopback, of which no device comes here, for somebody who does not wait to see
        /// if it helps.
        func fixLoopback() throws {
            let child = try startDoctor(["--fix", "loopback", "--yes"])
            try eventually("the fix") { child.output.contains("  Done.") || child.exit != nil }
            child.signal(SIGINT)
            #expect(try child.wait() == .signal(SIGINT), "\(child.output)\(child.errors)")
        }
    }

    private static let list = "\"enabled_labs_experiments\":[\"enable-webrtc-pipewire-camera@1\"]"
    private static let preference = "user_pref(\"media.webrtc.camera.allow-pipewire\", true);\n"

    @Test func everyBrowserIsSetAndEveryByteComesBack() throws {
        for (folder, mode) in [
            (".config/chromium", 0o600), (".config/google-chrome", 0o640),
            (".config/BraveSoftware/Brave-Browser", 0o600), (".config/vivaldi", 0o644),
            ("snap/chromium/common/chromium", 0o600),
            (".var/app/com.google.Chrome/config/google-chrome", 0o600),
        ] { try user.write(" {\"b\" : [1.0]}\n", "\(folder)/Local State", mode: mode) }
        let profiles = [
            ".mozilla/firefox", ".config/mozilla/firefox", "snap/firefox/common/.mozilla/firefox",
            ".var/app/org.mozilla.firefox/.mozilla/firefox",
        ]
        for (number, folder) in profiles.enumerated() {
            try user.write("[Profile0]\nPath=p\n[Install1]\nDefault=q\n", "\(folder)/profiles.ini")
            try user.write("", "\(folder)/p/prefs.js")
            try user.write("", "\(folder)/q/prefs.js")
            guard number == 0 else { continue }
            // Neither text nor a whole line.
            let bytes: [UInt8] = [0xff, 0xfe, 0x0a, 0x2f, 0x2f]
            try put(bytes, at: user.path("\(folder)/q/user.js"), mode: 0o640)
        }
        let before = try user.everything()
        let names = ["chromium", "chrome", "brave", "vivaldi", "firefox"]
        let text = try user.doctor(expecting: 1).output
        for name in names {
            expect(text, says: "→ dualcamctl doctor --fix \(name)\n")
        }

        let fixed = try user.doctor(
            "--fix",
            "--yes",
            "chromium",
            "chrome",
            "brave",
            "vivaldi",
            "firefox"
        )
        expect(fixed.output, says: "  Done. Restart Firefox if it is open.\n")
        for name in names { expect(fixed.output, says: "✓ \(name) ") }
        #expect(
            try user.text(".var/app/com.google.Chrome/config/google-chrome/Local State")
                == " {\"browser\":{\(Self.list)},\"b\" : [1.0]}\n"
        )
        for folder in profiles.dropFirst() {
            #expect(try user.text("\(folder)/q/user.js") == Self.preference)
            #expect(access(user.path("\(folder)/p/user.js"), F_OK) != 0)
        }
        let after = try user.everything()
        #expect(after.keys.count == before.keys.count + 3)
        for (name, old) in before {
            #expect(after[name]?.prefix(7) == old.prefix(7), "the permissions of \(name)")
        }

        try expect(user.doctor("--undo").output, says: "user.js is removed.\n")
        #expect(try user.everything() == before)
        #expect(try user.doctor("--undo").output == "There is nothing to undo.\n")
    }

    @Test func aBrowserThatWasNeverStartedIsSetToo() throws {
        // A distribution's program of this name may only start the Snap.
        try user.imitate("brave-browser", saying: "exec /snap/bin/brave")
        try user.imitate("chromium", "vivaldi-stable", "firefox")
        try FileManager.default.copyItem(
            atPath: "\(user.session.directory)/bin/firefox",
            toPath: "\(user.session.directory)/bin/application.ini"
        )
        #expect(try user.everything().isEmpty)
        let names = ["chromium", "vivaldi", "firefox"]
        let text = try user.doctor(expecting: 1).output
        for name in names {
            expect(text, says: "→ dualcamctl doctor --fix \(name)\n")
        }
        #expect(!text.contains("✗ brave"), "\(text)")
        let fixed = try user.doctor("--fix", "--yes", "chromium", "vivaldi", "firefox").output
        for name in names { expect(fixed, says: "✓ \(name) ") }
        for folder in ["chromium", "vivaldi"] {
            #expect(
                try user.text(".config/\(folder)/Local State") == "{\"browser\":{\(Self.list)}}"
            )
        }
        let firefox = ".mozilla/firefox"
        #expect(try user.text("\(firefox)/dualcam.default/user.js") == Self.preference)
        let folder = try #require(realpath("\(user.session.directory)/bin", nil))
        defer { free(folder) }
        #expect(
            try user.text("\(firefox)/dualcam.default/compatibility.ini")
                == "[Compatibility]\nLastPlatformDir=\(String(cString: folder))\n"
        )
        let profiles = try user.text("\(firefox)/profiles.ini")
        #expect(FirefoxProfiles.used(profiles: profiles, installs: "") == ["dualcam.default"])
        try user.doctor("--undo")
        #expect(try user.everything().isEmpty)

        // What the browsers made meanwhile is theirs.
        try user.doctor("--fix", "--yes", "vivaldi", "firefox")
        try user.write("{\"a\":1,\"browser\":{\(Self.list)}}", ".config/vivaldi/Local State")
        let own = profiles + "[Install1]\nDefault=dualcam.default\n"
        try user.write(own, "\(firefox)/profiles.ini")
        try user.write(Self.preference + "//\n", "\(firefox)/dualcam.default/prefs.js")
        let undone = try user.doctor("--undo").output
        expect(undone, says: "profiles.ini has changed since, and stays.\n")
        expect(undone, says: "has changed since, so only the setting was taken out.\n")
        #expect(
            try user.text(".config/vivaldi/Local State")
                == "{\"a\":1,\"browser\":{\"enabled_labs_experiments\":[]}}"
        )
        #expect(try user.text("\(firefox)/profiles.ini") == own)
        #expect(try user.text("\(firefox)/dualcam.default/prefs.js") == "//\n")
        #expect(access(user.path("\(firefox)/dualcam.default/user.js"), F_OK) != 0)
        #expect(try user.doctor("--undo").output == "There is nothing to undo.\n")
    }

    private static let word = "--enable-features=WebRtcPipeWireCamera"
    private static let entry = """
        [Desktop Entry]
        Name=Microsoft Edge
        Exec=/usr/bin/microsoft-edge-stable %U
        Actions=private;

        [Desktop Action private]
        Exec=/usr/bin/microsoft-edge-stable --inprivate

        """

    /// A user with Edge, as a package of which the system has `entry`.
    private static func userOfEdge(_ entry: String? = entry) throws -> User {
        let user = try User()
        user.variables["XDG_DATA_DIRS"] = "\(user.session.directory)/data"
        if let entry { try user.write(entry, "../data/applications/microsoft-edge.desktop") }
        try user.imitate("microsoft-edge-stable")
        return user
    }

    @Test func edgeIsStartedWithTheSwitch() throws {
        let user = try Self.userOfEdge()
        let flatpak = ".var/app/com.microsoft.Edge/config"
        try user.write("{}", "\(flatpak)/microsoft-edge/Local State")
        try user.write("--ozone-platform=wayland", "\(flatpak)/edge-flags.conf", mode: 0o640)
        let before = try user.everything()
        let found = try user.doctor(expecting: 1).output
        expect(found, says: "✗ edge           Edge does not look for cameras in PipeWire\n")
        expect(found, says: "→ dualcamctl doctor --fix edge\n")

        let fixed = try user.doctor("--fix", "edge", "--yes").output
        expect(fixed, says: "  Done. Restart Edge if it is open. In a terminal, start it with ")
        expect(fixed, says: "✓ edge ")
        let own = ".local/share/applications/microsoft-edge.desktop"
        let set = Self.entry.replacing("stable", with: "stable \(Self.word)")
        #expect(try user.text(own) == set)
        #expect(try user.everything()[own]?.hasPrefix("100644 ") == true)
        let flags = "--ozone-platform=wayland\n\(Self.word)\n"
        #expect(try user.text("\(flatpak)/edge-flags.conf") == flags)
        try expect(user.doctor("--fix", "edge", "--yes").output, says: "There is nothing to do.")
        try user.doctor("--undo")
        #expect(try user.everything() == before)

        // What was changed since stays, without the switch.
        try user.doctor("--fix", "edge", "--yes")
        try user.write(set.replacing("Name=", with: "Name=My "), own)
        try user.write(flags + "--incognito\n", "\(flatpak)/edge-flags.conf")
        try user.doctor("--undo")
        #expect(try user.text(own) == Self.entry.replacing("Name=", with: "Name=My "))
        let rest = "--ozone-platform=wayland\n--incognito\n"
        #expect(try user.text("\(flatpak)/edge-flags.conf") == rest)
    }

    @Test func anEntryOfTheUsersOwnIsChangedInItsPlace() throws {
        let user = try Self.userOfEdge()
        let own = ".local/share/applications/microsoft-edge.desktop"
        let text = "[Desktop Entry]\nExec=env A=b \"/opt/my edge\" --enable-features=Vulkan %U\n#"
        try user.write(text, own, mode: 0o700)
        let before = try user.everything()
        try user.doctor("--fix", "edge", "--yes")
        #expect(
            try user.text(own) == text.replacing("=Vulkan", with: "=WebRtcPipeWireCamera,Vulkan")
        )
        try user.doctor("--undo")
        #expect(try user.everything() == before)
    }

    @Test func edgeWithAnEntryThatHasTheSwitchIsWellAndWithoutOneIsLeftToTheUser() throws {
        let set = Self.entry.replacing("stable", with: "stable \(Self.word)")
        let well = try Self.userOfEdge(set).doctor(expecting: 1).output
        expect(well, says: "✓ edge           Edge looks for cameras in PipeWire if the desktop")
        let user = try Self.userOfEdge(nil)
        let none = try user.doctor("--fix", "edge", "--yes", expecting: 1).output
        expect(none, says: "; start it with \(Self.word)\n")
        expect(none, says: "  This is left to you.\n")
        // What only a person can change.
        for wrong in ["[Desktop Entry]\n", "[Desktop Entry]\nExec=env -i edge\n"] {
            let user = try Self.userOfEdge(nil)
            try user.write(wrong, ".local/share/applications/microsoft-edge.desktop")
            let before = try user.everything()
            let failed = try user.doctor("--fix", "edge", "--yes", expecting: 1).output
            expect(failed, says: "microsoft-edge.desktop is left as it is: ")
            #expect(try user.everything() == before)
        }
    }

    @Test(arguments: [
        ("1.16.0", "knows them by name (chromium) if the desktop starts them"),
        ("1.20.3", "treats all apps outside a sandbox as one, without a name"),
    ])
    func theIdentityThatThePortalUsesIsSaid(_ version: String, _ words: String) throws {
        let data = "\(user.session.directory)/data"
        user.variables = ["XDG_DATA_DIRS": data, "XDG_CURRENT_DESKTOP": "ubuntu:GNOME"]
        try user.imitate("chromium")
        try user.imitate("xdg-desktop-portal", saying: "echo xdg-desktop-portal \(version)")
        try user.write("", "../data/applications/chromium.desktop")
        try user.write(
            "[D-BUS Service]\nExec=\(user.session.directory)/bin/xdg-desktop-portal\n",
            "../data/dbus-1/services/org.freedesktop.portal.Desktop.service"
        )
        let name = "org.freedesktop.impl.portal.PermissionStore"
        _ = try user.session.run("/usr/libexec/xdg-permission-store")
        let path = "/org/freedesktop/impl/portal/PermissionStore"
        try eventually("the permission store") {
            try user.session.run(
                "busctl",
                ["--user", "call", name, path, name, "List", "s", "devices"]
            ).wait() == .status(0)
        }
        let told = "; portal \(version) \(words)\n"
        let amiss = try user.doctor(expecting: 1).output
        let refusal = "✗ access         GNOME may refuse Chromium the camera without asking you"
        #expect(amiss.contains(refusal + told), "\(amiss)")
        let fixed = try user.doctor("--fix", "access", "--yes").output
        expect(fixed, says: "• Let Chromium use cameras without asking you, as chromium.\n")
        let well = "✓ access         browsers may use cameras without asking you"
        #expect(fixed.contains(well + told), "\(fixed)")
        try user.doctor("--undo")
        #expect(try user.doctor(expecting: 1).output.contains(refusal + told))
    }

    @Test func onlyItsOwnSwitchCountsForABrowser() throws {
        let folder = "\(user.session.directory)/vivaldi"
        try makeDirectory(folder)
        // In Debian, it is a link.
        let source = URL(filePath: "/bin/sh").resolvingSymlinksInPath().path
        try FileManager.default.copyItem(atPath: source, toPath: "\(folder)/vivaldi-bin")
        let word = "WebRtcPipeWireCamera-\(getpid())"
        let words = ["-c", "while sleep 1000; do :; done", "--enable-features=\(word)"]
        let shell = try user.session.run("sh", words)
        let browser = try user.session.run("\(folder)/vivaldi-bin", words)
        try eventually("the programs to run") {
            wholeText(of: "/proc/\(shell.id)/cmdline").contains(word)
                && wholeText(of: "/proc/\(browser.id)/cmdline").contains(word)
        }
        #expect(DesktopCheckup.runs(.vivaldi, with: word))
        for other in Browser.allCases where other != .vivaldi {
            #expect(!DesktopCheckup.runs(other, with: word), "\(other)")
        }
        for (path, browser) in [
            ("/usr/lib/chromium/chromium", .chromium), ("/opt/google/chrome/chrome", .chrome),
            ("/snap/chromium/3000/usr/lib/chromium-browser/chrome", .chromium),
            ("/app/chromium/chrome", .chromium), ("/app/extra/chrome", .chrome),
            ("/opt/microsoft/msedge/msedge", .edge), ("/opt/brave.com/brave/brave", .brave),
            ("/usr/lib/firefox-esr/firefox-esr (deleted)", .firefox),
        ] as [(String, Browser)] {
            #expect(Browser.allCases.filter { $0.runsAs(path) } == [browser], "\(path)")
        }
    }

    @Test func aFixThatDoesNotHelpHasFailed() throws {
        try user.write("[loopback]\ndevice = \"/dev/video255\"\n", ".config/dualcam/dualcam.toml")
        try user.imitate("apt-get", "pkexec")
        let child = try user.doctor("--fix", "loopback", "--yes", expecting: 1)
        #expect(child.errors.hasSuffix("dualcamctl: This could not be done.\n"))
        expect(child.output, says: "✗ loopback       there is no v4l2loopback device\n")
        // What was done can be taken back.
        #expect(child.output.hasSuffix("To take it back: dualcamctl doctor --undo loopback\n"))
        try user.doctor("--undo", "--yes")
    }

    @Test func aLoopbackIsConfiguredWhereNoneIs() throws {
        let file = ".config/dualcam/dualcam.toml"
        let text = "# mine\n[loopback] # for Zoom\n[scene]\nlayout = \"single\"\n"
        try user.write(text, file, mode: 0o640)
        let before = try user.everything()
        let hint = "none is configured; --fix loopback sets one up"
        #expect(try user.doctor(expecting: 1).output.contains(hint))
        // Only where it is asked for by its name.
        try user.imitate("apt-get")
        try user.imitate("pkexec", saying: "cat '\(user.path(file))' >>'\(user.path("seen"))'")
        let asked = try user.doctor("--fix", "loopback", expecting: 1).output
        #expect(asked.contains("• Run as an administrator: pkexec sh -c 'apt-get install"))
        #expect(
            asked.contains("• Copy the stream to a loopback device: one setting in "),
            "\(asked)"
        )
        #expect(try user.everything() == before)

        try user.fixLoopback()
        let set = text.replacing("Zoom\n", with: "Zoom\ndevice = \"auto\"\n")
        #expect(try user.text(file) == set)
        #expect(user.calls.count == 1)
        try user.doctor("--undo", "--yes")
        #expect(user.calls.count == 2)
        // The module cannot be unloaded while the daemon feeds it.
        #expect(try user.text("seen") == text + text)
        unlink(user.path("seen"))
        #expect(try user.everything() == before)

        // What was changed since stays.
        try user.fixLoopback()
        try user.write(set + "# more\n", file)
        try user.doctor("--undo", "--yes")
        let undone = text.replacing("Zoom\n", with: "Zoom\ndevice = \"\"\n") + "# more\n"
        #expect(try user.text(file) == undone)
    }

    @Test func whyTheKernelRefusesTheModuleIsSaid() throws {
        let scratch = try ScratchDirectory()
        let fixer = Fixer(
            journal: FixJournal(folder: "\(scratch.path)/fixes"),
            permissions: CameraPermissions(connection: nil)
        )
        for (script, state) in [("exit 1", "failed"), ("exit 0", "done")] {
            let steps = [FixStep.root(script, nil)]
            let fix = Fix(name: "loopback", steps: steps, onFailure: SecureBoot.advice)
            let outcome = FixSession(agreesToAll: true, json: true)
                .perform(steps, of: fix, with: fixer)
            #expect(outcome.state.rawValue == state)
            let isSaid = outcome.message?.hasSuffix(SecureBoot.advice) ?? false
            #expect(isSaid == (state == "failed"), "\(outcome)")
        }
    }

    @Test func programsForAdministratorsAreFoundWherePathHasNone() throws {
        // As pkexec does: it looks in the user's PATH, and gives the program one of its own.
        try user.imitate(
            "pkexec",
            saying: "command -v \"$1\" >/dev/null || exit 127\nPATH=$SBIN:$PATH exec \"$@\""
        )
        let sbin = "\(user.session.directory)/sbin"
        try user.imitate("usermod", saying: "exit $STATUS")
        try makeDirectory(sbin)
        try FileManager.default.moveItem(
            atPath: "\(user.session.directory)/bin/usermod",
            toPath: "\(sbin)/usermod"
        )
        let script = try #require(Checkup.rootScript("sudo usermod -aG video \"$USER\""))
        let name = try #require(getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) })
        for (status, expected) in [(0, 0), (127, 1)] as [(Int, CInt)] {
            let child = try user.session.run(
                "sh",
                ["-c", script],
                adding: [
                    "PATH": "\(user.session.directory)/bin:/usr/bin:/bin", "SBIN": sbin,
                    "STATUS": "\(status)",
                ]
            )
            #expect(try child.wait() == .status(expected), "\(child.errors)")
            #expect(user.calls.last == "usermod -aG video \(name)")
        }
        #expect(Checkup.rootScript("systemctl --user start x") == nil)
    }

    @Test func withoutATerminalItOnlySaysWhatItWouldDo() throws {
        try user.write("{}", ".config/chromium/Local State")
        let before = try user.everything()
        let child = try user.doctor("--fix", expecting: 1)
        expect(child.output, says: "• Make Chromium look for cameras in PipeWire: one setting in ")
        expect(child.errors, says: "Nothing was changed: there is no terminal to ask at.")
        let json = try user.doctor("--fix", "chromium", "--json", expecting: 1).output
        expect(json, says: "\"name\":\"chromium\",\"state\":\"unasked\"")
        #expect(try user.everything() == before)
        #expect(access(user.path(".local/state/dualcam/fixes"), F_OK) != 0)
    }

    @Test(arguments: [("n", false), ("", false), ("maybe", false), ("y", true), ("Yes", true)])
    func itAsksAtATerminal(_ answer: String, _ agrees: Bool) throws {
        try user.write("{}", ".config/chromium/Local State")
        let output = try user.session.output(
            "sh",
            "-c",
            "echo \(answer) | script -qec '\(FakeDaemon.tool) doctor --fix chromium' /dev/null; echo $?"
        )
        expect(output, says: "Do it? [y/N] ")
        // What was declined is left.
        #expect(output.hasSuffix(agrees ? "0\n" : "1\n"), "\(output)")
        #expect(
            try user.text(".config/chromium/Local State").contains("pipewire") == agrees,
            "\(output)"
        )
    }

    @Test func aRefusedAppIsAllowedAgain() throws {
        let name = "org.freedesktop.impl.portal.PermissionStore"
        let store = try user.session.run("/usr/libexec/xdg-permission-store")
        func call(_ member: String, _ arguments: String...) throws -> String {
            let child = try user.session.run(
                "busctl",
                [
                    "--user", "call", name, "/org/freedesktop/impl/portal/PermissionStore", name,
                    member,
                ] + arguments
            )
            return try child.wait() == .status(0) ? child.output : ""
        }
        try eventually("the permission store: \(store.errors)") {
            try !call("List", "s", "devices").isEmpty
        }
        for (app, answer) in [("org.example.Call", "no"), ("org.example.Meet", "yes"), ("", "no")] {
            _ = try call("SetPermission", "sbssas", "devices", "true", "camera", app, "1", answer)
        }
        func stored() throws -> String { try call("Lookup", "ss", "devices", "camera") }
        let before = try stored()
        expect(before, says: "\"org.example.Call\" 1 \"no\"")
        let fixed = try user.doctor("--fix", "refusals", "--yes").output
        expect(fixed, says: "• Forget that org.example.Call was refused the camera, so that")
        expect(fixed, says: "✓ refusals       the portal remembers none\n")
        let after = try stored()
        // They are asked for again, and have no more than before.
        #expect(!after.contains("\"no\"") && !after.contains("org.example.Call"), "\(after)")
        #expect(!after.contains("\"\"") && after.contains("\"org.example.Meet\" 1 \"yes\""))
        try user.doctor("--undo", "refusals")
        #expect(try stored() == before)

        // What was not there is not there again.
        try user.write("{}", ".var/app/org.chromium.Chromium/config/chromium/Local State")
        try user.doctor("--fix", "access", "--yes")
        #expect(try stored().contains("\"org.chromium.Chromium\" 1 \"yes\""))
        try user.doctor("--undo")
        #expect(try stored() == before)
        _ = try call("Delete", "ss", "devices", "camera")
        try user.doctor("--fix", "access", "--yes")
        #expect(try stored().contains("\"org.chromium.Chromium\" 1 \"yes\""))
        try user.doctor("--undo")
        #expect(try stored().isEmpty && store.exit == nil)

        // A choice made since is the user's.
        try user.doctor("--fix", "access", "--yes")
        _ = try call(
            "SetPermission",
            "sbssas",
            "devices",
            "true",
            "camera",
            "org.chromium.Chromium",
            "1",
            "no"
        )
        try expect(user.doctor("--undo").output, says: "was changed since, and stays")
        #expect(try stored().contains("\"no\""))
    }

    @Test func noLinkLeadsItElsewhere() throws {
        try user.write("{}", "victim/Local State")
        try user.write("{}", ".config/chromium/x")
        symlink(user.path("victim/Local State"), user.path(".config/chromium/Local State"))
        // A sandboxed browser may put anything into its folder.
        let sandbox = ".var/app/com.google.Chrome/config"
        try user.write("", "\(sandbox)/x")
        symlink(user.path("victim"), user.path("\(sandbox)/google-chrome"))
        let firefox = "snap/firefox/common/.mozilla/firefox"
        // One that is installed here was used, and has no profile any more.
        try user.write("[General]\n", ".mozilla/firefox/profiles.ini")
        let out = user.path("victim")
        try user.write(
            "[Profile0]\nPath=../../../../../../victim\n[Profile1]\nPath=\(out)\n",
            "\(firefox)/profiles.ini"
        )
        // A file that its owner protected, a folder in its place, and one that is no JSON.
        try user.write("{}", ".config/vivaldi/Local State", mode: 0o400)
        try makeDirectory(user.path(".config/BraveSoftware/Brave-Browser/Local State"))
        let before = try user.everything()
        let names = ["chromium", "chrome", "firefox", "vivaldi", "brave"]
        for name in names {
            let child = try user.doctor("--fix", name, "--yes", expecting: 1)
            #expect(child.errors == "dualcamctl: This could not be done.\n", "\(child.output)")
            let words = [
                "chromium": "is a link; change the file it leads to", "chrome": "leads out of",
                "firefox": "leads out of", "vivaldi": "is read-only",
                "brave": "is not a regular file",
            ]
            #expect(child.output.contains(words[name] ?? "?"), "\(child.output)")
            #expect(try user.everything() == before)
        }
        #expect(try user.doctor("--undo").output == "There is nothing to undo.\n")
    }

    @Test func anOpenBrowserIsLeftAlone() throws {
        let (file, host) = (".config/chromium/Local State", Browser.Place.hostName)
        try user.write("{}", file)
        let browser = try user.session.run("sleep", "1000")
        let lock = user.path(".config/chromium/SingletonLock")
        symlink("\(host)-\(browser.id)", lock)
        for _ in 1...2 {
            let child = try user.doctor("--fix", "chromium", "--yes", expecting: 1)
            expect(child.output, says: "Close the browser first: sleep (\(browser.id)) uses ")
        }
        #expect(try user.text(file) == "{}")
        // A sandbox has numbers of its own for its processes, but its files are seen.
        unlink(lock)
        symlink("\(host)-2", lock)
        try user.write("", ".config/chromium/Default/History")
        let reader = try user.session.run(
            "sh",
            "-c",
            "exec sleep 1000 <'\(user.path(".config/chromium/Default/History"))'"
        )
        try eventually("the file to be open") {
            Browser.Place.user(of: user.path(".config/chromium")) != nil
        }
        try user.doctor("--fix", "chromium", "--yes", expecting: 1)
        reader.end()
        browser.end()
        unlink(lock)
        // The home directory may be open on another computer.
        symlink("other-\(host)-1", lock)
        let elsewhere = try user.doctor("--fix", "chromium", "--yes", expecting: 1)
        expect(elsewhere.output, says: "Close the browser first: the computer other-\(host) uses ")
        unlink(lock)
        // One that crashed left its lock.
        symlink("\(host)-\(browser.id)", lock)
        try user.doctor("--fix", "chromium", "--yes")
        #expect(try user.text(file).contains(Self.list))
    }

    @Test func aDamagedRecordIsNotFollowed() throws {
        let (state, firefox) = (".config/chromium/Local State", ".mozilla/firefox")
        try user.write("{}", state)
        try user.write("[Profile0]\nPath=p\n", "\(firefox)/profiles.ini")
        try user.write("// mine\n", "\(firefox)/p/user.js")
        try user.write("", "\(firefox)/p/prefs.js")
        try user.doctor("--fix", "chromium", "firefox", "--yes")
        let record = user.path(".local/state/dualcam/fixes/0001.fix")
        try Data("dualcam-fix 1\nname x\n".utf8).write(to: URL(filePath: record))
        let child = try user.doctor("--undo", expecting: 1)
        expect(child.output, says: "0001.fix: it is damaged.\n")
        expect(child.output, says: "✓ firefox ")
        #expect(try user.text("\(firefox)/p/user.js") == "// mine\n")
        #expect(access(record, F_OK) == 0)
    }

    @Test func aPersonWhoseRightsAreLentIsSentBack() throws {
        try user.write("{}", ".config/chromium/Local State")
        for variables in [["SUDO_UID": "1000"], ["PKEXEC_UID": "1000"]] {
            for word in ["--fix", "--undo"] {
                let child = try user.session.run(
                    FakeDaemon.tool,
                    ["doctor", word, "--yes"],
                    adding: variables
                )
                _ = try child.wait(within: 60)
                #expect(child.exit == .status(1), "\(variables)")
                expect(child.errors, says: "Run it as yourself, without sudo; it asks for")
            }
        }
        #expect(try user.text(".config/chromium/Local State") == "{}")
        // Another's home, for whoever this is.
        let other = try ScratchDirectory()
        let isRoot = geteuid() == 0
        if isRoot { #expect(chown(other.path, 65534, 65534) == 0) }
        let home = isRoot ? other.path : "/"
        #expect(throws: Failure.self) { try FixSession.checkUser { $0 == "HOME" ? home : nil } }
        #expect(throws: Never.self) { try FixSession.checkUser { $0 == "HOME" ? user.home : nil } }
    }

    @Test func whatIsAskedForIsSeenWhereTheQuestionIs() throws {
        try user.write("{}", ".config/chromium/Local State")
        func ask(_ words: String) throws -> String {
            try user.session.output(
                "sh",
                "-c",
                "echo y | script -qec '\(FakeDaemon.tool) doctor \(words)' /dev/null; true"
            )
        }
        let json = try ask("--fix chromium --json")
        #expect(!json.contains("Do it?") && json.contains("\"state\":\"unasked\""), "\(json)")
        expect(json, says: "Nothing was changed: --json asks no questions.")
        #expect(try user.text(".config/chromium/Local State") == "{}")
        let output = try ask("--fix chromium >/dev/null")
        let step = try #require(output.range(of: "• Make Chromium look for cameras"), "\(output)")
        let question = try #require(output.range(of: "Do it?"), "\(output)")
        #expect(step.lowerBound < question.lowerBound)
        #expect(try user.text(".config/chromium/Local State").contains("pipewire"))
    }

    @Test func onlyWhatIsRecordedCanBeTakenBack() throws {
        try user.write("{}", ".config/chromium/Local State")
        let fixed = try user.doctor("--fix", "chromium", "--yes").output
        #expect(fixed.hasSuffix("To take it back: dualcamctl doctor --undo chromium\n"), "\(fixed)")
        #expect(FixStep.ourselves(["start"]).isUndone == false)
        #expect(FixStep.systemctl(["restart", "xdg-desktop-portal"]).isUndone == false)
        #expect(FixStep.systemctl(["enable", "--now", "dualcamd"]).isUndone)
    }

    @Test func theUnitIsEnabledAndDisabledAgain() throws {
        let file = "\(user.session.directory)/enabled"
        let manager = "org.freedesktop.systemd1.Manager"
        let systemd = try MockedService(
            "org.freedesktop.systemd1",
            at: "/org/freedesktop/systemd1",
            interface: manager,
            on: .session,
            in: user.session
        )
        try systemd.define(
            "GetUnitFileState",
            of: manager,
            takes: "s",
            gives: "s",
            code: "import os; ret = 'enabled' if os.path.exists('\(file)') else 'disabled'"
        )
        let enabling = "[ \"$2\" != enable ] || touch '\(file)'"
        try user.imitate("systemctl", saying: "\(enabling)\ncase $2 in is-*) exit 1; esac")
        let output = try user.doctor("--fix", "unit", "--yes").output
        expect(output, says: "• Run systemctl --user enable --now dualcamd.\n")
        #expect(
            user.calls == [
                "systemctl --user is-active --quiet dualcamd",
                "systemctl --user is-enabled --quiet dualcamd",
                "systemctl --user enable --now dualcamd",
            ]
        )
        try user.doctor("--undo")
        #expect(user.calls.last == "systemctl --user disable --now dualcamd")
        // What was so before stays so.
        for (answer, last) in [
            ("[ $2 != is-active ]", "stop"), ("[ $2 != is-enabled ]", "disable"), ("exit 0", nil),
        ] as [(String, String?)] {
            unlink(file)
            try user.imitate("systemctl", saying: "\(enabling)\n\(answer)")
            try user.doctor("--fix", "unit", "--yes")
            try user.doctor("--undo")
            let undone = user.calls.reversed().prefix { !$0.contains(" enable ") }
            #expect(
                Array(undone) == (last.map { ["systemctl --user \($0) dualcamd"] } ?? []),
                "\(answer)"
            )
        }
        // What fails is said, and may have been done in part.
        unlink(file)
        try user.imitate("systemctl", saying: "echo no such unit >&2; exit 4")
        let failed = try user.doctor("--fix", "unit", "--yes", expecting: 1)
        expect(failed.output, says: "✗ The command systemctl failed (exit status 4).")
        expect(failed.errors, says: "no such unit\n")
        // A browser that is not there keeps no other from being looked at.
        let both = try user.doctor("--fix", "vivaldi", "unit", "--yes", expecting: 1)
        expect(both.output, says: "✗ vivaldi        Vivaldi is not installed.\n")
        expect(both.output, says: "✗ unit ")
        #expect(both.errors.hasSuffix("dualcamctl: 2 of 2 failed.\n"), "\(both.errors)")
    }

    /// All of none is not well.
    @Test func aFirefoxWithoutProfilesIsNoGoodOne() throws {
        for profiles in ["", "[General]\n", "[Profile0]\nPath=gone\nIsRelative=1\n"] {
            let user = try User()
            try user.write(profiles, ".mozilla/firefox/profiles.ini")
            let output = try user.doctor(expecting: 1).output
            let folder = user.path(".mozilla/firefox")
            expect(
                output,
                says:
                    "✗ firefox        Firefox has no profile in \(folder); start it once, and close it\n"
            )
            let fixed = try user.doctor("--fix", "firefox", "--yes", expecting: 1).output
            #expect(!fixed.contains("nothing to do"), "\(fixed)")
        }
    }

    @Test func anAdministratorIsAskedForTheLoopback() throws {
        try user.write("[loopback]\ndevice = \"/dev/video255\"\n", ".config/dualcam/dualcam.toml")
        try user.imitate("apt-get")
        let without = try user.session.run(
            FakeDaemon.tool,
            ["doctor", "--fix", "loopback", "--yes"],
            adding: ["PATH": "\(user.session.directory)/bin"]
        )
        #expect(try without.wait() == .status(1))
        expect(without.output, says: "  There is no pkexec, which asks for")
        expect(without.output, says: "  Or run it yourself: sudo apt install v4l2loopback-dkms")
        #expect(user.calls.isEmpty)

        try user.imitate("pkexec")
        let asked = try user.doctor("--fix", "loopback", expecting: 1)
        #expect(asked.output.contains("• Run as an administrator: pkexec sh -c 'apt-get install"))
        #expect(user.calls.isEmpty)
        // Who gives no password has nothing to undo.
        for status in [126, 127] {
            try user.imitate("pkexec", saying: "exit \(status)")
            let refused = try user.doctor("--fix", "loopback", "--yes", expecting: 1)
            expect(refused.output, says: "✗ No administrator's rights were given, and nothing was")
            #expect(try user.doctor("--undo").output == "There is nothing to undo.\n")
        }
        try FileManager.default.removeItem(atPath: "\(user.session.directory)/calls")
        try user.imitate("pkexec")
        try user.fixLoopback()
        #expect(
            user.calls.count == 1
                && user.calls[0].hasPrefix("pkexec sh -c apt-get install -y v4l2loopback-dkms")
        )
        try user.doctor("--undo", expecting: 1)
        #expect(user.calls.count == 1)
        try user.doctor("--undo", "--yes")
        #expect(user.calls.count == 2 && user.calls[1].hasPrefix("pkexec sh -c [ "))
    }

    @Test func onlyOurOwnSettingsAreRemovedAsAnAdministrator() throws {
        let lines = ["options v4l2loopback card_label=DualCam", "v4l2loopback"]
        let files = lines.enumerated().map { (path: user.path("\($0)"), line: $1) }
        let script = RootChange.removal(of: files)
        try user.write(lines[0] + "\n", "0")
        try user.write(lines[1] + "\nanother\n", "1")
        for _ in 1...2 {
            let child = try user.session.run("sh", ["-c", script])
            #expect(try child.wait() == .status(0))
            #expect(child.errors.isEmpty)
            #expect(access(files[0].path, F_OK) != 0)
            #expect(try user.text("1") == lines[1] + "\nanother\n")
        }
    }

    @Test func namesAndOptionsAreChecked() throws {
        try expect(
            user.doctor("--fix", "camera", expecting: 2).errors,
            says: "Known: configuration, cameras"
        )
        try expect(user.doctor("--fix", "camera", expecting: 2).errors, says: ", vivaldi")
        #expect(
            try user.doctor("--fix", "vivaldi", expecting: 10).errors
                == "dualcamctl: Vivaldi is not installed.\n"
        )
        try expect(user.doctor("--undo", "unit", expecting: 2).errors, says: "no fix called unit")
        for words in [["--fix", "--undo"], ["--yes"], ["unit"]] {
            let child = try user.session.run(FakeDaemon.tool, ["doctor"] + words)
            #expect(try child.wait() == .status(2), "\(words)")
        }
        let good = try user.doctor("--fix", "configuration", "--json").output
        #expect(
            good
                == "{\"version\":1,\"ok\":true,\"fixes\":[{\"name\":\"configuration\",\"state\":\"good\",\"steps\":[],\"message\":null}]}\n"
        )
    }
}

/// Cameras that WirePlumber would find, offered to its own rules.
@Suite("The rules that hide cameras", .serialized, .timeLimit(.minutes(5)))
struct HidingTests {
    /// A camera with the properties that WirePlumber knows of its device, and then of its node,
    /// when it applies its rules to them.
    private struct Camera {
        let name: String
        let isHidden: Bool
        var device: [String: String] = [:]
        var node: [String: String] = [:]
    }

    private static let cameras = [
        Camera(
            name: "desk",
            isHidden: true,
            device: ["device.serial": "Vendor_Desk_Cam_1234", "device.bus-path": "pci-1"]
        ),
        Camera(
            name: "face",
            isHidden: true,
            device: ["device.serial": "Other", "device.bus-path": "pci-0000:00:14.0-usb-0:1:1.0"]
        ),
        Camera(
            name: "third",
            isHidden: false,
            device: ["device.serial": "Vendor_Desk_Cam_12345", "device.bus-path": "pci-2"]
        ),
        Camera(
            name: "copy",
            isHidden: true,
            node: ["api.v4l2.cap.driver": "v4l2 loopback", "api.v4l2.cap.card": "DualCam \"2\""]
        ),
        Camera(
            name: "phone",
            isHidden: false,
            node: ["api.v4l2.cap.driver": "v4l2 loopback", "api.v4l2.cap.card": "Phone"]
        ),
        Camera(name: "port", isHidden: true, node: ["api.v4l2.cap.bus_info": "usb-0000:00:14.0-1"]),
        Camera(
            name: "other",
            isHidden: false,
            node: ["api.v4l2.cap.bus_info": "usb-0000:00:14.0-11"]
        ),
        Camera(
            name: "name",
            isHidden: false,
            node: ["api.v4l2.cap.driver": "uvcvideo", "api.v4l2.cap.card": "DualCam \"2\""]
        ),
    ]

    private static func rules(_ form: WirePlumberRules.Form) throws -> WirePlumberRules {
        let devices = try [
            "v4l2:usb-Vendor_Desk_Cam_1234-video-index0",
            "v4l2:pci-0000:00:14.0-usb-0:1:1.0-video-index0", "v4l2:usb-0000:00:14.0-1",
        ].map { try #require(WirePlumberRules.match($0)) }
        return WirePlumberRules(form: form, devices: devices, loopbacks: ["DualCam \"2\""])
    }

    /// A script in the place of WirePlumber's V4L2 monitor, which has no cameras here: it applies
    /// the rules as that one does, and makes a node of a test picture for each camera that is left.
    private static func monitor(_ form: WirePlumberRules.Form) throws -> String {
        func table(_ properties: [String: String]) -> String {
            "{ \(properties.map { "[\"\($0)\"] = [[\($1)]]" }.joined(separator: ", ")) }"
        }
        let list = cameras.map {
            "{ name = \"\($0.name)\", device = \(table($0.device)), node = \(table($0.node)) }"
        }
        // The device is named and gets its rules; then the node takes its name, and gets them.
        let nodes = """

            nodes = {}
            for _, camera in ipairs({ \(list.joined(separator: ",\n  ")) }) do
              local device, properties = camera.device, camera.node
              device["device.name"] = "v4l2_device." .. camera.name
              apply(device)
              properties["node.name"] =
                  "v4l2_input." .. device["device.name"]:gsub("^v4l2_device%.(.+)", "%1")
              apply(properties)
              if not (device["device.disabled"] or properties["node.disabled"]) then
                properties["node.name"] = camera.name
                properties["factory.name"] = "videotestsrc"
                properties["library.name"] = "videotestsrc/libspa-videotestsrc"
                properties["media.class"] = "Video/Source"
                local node = Node("spa-node-factory", properties)
                node:activate(Feature.Proxy.BOUND)
                table.insert(nodes, node)
              end
            end

            """
        guard form == .lua else {
            return """
                local rules = Conf.get_section_as_json("monitor.v4l2.rules", Json.Array{})
                -- The changed properties are a table of their own.
                function apply(properties)
                  local changed = JsonUtils.match_rules_update_properties(rules, properties)
                  for key, value in pairs(changed) do properties[key] = value end
                end
                """ + nodes
        }
        let file = "/usr/share/wireplumber/scripts/monitors/v4l2.lua"
        let own = try String(contentsOfFile: file, encoding: .utf8)
        let end = try #require(own.range(of: "\nmonitor = SpaDevice("))
        return own[..<end.lowerBound] + "\napply = rulesApplyProperties\n" + nodes
    }

    @Test func hideTheCamerasInUseAndTheCopyAndNoOther() throws {
        let form = try #require(WirePlumberRules.Form.installed())
        let session = try PrivateSession([.bus])
        let rules = try Self.rules(form)
        let folder = "\(session.directory)/home"
        func write(_ text: String, _ name: String) throws { try put(text, at: "\(folder)/\(name)") }
        let configuration = ".config/wireplumber"
        func shown() throws -> [String] {
            // A PipeWire of its own each time: 1.4.2 aborts where the owner of such nodes is killed
            // (remove_from_poll in spa/plugins/support/loop.c).
            try session.start(.pipewire)
            defer { session.kill(.pipewire) }
            try session.start(.wireplumber)
            defer { session.kill(.wireplumber) }
            return try eventually("the nodes") {
                let dump = try session.output("pw-dump")
                let names = Self.cameras.map(\.name).filter {
                    dump.contains("\"node.name\": \"\($0)\"")
                }
                // The last one is always shown.
                return names.last == "name" ? names : nil
            }
        }
        switch form {
        case .lua: try write(try Self.monitor(form), "\(configuration)/scripts/monitors/v4l2.lua")
        case .json:
            let scripts = ".local/share/wireplumber/scripts"
            try write(try Self.monitor(form), "\(scripts)/cameras-of-test.lua")
            try write(
                """
                wireplumber.components = [
                  { name = cameras-of-test.lua, type = script/lua, provides = test.cameras }
                ]
                wireplumber.profiles = { main = { test.cameras = required } }
                """,
                "\(configuration)/wireplumber.conf.d/90-test.conf"
            )
        }
        #expect(try shown() == Self.cameras.map(\.name))
        try write(rules.text, "\(configuration)/\(rules.file)")
        #expect(try shown() == Self.cameras.filter { !$0.isHidden }.map(\.name))
    }

    private func device(_ role: String, _ id: String, _ name: String = "Cam") -> [String: Value] {
        [
            "id": .string(id), "name": .string(name), "path": .string("/dev/video0"),
            "role": .string(role), "chosen": .boolean(true), "reason": .string("chosen"),
            "modes": .strings([]),
        ]
    }

    @Test func aCameraThatCannotBeHiddenIsSaid() throws {
        let daemon = try FakeDaemon()
        let lost = device("front", "v4l2:1-2:1.0#0", "Lost Cam")
        try daemon.appear(changing: [.stream: ["Devices": .named([lost])]])
        let nothing = try daemon.run("doctor", "--fix", "hide-cameras", "--yes")
        #expect(nothing.exit == .status(1), "\(nothing.output)")
        expect(nothing.output, says: "  ✗ WirePlumber has no permanent name for Lost Cam.\n")
        daemon.set(
            ["Devices": .named([lost, device("back", "v4l2:usb-0000:00:14.0-1")])],
            of: .stream
        )
        let fixed = try daemon.run("doctor", "--fix", "hide-cameras", "--yes")
        #expect(fixed.exit == .status(0), "\(fixed.output)\(fixed.errors)")
        expect(fixed.output, says: "for lack of a permanent name: Lost Cam.\n")
        expect(fixed.output, says: "do not list the cameras that DualCam uses, except Lost Cam\n")
        daemon.set(["Devices": .named([])], of: .stream)
        _ = try daemon.run("doctor", "--undo")
        let none = try daemon.run("doctor", "--fix", "hide-cameras", "--yes")
        expect(none.output, says: "  ✗ No camera that apps list is in use.\n")
        let good = try daemon.run("doctor", "--fix", "configuration")
        #expect(good.output.hasSuffix("  There is nothing to do.\n"), "\(good.output)")
    }

    @Test func areWrittenForTheDevicesInUseAndTakenBack() throws {
        let daemon = try FakeDaemon()
        try daemon.appear(changing: [
            .stream: [
                "Devices": .named([
                    device("back", "v4l2:usb-Vendor_Desk_Cam_1234-video-index0"),
                    device("", "v4l2:usb-Vendor_Spare-video-index0"),
                ])
            ]
        ])
        let form = try #require(WirePlumberRules.Form.installed())
        var rules = WirePlumberRules(form: form)
        rules.devices = [.init(property: "device.serial", value: "Vendor_Desk_Cam_1234")]
        let file = "\(daemon.session.directory)/home/.config/wireplumber/\(rules.file)"
        let first = try daemon.run("doctor")
        expect(first.output, says: "✓ hide-cameras   apps may list the cameras that DualCam uses")
        let fixed = try daemon.run("doctor", "--fix", "hide-cameras", "--yes")
        #expect(fixed.exit == .status(0), "\(fixed.output)\(fixed.errors)")
        expect(fixed.output, says: "This takes effect at your next login, or after")
        expect(fixed.output, says: "✓ hide-cameras   apps that use PipeWire do not list")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == rules.text)
        // It is the user's wish from now on.
        let home = "\(daemon.session.directory)/home"
        expect(fixed.output, says: "• Note that you want this: hide-cameras = true in ")
        #expect(
            try String(contentsOfFile: "\(home)/.config/dualcam/dualcam.toml", encoding: .utf8)
                == "[desktop]\nhide-cameras = true\n"
        )
        daemon.set(
            ["Devices": .named([device("front", "v4l2:usb-New-video-index0")])],
            of: .stream
        )
        let other = try daemon.run("doctor")
        expect(
            other.output,
            says: "✗ hide-cameras   \(file) hides other cameras than those in use\n"
        )
        #expect(try daemon.run("doctor", "--fix", "hide-cameras", "--yes").exit == .status(0))
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\"New\""))
        let undone = try daemon.run("doctor", "--undo", "hide-cameras")
        #expect(undone.exit == .status(0))
        expect(undone.output, says: "  This takes effect at your next login, or after `systemctl")
        #expect(undone.output.components(separatedBy: "This takes effect").count == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home) == [".local"])
    }

    @Test func followTheWishInTheConfiguration() throws {
        let daemon = try FakeDaemon()
        let file = "\(daemon.session.directory)/x.toml"
        func wish(_ text: String) throws {
            try put("[desktop]\nhide-cameras = \(text)\n", at: file)
        }
        try wish("true")
        try daemon.appear(changing: [
            .stream: ["Devices": .named([]), "ConfigurationFile": .string(file)]
        ])
        func said() throws -> String {
            let output = try daemon.run("doctor").output
            let lines = output.split(separator: "\n")
            let index = try #require(lines.firstIndex { $0.contains(" hide-cameras   ") })
            let isWithCommand = index + 1 < lines.count && lines[index + 1].contains("→")
            return lines[index] + (isWithCommand ? "\n\(lines[index + 1])" : "")
        }
        let wished = "hide-cameras   hide-cameras is true in your configuration"
        #expect(try said() == "✓ \(wished), and no camera is in use")
        let devices = [device("back", "v4l2:usb-0000:00:14.0-1")]
        daemon.set(["Devices": .named(devices)], of: .stream)
        let command = "                 → dualcamctl doctor --fix hide-cameras"
        let missing = "✗ \(wished), but apps list the cameras that DualCam uses\n\(command)"
        #expect(try said() == missing)
        let form = try #require(WirePlumberRules.Form.installed())
        let folder = "\(daemon.session.directory)/home/.config/wireplumber"
        let path = "\(folder)/\(WirePlumberRules(form: form).file)"
        #expect(try daemon.run("doctor", "--fix", "hide-cameras", "--yes").exit == .status(0))
        #expect(try said().hasPrefix("✓ hide-cameras   apps that use PipeWire do not list"))
        let rules = try String(contentsOfFile: path, encoding: .utf8)

        try wish("false")
        let left = "\(path) hides cameras, but hide-cameras is false in your configuration"
        #expect(try said() == "✗ hide-cameras   \(left)\n\(command)")
        let removed = try daemon.run("doctor", "--fix", "hide-cameras", "--yes")
        #expect(removed.exit == .status(0), "\(removed.output)")
        expect(removed.output, says: "• Remove rules for WirePlumber that hide the cameras")
        expect(removed.output, says: "  Done. This takes effect at your next login, or after")
        #expect(access(path, F_OK) != 0)
        #expect(try said().hasPrefix("✓ hide-cameras   apps may list the cameras"))
        #expect(try daemon.run("doctor", "--undo").exit == .status(0))
        // The removal and what it removed are undone.
        #expect(access(folder, F_OK) != 0)

        // What is not ours stays; where the configuration says nothing, so does the wish.
        try put("[desktop\n", at: file)
        try put(rules, at: path)
        #expect(try said().hasPrefix("✓ hide-cameras   apps that use PipeWire do not list"))
        try wish("false")
        try put("\n", at: path)
        #expect(
            try said() == "✓ hide-cameras   \(path) was not written by DualCam, and stays as it is"
        )
    }
}

/// Browsers played by a script, which fetches the page and reports as the page would.
@Suite("dualcamctl doctor --try", .timeLimit(.minutes(5)))
struct TryTests {
    private static func script(_ report: String) -> String {
        """
        #!/usr/bin/python3
        import os, sys, urllib.request
        open(os.environ["XDG_RUNTIME_DIR"] + "/words", "w").write("\\n".join(sys.argv[1:]))
        open(os.environ["XDG_RUNTIME_DIR"] + "/process", "w").write(str(os.getpid()))
        address = sys.argv[-1]
        profile = next((word[16:] for word in sys.argv if word.startswith("--user-data-dir=")), None) \
        or sys.argv[sys.argv.index("--profile") + 1]
        settings = "".join(open(os.path.join(profile, name)).read() for name in os.listdir(profile))
        open(os.environ["XDG_RUNTIME_DIR"] + "/settings", "w").write(settings)
        page = urllib.request.urlopen(address).read().decode()
        assert 'wanted = "DualCam"' in page, page
        # Neither another page nor another user's report counts.
        for path in "/", "/report":
            try: urllib.request.urlopen("/".join(address.split("/")[:3]) + path, data=b"frames 9")
            except urllib.error.HTTPError as error: assert error.code == 404
        \(report)
        import time; time.sleep(1000)
        """
    }

    private func attempt(
        _ browser: String,
        _ program: String,
        _ report: String,
        profile: [String: String] = [:]
    ) throws -> (child: Child, home: String) {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let (directory, home) = (daemon.session.directory, "\(daemon.session.directory)/home")
        try put(Self.script(report), at: "\(directory)/bin/\(program)", mode: 0o755)
        for (file, text) in profile { try put(text, at: "\(home)/\(file)") }
        // The imitation comes before a browser that is installed.
        let path = daemon.session.environment["PATH"] ?? ""
        let child = try daemon.session.run(
            FakeDaemon.tool,
            ["doctor", "--try", browser],
            adding: ["PATH": "\(directory)/bin:\(path)"]
        )
        try daemon.wait(for: "doctor") { child.exit != nil }
        func text(_ name: String) -> String {
            (try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)) ?? ""
        }
        words = text("words").split(separator: "\n").map(String.init)
        settings = text("settings")
        seen.isLeft = pid_t(text("process")).map { kill($0, 0) == 0 }
        return (child, home)
    }

    private final class Seen {
        var words: [String] = []
        var settings = ""
        /// `true` if the browser runs after the trial; `nil` if it was not started.
        var isLeft: Bool?
    }
    private let seen = Seen()
    private var words: [String] {
        get { seen.words }
        nonmutating set { seen.words = newValue }
    }
    private var settings: String {
        get { seen.settings }
        nonmutating set { seen.settings = newValue }
    }

    private static let good =
        "urllib.request.urlopen(address + 'report', data=b'agent Firefox/153.0\\ncamera DualCam\\n"
        + "frames 149\\nmilliseconds 5000\\nwidth 1280\\nheight 720')"

    @Test func aBrowserIsStartedWithTheUsersSettingAndEnded() throws {
        let (child, _) = try attempt(
            "chromium",
            "chromium",
            Self.good,
            profile: [
                ".config/chromium/Local State":
                    "{\"browser\":{\"enabled_labs_experiments\":[\"enable-webrtc-pipewire-camera@1\"]}}"
            ]
        )
        #expect(child.exit == .status(0), "\(child.errors)")
        #expect(child.output.hasPrefix("✓ chromium  "))
        #expect(words.contains("--headless=new"))
        #expect(!words.contains { $0.contains("enable-features") })
        expect(settings, says: "enable-webrtc-pipewire-camera@1")
        let profile = words.first { $0.hasPrefix("--user-data-dir=") }?.dropFirst(16) ?? ""
        #expect(!profile.isEmpty && access(String(profile), F_OK) != 0, "\(profile) is left")
        #expect(seen.isLeft == false, "the browser is left")
    }

    @Test func edgeGetsTheSwitchThatItsDesktopEntryHas() throws {
        let word = "--enable-features=WebRtcPipeWireCamera"
        for isSet in [true, false] {
            let (child, _) = try attempt(
                "edge",
                "microsoft-edge-stable",
                Self.good,
                profile: [
                    ".local/share/applications/microsoft-edge.desktop":
                        "[Desktop Entry]\nExec=edge \(isSet ? word : "") %U\n"
                ]
            )
            #expect(child.exit == .status(0), "\(child.errors)")
            #expect(words.contains(word) == isSet, "\(words)")
        }
    }

    @Test func firefoxGetsThePreferenceThatTheUserHas() throws {
        let off = try attempt("firefox", "firefox", Self.good)
        #expect(off.child.exit == .status(0), "\(off.child.errors)")
        #expect(
            off.child.output
                == "✓ firefox        Firefox 153 sees DualCam: 149 frames in 5 s, 1280×720\n"
        )
        expect(settings, says: "user_pref(\"media.webrtc.camera.allow-pipewire\", false);")
        let profile = words.firstIndex(of: "--profile").map { words[$0 + 1] } ?? ""
        #expect(!profile.isEmpty && access(profile, F_OK) != 0)
        let on = try attempt(
            "firefox",
            "firefox",
            Self.good,
            profile: [
                ".mozilla/firefox/profiles.ini": "[Profile0]\nPath=p\n",
                ".mozilla/firefox/p/user.js":
                    "user_pref(\"media.webrtc.camera.allow-pipewire\", true);\n",
            ]
        )
        #expect(on.child.exit == .status(0), "\(on.child.errors)")
        expect(settings, says: "user_pref(\"media.webrtc.camera.allow-pipewire\", true);")
    }

    @Test func aBrowserThatEndsOrIsNotThereIsSaid() throws {
        let ended = try attempt("firefox", "firefox", "sys.exit(3)")
        #expect(ended.child.exit == .status(1))
        expect(ended.child.output, says: "✗ firefox        Firefox ended right after its start\n")
        let missing = try attempt("vivaldi", "firefox", "")
        #expect(missing.child.exit == .status(10))
        #expect(missing.child.errors == "dualcamctl: Vivaldi is not installed.\n")
    }

    @Test func withoutAStreamNoBrowserIsStarted() throws {
        let session = try PrivateSession([.bus])
        let child = try session.run(FakeDaemon.tool, ["doctor", "--try", "firefox"])
        #expect(try child.wait() == .status(8))
        #expect(
            child.errors == "dualcamctl: There is no stream to see; `dualcamctl doctor` says why.\n"
        )
    }
}
