/// The display of a level of sound.
package enum SoundMeter {
    /// The faintest sound that is shown, in decibels below the loudest.
    private static let range = 48.0

    /// Returns the filled part of a bar for a level, both 0 … 1. The scale is logarithmic.
    package static func filled(_ level: Double) -> Double {
        guard level.isFinite, level > 0 else { return 0 }
        // log10, without an import: a level of 2^-n is 6.02 n decibels down.
        var (rest, halvings) = (min(level, 1), 0.0)
        while rest < 0.5, halvings < 64 {
            rest *= 2
            halvings += 1
        }
        let decibels = 6.0206 * (halvings + 2 * (1 - rest))
        return max(0, 1 - decibels / range)
    }
}
