import Frames

/// The exit statuses of the command. They are part of its interface for scripts.
package enum ExitStatus: CInt {
    case done = 0
    case failed = 1
    /// An argument that is unknown or has no meaning.
    case usage = 2
    case timedOut = 3
    /// The daemon is not running, could not be started if that was wanted, or ended early.
    case notRunning = 8
    /// There is no such camera, control or scene.
    case notFound = 10
}

/// The reason why a command failed.
package struct Failure: Error {
    package let status: ExitStatus
    /// The reason for people, in one or more sentences.
    package let message: String

    package init(status: ExitStatus, message: String) {
        self.status = status
        self.message = message
    }

    /// Creates the reason of a failure that scripts need not tell from others.
    package init(_ message: String) { self.init(status: .failed, message: message) }
}

extension String {
    /// The text without what a terminal would obey: cameras choose their names freely.
    package var printable: String { plain("\u{FFFD}") }
}
