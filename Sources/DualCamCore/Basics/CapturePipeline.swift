/// One of the two capture pipelines of a role, each for one open lens. While one pipeline's picture
/// is shown, the next lens gets ready in the other.
package enum CapturePipeline: CaseIterable, Hashable, Sendable {
    case a
    case b

    package var other: CapturePipeline { self == .a ? .b : .a }

    /// The suffix of its threads' names: "-2" for pipeline B, empty for A.
    package var suffix: String { self == .a ? "" : "-2" }
}

/// One value for each capture pipeline.
package struct PerPipeline<Value> {
    package var a: Value
    package var b: Value

    package init(a: Value, b: Value) {
        self.a = a
        self.b = b
    }

    package subscript(pipeline: CapturePipeline) -> Value {
        get { pipeline == .a ? a : b }
        set { if pipeline == .a { a = newValue } else { b = newValue } }
    }
}

extension PerPipeline: Equatable where Value: Equatable {}
extension PerPipeline: Hashable where Value: Hashable {}
extension PerPipeline: Sendable where Value: Sendable {}
