import Glibc
import Media
import Platform

/// The directory of a new recording, and what else of the disk it needs before it begins.
struct RecordingPlace: Sendable {
    let folder: String
    /// The track of the sound, or why there is none; `nil` without a wish for it.
    let sound: Result<Track, MediaError>?

    /// Creates the directory if necessary: `configured`, which may begin with "~/", or else DualCam
    /// in the user's Videos directory. Tries `encoder`, if there is a wish for one. Waits for the
    /// disk. Throws `noSpace`, `denied`, `notFound`, `unsupported` or `system`.
    init(
        in configured: String?,
        _ encoder: VideoEncoder.Kind?,
        hasSound: Bool
    ) throws(MediaError) {
        folder = try Self.folder(configured)
        let space = try DiskSpace(at: folder)
        guard !space.isExhausted else { throw MediaError(.noSpace, "", detail: space.shortage) }
        if let encoder { try Self.check(encoder) }
        // The same thread, since the encoder's library is loaded from the disk.
        sound = hasSound ? Result { () throws(MediaError) in try Microphone.track() } : nil
    }

    private static func folder(_ configured: String?) throws(MediaError) -> String {
        let path = UserDirectory.videos.place(configured: configured) ?? ""
        guard path.hasPrefix("/") else {
            throw MediaError(.system, "mkdir", path, errno: ENOENT, detail: "no whole path")
        }
        do throws(SystemError) { try makeDirectory(path) } catch { throw MediaError(error) }
        var status = stat()
        guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFDIR else {
            throw MediaError(.system, "statvfs", path, detail: "it is not a directory")
        }
        guard access(path, W_OK | X_OK) == 0 else { throw .last("open", path) }
        return path
    }

    /// Opens `encoder` on trial. An error names one that works without a graphics processor.
    private static func check(_ encoder: VideoEncoder.Kind) throws(MediaError) {
        do throws(MediaError) {
            try VideoEncoder.check(encoder)
        } catch  where encoder == .vaapi {
            let detail = error.detail.isEmpty ? "" : "\(error.detail); "
            throw MediaError(
                error.code,
                error.operation,
                error.subject,
                errno: error.errno,
                detail: "\(detail)use the encoder x264 instead"
            )
        }
    }
}
