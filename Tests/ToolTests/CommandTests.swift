import Control
import DBusKit
import Foundation
import TestSupport
import Testing

@Suite("dualcamctl commands", .timeLimit(.minutes(2)))
struct CommandTests {
    @Test(arguments: [
        [], ["status"], ["cameras"], ["monitor"], ["doctor"], ["start"], ["stop"], ["toggle"],
        ["restore"],
        ["swap"], ["layout"], ["inset"], ["mirror"], ["rotate"], ["privacy"], ["config"],
        ["pro"], ["dial"], ["iso"], ["shutter"], ["focus"], ["wb"], ["ev"], ["controls"],
        ["lens"], ["zoom"], ["torch"], ["record"], ["photo"], ["live-photo"], ["orient"],
        ["orientation"],
        ["config", "show"], ["media"], ["media", "list"], ["media", "thumbnail"],
        ["config", "check"],
    ])
    func helpIsAsItWas(_ command: [String]) throws {
        let child = try FakeDaemon().run(command + ["--help"])
        #expect(child.exit == .status(0))
        try expectGolden(child.output, "help\(command.map { "-" + $0 }.joined()).txt")
    }

    @Test(arguments: [
        (["start"], ["Start"]), (["stop"], ["Stop"]), (["toggle"], ["Toggle"]),
        (["restore"], ["Restore"]), (["swap"], ["Swap"]),
        (["swap", "--instant"], ["Swap instant=true"]), (["swap", "--reset"], ["Reset"]),
        (["swap", "--reset", "--instant"], ["Reset instant=true"]),
        (["layout", "side-by-side"], ["Layout=side-by-side"]),
        (["inset", "show"], ["InsetVisible=true"]), (["inset", "toggle"], ["InsetVisible=false"]),
        (
            ["inset", "hide", "--corner", "bottom-left", "--size", "0.3"],
            ["InsetCorner=bottom-left", "InsetSize=0.3", "InsetVisible=false"]
        ),
        (["inset", "--size", "0.1"], ["InsetSize=0.1"]),
        (["mirror", "off"], ["front Mirror=false"]),
        (["mirror", "toggle"], ["front Mirror=false"]),
        (["mirror", "toggle", "--camera", "back"], ["back Mirror=true"]),
        (["live-photo", "on"], ["LivePhoto=true"]), (["live-photo", "toggle"], ["LivePhoto=true"]),
        (["privacy", "on"], ["Enabled=true"]), (["privacy", "toggle"], ["Enabled=true"]),
        (["orientation", "left-up"], ["Mode=left-up"]), (["orientation", "auto"], ["Mode=auto"]),
        (["rotate", "90"], ["back Rotation=90"]),
        (["rotate", "270", "--camera", "front"], ["front Rotation=270"]),
        (["pro", "off"], ["Enabled=false"]), (["pro", "toggle"], ["Enabled=false"]),
        (["dial", "focus"], ["Dial=focus"]), (["dial", "up"], ["StepDial 1"]),
        (["dial", "down", "--camera", "front"], ["StepDial -1 camera=?"]),
        (["iso", "800"], ["back SetIso 800"]), (["iso", "auto"], ["back SetAuto iso"]),
        (["iso", "+1"], ["back StepIso 1"]), (["iso", "-2"], ["back StepIso -2"]),
        (["iso", "-2", "--camera", "front"], ["front StepIso -2"]),
        (["shutter", "1/250"], ["back SetShutter 4000"]),
        (["shutter", "0.5s"], ["back SetShutter 500000"]),
        (["shutter", "1\""], ["back SetShutter 1000000"]),
        (["shutter", "auto", "--camera", "front"], ["front SetAuto shutter"]),
        (["focus", "near"], ["back SetFocus 0.0"]), (["focus", "infinity"], ["back SetFocus 1.0"]),
        (["focus", "0.25"], ["back SetFocus 0.25"]), (["focus", "+3"], ["back StepFocus 3"]),
        (["wb", "shade"], ["back SetWhiteBalance shade"]),
        (["wb", "auto"], ["back SetWhiteBalance auto"]),
        (["wb", "5600K"], ["back SetKelvin 5600"]), (["wb", "-5"], ["back StepKelvin -5"]),
        (["ev", "-0.7"], ["back SetCompensation -0.7"]),
        (["ev", "auto"], ["back SetCompensation 0.0"]),
        (["lens", "ultra-wide"], ["back SelectLens ultra-wide"]),
        (["lens", "wide", "--camera", "front"], ["front SelectLens wide"]),
        (["torch", "toggle"], ["back Torch=true"]),
        (["torch", "off", "--camera", "front"], ["front Torch=false"]),
        (["zoom", "1.5x"], ["back SetZoom 1.5"]),
        (["zoom", "2", "--at", "0.2,1", "--camera", "front"], ["front SetZoom 2.0 at=?"]),
        (
            ["controls", "--set", "gain=12,auto_exposure=manual mode"],
            [
                "back SetRaw gain 12", "back DescribeRaw auto_exposure",
                "back SetRaw auto_exposure 1",
            ]
        ),
    ])
    func aVerbAsksForOneThing(_ arguments: [String], _ asked: [String]) throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let child = try daemon.run(arguments)
        #expect(child.exit == .status(0), "\(child.errors)")
        #expect(daemon.asked == asked)
        #expect(child.output == "" && child.errors == "")
    }

    @Test(arguments: [
        (["start"], #"{"version":1,"state":"streaming"}"#),
        (["swap"], #"{"version":1,"swapped":true}"#),
        (["layout", "single"], #"{"version":1,"layout":"single"}"#),
        (
            ["inset", "hide"],
            #"{"version":1,"insetVisible":false,"insetCorner":"top-right","insetSize":0.25}"#
        ),
        (["mirror", "on"], #"{"version":1,"camera":"front","mirror":true}"#),
        (["rotate", "180"], #"{"version":1,"camera":"back","rotation":180}"#),
        (["pro", "on"], #"{"version":1,"pro":true}"#),
        (
            ["lens", "wide"],
            #"{"version":1,"camera":"back","lens":"wide","fallback":false,"lenses":[{"name":"ultra-wide","factor":0.5},{"name":"wide","factor":1.0}]}"#
        ),
        (["zoom", "1"], #"{"version":1,"camera":"back","zoom":1.0}"#),
        (["dial", "up"], #"{"version":1,"dial":"iso","value":"500","limited":false}"#),
        (
            ["iso", "+1"],
            #"{"version":1,"camera":"back","iso":400,"isoAuto":false,"isoApproximate":true,"limited":false}"#
        ),
        (
            ["shutter", "1/250"],
            #"{"version":1,"camera":"back","shutter":4000,"shutterText":"1/250","exposureAuto":false,"limited":false}"#
        ),
        (
            ["wb", "shade"],
            #"{"version":1,"camera":"back","whiteBalance":"shade","kelvin":7500,"software":["white-balance"],"limited":false}"#
        ),
    ])
    func jsonSaysWhatIsSoNow(_ arguments: [String], _ line: String) throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        #expect(try daemon.run(arguments + ["--json"]).output == line + "\n")
    }

    @Test(arguments: [
        [], ["config"], ["no-such-verb"], ["status", "--no-such-option"], ["layout"],
        ["layout", "round"],
        ["inset"], ["inset", "--size", "0.9"], ["inset", "--size", "nan"],
        ["inset", "show", "--corner", "middle"], ["mirror"], ["rotate", "45"], ["orientation"],
        ["orientation", "up"],
        ["mirror", "on", "--camera", "side"], ["swap", "left"], ["pro"], ["iso"], ["iso", "fast"],
        ["shutter", "250"], ["shutter", "0s"],
        ["focus", "2"], ["focus", "nan"], ["wb", "moon"], ["dial", "left"],
        ["zoom"], ["zoom", "far"], ["zoom", "0"], ["zoom", "2", "--at", "2,0"],
        ["controls", "--set", "gain"], ["photo", "--live", "-o", "x.jpg"],
        ["photo", "--live", "--full"], ["photo", "--full", "--of", "stream"], ["live-photo"],
    ])
    func wrongUsageIsTwo(_ arguments: [String]) throws {
        let child = try FakeDaemon().run(arguments)
        #expect(child.exit == .status(2))
        #expect(child.output == "" && child.errors.contains("Usage: dualcamctl"))
    }

    @Test(arguments: [
        (["statsu"], "Unknown subcommand 'statsu'. Did you mean 'status'?"),
        (["contr"], "Unknown subcommand 'contr'. Did you mean 'controls'?"),
        (["no-such-verb"], "Unknown subcommand 'no-such-verb'.\n"),
        (["config", "shwo"], "Unknown subcommand 'shwo'. Did you mean 'show'?"),
        (["swap", "--instnat"], "Unknown option '--instnat'. Did you mean '--instant'?"),
        (["iso", "fast"], "Expected a number, +N, -N or auto, not \"fast\"."),
        (["iso", "fast"], "Usage: dualcamctl iso "), (["ev", "much"], "not \"much\"."),
        (["shutter", "250"], "not \"250\"."), (["focus", "2"], "not \"2\"."),
        (["wb", "moon"], "not \"moon\"."), (["zoom", "far"], "not \"far\"."),
        (["zoom", "2", "--at", "2,0"], "not \"2,0\"."),
        (["inset", "--size", "0.9"], "Expected a size from 0.1 to 0.5, not 0.9."),
    ])
    func wrongUsageNamesWhatIsWrong(_ arguments: [String], _ words: String) throws {
        let child = try FakeDaemon().run(arguments)
        #expect(child.errors.contains(words), "\(child.errors)")
    }

    @Test func aRecordingThatBeginsPrintsItsFiles() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let child = try daemon.run("record", "start", "--of", "back")
        #expect(child.exit == .status(0), "\(child.errors)")
        #expect(child.output == "/home/me/Videos/DualCam/a.mkv\n" && child.errors == "")
        let json = try daemon.run("record", "start", "--of", "back", "--json").output
        #expect(
            json == #"{"version":1,"recording":true,"files":[{"encoder":"mjpeg","path":"#
                + #""/home/me/Videos/DualCam/a.mkv","picture":"back"}]}"# + "\n"
        )
        // With privacy on there is no file yet.
        daemon.hasFiles = false
        #expect(try daemon.run("record", "start", "--no-audio").output == "recording\n")
        #expect(try daemon.run("record", "toggle", "--mp4").output == "recording\n")
        #expect(
            daemon.asked == [
                "StartRecording of=?", "StartRecording of=?", "StartRecording audio=false",
                "StartRecording mp4=true",
            ]
        )
    }

    @Test func aCameraWithoutControlsIsToldOf() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        daemon.hasControls = false
        let child = try daemon.run("controls", "--camera", "front")
        #expect(child.exit == .status(0) && child.output == "")
        #expect(child.errors == "dualcamctl: the front camera has no controls\n")
    }

    @Test func anEndOfADialIsToldAndNoFailure() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let child = try daemon.run("shutter", "+1")
        #expect(child.exit == .status(0))
        #expect(child.output == "" && child.errors == "dualcamctl: that is the end of the dial\n")
    }

    @Test func lensesAreListedWithTheOneInUse() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let list = try daemon.run("lens", "list")
        #expect(list.output == "○ ultra-wide  0.5×\n● wide        1.0×\n" && daemon.asked.isEmpty)
    }

    @Test func theDriversControlsAreListedWithTheNamesOfMenus() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        let list = try daemon.run("controls")
        try expectGolden(
            list.output + (try daemon.run("controls", "--json").output),
            "controls.txt"
        )
    }

    @Test(arguments: [
        (DBusError.noCamera("There is no second camera."), CInt(10)),
        (.outOfRange("Too much."), 2), (.notSupported("There is none."), 10),
        (.failed("It broke."), 1),
        (.pipeWireUnavailable("There is no PipeWire."), 1), (.busy("Busy."), 1),
    ])
    func aRefusalIsToldAndHasItsStatus(_ refusal: DBusError, _ status: CInt) throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        daemon.refusal = refusal
        for arguments in [["swap"], ["layout", "pip"], ["start", "--json"]] {
            let child = try daemon.run(arguments)
            #expect(child.exit == .status(status))
            #expect(child.output == "" && child.errors == "dualcamctl: \(refusal.message)\n")
        }
    }

    @Test func withoutADaemonItIsEight() throws {
        let daemon = try FakeDaemon()
        for arguments in [
            ["status"], ["status", "--json"], ["cameras"], ["swap"], ["rotate", "0"],
        ] {
            let child = try daemon.run(arguments)
            #expect(child.exit == .status(8))
            #expect(child.output == "" && child.errors.contains("dualcamd is not running"))
        }
    }

    @Test func withoutABusItIsEight() throws {
        let daemon = try FakeDaemon()
        daemon.session.kill(.bus)
        for arguments in [["status"], ["monitor"], ["stop"]] {
            let child = try daemon.run(arguments)
            #expect(child.exit == .status(8))
            #expect(child.errors.contains("there is no session bus"))
        }
    }

    @Test func aDaemonThatDoesNotAnswerIsThree() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        // The bus takes the call, but no loop runs to answer it.
        let child = try daemon.start("swap")
        #expect(try child.wait(within: 10) == .status(3))
        #expect(child.errors.contains("did not answer within 5 s"))
        #expect(child.errors.contains("systemctl --user status dualcamd"))
    }

    @Test func whoLooksDoesNotStartTheDaemonAndWhoActsDoes() throws {
        let daemon = try FakeDaemon()
        let mark = daemon.session.directory + "/started"
        let program = daemon.session.directory + "/daemon"
        try "#!/bin/sh\ntouch \(mark)\nexit 1\n".write(
            toFile: program,
            atomically: true,
            encoding: .utf8
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        try "[D-BUS Service]\nName=\(DualCam.busName)\nExec=\(program)\n".write(
            toFile: "\(daemon.session.servicesDirectory)/\(DualCam.busName).service",
            atomically: true,
            encoding: .utf8
        )
        _ = try daemon.session.output(
            "busctl",
            "--user",
            "call",
            "org.freedesktop.DBus",
            "/",
            "org.freedesktop.DBus",
            "ReloadConfig"
        )
        for arguments in [["status"], ["cameras"]] {
            #expect(try daemon.run(arguments).exit == .status(8))
        }
        #expect(!FileManager.default.fileExists(atPath: mark))
        let child = try daemon.run("swap")
        #expect(child.exit == .status(8), "\(child.errors)")
        #expect(child.errors.contains("dualcamd does not start"))
        #expect(FileManager.default.fileExists(atPath: mark))
    }

    @Test func theConfigurationIsShownAndChecked() throws {
        let daemon = try FakeDaemon()
        let none = try daemon.run("config", "check")
        #expect(none.exit == .status(0))
        let shown = try daemon.run("config", "show")
        #expect(shown.output.contains("[cameras.front]\n"))

        let file = daemon.session.directory + "/x.toml"
        try "[output]\nwidht = 5\n".write(toFile: file, atomically: true, encoding: .utf8)
        let warned = try daemon.run("config", "check", file)
        #expect(warned.exit == .status(0))
        #expect(warned.output == "\(file) is valid\n")
        #expect(warned.errors.contains("warning: \(file):2: output.widht is unknown"))

        try "[output]\nwidth = 5\n".write(toFile: file, atomically: true, encoding: .utf8)
        for verb in ["check", "show"] {
            let wrong = try daemon.run("config", verb, file)
            #expect(wrong.exit == .status(1))
            #expect(wrong.output == "" && wrong.errors.contains("\(file):2: "))
        }
        try "[capture]\nlive-photo = true\n".write(toFile: file, atomically: true, encoding: .utf8)
        // Without an argument, the file that the daemon was told to read.
        try daemon.appear(changing: [.stream: ["ConfigurationFile": .string(file)]])
        #expect(try daemon.run("config", "check").output == "\(file) is valid\n")
        daemon.vanish()

        try "[output]\nwidth = 5\n".write(toFile: file, atomically: true, encoding: .utf8)
        let json = try daemon.run("config", "check", file, "--json")
        #expect(json.exit == .status(1))
        #expect(json.output.hasPrefix(#"{"version":1,"path":"\#(file)","valid":false,"error":""#))
        #expect(try daemon.run("config", "check", file + "x").exit == .status(1))
    }
}
