/// The part of the stream's state that is spoken when it changes.
package struct Announced: Hashable, Sendable {
    /// The role of the main picture's camera: "back" or "front".
    package var main: String
    /// The name of that camera; empty without one.
    package var camera: String
    package var isPrivate = false
    package var isRecording = false
    package var isPaused = false
    /// The title of what the window says instead of a picture; empty if it says nothing.
    package var situation = ""

    package init(main: String, camera: String) { (self.main, self.camera) = (main, camera) }

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
        let sentences = split(separator: ". ")
        let plain = sentences.filter { !$0.contains("`") }
        guard let last = plain.last else { return replacing("`", with: "") }
        return plain.joined(separator: ". ") + (last.endIndex < endIndex ? "." : "")
    }
}
