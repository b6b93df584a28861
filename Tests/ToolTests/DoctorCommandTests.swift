import Control
import DBusKit
import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import Doctor
@testable import DualCamTool

@Suite("dualcamctl doctor", .timeLimit(.minutes(5)))
struct DoctorCommandTests {
    private let daemon: FakeDaemon

    init() throws { daemon = try FakeDaemon() }

    @Test func withNothingThereItSaysWhatMendsIt() throws {
        let child = try daemon.run("doctor")
        #expect(child.exit == .status(1))
        for line in [
            "✓ configuration  there is no file; every value is the default",
            "✗ pipewire       nothing answers at \(daemon.session.socket)",
            "                 → pipewire &",
            "                 → dualcamctl start",
            "? node           there is none while dualcamd does not answer",
            "? stream         there is none while dualcamd does not answer",
        ] { #expect(child.output.contains(line + "\n"), "\(line) in\n\(child.output)") }
        #expect(child.errors.hasSuffix(" problems found.\n"))

        let report = try jsonObject(daemon.run("doctor", "--json").output)
        #expect(report["version"] as? Int == 1 && report["ok"] as? Bool == false)
        let checks = try #require(report["checks"] as? [[String: Any]])
        let names = [
            "configuration", "cameras", "permissions", "in-use", "usb", "pipewire", "wireplumber",
            "unit", "daemon", "node", "portal", "refusals", "access", "browsers", "hide-cameras",
            "loopback", "stream",
        ]
        // Browsers that are installed here have checks of their own.
        let browsers = Browser.allCases.map(\.rawValue)
        let found = checks.compactMap { $0["name"] as? String }
            .map { browsers.contains($0) ? "browsers" : $0 }
        #expect(
            found.enumerated().filter { $0 == 0 || found[$0 - 1] != $1 }.map(\.element) == names
        )
        for check in checks {
            let unknown = ["wireplumber", "node", "refusals", "stream"]
            let isUnknown = unknown.contains(check["name"] as? String ?? "")
            #expect(isUnknown ? check["ok"] is NSNull : check["ok"] is Bool)
            #expect(check["text"] is String && check["command"] != nil)
        }

        // Where the user's systemd takes commands, the commands to run are systemd's.
        try daemon.haveSystemd()
        let output = try daemon.run("doctor").output
        for unit in ["pipewire.socket", "dualcamd"] {
            expect(output, says: "→ systemctl --user enable --now \(unit)\n")
        }
    }

    @Test func withoutASessionBusItSaysSoOnce() throws {
        try PrivateSession.with { session in
            let child = try session.run(
                Programs.path(of: "dualcamctl"),
                ["doctor"],
                adding: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(session.directory)/no-bus"]
            )
            #expect(try child.wait(within: 60) == .status(1))
            let lines = child.output.split(separator: "\n").filter { $0.hasPrefix("✗") }
            // Nor do the machine's own devices and browsers count.
            let others = ["cameras", "permissions"] + Browser.allCases.map(\.rawValue)
            let own = lines.filter { line in !others.contains { line.hasPrefix("✗ \($0) ") } }
            #expect(own.count == 1 && own[0].contains("There is no session bus"), "\(child.output)")
            #expect(!child.output.contains("systemctl"))
            expect(child.output, says: "→ exec dbus-run-session")
            expect(child.output, says: "? unit ")
        }
    }

    @Test func itRepeatsWhatTheDaemonSays() throws {
        try daemon.appear(changing: [
            .stream: [
                "Active": .boolean(false), "State": .string("stopped"),
                "Problems": .strings(["The lens cap is on."]),
            ]
        ])
        let child = try daemon.run("doctor")
        #expect(child.exit == .status(1))
        expect(
            child.output,
            says:
                "✗ daemon         dualcamd 1.2.3 is running, but \(DualCam.version) is installed\n"
        )
        expect(child.output, says: "→ pkill -x dualcamd; dualcamctl start\n")
        expect(child.output, says: "✗ node           the stream was stopped\n")
        expect(child.output, says: "→ dualcamctl start\n")
        expect(child.output, says: "✗ stream         The lens cap is on.\n")
    }

    @Test func aBrokenConfigurationIsOpenedAtItsLine() throws {
        let file = daemon.session.directory + "/it's.toml"
        try put("\n[output]\nwidth = 5\n", at: file)
        try daemon.appear(changing: [
            .stream: [
                "ConfigurationFile": .string(file),
                "Problems": .strings([
                    "\(file):3: output.width is 5, expected a multiple of 4 from 160 to 7680"
                ]),
            ]
        ])
        let child = try daemon.run("doctor")
        expect(child.output, says: "✗ configuration  \(file):3: output.width")
        expect(child.output, says: "✓ stream ")
        let word = file.replacing("'", with: "'\\''")
        expect(child.output, says: "→ ${EDITOR:-editor} +3 '\(word)'\n")
    }

    @Test func everySourceThatIsNotThereIsNamed() throws {
        let file = try daemon.configure(
            """
            [cameras.back]
            source = "test"
            [[cameras.back.lenses]]
            name = "wide"
            factor = 1.0
            [[cameras.back.lenses]]
            name = "tele"
            factor = 2.0
            source = "file:/no/tele.jpg"
            [cameras.front]
            source = "file:/no/such.jpg"
            """
        )
        try daemon.appear(changing: [
            .stream: [
                "ConfigurationFile": .string(file),
                "Problems": .strings([
                    "The front camera was not found: file:/no/such.jpg.",
                    "The back camera pipewire:phone was not found. PipeWire has no camera.",
                ]),
            ]
        ])
        let lines = try daemon.run("doctor").output.split(separator: "\n")
        let findings = lines.indices.filter { lines[$0].hasPrefix("✗ cameras ") }
        try #require(findings.count == 2, "\(lines)")
        #expect(lines[findings[0]].contains("back.lenses[1].source: the file /no/tele.jpg was not"))
        #expect(lines[findings[0] + 1].hasSuffix("→ ${EDITOR:-editor} \(file)"))
        #expect(lines[findings[1]].contains("front.source: the file /no/such.jpg was not found"))
        #expect(lines[findings[1] + 1].hasSuffix("→ dualcamctl use front auto"))
        // What no finding covers is not lost.
        #expect(lines.contains { $0.hasPrefix("✗ stream         The back camera pipewire:phone ") })
        #expect(!lines.contains { $0.hasPrefix("✗ stream ") && $0.contains("front camera") })

        let fixing = try daemon.run("doctor", "--fix", "cameras", "--yes").output
        for source in ["/no/tele.jpg", "/no/such.jpg"] {
            #expect(fixing.components(separatedBy: source).count == 2, "\(fixing)")
        }
    }

    @Test func aTestPictureIsOfferedToTheCameraThatHasNone() throws {
        let file = try daemon.configure("[cameras.back]\nsource = \"test\"\n")
        try daemon.appear(changing: [.stream: ["ConfigurationFile": .string(file)]])
        let output = try daemon.run("doctor").output
        #expect(!output.contains("dualcamctl use back test"), "\(output)")
    }

    @Test func aMirroredCameraIsNamedAndTurned() throws {
        try daemon.appear()
        let words = "✓ mirror         the front camera is mirrored, so others see writing backwards"
        let first = try daemon.run("doctor").output
        #expect(first.contains(words), "\(first)")
        // It is done only by its name.
        #expect(!(try daemon.run("doctor", "--fix", "--json").output.contains("mirror")))
        #expect(!daemon.asked.contains { $0.contains("Mirror") })
        let fixed = try daemon.run("doctor", "--fix", "mirror", "--yes")
        #expect(fixed.exit == .status(0), "\(fixed.output)\(fixed.errors)")
        expect(fixed.output, says: "Run dualcamctl mirror off --camera front")
        #expect(daemon.asked.contains("front Mirror=false"), "\(daemon.asked)")
        daemon.set(["Mirror": .boolean(false)], of: .camera, at: DualCam.frontPath)
        let after = try daemon.run("doctor").output
        expect(after, says: "✓ mirror         no camera is mirrored")
        let again = try daemon.run("doctor", "--fix", "mirror", "--yes").output
        expect(again, says: "There is nothing to do.")
    }

    @Test func theFirstSetUpAsksAboutTheMirror() throws {
        let home = "\(daemon.session.directory)/home"
        let folder = "\(home)/.config/chromium"
        try put("{}", at: "\(folder)/Local State")
        try daemon.appear()
        let child = try daemon.session.run(
            "/bin/sh",
            [
                "-c",
                "(for i in 1 2 3 4 5 6 7 8 9; do echo n; done; sleep 2) | "
                    + "script -qec '\(FakeDaemon.tool) doctor --fix' /dev/null",
            ]
        )
        try daemon.wait(for: "doctor --fix") { child.exit != nil }
        let output = child.output.replacing("\r", with: "")
        expect(output, says: "Run dualcamctl mirror off --camera front")
        #expect(!daemon.asked.contains { $0.contains("Mirror") }, "\(daemon.asked)")
    }

    @Test func itFindsWhatKeepsAppsFromTheCamera() throws {
        try daemon.appear()
        func mock(_ name: String, _ path: ObjectPath, _ interface: String) throws -> MockedService {
            try MockedService(
                name,
                at: path,
                interface: interface,
                on: .session,
                in: daemon.session
            )
        }
        let manager = "org.freedesktop.systemd1.Manager"
        let systemd = try mock("org.freedesktop.systemd1", "/org/freedesktop/systemd1", manager)
        func systemdSays(_ code: String) throws {
            try systemd.define("GetUnitFileState", of: manager, takes: "s", gives: "s", code: code)
        }
        let camera = "org.freedesktop.portal.Camera"
        let portal = try mock(
            "org.freedesktop.portal.Desktop",
            "/org/freedesktop/portal/desktop",
            camera
        )
        try portal.call(
            "AddProperty",
            of: "org.freedesktop.DBus.Mock",
            [.string(camera), .string("IsCameraPresent"), .variant(.boolean(false))]
        )
        let permissions = "org.freedesktop.impl.portal.PermissionStore"
        let store = try mock(
            permissions,
            "/org/freedesktop/impl/portal/PermissionStore",
            permissions
        )
        func storeSays(_ answer: String) throws {
            try store.define(
                "Lookup",
                of: permissions,
                takes: "ss",
                gives: "a{sas}v",
                code: "ret = ({'org.example.Meet': ['yes'], 'org.example.Call': ['\(answer)']}, 0)"
            )
        }
        try systemdSays("ret = 'disabled'")
        try storeSays("no")
        let amiss = try daemon.run("doctor")
        for line in [
            "→ systemctl --user enable --now dualcamd",
            "✗ portal         the camera portal started before the camera, and does not see it",
            "→ systemctl --user restart xdg-desktop-portal",
            "✗ refusals       org.example.Call was refused the camera, and the portal remembers this",
            "→ dualcamctl doctor --fix refusals",
        ] { #expect(amiss.output.contains(line + "\n"), "\(line) in\n\(amiss.output)") }

        try systemdSays("ret = 'enabled'")
        try storeSays("yes")
        try portal.set("IsCameraPresent", of: camera, to: .boolean(true))
        let well = try daemon.run("doctor")
        for line in [
            "✓ unit           dualcamd.service is enabled", "✓ portal         it offers cameras",
            "✓ refusals       the portal remembers none",
        ] { #expect(well.output.contains(line), "\(line) in\n\(well.output)") }
        try systemdSays(
            "raise dbus.exceptions.DBusException('none', name='org.freedesktop.systemd1.NoSuchUnit')"
        )
        try expect(daemon.run("doctor").output, says: "→ systemctl --user daemon-reload\n")
    }

    @Test func theLoopbackIsToldOfOnce() throws {
        let file = try daemon.configure("[loopback]\ndevice = \"/dev/video255\"\n")
        let trouble = "The stream is not on a loopback device: v4l2loopback: it is fed"
        try daemon.appear(changing: [
            .stream: ["ConfigurationFile": .string(file), "Problems": .strings([trouble])]
        ])
        let output = try daemon.run("doctor").output
        expect(output, says: "✗ loopback       there is no v4l2loopback device\n")
        expect(output, says: "sudo modprobe v4l2loopback exclusive_caps=1")
        expect(output, says: "✓ stream         dualcamd reports no other problem\n")
    }
}

extension FakeDaemon {
    /// Writes a configuration file, and returns its path.
    fileprivate func configure(_ text: String) throws -> String {
        let file = session.directory + "/x.toml"
        try put(text, at: file)
        return file
    }
}
