/// The part of the stream's state that is spoken when it changes.
package struct Announced: Hashable, Sendable {
    /// The role of the main picture's camera: "back" or "front".
    package var main: String
    /// The name of that camera; empty without one.
    package var camera: String
    package var isPrivate: Bool
    package var isRecording: Bool
    package var isPaused: Bool
    /// The title of what the window says instead of a picture; empty if it says nothing.
    package var situation: String

    package init(
        main: String,
        camera: String = "",
        isPrivate: Bool = false,
        isRecording: Bool = false,
        isPaused: Bool = false,
        situation: String = ""
    ) {
        self.main = main
        self.camera = camera
        self.isPrivate = isPrivate
        self.isRecording = isRecording
        self.isPaused = isPaused
        self.situation = situation
    }

    /// Returns what to say about the changes since `before`; at first, only what is wrong.
    package func sentences(since before: Announced?) -> [String] {
        var sentences: [String] = []
        if let before {
            if main != before.main {
                let words = camera.isEmpty || camera == main ? "" : ", \(camera)"
                sentences.append("Main picture: \(main) camera\(words)")
            }
            if isRecording != before.isRecording {
                sentences.append(isRecording ? "Recording started" : "Recording ended")
            } else if isPaused != before.isPaused {
                sentences.append(isPaused ? "Recording paused" : "Recording goes on")
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

extension String {
    /// The sentences without commands for a terminal, which are in backquotes; all if each has one.
    package var withoutCommands: String {
        var sentences: [Substring] = []
        var rest = self[...]
        while let end = rest.firstRange(of: ". ") {
            sentences.append(rest[..<end.upperBound])
            rest = rest[end.upperBound...]
        }
        let plain = (sentences + [rest]).filter { !$0.contains("`") }
        guard !plain.isEmpty else { return replacing("`", with: "") }
        let text = plain.joined()
        return text.last == " " ? String(text.dropLast()) : text
    }
}
