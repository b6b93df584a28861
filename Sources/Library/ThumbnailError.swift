import Glibc
import Platform

/// A failure to make a thumbnail.
package struct ThumbnailError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: String, CaseIterable, Sendable {
        /// The library does not have the file, or no longer.
        case notFound
        /// The file has no readable picture.
        case unreadable
        /// Reading the file or writing the thumbnail is not permitted.
        case denied
        /// There is no room for the thumbnail.
        case noSpace
        /// Any other failure, which may be temporary.
        case system
    }
    package let code: Code
    /// The message in one line, with the file's path.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension ThumbnailError {
    /// Returns the error of a file that has no readable picture for this reason.
    static func unreadable(_ file: ThumbnailCache.Subject, _ reason: String) -> ThumbnailError {
        ThumbnailError(.unreadable, "\(file.path): \(reason)")
    }

    /// Creates the error for a failed system call.
    init(_ error: SystemError) {
        let code: Code =
            switch error.errno {
            case ENOENT, ENOTDIR, ELOOP: .notFound
            case EACCES, EPERM, EROFS: .denied
            case ENOSPC, EDQUOT: .noSpace
            default: .system
            }
        self.init(code, "\(error)")
    }
}
