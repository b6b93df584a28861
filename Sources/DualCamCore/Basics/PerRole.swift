/// One value for each role.
package struct PerRole<Value> {
    package var back: Value
    package var front: Value

    package init(back: Value, front: Value) {
        self.back = back
        self.front = front
    }

    /// The value that `make` makes for each role. Throws what `make` throws.
    package init<Failure>(_ make: (Role) throws(Failure) -> Value) throws(Failure) {
        self.init(back: try make(.back), front: try make(.front))
    }

    package subscript(role: Role) -> Value {
        get { role == .back ? back : front }
        set { if role == .back { back = newValue } else { front = newValue } }
    }
}

extension PerRole: Equatable where Value: Equatable {}
extension PerRole: Hashable where Value: Hashable {}
extension PerRole: Sendable where Value: Sendable {}
