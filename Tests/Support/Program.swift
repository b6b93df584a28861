import Foundation

/// The path of a built program of this package: "dualcamd", "dualcamctl".
///
/// It is in the directory that the environment variable `DUALCAM_BIN_DIR` names; without that, in
/// the one that the tests themselves were built into.
package func builtProgram(_ name: String) -> String { "\(builtProgramsDirectory)/\(name)" }

/// The directory of `builtProgram`.
package let builtProgramsDirectory =
    ProcessInfo.processInfo.environment["DUALCAM_BIN_DIR"]
    ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
