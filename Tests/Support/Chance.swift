import Foundation

/// Pseudo-random numbers, the same for the same seed: SplitMix64.
package struct Chance: RandomNumberGenerator {
    /// The seed of this run of the tests: always the same, so that a failure can be repeated.
    /// DUALCAM_SEED gives another; "random" stands for one by chance. A test that fails prints it.
    package static let seed: UInt64 = {
        guard let wish = ProcessInfo.processInfo.environment["DUALCAM_SEED"] else { return 1 }
        if wish == "random" { return .random(in: 0..<1_000_000) }
        guard let seed = UInt64(wish) else { preconditionFailure("DUALCAM_SEED is \(wish)") }
        return seed
    }()

    private var state: UInt64

    /// Creates a generator with a seed.
    package init(seed: UInt64 = Chance.seed) { state = seed }

    /// Returns the next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
