import ArgumentParser
import Control
import Frames
import Glibc
import Photos
import Platform

extension Verbs {
    static let orient: List = [Orient.self]
}

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
        guard output == nil || files.count == 1 else {
            throw ValidationError("-o is for one photo at a time.")
        }
        guard output == nil || !check else {
            throw ValidationError("--check writes nothing, so leave out -o.")
        }
        try Output.checkPicture(to: output)
        guard output != "-" || !json else {
            throw ValidationError(
                "The photo and JSON cannot both go to standard output. Leave out --json."
            )
        }
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
        if !check { try write(outcome.file ?? bytes, of: file, changed: outcome.file != nil) }
        if !json, output != "-" {
            Output.write("\(file.printable): \(outcome.words(check: check))\n")
        }
        report(file, photograph.orientation, outcome.name, outcome.reason)
    }

    /// Writes `bytes` to the requested output; replaces `file` only if the bytes have changed.
    private func write(_ bytes: [UInt8], of file: String, changed: Bool) throws(SystemError) {
        guard output != nil || changed else { return }
        try Output.write(bytes, to: output ?? file)
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
                ("outcome", .string(outcome)), ("reason", reason.map { .string($0) } ?? .null),
                ("checkOnly", .boolean(check)),
            ])
        )
    }
}

extension Photograph.Outcome {
    fileprivate var file: [UInt8]? {
        switch self {
        case .turned(let bytes), .recoded(let bytes): bytes
        case .upright, .kept: nil
        }
    }

    /// The name of the result for scripts.
    fileprivate var name: String {
        switch self {
        case .upright: "upright"
        case .turned: "turned"
        case .recoded: "recoded"
        case .kept: "kept"
        }
    }

    /// The reason why the file was kept.
    fileprivate var reason: String? {
        guard case .kept(let reason) = self else { return nil }
        return reason
    }

    /// Returns the result in words, for people.
    fileprivate func words(check: Bool) -> String {
        let will = check ? "would be " : ""
        return switch self {
        case .upright: "already upright"
        case .turned: will + "turned without loss"
        case .recoded: will + "turned and encoded again"
        case .kept(let reason): will + "kept as it is, with its tag: \(reason)"
        }
    }
}
