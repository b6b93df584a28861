import Glibc
import Platform

/// A thumbnail to be made by a `ThumbnailWorker`, which may open no file itself: it gets those that
/// it needs, and the daemon puts the new one in its place.
///
/// - Context: One thread, which may wait for the disk.
final class ThumbnailRequest {
    let subject: ThumbnailCache.Subject
    private let size: ThumbnailSize
    private let source: Descriptor
    private let output: NewFile
    /// The thumbnail that is there already.
    private let earlier: CInt?

    /// Opens the file at `path`, and a new one for its thumbnail in `cache`.
    ///
    /// - Throws: `notFound`, `denied`, `noSpace` or `system`.
    init(_ path: String, _ size: ThumbnailSize, _ cache: ThumbnailCache) throws(ThumbnailError) {
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
        do throws(SystemError) {
            try makeFolder(of: place)
            output = try NewFile(for: place, mode: 0o600)
        } catch {
            throw ThumbnailError(error)
        }
        earlier = try? ThumbnailCache.open(place)
    }

    deinit { earlier.map { _ = close($0) } }

    /// The message for the worker: the size, and the path.
    var message: [UInt8] { Array("\(size.rawValue) \(subject.path)".utf8) }

    /// The files for the worker: the subject, the new thumbnail, and the earlier one.
    var descriptors: [CInt] {
        [source.number, output.descriptor] + (earlier.map { [$0] } ?? [])
    }

    /// Does what remains after the worker's `answer`, and returns a descriptor of the thumbnail,
    /// which the caller closes.
    ///
    /// - Throws: The error in the answer; `noSpace`, `denied` or `system` when the thumbnail cannot
    ///   be put in its place.
    func finish(_ answer: ThumbnailAnswer) throws(ThumbnailError) -> CInt {
        switch answer {
        case .held, .made: break
        case .unreadable(let reason): throw .unreadable(subject, reason)
        case .failed(let error): throw error
        }
        do throws(SystemError) {
            // A thumbnail spoilt by a power cut is made again.
            if answer == .made { try output.replace(syncing: false) }
            return try ThumbnailCache.open(output.path)
        } catch {
            throw ThumbnailError(error)
        }
    }
}
