import Control
import DBusKit
import Foundation
import TestSupport
import Testing

/// Tests of the programs as files.
@Suite("Programs as files", .timeLimit(.minutes(1)))
struct BinaryTests {
    /// The paths of the programs: those of these tests, and those of a release if it was built.
    private static let programs: [String] = {
        let release = repository.appending(path: ".build/release").path
        let places = Set([Programs.directory, release])
        let paths = places.flatMap { place in
            ["dualcamd", "dualcamctl", "dualcam-view"].map { "\(place)/\($0)" }
        }
        // The first two are there at any rate; the window is not built where there is no GTK.
        return paths.filter { path in
            (path.hasPrefix(Programs.directory) && !path.hasSuffix("-view"))
                || FileManager.default.fileExists(atPath: path)
        }
    }()

    @Test("the unit is neither for root nor for login screens, and a failure starts it again")
    func conditions() throws {
        let text = try String(
            contentsOf: repository.appending(path: "systemd/dualcamd.service"),
            encoding: .utf8
        )
        var sections: [String: [String]] = [:]
        var section = ""
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("[") {
                section = String(line)
            } else {
                sections[section, default: []].append(String(line))
            }
        }
        let conditions = sections["[Unit]", default: []].filter { $0.hasPrefix("Condition") }
        #expect(
            Set(conditions) == [
                "ConditionUser=!@system", "ConditionEnvironment=!XDG_SESSION_CLASS=greeter",
            ]
        )
        #expect(sections["[Service]", default: []].contains("Restart=on-failure"))
        #expect(sections["[Service]", default: []].contains("RestartPreventExitStatus=75"))
    }

    @Test("they are hardened", arguments: programs)
    func hardened(_ path: String) throws {
        func readelf(_ option: String) throws -> String {
            let child = try Child("readelf", [option, "-W", path])
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
                try daemon.stream.wait(for: \.active, true, within: 15)
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
