import Frames
import Glibc

/// The light in which a picture looks neutral.
package enum WhiteBalance: Hashable, Sendable {
    /// The light that the camera detects.
    case auto
    case preset(Preset)
    /// A light of this colour temperature, in Kelvin.
    case kelvin(Int)

    /// A common light, by name. The words are those of the D-Bus interface.
    package enum Preset: String, CaseIterable, Hashable, Sendable {
        case sunny, cloudy, shade, tungsten, fluorescent

        /// The approximate colour temperature, in Kelvin.
        package var kelvin: Int {
            switch self {
            case .sunny: 5500
            case .cloudy: 6500
            case .shade: 7500
            case .tungsten: 3200
            case .fluorescent: 4000
            }
        }

        /// The name for people: "Sunny".
        package var title: String { rawValue.capitalizedFirst }
    }

    /// The values of `word`, except "custom", which does not tell the Kelvin.
    package static let words = ["auto"] + Preset.allCases.map(\.rawValue)

    /// The white balance called `word`, one of `words`.
    package init?(word: String) {
        if word == "auto" {
            self = .auto
        } else if let preset = Preset(rawValue: word) {
            self = .preset(preset)
        } else {
            return nil
        }
    }

    /// The word for D-Bus: "auto", a preset's name, or "custom".
    package var word: String {
        switch self {
        case .auto: "auto"
        case .preset(let preset): preset.rawValue
        case .kelvin: "custom"
        }
    }

    /// The colour temperature, in Kelvin; `nil` for automatic.
    package var kelvin: Int? {
        switch self {
        case .auto: nil
        case .preset(let preset): preset.kelvin
        case .kelvin(let kelvin): kelvin
        }
    }
}

/// The correction of a picture's colours and light in software, for what the camera cannot do.
package struct Grade: Hashable, Sendable {
    /// The gain of red, of coded values, as the others. The three keep the brightness of greys.
    package var red = 1.0
    package var green = 1.0
    package var blue = 1.0
    /// The gain of the light; applies to coded values.
    package var light = 1.0

    package static let none = Grade()

    package init() {}

    /// The correction that makes a picture balanced for `from` Kelvin look as if balanced for `to`.
    package init(from: Int, to: Int) {
        guard from != to else { return }
        let (was, will) = (Self.light(kelvin: from), Self.light(kelvin: to))
        // White balance divides by the colour of the light. The gains apply to coded values, which
        // are about the 2.2th root of the light.
        func gain(_ was: Double, _ will: Double) -> Double { pow(was / will, 1 / 2.2) }
        let gains = (
            gain(was.red, will.red), gain(was.green, will.green), gain(was.blue, will.blue)
        )
        let grey = 0.299 * gains.0 + 0.587 * gains.1 + 0.114 * gains.2
        (red, green, blue) = (gains.0 / grey, gains.1 / grey, gains.2 / grey)
    }

    /// Returns the colour of a black body at `kelvin`, 1700 to 25000, as linear sRGB; only the
    /// ratios count. Uses the cubic fit of the Planckian locus of Kim et al. (US patent 7024034).
    static func light(kelvin: Int) -> (red: Double, green: Double, blue: Double) {
        let t = 1000 / Double(kelvin.clamped(to: 1700...25000))
        let x =
            kelvin <= 4000
            ? ((-0.2661239 * t - 0.2343589) * t + 0.8776956) * t + 0.179910
            : ((-3.0258469 * t + 2.1070379) * t + 0.2226347) * t + 0.240390
        let y =
            kelvin <= 2222
            ? ((-1.1063814 * x - 1.34811020) * x + 2.18555832) * x - 0.20219683
            : kelvin <= 4000
                ? ((-0.9549476 * x - 1.37418593) * x + 2.09137015) * x - 0.16748867
                : ((3.0817580 * x - 5.87338670) * x + 3.75112997) * x - 0.37001483
        let (bigX, bigZ) = (x / y, (1 - x - y) / y)
        // Convert to the primaries of sRGB.
        let red = 3.2406 * bigX - 1.5372 - 0.4986 * bigZ
        let green = -0.9689 * bigX + 1.8758 + 0.0415 * bigZ
        let blue = 0.0557 * bigX - 0.2040 + 1.0570 * bigZ
        // Deep orange has no blue at all in sRGB; keep some, so that there is a gain for it.
        return (max(red, 0.02), max(green, 0.02), max(blue, 0.02))
    }
}
