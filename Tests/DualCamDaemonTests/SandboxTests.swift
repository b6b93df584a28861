import Glibc
import TestSupport
import Testing

@testable import DBusKit
@testable import DualCamDaemon

@Suite("Sandbox") struct SandboxTests {
    /// Returns the credentials of this program, or of another `process`, and `more` of them.
    private func credentials(
        _ process: UInt32 = UInt32(getpid()),
        _ more: [String: Value] = [:]
    ) -> Credentials {
        let known: [String: Value] = [
            "UnixUserID": .uint32(getuid()), "ProcessID": .uint32(process),
        ]
        return Credentials(known.merging(more) { $1 })
    }

    /// Returns this program's credentials with a label of its security module.
    private func labelled(_ label: String) -> Credentials {
        let bytes = Value.array((label + "\0").utf8.map { .byte($0) }, of: .byte)
        return credentials(UInt32(getpid()), ["LinuxSecurityLabel": bytes])
    }

    @Test func `a program of the user's that nothing confines is trusted`() {
        #expect(!Sandbox.confines(credentials()))
        let labelled = labelled("unconfined")
        #expect(labelled.securityLabel == "unconfined" && !Sandbox.confines(labelled))
    }

    @Test("a snap is told by its label")
    func snap() {
        #expect(Sandbox.confines(labelled("snap.cheese.cheese (enforce)")))
    }

    @Test("a program that has ended since is not trusted, whatever has its number now")
    func ended() throws {
        // As for a pidfd, the end of what it stands for makes a socket readable: also while a
        // program that another test starts just now holds a copy of the other end.
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        defer { close(ends[1]) }
        let descriptor = SharedDescriptor(owning: ends[0])
        let program = credentials(UInt32(getpid()), ["ProcessFD": .descriptor(descriptor)])
        #expect(program.processDescriptor != nil)
        #expect(!Sandbox.confines(program))
        shutdown(ends[1], CInt(SHUT_RDWR))
        #expect(Sandbox.confines(program))
    }

    @Test func `who cannot be told is not trusted`() {
        #expect(Sandbox.confines(Credentials([:])))
        #expect(Sandbox.confines(Credentials(["UnixUserID": .uint32(getuid())])))
        // No process has this number: the largest is 2^22.
        for process: UInt32 in [1 << 23, 0] { #expect(Sandbox.confines(credentials(process))) }
    }
}
