import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Glibc

extension Verbs {
    static let recording: List = [Record.self]
}

struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record both cameras and the stream.",
        discussion: """
            Each picture gets a file of its own, with sound, in the directory that the \
            configuration names. start and stop print where the files are.
            """
    )

    enum Verb: String, CaseIterable, ExpressibleByArgument {
        case start
        case stop
        case toggle
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

    @Argument(help: "Start or stop recording, or show what is being recorded.")
    var verb: Verb
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
    @OptionGroup var options: CommonOptions

    /// The time that files may take to be finished, in seconds.
    private static let timeout = 120.0
    /// The number of checks for the files, twenty per second.
    private static let looks = 20

    func run() throws {
        let client = try Client()
        switch verb {
        case .start: try start(client)
        case .stop: try stop(client)
        case .toggle:
            let isRecording = try client.get(\CaptureInterface.recording)
            if isRecording { try stop(client) } else { try start(client) }
        case .status: try show(client)
        }
    }

    private func start(_ client: Client) throws {
        var with = Options<CaptureInterface.Recording>()
        if !of.isEmpty { with.of = of.map(\.rawValue) }
        if noAudio { with.audio = false }
        with.encoder = encoder?.rawValue
        if mp4 { with.mp4 = true }
        try client.call(\CaptureInterface.startRecording, options: with, within: 10)
        if (try? client.get(\PrivacyInterface.enabled)) == true {
            Output.complain("dualcamctl: Privacy is on. The cameras are recorded once it is off.")
        }
        let missing = of.isEmpty ? missingCameras(client) : []
        let count = (of.isEmpty ? Picture.allCases.count : Set(of).count) - missing.count
        let files = begun(client, count)
        for role in missing { Output.complain("Recording without the \(role.rawValue) camera.") }
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

    private func stop(_ client: Client) throws {
        let files = try client.call(\CaptureInterface.stopRecording, within: Self.timeout)
        guard !options.json else {
            let members = [("recording", JSON.boolean(false)), ("files", JSON(files))]
            return Output.write(JSON.document(members))
        }
        for file in files {
            var line = file["path"]?.string?.printable ?? ""
            if let dropped = file["dropped"]?.integer, dropped > 0 {
                line += " (\(dropped) pictures are missing)"
            }
            Output.write(line + "\n")
        }
        guard let reason = files.compactMap({ $0["error"]?.string }).first else { return }
        let why = RecordingFailure(word: reason).recordingText.printable
        throw Failure(status: .failed, message: "The recording had ended by itself: \(why)")
    }

    private func show(_ client: Client) throws {
        let values = try client.getAll(of: CaptureInterface.self, startsService: false)
        guard !options.json else {
            return Output.write(
                JSON.document([
                    ("recording", JSON(values[\.recording])),
                    ("recordingSeconds", JSON(values[\.recordingSeconds])),
                    ("recordingFiles", JSON(values[\.recordingFiles])),
                ])
            )
        }
        Output.write((StatusText.recordingText(values) ?? "not recording") + "\n")
        for file in values[\.recordingFiles] ?? [] {
            let encoder = file["encoder"]?.string?.printable ?? ""
            Output.write("  \(file["path"]?.string?.printable ?? "") (\(encoder))\n")
        }
    }
}
