import TestSupport
import Testing

/// The bench's quick part, which fails when a ratio passes its limit: to a copy of the picture, to bare
/// libjpeg-turbo, to GStreamer. Never a time, since machines differ.
@Suite("Speed", .serialized, .timeLimit(.minutes(4)))
struct SpeedTests {
    @Test func composingKeepsItsLimits() throws {
        // Once more where it fails: what else the machine has to do may have come between.
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
