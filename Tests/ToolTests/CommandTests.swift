import Control
import DBusKit
import Foundation
import TestSupport
import Testing

@Suite("dualcamctl commands", .timeLimit(.minutes(2)))
struct CommandTests {
    private let daemon: FakeDaemon

    init() throws { daemon = try FakeDaemon() }

    /// The help of every verb that the parser knows, however deep. A golden of none is left over.
    @Test func helpIsAsItWas() throws {
        let session = try PrivateSession([])
        func output(_ arguments: [String]) throws -> String {
            let child = try session.run(FakeDaemon.tool, arguments, adding: ["COLUMNS": "80"])
            #expect(try child.wait(within: 30) == .status(0), "\(arguments)")
            return child.output
        }
        let dump = try output(["--experimental-dump-help"])
        let root = try jsonObject(dump)
        func verbs(below command: [String: Any], _ path: [String]) -> [[String]] {
            [path]
                + (command["subcommands"] as? [[String: Any]] ?? []).flatMap { verb in
                    let name = verb["commandName"] as? String ?? "?"
                    return name == "help" ? [] : verbs(below: verb, path + [name])
                }
        }
        let all = verbs(below: try #require(root["command"] as? [String: Any]), [])
        #expect(all.count > 50)
        func golden(_ verb: [String]) -> String { "help\(verb.map { "-" + $0 }.joined()).txt" }
        for verb in all { try expectGolden(try output(verb + ["--help"]), golden(verb)) }
        #expect(try goldens().filter { $0.hasPrefix("help") } == all.map(golden).sorted())
    }

    /// What is typed, and what the daemon is then asked. The type is said, since the compiler needs
    /// six seconds to find it.
    private static let verbs: [([String], [String])] = [
        (["start"], ["Start"]), (["stop"], ["Stop"]), (["toggle"], ["Toggle"]),
        (["restore"], ["Restore"]), (["swap"], ["Swap"]), (["reset"], ["Reset"]),
        (["swap", "--instant"], ["Swap instant=true"]), (["swap", "--reset"], ["Reset"]),
        (["swap", "--reset", "--instant"], ["Reset instant=true"]),
        (["layout", "side-by-side"], ["Layout=side-by-side"]),
        (["inset", "show"], ["InsetVisible=true"]),
        (["inset", "toggle"], ["Step Scene InsetVisible toggle"]),
        (
            ["inset", "hide", "--corner", "bottom-left", "--size", "0.3"],
            ["InsetCorner=bottom-left", "InsetSize=0.3", "InsetVisible=false"]
        ),
        (["inset", "--shape", "circle"], ["InsetShape=circle"]),
        (["inset", "--shape", "person", "--size", "70%"], ["InsetShape=person", "InsetSize=0.7"]),
        (["inset", "--shape", "next"], ["Step Scene InsetShape next"]),
        (["inset", "--at", "0.5,1"], ["InsetPosition=?"]),
        (["inset", "--size", "0.1"], ["InsetSize=0.1"]),
        (["inset", "--size", "30%"], ["InsetSize=0.3"]),
        (["inset", "--size", "+5 %"], ["Step Scene InsetSize 0.05"]),
        (["mirror", "off"], ["back Mirror=false"]),
        (["mirror", "toggle"], ["back Step Camera Mirror toggle"]),
        (["mirror", "toggle", "--camera", "inset"], ["front Step Camera Mirror toggle"]),
        (["mirror", "ON", "--camera", "main"], ["back Mirror=true"]),
        (["main", "front"], ["Swapped=true"]), (["main", "toggle"], ["Swap"]),
        (["hud", "always"], ["Hud=always"]), (["hud", "next"], ["Step Scene Hud next"]),
        (["swap-icon", "off"], ["SwapIcon=false"]), (["swap", "--wait"], ["Swap", "Settle"]),
        (["layout", "single", "--wait"], ["Layout=single", "Settle"]),
        (["live-photo", "on"], ["LivePhoto=true"]),
        (["live-photo", "toggle"], ["Step Capture LivePhoto toggle"]),
        (["privacy", "on"], ["Enabled=true"]), (["phone", "--forget"], ["Forget"]),
        (["config", "set", "output.width", "640"], ["Set output.width=640"]),
        (["config", "set", "capture.file-mode", "640"], ["Set capture.file-mode=640"]),
        (["privacy", "toggle"], ["Step Privacy Enabled toggle"]),
        (["orientation", "left-up"], ["Mode=left-up"]), (["orientation", "auto"], ["Mode=auto"]),
        (["orientation", "next"], ["Step Orientation Mode next"]),
        (["rotate", "90"], ["back Rotation=90"]),
        (["rotate", "270", "--camera", "front"], ["front Rotation=270"]),
        (["pro", "off"], ["Enabled=false"]), (["pro", "toggle"], ["Step Pro Enabled toggle"]),
        (["dial", "focus"], ["Dial=focus"]), (["dial", "up"], ["StepDial 1"]),
        (["dial", "down", "--camera", "front"], ["StepDial -1 camera=?"]),
        (["scene", "save", "my desk"], ["Save my desk"]),
        (["scene", "save", "x", "--only", "layout,zoom"], ["Save x only=?"]),
        (["scene", "next"], ["Next"]), (["scene", "next", "--instant"], ["Next instant=true"]),
        (["scene", "delete", "x"], ["Remove x"]), (["scene", "rename", "x", "y"], ["Rename x y"]),
        (["title", "Ada", "Engines"], ["Title=Ada\nEngines"]), (["title", "Off"], ["Title="]),
        (["title", "--corner", "top-left"], ["TitleCorner=top-left"]),
        (["iso", "800"], ["back SetIso 800"]), (["iso", "auto"], ["back SetAuto iso"]),
        (["iso", "+1"], ["back StepIso 1"]), (["iso", "-2"], ["back StepIso -2"]),
        (["iso", "-2", "--camera", "front"], ["front StepIso -2"]),
        (["shutter", "1/250"], ["back SetShutter 4000"]),
        (["shutter", "0.5s"], ["back SetShutter 500000"]),
        (["shutter", "1\""], ["back SetShutter 1000000"]),
        (["shutter", "auto", "--camera", "front"], ["front SetAuto shutter"]),
        (["focus", "near"], ["back SetFocus 0.0"]), (["focus", "infinity"], ["back SetFocus 1.0"]),
        (["focus", "0.25"], ["back SetFocus 0.25"]), (["focus", "+3"], ["back StepFocus 3"]),
        (["focus", "+0.05"], ["back Step Camera.Controls Focus 0.05"]),
        (["wb", "+500K"], ["back Step Camera.Controls Kelvin 500"]),
        (["wb", "-2000k"], ["back Step Camera.Controls Kelvin -2000"]),
        (["wb", "shade"], ["back SetWhiteBalance shade"]),
        (["wb", "auto"], ["back SetWhiteBalance auto"]),
        (["wb", "5600K"], ["back SetKelvin 5600"]), (["wb", "-5"], ["back StepKelvin -5"]),
        (["ev", "-0.7"], ["back Step Camera.Controls Compensation -0.7"]),
        (["ev", "+1", "--camera", "front"], ["front Step Camera.Controls Compensation 1.0"]),
        (["ev", "=-0.7"], ["back SetCompensation -0.7"]),
        (["ev", "1"], ["back SetCompensation 1.0"]),
        (["ev", "auto"], ["back SetCompensation 0.0"]),
        (["lens", "ultra-wide"], ["back SelectLens ultra-wide"]),
        (["lens", "wide", "--camera", "front"], ["front SelectLens wide"]),
        (["torch", "toggle"], ["back Step Camera Torch toggle"]),
        (["freeze", "toggle"], ["back Step Camera Frozen toggle"]),
        (["ink", "on"], ["back Ink=true"]), (["room", "blur"], ["back Room=blur"]),
        (["room", "as-is", "--camera", "front"], ["front Room=as-is"]),
        (["room", "/dev/null"], ["back Room=/dev/null"]),
        (["away-picture", "/dev/null"], ["Away=/dev/null"]),
        (["away-picture", "none"], ["Away="]),
        (["room-blur", "+0.1"], ["back Step Camera RoomBlur 0.1"]),
        (["framing", "calm"], ["back Framing=calm"]),
        (["framing-tightness", "0.7"], ["back FramingTightness=0.7"]),
        (["metering", "face", "--camera", "front"], ["front Metering=face"]),
        (["lock", "exposure", "wb"], ["back Lock exposure,wb"]),
        (["lock", "focus", "--camera", "front"], ["front Lock focus"]),
        (["lock", "off"], ["back Unlock"]), (["unlock"], ["back Unlock"]),
        (["freeze", "on", "--camera", "front"], ["front Frozen=true"]),
        (["torch", "off", "--camera", "front"], ["front Torch=false"]),
        (["zoom", "1.5x"], ["back SetZoom 1.5"]),
        (["zoom", "-0.5x", "--camera", "front"], ["front SetZoom -0.5 relative=true"]),
        (["layout", "next"], ["Step Scene Layout next"]),
        (["inset", "--size", "-0.5"], ["Step Scene InsetSize -0.5"]),
        (["inset", "--corner", "next"], ["Step Scene InsetCorner next"]),
        (["rotate", "+90"], ["back Step Camera Rotation 90"]),
        (["rotate", "-90"], ["back Step Camera Rotation -90"]),
        (["zoom", "2", "--at", "0.2,1", "--camera", "front"], ["front SetZoom 2.0 at=?"]),
        (
            ["controls", "--set", "gain=12,auto_exposure=manual mode"],
            [
                "back SetRaw gain 12", "back DescribeRaw auto_exposure",
                "back SetRaw auto_exposure 1", "back ListRaw", "back DescribeRaw auto_exposure",
            ]
        ),
        (
            ["controls", "--set", "exposure_time_absolute=+5"],
            [
                "back SetRaw exposure_time_absolute 5 relative=true", "back ListRaw",
                "back DescribeRaw exposure_time_absolute",
            ]
        ),
        (["image", "brightness", "+10"], imageAsks("back SetImage brightness 10 relative=true")),
        (["image", "brightness", "-25%"], imageAsks("back SetImage brightness -25 relative=true")),
        (["image", "brightness", "75%"], imageAsks("back SetImage brightness 25")),
        (["image", "brightness", "=-7"], imageAsks("back SetImage brightness -7")),
        (["image", "brightness", "default"], imageAsks("back SetImage brightness 3")),
        (["image", "pan", "auto"], imageAsks("back SetImage pan 0 auto=true")),
        (["image", "brightness"], ["back ListRaw"]),
        (["record", "toggle", "--in", "10"], ["ToggleRecording in=?"]),
        (["record", "pause"], ["PauseRecording"]),
        (["record", "resume"], ["ResumeRecording"]),
    ]

    private static func imageAsks(_ call: String) -> [String] { ["back ListRaw", call] }

    @Test(arguments: verbs)
    func aVerbAsksForOneThing(_ arguments: [String], _ asked: [String]) throws {
        try daemon.appear()
        let child = try daemon.run(arguments)
        #expect(child.exit == .status(0), "\(child.errors)")
        #expect(daemon.asked == asked)
        // It ends there, or there is no title.
        let isTold = asked.contains {
            $0 == "back StepShutter 1" || $0.contains("0.5 relative") || $0.hasPrefix("TitleCorner")
        }
        #expect(child.errors == "" || isTold)
        // What there is now, in one line.
        let silent = ["start", "stop", "restore", "reset", "scene", "config"]
            .contains(arguments[0])
        guard arguments[0] != "title" else { return }
        #expect(child.output.count { $0 == "\n" } == (silent ? 0 : 1), "\(child.output)")
    }

    @Test(arguments: [
        (["start"], #"{"version":1,"state":"streaming"}"#),
        (["swap"], #"{"version":1,"swapped":true,"main":"back"}"#),
        (["layout", "single"], #"{"version":1,"layout":"single"}"#),
        (
            ["inset", "hide"],
            #"{"version":1,"insetVisible":false,"insetCorner":"top-right","insetPosition":[],"insetSize":0.25,"insetShape":"rectangle"}"#
        ),
        (["mirror", "on"], #"{"version":1,"camera":"back","mirror":true}"#),
        (["rotate", "180"], #"{"version":1,"camera":"back","rotation":180}"#),
        (["pro", "on"], #"{"version":1,"pro":true}"#),
        (
            ["lens", "wide"],
            #"{"version":1,"camera":"back","lens":"wide","fallback":false,"lenses":[{"name":"ultra-wide","factor":0.5},{"name":"wide","factor":1}]}"#
        ),
        (["scene", "save", "x"], #"{"version":1,"scene":"x"}"#),
        (
            ["scene", "apply", "desk"],
            #"{"version":1,"scene":"desk","refused":{"back.iso":"This camera has no ISO."}}"#
        ),
        (["scene", "next"], #"{"version":1,"scene":"talk","refused":{}}"#),
        (["scene", "list"], #"{"version":1,"scenes":["talk","desk"],"current":"desk"}"#),
        (
            ["scene", "show", "desk"],
            #"{"version":1,"name":"desk","main":"back","insetVisible":true,"insetSize":0.2,"title":["A \"desk\"", "Ünder"],"glow":"{ of = \"later\" }","back":{"zoom":2,"zoomAt":[0.5, 0.25],"iso":"auto"},"front":{}}"#
        ),
        (["scene", "rename", "x", "y"], #"{"version":1,"scene":"y"}"#),
        (["title", "Ada", "X"], #"{"version":1,"title":"Ada\nX","corner":"bottom-left"}"#),
        (["zoom", "1"], #"{"version":1,"camera":"back","zoom":1}"#),
        (
            ["dial", "up"],
            #"{"version":1,"camera":"back","dial":"iso","value":"500","limited":false}"#
        ),
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
        try daemon.appear()
        #expect(try daemon.run(arguments + ["--json"]).output == line + "\n")
    }

    @Test(arguments: [
        [], ["config"], ["no-such-verb"], ["media", "nope"], ["help", "nope"],
        ["help", "media", "nope"], ["layout", "round"],
    ])
    func wrongUsageIsTwo(_ arguments: [String]) throws {
        let child = try daemon.run(arguments)
        #expect(child.exit == .status(2))
        #expect(child.output == "" && child.errors.lowercased().contains("usage: dualcamctl"))
    }

    @Test func scenesAreListedShownAndApplied() throws {
        try daemon.appear()
        #expect(try daemon.run("scene", "list").output == "○ talk\n● desk\n")
        let text = try daemon.run("scene", "show", "desk").output
        #expect(
            text.hasPrefix("[[scene]]\nname = \"desk\"\n") && text.hasSuffix("iso = \"auto\"\n")
        )
        let applied = try daemon.run("scene", "apply", "desk")
        #expect(applied.exit == .status(0) && applied.output == "")
        #expect(applied.errors == "dualcamctl: back.iso: This camera has no ISO.\n")

        let file = "\(daemon.session.directory)/scenes.toml"
        #expect(try daemon.run("scene", "export", "-o", file).exit == .status(0))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        let added = try daemon.run("scene", "import", file, "--replace")
        #expect(added.exit == .status(0) && added.output == "a\nb\n")
        #expect(try daemon.run("scene", "import", file + "x").exit == .status(1))
        daemon.refusal = DBusError("org.dualcam.DualCam1.Error.NoScene", "there is none")
        let none = try daemon.run("scene", "apply", "none")
        #expect(none.exit == .status(10) && none.errors == "dualcamctl: There is none.\n")
    }

    /// What has subcommands tells its own, not those of the whole program.
    @Test func aFamilyOfCommandsTellsItsOwn() throws {
        let child = try daemon.run("config")
        #expect(child.errors.hasPrefix("Error: Expected show, check or set.\n"))
        #expect(child.errors.contains("USAGE: dualcamctl config <subcommand>\n"))
    }

    @Test func aSceneNeedsOnlyItsName() throws {
        try daemon.appear()
        #expect(try daemon.run("scene").output == "○ talk\n● desk\n")
        #expect(try daemon.run("scene", "talk", "--only", "layout").exit == .status(0))
        #expect(try daemon.run("scene", "--json").output.hasPrefix(#"{"version":1,"scenes":["#))
        #expect(try daemon.run("media").output.contains("a.mkv"))
        #expect(try daemon.run("scene", "my own", "--instant").exit == .status(0))
        #expect(daemon.asked.last == "Apply my own instant=true")
    }

    /// A command is declared in one place: that it has a group there is what can be forgotten.
    @Test func everyCommandInTheSourcesIsInTheHelp() throws {
        let folder = repository.appending(path: "Sources/DualCamTool")
        let files = try #require(FileManager.default.enumerator(atPath: folder.path))
        var listed: Set<String> = []
        var declared: Set<String> = []
        for case let file as String in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            declared.formUnion(
                text.matches(
                    of:
                        /(?m)^(?:struct|enum) ([A-Za-z]+): (?:ParsableCommand|CommandFamily|PropertyKind|CameraKind)\b/
                )
                .map { String($0.1) }
            )
            guard file == "Tool.swift" else { continue }
            listed.formUnion(
                text.matches(of: /subcommands: \[([^\]]*)\]/).flatMap {
                    String($0.1).matches(of: /([A-Za-z]+)>?\.self/).map { String($0.1) }
                }
            )
        }
        #expect(declared.count > 30 && declared.subtracting(["Tool"]) == listed)
    }

    @Test(arguments: [
        (["statsu"], "Unknown subcommand 'statsu'. Did you mean 'status'?"),
        (["contr"], "Unknown subcommand 'contr'. Did you mean 'controls'?"),
        (["no-such-verb"], "Unknown subcommand 'no-such-verb'.\n"),
        (["config", "shwo"], "Unknown subcommand 'shwo'. Did you mean 'show'?"),
        (["laout", "next"], "Error: Unknown subcommand 'laout'. Did you mean 'layout'?\n"),
        (["zom", "2x", "--ramp", "5"], "Unknown subcommand 'zom'. Did you mean 'zoom'?\n"),
        (["swpa", "now", "please"], "Unknown subcommand 'swpa'. Did you mean 'swap'?\n"),
        (["is", "-1"], "Unknown subcommand 'is'. Did you mean 'iso'?\n"),
        (["scene", "aply", "desk"], "Unknown subcommand 'aply'. Did you mean 'apply'?\n"),
        (["help", "laout", "next"], "Unknown subcommand 'laout'. Did you mean 'layout'?\n"),
        (["--nothing", "laout"], "Unknown option '--nothing'"),
        (["swap", "--instnat"], "Unknown option '--instnat'. Did you mean '--instant'?"),
        (["iso", "fast"], "Expected a number, +N, -N or auto, not \"fast\"."),
        (["shutter", "+0.5s"], "such as 0.5s, +N, -N or auto, not \"+0.5s\"."),
        (["shutter", "-1/50"], "not \"-1/50\"."), (["iso", "+1.5"], "not \"+1.5\"."),
        (["iso", "+9999999999"], "not \"+9999999999\"."), (["wb", "+0.5"], "not \"+0.5\"."),
        (["iso", "fast"], "Usage: dualcamctl iso "), (["ev", "much"], "not \"much\"."),
        (["shutter", "250"], "not \"250\"."), (["focus", "2"], "not \"2\"."),
        (["wb", "moon"], "not \"moon\"."), (["zoom", "far"], "not \"far\"."),
        (["zoom", "2", "--at", "2,0"], "not \"2,0\"."),
        (["inset", "--size", "1.9"], "Expected a number from 0.1 to 1, not \"1.9\"."),
        (["inset", "--size", "9"], "Expected a number from 0.1 to 1, not \"9\"."),
        (["inset", "--size", "wide"], "Expected a number from 0.1 to 1, not \"wide\"."),
        (["rotate", "45"], "Expected 0, 90, 180 or 270, not \"45\"."),
        (["zoom", "2", "--ramp", "-5"], "Expected 0 to 60000 milliseconds, not -5."),
        (
            ["photo", "-o", "x", "--of", "all"],
            "-o takes one photo. Say which: --of back, front or"
        ),
        (
            ["photo", "-o", "x", "--of", "back", "--of", "stream"],
            "-o takes one photo. Say which: --of back, front or"
        ),
        (["photo", "--full", "--live"], "A full-size photo gets no movie. Leave out --full or"),
        (["photo", "--full", "--of", "stream"], "The stream has only one size. Use --full with"),
        (["photo", "-o", "x", "--live"], "A photo in a file of your own gets no movie."),
        (["photo", "-o", "desk.PNG"], "A photo is a JPEG. Give it a name that ends in .jpg."),
        (["media", "list", "--offset=-1"], "Expected --offset to be 0 or more, not -1."),
        (["lock", "off", "focus"], "Expected off without other words."),
        (
            ["brightness"],
            "'brightness'. To make a picture lighter or darker: dualcamctl ev +0.5, or"
        ),
        (["blur", "on"], "dualcamctl room blur, or room FILE."),
        (["mute"], "DualCam has no sound in calls"), (["list"], "dualcamctl cameras --all\n"),
        (["who"], "dualcamctl status\n"), (["away"], "dualcamctl scene away\n"),
        (["talk"], "dualcamctl scene talk\n"), (["demo"], "dualcamctl scene demo\n"),
        (["sawp"], "Did you mean 'swap'?"), (["help", "timer"], "photo --in 3\n"),
    ])
    func wrongUsageNamesWhatIsWrong(_ arguments: [String], _ words: String) throws {
        let child = try daemon.run(arguments)
        #expect(child.errors.contains(words), "\(child.errors)")
    }

    @Test func aRecordingSaysWhichCameraIsMissing() throws {
        try daemon.appear()
        daemon.set(["State": .string("unavailable")], of: .camera, at: DualCam.frontPath)
        let child = try daemon.run("record", "start")
        #expect(child.exit == .status(0))
        #expect(child.errors == "Recording without the front camera.\n")
        #expect(try daemon.run("record", "start", "--of", "back").errors == "")
    }

    @Test func aRecordingThatBeginsPrintsItsFiles() throws {
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
                "ToggleRecording mp4=true",
            ]
        )
    }

    @Test(arguments: [
        ("NoSpace", "there is too little room on the disk"),
        ("Denied", "permission denied in the directory for videos"),
        ("cannot encode: it broke", "cannot encode: it broke"),
    ])
    func aRecordingThatEndedByItselfNamesItsFilesAndSaysWhy(_ word: String, _ why: String) throws {
        try daemon.appear()
        daemon.recordingError = word
        let child = try daemon.run("record", "stop")
        #expect(child.exit == .status(1))
        #expect(child.output == "/home/me/Videos/DualCam/a.mkv (2 pictures are missing)\n")
        #expect(child.errors == "dualcamctl: The recording had ended by itself: \(why).\n")
    }

    @Test(arguments: [
        (["layout", "single"], true), (["zoom", "2"], true), (["title", "Ada"], true),
        (["mirror", "on"], true), (["live-photo", "on"], true), (["iso", "400"], true),
        (["scene", "apply", "desk"], true), (["privacy", "on"], false), (["status"], false),
        (["cameras"], false),
    ])
    func whatWillBeForgottenIsTold(_ arguments: [String], _ isTold: Bool) throws {
        let problem = "What you set will be forgotten: cannot create /x: the file is a link."
        try daemon.appear(changing: [.stream: ["Problems": .strings([problem])]])
        let child = try daemon.run(arguments)
        #expect(child.exit == .status(0), "\(child.errors)")
        #expect(child.errors.contains("dualcamctl: \(problem)\n") == isTold, "\(child.errors)")
    }

    @Test func aRecordingSaysWhatIsMissingOfIt() throws {
        try daemon.appear(changing: [
            .capture: ["RecordingSilence": .string("there is no microphone")]
        ])
        let start = try daemon.run("record", "start", "--of", "back")
        #expect(start.exit == .status(0))
        #expect(start.errors == "Recording without sound: there is no microphone.\n")
        let state = try daemon.run("record", "status").output
        #expect(state.contains("without sound: there is no microphone"))
        daemon.recordingResult = ["silence": .string("the microphone is gone")]
        let silent = try daemon.run("record", "stop")
        #expect(silent.exit == .status(0))
        #expect(silent.errors == "Sound is missing: the microphone is gone.\n")
        daemon.recordingResult["sound"] = .boolean(true)
        let late = try daemon.run("record", "stop")
        #expect(late.errors == "Some sound is missing: the microphone is gone.\n")
        daemon.recordingResult = [
            "error": .string("/a.mkv was removed"), "lost": .boolean(true),
            "reason": .string("/a.mkv was removed"),
        ]
        for arguments in [["record", "stop"], ["record", "stop", "--json"]] {
            let lost = try daemon.run(arguments)
            #expect(lost.exit == .status(1) && lost.errors == "dualcamctl: /a.mkv was removed.\n")
            #expect(lost.output.isEmpty == (arguments.count == 2))
        }
        daemon.recordingResult = [
            "error": .string("NoSpace"), "reason": .string("your disk quota is used up"),
        ]
        #expect(try daemon.run("record", "stop").errors.contains("itself: your disk quota is used"))
    }

    @Test func aRecordingWithPrivacyOnSaysSo() throws {
        try daemon.appear(changing: [.privacy: ["Enabled": .boolean(true)]])
        let child = try daemon.run("record", "start", "--of", "back")
        #expect(child.exit == .status(0))
        #expect(
            child.errors == "dualcamctl: Privacy is on. The cameras are recorded once it is off.\n"
        )
    }

    @Test func aPhotoSaysWhichCameraItLeavesOut() throws {
        try daemon.appear()
        let all = try daemon.run("photo")
        #expect(all.exit == .status(0) && all.output == "/a.jpg\n")
        #expect(all.errors == "No photo of the front camera; `dualcamctl status` shows why.\n")
        #expect(try daemon.run("photo", "--of", "back").errors == "")
    }

    @Test func aZoomOfACameraThatIsAwaySaysSo() throws {
        try daemon.appear(changing: [.camera: ["State": .string("unavailable")]])
        let child = try daemon.run("zoom", "2")
        #expect(child.exit == .status(0) && child.output == "back: 1×\n")
        #expect(child.errors == "dualcamctl: The back camera is not connected.\n")
        #expect(daemon.asked == ["back SetZoom 2.0"])
    }

    @Test func aChangeThatIsTooLargeEndsAtTheEnd() throws {
        try daemon.appear(changing: [.camera: ["Zoom": .double(8)]])
        #expect(try daemon.run("zoom", "+99").errors == "dualcamctl: zoom ends at 8×.\n")
        for (arguments, end) in [
            (["ev", "+99"], "ev ends at +2"), (["focus", "+0.4"], "focus ends at 1 (0.3 m)"),
            (["wb", "-9000K"], "wb ends at shade (2000 K)"),
        ] {
            let child = try daemon.run(arguments)
            #expect(child.exit == .status(0))
            #expect(child.errors == "dualcamctl: \(end).\n")
        }
        let raw = try daemon.run("controls", "--set", "auto_exposure=+a")
        #expect(raw.exit == .status(2) && raw.output == "")
        #expect(raw.errors.contains("such as auto_exposure=+5, not \"+a\".\n"))
    }

    @Test(arguments: [
        (["layout"], "pip\n"), (["main"], "back\n"), (["mirror"], "back: off\n"),
        (["mirror", "--camera", "inset"], "front: on\n"), (["rotate"], "back: 0°\n"),
        (["orientation"], "auto\n"), (["pro"], "on\n"), (["iso"], "back: ≈400\n"),
        (["shutter"], "back: 1/250\n"), (["focus"], "back: 0.7 (0.3 m)\n"),
        (["wb"], "back: shade (7500 K)\n"), (["ev"], "back: 0\n"), (["zoom"], "back: 1×\n"),
        (["title"], "off\n"), (["inset"], "shown, top-right, 25 %, rectangle\n"),
        (["dial"], "iso\n"),
        (["privacy"], "off\n"), (["live-photo"], "off\n"), (["hud"], "pro\n"),
        (["swap-icon"], "on\n"), (["torch"], "front: off\n"), (["freeze"], "back: off\n"),
        (["ink"], "back: off\n"), (["room"], "back: as-is\n"), (["room-blur"], "back: 0.5\n"),
        (["framing"], "back: off\n"), (["framing-tightness"], "back: 0.5\n"),
        (["metering"], "back: frame\n"),
        (["record"], "not recording\n"),
        (["use"], "back: Desk Cam (v4l2:usb-back)\nfront: Face Cam (v4l2:usb-front)\n"),
    ])
    func aVerbWithoutAValuePrintsItAndStartsNothing(_ arguments: [String], _ text: String) throws {
        #expect(try daemon.run(arguments).errors.contains("Start it with `dualcamctl start`"))
        try daemon.appear()
        let child = try daemon.run(arguments)
        #expect(child.exit == .status(0) && child.errors == "")
        #expect(child.output == text && daemon.asked.isEmpty)
    }

    @Test(arguments: [
        (["inset", "toggle"], "side-by-side", "Show one with `dualcamctl layout pip`."),
        (["inset", "--size", "0.3"], "single", "The layout single has no inset."),
        (["swap-icon", "on"], "stacked", "The layout stacked has no inset."),
        (["zoom", "2", "--camera", "inset"], "single", "The front camera is not shown."),
        (["title", "--corner", "top-left"], "pip", "There is no title."),
    ])
    func whatHasNoEffectNowSaysSo(
        _ arguments: [String],
        _ layout: String,
        _ words: String
    ) throws {
        try daemon.appear(changing: [.scene: ["Layout": .string(layout)]])
        let child = try daemon.run(arguments)
        #expect(child.exit == .status(0) && child.errors.contains(words), "\(child.errors)")
    }

    @Test func camerasThatAreMissingAreCounted() throws {
        let daemon = try FakeDaemon()
        try daemon.appear()
        for (path, words) in [
            (DualCam.backPath, "There is only one camera, so it is shown alone."),
            (DualCam.frontPath, "There is no camera."),
        ] {
            daemon.set(["State": .string("unavailable")], of: .camera, at: path)
            #expect(try daemon.run("layout", "stacked").errors == "dualcamctl: \(words)\n")
        }
    }

    @Test func aTorchIsThatOfTheCameraThatHasOne() throws {
        try daemon.appear()
        daemon.refusal = .notSupported("This camera has no torch.")
        #expect(try daemon.run("torch", "on").exit == .status(10))
        #expect(daemon.asked == ["back Torch=true", "front Torch=true"])
        #expect(try daemon.run("torch", "on", "--camera", "main").exit == .status(10))
        #expect(daemon.asked.count == 3)
    }

    @Test func aCameraWithoutControlsIsToldOf() throws {
        try daemon.appear()
        daemon.hasControls = false
        let child = try daemon.run("controls", "--camera", "front")
        #expect(child.exit == .status(0) && child.output == "")
        #expect(child.errors == "dualcamctl: The front camera has no controls.\n")
    }

    @Test func anEndOfADialIsToldAndNoFailure() throws {
        try daemon.appear()
        let child = try daemon.run("shutter", "+1")
        #expect(child.exit == .status(0))
        #expect(child.output == "back: 1/250\n")
        #expect(child.errors == "dualcamctl: shutter ends at 1/250.\n")
    }

    @Test func aMovieIsListedWithItsLength() throws {
        try daemon.appear()
        let list = try daemon.run("media", "list")
        #expect(
            list.output
                == "movie back   1.2 kB    1:05 2025-11-21 14:30:05 /home/me/Videos/DualCam/a.mkv\n"
        )
        let json = try daemon.run("media", "list", "--json").output
        #expect(json.contains(#""size":1234,"seconds":65.4,"time":"#))
    }

    @Test func aPageIsShownInOneCommandAndWhatFailsIsTold() throws {
        try daemon.appear()
        let child = try daemon.run("desk", "on", "--wait")
        #expect(child.exit == .status(0) && child.errors == "")
        #expect(child.output == "back: ink · exposure locked\n")
        #expect(daemon.asked == ["back FindPerspective", "back Ink=true", "back Lock ", "Settle"])
        #expect(try daemon.run("desk", "toggle").exit == .status(0))
        #expect(
            daemon.asked.suffix(3) == [
                "back Step Camera Ink toggle", "back Perspective=?", "back Unlock",
            ]
        )
        daemon.refusal = .failed("No page can be made out.")
        let none = try daemon.run("desk", "on")
        #expect(none.exit == .status(1) && none.errors == "dualcamctl: No page can be made out.\n")
    }

    @Test func lensesAreListedWithTheOneInUse() throws {
        try daemon.appear()
        let list = try daemon.run("lens", "list")
        #expect(list.output == "○ ultra-wide  0.5×\n● wide        1×\n" && daemon.asked.isEmpty)
    }

    @Test func theDriversControlsAreListedWithTheNamesOfMenus() throws {
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
        try daemon.appear()
        daemon.refusal = refusal
        for arguments in [["swap"], ["layout", "pip"], ["start", "--json"]] {
            let child = try daemon.run(arguments)
            #expect(child.exit == .status(status))
            #expect(child.output == "" && child.errors == "dualcamctl: \(refusal.message)\n")
        }
    }

    @Test func withoutADaemonItIsEight() throws {
        for arguments in [
            ["status"], ["status", "--json"], ["cameras"], ["swap"], ["rotate", "0"],
            ["scene", "list"], ["scene", "show", "desk"], ["scene", "export"], ["lens", "list"],
            ["controls"], ["controls", "--camera", "back"], ["perspective"], ["media", "open"],
        ] {
            let child = try daemon.run(arguments)
            #expect(child.exit == .status(8))
            #expect(child.output == "" && child.errors.contains("dualcamd is not running"))
            let starts = arguments[0] == "swap" || arguments[0] == "rotate"
            let command = starts ? "dualcamd" : "dualcamctl start"
            #expect(child.errors.hasSuffix(". Start it with `\(command)`.\n"))
        }
        try daemon.haveSystemd()
        let child = try daemon.run(["swap"])
        let end = ". Start it with `systemctl --user enable --now dualcamd`.\n"
        #expect(child.errors.hasSuffix(end), "\(child.errors)")
    }

    @Test func withoutABusItIsEight() throws {
        daemon.session.kill(.bus)
        for arguments in [["status"], ["monitor"], ["stop"]] {
            let child = try daemon.run(arguments)
            #expect(child.exit == .status(8))
            #expect(child.errors.contains("There is no session bus"))
        }
    }

    @Test func aDaemonThatDoesNotAnswerIsThree() throws {
        try daemon.appear()
        try daemon.haveSystemd()
        // The bus takes the call, but no loop runs to answer it.
        let child = try daemon.start("swap")
        #expect(try child.wait() == .status(3))
        #expect(child.errors.contains("did not answer within 5 s"))
        #expect(child.errors.contains("systemctl --user status dualcamd"))
    }

    @Test("a daemon that ends while a command waits for it is eight, at once")
    func daemonThatEnds() throws {
        let mark = daemon.session.directory + "/called"
        let service = try MockedService(
            DualCam.busName,
            at: DualCam.path,
            interface: Interface.scene.name,
            on: .session,
            in: daemon.session
        )
        try service.define(
            "Swap",
            of: Interface.scene.name,
            takes: "a{sv}",
            gives: "b",
            code: "import time\nopen('\(mark)', 'w').close()\ntime.sleep(30)\nret = True"
        )
        let child = try daemon.start("swap")
        try eventually("the call") { FileManager.default.fileExists(atPath: mark) }
        service.end()
        #expect(try child.wait() == .status(8))
        #expect(child.errors.hasPrefix("dualcamctl: dualcamd ended before it answered"))
    }

    @Test func whoLooksDoesNotStartTheDaemonAndWhoActsDoes() throws {
        let mark = daemon.session.directory + "/started"
        let program = daemon.session.directory + "/daemon"
        try put("#!/bin/sh\ntouch \(mark)\nexit 1\n", at: program, mode: 0o700)
        try put(
            "[D-BUS Service]\nName=\(DualCam.busName)\nExec=\(program)\n",
            at: "\(daemon.session.servicesDirectory)/\(DualCam.busName).service"
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
        for arguments in [
            ["status"], ["cameras"], ["scene", "list"], ["scene", "show", "desk"],
            ["scene", "export"], ["lens", "list", "--camera", "back"], ["perspective"],
            ["controls", "--camera", "front"], ["media", "open"],
        ] {
            #expect(try daemon.run(arguments).exit == .status(8))
        }
        #expect(!FileManager.default.fileExists(atPath: mark))
        let child = try daemon.run("swap")
        #expect(child.exit == .status(8), "\(child.errors)")
        #expect(child.errors.contains("dualcamd does not start"))
        #expect(FileManager.default.fileExists(atPath: mark))
    }

    @Test func theConfigurationIsShownAndChecked() throws {
        let none = try daemon.run("config", "check")
        #expect(none.exit == .status(0))
        let shown = try daemon.run("config", "show")
        #expect(shown.output.contains("[cameras.front]\n"))
        let object = try daemon.run("config", "show", "--json").output
        let parsed = try jsonObject(object)["configuration"]
        let values = try #require(parsed as? [String: [String: Any]])
        #expect(values["output"]?["width"] as? Int == 1280)
        #expect((values["cameras"]?["front"] as? [String: Any])?["mirror"] as? Bool == true)
        #expect(object.count { $0 == "\n" } == 1)

        let file = daemon.session.directory + "/x.toml"
        try put("[output]\nwidht = 5\n", at: file)
        let warned = try daemon.run("config", "check", file)
        #expect(warned.exit == .status(0))
        #expect(warned.output == "\(file) is valid\n")
        #expect(warned.errors.contains("warning: \(file):2: output.widht is unknown"))

        let sources =
            "[cameras.back]\nsource = \"v4l2:usb-Dekc\"\n[cameras.front]\nsource = \"file:/no\"\n"
        try put(sources, at: file)
        let absent = try daemon.run("config", "check", file)
        #expect(absent.exit == .status(0))
        #expect(absent.output == "\(file) has no mistakes, but 2 sources were not found\n")
        #expect(
            absent.errors.contains("warning: \(file): cameras.back.source: usb-Dekc was not found")
        )
        #expect(absent.errors.contains("cameras.front.source: the file /no was not found. In / "))
        let desk: [String: Value] = [
            "id": .string("v4l2:usb-Desk"), "name": .string("Desk"), "path": .string("/dev/video9"),
            "reason": .string("chosen"), "names": .strings(["usb-0000:00:14.0-1"]),
        ]
        try daemon.appear(changing: [.stream: ["Devices": .named([desk])]])
        let near = try daemon.run("config", "check", file)
        #expect(near.errors.contains("There is Desk (usb-Desk). Did you mean usb-Desk?"))
        let named = sources.replacing("usb-Dekc", with: "usb-0000:00:14.0-1")
        try put(named, at: file)
        let one = try daemon.run("config", "check", file)
        #expect(!one.errors.contains("cameras.back"))
        #expect(one.output == "\(file) has no mistakes, but 1 source was not found\n")
        daemon.vanish()

        let folder = "\(daemon.session.directory)/pictures"
        for name in ["lesson.jpg", "page.png", ".hidden.jpg"] {
            try put("", at: "\(folder)/\(name)")
        }
        try """
        [cameras.back]
        source = "file:\(folder)/lesosn.jpg"
        [cameras.front]
        source = "file:\(folder)/none/x.jpg"
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let files = try daemon.run("config", "check", file).errors
        #expect(
            files.contains(
                "back.source: the file \(folder)/lesosn.jpg was not found. In \(folder) there are "
                    + "lesson.jpg and page.png. Did you mean \(folder)/lesson.jpg?\n"
            ),
            "\(files)"
        )
        #expect(files.contains("/x.jpg was not found. There is no directory \(folder)/none.\n"))

        try put("[output]\nwidth = 5\n", at: file)
        for verb in ["check", "show"] {
            let wrong = try daemon.run("config", verb, file)
            #expect(wrong.exit == .status(1))
            #expect(wrong.output == "" && wrong.errors.contains("\(file):2: "))
        }
        try put("[capture]\nlive-photo = true\n", at: file)
        // Without an argument, the file that the daemon was told to read.
        try daemon.appear(changing: [.stream: ["ConfigurationFile": .string(file)]])
        #expect(try daemon.run("config", "check").output == "\(file) is valid\n")
        daemon.vanish()

        try put("[output]\nwidth = 5\n", at: file)
        let json = try daemon.run("config", "check", file, "--json")
        #expect(json.exit == .status(1))
        #expect(json.output.hasPrefix(#"{"version":1,"path":"\#(file)","valid":false,"error":""#))
        #expect(try daemon.run("config", "check", file + "x").exit == .status(1))
    }

    @Test func aCheckNamesAllThatIsWrong() throws {
        let file = daemon.session.directory + "/x.toml"
        let text = "[output]\nwidth = 5\nwidht = 5\n[cameras.back]\nsource = test\nmirror = 1\n"
        try put(text, at: file)
        let wrong = try daemon.run("config", "check", file)
        #expect(wrong.exit == .status(1) && wrong.output == "")
        let lines = wrong.errors.split(separator: "\n")
        #expect(lines.count == 4, "\(wrong.errors)")
        #expect(lines.first?.hasPrefix("warning: \(file):3: ") == true)
        for (line, number) in zip(lines.dropFirst(), [2, 5, 6]) {
            #expect(line.hasPrefix("dualcamctl: \(file):\(number): ") && line.hasSuffix("."))
        }
        let json = try daemon.run("config", "check", file, "--json").output
        let object = try jsonObject(json)
        let errors = try #require(object["errors"] as? [String])
        #expect(errors.count == 3 && object["error"] as? String == errors.first)

        let sources = """
            [cameras.back]
            source = "test:frnt"
            [cameras.front]
            source = "file:~/lesson.jpg"
            """
        try put(sources, at: file)
        let warned = try daemon.run("config", "check", file)
        #expect(warned.exit == .status(0))
        #expect(warned.errors.contains("there is no test picture frnt"))
        #expect(warned.errors.contains("Did you mean front?"))
        #expect(warned.errors.contains("must begin with /, not \"~/lesson.jpg\""))
        try put("[cameras.back]\nsource = \"test:bars-plain\"\n", at: file)
        #expect(try daemon.run("config", "check", file).errors == "")
    }
}
