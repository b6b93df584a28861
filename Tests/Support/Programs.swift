import Foundation

/// The programs of this package.
package enum Programs {
    /// Where they are: the directory that the environment variable DUALCAM_BIN_DIR names, else the
    /// one that the tests were built into.
    package static let directory =
        ProcessInfo.processInfo.environment["DUALCAM_BIN_DIR"]
        ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .path

    /// The program called `name`.
    package static func path(of name: String) -> String { "\(directory)/\(name)" }
}
