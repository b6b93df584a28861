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

/// Properties as PipeWire pods: one PropInfo each, then Props with all their values.
final class PropertyParameters {
    let pods: [UnsafePointer<spa_pod>?]
    private let bytes: UnsafeMutableRawBufferPointer

    init(_ properties: [NodeProperty]) {
        bytes = .allocate(byteCount: 4096, alignment: 8)
        var builder = PodBuilder(bytes)
        var pods: [UnsafePointer<spa_pod>?] = properties.map { property in
            builder.object(SPA_TYPE_OBJECT_PropInfo, SPA_PARAM_PropInfo) {
                $0.id(SPA_PROP_INFO_id, property.name.id)
                $0.string(SPA_PROP_INFO_description, property.name.title)
                let (least, most) = (property.range.lowerBound, property.range.upperBound)
                if property.name.isWhole {
                    $0.range(
                        SPA_PROP_INFO_type,
                        CInt(clamping: Int(property.value)),
                        within: CInt(clamping: Int(least))...CInt(clamping: Int(most))
                    )
                } else {
                    $0.numberRange(
                        SPA_PROP_INFO_type,
                        Float(property.value),
                        within: Float(least)...Float(most)
                    )
                }
            }
        }
        pods.append(
            builder.object(SPA_TYPE_OBJECT_Props, SPA_PARAM_Props) {
                for property in properties {
                    if property.name.isWhole {
                        $0.integer(key: property.name.id, CInt(clamping: Int(property.value)))
                    } else {
                        $0.number(key: property.name.id, Float(property.value))
                    }
                }
            }
        )
        self.pods = pods
    }

    deinit { bytes.deallocate() }

    /// Returns the values that an application has set in `props`, of those `shown` and no others.
    ///
    /// Any client that may see the node may write anything: what is no number is left out, and
    /// what is beyond a property's range becomes the end of it.
    static func read(
        _ props: UnsafePointer<spa_pod>?,
        of shown: [NodeProperty]
    ) -> [(NodeProperty.Name, Double)] {
        guard let props, spa_pod_is_object_type(props, UInt32(SPA_TYPE_OBJECT_Props)) else {
            return []
        }
        return shown.compactMap { property in
            guard let found = spa_pod_find_prop(props, nil, property.name.id) else { return nil }
            let number = withUnsafePointer(
                to: &UnsafeMutablePointer(mutating: found).pointee.value
            ) { pod -> Double? in
                var whole: CInt = 0
                if spa_pod_get_int(pod, &whole) == 0 { return Double(whole) }
                var number: Float = 0
                return spa_pod_get_float(pod, &number) == 0 ? Double(number) : nil
            }
            guard let number, number.isFinite else { return nil }
            let (least, most) = (property.range.lowerBound, property.range.upperBound)
            return (property.name, min(max(number, least), most))
        }
    }
}
