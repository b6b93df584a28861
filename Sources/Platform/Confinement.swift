import CSandbox
import Glibc

/// The rights that a process gives up before it reads what strangers made.
package enum Confinement {
    /// Takes from the calling thread, and from all that it starts later, the right to open files,
    /// to use the network, to gain privileges, and most other system calls: Landlock and seccomp.
    /// It keeps the descriptors that it has and those that it is sent.
    ///
    /// Each of the two is enough to keep it from files. A kernel may lack Landlock, and a filter of
    /// the service manager may refuse it.
    ///
    /// - Throws: the errno of the last refusal if the system allows neither.
    package static func enter() throws(SystemError) {
        let (files, calls) = (csandbox_leave_files(0), csandbox_leave_calls(0))
        guard files == 0 || calls == 0 else { throw SystemError("seccomp", errno: calls) }
    }

    /// Takes the same, except for sockets of the internet: by TCP to `port` alone where the kernel
    /// has Landlock 4 (Linux 6.7).
    ///
    /// - Throws: the errno of seccomp, without which the process could still reach the session bus.
    package static func enter(port: Int) throws(SystemError) {
        _ = csandbox_leave_files(CInt(port))
        let calls = csandbox_leave_calls(1)
        guard calls == 0 else { throw SystemError("seccomp", errno: calls) }
    }
}
