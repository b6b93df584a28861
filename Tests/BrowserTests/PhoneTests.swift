import Control
import DBusKit
import Foundation
import TestSupport
import Testing

/// Browsers as the phone, with a camera of their own making.
@Suite("A phone's browser", .serialized, .timeLimit(.minutes(10)))
struct PhoneTests {
    private static let configuration = """
        [output]
        width = 1920
        height = 1080
        [cameras.back]
        source = "test"
        [cameras.front]
        source = "test"
        [scene]
        layout = "single"
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

    private func chromium(_ daemon: Daemon, _ profile: String) throws -> [String] {
        let key = try certificate(
            daemon,
            "-pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64"
        )
        return TestSupport.chromium(profile) + [
            "--ignore-certificate-errors-spki-list=\(key)",
            "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
        ]
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
            let tool = try session.run(Programs.path(of: "dualcamctl"), ["phone", "back"])
            let url = try eventually("an address; it wrote: \(tool.errors)") {
                tool.output.split(separator: "\n").last { $0.hasPrefix("https://") }
            }
            let profile = "\(session.directory)/phone"
            let command =
                PrivateNetwork.of(daemon.program.id)
                + (name == "chromium"
                    ? try chromium(daemon, profile) : try firefox(daemon, profile))
            let first = try session.run(command[0], command.dropFirst() + [String(url)])
            try eventually("the phone; it wrote: \(tool.errors)", within: 150, while: first) {
                tool.exit == .status(0)
            }
            #expect(try daemon.get("Source", of: .camera, at: DualCam.backPath).string == "phone")

            // Ended the moment it was added, it comes back from its history, without a code.
            first.end()
            let reader = try StreamReader("dualcam", in: session)
            defer { reader.close() }
            let browser = try session.run(
                command[0],
                command.dropFirst() + ["https://\(Self.place)/"]
            )
            try eventually("the phone's pictures", within: 120, while: browser) {
                try daemon.state(of: DualCam.backPath) == "streaming"
            }
            // As large as the stream, if its camera has that; Firefox's own has less.
            if name == "chromium" {
                let width = try daemon.get("Width", of: .camera, at: DualCam.backPath)
                #expect(width.integer == 1920)
            }
            browser.end()
            try eventually("a phone that is gone") {
                try daemon.get("Interruption", of: .camera, at: DualCam.backPath).string == "away"
            }
        }
    }
}
