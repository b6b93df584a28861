import CLinux
import Frames
import Glibc

/// The beginning of each program, before it reads its command line.
package enum ProgramStart {
    /// The widths that help is wrapped to, in columns.
    private static let columns = 40...200

    /// Prepares the process: for text that its reader does not want, for standard descriptors that
    /// are closed, and for help in any window.
    package static func prepare() {
        // Libraries ignore it too, but not before they are used.
        signal(SIGPIPE, SIG_IGN)
        // Nothing that is opened takes the place of standard output. To use these fails, as before.
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        // The argument parser takes any number, and shows no help where it is too small.
        var window = winsize()
        let isTerminal = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0 && window.ws_col > 0
        let wanted = environmentVariable("COLUMNS").flatMap { Int($0) }
        guard let width = wanted ?? (isTerminal ? Int(window.ws_col) : nil),
            !columns.contains(width)
        else { return }
        setenv("COLUMNS", "\(min(max(width, columns.lowerBound), columns.upperBound))", 1)
    }
}

/// The output of data that a program was asked for.
package enum StandardOutput {
    /// Writes all of `bytes`. Ends `program` if that fails: with success where the reader has gone,
    /// which has what it wanted, else with the reason on standard error.
    package static func write(_ bytes: some Sequence<UInt8>, by program: String) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = retryingInterrupts {
                rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Another program that shares the terminal or the pipe made it so.
                var place = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&place, 1, -1)
            } else {
                if errno == EPIPE { exit(EXIT_SUCCESS) }
                let reason = String(cString: strerror(errno)).uncapitalized
                printError("\(program): Cannot write standard output: \(reason).")
                exit(EXIT_FAILURE)
            }
        }
    }
}

/// Writes a line for people to standard error.
package func printError(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, line, line.count)
}

/// Ends `program` after its argument parser: with `text` as data if `status` is success, and else
/// as a message. Wrong usage, EX_USAGE of the parser, is 2.
package func leave(saying text: String, status: CInt, of program: String) -> Never {
    if status == EXIT_SUCCESS {
        StandardOutput.write("\(text)\n".utf8, by: program)
    } else if !text.isEmpty {
        printError(text)
    }
    exit(status == EX_USAGE ? 2 : status)
}
