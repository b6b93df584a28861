import DualCamCore
import Frames

/// Holds the scene shown last while the pictures of the next are still being decoded as large as
/// it shows them: a hard cut needs larger ones at once.
struct SceneHold {
    private var before: (state: SceneState, until: Timestamp)?

    private static let timeout = Timestamp(seconds: 0.2)

    /// Returns the scene to show at `now`: `state` if `isSharp` says so of it, or if the one before
    /// it was held for 0.2 s; else that one, with the grades of `state`.
    mutating func next(
        _ state: SceneState,
        at now: Timestamp,
        isSharp: (SceneState) -> Bool
    ) -> SceneState {
        guard let before, now < before.until, !isSharp(state) else {
            before = (state, now + Self.timeout)
            return state
        }
        var older = before.state
        // Grades are shown at once, since the request for them was answered.
        older.grades = state.grades
        return older
    }
}
