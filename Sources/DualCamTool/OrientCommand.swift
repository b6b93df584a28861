import ArgumentParser
import Control
import Frames
import Glibc
import Photos
import Platform

struct Orient: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Turn photos upright, as their EXIF data says.",
        discussion: """
            Photos are turned without loss, and everything else in the file stays the same. A \
            photo that cannot be turned without loss stays as it is; viewers still turn it by its \
            tag.
            """
    )

    @Argument(
        help: "JPEG files; each is replaced by the upright photo.",
        completion: .file(extensions: ["jpg", "jpeg", "JPG", "JPEG"])
    )
    var files: [String]
    @Option(
        name: .short,
        help: .init(
            "Write the result for one photo to this file, upright or not; - is standard output.",
            valueName: "file"
        )
    )
    var output: String?
    @Flag(help: "Change nothing; say what would happen to each file.")
    var check = false
    @Flag(help: "Encode a photo again, at quality 92, if it cannot be turned without loss.")
    var lossy = false
    @Flag(help: "Print one line of JSON for each file.")
    var json = false

    func validate() throws {
        try expect(output == nil || files.count == 1, "-o is for one photo at a time.")
        try expect(output == nil || !check, "--check writes nothing, so leave out -o.")
        try Output.check("photo", to: output, json: json)
    }

    func run() throws {
        var failures: [String] = []
        for file in files {
            do {
                try orient(file)
            } catch {
                // A system call's failure names the file itself.
                let message = (error is SystemError ? "\(error)" : "\(file): \(error)").sentence
                failures.append(message.printable)
                report(file, nil, "failed", message)
                if files.count > 1 { Output.complain("dualcamctl: \(message.printable)") }
            }
        }
        guard let first = failures.first else { return }
        let count = "\(failures.count) of \(files.count) photos failed."
        throw Failure(status: .failed, message: files.count > 1 ? count : first)
    }

    private func orient(_ file: String) throws {
        let bytes = try readFile(file, limit: JPEGOutline.maximumLength)
        let photograph = try Photograph(bytes)
        let outcome = try photograph.upright(lossy: lossy)
        let will = check ? "would be " : ""
        let (name, words, turned, reason): (String, String, [UInt8]?, String?) =
            switch outcome {
            case .upright: ("upright", "already upright", nil, nil)
            case .turned(let bytes): ("turned", will + "turned without loss", bytes, nil)
            case .recoded(let bytes): ("recoded", will + "turned and encoded again", bytes, nil)
            case .kept(let reason):
                ("kept", will + "kept as it is, with its tag: \(reason)", nil, reason)
            }
        // A file is replaced only if it changes.
        if !check, output != nil || turned != nil {
            try Output.write(turned ?? bytes, to: output ?? file)
        }
        if !json, output != "-" { Output.write("\(file.printable): \(words)\n") }
        report(file, photograph.orientation, name, reason)
    }

    private func report(
        _ file: String,
        _ orientation: EXIFOrientation?,
        _ outcome: String,
        _ reason: String?
    ) {
        guard json else { return }
        Output.write(
            JSON.document([
                ("path", .string(file)),
                ("orientation", orientation.map { .number("\($0.rawValue)") } ?? .null),
                ("outcome", .string(outcome)), ("reason", JSON(reason)),
                ("checkOnly", .boolean(check)),
            ])
        )
    }
}
