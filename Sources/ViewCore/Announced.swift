/// The part of the stream's state that is spoken when it changes.
package struct Announced: Hashable, Sendable {
    /// The role of the main picture's camera: "back" or "front".
    package var main: String
    /// The name of that camera; empty without one.
    package var camera: String
    /// `true` while privacy is on.
    package var isPrivate: Bool
    /// `true` while a recording runs.
    package var isRecording: Bool
    /// The title of what the window says instead of a picture; empty if it says nothing.
    package var situation: String

    /// Creates a state.
    package init(
        main: String,
        camera: String = "",
        isPrivate: Bool = false,
        isRecording: Bool = false,
        situation: String = ""
    ) {
        self.main = main
        self.camera = camera
        self.isPrivate = isPrivate
        self.isRecording = isRecording
        self.situation = situation
    }

    /// Returns what to say of the changes since `before`; nothing at first, but of a trouble.
    package func sentences(since before: Announced?) -> [String] {
        var sentences: [String] = []
        if let before {
            if main != before.main {
                let words = camera.isEmpty || camera == main ? "" : ", \(camera)"
                sentences.append("Main picture: \(main) camera\(words)")
            }
            if isRecording != before.isRecording {
                sentences.append(isRecording ? "Recording started" : "Recording ended")
            }
            if isPrivate != before.isPrivate {
                sentences.append(
                    isPrivate ? "Privacy is on: both cameras are closed" : "Privacy is off"
                )
            }
        }
        if situation != before?.situation ?? "", !situation.isEmpty, !isPrivate {
            sentences.append(situation)
        }
        return sentences
    }
}
