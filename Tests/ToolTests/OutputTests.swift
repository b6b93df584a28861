import Control
import DBusKit
import Frames
import Glibc
import TestSupport
import Testing

@Suite("What dualcamctl prints", .timeLimit(.minutes(2)))
struct OutputTests {
    private let daemon: FakeDaemon

    init() throws { daemon = try FakeDaemon() }

    /// Runs a line of a shell in which `$ctl`, `$daemon` and `$view` are the programs, to its end.
    private func shell(_ line: String) throws -> Child {
        let names = ["ctl": "dualcamctl", "daemon": "dualcamd", "view": "dualcam-view"]
        let child = try daemon.session.run(
            "sh",
            ["-c", line],
            adding: names.mapValues { Programs.path(of: $0) }
        )
        try daemon.wait(for: line) { child.exit != nil }
        return child
    }

    @Test(arguments: [
        "$ctl status", "$ctl status --json", "$ctl status --format x", "$ctl cameras",
        "$ctl cameras --all", "$ctl config show", "$ctl scene list", "$ctl scene export",
        "$ctl controls", "$ctl completions bash", "$ctl help", "$ctl --help", "$ctl zoom --help",
        "$ctl --version", "$ctl media list", "$ctl record status", "$ctl swap --json",
        "$ctl doctor", "$ctl perspective", "$ctl lens list", "$daemon --help",
        "$daemon --version", "$view --help", "$view --version",
    ])
    func whatCannotBeWrittenIsSaid(_ command: String) throws {
        try daemon.appear()
        let full = try shell("\(command) >/dev/full")
        let name = ["$c": "dualcamctl", "$d": "dualcamd"][String(command.prefix(2))]
        let start = "\(name ?? "dualcam-view"): Cannot write standard output: "
        #expect(full.exit == .status(1))
        #expect(full.errors == start + "no space left on device.\n")
        let closed = try shell("\(command) >&-")
        #expect(closed.exit == .status(1) && closed.errors.hasPrefix(start), "\(closed.errors)")
        // The reader has gone before the first byte: no matter for the one who asked.
        let pipe = "\(daemon.session.directory)/pipe"
        let opened = "mkfifo \(pipe); exec 3<>\(pipe) 4>\(pipe) 3>&-"
        let unread = try shell("\(opened); \(command) >&4; echo $? >&2")
        #expect(unread.errors == "0\n" || command == "$ctl doctor")
    }

    @Test func aSlowReaderOfAPipeThatDoesNotBlockGetsAll() throws {
        let line = """
            { perl -e 'use Fcntl; fcntl(STDOUT, F_SETFL, O_WRONLY | O_NONBLOCK); exec @ARGV' \
            "$ctl" completions bash; echo $? >&2; } | { sleep 0.3; wc -c; }
            """
        let child = try shell(line)
        #expect(child.errors == "0\n")
        #expect(try child.output == shell("$ctl completions bash | wc -c").output)
    }

    @Test(arguments: ["$daemon --nope", "$daemon x", "$view --nope", "$view --multiple", "$ctl x"])
    func wrongUsageIsTwo(_ command: String) throws {
        let child = try shell(command)
        #expect(child.exit == .status(2) && child.output == "")
        #expect(child.errors.contains("Error: "))
    }

    @Test(arguments: ["$view", "$view --pick", "$ctl view"])
    func aWindowWithoutADisplaySaysSo(_ command: String) throws {
        let child = try shell(
            "env -u DISPLAY -u WAYLAND_DISPLAY -u WAYLAND_SOCKET \(command)"
        )
        #expect(child.exit == .status(1))
        #expect(
            child.errors
                == "dualcam-view: There is no display here. Run it in your desktop session.\n"
        )
    }

    @Test(arguments: ["photo", "media thumbnail a.jpg", "orient a.jpg"], ["-", "/dev/stdout"])
    func noPictureGoesToATerminal(_ command: String, _ place: String) throws {
        try daemon.appear()
        let child = try shell("script -qec \"$ctl \(command) -o \(place)\" /dev/null")
        #expect(child.exit == .status(2))
        #expect(child.output.contains("A picture cannot go to a terminal."))
        #expect(daemon.asked == [])
    }

    @Test func aTrayThatIsNotThereIsWaitedFor() throws {
        let child = try daemon.start("tray")
        try daemon.wait(for: "a word") { child.errors.hasSuffix("\n") }
        #expect(child.errors.hasPrefix("dualcamctl: There is no system tray yet;"))
        child.signal(SIGTERM)
        #expect(try child.wait() == .status(0))
    }

    @Test(arguments: ["0", "1", "20", "39", "-5", "1000000000", "99999999999999999999", "wide", ""])
    func helpIsReadableInAnyWindow(_ columns: String) throws {
        let session = try PrivateSession([])
        for (program, arguments, wanted) in [
            ("dualcamctl", ["help", "zoom"], "How far to"),
            ("dualcamctl", ["scene", "show"], "The name of the scene"),
            ("dualcamctl", ["--help"], "Take a photo"), ("dualcamd", ["--help"], "Read this file"),
            ("dualcam-view", ["--help"], "Let the user choose"),
        ] {
            let child = try session.run(
                Programs.path(of: program),
                arguments,
                adding: ["COLUMNS": columns]
            )
            _ = try child.wait(within: 30)
            let text = child.output + child.errors
            #expect(text.replacing(/\s+/, with: " ").contains(wanted), "\(arguments)")
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 200 })
        }
    }

    /// Nothing that another program said, a camera's name or an error, controls the terminal.
    @Test(arguments: [
        ["status"], ["status", "--json"], ["status", "--waybar"], ["cameras"],
        ["cameras", "--json"],
        ["doctor"], ["doctor", "--json"], ["swap"], ["record", "status"], ["controls"],
        ["record", "status", "--json"], ["status", "--format", "{{ json(problems) }}"],
        ["zoom", "2"], ["record", "start"], ["photo"], ["monitor"], ["privacy", "on"],
    ])
    func nothingControlsTheTerminal(_ command: [String]) throws {
        let evil = "a\u{1b}[2Jb\u{9b}1mc\rd\u{7}\u{8}e\u{7f}f\u{202e}g\u{2066}\u{61c}"
        try daemon.appear(changing: [
            .stream: ["Problems": .strings([evil]), "PixelFormat": .string(evil)],
            .camera: [
                "Name": .string(evil), "Source": .string(evil), "State": .string(evil),
                "Interruption": .string(evil), "PixelFormat": .string(evil), "Lens": .string(evil),
            ],
            .controls: [
                "ShutterText": .string(evil), "FocusText": .string(evil),
                "WhiteBalance": .string(evil),
            ],
            .capture: [
                "RecordingFiles": .named([["path": .string(evil), "encoder": .string(evil)]])
            ],
        ])
        daemon.refusal = DBusError("org.dualcam.DualCam1.Error.Busy", evil)
        let child = try daemon.start(command)
        if command == ["monitor"] {
            try daemon.wait(for: "its first line") { !child.output.isEmpty }
            daemon.set(["Problems": .strings([evil + "!"])], of: .stream)
            try daemon.wait(for: "the problem") { child.output.contains("!") }
            child.signal(SIGINT)
        }
        try daemon.wait(for: "dualcamctl \(command)") { child.exit != nil }
        let text = child.output + child.errors
        #expect(!text.isEmpty)
        let controls = text.unicodeScalars.filter { $0 != "\n" && $0.isCommand }
        #expect(controls.isEmpty, "\(controls.map { String($0.value, radix: 16) })")
    }

    @Test(arguments: [["status"], ["status", "--json"], ["cameras"], ["doctor"], ["monitor"]])
    func aNodeThatIsNotThereHasNoNumber(_ command: [String]) throws {
        try daemon.appear(changing: [
            .stream: ["NodeId": .uint32(.max), "Active": .boolean(false)],
            .camera: ["NodeId": .uint32(.max)],
        ])
        let child = try daemon.start(command)
        if command == ["monitor"] {
            try daemon.wait(for: "its first line") { !child.output.isEmpty }
            daemon.set(["NodeId": .uint32(42)], of: .stream)
            try daemon.wait(for: "a node") { child.output.contains("NodeId=42") }
            daemon.set(["NodeId": .uint32(.max)], of: .stream)
            try daemon.wait(for: "none") { child.output.contains("NodeId=null") }
            child.signal(SIGINT)
        }
        try daemon.wait(for: "dualcamctl \(command)") { child.exit != nil }
        #expect(!(child.output + child.errors).contains("4294967295"), "\(child.output)")
    }
}
