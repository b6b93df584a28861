import Glibc
import Platform

/// A thumbnail to be made by a `ThumbnailWorker`, which may open no file itself: it gets those that
/// it needs, and the daemon puts the new one in its place.
///
/// - Context: The library's thread. May wait for the disk.
final class ThumbnailRequest {
    /// The file to make a thumbnail of.
    let subject: ThumbnailCache.Subject
    private let cache: ThumbnailCache
    private let size: ThumbnailSize
    private let source: Descriptor
    private let output: NewFile
    /// The thumbnail, and the note of a failure, that are there already.
    private let earlier: (thumbnail: SharedFile?, failure: SharedFile?)

    /// Opens the file at `path`, and a new one for its thumbnail in `cache`.
    ///
    /// - Throws: `notFound`, `denied`, `noSpace` or `system`.
    init(_ path: String, _ size: ThumbnailSize, _ cache: ThumbnailCache) throws(ThumbnailError) {
        self.cache = cache
        self.size = size
        let number = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw ThumbnailError(.last("open", path)) }
        source = Descriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0 else { throw ThumbnailError(.last("fstat", path)) }
        guard status.st_mode & S_IFMT == S_IFREG,
            let subject = ThumbnailCache.Subject(path, status),
            let place = cache.place(of: path, size)
        else { throw ThumbnailError(.notFound, "\(path) is not a regular file") }
        self.subject = subject
        earlier = (SharedFile(place), SharedFile(cache.place(ofFailure: subject.uri)))
        do throws(SystemError) {
            output = try cache.newFile(for: place)
        } catch {
            throw ThumbnailError(error)
        }
    }

    /// The message for the worker: the size, the files beside the first two, and the path.
    var message: [UInt8] {
        let files = (earlier.thumbnail == nil ? "" : "t") + (earlier.failure == nil ? "" : "f")
        return Array("\(size.rawValue) \(files.isEmpty ? "-" : files) \(subject.path)".utf8)
    }

    /// The files for the worker: the subject, the new thumbnail, and those of `message`.
    var descriptors: [CInt] {
        [source.number, output.descriptor]
            + [earlier.thumbnail, earlier.failure].compactMap { $0?.number }
    }

    /// Does what remains after the worker's `answer`.
    ///
    /// - Throws: The error in it; `noSpace`, `denied` or `system` when the thumbnail cannot be put
    ///   in its place.
    func finish(_ answer: ThumbnailAnswer) throws(ThumbnailError) {
        switch answer {
        case .held: return
        case .made:
            do throws(SystemError) {
                // A thumbnail spoilt by a power cut is made again.
                try output.replace(syncing: false)
            } catch {
                throw ThumbnailError(error)
            }
        case .unreadable(let reason, let isKnown):
            if !isKnown { fail(reason) }
            throw ThumbnailError(.unreadable, "\(subject.path): \(reason)")
        case .failed(let error): throw error
        }
    }

    /// Stores the reason why there is no thumbnail of the file as it is.
    func fail(_ reason: String) { try? cache.store(failure: reason, of: subject) }
}

/// An open file of the thumbnails' cache.
private final class SharedFile {
    private let file: Descriptor
    var number: CInt { file.number }

    /// Opens the file at `path`; `nil` if there is none, or no regular one.
    init?(_ path: String) {
        guard let number = try? ThumbnailCache.open(path) else { return nil }
        file = Descriptor(owning: number)
    }
}

/// A worker's answer to a request.
enum ThumbnailAnswer: Hashable {
    /// The new file is a thumbnail.
    case made
    /// The thumbnail that was there is current.
    case held
    /// The file has no readable picture; with `isKnown`, as was noted before.
    case unreadable(reason: String, isKnown: Bool)
    /// There is no thumbnail for another reason.
    case failed(ThumbnailError)

    /// The answer as a message: a word, and after a space the reason.
    var message: [UInt8] {
        let text =
            switch self {
            case .made: "made"
            case .held: "held"
            case .unreadable(let reason, let isKnown): "\(isKnown ? "known" : "content") \(reason)"
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
            case "content": .unreadable(reason: reason, isKnown: false)
            case "known": .unreadable(reason: reason, isKnown: true)
            default:
                .failed(
                    ThumbnailError(
                        words.first.flatMap { ThumbnailError.Code(rawValue: $0) } ?? .system,
                        reason
                    )
                )
            }
    }
}
