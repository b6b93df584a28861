import Frames

/// The problems that are no part of the state, for `State.problems`. Each is a text for people.
package struct OtherProblems: Hashable, Sendable {
    /// Those of the configuration.
    package var configuration: [String] = []
    /// The reason that the stream is not mirrored although it should be; otherwise empty.
    package var mirror = ""
    /// The reason that a phone is served no more although it should be; otherwise empty.
    package var phone = ""
    /// The app that has just asked for a picture that the stream does not have; `nil` if none has.
    package var refused: String?
    /// The last words of which no font has all characters; empty if there are none.
    package var unreadable = ""
    /// Those of the user's scenes.
    package var scenes: [String] = []
    /// Those of hidden rooms.
    package var rooms: [String] = []
    /// Those of recordings.
    package var recording: [String] = []

    package init() {}
}

extension State {
    /// Returns all problems, a sentence each: the state's, and `others`. `output` names the nodes.
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
            if let problem = problem(of: role) { problems.append(problem) }
            problems += imageProblems(of: role)
        }
        if !others.phone.isEmpty { problems.append("A phone was lost: \(others.phone)") }
        if phones.served.values.contains(where: \.report.isSlow) {
            problems.append("The phone's Wi-Fi is slow.")
        }
        if let app = others.refused {
            problems.append(
                "\(app.isEmpty ? "An app" : app) gets no picture, because it asks for another one than "
                    + "\(output.size.width)×\(output.size.height) at \(output.frameRate) frames a second "
                    + "in YUY2. Let it choose by itself, or change [output] in the configuration."
            )
        }
        problems += others.rooms
        if let problem = fontProblem(others.unreadable) { problems.append(problem) }
        problems += keptProblems + others.scenes + lateProblems
        if hasNoCamera { problems.append("There is no camera.") }
        return (problems + others.recording).map(\.sentence)
    }

    /// Returns the problem with the camera of `role`, if any.
    private func problem(of role: Role) -> String? {
        let (camera, hint) = (cameras[role], search.fileHints[role])
        if camera.interruption == .notFound {
            return camera.problem.isEmpty
                ? "The \(role.rawValue) camera was not found: \(camera.source.shown)."
                    + (hint.isEmpty ? "" : " \(hint)")
                : camera.problem
        }
        // A camera that is closed on purpose is not a problem.
        if camera.phase == .interrupted, suspensions.isEmpty {
            let notice = camera.interruption.text(for: role)
            let name = notice.contains(" camera ") ? "" : " (\(role.rawValue))"
            return "\(notice)\(name): \(camera.reason.uncapitalized)"
        }
        if let mode = camera.mode, let unreduced = camera.unreducedMode {
            return "The \(role.rawValue) camera sends \(mode) instead of \(unreduced), because the "
                + "USB bandwidth is used up."
        }
        return camera.problem.isEmpty ? nil : camera.problem
    }

    /// Returns the problems with values of the configuration that a camera cannot take.
    private func imageProblems(of role: Role) -> [String] {
        let camera = cameras[role]
        guard camera.lens.device == camera.identity, !camera.controls.device.isEmpty else {
            return []
        }
        return ImageControl.allCases.compactMap { name in
            guard let value = configured.cameras[role].manual.image[name],
                let refusal = camera.controls.refusal(of: value, for: name)
            else { return nil }
            return "cameras.\(role.rawValue).\(name.rawValue) in the configuration has no effect: "
                + refusal.reason.uncapitalized
        }
    }

    /// Returns the problem with `unreadable` words, if they may still be shown.
    private func fontProblem(_ unreadable: String) -> String? {
        guard !unreadable.isEmpty else { return nil }
        // Every font has these.
        if unreadable.utf8.allSatisfy({ $0 < 0x80 }) {
            return "There is no font, so nobody can read titles and notices in the picture. "
                + "Install one: for example, the package fonts-inter."
        }
        guard let title = scene.title.wanted?.title, title.name + title.second == unreadable else {
            return nil
        }
        return "No font that is installed has all characters of the title. Install one for its "
            + "script: for example, the package fonts-noto."
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
