import Control
import DBusKit
import Foundation
import Glibc
import TestSupport
import Testing

@testable import dualcamctl

@Suite("dualcamctl doctor", .timeLimit(.minutes(1)))
struct DoctorTests {
    @Test func withNothingThereItSaysWhatMendsIt() throws {
        let desk = try Desk()
        let child = try desk.run("doctor")
        #expect(child.exit == .status(1))
        for line in [
            "✓ configuration  there is no file; every value is the default",
            "✗ pipewire       nobody answers at \(desk.session.socket)",
            "                 → systemctl --user enable --now pipewire.socket",
            "                 → systemctl --user enable --now dualcamd",
        ] { #expect(child.output.contains(line + "\n"), "\(line) in\n\(child.output)") }
        #expect(child.errors.hasSuffix(" are amiss\n"))

        let text = try desk.run("doctor", "--json").output
        let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let report = try #require(parsed as? [String: Any])
        #expect(report["version"] as? Int == 1 && report["ok"] as? Bool == false)
        let checks = try #require(report["checks"] as? [[String: Any]])
        let names = [
            "configuration", "cameras", "permissions", "in use", "pipewire", "wireplumber",
            "daemon", "node", "stream",
        ]
        #expect(checks.map { $0["name"] as? String } == names)
        for check in checks {
            #expect(check["ok"] is Bool && check["text"] is String && check["command"] != nil)
        }
    }

    @Test func itRepeatsWhatTheDaemonSays() throws {
        let desk = try Desk()
        try desk.appear(changing: [
            .stream: [
                "Active": .boolean(false), "State": .string("stopped"),
                "Problems": .strings(["The lens cap is on."]),
            ]
        ])
        let child = try desk.run("doctor")
        #expect(child.exit == .status(1))
        #expect(child.output.contains("✓ daemon         dualcamd 1.2.3 answers"))
        #expect(child.output.contains("✗ node           the stream was stopped\n"))
        #expect(child.output.contains("→ dualcamctl start\n"))
        #expect(child.output.contains("✗ stream         The lens cap is on.\n"))
    }

    @Test func aBrokenConfigurationIsOpenedAtItsLine() throws {
        let desk = try Desk()
        let file = desk.session.directory + "/it's.toml"
        try "\n[output]\nwidth = 5\n".write(toFile: file, atomically: true, encoding: .utf8)
        try desk.appear(changing: [.stream: ["ConfigurationFile": .string(file)]])
        let child = try desk.run("doctor")
        #expect(child.output.contains("✗ configuration  \(file):3: output.width"))
        let word = file.replacing("'", with: "'\\''")
        #expect(child.output.contains("→ ${EDITOR:-editor} +3 '\(word)'\n"))
    }

    @Test func camerasAreFoundWithoutBeingOpened() throws {
        let root = try FileManager.default.url(
            for: .itemReplacementDirectory,
            in: .userDomainMask,
            appropriateFor: URL(filePath: "/tmp"),
            create: true
        ).path
        defer { try? FileManager.default.removeItem(atPath: root) }
        func node(_ name: String, index: Int, hasDevice: Bool = true) throws {
            let directory = "\(root)/sys/\(name)"
            try FileManager.default.createDirectory(
                atPath: hasDevice ? "\(directory)/device" : directory,
                withIntermediateDirectories: true
            )
            try "\(index)\n".write(toFile: "\(directory)/index", atomically: true, encoding: .utf8)
            try "Desk Cam\n".write(toFile: "\(directory)/name", atomically: true, encoding: .utf8)
        }
        try node("video0", index: 0)
        // Its metadata, a loopback, and something else.
        try node("video1", index: 1)
        try node("video2", index: 0, hasDevice: false)
        try node("vbi0", index: 0)
        let cameras = AttachedCamera.all(sysfs: "\(root)/sys", dev: "\(root)/dev")
        #expect(cameras.map(\.description) == ["Desk Cam (\(root)/dev/video0)"])
        #expect(!AttachedCamera.isWaitingForDriver(usb: "\(root)/usb"))
        try FileManager.default.createDirectory(
            atPath: "\(root)/usb/1-1:1.0",
            withIntermediateDirectories: true
        )
        try "0e\n".write(
            toFile: "\(root)/usb/1-1:1.0/bInterfaceClass",
            atomically: true,
            encoding: .utf8
        )
        #expect(AttachedCamera.isWaitingForDriver(usb: "\(root)/usb"))
        try FileManager.default.createDirectory(
            atPath: "\(root)/usb/1-1:1.0/driver",
            withIntermediateDirectories: true
        )
        #expect(!AttachedCamera.isWaitingForDriver(usb: "\(root)/usb"))
    }
}
