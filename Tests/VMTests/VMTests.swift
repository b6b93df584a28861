import Dispatch
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of the installed daemon under real systemd, in a user's session, with cameras bound to the
/// real uvcvideo driver. Each script of `Tests/VM` runs inside a virtual machine and is one test.
@Suite("The virtual machine")
struct VMTests {
    /// As many machines run at once as this permits: each takes one processor, and up to 4 GB.
    private static let machines = DispatchSemaphore(value: 2)

    /// The folder of the package.
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test("streams two USB cameras in a session of its own", .timeLimit(.minutes(35)))
    func stream() throws {
        try runInside("stream.py")
    }

    @Test("keeps the stream whole through each fault of a camera", .timeLimit(.minutes(35)))
    func faults() throws {
        try runInside("faults.py")
    }

    @Test(
        "photographs USB cameras as they are, at their largest, and live",
        .timeLimit(.minutes(35))
    )
    func photos() throws {
        try runInside("photos.py")
    }

    @Test(
        "shows planes of memory, HDMI, interlaced video, and webcams with the faults of real ones",
        .timeLimit(.minutes(35))
    )
    func zoo() throws {
        try runInside("zoo.py")
    }

    @Test(
        "shows a camera on the network, through a pulled cable and lost packets",
        .timeLimit(.minutes(35))
    )
    func network() throws {
        try runInside("network.py")
    }

    @Test("sets a camera by hand, and shows it", .timeLimit(.minutes(35)))
    func pro() throws {
        try runInside("pro.py")
    }

    @Test("keeps scenes, locks and mountings over a replug", .timeLimit(.minutes(35)))
    func scenes() throws {
        try runInside("scenes.py")
    }

    @Test("changes lenses without a cut", .timeLimit(.minutes(35)))
    func lenses() throws {
        try runInside("lenses.py")
    }

    @Test("shows the pictures of a turned tablet upright", .timeLimit(.minutes(35)))
    func orientation() throws {
        try runInside("orientation.py")
    }

    @Test(
        "hides the cameras in use, enables the unit, and takes both back",
        .timeLimit(.minutes(35))
    )
    func doctor() throws {
        try runInside("doctor.py")
    }

    @Test(
        "installs, upgrades and purges the package, and mirrors the stream to v4l2loopback",
        .timeLimit(.minutes(35))
    )
    func package() throws {
        let scratch = try ScratchDirectory()
        defer { scratch.remove() }
        let packages = scratch.path
        let pack = Self.root.appending(path: "Tests/VM/pack").path
        let packed = try run(pack, packages, within: 600)
        try #require(packed.exit == .status(0), "\(packed.reason)")
        try runInside(
            "package.py",
            adding: ["DUALCAM_PACKAGES": "\(packages)/old.deb \(packages)/new.deb"]
        )
    }

    /// Sets the machine up if necessary, and runs `script` in it.
    private func runInside(_ script: String, adding variables: [String: String] = [:]) throws {
        let folder = Self.root.appending(path: "Tests/VM").path
        let setUp = try run("\(folder)/rig/setup.sh", within: 600)
        try #require(setUp.exit == .status(0), "\(setUp.reason)")
        Self.machines.wait()
        defer { Self.machines.signal() }
        // A failure leaves the machine's console there.
        let output = Self.root.appending(path: ".build/test-results/\(script).console").path
        // Nothing in there measures the machine outside, which other tests do meanwhile.
        let done = try run(
            "nice",
            "-n",
            "19",
            "\(folder)/rig/run-in-vm",
            "\(folder)/\(script)",
            output,
            within: 1860,
            adding: variables
        )
        try #require(done.exit == .status(0), "\(done.reason)")
        try FileManager.default.removeItem(atPath: output)
    }

    /// A program's run.
    private struct Run {
        var exit: Child.Exit
        /// The reason of its failure, if it states one.
        var reason: String
    }

    /// Runs `program` to its end and prints its output.
    private func run(
        _ program: String,
        _ arguments: String...,
        within seconds: Double,
        adding variables: [String: String] = [:]
    ) throws -> Run {
        var environment = ProcessInfo.processInfo.environment
        environment["DUALCAM_BIN_DIR"] = Programs.directory
        environment["RIG_PASS"] = "DUALCAM_BIN_DIR DUALCAM_ROWS DUALCAM_PACKAGES"
        environment.merge(variables) { $1 }
        environment["RIG_TIMEOUT"] = "1800"
        let child = try Child(program, arguments, environment: environment)
        let exit = try child.wait(within: seconds)
        print(child.output, child.errors)
        let lines = child.output.split(separator: "\n")
        let reason = lines.last { $0.contains("FAILED") }
        return Run(exit: exit, reason: reason.map(String.init) ?? "it gave no reason")
    }
}
