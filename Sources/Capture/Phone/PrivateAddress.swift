import Glibc
import Platform

/// An IPv4 address of this computer in a private network, such as a home's or a phone's hotspot.
package struct PrivateAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address in the network's byte order.
    let number: UInt32
    /// The name of the interface: "wlan0".
    package let interface: String

    /// "192.168.1.4".
    package var description: String {
        withUnsafeBytes(of: number) { $0.map(String.init).joined(separator: ".") }
    }

    /// Returns `true` for an address in 10/8, 172.16/12, 192.168/16 or 169.254/16.
    static func isPrivate(_ number: UInt32) -> Bool {
        let host = UInt32(bigEndian: number)
        return host >> 24 == 10 || host >> 20 == 0xac1 || host >> 16 == 0xc0a8
            || host >> 16 == 0xa9fe
    }

    /// The addresses that this computer has now, that of the default route first.
    package static var all: [PrivateAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        let found = sequence(first: list) { $0?.pointee.ifa_next }.compactMap { entry in
            guard let entry = entry?.pointee, let address = entry.ifa_addr,
                address.pointee.sa_family == AF_INET, entry.ifa_flags & UInt32(IFF_UP) != 0,
                entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0
            else { return nil as PrivateAddress? }
            let number = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
                .sin_addr.s_addr
            return isPrivate(number)
                ? PrivateAddress(number: number, interface: String(cString: entry.ifa_name)) : nil
        }
        // The one whose destination is everywhere.
        let routes = ((try? readText("/proc/net/route", limit: 1 << 16)) ?? "").split(
            separator: "\n"
        )
        .map { $0.split(separator: "\t") }
        let usual = routes.first { $0.count > 1 && $0[1] == "00000000" }.map { String($0[0]) }
        return found.filter { $0.interface == usual } + found.filter { $0.interface != usual }
    }
}

/// A socket that waits for connections at one private address.
struct PhoneListener: ~Copyable {
    let descriptor: Descriptor
    let port: Int

    /// The ports, of which the first free one is taken.
    static let ports = 8447...8455

    /// Listens at `address` and port `wanted`, or where that is taken at another of `ports`, of
    /// those that are not in `others` first.
    ///
    /// - Throws: the errno of bind(2), or of another call.
    init(
        at address: PrivateAddress,
        port wanted: Int?,
        avoiding others: Set<Int>
    ) throws(SystemError) {
        precondition(PrivateAddress.isPrivate(address.number), "a public address")
        let free = Self.ports.filter { !others.contains($0) }
        var failure = SystemError("bind", "\(address)", errno: EADDRINUSE)
        for port in [wanted].compactMap({ $0 }) + free + Self.ports.filter(others.contains) {
            let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
            let number = socket(AF_INET, CInt(flags), 0)
            guard number >= 0 else { throw .last("socket") }
            let descriptor = Descriptor(owning: number)
            // Connections of a helper that has just ended do not keep the port.
            var isReused: CInt = 1
            setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &isReused, 4)
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_addr.s_addr = address.number
            name.sin_port = in_port_t(port).bigEndian
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isListening = withUnsafeBytes(of: &name) { bytes in
                let place = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
                return bind(number, place, length) == 0 && listen(number, 16) == 0
            }
            if isListening {
                self.descriptor = descriptor
                self.port = port
                return
            }
            failure = .last("bind", "\(address):\(port)")
            guard failure.errno == EADDRINUSE else { break }
        }
        throw failure
    }
}
