import Glibc

/// The number of descriptors that the process may open: RLIMIT_NOFILE.
package enum DescriptorLimit {
    /// Raises it as far as the system allows. The usual 1024 are few for photographs that many
    /// programs ask for at once; select(2), their reason, is not used.
    package static func raise() { set { $0.rlim_max } }

    /// Lowers it to the usual 1024, for a process that the daemon has started.
    package static func lower() { set { min(1024, $0.rlim_max) } }

    private static func set(_ soft: (rlimit) -> rlim_t) {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return }
        limits.rlim_cur = soft(limits)
        // A process may always do this; without it, it goes on with fewer.
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    }
}
