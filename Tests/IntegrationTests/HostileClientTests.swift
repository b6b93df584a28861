import Control
import DBusKit
import Frames
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of what other programs may do to our node through PipeWire.
    @Suite("Hostile PipeWire clients", .timeLimit(.minutes(2)))
    struct HostileClientTests {
        /// The share of a consumer in what `hostile-client` does to the node for `seconds`.
        private struct Outcome {
            /// The parameters that were written.
            var written = 0
            /// The frames that were published and did not arrive.
            var lost = 0
            /// The longest time between the stamps of two frames, in seconds.
            var longestStep = 0.0
        }

        private func attack(
            _ daemon: Daemon,
            _ reader: StreamReader,
            seconds: Double
        ) throws -> Outcome {
            let node = try #require(daemon.get("NodeId", of: .stream).integer)
            let client = try daemon.session.run(
                Programs.path(of: "hostile-client"),
                ["\(node)", "\(seconds)"]
            )
            reader.flush()
            var outcome = Outcome()
            var last = try reader.next()
            while client.exit == nil {
                let frame = try reader.next()
                outcome.lost += Int(frame.sequence - last.sequence) - 1
                let (earlier, later) = (last.pts ?? .zero, frame.pts ?? .zero)
                outcome.longestStep = max(outcome.longestStep, (later - earlier).seconds)
                last = frame
            }
            #expect(client.exit == .status(0), "\(client.errors)")
            let words = client.output.split(separator: " ")
            outcome.written = words.first.flatMap { Int($0) } ?? 0
            return outcome
        }

        @Test("what a client writes to the node neither ends the daemon nor delays a frame")
        func writes() throws {
            try Daemon.with(DaemonTests.still(back: "test", front: "test")) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                _ = try reader.next()
                // Another program may take the processor for a moment; an attack that succeeds
                // does so each time.
                var outcomes: [Outcome] = []
                for _ in 0..<3 {
                    let outcome = try attack(daemon, reader, seconds: 5)
                    outcomes.append(outcome)
                    #expect(outcome.written >= 5 * 10_000 / 60)
                    if outcome.lost == 0, outcome.longestStep <= 2.0 / 30 + 0.001 { break }
                }
                let last = try #require(outcomes.last)
                #expect(last.lost == 0 && last.longestStep <= 2.0 / 30 + 0.001, "\(outcomes)")
                #expect(daemon.program.exit == nil)
            }
        }
    }
}
