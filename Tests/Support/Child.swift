import Frames
package import Glibc
package import Platform
import Synchronization

/// A program run by a test, in a process group of its own, with its output kept.
///
/// It ends with `end()`, with the release of this object, or with the test's process, however that
/// dies; everything it started that stayed in its group ends with it.
package final class Child: Sendable {
    /// The end of a program.
    package enum Exit: Hashable, Sendable {
        /// The program exited with this status.
        case status(CInt)
        /// The program was killed by this signal.
        case signal(CInt)
    }

    package let name: String
    /// The number of its process, and of the process group.
    package let id: pid_t
    private let standardOutput: Descriptor
    private let standardError: Descriptor
    private let result = Mutex<Exit?>(nil)
    private let usage = Mutex(rusage())

    /// Starts `program`, a path or a name looked up in PATH, with `arguments` and with
    /// `environment` as its whole environment; `nil` stands for that of the test.
    ///
    /// - Throws: `SystemError` with ENOENT when there is no such program.
    package init(
        _ program: String,
        _ arguments: [String] = [],
        environment: [String: String]? = nil
    ) throws(SystemError) {
        name = String(
            program[
                (program.lastIndex(of: "/").map(program.index(after:)) ?? program.startIndex)...
            ]
        )
        standardOutput = try unnamedFile()
        standardError = try unnamedFile()
        id = try spawn(
            program,
            [program] + arguments,
            environment: environment?.map { "\($0)=\($1)" } ?? inheritedEnvironment,
            input: .nothing,
            output: .descriptor(standardOutput.number),
            errors: .descriptor(standardError.number),
            inGroup: true
        )
        Reaper.shared.adopt(id)
    }

    deinit { end() }

    package var output: String { contents(of: standardOutput.number) }
    package var errors: String { contents(of: standardError.number) }

    /// The end of the program; `nil` while it runs.
    package var exit: Exit? {
        result.withLock { result in
            if let result { return result }
            var status: CInt = 0
            let isOver = usage.withLock { wait4(id, &status, WNOHANG, &$0) == id }
            guard isOver else { return nil }
            result = status & 0x7f == 0 ? .status(status >> 8 & 0xff) : .signal(status & 0x7f)
            return result
        }
    }

    /// The processor time in seconds, user and kernel, of the program and of the children it waited
    /// for; 0 until its end was seen.
    package var processorTime: Double {
        usage.withLock { usage in
            [usage.ru_utime, usage.ru_stime].reduce(0) {
                $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
            }
        }
    }

    /// Waits for its end.
    ///
    /// - Throws: `TimedOut`, with the output of the program, when it takes longer than `seconds`.
    @discardableResult
    package func wait(within seconds: Double = 30) throws -> Exit {
        try eventually("\(name) to end; it wrote:\n\(output)\(errors)", within: seconds) { exit }
    }

    /// Sends `signal` to all processes of its group.
    package func signal(_ signal: CInt) { kill(-id, signal) }

    /// Kills all processes of its group and waits until it is gone. Harmless if it is already.
    package func end() {
        // The group may outlive the program, but its number is free once both are gone.
        let isRunning = exit == nil
        kill(-id, SIGKILL)
        if isRunning { while exit == nil { usleep(500) } }
        Reaper.shared.forget(id)
    }
}

/// Kills the processes that the test's process leaves behind when it dies.
///
/// A shell reads from a socket whose other end only this process has. When that end closes, for
/// whatever reason, the shell kills the groups and removes the directories named to it. (A death
/// signal, PR_SET_PDEATHSIG, would come when the thread that started the child ends.)
package final class Reaper: Sendable {
    /// The reaper of this process.
    package static let shared = Reaper()

    private let socket: CInt

    private init() {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            preconditionFailure("no socket for the reaper")
        }
        socket = ends[0]
        let script = """
            trap '' INT TERM HUP
            groups= directories=
            while read -r verb subject; do
                case $verb in
                adopt) groups="$groups $subject" ;;
                clean) directories="$directories $subject" ;;
                forget)
                    rest=
                    for group in $groups; do
                        [ "$group" = "$subject" ] || rest="$rest $group"
                    done
                    groups=$rest
                    ;;
                esac
            done
            for group in $groups; do kill -KILL "-$group"; done
            [ -z "$directories" ] || rm -rf $directories
            """
        do {
            _ = try spawn(
                "sh",
                ["sh", "-c", script],
                environment: inheritedEnvironment,
                input: .descriptor(ends[1]),
                output: .nothing,
                errors: .nothing,
                inGroup: true
            )
        } catch { preconditionFailure("no reaper: \(error)") }
        close(ends[1])
    }

    /// Adds the group of `process` to those that are killed when this process dies.
    package func adopt(_ process: pid_t) { request("adopt \(process)") }

    /// Removes the group of `process`, which is gone.
    package func forget(_ process: pid_t) { request("forget \(process)") }

    /// Adds `directory`, whose path has no blanks, to those that are removed when this process
    /// dies.
    package func clean(_ directory: String) { request("clean \(directory)") }

    private func request(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        send(socket, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }
}

/// Creates a file that is gone when its last descriptor is closed.
private func unnamedFile() throws(SystemError) -> Descriptor {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/dualcam-test-XXXXXX".utf8CString)
    let number = mkstemp(&template)
    guard number >= 0 else { throw .last("mkstemp") }
    unlink(template)
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    return Descriptor(owning: number)
}

/// Returns the whole text of a file, whatever the offset of its descriptor.
private func contents(of number: CInt) -> String {
    var status = stat()
    guard fstat(number, &status) == 0, status.st_size > 0 else { return "" }
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
        count = max(0, pread(number, buffer.baseAddress, buffer.count, 0))
    }
    return String(decoding: bytes, as: UTF8.self)
}
