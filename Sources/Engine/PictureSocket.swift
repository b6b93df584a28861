import Glibc
package import Platform

/// The sending end of a socket for small JPEGs, of which a slow reader gets the newest. Before each
/// JPEG comes its length in bytes, a number of four bytes, the highest first. Sending never blocks.
/// A picture is sent once the reader has taken the one before. Bound to one thread.
package final class PictureSocket {
    private let end: Descriptor
    /// The rest of a picture that did not fit.
    private var rest: ArraySlice<UInt8> = []

    /// Creates a socket, and passes its other end on, which can only be read and blocks. Throws
    /// EMFILE or ENFILE if there are no descriptors left.
    package init(_ takeReader: (consuming Descriptor) -> Void) throws(SystemError) {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .last("socketpair") }
        let reader = Descriptor(owning: ends[0])
        end = Descriptor(owning: ends[1])
        guard shutdown(reader.number, CInt(SHUT_WR)) == 0 else { throw .last("shutdown") }
        takeReader(reader)
    }

    /// `true` once the other end is closed.
    package var isLeft: Bool {
        var entry = pollfd(fd: end.number, events: 0, revents: 0)
        return poll(&entry, 1, 0) > 0 && Int32(entry.revents) & (POLLERR | POLLHUP) != 0
    }

    /// `true` if the reader has taken all pictures. Goes on sending one that did not fit.
    package var isTaken: Bool {
        sendRest()
        var count: CInt = 0
        return rest.isEmpty && ioctl(end.number, UInt(TIOCOUTQ), &count) == 0 && count == 0
    }

    /// Sends a picture, as much of it as fits now.
    ///
    /// - Precondition: `isTaken` was `true`.
    package func send(_ jpeg: [UInt8]) {
        precondition(rest.isEmpty, "a picture within another")
        let length = UInt32(jpeg.count).bigEndian
        rest = (withUnsafeBytes(of: length) { Array($0) } + jpeg)[...]
        sendRest()
    }

    private func sendRest() {
        while !rest.isEmpty {
            let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
            let count = rest.withUnsafeBytes { bytes in
                retryingInterrupts { Glibc.send(end.number, bytes.baseAddress, bytes.count, flags) }
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
