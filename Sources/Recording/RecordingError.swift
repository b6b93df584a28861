import CAV
import Glibc
import Platform

/// Why something cannot be recorded, or no longer.
package struct RecordingError: Error, Hashable, CustomStringConvertible {
    /// What went wrong, by what can be done about it.
    package enum Code: String, Hashable, Sendable {
        /// The disk, or the user's share of it, is full.
        case noSpace
        /// We may not write there.
        case denied
        /// FFmpeg's libraries are not there, or have nothing that encodes this.
        case unsupported
        /// There is nothing in the file that can be read.
        case unreadable
        /// There is no such file.
        case notFound
        /// The system refused for a reason of its own, such as a broken disk.
        case system
    }

    /// What went wrong.
    package let code: Code
    /// What was being done, as its manual names it: "write", "avcodec_open2".
    package let operation: String
    /// What it was done to: a path, an encoder; empty where there is nothing to name.
    package let subject: String
    /// The errno, 0 where there was none.
    package let errno: CInt
    /// What else a person should know, such as what libav said.
    package let detail: String

    /// `code`, as it came of `operation` on `subject`.
    package init(
        _ code: Code,
        _ operation: String,
        _ subject: String = "",
        errno: CInt = 0,
        detail: String = ""
    ) {
        self.code = code
        self.operation = operation
        self.subject = subject
        self.errno = errno
        self.detail = detail
    }

    /// The failure of the system call just made, on this thread.
    static func last(_ operation: String, _ subject: String) -> RecordingError {
        RecordingError(Code(errno: Glibc.errno), operation, subject, errno: Glibc.errno)
    }

    /// The failure of a call of libav's that returned `result`.
    static func libav(
        _ operation: String,
        _ subject: String,
        _ result: CInt,
        _ code: Code = .system
    ) -> RecordingError {
        var text = [CChar](repeating: 0, count: 128)
        av_strerror(result, &text, text.count)
        let reason = text.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let known = Code(errno: -result)
        return known == .system
            ? RecordingError(code, operation, subject, detail: reason)
            : RecordingError(known, operation, subject, errno: -result)
    }

    /// "write /home/…/back.mkv: No space left on device".
    package var description: String {
        describe(operation, subject, errno: errno, detail: detail, otherwise: code.rawValue)
    }
}

extension RecordingError.Code {
    /// What `errno` means here.
    init(errno: CInt) {
        self =
            switch errno {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case EACCES, EPERM, EROFS: .denied
            case ENOENT: .notFound
            default: .system
            }
    }
}

/// Loads libav, which tells nobody else what it does. Throws `unsupported` when it is not there.
func loadLibraries() throws(RecordingError) {
    guard cav_load() else {
        throw RecordingError(
            .unsupported,
            "dlopen",
            detail: "FFmpeg's libraries are not there"
        )
    }
    av_log_set_level(AV_LOG_QUIET)
}
