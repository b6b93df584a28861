import Control
import DBusKit
import Foundation
import TestSupport
import Testing

extension DaemonTests {
    /// One version, which `make lint` compares with NEWS.md, wherever somebody looks for it.
    @Suite("The version", .timeLimit(.minutes(2)))
    struct VersionTests {
        private let version = DualCam.version

        @Test func theProgramsAndTheDaemonOnTheBusHaveIt() throws {
            try Daemon.with(DaemonTests.still(back: "test", front: "test")) { daemon in
                for name in ["dualcamd", "dualcamctl"] {
                    let program = Programs.path(of: name)
                    let told = try daemon.session.output(program, "--version")
                    #expect(told == "\(version)\n")
                }
                #expect(try daemon.stream.get(\.version) == version)
            }
        }

        /// `CompletionTests` show the manual's.
        @Test func thePackageHasIt() throws {
            try PrivateSession.with([]) { session in
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
