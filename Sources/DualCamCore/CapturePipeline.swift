/// One of the two capture pipelines that a role has, each for one open lens: while one's picture is
/// shown, the next lens gets ready in the other.
package enum CapturePipeline: CaseIterable, Hashable, Sendable {
    case a
    case b

    /// The other one.
    package var other: CapturePipeline { self == .a ? .b : .a }

    /// What distinguishes its threads' names from those of pipeline A: "-2".
    package var suffix: String { self == .a ? "" : "-2" }
}

/// One value for each capture pipeline.
package struct PerPipeline<Value> {
    /// Pipeline A's.
    package var a: Value
    /// Pipeline B's.
    package var b: Value

    /// One value for each.
    package init(a: Value, b: Value) {
        self.a = a
        self.b = b
    }

    /// The value of `pipeline`.
    package subscript(pipeline: CapturePipeline) -> Value {
        get { pipeline == .a ? a : b }
        set { if pipeline == .a { a = newValue } else { b = newValue } }
    }
}

extension PerPipeline: Equatable where Value: Equatable {}
extension PerPipeline: Hashable where Value: Hashable {}
extension PerPipeline: Sendable where Value: Sendable {}
