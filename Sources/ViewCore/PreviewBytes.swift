/// The bytes of a preview as they come, which become pictures: before each JPEG comes its length,
/// as four bytes, the highest first.
package struct PreviewBytes: Hashable, Sendable {
    /// A length that no picture has.
    package struct Invalid: Error, Hashable {}

    private var bytes: [UInt8] = []

    /// The most bytes of a picture.
    package static let longest = 1 << 20

    package init() {}

    /// Takes `part`, and returns the newest picture that is complete, if any.
    ///
    /// - Throws: `Invalid`, after which nothing that follows has a meaning.
    package mutating func take(_ part: ArraySlice<UInt8>) throws(Invalid) -> [UInt8]? {
        bytes += part
        var newest: [UInt8]?
        while bytes.count >= 4 {
            let length = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
            guard (1...Self.longest).contains(length) else { throw Invalid() }
            guard bytes.count >= 4 + length else { break }
            newest = Array(bytes[4..<(4 + length)])
            bytes.removeFirst(4 + length)
        }
        return newest
    }
}
