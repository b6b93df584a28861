import Glibc

/// The programs that have the device file `path` open, as "firefox (1234)", this one left out.
///
/// As far as /proc shows: a user sees the own programs only. Takes some milliseconds.
func holders(of path: String) -> [String] {
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
        return "\(content("/proc/\(pid)/comm") ?? "a program") (\(pid))"
    }
}
