import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Glibc
import Platform

struct TakePhoto: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo",
        abstract: "Take a photo with each camera, unless you say otherwise.",
        discussion: """
            Saves the photos in the directory that the configuration names, and prints where they \
            are. Each is upright. If the camera sends JPEGs, the photo is that JPEG, without loss. \
            A live photo has a movie beside it, of the 1.5 s before and after it; if live-photo is \
            off, the movie starts at the photo.

            A photo of the stream leaves out the title, the HUD, marks and messages.
            """
    )

    enum Subject: String, CaseIterable, ExpressibleByArgument {
        case back
        case front
        case both
        case stream
        case all
    }

    @Option(
        name: .customLong("of"),
        help: ArgumentHelp(
            "What to take a photo of (default: each camera). Can be given more than once.",
            valueName: "picture"
        )
    )
    var subjects: [Subject] = []
    @Flag(
        inversion: .prefixedNo,
        help:
            "Also save a short movie with each photo, or do not; by default as set with live-photo."
    )
    var live: Bool?
    @Flag(help: "Use the camera's largest mode; meanwhile the stream shows its last picture.")
    var full = false
    @Option(
        name: .short,
        help: .init(
            "Take one photo alone, by default with the main camera, into this file; - is standard "
                + "output.",
            valueName: "file"
        )
    )
    var output: String?
    @OptionGroup var delay: Delay
    @OptionGroup var options: CommonOptions

    private static let keys = [
        "path", "camera", "width", "height", "time", "movie", "movie-error",
    ]
    /// The time that cameras may take to open, find their exposure and deliver, in seconds.
    private static let timeout = 30.0

    func validate() throws {
        let isOne = subjects.count < 2 && !subjects.contains { $0 == .both || $0 == .all }
        let others = ["png", "gif", "webp", "tif", "tiff", "bmp", "heic", "avif", "dng", "raw"]
        try expect(
            output == nil || isOne,
            "-o takes one photo. Say which: --of back, front or stream."
        )
        try expect(
            !others.contains { output?.lowercased().hasSuffix(".\($0)") ?? false },
            "A photo is a JPEG. Give it a name that ends in .jpg."
        )
        try expect(
            output == nil || live != true,
            "A photo in a file of your own gets no movie. Leave out --live or -o."
        )
        try expect(
            !full || live != true,
            "A full-size photo gets no movie. Leave out --full or --live."
        )
        try expect(
            !full || Set(subjects) != [.stream],
            "The stream has only one size. Use --full with --of back or front."
        )
        try Output.check("photo", to: output, json: options.json)
    }

    func run() throws {
        let client = try Client()
        let photos: [[String: Value]]
        if let output {
            photos = [try take(to: output, client)]
        } else {
            var with = Options<CaptureInterface.Photo>()
            if !subjects.isEmpty { with.of = subjects.map(\.rawValue) }
            if full { with.full = true }
            with.live = live
            with.in = delay.seconds
            photos = try client.call(
                \CaptureInterface.takePhoto,
                options: with,
                within: Self.timeout + Double(delay.seconds ?? 0)
            )
            let taken = photos.map { $0["camera"]?.string }
            for role in Role.allCases where subjects.isEmpty && !taken.contains(role.rawValue) {
                Output.complain(
                    "No photo of the \(role.rawValue) camera; `dualcamctl status` shows why."
                )
            }
        }
        let list = photos.map { photo in
            JSON.object(
                Self.keys.filter { photo[$0] != nil || !$0.hasPrefix("movie") }
                    .map { ($0, JSON(photo[$0])) }
            ).camelCased
        }
        let paths = photos.flatMap { [$0["path"], $0["movie"]] }.compactMap { $0?.string }
        options.answer(
            [("photos", .array(list))],
            text: output == nil ? paths.map { $0.printable + "\n" }.joined() : ""
        )
        // The photograph was taken nonetheless.
        for case let (reason?, camera) in photos.map({ ($0["movie-error"]?.string, $0["camera"]) })
        {
            let text = RecordingFailure(word: reason).text
            throw Failure("No movie of the \(camera?.string ?? "") camera: \(text)".printable)
        }
    }

    private func take(to output: String, _ client: Client) throws -> [String: Value] {
        let word =
            try subjects.first?.rawValue ?? Role(client.get(\SceneInterface.main))?.rawValue
        // The daemon writes into a file of ours, so that a slow reader of a pipe does not hold it
        // up.
        guard let file = tmpfile() else { throw SystemError.last("tmpfile") }
        defer { fclose(file) }
        var with = Options<CaptureInterface.PhotoTo>()
        if full { with.full = true }
        with.live = live
        with.in = delay.seconds
        var photo = try client.call(
            \CaptureInterface.takePhotoTo,
            (SharedDescriptor(owning: dup(fileno(file))), word ?? "stream"),
            options: with,
            within: Self.timeout + Double(delay.seconds ?? 0)
        )
        let link = "/proc/self/fd/\(fileno(file))"
        try Output.write(try readFile(link, limit: 1 << 28), to: output)
        photo["path"] = output == "-" ? nil : .string(output)
        return photo
    }
}
