import CPipeWire
import Frames

// A property is a PropInfo of the node, and one of its Props.

extension NodeProperty.Name {
    /// PipeWire's key. PipeWire defines none for white balance and focus.
    var id: UInt32 {
        switch self {
        case .exposure: SPA_PROP_exposure.rawValue
        case .gain: SPA_PROP_gain.rawValue
        case .whiteBalance: SPA_PROP_START_CUSTOM.rawValue + 1
        case .focus: SPA_PROP_START_CUSTOM.rawValue + 2
        }
    }

    var title: String {
        switch self {
        case .exposure: "Shutter (µs)"
        case .gain: "ISO"
        case .whiteBalance: "White balance (K)"
        case .focus: "Focus (0 near, 1 infinity)"
        }
    }

    var isWhole: Bool { self != .focus }
}
