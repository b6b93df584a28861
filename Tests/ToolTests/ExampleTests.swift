import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
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

    private func path(_ daemon: FakeDaemon) -> String {
        "\(Programs.directory):\(daemon.session.environment["PATH"] ?? "/usr/bin:/bin")"
    }

    /// Starts a line of a shell that finds `dualcamctl`.
    private func start(_ line: String, _ daemon: FakeDaemon) throws -> Child {
        try daemon.session.run(
            "sh",
            ["-c", line],
            adding: ["PATH": path(daemon), "GSETTINGS_BACKEND": "keyfile"]
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

    /// What the keys ask of the daemon, in the order of GNOME's.
    private static let keys = [
        "Swap", "Step Scene Layout next", "Next", "Apply desk", "Apply away",
        "Step Scene InsetVisible toggle", "TakePhoto", "ToggleRecording",
        "back Step Camera Frozen toggle", "Step Privacy Enabled toggle", "Step Pro Enabled toggle",
        "StepDial 1", "StepDial -1",
    ]

    @Test func waybarShowsAndDrives() throws {
        let daemon = try FakeDaemon()
        daemon.sceneRefusals = [:]
        try daemon.appear()
        let lines = try text("waybar/config.jsonc").split(separator: "\n")
        let json = lines.filter { !$0.hasPrefix("//") }.joined(separator: "\n")
        let modules = try #require(jsonObject(json) as? [String: [String: String]])
        let names = modules.keys.map { "#\($0.replacing("/", with: "-"))" }
        let style = try text("waybar/style.css")
        #expect(names.count == 4 && names.allSatisfy(style.contains))
        let module = try #require(modules["custom/dualcam"])

        let bar = try start(try #require(module["exec"]), daemon)
        try daemon.wait(for: "a line") { bar.output.hasSuffix("\n") }
        let classes = try #require(jsonObject(bar.output)["class"] as? [String])
        #expect(style.contains("#custom-dualcam.\(classes[0]) "))
        let commands = modules.values.flatMap { $0.filter { $0.key.hasPrefix("on-") }.values }
        // The recording before privacy, of which it would tell.
        #expect(try asked(by: commands.sorted(by: >), daemon).sorted() == Self.keys.sorted())
    }

    @Test func polybarShowsAndDrives() throws {
        let daemon = try FakeDaemon()
        daemon.sceneRefusals = [:]
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
        #expect(try asked(by: commands.map(\.1), daemon).sorted() == Self.keys.sorted())
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
        #expect(try asked(by: commands, daemon) == Self.keys)
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
        #expect(try asked(by: commands, daemon) == ["Start"] + Self.keys)
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

        let sway = try SwayDesktop(in: daemon.session)
        for line in lines { #expect(try sway.tell(String(line.0)).contains("\"success\": true")) }
    }

    /// Presses a button of a bar, once a second until the daemon is asked: it may not be there yet.
    private func press(
        _ expected: String,
        _ daemon: FakeDaemon,
        _ press: () throws -> Void
    ) throws {
        for _ in 0..<20 where !daemon.asked.contains(expected) {
            try press()
            let end = MonotonicClock.now + Timestamp(seconds: 1)
            while !daemon.asked.contains(expected), MonotonicClock.now < end {
                daemon.loop.runOnce(milliseconds: 10)
            }
        }
        #expect(daemon.asked.contains(expected), "\(daemon.asked)")
    }

    /// The modules of a bar, of which three have a place that is known, and the calls of their
    /// buttons: left, right, middle.
    private static let modules = (
        left: ["dualcam", "dualcam-inset"], center: ["dualcam-scene"], right: ["dualcam-photo"],
        calls: [
            ["Swap", "Step Privacy Enabled toggle", "Step Pro Enabled toggle"],
            ["Next", "Apply desk", "Apply away"],
            ["TakePhoto", "ToggleRecording", "back Step Camera Frozen toggle"],
        ]
    )

    @Test func waybarItselfTakesTheModules() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let sway = try SwayDesktop(in: daemon.session)
        let file = "\(daemon.session.directory)/config"
        func names(_ modules: [String]) -> [String] { modules.map { "custom/\($0)" } }
        let bar: [String: Any] = [
            "include": ["\(Self.folder)/waybar/config.jsonc"], "height": 30,
            "modules-left": names(Self.modules.left), "modules-center": names(Self.modules.center),
            "modules-right": names(Self.modules.right),
        ]
        try JSONSerialization.data(withJSONObject: bar).write(to: URL(filePath: file))
        let waybar = try daemon.session.run(
            "waybar",
            ["-c", file, "-s", "\(Self.folder)/waybar/style.css"],
            adding: sway.variables.merging(["PATH": path(daemon)]) { $1 }
        )
        for (x, calls) in zip([14, 640, 1260], Self.modules.calls) {
            for (button, call) in calls.enumerated() {
                try press(call, daemon) {
                    try sway.hand(
                        "move \(x) 15",
                        "sleep 0.1",
                        "down \(button)",
                        "sleep 0.1",
                        "up \(button)"
                    )
                }
            }
        }
        #expect(!waybar.errors.contains("[error]"), "\(waybar.errors)")
    }

    @Test func polybarItselfTakesTheModules() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let screen = try Screen(in: daemon.session)
        let file = "\(daemon.session.directory)/config.ini"
        try """
        include-file = \(Self.folder)/polybar/dualcam.ini
        [bar/test]
        height = 30
        font-0 = JetBrains Mono:size=10
        modules-left = \(Self.modules.left.joined(separator: " "))
        modules-center = \(Self.modules.center.joined())
        modules-right = \(Self.modules.right.joined())
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let polybar = try daemon.session.run(
            "polybar",
            ["-c", file, "test"],
            adding: ["DISPLAY": screen.display, "PATH": path(daemon)]
        )
        let dial = ["StepDial 1", "StepDial -1"]
        for (x, calls) in zip([8, 640, 1270], Self.modules.calls) {
            let buttons = zip([1, 3, 2, 4, 5], x == 8 ? calls + dial : calls)
            for (button, call) in buttons {
                try press(call, daemon) { try screen.hand("mousemove \(x) 15 click \(button)") }
            }
        }
        #expect(!polybar.errors.contains("|error"), "\(polybar.errors)")
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
        try daemon.wait(for: "its labels") { deck.output.split(separator: "\n").count == 13 }
        #expect(deck.output.hasPrefix("1 BACK\n2 pip\n3 desk\n4 desk\n5 away\n6 inset\n"))
        daemon.set(["InsetVisible": .boolean(false)], of: .scene)
        try daemon.wait(for: "a new label") { deck.output.hasSuffix("\n6 no inset\n") }
        daemon.set(["Current": .string("a|b; $(c) `d` * \u{1f}")], of: .scenes)
        try daemon.wait(for: "its name") {
            deck.output.hasSuffix("\n3 a|b; $(c) `d` * \u{fffd}\n")
        }
        let presses = (0...13).map { "\($0)\n" }.joined()
        write(writer, presses, presses.utf8.count)
        var asked: [String] { daemon.asked.filter { $0 != "Statistics" } }
        try daemon.wait(for: "the keys") { asked.count == Self.keys.count }
        #expect(asked == Self.keys)
        #expect(deck.errors.hasPrefix("deck: there is no key 0\n"))
    }
}
