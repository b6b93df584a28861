import Control
import DBusKit
import Foundation
import TestSupport
import Testing

/// Tests of the programs as files.
@Suite("Programs as files", .timeLimit(.minutes(1)))
struct BinaryTests {
    @Test("they are hardened", arguments: ["dualcamd", "dualcamctl"])
    func hardened(_ name: String) throws {
        func readelf(_ option: String) throws -> String {
            let child = try Child("readelf", [option, "-W", Programs.path(of: name)])
            #expect(try child.wait(within: 30) == .status(0), "\(child.errors)")
            return child.output
        }
        #expect(try readelf("-h").contains("DYN (Position-Independent Executable"))
        let segments = try readelf("-l").split(separator: "\n")
        #expect(segments.contains { $0.contains("GNU_RELRO") })
        let stack = try #require(segments.first { $0.contains("GNU_STACK") })
        #expect(stack.contains(" RW ") && !stack.contains("RWE"))
        let flags = try readelf("-d").split(separator: "\n").filter { $0.contains("FLAGS") }
        #expect(flags.contains { $0.contains("NOW") && $0.contains("PIE") }, "\(flags)")
        let symbols = try readelf("--dyn-syms")
        #expect(symbols.contains("__stack_chk_fail"))
        // The functions that its C has to fortify.
        #expect(symbols.contains(/__(memcpy|longjmp)_chk/))
    }
}

extension DaemonTests {
    /// Tests with programs that do not know PipeWire.
    @Suite("Programs of V4L2", .timeLimit(.minutes(2)))
    struct ProgramTests {
        @Test func ffmpegReadsTheStreamAsADevice() throws {
            let configuration = DaemonTests.still(back: "test:bars", front: "test:ramp")
            try Daemon.with(configuration) { daemon in
                let session = daemon.session
                try eventually("the node", within: 15) {
                    try daemon.get("Active", of: .stream) == .boolean(true)
                }
                // The wrapper numbers the cameras of PipeWire as devices.
                let file = "\(session.directory)/frames"
                let program = try session.run(
                    "pw-v4l2",
                    "ffmpeg",
                    "-nostdin",
                    "-loglevel",
                    "warning",
                    "-f",
                    "v4l2",
                    "-i",
                    "/dev/video0",
                    "-frames:v",
                    "30",
                    "-f",
                    "rawvideo",
                    file
                )
                #expect(try program.wait(within: 60) == .status(0), "\(program.errors)")
                let bytes = try Data(contentsOf: URL(filePath: file))
                let frame = 1280 * 720 * 2
                #expect(bytes.count == 30 * frame)
                // The middle of the last frame: eight bars, white first and black last.
                let row = bytes.suffix(frame).dropFirst(360 * 2560).prefix(2560)
                let lumas = (0..<8).map { row[row.startIndex + ($0 * 160 + 80) * 2] }
                #expect(lumas == lumas.sorted(by: >) && lumas[0] > 225 && lumas[7] < 20)
            }
        }
    }
}
