import Glibc
import Platform

/// The socket of PipeWire: https://docs.pipewire.org/page_man_pipewire_1.html.
enum PipeWireSocket {
    /// The path of the socket; `nil` if the environment does not determine it.
    static var path: String? {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        let name = variable("PIPEWIRE_REMOTE") ?? "pipewire-0"
        if name.hasPrefix("/") { return name }
        let directory = variable("PIPEWIRE_RUNTIME_DIR") ?? variable("XDG_RUNTIME_DIR")
        return directory.map { "\($0)/\(name)" }
    }

    /// Returns `true` if a process accepts connections at `path`.
    static func accepts(_ path: String) -> Bool {
        let type =
            CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
            | CInt(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { return false }
        let socket = Descriptor(owning: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard path.utf8.count <= room else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
