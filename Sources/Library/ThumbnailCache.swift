import CGLib
import Frames
import Glibc
import Photos
import Platform

/// The size of a thumbnail, which fits into a square of that many pixels: the sizes of
/// freedesktop.org's Thumbnail Managing Standard 0.9, which desktop programs share.
package enum ThumbnailSize: Int, CaseIterable, Sendable {
    /// 128 pixels.
    case normal = 128
    /// 256 pixels.
    case large = 256
    /// 512 pixels.
    case extraLarge = 512
    /// 1024 pixels.
    case extraExtraLarge = 1024

    /// The smallest size of at least `pixels`; `nil` if there is none, and for 0.
    package init?(atLeast pixels: Int) {
        guard pixels > 0, let size = Self.allCases.first(where: { $0.rawValue >= pixels }) else {
            return nil
        }
        self = size
    }

    /// The name of the size's directory.
    var folder: String {
        switch self {
        case .normal: "normal"
        case .large: "large"
        case .extraLarge: "x-large"
        case .extraExtraLarge: "xx-large"
        }
    }
}

/// The thumbnails that desktop programs share, according to the Thumbnail Managing Standard.
struct ThumbnailCache {
    /// The facts of a file that its thumbnail states.
    struct Subject {
        let path: String
        let uri: String
        /// The time of the last modification, in whole seconds since 1970, and the length in bytes.
        let modified: Int
        let byteCount: Int

        /// Describes the file at `path` with the given `status`. `nil` if it has no URI.
        init?(_ path: String, _ status: stat) {
            guard let uri = fileURI(path) else { return nil }
            self.path = path
            self.uri = uri
            modified = status.st_mtim.tv_sec
            byteCount = Int(status.st_size)
        }
    }

    private let root: String
    /// The name under which failures are stored: it includes the version, because another version
    /// may succeed.
    private let program: String
    private static let longest = 1 << 24

    /// Creates the cache in the directory `root`. `program` is "dualcam-VERSION".
    init(root: String, program: String) {
        self.root = root
        self.program = program
    }

    /// Creates the cache of the user. `nil` without a home.
    init?(program: String) {
        let home = getenv("HOME").map { String(cString: $0) }
        let cache = getenv("XDG_CACHE_HOME").map { String(cString: $0) }
        if let cache, cache.hasPrefix("/") {
            self.init(root: "\(cache)/thumbnails", program: program)
        } else if let home, home.hasPrefix("/") {
            self.init(root: "\(home)/.cache/thumbnails", program: program)
        } else {
            return nil
        }
    }

    /// Returns the path of the thumbnail for the file at `path`, even if it is not made yet; `nil`
    /// if the file has no URI.
    func place(of path: String, _ size: ThumbnailSize) -> String? {
        fileURI(path).map { "\(root)/\(size.folder)/\(Self.name($0))" }
    }

    /// Opens the thumbnail at `place` for reading. The caller closes the descriptor.
    ///
    /// - Throws: `SystemError` of open(2), or with EINVAL if it is not a regular file.
    static func open(_ place: String) throws(SystemError) -> CInt {
        // O_NONBLOCK, because opening a pipe would wait for a writer.
        let number = Glibc.open(place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { throw .last("open", place) }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(number)
            throw SystemError("open", "\(place), which is no regular file", errno: EINVAL)
        }
        return number
    }

    /// Removes the temporary files of workers that were killed.
    func sweep() {
        let folders =
            ThumbnailSize.allCases.map { "\(root)/\($0.folder)" } + ["\(root)/fail/\(program)"]
        for folder in folders {
            for name in entries(of: folder) where name.hasPrefix(".dualcam-") {
                var status = stat()
                // Another worker may be writing a recent one.
                guard lstat("\(folder)/\(name)", &status) == 0,
                    time(nil) - status.st_mtim.tv_sec > 3600
                else { continue }
                unlink("\(folder)/\(name)")
            }
        }
    }

    private func place(ofFailure uri: String) -> String {
        "\(root)/fail/\(program)/\(Self.name(uri))"
    }

    /// Returns the name of a thumbnail: the MD5 of its URI, according to the standard.
    private static func name(_ uri: String) -> String {
        guard let text = g_compute_checksum_for_string(G_CHECKSUM_MD5, uri, -1) else {
            preconditionFailure("GLib knows MD5")
        }
        defer { g_free(text) }
        return String(cString: text) + ".png"
    }

    /// Returns `true` if there is a current thumbnail of `subject`, made by any program.
    func holds(_ subject: Subject, _ size: ThumbnailSize) -> Bool {
        guard let place = place(of: subject.path, size), let facts = facts(place, subject) else {
            return false
        }
        return max(facts.size.width, facts.size.height) <= size.rawValue
    }

    /// Returns the reason why `subject`, in its present state, could not be made a thumbnail of;
    /// `nil` if no failure is stored.
    func failure(of subject: Subject) -> String? {
        facts(place(ofFailure: subject.uri), subject).map { $0.texts["Description"] ?? "" }
    }

    private func facts(_ place: String, _ subject: Subject) -> PNGFile.Facts? {
        guard let bytes = try? readFile(place, limit: Self.longest),
            let facts = PNGFile.facts(of: bytes), facts.texts["Thumb::URI"] == subject.uri,
            facts.texts["Thumb::MTime"].flatMap({ Int($0) }) == subject.modified
        else { return nil }
        // Not every program writes it.
        if let count = facts.texts["Thumb::Size"], count != "\(subject.byteCount)" { return nil }
        return facts
    }

    /// Stores `picture` as the thumbnail of `subject`, whose own picture has the size `original`.
    ///
    /// - Throws: `SystemError` when writing fails.
    func store(
        _ picture: Raster,
        of subject: Subject,
        _ size: ThumbnailSize,
        original: Size,
        type: String
    ) throws(SystemError) {
        guard let place = place(of: subject.path, size) else { return }
        try store(
            picture,
            at: place,
            texts(subject) + [
                ("Thumb::Mimetype", type), ("Thumb::Image::Width", "\(original.width)"),
                ("Thumb::Image::Height", "\(original.height)"),
            ]
        )
    }

    /// Stores the reason why `subject` has no thumbnail, so that it is not tried again.
    ///
    /// - Throws: `SystemError` when writing fails.
    func store(failure reason: String, of subject: Subject) throws(SystemError) {
        try store(
            Raster(size: Size(width: 1, height: 1), pixels: [0]),
            at: place(ofFailure: subject.uri),
            texts(subject) + [("Description", reason)]
        )
    }

    private func texts(_ subject: Subject) -> [(key: String, value: String)] {
        [
            ("Thumb::URI", subject.uri), ("Thumb::MTime", "\(subject.modified)"),
            ("Thumb::Size", "\(subject.byteCount)"), ("Software", program),
        ]
    }

    private func store(
        _ picture: Raster,
        at place: String,
        _ texts: [(key: String, value: String)]
    ) throws(SystemError) {
        try makeDirectory(place.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" })
        let file = try NewFile(for: place, mode: 0o600)
        try PNGFile.write(picture, texts, to: file)
        // A thumbnail spoilt by a power cut is made again.
        try file.replace(syncing: false)
    }
}
