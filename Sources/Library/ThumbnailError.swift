/// Why there is no thumbnail.
package struct ThumbnailError: Error, Hashable, CustomStringConvertible {
    /// What kind of fault it is.
    package enum Code: String, CaseIterable, Sendable {
        /// There is no such file in the library, or not any more.
        case notFound
        /// The file holds nothing that a picture can be made of; that is remembered.
        case unreadable
        /// The system does not let us read the file or write the thumbnail.
        case denied
        /// There is no room for the thumbnail.
        case noSpace
        /// Something else; another time it may go well.
        case system
    }
    /// What kind of fault it is.
    package let code: Code
    /// What is wrong, with the file's path, in one line.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
