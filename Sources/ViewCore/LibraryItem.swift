import DualCamCore

/// A photograph or a movie that was taken.
package struct LibraryItem: Hashable, Sendable {
    /// The type.
    package enum Kind: Hashable, Sendable {
        case photo
        case movie
    }

    package var path: String
    /// The file as a URI.
    package var uri: String
    package var kind: Kind
    /// The length of a movie; `nil` if unknown.
    package var seconds: Double?
    /// The movie of a live photo.
    package var movie: String?
    /// The camera: "back", "front" or "stream"; empty if unknown.
    package var camera = ""
    /// When it was taken, in words.
    package var when = ""

    package init(path: String, uri: String, kind: Kind) {
        (self.path, self.uri, self.kind) = (path, uri, kind)
    }

    /// The length on a movie's picture; `nil` for a photograph.
    package var length: String? {
        guard kind == .movie else { return nil }
        return seconds.map { Clock.text(seconds: Int($0.rounded(.down))) } ?? "▶"
    }

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
