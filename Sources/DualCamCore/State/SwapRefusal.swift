import Frames

/// The reason that the pictures cannot be swapped now.
package enum SwapRefusal: Error, Hashable {
    /// There is no second camera.
    case noOtherCamera
    /// The pictures are being recorded, and the configuration has them stay where they are.
    case recording

    /// The reason in a sentence, for people.
    package var message: String {
        switch self {
        case .noOtherCamera: "There is no second camera to swap with."
        case .recording:
            "The pictures cannot be swapped during a recording, because "
                + "allow-swap-while-recording is off."
        }
    }
}

extension State {
    /// Checks that the pictures may be swapped, or not, as `isSwapped` says; `rules` are those of
    /// the configuration. They may always stay as they are. Throws `recording`.
    package func allowSwap(
        to isSwapped: Bool,
        by rules: Configuration.Capture
    ) throws(SwapRefusal) {
        guard
            isSwapped == scene.isSwapped || recording.phase == .off
                || rules.allowsSwapWhileRecording
        else { throw .recording }
    }

    /// Checks that the two pictures may change places. Throws `noOtherCamera`, `recording`.
    package func allowExchange(by rules: Configuration.Capture) throws(SwapRefusal) {
        guard scene.hasBoth else { throw .noOtherCamera }
        try allowSwap(to: !scene.isSwapped, by: rules)
    }
}
