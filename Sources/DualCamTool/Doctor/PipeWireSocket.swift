import Glibc
import Platform

/// The socket of PipeWire.
enum PipeWireSocket {
    /// Returns `true` if a process accepts connections at `path`.
    static func accepts(_ path: String) -> Bool {
        let type =
            CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
            | CInt(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { return false }
        let socket = Descriptor(owning: number)
        return withSocketAddress(path) { connect(socket.number, $0, $1) } == 0
    }
}
