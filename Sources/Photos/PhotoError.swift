/// A failure to read or write a photograph.
package struct PhotoError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: Hashable, Sendable {
        case notJPEG
        /// The JPEG ends early or is damaged.
        case damaged
        /// The JPEG is of a kind that is not supported.
        case unsupported
        /// The file has more bytes or pixels than any camera's picture.
        case tooLarge
        /// The new metadata does not fit or is rejected.
        case metadata
        case noMemory
    }
    package let code: Code
    /// The message, in words that follow a file name and a colon.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
