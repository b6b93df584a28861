import CGLib
import Frames
import Glibc
import Photos
import Platform

/// How large a thumbnail is: it fits into a square of as many pixels. These are the sizes of freedesktop.org's Thumbnail
/// Managing Standard 0.9, which programs of a desktop share.
package enum ThumbnailSize: Int, CaseIterable, Sendable {
    /// 128 pixels.
    case normal = 128
    /// 256 pixels.
    case large = 256
    /// 512 pixels.
    case extraLarge = 512
    /// 1024 pixels.
    case extraExtraLarge = 1024

    /// The smallest in which a picture of `pixels` has room; `nil` for none, and for 0.
    package init?(atLeast pixels: Int) {
        guard pixels > 0, let size = Self.allCases.first(where: { $0.rawValue >= pixels }) else {
            return nil
        }
        self = size
    }

    /// The directory that they are in.
    var folder: String {
        switch self {
        case .normal: "normal"
        case .large: "large"
        case .extraLarge: "x-large"
        case .extraExtraLarge: "xx-large"
        }
    }
}

/// The thumbnails that programs of a desktop share, as the Thumbnail Managing Standard has them.
struct ThumbnailCache {
    /// A file as its thumbnail has to name it.
    struct Subject {
        let path: String
        let uri: String
        /// When it was written last, in whole seconds since 1970, and its length.
        let modified: Int
        let byteCount: Int

        /// The file at `path`, of which `status` is known. `nil` where it has no URI.
        init?(_ path: String, _ status: stat) {
            guard let uri = fileURI(path) else { return nil }
            self.path = path
            self.uri = uri
            modified = status.st_mtim.tv_sec
            byteCount = Int(status.st_size)
        }
    }

    private let root: String
    /// Whose failures are kept: a program with its version, as another version may succeed.
    private let program: String
    private static let longest = 1 << 24

    /// The cache in the directory `root`. `program` is "dualcam-VERSION".
    init(root: String, program: String) {
        self.root = root
        self.program = program
    }

    /// The cache of the user; `nil` where there is no home.
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

    /// Where the thumbnail of the file at `path` is, or would be; `nil` where it has no URI.
    func place(of path: String, _ size: ThumbnailSize) -> String? {
        fileURI(path).map { "\(root)/\(size.folder)/\(Self.name($0))" }
    }

    /// The thumbnail at `place`, open for reading; the caller's to close.
    static func open(_ place: String) throws(SystemError) -> CInt {
        // A pipe would keep its reader waiting.
        let number = Glibc.open(place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { throw .last("open", place) }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(number)
            throw SystemError("open", "\(place), which is no regular file", errno: EINVAL)
        }
        return number
    }

    /// Removes what one of us left that was killed while it wrote.
    func sweep() {
        let folders =
            ThumbnailSize.allCases.map { "\(root)/\($0.folder)" } + ["\(root)/fail/\(program)"]
        for folder in folders {
            for name in entries(of: folder) where name.hasPrefix(".dualcam-") {
                var status = stat()
                // Another may be writing just now.
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

    /// MD5 of the URI, as the standard has it.
    private static func name(_ uri: String) -> String {
        guard let text = g_compute_checksum_for_string(G_CHECKSUM_MD5, uri, -1) else {
            preconditionFailure("GLib knows MD5")
        }
        defer { g_free(text) }
        return String(cString: text) + ".png"
    }

    /// Whether there is a thumbnail of `subject` as it is now, whoever made it.
    func holds(_ subject: Subject, _ size: ThumbnailSize) -> Bool {
        guard let place = place(of: subject.path, size), let facts = facts(place, subject) else {
            return false
        }
        return max(facts.size.width, facts.size.height) <= size.rawValue
    }

    /// Why no thumbnail could be made of `subject` as it is now; `nil` where that was not tried.
    func failure(of subject: Subject) -> String? {
        facts(place(ofFailure: subject.uri), subject).map { $0.texts["Description"] ?? "" }
    }

    private func facts(_ place: String, _ subject: Subject) -> PNGFile.Facts? {
        guard let bytes = try? readFile(place, limit: Self.longest),
            let facts = PNGFile.facts(of: bytes), facts.texts["Thumb::URI"] == subject.uri,
            facts.texts["Thumb::MTime"].flatMap({ Int($0) }) == subject.modified
        else { return nil }
        // Not every program says it.
        if let count = facts.texts["Thumb::Size"], count != "\(subject.byteCount)" { return nil }
        return facts
    }

    /// Keeps `picture`, of `original` pixels, as the thumbnail of `subject`.
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

    /// Keeps that no thumbnail can be made of `subject`, and why, so that it is not tried again and again.
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
        // What a power cut spoils is made again.
        try file.replace(syncing: false)
    }
}
