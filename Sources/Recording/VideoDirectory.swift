import Glibc
import Platform

/// Where recordings go.
package enum VideoDirectory {
    /// The directory, made where it was not there: the one that is `configured`, else DualCam in the user's Videos
    /// directory, as user-dirs.dirs(5) has it. May begin with "~/".
    ///
    /// Throws `denied`, `noSpace` or `system`.
    package static func path(configured: String?) throws(RecordingError) -> String {
        let path = UserDirectory.videos.place(configured: configured) ?? ""
        guard path.hasPrefix("/") else {
            throw RecordingError(.system, "mkdir", path, errno: ENOENT, detail: "no whole path")
        }
        do throws(SystemError) {
            try makeDirectory(path)
        } catch {
            let code = RecordingError.Code(errno: error.errno)
            throw RecordingError(code, error.operation, error.subject, errno: error.errno)
        }
        guard access(path, W_OK | X_OK) == 0 else { throw .last("open", path) }
        return path
    }
}
