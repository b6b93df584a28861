import DBusKit
import Glibc
import Platform

/// Tells programs in a sandbox, Flatpak or Snap, from others.
enum Sandbox {
    /// Returns `true` if a program runs in a sandbox, or if that cannot be told.
    ///
    /// Flatpak puts `.flatpak-info` into the root of each sandbox, and of the proxy through which
    /// the programs in it reach the bus (flatpak-metadata(5)). Snap gives each program a label of
    /// AppArmor and a cgroup, "snap." and its name. May block as long as the file system that is
    /// the program's root: never on `main`.
    static func confines(_ program: Credentials) -> Bool {
        // Root may do everything anyway, and its processes cannot be looked at.
        if program.user == 0, geteuid() != 0 { return false }
        if program.securityLabel?.hasPrefix("snap.") ?? false { return true }
        guard let process = program.process, process > 0 else { return true }
        let isConfined = confines(process)
        // If it has ended, what was read may be about another process of the same number.
        if let descriptor = program.processDescriptor {
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, 0) != 0 { return true }
        }
        return isConfined
    }

    private static func confines(_ process: UInt32) -> Bool {
        let root = open("/proc/\(process)/root", __O_PATH | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { return true }
        defer { close(root) }
        var status = stat()
        let isFlatpak = fstatat(root, ".flatpak-info", &status, AT_SYMLINK_NOFOLLOW) == 0
        guard !isFlatpak, errno == ENOENT else { return true }
        guard let group = try? readFile("/proc/\(process)/cgroup", limit: 1 << 16) else {
            return true
        }
        return String(decoding: group, as: UTF8.self).contains("/snap.")
    }
}
