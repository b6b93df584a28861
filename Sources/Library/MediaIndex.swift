/// A photograph or movie of the library.
package struct MediaItem: Hashable, Sendable {
    /// The kind of a file. The raw values are those of D-Bus.
    package enum Kind: String, Sendable {
        /// A JPEG.
        case photo
        /// A movie with or without sound.
        case movie
    }
    /// The path of the file.
    package let path: String
    /// The kind of the file.
    package let kind: Kind
    /// "back", "front" or "stream", if the name has it.
    package let camera: String?
    /// The length in bytes.
    package let byteCount: Int64
    /// The time in the name, or else of the last modification, in microseconds since 1970.
    package let time: Int64
    /// The path of a live photo's movie; `nil` for all other items.
    package internal(set) var movie: String?
    /// The length of a movie in seconds; `nil` in the index, for photographs, and if it is unknown.
    package internal(set) var seconds: Double?
}

/// The files of the library, newest first. Independent of disks and clocks.
struct MediaIndex {
    /// One file of the index.
    struct File: Hashable {
        var item: MediaItem
        /// The path without extension, which a live photo shares with its movie.
        let stem: String
        /// `true` if the file can be the movie of a live photo.
        let isMatroska: Bool

        init(_ item: MediaItem, _ name: MediaName, in folder: String) {
            self.item = item
            stem = "\(folder)/\(name.stem)"
            isMatroska = name.isMatroska
        }
    }

    private var files: [String: File] = [:]
    /// The sorted items, or `nil` after a change.
    private var order: [MediaItem]?

    /// Inserts `file`, or replaces the file of the same path. Returns `true` if the index changed.
    @discardableResult
    mutating func insert(_ file: File) -> Bool {
        guard files.updateValue(file, forKey: file.item.path) != file else { return false }
        order = nil
        return true
    }

    /// Removes the file at `path`. Returns `true` if there was one.
    mutating func remove(_ path: String) -> Bool {
        guard files.removeValue(forKey: path) != nil else { return false }
        order = nil
        return true
    }

    /// Reserves room for `count` files.
    mutating func reserve(_ count: Int) { files.reserveCapacity(count) }

    /// Returns `true` if the library has the file at `path`, including movies of live photos.
    func contains(_ path: String) -> Bool { files[path] != nil }

    /// The number of items. A live photo with its movie is one.
    var count: Int { mutating get { ordered().count } }

    /// Returns at most `count` items from `offset` on.
    mutating func items(from offset: Int, count: Int) -> ArraySlice<MediaItem> {
        ordered().dropFirst(offset).prefix(count)
    }

    /// Returns the position of the item at `path`, or `nil` for the movie of a live photo and
    /// unknown paths.
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

    /// Returns `true` if both have the same files.
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
    /// The order of items: newest first, then by path.
    fileprivate func isBefore(_ other: MediaItem) -> Bool {
        time != other.time ? time > other.time : path < other.path
    }
}
