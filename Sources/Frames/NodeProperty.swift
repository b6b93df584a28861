/// A camera value that a PipeWire node shows to applications, and that they may set.
package struct NodeProperty: Hashable, Sendable {
    /// The name of a property.
    package enum Name: CaseIterable, Hashable, Sendable {
        /// The exposure time, in microseconds.
        case exposure
        /// The sensitivity, as ISO.
        case gain
        /// The white balance, in kelvins.
        case whiteBalance
        /// The focus distance, 0 (near) … 1 (infinity).
        case focus
    }

    package var name: Name
    package var value: Double
    package var range: ClosedRange<Double>

    package init(_ name: Name, _ value: Double, in range: ClosedRange<Double>) {
        self.name = name
        self.value = value
        self.range = range
    }
}
