import Glibc

/// The light that a picture is to look right in.
package enum WhiteBalance: Hashable, Sendable {
    /// Whatever the camera finds.
    case auto
    /// A usual light.
    case preset(Preset)
    /// A light of so many Kelvin.
    case kelvin(Int)

    /// A usual light, by name. The words are those of the D-Bus interface.
    package enum Preset: String, CaseIterable, Hashable, Sendable {
        case sunny, cloudy, shade, tungsten, fluorescent

        /// Its colour temperature, about.
        package var kelvin: Int {
            switch self {
            case .sunny: 5500
            case .cloudy: 6500
            case .shade: 7500
            case .tungsten: 3200
            case .fluorescent: 4000
            }
        }

        /// "Sunny".
        package var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
    }

    /// The words of `word`, but for "custom", which says no Kelvin.
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

    /// "auto", a preset's name, or "custom".
    package var word: String {
        switch self {
        case .auto: "auto"
        case .preset(let preset): preset.rawValue
        case .kelvin: "custom"
        }
    }

    /// Its Kelvin, where it says any.
    package var kelvin: Int? {
        switch self {
        case .auto: nil
        case .preset(let preset): preset.kelvin
        case .kelvin(let kelvin): kelvin
        }
    }
}

/// What is changed of a picture's colours and light in software, because the camera cannot.
package struct Grade: Hashable, Sendable {
    /// Gains of red and blue beside a green whose gain keeps greys as light as they are; of the
    /// values as they are coded.
    package var red = 1.0
    /// The gain of green.
    package var green = 1.0
    /// The gain of blue.
    package var blue = 1.0
    /// Gain of the light, of the values as they are coded.
    package var light = 1.0

    /// Nothing is changed.
    package static let none = Grade()

    /// Nothing is changed yet.
    package init() {}

    /// What makes a picture that is balanced for `from` Kelvin look as if it were for `to`.
    package init(from: Int, to: Int) {
        guard from != to else { return }
        let (was, will) = (Self.light(kelvin: from), Self.light(kelvin: to))
        // Balance divides by the light's colour. Values are coded by about the root of 2.2.
        func gain(_ was: Double, _ will: Double) -> Double { pow(was / will, 1 / 2.2) }
        let gains = (
            gain(was.red, will.red), gain(was.green, will.green), gain(was.blue, will.blue)
        )
        let grey = 0.299 * gains.0 + 0.587 * gains.1 + 0.114 * gains.2
        (red, green, blue) = (gains.0 / grey, gains.1 / grey, gains.2 / grey)
    }

    /// The colour of a black body at `kelvin`, 1700 to 25000, as linear sRGB; only its ratios count.
    ///
    /// By the cubic fit of the Planckian locus of Kim et al. (US patent 7024034).
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
        // sRGB's primaries.
        let red = 3.2406 * bigX - 1.5372 - 0.4986 * bigZ
        let green = -0.9689 * bigX + 1.8758 + 0.0415 * bigZ
        let blue = 0.0557 * bigX - 0.2040 + 1.0570 * bigZ
        // Deep orange has no blue at all in sRGB; some is left, so that there is a gain for it.
        return (max(red, 0.02), max(green, 0.02), max(blue, 0.02))
    }
}
