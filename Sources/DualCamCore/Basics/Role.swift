/// The two cameras, by what they look at.
package enum Role: String, CaseIterable, Hashable, Sendable {
    /// The camera that looks at the world, or the desk.
    case back
    /// The camera that looks at the user.
    case front

    package var other: Role { self == .back ? .front : .back }
}
