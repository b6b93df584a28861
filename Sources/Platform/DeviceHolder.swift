import Glibc

/// A program that has a device open.
package struct DeviceHolder: Hashable, Sendable, CustomStringConvertible {
    /// The program's name as the kernel keeps it, 15 bytes at most.
    package let name: String
    package let process: Int32

    /// "firefox (1234)".
    package var description: String { "\(name) (\(process))" }
}

/// Returns the other programs that have the device file `path` open. It covers what /proc shows:
/// users see only their own programs. Takes some milliseconds.
package func holders(of path: String) -> [DeviceHolder] {
    var device = stat()
    guard stat(path, &device) == 0 else { return [] }
    return entries(of: "/proc").compactMap { pid in
        guard let number = Int32(pid), number != getpid() else { return nil }
        let isHolder = entries(of: "/proc/\(pid)/fd").contains { descriptor in
            var file = stat()
            return stat("/proc/\(pid)/fd/\(descriptor)", &file) == 0
                && file.st_rdev == device.st_rdev && file.st_mode & S_IFMT == S_IFCHR
        }
        guard isHolder else { return nil }
        return DeviceHolder(
            name: content("/proc/\(pid)/comm") ?? "a program",
            process: number
        )
    }
}
