import Frames

/// The problems that are no part of the state, for `State.problems`. Each is a text for people.
package struct OtherProblems: Hashable, Sendable {
    /// Those of the configuration.
    package var configuration: [String] = []
    /// The reason that the stream is not mirrored although it should be; otherwise empty.
    package var mirror = ""
    /// A hint about each camera's file that is not there; empty if none.
    package var fileHints = PerRole(back: "", front: "")
    /// Those of the user's scenes.
    package var scenes: [String] = []
    /// Those of recordings.
    package var recording: [String] = []

    /// No problems.
    package init() {}
}

/// The problems that people are told.
extension State {
    /// Returns all present problems, one sentence each: the state's own, and `others`. `output`
    /// names the cameras' nodes.
    package func problems(
        besides others: OtherProblems,
        _ output: Configuration.Output
    ) -> [String] {
        var problems = others.configuration
        if !nodeProblem.isEmpty { problems.append("The stream is not on PipeWire: \(nodeProblem)") }
        // Without a node there is nothing to mirror.
        if isActive, !others.mirror.isEmpty { problems.append(others.mirror) }
        for role in Role.allCases {
            let node = cameras[role].node
            if !node.problem.isEmpty {
                let name = output.node(of: role).name
                problems.append("The camera \(name) is not on PipeWire: \(node.problem)")
            }
            if let problem = problem(of: role, others.fileHints[role]) { problems.append(problem) }
        }
        problems += keptProblems + others.scenes + lateProblems
        if hasNoCamera { problems.append("There is no camera.") }
        return (problems + others.recording).map(\.sentence)
    }

    /// Returns the problem with the camera of `role`, if any. `hint` is about its file.
    private func problem(of role: Role, _ hint: String) -> String? {
        let camera = cameras[role]
        if camera.interruption == .notFound {
            return camera.problem.isEmpty
                ? "The \(role.rawValue) camera was not found: \(camera.source.shown)."
                    + (hint.isEmpty ? "" : " \(hint)")
                : camera.problem
        }
        // A camera that is closed on purpose is not a problem.
        if camera.phase == .interrupted, suspensions.isEmpty {
            let notice = camera.interruption.text(for: role)
            return "\(notice) (\(role.rawValue)): \(camera.reason.uncapitalized)"
        }
        if let mode = camera.mode, let unreduced = camera.unreducedMode {
            return "The \(role.rawValue) camera sends \(mode) instead of \(unreduced), because the "
                + "USB bandwidth is used up."
        }
        return camera.problem.isEmpty ? nil : camera.problem
    }

    /// The refusals by cameras of a scene that was answered already.
    private var lateProblems: [String] {
        scenes.lateRefusals.sorted { $0.key < $1.key }.map { key, reason in
            "“\(key)” of the scene “\(scenes.last)” was left out: \(reason.uncapitalized)"
        }
    }

    /// `true` if there is none for either role, and none is missed by its name.
    private var hasNoCamera: Bool {
        Role.allCases.allSatisfy {
            cameras[$0].phase == .unavailable && cameras[$0].interruption != .notFound
        }
    }
}
