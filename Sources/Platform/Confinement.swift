import CSandbox
import Glibc

/// The rights that a process gives up before it reads what strangers made.
package enum Confinement {
    /// Takes from the calling thread, and from all that it starts later, the right to open files,
    /// to use the network, to gain privileges, and most other system calls: Landlock and seccomp.
    /// It keeps the descriptors that it has and those that it is sent.
    ///
    /// Each of the two is enough to keep it from files. A kernel may lack Landlock, and a filter of
    /// the service manager may refuse it. Throws the errno of the last refusal if the system allows
    /// neither.
    package static func enter() throws(SystemError) {
        let files = csandbox_leave_files(csandbox_nobody)
        let calls = csandbox_leave_calls(csandbox_nobody)
        guard files == 0 || calls == 0 else { throw SystemError("seccomp", errno: calls) }
    }

    /// Takes the same, except for connections to `peer`, which a process of its own makes, on every
    /// kernel: without it, no socket of this process leads anywhere. Throws the errno of clone(2),
    /// or of seccomp, without which the process could still reach the session bus.
    package static func enter(reaching peer: Peer) throws(SystemError) {
        for address in peer.addresses { csandbox_add_peer(address, address.count) }
        _ = csandbox_leave_files(csandbox_peers)
        let serving = csandbox_serve_peers(peer.usesDatagrams)
        guard serving == 0 else { throw SystemError("posix_spawn", errno: serving) }
        let calls = csandbox_leave_calls(csandbox_peers)
        guard calls == 0 else { throw SystemError("seccomp", errno: calls) }
    }

    /// Takes the same, except for connections that others make to a socket which listens already,
    /// on every kernel. Throws the errno of seccomp, without which the process could connect.
    package static func enterServing() throws(SystemError) {
        _ = csandbox_leave_files(csandbox_guests)
        let calls = csandbox_leave_calls(csandbox_guests)
        guard calls == 0 else { throw SystemError("seccomp", errno: calls) }
    }

    /// The only other end that a confined process may reach: sockaddrs with a port, by TCP or UDP.
    package typealias Peer = (addresses: [[UInt8]], usesDatagrams: Bool)
}
