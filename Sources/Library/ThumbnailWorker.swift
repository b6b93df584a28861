import Glibc
import Media
import Photos
import Platform

/// The process that makes thumbnails. It reads untrusted files of the library, so that one made to
/// crash its reader ends this process, not the stream. It may open nothing: what it reads and
/// writes comes with each request (`ThumbnailRequest`).
package enum ThumbnailWorker {
    /// The limits: bytes of memory, and seconds of processor time for each file.
    private static let (memory, time): (UInt, UInt) = (1 << 30, 5)

    /// Serves requests from standard input until the other end closes it. `program` is
    /// "dualcam-VERSION".
    package static func run(program: String) -> Never {
        HelperService.run(memory: memory, time: time) {
            // Pictures of cameras go first.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
            // Loads libav and Exiv2 while it can.
            _ = MovieReader.isPossible
            _ = Metadata.isPossible
        } answer: { message, files in
            answer(to: message, files, program: program).message
        }
    }

    /// Answers the `message` of a `ThumbnailRequest` with its `files`.
    static func answer(
        to message: some Collection<UInt8>,
        _ files: [CInt],
        program: String
    ) -> ThumbnailAnswer {
        let words = String(decoding: message, as: UTF8.self).split(separator: " ", maxSplits: 1)
        guard words.count == 2, let size = Int(words[0]).flatMap(ThumbnailSize.init(rawValue:)),
            (2...3).contains(files.count)
        else { return .failed(ThumbnailError(.system, "not understood")) }
        return ThumbnailMaker(
            path: String(words[1]),
            size: size,
            source: files[0],
            output: files[1],
            thumbnail: files.dropFirst(2).first,
            program: program
        ).make()
    }
}

/// A worker's answer to a request.
enum ThumbnailAnswer: Hashable {
    /// The new file is a thumbnail.
    case made
    /// The thumbnail that was there is current.
    case held
    /// The file has no readable picture, for this reason.
    case unreadable(String)
    /// There is no thumbnail for another reason.
    case failed(ThumbnailError)

    /// The answer as a message: a word, and after a space the reason.
    var message: [UInt8] {
        let text =
            switch self {
            case .made: "made"
            case .held: "held"
            case .unreadable(let reason): "content \(reason)"
            case .failed(let error): "\(error.code.rawValue) \(error.description)"
            }
        return Array(text.utf8)
    }

    /// Reads a message, which the process may have made up.
    init(_ message: some Collection<UInt8>) {
        let text = String(decoding: message, as: UTF8.self)
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        let reason = words.dropFirst().first ?? "no reason"
        self =
            switch words.first {
            case "made" where text == "made": .made
            case "held" where text == "held": .held
            case "content": .unreadable(reason)
            case let word:
                .failed(
                    ThumbnailError(word.flatMap(ThumbnailError.Code.init) ?? .system, reason)
                )
            }
    }
}
