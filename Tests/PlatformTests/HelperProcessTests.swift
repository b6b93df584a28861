import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@Suite("A helper process") struct HelperProcessTests {
    @Test(.timeLimit(.minutes(1))) func isKilledIfItLeavesTheSocketAndGoesOn() throws {
        let helper = try HelperProcess(["-c", "exec sleep 1000 </dev/null"], of: "/bin/sh")
        guard case .ended(let status) = helper.receive() else {
            Issue.record("it has not ended")
            return
        }
        #expect(status & 0x7F == SIGKILL)
    }

    @Test func leavesNoZombieWhenItIsDropped() throws {
        let folder = try ScratchDirectory()
        for number in 0..<20 {
            let file = "\(folder.path)/\(number)"
            var helper: HelperProcess? = try HelperProcess(
                ["-c", "echo $$ >\(file).new; mv \(file).new \(file); exec sleep 1000"],
                of: "/bin/sh"
            )
            try eventually("its number") { FileManager.default.fileExists(atPath: file) }
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let id = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
            withExtendedLifetime(helper) { #expect(kill(id, 0) == 0) }
            helper = nil
            // A process that ended is there until somebody has waited for it.
            try eventually("the system to forget it") { kill(id, 0) == -1 && errno == ESRCH }
        }
    }
}
