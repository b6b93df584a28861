import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@Suite("Child", .timeLimit(.minutes(5)))
struct ChildTests {
    @Test func whatItWritesIsKept() throws {
        let child = try Child("sh", ["-c", "echo out; echo err >&2; exit 3"])
        #expect(try child.wait() == .status(3))
        #expect(child.output == "out\n")
        #expect(child.errors == "err\n")
    }

    @Test func itHasTheEnvironmentItIsGiven() throws {
        let child = try Child("env", environment: ["PATH": "/usr/bin:/bin", "NAME": "value"])
        #expect(try child.wait() == .status(0))
        #expect(Set(child.output.split(separator: "\n")) == ["PATH=/usr/bin:/bin", "NAME=value"])
    }

    @Test func aProgramThatIsNotThereIsAnError() {
        #expect(throws: SystemError.self) { try Child("/nowhere/program") }
    }

    @Test func waitingEnds() throws {
        let child = try Child("sleep", ["1000"])
        #expect(throws: TimedOut.self) { try child.wait(within: 0.05) }
        child.end()
        #expect(child.exit == .signal(SIGKILL))
    }

    /// What it did before its end counts.
    @Test func aWaitForWhatAnEndedProgramShouldDoFailsWithItsOutput() throws {
        let child = try Child("sh", ["-c", "echo out; echo err >&2; exit 3"])
        let error = #expect(throws: ServiceFailed.self) {
            try eventually("a picture", while: child) { false }
        }
        #expect(
            error?.description
                == "sh ended (status(3)) while the test waited for a picture; it wrote:\nout\nerr\n"
        )
        try eventually("its output", while: child) { child.output == "out\n" }
    }

    @Test func itTakesItsOwnChildrenWithIt() throws {
        let child = try Child("sh", ["-c", "sleep 1000 & echo $!; wait"])
        let grandchild = try eventually("its child") {
            pid_t(child.output.trimmingCharacters(in: .newlines))
        }
        child.end()
        try eventually("its child to end") { !isAlive(grandchild) }
    }

    /// As when the test's process dies: the other end of the reaper's socket closes.
    @Test func whatIsLeftBehindIsReaped() throws {
        let scratch = try ScratchDirectory()
        let directory = scratch.path
        let kept = try Child("sleep", ["1000"])
        let reaped = try Child("sh", ["-c", "sleep 1000 & echo $!; wait"])
        let grandchild = try eventually("its child") {
            pid_t(reaped.output.trimmingCharacters(in: .newlines))
        }
        do {
            let reaper = Reaper()
            reaper.adopt(kept.id)
            reaper.adopt(reaped.id)
            reaper.clean(directory)
            reaper.forget(kept.id)
        }
        #expect(try reaped.wait() == .signal(SIGKILL))
        try eventually("its child to end") { !isAlive(grandchild) }
        try eventually("the directory to go") { !FileManager.default.fileExists(atPath: directory) }
        #expect(kept.exit == nil)
        kept.end()
    }

    /// Returns `true` if a process runs. One that has ended but was not waited for does not.
    private func isAlive(_ process: pid_t) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        else {
            return false
        }
        return !text.contains(") Z ")
    }
}
