import Glibc
package import Platform

/// A small file system, for tests of a full one; unmounted when it is released.
///
/// Needs the right to mount: root, or the namespace in which tools/test runs the tests of users.
package final class SmallDisk {
    private let path: String

    /// Mounts a disk for `size` bytes at `path`; `size` may end in k or m.
    package init(at path: String, size: String) throws(SystemError) {
        try makeDirectory(path)
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else {
            throw .last("mount", path)
        }
        self.path = path
    }

    /// Changes its size to `size` bytes. Returns `false` if it holds more.
    package func resize(to size: UInt) -> Bool {
        mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=\(size)") == 0
    }

    deinit { umount2(path, CInt(MNT_DETACH)) }
}
