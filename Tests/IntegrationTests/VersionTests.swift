import Control
import DBusKit
import Foundation
import TestSupport
import Testing

extension DaemonTests {
    /// One version, which NEWS.md names, wherever somebody looks for it.
    @Suite("The version", .timeLimit(.minutes(2)))
    struct VersionTests {
        private func newest() throws -> String {
            let news = try String(
                contentsOf: repository.appending(path: "NEWS.md"),
                encoding: .utf8
            )
            return String(try #require(news.firstMatch(of: /\n## (\S+)/)).1)
        }

        @Test func theProgramsAndTheDaemonOnTheBusHaveIt() throws {
            let version = try newest()
            try Daemon.with(DaemonTests.still(back: "test", front: "test")) { daemon in
                for name in ["dualcamd", "dualcamctl"] {
                    let program = Programs.path(of: name)
                    let told = try daemon.session.output(program, "--version")
                    #expect(told == "\(version)\n")
                }
                #expect(try daemon.stream.get(\.version) == version)
            }
        }

        @Test func theManualAndThePackageHaveIt() throws {
            let version = try newest()
            try PrivateSession.with([]) { session in
                let manual = repository.appending(path: "tools/manual").path
                let folder = "\(session.directory)/man"
                _ = try session.output(manual, Programs.directory, folder)
                let pages = try FileManager.default.contentsOfDirectory(atPath: folder)
                #expect(pages.count == 4)
                for page in pages {
                    let text = try session.output("gzip", "-dc", "\(folder)/\(page)")
                    let title = text.split(separator: "\n").first { $0.hasPrefix(".TH ") }
                    #expect(
                        title?.contains("DualCam \(version)") == true,
                        "\(page): \(title ?? "")"
                    )
                }
                let changes = try session.output(
                    "sh",
                    "-c",
                    "cd '\(repository.path)' && tools/deb --changelog | dpkg-parsechangelog -l- -S Version"
                )
                let package = changes.trimmingCharacters(in: .newlines)
                #expect(package == version || package.hasPrefix("\(version)~"), "\(package)")
            }
        }
    }
}
