import Desktop
import Glibc
import TestSupport
import Testing

@testable import DBusKit

@Suite("Sandbox")
struct SandboxTests {
    private static let user = Value.uint32(getuid())
    private static let process = Value.uint32(UInt32(getpid()))

    @Test("a program of the user's that nothing confines is trusted")
    func plain() {
        let own = Credentials(["UnixUserID": Self.user, "ProcessID": Self.process])
        #expect(!Sandbox.confines(own))
        let label = Value.array("unconfined\0".utf8.map { .byte($0) }, of: .byte)
        let labelled = Credentials([
            "UnixUserID": Self.user, "ProcessID": Self.process, "LinuxSecurityLabel": label,
        ])
        #expect(labelled.securityLabel == "unconfined")
        #expect(!Sandbox.confines(labelled))
    }

    @Test("a snap is told by its label")
    func snap() {
        let label = Value.array("snap.cheese.cheese (enforce)\0".utf8.map { .byte($0) }, of: .byte)
        let snap = Credentials([
            "UnixUserID": Self.user, "ProcessID": Self.process, "LinuxSecurityLabel": label,
        ])
        #expect(Sandbox.confines(snap))
    }

    @Test("a program that has ended since is not trusted, whatever has its number now")
    func ended() throws {
        // As for a pidfd, the end of what it stands for makes a pipe readable: the last writer's
        // end, so no program of another test may have inherited it.
        let ends = try unsharedPipe()
        let descriptor = SharedDescriptor(owning: ends.reader)
        let program = Credentials([
            "UnixUserID": Self.user, "ProcessID": Self.process,
            "ProcessFD": .descriptor(descriptor),
        ])
        #expect(program.processDescriptor != nil)
        #expect(!Sandbox.confines(program))
        close(ends.writer)
        #expect(Sandbox.confines(program))
    }

    @Test("who cannot be told is not trusted")
    func unknown() {
        #expect(Sandbox.confines(Credentials([:])))
        #expect(Sandbox.confines(Credentials(["UnixUserID": Self.user])))
        // No process has this number: the largest is 2^22.
        let ended = Credentials(["UnixUserID": Self.user, "ProcessID": .uint32(1 << 23)])
        #expect(Sandbox.confines(ended))
        let none = Credentials(["UnixUserID": Self.user, "ProcessID": .uint32(0)])
        #expect(Sandbox.confines(none))
    }
}
