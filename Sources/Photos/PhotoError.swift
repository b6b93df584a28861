/// A photograph that cannot be read or written, and why.
package struct PhotoError: Error, Hashable, CustomStringConvertible {
    /// What kind of fault it is.
    package enum Code: Hashable, Sendable {
        /// No JPEG at all.
        case notJPEG
        /// A JPEG that ends early or is damaged.
        case damaged
        /// A JPEG of a kind that the library does not know.
        case unsupported
        /// More bytes or pixels than any camera's picture has.
        case tooLarge
        /// What was to be written into its metadata has no room there or is not taken.
        case metadata
        /// There is no memory.
        case noMemory
    }
    /// What kind of fault it is.
    package let code: Code
    /// What is wrong, in words that follow a file's name and a colon.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
