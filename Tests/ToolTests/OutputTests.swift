import Control
import DBusKit
import Glibc
import TestSupport
import Testing

@Suite("What dualcamctl prints", .timeLimit(.minutes(2)))
struct OutputTests {
    /// The reader has gone before the first byte: no matter for the one who asked.
    @Test(arguments: [
        "status", "status --json", "cameras", "config show", "controls", "status --format x",
        "record status", "completions bash", "--help",
    ])
    func nobodyReadsIt(_ command: String) throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let pipe = "\(daemon.session.directory)/pipe"
        let script = """
            mkfifo \(pipe); exec 3<>\(pipe) 4>\(pipe) 3>&-
            \(FakeDaemon.tool) \(command) >&4; echo $? >&2
            """
        let child = try daemon.session.run("sh", ["-c", script])
        try daemon.wait(for: "the end of \(command)") { child.exit != nil }
        #expect(child.errors == "0\n")
    }

    /// Nothing that another program said, a camera's name or an error, controls the terminal.
    @Test(arguments: [
        ["status"], ["cameras"], ["doctor"], ["swap"], ["record", "status"], ["controls"],
        ["zoom", "2"], ["record", "start"], ["photo"], ["monitor"], ["privacy", "on"],
    ])
    func nothingControlsTheTerminal(_ command: [String]) throws {
        let daemon = try FakeDaemon()
        let evil = "a\u{1b}[2Jb\u{9b}1mc\rd\u{7}\u{8}e\u{7f}"
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
                "RecordingFiles": .array(
                    [.named(["path": .string(evil), "encoder": .string(evil)])],
                    of: .dictionary(key: .string, value: .variant)
                )
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
        let controls = text.unicodeScalars.filter {
            $0 != "\n" && ($0.value < 0x20 || (0x7f..<0xa0).contains($0.value))
        }
        #expect(controls.isEmpty, "\(controls.map { String($0.value, radix: 16) })")
    }

    @Test(arguments: [["status"], ["status", "--json"], ["cameras"], ["doctor"], ["monitor"]])
    func aNodeThatIsNotThereHasNoNumber(_ command: [String]) throws {
        let daemon = try FakeDaemon()
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
