/// A failure to make a thumbnail.
package struct ThumbnailError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: String, CaseIterable, Sendable {
        /// The library does not have the file, or no longer.
        case notFound
        /// The file has no readable picture; the failure is stored.
        case unreadable
        /// Reading the file or writing the thumbnail is not permitted.
        case denied
        /// There is no room for the thumbnail.
        case noSpace
        /// Any other failure, which may be temporary.
        case system
    }
    /// The kind of failure.
    package let code: Code
    /// The message in one line, with the file's path.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
