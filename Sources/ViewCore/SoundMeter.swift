import Glibc

/// The display of a level of sound.
package enum SoundMeter {
    /// The faintest sound that is shown, in decibels below the loudest.
    private static let range = 48.0

    /// Returns the filled part of a bar for a level, both 0 … 1. The scale is logarithmic.
    package static func filled(_ level: Double) -> Double {
        guard level.isFinite, level > 0 else { return 0 }
        return max(0, 1 + 20 * log10(min(level, 1)) / range)
    }
}
