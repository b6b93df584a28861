/// A photograph or movie of the library.
package struct MediaItem: Hashable, Sendable {
    /// What kind of file it is. The words are those of D-Bus.
    package enum Kind: String, Sendable {
        /// A JPEG.
        case photo
        /// A movie with sound or without.
        case movie
    }
    /// The file.
    package let path: String
    /// What kind of file it is.
    package let kind: Kind
    /// "back", "front" or "stream", where the name says it.
    package let camera: String?
    /// Its length in bytes.
    package let byteCount: Int64
    /// When it was taken where the name says it, else when it was written last: microseconds since 1970.
    package let time: Int64
    /// The movie of a live photo; `nil` for all others.
    package internal(set) var movie: String?
}

/// The files of the library, newest first. Knows nothing of disks and clocks.
struct MediaIndex {
    /// What is known of a file.
    struct File: Hashable {
        var item: MediaItem
        /// The path without its end, which a live photo shares with its movie.
        let stem: String
        /// Whether it can be the movie of a live photo.
        let isMatroska: Bool

        init(_ item: MediaItem, _ name: MediaName, in folder: String) {
            self.item = item
            stem = "\(folder)/\(name.stem)"
            isMatroska = name.isMatroska
        }
    }

    private var files: [String: File] = [:]
    /// The items in order; `nil` since something changed.
    private var order: [MediaItem]?

    /// Takes `file` in, in the place of what had its path; whether that changed anything.
    @discardableResult
    mutating func insert(_ file: File) -> Bool {
        guard files.updateValue(file, forKey: file.item.path) != file else { return false }
        order = nil
        return true
    }

    /// Forgets the file at `path`; whether there was one.
    mutating func remove(_ path: String) -> Bool {
        guard files.removeValue(forKey: path) != nil else { return false }
        order = nil
        return true
    }

    /// Has room for as many files.
    mutating func reserve(_ count: Int) { files.reserveCapacity(count) }

    /// Whether the file at `path` is of the library; the movie of a live photo is.
    func contains(_ path: String) -> Bool { files[path] != nil }

    /// How many items there are: a live photo with its movie is one.
    var count: Int { mutating get { ordered().count } }

    /// The items from `offset` on, at most `count`.
    mutating func items(from offset: Int, count: Int) -> ArraySlice<MediaItem> {
        ordered().dropFirst(offset).prefix(count)
    }

    /// Where the item with the file `path` stands; `nil` for the movie of a live photo, and for what is not there.
    mutating func place(of path: String) -> Int? {
        guard let item = files[path]?.item else { return nil }
        let items = ordered()
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].isBefore(item) { low = middle + 1 } else { high = middle }
        }
        return low < items.count && items[low].path == path ? low : nil
    }

    /// Whether both hold the same.
    func holdsSame(as other: MediaIndex) -> Bool { files == other.files }

    private mutating func ordered() -> [MediaItem] {
        if let order { return order }
        var movies: [String: String] = [:]
        for file in files.values where file.isMatroska { movies[file.stem] = file.item.path }
        var items: [MediaItem] = []
        items.reserveCapacity(files.count)
        var paired: Set<String> = []
        for file in files.values where file.item.kind == .photo {
            var item = file.item
            if !movies.isEmpty, let movie = movies[file.stem] {
                item.movie = movie
                paired.insert(movie)
            }
            items.append(item)
        }
        for file in files.values
        where file.item.kind == .movie && !paired.contains(file.item.path) {
            items.append(file.item)
        }
        items.sort { $0.isBefore($1) }
        order = items
        return items
    }
}

extension MediaItem {
    /// Newest first; what is as new by its path.
    fileprivate func isBefore(_ other: MediaItem) -> Bool {
        time != other.time ? time > other.time : path < other.path
    }
}
