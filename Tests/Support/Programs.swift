import Foundation

/// The programs of this package.
package enum Programs {
    /// Their directory: the one that the environment variable DUALCAM_BIN_DIR names, or the one
    /// that the tests were built into.
    package static let directory =
        ProcessInfo.processInfo.environment["DUALCAM_BIN_DIR"]
        ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .path

    /// Returns the path of the program called `name`.
    package static func path(of name: String) -> String { "\(directory)/\(name)" }
}
