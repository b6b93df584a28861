import Control
import DBusKit
import TestSupport
import Testing

extension DaemonTests {
    /// The words that people read most often, from the daemon to the terminal.
    @Suite("What dualcamctl says", .timeLimit(.minutes(2)))
    struct WordsTests {
        /// Commands, one after the other, with their statuses and what they complain about.
        private static let refusals: [(command: String, status: CInt, words: String)] = [
            ("record start --no-audio", 0, ""),
            ("record start --no-audio", 1, "Already recording."),
            ("record stop", 0, ""),
            ("record stop", 1, "Nothing is being recorded."),
            ("zoom 99", 2, "Zoom must be between 1 and 8, not 99."),
            ("iso 400", 10, "This camera has no ISO. Try `dualcamctl ev +1`."),
            ("iso +1", 10, "This camera has no ISO. Try `dualcamctl ev +1`."),
            ("shutter 1/50", 10, "This camera has no manual exposure. Try `dualcamctl ev +1`."),
            ("focus 0.5", 10, "This camera has no manual focus."),
            ("lens tele", 10, "The back camera has no lens “tele”. It has wide."),
            ("privacy on", 0, ""),
            ("photo", 1, "Privacy is on. Turn it off with `dualcamctl privacy off`."),
            ("lock", 1, "Privacy is on. Turn it off with `dualcamctl privacy off`."),
            ("freeze on", 1, "Privacy is on. Turn it off with `dualcamctl privacy off`."),
            ("perspective auto", 1, "Privacy is on. Turn it off with `dualcamctl privacy off`."),
            ("privacy off", 0, ""),
            (
                // It opens for a moment.
                "lock", 10, "This camera has nothing to lock. Try `dualcamctl freeze on`."
            ),
        ]

        @Test("of what cannot be: the reason, and what helps")
        func refused() throws {
            try PrivateSession.with { session in
                let videos = "video-directory = \"\(session.directory)/videos\""
                let cameras = DaemonTests.still(back: "test", front: "test")
                let daemon = try Daemon("\(cameras)\n[capture]\n\(videos)\n", in: session)
                for (command, status, words) in Self.refusals {
                    let child = try daemon.tool(command)
                    #expect(child.exit == .status(status), "\(command)")
                    #expect(
                        child.errors == (words.isEmpty ? "" : "dualcamctl: \(words)\n"),
                        "\(command)"
                    )
                }
            }
        }
    }
}
