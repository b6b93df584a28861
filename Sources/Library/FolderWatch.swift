import Glibc
import Platform

/// Tells what happens in directories: inotify(7).
///
/// - Context: bound to one thread at a time.
final class FolderWatch {
    /// What happened. Its bits are those of inotify.
    struct Change: OptionSet {
        let rawValue: UInt32
        /// A file came, went, was written or has other rights (IN_CREATE, IN_MOVED_TO, IN_CLOSE_WRITE, IN_DELETE,
        /// IN_MOVED_FROM, IN_ATTRIB).
        static let content = Change(rawValue: 0x100 | 0x080 | 0x008 | 0x200 | 0x040 | 0x004)
        /// A name came (IN_CREATE, IN_MOVED_TO).
        static let arrival = Change(rawValue: 0x100 | 0x080)
        /// The directory itself went elsewhere or is no more (IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT).
        static let itself = Change(rawValue: 0x400 | 0x800 | 0x2000)
        /// More happened than there was room for (IN_Q_OVERFLOW).
        static let overflow = Change(rawValue: 0x4000)
        /// What happened to a directory (IN_ISDIR).
        static let folder = Change(rawValue: 0x4000_0000)
        /// The kernel watches it no more (IN_IGNORED).
        static let ignored = Change(rawValue: 0x8000)
    }
    /// Something that happened.
    struct Event {
        /// Where: what `watch` gave; -1 where that is not known.
        let folder: CInt
        let change: Change
        /// The name in the directory; empty for the directory itself, `nil` for one that is no UTF-8.
        let name: String?
    }

    private let inotify: Descriptor

    /// Watches nothing yet. Throws when the user has as many as the system gives.
    init() throws(SystemError) {
        let number = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard number >= 0 else { throw .last("inotify_init1") }
        inotify = Descriptor(owning: number)
    }

    /// Readable when something happened; for epoll(7).
    var descriptor: CInt { inotify.number }

    /// Tells of `change` in the directory `path` from now on, beside what it tells already of it. Returns what the events
    /// call it.
    func watch(_ path: String, for change: Change) throws(SystemError) -> CInt {
        // IN_ONLYDIR, IN_MASK_ADD, IN_EXCL_UNLINK.
        let mask = change.rawValue & ~0x2000 | 0x0100_0000 | 0x2000_0000 | 0x0400_0000
        let number = inotify_add_watch(inotify.number, path, mask)
        guard number >= 0 else { throw .last("inotify_add_watch", path) }
        return number
    }

    /// What happened since the last time. Never blocks.
    func events() -> [Event] {
        var result: [Event] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = retryingInterrupts {
                buffer.withUnsafeMutableBytes { read(inotify.number, $0.baseAddress, $0.count) }
            }
            guard count > 0 else { return result }
            buffer.withUnsafeBytes { bytes in
                var start = 0
                while start + 16 <= count {
                    let length = Int(bytes.load(fromByteOffset: start + 12, as: UInt32.self))
                    let name = bytes[start + 16..<min(count, start + 16 + length)].prefix {
                        $0 != 0
                    }
                    result.append(
                        Event(
                            folder: bytes.load(fromByteOffset: start, as: Int32.self),
                            change: Change(
                                rawValue: bytes.load(fromByteOffset: start + 4, as: UInt32.self)
                            ),
                            name: String(validating: name, as: UTF8.self)
                        )
                    )
                    start += 16 + length
                }
            }
        }
    }
}
