import TestSupport
import Testing

/// The bench's quick part, which fails when a ratio exceeds its limit: to a copy of the picture, to
/// libjpeg-turbo alone, to GStreamer. It has no limits of time, since machines differ.
@Suite("Speed", .serialized, .timeLimit(.minutes(4)))
struct SpeedTests {
    @Test func composingKeepsItsLimits() throws {
        // Once more after a failure: other work of the machine may have interfered.
        var words = ""
        for _ in 0..<2 {
            let bench = try Child(Programs.path(of: "bench"), ["--quick", "--limits"])
            let exit = try bench.wait(within: 110)
            words = bench.output + bench.errors
            if exit == .status(0) {
                print(bench.output)
                return
            }
        }
        Issue.record("\(words)")
    }
}
