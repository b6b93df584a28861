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
struct ThumbnailCache: Sendable {
    /// The facts of a file that its thumbnail states.
    struct Subject: Hashable, Sendable {
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

        /// Returns the facts of the thumbnail in the open file `descriptor`, if it is of this file
        /// in its present state, whichever program made it.
        func facts(in descriptor: CInt) -> PNGFile.Facts? {
            guard let bytes = try? content(of: descriptor, limit: ThumbnailCache.longest),
                let facts = PNGFile.facts(of: bytes), facts.texts["Thumb::URI"] == uri,
                facts.texts["Thumb::MTime"].flatMap({ Int($0) }) == modified
            else { return nil }
            // Not every program writes it.
            if let count = facts.texts["Thumb::Size"], count != "\(byteCount)" { return nil }
            return facts
        }

        func texts(_ program: String) -> [(key: String, value: String)] {
            [
                ("Thumb::URI", uri), ("Thumb::MTime", "\(modified)"),
                ("Thumb::Size", "\(byteCount)"), ("Software", program),
            ]
        }
    }

    private let root: String
    private static let longest = 1 << 24

    /// Creates the cache in the directory `root`.
    init(root: String) { self.root = root }

    /// Creates the cache of the user. `nil` without a home.
    init?() {
        guard let folder = BaseDirectory.cache.path else { return nil }
        self.init(root: "\(folder)/thumbnails")
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
            throw SystemError("open", "\(place), which is not a regular file", errno: EINVAL)
        }
        return number
    }

    /// Returns the name of a thumbnail: the MD5 of its URI, according to the standard.
    private static func name(_ uri: String) -> String {
        guard let text = g_compute_checksum_for_string(G_CHECKSUM_MD5, uri, -1) else {
            preconditionFailure("GLib knows MD5")
        }
        defer { g_free(text) }
        return String(cString: text) + ".png"
    }
}

/// Returns the URI of the file `path`, or `nil` if the path is not absolute.
///
/// Spelled as by GLib's g_filename_to_uri(), under which other desktop programs know the file.
package func fileURI(_ path: String) -> String? {
    guard let text = g_filename_to_uri(path, nil, nil) else { return nil }
    defer { g_free(text) }
    return String(cString: text)
}
