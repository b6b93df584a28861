import Glibc

/// The room of a file system for recordings.
package struct DiskSpace: Hashable, Sendable {
    /// The bytes that this user may still write.
    package let free: Int64
    /// The capacity of the file system, in bytes.
    package let total: Int64

    /// Creates the description of a file system of `total` bytes with `free` bytes left.
    package init(free: Int64, total: Int64) {
        self.free = free
        self.total = total
    }

    /// Reads the room of the file system at `path` with statvfs(3).
    ///
    /// - Throws: `notFound`, `denied` or `system`.
    package init(at path: String) throws(MediaError) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw .last("statvfs", path) }
        self.init(status)
    }

    /// Reads the room of the file system that holds the open file `descriptor`, even if the file
    /// was moved, with fstatvfs(3). `nil` if the call fails.
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

    /// `true` below the level for a warning: 500 MB, or half of a small file system.
    package var isLow: Bool { free < min(500_000_000, total / 2) }

    /// `true` below the level at which recording has to stop, while files can still be finished:
    /// 100 MB, or an eighth of a small file system.
    package var isExhausted: Bool { free < kept }

    /// The bytes that recordings leave free.
    private var kept: Int64 { min(100_000_000, total / 8) }

    /// The bytes that can still be recorded.
    package var left: Int64 { max(0, free - kept) }

    /// The reason that nothing more is recorded, once it `isExhausted`.
    package var shortage: String {
        "the disk is nearly full: \(free / 1_000_000) MB are left, and DualCam keeps "
            + "\(kept / 1_000_000) MB free"
    }
}
