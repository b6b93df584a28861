import Glibc
import Platform

/// The socket of Sway, and of what answers as it does: sway-ipc(7).
///
/// - Context: a thread that may wait: for two seconds at most.
struct SwaySocket: Sendable {
    private let path: String

    /// The kinds of messages that are asked.
    enum Message: UInt32 {
        case command = 0
        case tree = 4
    }

    private static let magic = Array("i3-ipc".utf8)
    /// The greatest answer that is read, in bytes.
    private static let limit: UInt32 = 16 << 20

    /// Creates the socket that the environment names; `nil` if this is no desktop of Sway's.
    init?() {
        guard let path = environmentVariable("SWAYSOCK"), path.hasPrefix("/") else { return nil }
        self.path = path
    }

    /// Asks, and returns the answer, JSON; `nil` if there is none.
    func ask(_ message: Message, _ words: String = "") -> String? {
        guard let socket = connected() else { return nil }
        func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
        let body = Array(words.utf8)
        let question = Self.magic + bytes(UInt32(body.count)) + bytes(message.rawValue) + body
        guard send(question, socket.number), let head = receive(14, socket.number) else {
            return nil
        }
        let length = head[6..<10].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard head.starts(with: Self.magic), length <= Self.limit,
            let answer = receive(Int(length), socket.number)
        else { return nil }
        return String(validating: answer, as: UTF8.self)
    }

    private func connected() -> Descriptor? {
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { return nil }
        let socket = Descriptor(owning: number)
        var patience = timeval(tv_sec: 2, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        guard withSocketAddress(path, { connect(number, $0, $1) }) == 0 else { return nil }
        return socket
    }

    private func send(_ bytes: [UInt8], _ number: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    private func receive(_ count: Int, _ number: CInt) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var got = 0
        while got < count {
            let more = bytes.withUnsafeMutableBytes {
                recv(number, $0.baseAddress?.advanced(by: got), count - got, 0)
            }
            if more < 0, errno == EINTR { continue }
            guard more > 0 else { return nil }
            got += more
        }
        return bytes
    }
}
