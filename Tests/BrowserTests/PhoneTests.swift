import Control
import DBusKit
import Foundation
import Frames
import Platform
import TestSupport
import Testing

/// Browsers as the phone, with a camera of their own making.
@Suite("A phone's browser", .serialized, .timeLimit(.minutes(4)))
struct PhoneTests {
    private static let configuration = """
        [cameras.back]
        source = "test"
        [cameras.front]
        source = "test"
        [scene]
        layout = "single"
        # From the namespaces of its network it cannot tell what callers are.
        [access]
        sandboxed = "all"
        """

    /// Returns what openssl writes about the daemon's certificate.
    private func certificate(_ daemon: Daemon, _ command: String) throws -> String {
        let file = "\(daemon.session.directory)/home/.local/state/dualcam/phone.pem"
        return try daemon.session.output(
            "sh",
            "-c",
            "sed -n '/BEGIN CERT/,$p' \(file) | openssl x509 -noout \(command)"
        ).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static let place = "\(PrivateNetwork.address):8447"

    private func chromium(
        _ daemon: Daemon,
        _ profile: String,
        _ more: [String] = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    ) throws -> [String] {
        let key = try certificate(
            daemon,
            "-pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64"
        )
        return [
            "chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
            "--user-data-dir=\(profile)", "--ignore-certificate-errors-spki-list=\(key)",
            "--autoplay-policy=no-user-gesture-required",
        ] + more
    }

    private func firefox(_ daemon: Daemon, _ profile: String) throws -> [String] {
        try FileManager.default.createDirectory(
            atPath: profile,
            withIntermediateDirectories: true
        )
        let print = try certificate(daemon, "-fingerprint -sha256 | cut -d= -f2")
        // An exception as a person stores it: for this address, by the certificate's SHA-256.
        let exception =
            "\(Self.place):\tOID.2.16.840.1.101.3.4.2.1\t\(print)\t\n"
        try exception.write(
            toFile: "\(profile)/cert_override.txt",
            atomically: true,
            encoding: .utf8
        )
        let settings = """
            user_pref("media.navigator.streams.fake", true);
            user_pref("media.navigator.permission.disabled", true);
            """
        try settings.write(toFile: "\(profile)/user.js", atomically: true, encoding: .utf8)
        return ["firefox", "--headless", "--no-remote", "--profile", profile]
    }

    @Test(arguments: ["chromium", "firefox"])
    func isACameraOnceItHasScanned(_ name: String) throws {
        try PrivateSession.with { session in
            let daemon = try Daemon(Self.configuration, in: session, network: true)
            let (tool, url) = try add(daemon)
            let profile = "\(session.directory)/phone"
            let command =
                PrivateNetwork.of(daemon.program.id)
                + (name == "chromium"
                    ? try chromium(daemon, profile) : try firefox(daemon, profile))
            let first = try session.run(command[0], command.dropFirst() + [url])
            #expect(try tool.wait(within: 60) == .status(0), "\(tool.errors)")
            #expect(try daemon.get("Source", of: .camera, at: DualCam.backPath).string == "phone")

            // Ended the moment it was added, it comes back from its history, without a code.
            first.end()
            let reader = try StreamReader("dualcam", in: session)
            defer { reader.close() }
            let browser = try session.run(
                command[0],
                command.dropFirst() + ["https://\(Self.place)/"]
            )
            try eventually("the phone's pictures", within: 30) {
                try daemon.state(of: DualCam.backPath) == "streaming"
            }
            browser.end()
            try eventually("a phone that is gone") {
                try daemon.get("Interruption", of: .camera, at: DualCam.backPath).string == "away"
            }
        }
    }

    /// Adds a phone, which is the back camera once a browser has opened the address.
    private func add(_ daemon: Daemon) throws -> (tool: Child, url: String) {
        let tool = try daemon.session.run(Programs.path(of: "dualcamctl"), ["phone", "back"])
        let url = try eventually("an address; it wrote: \(tool.errors)") {
            tool.output.split(separator: "\n").last { $0.hasPrefix("https://") }
        }
        return (tool, String(url))
    }

    /// It prints what it measures; with `DUALCAM_NETWORK="0 0 1e9"`, as in
    /// `Tests/Phone/network.py`, of a good network.
    @Test func itsPicturesAreNewAgainAfterTheNetworkWasGone() throws {
        try PrivateSession.with { session in
            let daemon = try Daemon(Self.configuration, in: session, network: true)
            let (tool, url) = try add(daemon)
            let inside = PrivateNetwork.of(daemon.program.id)
            // 5 to 25 ms each way and 12 Mbit/s; after 10 s nothing for 5 s.
            let other = ProcessInfo.processInfo.environment["DUALCAM_NETWORK"]
            let script = repository.appending(path: "Tests/Phone/network.py").path
            let network =
                inside + ["python3", script, "9000", Self.place]
                + (other ?? "5 25 12e6 10,5").split(separator: " ").map(String.init)
            let link = try session.run(network[0], Array(network.dropFirst()))
            try eventually("the network") { link.output.contains("ready") }
            let camera = repository.appending(path: "Tests/Phone/camera").path
            let command =
                try inside
                + chromium(
                    daemon,
                    "\(session.directory)/phone",
                    [
                        "--load-extension=\(camera)",
                        "--disable-features=DisableLoadExtensionCommandLineSwitch",
                        "--host-resolver-rules=MAP \(Self.place) 127.0.0.1:9000", url,
                    ]
                )
            _ = try session.run(command[0], Array(command.dropFirst()))
            #expect(try tool.wait(within: 60) == .status(0), "\(tool.errors)")
            let reader = try StreamReader("dualcam", in: session)
            defer { reader.close() }
            let ages = PhoneAges()
            let start = MonotonicClock.now
            while (MonotonicClock.now - start).seconds < 25 {
                ages.add(try reader.next(), since: start)
            }
            print(ages)
            guard other == nil else { return }
            let stall = try #require(ages.longestPause)
            #expect(stall.length > 4, "the network was gone")
            // What waited is not sent on and on: soon they are nearly as new as before.
            #expect(stall.age < 0.5, "\(ages)")
        }
    }
}

/// The ages of the pictures of `Tests/Phone/camera`, when they come out of the stream.
private final class PhoneAges: CustomStringConvertible {
    private var list: [(time: Double, age: Double)] = []
    private var last: UInt32 = 0

    /// Reads the time at the top of a frame of the stream.
    func add(_ frame: StreamReader.Frame, since start: Timestamp) {
        let (width, height) = (frame.stride / 2, frame.bytes.count / frame.stride)
        var stamp: UInt32 = 0
        for bit in 0..<32 {
            let x = (2 * bit + 1) * width / 64
            let luma = frame.bytes[height / 20 * frame.stride + 2 * x]
            stamp = stamp << 1 | (luma > 128 ? 1 : 0)
        }
        guard stamp != last else { return }
        last = stamp
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let elapsed = MonotonicClock.now - frame.arrival
        let milliseconds =
            Double(now.tv_sec) * 1000 + Double(now.tv_nsec) / 1e6 - elapsed.seconds * 1000
        let age = milliseconds.truncatingRemainder(dividingBy: 4_294_967_296) - Double(stamp)
        // Another picture than the phone's.
        guard (-1...10000).contains(age) else { return }
        list.append(((frame.arrival - start).seconds, age / 1000))
    }

    /// The longest time without a new picture, and the age of the newest in the second after it.
    var longestPause: (length: Double, age: Double)? {
        let pauses = zip(list, list.dropFirst()).map { ($1.time - $0.time, $1.time) }
        guard let (length, end) = pauses.max(by: { $0.0 < $1.0 }) else { return nil }
        let ages = list.filter { (end...end + 1).contains($0.time) }.map(\.age)
        return ages.min().map { (length, $0) }
    }

    /// The pictures of each second, and the ages of the middle one and of the oldest but one in a
    /// hundred.
    var description: String {
        let seconds = Dictionary(grouping: list) { Int($0.time) }
        let rates = seconds.keys.sorted().map { "\($0):\(seconds[$0]?.count ?? 0)" }
        let ages = list.map(\.age).sorted()
        func part(_ share: Double) -> Int {
            ages.isEmpty ? 0 : Int(ages[Int(Double(ages.count - 1) * share)] * 1000)
        }
        return "\(rates.joined(separator: " ")); \(part(0.5)) and \(part(0.99)) ms, "
            + "after \(longestPause?.length ?? 0) s \(longestPause?.age ?? 0) s"
    }
}
