/// An error in a word that cannot be parsed, with the expected form.
package struct UnreadableValue: Error, Hashable, CustomStringConvertible {
    package let value: String
    package let expected: String
    /// The reason that the word is refused, if its form is as expected.
    package let reason: String?

    package init(_ value: String, expected: String, reason: String? = nil) {
        self.value = value
        self.expected = expected
        self.reason = reason
    }

    /// The message: `"vl42:x": expected auto, v4l2:DEVICE, …`.
    package var description: String { "\"\(value)\": expected \(expected)" }
}
