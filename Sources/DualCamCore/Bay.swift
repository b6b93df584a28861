/// The two places that a role has for a lens that is open: while one's picture is shown, the next one
/// gets ready in the other.
package enum Bay: CaseIterable, Hashable, Sendable {
    case first
    case second

    /// The other one.
    package var other: Bay { self == .first ? .second : .first }

    /// What tells its threads from those of the first one: "-2".
    package var suffix: String { self == .first ? "" : "-2" }
}

/// One value for each bay.
package struct PerBay<Value> {
    /// The first one's.
    package var first: Value
    /// The second one's.
    package var second: Value

    /// One value for each.
    package init(first: Value, second: Value) {
        self.first = first
        self.second = second
    }

    /// The value of `bay`.
    package subscript(bay: Bay) -> Value {
        get { bay == .first ? first : second }
        set { if bay == .first { first = newValue } else { second = newValue } }
    }
}

extension PerBay: Equatable where Value: Equatable {}
extension PerBay: Hashable where Value: Hashable {}
extension PerBay: Sendable where Value: Sendable {}
