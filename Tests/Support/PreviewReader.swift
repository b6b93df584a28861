package import DBusKit
import Glibc
package import Platform
import Synchronization

/// The end of a preview's socket that a program reads.
package final class PreviewReader: Sendable {
    private let end: Mutex<SharedDescriptor?>

    /// Reads from `descriptor`, and closes it at the end.
    package init(_ descriptor: consuming Descriptor) { end = Mutex(SharedDescriptor(descriptor)) }

    /// Reads from `descriptor`, and lets go of it at the end.
    package init(_ descriptor: SharedDescriptor) { end = Mutex(descriptor) }

    /// Waits for the next picture, a JPEG; returns `nil` once there will be none.
    ///
    /// - Throws: An error after 20 seconds, or if the end comes within a picture.
    package func picture() throws -> [UInt8]? {
        guard let length = try bytes(4) else { return nil }
        let picture = try bytes(length.reduce(0) { $0 << 8 | Int($1) })
        guard let picture else { throw ServiceFailed(description: "a length without a picture") }
        return picture
    }

    /// Closes the end.
    package func close() { end.withLock { $0 = nil } }

    private var number: CInt? { end.withLock { $0?.number } }

    private func bytes(_ count: Int) throws -> [UInt8]? {
        guard let number else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < count {
            var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 20_000) > 0 else { throw TimedOut("a picture", after: 20) }
            var part = [UInt8](repeating: 0, count: count - bytes.count)
            let got = read(number, &part, part.count)
            if got <= 0, bytes.isEmpty { return nil }
            guard got > 0 else { throw ServiceFailed(description: "a part of a picture") }
            bytes += part[..<got]
        }
        return bytes
    }
}
