/// The permissions of photographs and recordings: who may read and write them.
package struct FileMode: Hashable, Sendable, CustomStringConvertible {
    /// The bits, as chmod(2) takes them.
    package let bits: UInt32

    package static let owner = FileMode(bits: 0o600)

    private init(bits: UInt32) { self.bits = bits }

    /// Reads an octal number, such as "640". The owner may read and write, and nobody execute.
    init(parsing text: String) throws(UnreadableValue) {
        guard (3...4).contains(text.utf8.count), let bits = UInt32(text, radix: 8),
            bits & 0o600 == 0o600, bits & ~0o666 == 0
        else {
            throw UnreadableValue(text, expected: "permissions such as 600, 640 or 644")
        }
        self.bits = bits
    }

    /// The octal number: "600".
    package var description: String { String(bits, radix: 8) }
}
