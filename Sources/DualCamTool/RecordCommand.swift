import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Frames
import Glibc

struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record both cameras and the stream.",
        discussion: """
            Each picture gets a file of its own, with sound, in the directory that the \
            configuration names. start and stop print where the files are. After a pause the \
            recording goes on in the same files, where a chapter begins.
            """
    )

    enum Verb: String, CaseIterable, ExpressibleByArgument {
        case start
        case stop
        case toggle
        case pause
        case resume
        case status
    }

    enum Picture: String, CaseIterable, ExpressibleByArgument {
        case back
        case front
        case stream
    }

    enum Encoder: String, CaseIterable, ExpressibleByArgument {
        case vaapi
        case x264
        case mjpeg
    }

    @Argument(help: "Start, stop, pause or resume recording, or show what is being recorded.")
    var verb = Verb.status
    @Option(
        help: ArgumentHelp(
            """
            A picture to record, by default the connected cameras and the stream. Can be given more \
            than once.
            """,
            valueName: "picture"
        )
    )
    var of: [Picture] = []
    @Flag(help: "Record without sound.")
    var noAudio = false
    @Option(help: "Encoder for pictures that are not JPEGs; by default the first one available.")
    var encoder: Encoder?
    @Flag(help: "Convert the files to MP4 when the recording ends.")
    var mp4 = false
    @OptionGroup var delay: Delay
    @OptionGroup var options: CommonOptions

    /// The time that files may take to be finished, in seconds.
    private static let timeout = 120.0
    /// The number of checks for the files, twenty per second.
    private static let looks = 20

    func run() throws {
        let client = try Client()
        switch verb {
        case .start:
            let patience = 10 + Double(delay.seconds ?? 0)
            try client.call(\CaptureInterface.startRecording, options: wishes, within: patience)
            try reportStart(client)
        case .stop:
            try report(try client.call(\CaptureInterface.stopRecording, within: Self.timeout))
        case .toggle:
            let (isRecording, files) = try client.call(
                \CaptureInterface.toggleRecording,
                options: wishes,
                within: Self.timeout + Double(delay.seconds ?? 0)
            )
            if isRecording { try reportStart(client) } else { try report(files) }
        case .pause, .resume:
            let method =
                verb == .pause
                ? \CaptureInterface.pauseRecording : \CaptureInterface.resumeRecording
            try client.call(method, within: 10)
            try show(client)
        case .status: try show(client)
        }
    }

    private var wishes: Options<CaptureInterface.Recording> {
        var with = Options<CaptureInterface.Recording>()
        if !of.isEmpty { with.of = of.map(\.rawValue) }
        if noAudio { with.audio = false }
        with.encoder = encoder?.rawValue
        if mp4 { with.mp4 = true }
        with.in = delay.seconds
        return with
    }

    private func reportStart(_ client: Client) throws {
        if (try? client.get(\PrivacyInterface.enabled)) == true {
            Output.complain("dualcamctl: Privacy is on. The cameras are recorded once it is off.")
        }
        let missing = of.isEmpty ? missingCameras(client) : []
        let count = (of.isEmpty ? Picture.allCases.count : Set(of).count) - missing.count
        let files = begun(client, count)
        for role in missing { Output.complain("Recording without the \(role.rawValue) camera.") }
        if let reason = try? client.get(\CaptureInterface.recordingSilence), !reason.isEmpty {
            Output.complain("Recording without sound: \(reason.printable).")
        }
        guard !options.json else {
            let members = [("recording", JSON.boolean(true)), ("files", JSON(files))]
            return Output.write(JSON.document(members))
        }
        let paths = files?.compactMap { $0["path"]?.string?.printable } ?? []
        // With privacy on, a file is created once a camera may be opened.
        Output.write((paths.isEmpty ? "recording" : paths.joined(separator: "\n")) + "\n")
    }

    /// Returns the cameras that are not there. The recording runs even if the daemon does not
    /// answer.
    private func missingCameras(_ client: Client) -> [Role] {
        Role.allCases.filter { role in
            (try? client.get(\CameraInterface.state, at: role.path)) == "unavailable"
        }
    }

    /// Returns the files of the recording just started, as far as `count` appear soon: each appears
    /// with its first frame. The recording runs even if the daemon does not answer.
    private func begun(_ client: Client, _ count: Int) -> [[String: Value]]? {
        var looks = 0
        while true {
            let files = try? client.get(\CaptureInterface.recordingFiles)
            looks += 1
            let isWhole = (files?.count ?? 0) >= count
            if files == nil || isWhole || looks == Self.looks { return files }
            usleep(50_000)
        }
    }

    private func report(_ files: [[String: Value]]) throws {
        if options.json {
            let members = [("recording", JSON.boolean(false)), ("files", JSON(files))]
            Output.write(JSON.document(members))
        }
        for file in files where !options.json && file["lost"] == nil {
            var line = file["path"]?.string?.printable ?? ""
            if let dropped = file["dropped"]?.integer, dropped > 0 {
                line += " (\(dropped) pictures are missing)"
            }
            Output.write(line + "\n")
        }
        if let reason = files.compactMap({ $0["silence"]?.string }).first {
            let hasSome = files.contains { $0["sound"] == .boolean(true) }
            Output.complain("\(hasSome ? "Some sound" : "Sound") is missing: \(reason.printable).")
        }
        var troubles = files.compactMap { $0["lost"] == nil ? nil : $0["reason"]?.string?.sentence }
        if let file = files.first(where: { $0["error"] != nil && $0["lost"] == nil }) {
            let word = file["error"]?.string ?? ""
            let why = file["reason"]?.string ?? RecordingFailure(word: word).recordingText
            troubles.append("The recording had ended by itself: \(why)")
        }
        guard troubles.isEmpty else {
            let message = troubles.joined(separator: " ").printable
            throw Failure(status: .failed, message: message)
        }
    }

    private func show(_ client: Client) throws {
        let values = try client.getAll(of: CaptureInterface.self, startsService: false)
        guard !options.json else {
            return Output.write(
                JSON.document([
                    ("recording", JSON(values[\.recording])),
                    ("recordingPaused", JSON(values[\.recordingPaused])),
                    ("recordingSeconds", JSON(values[\.recordingSeconds])),
                    ("recordingFiles", JSON(values[\.recordingFiles])),
                    ("recordingRoom", JSON(values[\.recordingRoom])),
                ])
            )
        }
        let files = values[\.recordingFiles] ?? []
        let written = files.reduce(0) { $0 + Self.size(of: $1["path"]?.string ?? "") }
        let size = written > 0 ? " · \(written.asBytes)" : ""
        Output.write((StatusText.recordingText(values).map { $0 + size } ?? "not recording") + "\n")
        if let room = values[\.recordingRoom], room > 0 {
            // As fast as it was filled so far.
            let seconds = Double(values[\.recordingSeconds] ?? 0)
            let left = written > 0 ? seconds * Double(room) / Double(written) : 0
            let isKnown = written > 0 && seconds > 5 && left < 360_000
            let time = isKnown ? ", for about \(Clock.text(seconds: Int(left)))" : ""
            Output.write("  \(Int(clamping: room).asBytes) are left\(time)\n")
        }
        if let reason = values[\.recordingSilence], !reason.isEmpty {
            Output.write("  without sound: \(reason.printable)\n")
        }
        for file in files {
            let encoder = file["encoder"]?.string?.printable ?? ""
            Output.write("  \(file["path"]?.string?.printable ?? "") (\(encoder))\n")
        }
    }

    private static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}

/// The seconds before a photo or a recording.
struct Delay: ParsableArguments {
    @Option(
        name: .customLong("in"),
        help: ArgumentHelp(
            "Wait this many seconds first. Ctrl-C, `dualcamctl record stop` or privacy ends that.",
            valueName: "seconds"
        )
    )
    var seconds: UInt32?

    func validate() throws {
        let range = SelfTimer.range
        try expect(
            seconds.map { range.contains(Int($0)) } ?? true,
            "--in takes \(range.lowerBound) to \(range.upperBound) seconds."
        )
    }
}

extension Int {
    /// The size of a file as people read it: "1.2 GB".
    var asBytes: String {
        guard self >= 1000 else { return "\(self) B" }
        var (number, unit) = (Double(self) / 1000, 0)
        while number >= 999.5, unit < 3 { (number, unit) = (number / 1000, unit + 1) }
        let digits = number < 9.95 ? ((number * 10).rounded() / 10).tidy : number.whole
        return digits + [" kB", " MB", " GB", " TB"][unit]
    }
}
