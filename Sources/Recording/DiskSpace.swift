import Glibc

/// How much room there is for a recording.
package struct DiskSpace: Hashable, Sendable {
    /// Bytes that we may still write.
    package let free: Int64
    /// Bytes that the file system has.
    package let total: Int64

    /// A file system of `total` bytes, of which `free` are left to us.
    package init(free: Int64, total: Int64) {
        self.free = free
        self.total = total
    }

    /// What there is at `path` (statvfs(3)). Throws `notFound`, `denied` or `system`.
    package init(at path: String) throws(RecordingError) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw .last("statvfs", path) }
        self.init(status)
    }

    /// What there is where the open file `descriptor` is, wherever that was moved (fstatvfs(3)); `nil` where
    /// the system does not say.
    init?(of descriptor: CInt) {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: statvfs) {
        func bytes(_ blocks: fsblkcnt_t) -> Int64 {
            let (count, isTooMuch) = UInt64(blocks)
                .multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return isTooMuch ? .max : Int64(clamping: count)
        }
        free = bytes(status.f_bavail)
        total = bytes(status.f_blocks)
    }

    /// Whether somebody should be warned: less than 500 MB, or than half of a small file system.
    package var isLow: Bool { free < min(500_000_000, total / 2) }

    /// Whether recording has to stop while files can still be ended well: less than 100 MB, or than an
    /// eighth of a small file system.
    package var isExhausted: Bool { free < min(100_000_000, total / 8) }
}
