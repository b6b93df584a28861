package import DualCamCore
import Glibc

/// The values of a camera's dials, as the daemon tells them.
package struct DialValues: Hashable, Sendable {
    /// The ISO; 0 without one.
    package var iso = 0
    /// `true` if the camera chooses the ISO.
    package var isISOAutomatic = true
    /// The stops of the ISO.
    package var isoStops: [Int] = []
    /// The exposure time in microseconds; 0 if unknown.
    package var shutter = 0
    package var isExposureAutomatic = true
    package var shutterStops: [Int] = []
    /// The focus, 0 near … 1 infinity.
    package var focus = 0.0
    /// The focus in words; empty for a fixed one.
    package var focusText = ""
    package var isFocusAutomatic = true
    /// The white balance in the words of D-Bus.
    package var whiteBalance = "auto"
    /// The colour temperature; 0 if unknown.
    package var kelvin = 0
    /// The range of the colour temperature; 0 … 0 if it cannot be set.
    package var kelvins = 0...0
    /// The f-number; 0 if unknown.
    package var aperture = 0.0

    package init() {}

    /// Returns `true` if the camera has this dial.
    package func has(_ dial: Dial) -> Bool {
        switch dial {
        case .iso: !isoStops.isEmpty
        case .shutter: !shutterStops.isEmpty
        case .focus: !focusText.isEmpty
        case .whiteBalance: kelvins.upperBound > 0
        }
    }

    /// Returns the value of a dial for the line of values.
    package func text(_ dial: Dial) -> String {
        switch dial {
        case .iso: "ISO \(iso > 0 ? "\(iso)" : "–")"
        case .shutter: shutter > 0 ? Stops.shutterText(microseconds: shutter) : "1/–"
        case .focus: focusText.isEmpty ? "FF" : isFocusAutomatic ? "AF" : "MF \(focusText)"
        case .whiteBalance: kelvin > 0 && whiteBalance != "auto" ? "\(kelvin)K" : "AWB"
        }
    }
}

/// The scale of a dial: it slides under a needle, a stop or click to each unit.
package struct DialScale: Hashable, Sendable {
    /// A mark of the scale.
    package struct Mark: Hashable, Sendable {
        package var position: Double
        /// The label of a long mark; `nil` for a short one.
        package var label: String?
    }

    /// The marks, by position.
    package var marks: [Mark] = []
    /// The position at the needle; `nil` if unknown.
    package var position: Double?
    /// The name of the dial, and what it is set to.
    package var name: String
    /// The value at the needle in short.
    package var current: String

    package init(_ dial: Dial, _ values: DialValues) {
        switch dial {
        case .iso:
            name = values.isISOAutomatic ? "ISO · automatic" : "ISO"
            current = values.iso > 0 ? "\(values.iso)" : ""
            position = values.iso > 0 ? Self.stop(Double(values.iso) / 100) : nil
            marks = values.isoStops.prefix(Self.mostMarks).map { iso in
                let place = Self.stop(Double(iso) / 100).rounded()
                return Mark(position: place, label: Int(place) % 3 == 0 ? "\(iso)" : nil)
            }
        case .shutter:
            name = values.isExposureAutomatic ? "Shutter · automatic" : "Shutter"
            current = values.shutter > 0 ? Stops.shortText(microseconds: values.shutter) : ""
            position = values.shutter > 0 ? Self.stop(1e6 / Double(values.shutter)) : nil
            marks = values.shutterStops.prefix(Self.mostMarks).reversed().map { time in
                let place = Self.stop(1e6 / Double(max(1, time))).rounded()
                let isLong = Int(place) % 3 == 0
                return Mark(
                    position: place,
                    label: isLong ? Stops.shortText(microseconds: time) : nil
                )
            }
        case .focus:
            name = values.isFocusAutomatic ? "Focus · automatic" : "Focus"
            current = values.focusText
            position =
                (0...1).contains(values.focus) ? values.focus * Double(Stops.focusClicks) : nil
            marks = (0...Stops.focusClicks).map {
                Mark(position: Double($0), label: Stops.focusLabels[$0])
            }
        case .whiteBalance:
            let preset = WhiteBalance.Preset(rawValue: values.whiteBalance)
            name =
                "White balance · \(preset?.title ?? (values.whiteBalance == "auto" ? "automatic" : "by hand"))"
            current = values.kelvin > 0 ? "\(values.kelvin)" : ""
            position = values.kelvin > 0 ? Self.click(values.kelvin) : nil
            let ends = values.kelvins.clamped(to: 0...Self.mostKelvin)
            marks = stride(
                from: (ends.lowerBound + 249) / 250 * 250,
                through: ends.upperBound,
                by: 250
            )
            .map { kelvin in
                Mark(position: Self.click(kelvin), label: kelvin % 1000 == 0 ? "\(kelvin)" : nil)
            }
        }
        if !values.has(dial) {
            marks = []
            name = Self.missing(dial)
        }
    }

    /// The most marks of a scale, and its highest temperature, whatever the bus says.
    private static let (mostMarks, mostKelvin) = (400, 100_000)

    private static func missing(_ dial: Dial) -> String {
        switch dial {
        case .iso: "No ISO on this camera"
        case .shutter: "No manual shutter on this camera"
        case .focus: "Fixed focus"
        case .whiteBalance: "No white balance on this camera"
        }
    }

    /// Third stops.
    private static func stop(_ ratio: Double) -> Double { 3 * log2(max(ratio, 1e-6)) }

    private static func click(_ kelvin: Int) -> Double {
        Double(kelvin - Stops.kelvin.lowerBound) / Double(Stops.kelvinStep)
    }
}
