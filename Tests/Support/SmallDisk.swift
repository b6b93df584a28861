import Glibc
package import Platform

/// A small file system, as a full one is not to be had otherwise; gone when it is released.
///
/// For root, or whoever may mount: tools/test gives users a namespace in which they may.
package final class SmallDisk {
    private let path: String

    /// A disk for `size` bytes at `path`, an existing directory; `size` may end in k or m.
    package init(at path: String, size: String) throws(SystemError) {
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else {
            throw .last("mount", path)
        }
        self.path = path
    }

    /// Whether it has room for `size` bytes from now on: not where more is on it.
    package func resize(to size: UInt) -> Bool {
        mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=\(size)") == 0
    }

    deinit { umount2(path, CInt(MNT_DETACH)) }
}
