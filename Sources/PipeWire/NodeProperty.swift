import CPipeWire

/// A camera value that applications may show and set: a PropInfo of the node, and its Props.
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

        /// PipeWire's key. PipeWire defines none for white balance and focus.
        var id: UInt32 {
            switch self {
            case .exposure: SPA_PROP_exposure.rawValue
            case .gain: SPA_PROP_gain.rawValue
            case .whiteBalance: SPA_PROP_START_CUSTOM.rawValue + 1
            case .focus: SPA_PROP_START_CUSTOM.rawValue + 2
            }
        }

        /// The text that people read.
        var title: String {
            switch self {
            case .exposure: "Shutter (µs)"
            case .gain: "ISO"
            case .whiteBalance: "White balance (K)"
            case .focus: "Focus (0 near, 1 infinity)"
            }
        }

        /// `true` for whole numbers.
        var isWhole: Bool { self != .focus }
    }

    /// The name of the property.
    package var name: Name
    /// The current value.
    package var value: Double
    /// The values that may be set.
    package var range: ClosedRange<Double>

    /// Creates the property `name` with its current `value`; applications may set any value in
    /// `range`.
    package init(_ name: Name, _ value: Double, in range: ClosedRange<Double>) {
        self.name = name
        self.value = value
        self.range = range
    }
}

extension NodeProperty {
    /// Returns the values in a parameter of the kind Props that begins at `bytes`, which are
    /// aligned to 8: those of the properties in `shown`, each within its range.
    package static func read(
        _ bytes: UnsafeRawBufferPointer,
        of shown: [NodeProperty]
    ) -> [(name: Name, value: Double)] { readProperties(Pod(bytes), of: shown) }
}
