import Glibc
package import Media
import Platform

/// The directory for recordings.
package enum VideoDirectory {
    /// Returns the directory, creating it if necessary: `configured`, which may begin with "~/", or
    /// else DualCam in the user's Videos directory according to user-dirs.dirs(5).
    ///
    /// - Throws: `denied`, `noSpace`, `notFound` or `system`.
    package static func path(configured: String?) throws(MediaError) -> String {
        let path = UserDirectory.videos.place(configured: configured) ?? ""
        guard path.hasPrefix("/") else {
            throw MediaError(.system, "mkdir", path, errno: ENOENT, detail: "no whole path")
        }
        do throws(SystemError) {
            try makeDirectory(path)
        } catch {
            throw MediaError(error)
        }
        var status = stat()
        guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFDIR else {
            throw MediaError(.system, "statvfs", path, detail: "it is not a directory")
        }
        guard access(path, W_OK | X_OK) == 0 else { throw .last("open", path) }
        return path
    }
}
