import CLinux
import Glibc
import Media
import Platform

/// The process that makes thumbnails. It reads untrusted files of the library, so that one made to
/// crash its reader ends this process, not the stream. It may open nothing: what it reads and
/// writes comes with each request (`ThumbnailRequest`).
package enum ThumbnailWorker {
    /// The limits: bytes of memory, and seconds of processor time for each file.
    private static let (memory, time): (UInt, UInt) = (1 << 30, 20)

    /// Serves requests from standard input until the other end closes it.
    ///
    /// With `isIdle`, runs only when the machine is otherwise idle. `program` is "dualcam-VERSION".
    package static func run(isIdle: Bool, program: String) -> Never {
        HelperService.run(memory: memory, time: time) {
            if isIdle { clinux_be_idle() }
            ThumbnailCache(program: program)?.sweep()
            // Loads libav while it can.
            _ = MovieReader.isPossible
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
        let words = String(decoding: message, as: UTF8.self)
            .split(separator: " ", maxSplits: 2).map(String.init)
        let earlier = words.count == 3 ? words[1].filter { $0 != "-" } : ""
        guard words.count == 3, let size = Int(words[0]).flatMap(ThumbnailSize.init(rawValue:)),
            files.count == 2 + earlier.count
        else { return .failed(ThumbnailError(.system, "not understood")) }
        let more = Dictionary(zip(earlier, files.dropFirst(2))) { $1 }
        return ThumbnailMaker(
            path: words[2],
            size: size,
            source: files[0],
            output: files[1],
            thumbnail: more["t"],
            failure: more["f"],
            program: program
        ).make()
    }
}
