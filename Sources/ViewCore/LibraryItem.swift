/// A photograph or a movie that was taken.
package struct LibraryItem: Hashable, Sendable {
    /// The type.
    package enum Kind: Hashable, Sendable {
        /// A photograph.
        case photo
        /// A movie.
        case movie
    }

    /// The file.
    package var path: String
    /// The file as a URI.
    package var uri: String
    /// The type.
    package var kind: Kind
    /// The movie of a live photo.
    package var movie: String?
    /// The camera: "back", "front" or "stream"; empty if unknown.
    package var camera: String
    /// When it was taken, in words.
    package var when: String

    /// Creates an item.
    package init(
        path: String,
        uri: String,
        kind: Kind,
        movie: String? = nil,
        camera: String = "",
        when: String = ""
    ) {
        self.path = path
        self.uri = uri
        self.kind = kind
        self.movie = movie
        self.camera = camera
        self.when = when
    }

    /// All files that belong to it.
    package var files: [String] { [path] + (movie.map { [$0] } ?? []) }

    /// Type, time and camera: "Photo · 22 Nov 14:30 · back".
    package var words: String {
        let kind =
            switch self.kind {
            case .photo: movie == nil ? "Photo" : "Live photo"
            case .movie: "Movie"
            }
        return [kind, when, camera].filter { !$0.isEmpty }.joined(separator: " · ")
    }
}
