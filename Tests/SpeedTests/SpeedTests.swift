import TestSupport
import Testing

/// The bench's quick part, which fails when a ratio exceeds its limit: to a copy of the picture, to
/// libjpeg-turbo alone, to GStreamer. It has no limits of time, since machines differ.
@Suite("Speed", .serialized, .timeLimit(.minutes(4)))
struct SpeedTests {
    @Test func composingKeepsItsLimits() throws {
        let bench = try Child(Programs.path(of: "bench"), ["--quick", "--limits"])
        let exit = try bench.wait(within: 230)
        print(bench.output)
        #expect(exit == .status(0), "\(bench.errors)")
    }
}
