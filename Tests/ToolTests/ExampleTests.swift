import Control
import DBusKit
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of the files in `examples`, used as their readers use them.
@Suite("Examples", .timeLimit(.minutes(2)))
struct ExampleTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "examples").path

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(Self.folder)/\(name)", encoding: .utf8)
    }

    /// Starts a line of a shell that finds `dualcamctl`.
    private func start(_ line: String, _ daemon: FakeDaemon) throws -> Child {
        let path = "\(Programs.directory):\(daemon.session.environment["PATH"] ?? "/usr/bin:/bin")"
        return try daemon.session.run(
            "sh",
            ["-c", line],
            adding: ["PATH": path, "GSETTINGS_BACKEND": "keyfile"]
        )
    }

    /// Runs a line of a shell to its end, and returns its output.
    @discardableResult
    private func run(_ line: String, _ daemon: FakeDaemon) throws -> String {
        let child = try start(line, daemon)
        try daemon.wait(for: line) { child.exit != nil }
        // The fake daemon has a photo of one camera.
        let errors = child.errors.split(separator: "\n").filter { !$0.contains("No photo of") }
        #expect(child.exit == .status(0) && errors.isEmpty, "\(line): \(child.errors)")
        return child.output
    }

    /// Returns the calls that each command makes to the daemon, in order.
    private func asked(by commands: [String], _ daemon: FakeDaemon) throws -> [String] {
        try commands.map { command in
            let before = daemon.asked.count
            try run(command, daemon)
            // A status bar that follows the state makes calls, too.
            return daemon.asked.dropFirst(before).filter { $0 != "Statistics" }
                .joined(separator: ", ")
        }
    }

    @Test func waybarShowsAndDrives() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let lines = try text("waybar/config.jsonc").split(separator: "\n")
        let json = lines.filter { !$0.hasPrefix("//") }.joined(separator: "\n")
        let parsed = try JSONSerialization.jsonObject(with: Data(json.utf8))
        let modules = try #require(parsed as? [String: [String: String]])
        let module = try #require(modules["custom/dualcam"])

        let bar = try start(try #require(module["exec"]), daemon)
        try daemon.wait(for: "a line") { bar.output.hasSuffix("\n") }
        let line = try JSONSerialization.jsonObject(with: Data(bar.output.utf8))
        let shown = try #require(line as? [String: Any])
        let classes = try #require(shown["class"] as? [String])
        #expect(try text("waybar/style.css").contains("#custom-dualcam.\(classes[0]) "))
        let commands = module.filter { $0.key.hasPrefix("on-") }.sorted { $0.key < $1.key }
        #expect(
            try asked(by: commands.map(\.value), daemon) == [
                "Swap", "Step Pro Enabled toggle", "Step Privacy Enabled toggle", "StepDial -1",
                "StepDial 1",
            ]
        )
    }

    @Test func polybarShowsAndDrives() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let settings = try text("polybar/dualcam.ini").matches(of: /(?m)^([a-z-]+) = (.*)$/).map {
            (String($0.1), String($0.2))
        }
        let show = try #require(settings.first { $0.0 == "exec" }).1
        let bar = try start(show, daemon)
        try daemon.wait(for: "a line") { bar.output == "● back\n" }
        daemon.set(["Enabled": .boolean(true)], of: .privacy)
        try daemon.wait(for: "a change") { bar.output == "● back\n● private\n" }
        let commands = settings.filter { $0.0.hasPrefix("click") || $0.0.hasPrefix("scroll") }
        #expect(
            try asked(by: commands.map(\.1), daemon) == [
                "Swap", "Step Scene InsetVisible toggle", "Step Privacy Enabled toggle",
                "StepDial 1",
                "StepDial -1",
            ]
        )
    }

    @Test func gnomeGetsKeysAndKeepsItsOwn() throws {
        let daemon = try FakeDaemon()
        daemon.sceneRefusals = [:]
        try daemon.appear()
        let keys = "org.gnome.settings-daemon.plugins.media-keys"
        let list = "gsettings get \(keys) custom-keybindings"
        try run("gsettings set \(keys) custom-keybindings \"['/mine/']\"", daemon)
        let before = try run(list, daemon)
        for _ in 0..<2 { try run("\(Self.folder)/gnome/shortcuts", daemon) }
        let paths = try run(list, daemon).matches(of: /'([^']*)'/).map { String($0.1) }
        #expect(paths.count == 14 && paths[0] == "/mine/")
        var commands: [String] = []
        var bindings: Set<String> = []
        for path in paths.dropFirst() {
            func value(_ name: String) throws -> String {
                try run("gsettings get \(keys).custom-keybinding:\(path) \(name)", daemon)
                    .trimmingCharacters(in: ["'", "\n"])
            }
            commands.append(try value("command"))
            bindings.insert(try value("binding"))
        }
        #expect(bindings.count == 13 && bindings.contains("<Super><Alt>w"))
        // None is a key of GNOME's own, as far as it is installed here.
        let own = try run("gsettings list-recursively", daemon)
        for binding in bindings {
            #expect(!own.contains("'\(binding)'"), "\(binding) is in use")
        }
        #expect(
            try asked(by: commands, daemon) == [
                "Swap", "Step Scene Layout next", "Next", "Apply desk", "Apply away",
                "Step Scene InsetVisible toggle", "TakePhoto", "ToggleRecording",
                "back Step Camera Frozen toggle", "Step Privacy Enabled toggle",
                "Step Pro Enabled toggle", "StepDial 1", "StepDial -1",
            ]
        )
        try run("\(Self.folder)/gnome/shortcuts --remove", daemon)
        #expect(try run(list, daemon) == before)
    }

    @Test func elsewhereGnomesKeysAreRefusedInASentence() throws {
        let daemon = try FakeDaemon()
        let line = "GSETTINGS_SCHEMA_DIR=/ XDG_DATA_DIRS=/ \(Self.folder)/gnome/shortcuts"
        let child = try start(line, daemon)
        try daemon.wait(for: "its end") { child.exit != nil }
        #expect(child.exit == .status(1))
        #expect(
            child.errors.hasPrefix("shortcuts: This desktop")
                && child.errors.count { $0 == "\n" } == 1
        )
    }

    @Test func plasmaGetsKeys() throws {
        let daemon = try FakeDaemon()
        daemon.sceneRefusals = [:]
        try daemon.appear()
        #expect(try run("desktop-file-validate \(Self.folder)/kde/dualcam.desktop", daemon) == "")
        let file = try text("kde/dualcam.desktop")
        let commands = file.matches(of: /(?m)^Exec=(.*)$/).map { String($0.1) }
        let keys = Set(file.matches(of: /(?m)^X-KDE-Shortcuts=(.*)$/).map { String($0.1) })
        #expect(keys.count == commands.count - 1)
        #expect(
            try asked(by: commands, daemon) == [
                "Start", "Swap", "Step Scene Layout next", "Next", "Apply desk", "Apply away",
                "Step Scene InsetVisible toggle", "TakePhoto", "ToggleRecording",
                "back Step Camera Frozen toggle", "Step Privacy Enabled toggle",
                "Step Pro Enabled toggle", "StepDial 1", "StepDial -1",
            ]
        )
    }

    @Test func swayGetsTheSameKeys() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let lines = try text("sway/config").matches(of: /(?m)^bindsym Mod4\+Mod1\+(\S+) exec (.*)$/)
        let plasma = try text("kde/dualcam.desktop")
            .matches(of: /Exec=(.*)\nX-KDE-Shortcuts=Meta\+Alt\+(.*)/)
        let names = ["Prior": "PgUp", "Next": "PgDown"]
        let keys = lines.map { names[String($0.1)] ?? $0.1.uppercased() }
        #expect(keys == plasma.map { String($0.2) })
        #expect(lines.map { String($0.2) } == plasma.map { String($0.1) })
    }

    @Test func aDeckHasLabelsAndKeys() throws {
        let daemon = try FakeDaemon()
        daemon.sceneRefusals = [:]
        try daemon.appear()
        let keys = "\(daemon.session.directory)/keys"
        mkfifo(keys, 0o600)
        let deck = try start("\(Self.folder)/deck/deck <\(keys)", daemon)
        // Opening a pipe for reading waits for a writer.
        let writer = open(keys, O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        try daemon.wait(for: "twelve labels") { deck.output.split(separator: "\n").count == 12 }
        #expect(deck.output.hasPrefix("1 BACK\n2 inset\n3 ●\n4 PRO\n5 ISO "))
        daemon.set(["InsetVisible": .boolean(false)], of: .scene)
        try daemon.wait(for: "a new label") { deck.output.hasSuffix("\n2 no inset\n") }
        daemon.set(["Current": .string("a|b; $(c) `d` * \u{1f}")], of: .scenes)
        try daemon.wait(for: "its name") {
            deck.output.hasSuffix("\n7 a|b; $(c) `d` * \u{fffd}\n")
        }
        write(writer, "1\n0\n6\n7\n8\n12\n", 13)
        try daemon.wait(for: "the keys") { daemon.asked.filter { $0 != "Statistics" }.count == 5 }
        #expect(
            daemon.asked.filter { $0 != "Statistics" }
                == ["Swap", "StepDial 1", "Next", "Apply desk", "back Step Camera Frozen toggle"]
        )
        #expect(deck.errors == "deck: there is no key 0\n")
    }
}
