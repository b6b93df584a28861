import CAV
import Frames
import Glibc
package import Platform

/// A failure to read, write or encode a movie.
package struct MediaError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure, by its remedy.
    package enum Code: String, Hashable, Sendable {
        /// The disk, or the user's quota, is full.
        case noSpace
        /// Writing is not permitted there.
        case denied
        /// FFmpeg's libraries are missing, or have no encoder for this.
        case unsupported
        /// The file has nothing that can be read.
        case unreadable
        /// There is no such file.
        case notFound
        /// Someone else is writing the file.
        case busy
        /// Reading the file ends or hangs its reader.
        case harmful
        /// Any other failure of the system, such as a broken disk.
        case system
    }

    package let code: Code
    /// The failed operation, by the name of its manual page: "write", "avcodec_open2".
    package let operation: String
    /// The subject of the operation, such as a path or an encoder, or empty.
    package let subject: String
    /// The errno, or 0.
    package let errno: CInt
    /// Further details for a person, such as libav's message.
    package let detail: String

    /// Creates an error from `operation` on `subject`.
    package init(
        _ code: Code,
        _ operation: String,
        _ subject: String = "",
        errno: CInt = 0,
        detail: String = ""
    ) {
        self.code = code
        self.operation = operation
        self.subject = subject
        self.errno = errno
        self.detail = detail
    }

    /// Returns the error of the last system call on this thread.
    package static func last(_ operation: String, _ subject: String) -> MediaError {
        MediaError(Code(errno: Glibc.errno), operation, subject, errno: Glibc.errno)
    }

    /// Returns the error of a libav call that returned `result`. An errno that has a code of its
    /// own, or ENOMEM, takes precedence over `code`.
    static func libav(
        _ operation: String,
        _ subject: String,
        _ result: CInt,
        _ code: Code = .system
    ) -> MediaError {
        var text = [CChar](repeating: 0, count: 128)
        av_strerror(result, &text, text.count)
        let reason = text.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let known = Code(errno: -result)
        // "Generic error in an external library" helps nobody.
        let isVague = reason.hasPrefix("Generic error")
        return known == .system && -result != ENOMEM
            ? MediaError(code, operation, subject, detail: isVague ? "" : reason.uncapitalized)
            : MediaError(known, operation, subject, errno: -result)
    }

    /// Creates the error of a failed system call.
    package init(_ error: SystemError) {
        self.init(
            Code(errno: error.errno),
            error.operation,
            error.subject,
            errno: error.errno
        )
    }

    /// "cannot write /home/…/back.mkv: the disk is full".
    package var description: String {
        let isReason = errno != 0 || detail.isEmpty
        return describe(operation, subject, reason: isReason ? reason : "", detail: detail)
    }

    /// The reason alone: "the disk is full", "your disk quota is used up".
    package var reason: String {
        // An errno says more than a code that comes of one.
        let isOfErrno = errno != 0 && [.noSpace, .denied, .notFound].contains(code)
        let words = isOfErrno ? nil : code.words
        return words ?? Platform.reason(errno, of: operation, on: subject)
    }
}

extension MediaError.Code {
    /// The reason in words for people; `nil` if the errno says more.
    package var words: String? {
        switch self {
        case .noSpace: "the disk is full"
        case .denied: "permission denied"
        case .unsupported: "that is not supported here"
        case .unreadable: "it cannot be read"
        case .notFound: "there is no such file"
        case .busy: "another program is writing it"
        case .harmful: "its content cannot be read safely"
        case .system: nil
        }
    }

    /// Returns the code for `errno`.
    package init(errno: CInt) {
        self =
            switch errno {
            case ENOSPC, EDQUOT: .noSpace
            case EACCES, EPERM, EROFS: .denied
            case ENOENT: .notFound
            default: .system
            }
    }
}

/// Loads libav and silences its log.
///
/// - Throws: `unsupported` without libav.
func loadLibraries() throws(MediaError) {
    guard cav_load() else {
        throw MediaError(
            .unsupported,
            "dlopen",
            detail: "FFmpeg's libraries are not there"
        )
    }
    av_log_set_level(AV_LOG_QUIET)
}
