import Frames

/// The reason that a recording ended by itself, or that the movie of a live photo was not made.
package enum RecordingFailure: Hashable, Sendable {
    /// There is too little room on the disk, for this reason.
    case noSpace(String)
    /// Writing is not permitted there.
    case denied
    /// Any other reason, in words for people.
    case other(String)

    /// The reason that D-Bus has as `word`.
    package init(word: String) {
        self =
            switch word {
            case "NoSpace": .noSpace("there is too little room on the disk")
            case "Denied": .denied
            default: .other(word)
            }
    }

    /// The reason for clients: a word for what the user can remedy, otherwise a text.
    package var word: String {
        switch self {
        case .noSpace: "NoSpace"
        case .denied: "Denied"
        case .other(let reason): reason
        }
    }

    /// The reason in words, for the end of a sentence.
    package var text: String {
        switch self {
        case .noSpace(let reason): reason
        case .denied: "permission denied"
        case .other(let reason): reason.uncapitalized
        }
    }

    /// The reason that a recording stopped, in words for the end of a sentence.
    package var recordingText: String {
        self == .denied ? "permission denied in the directory for videos" : text
    }
}
