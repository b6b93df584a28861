import Foundation
import TestSupport

/// A disk that takes its time, for a daemon that is started with `environment`: slowdisk.c.
struct SlowDisk {
    /// The variables that make all calls that concern paths with these prefixes slow.
    let environment: [String: String]
    private let delay: String

    /// Compiles the library in the directory of `session`. Paths that begin with one of `prefixes`
    /// are slow.
    init(_ prefixes: String..., in session: PrivateSession) throws {
        let source = "Tests/IntegrationTests/slowdisk.c"
        let library = try preloadable(source, in: session.directory)
        delay = "\(session.directory)/delay"
        environment = [
            "LD_PRELOAD": library, "SLOW_DISK": prefixes.joined(separator: ":"),
            "SLOW_DELAY": delay,
        ]
        try wait(0)
    }

    /// Makes each call take as many milliseconds from now on, also those that wait already.
    func wait(_ milliseconds: Int) throws {
        try put("\(milliseconds)", at: delay)
    }
}
