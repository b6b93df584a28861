package import Foundation

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

/// Returns the beginning of a command line that runs Chromium without a window, with its files in
/// `profile`.
package func chromium(_ profile: String) -> [String] {
    [
        "chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
        "--user-data-dir=\(profile)", "--autoplay-policy=no-user-gesture-required",
    ]
}

/// Compiles the C file `source`, a path in the package, into a library in `directory` that can be
/// loaded before all others, and returns the library's path.
package func preloadable(_ source: String, in directory: String) throws -> String {
    let source = repository.appending(path: source)
    let library = "\(directory)/\(source.deletingPathExtension().lastPathComponent).so"
    let compiler = try Child("clang", ["-shared", "-fPIC", "-O2", "-o", library, source.path])
    guard try compiler.wait(within: 60) == .status(0) else {
        throw ServiceFailed(description: compiler.errors)
    }
    return library
}

package let repository = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
