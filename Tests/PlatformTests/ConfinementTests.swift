import CSandbox
import Glibc
import Platform
import Synchronization
import Testing

/// What `body` returns on a thread that was confined before by `enter`, so that the others stay as
/// they are.
private func confined<Result: Sendable>(
    by enter: @escaping @Sendable () throws(SystemError) -> Void = Confinement.enter,
    _ body: @escaping @Sendable () -> Result
) throws -> Result? {
    let result = Mutex<Result?>(nil)
    let thread = try Thread(name: "confined") {
        do throws(SystemError) {
            try enter()
        } catch {
            Issue.record("\(error)")
            return
        }
        let found = body()
        result.withLock { $0 = found }
    }
    thread.join()
    return result.withLock { $0 }
}

@Suite("Confinement") struct ConfinementTests {
    @Test func aConfinedThreadOpensNothingAndReachesNobody() throws {
        let own = getpid()
        let failures = try confined {
            [
                open("/etc/passwd", O_RDONLY), open("/tmp", O_RDONLY),
                open("/tmp/dualcam-confined", O_WRONLY | O_CREAT, 0o600),
                unlink("/tmp/dualcam-none"), rename("/tmp/dualcam-a", "/tmp/dualcam-b"),
                mkdir("/tmp/dualcam-confined", 0o700), chmod("/tmp", 0o700),
                socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0),
                socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0),
                socket(AF_INET6, CInt(SOCK_DGRAM.rawValue), 0), kill(own, 0), kill(1, 0),
            ].map { $0 == -1 ? errno : 0 }
        }
        #expect(failures?.count == 12)
        // EACCES is Landlock's answer; here both are in force, and seccomp's comes first.
        #expect(failures?.allSatisfy { $0 == EPERM } ?? false, "\(String(describing: failures))")
    }

    @Test func `seccomp alone keeps a thread from files and other programs`() throws {
        let own = getpid()
        let failures = try confined(by: { () throws(SystemError) in
            let error = csandbox_leave_calls(0)
            guard error == 0 else { throw SystemError("seccomp", errno: error) }
        }) {
            [
                open("/etc/passwd", O_RDONLY), open("/tmp", O_RDONLY),
                open("/tmp/dualcam-confined", O_WRONLY | O_CREAT, 0o600),
                unlink("/tmp/dualcam-none"), mkdir("/tmp/dualcam-confined", 0o700),
                socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0),
                socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0), kill(own, 0),
            ].map { $0 == -1 ? errno : 0 }
        }
        #expect(failures == Array(repeating: EPERM, count: 8))
    }

    @Test func `Landlock alone keeps a thread from files, where the kernel has it`() throws {
        let refusal = Mutex<CInt>(0)
        let failures = try confined(by: { () throws(SystemError) in
            let error = csandbox_leave_files(0)
            refusal.withLock { $0 = error }
        }) {
            [
                open("/etc/passwd", O_RDONLY), open("/tmp", O_RDONLY),
                open("/tmp/dualcam-confined-\(getpid())", O_WRONLY | O_CREAT, 0o600),
                mkdir("/tmp/dualcam-confined-\(getpid())", 0o700),
            ].map { number -> CInt in
                guard number >= 0 else { return errno }
                close(number)
                return 0
            }
        }
        let error = refusal.withLock { $0 }
        if error == 0 {
            #expect(failures == Array(repeating: EACCES, count: 4))
        } else {
            // Then it says so, and takes nothing.
            #expect([ENOSYS, EOPNOTSUPP, EPERM].contains(error))
            #expect(failures?.first == 0)
            unlink("/tmp/dualcam-confined-\(getpid())")
        }
    }

    @Test func whatIsOpenIsReadAndThreadsAndMemoryAreThere() throws {
        let file = open("/proc/thread-self/status", O_RDONLY)
        let other = open("/proc/self/status", O_RDONLY)
        defer { for number in [file, other] { close(number) } }
        let text = try confined { () -> String in
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = read(other, &bytes, bytes.count)
            let inner = Mutex(false)
            let thread = try? Thread(name: "inner") { inner.withLock { $0 = true } }
            thread?.join()
            guard inner.withLock({ $0 }), count > 0 else { return "" }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
        #expect(text?.contains("Name:") ?? false)
    }

    @Test func theRestOfTheProcessIsNotConfined() throws {
        _ = try confined { true }
        let number = open("/etc/passwd", O_RDONLY)
        #expect(number >= 0)
        close(number)
    }
}

@Suite("Locks of files") struct FileLockTests {
    @Test func aLockIsTheOpenFilesAndGoesWithItsLastDescriptor() throws {
        let path = "/tmp/dualcam-lock-\(getpid())"
        let first = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
        defer { unlink(path) }
        #expect(FileLock.take(first) == .locked)
        // Its own copies do not conflict, unlike another open file of the same process.
        let copy = dup(first)
        #expect(FileLock.take(copy) == .locked)
        let second = open(path, O_RDWR)
        defer { close(second) }
        #expect(FileLock.take(second) == .taken)
        close(first)
        #expect(FileLock.take(second) == .taken)
        close(copy)
        #expect(FileLock.take(second) == .locked)
        let pipe = open("/dev/null", O_RDONLY)
        defer { close(pipe) }
        // Not open for writing.
        #expect(FileLock.take(pipe) == .unsupported)
    }
}
