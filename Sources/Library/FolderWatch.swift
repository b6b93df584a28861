import Glibc
import Platform

/// Watches directories for changes with inotify(7).
///
/// - Context: One thread at a time.
final class FolderWatch {
    /// A set of changes, with the bits of inotify.
    struct Change: OptionSet {
        let rawValue: UInt32
        /// A file was created, removed, moved or written, or its attributes changed (IN_CREATE,
        /// IN_MOVED_TO, IN_CLOSE_WRITE, IN_DELETE, IN_MOVED_FROM, IN_ATTRIB).
        static let content = Change(rawValue: 0x100 | 0x080 | 0x008 | 0x200 | 0x040 | 0x004)
        /// A name was added (IN_CREATE, IN_MOVED_TO).
        static let arrival = Change(rawValue: 0x100 | 0x080)
        /// The directory itself was moved, removed or unmounted (IN_DELETE_SELF, IN_MOVE_SELF,
        /// IN_UNMOUNT).
        static let itself = Change(rawValue: 0x400 | 0x800 | 0x2000)
        /// Events were lost for lack of room (IN_Q_OVERFLOW).
        static let overflow = Change(rawValue: 0x4000)
        /// The change concerns a directory (IN_ISDIR).
        static let folder = Change(rawValue: 0x4000_0000)
        /// The kernel has ended the watch (IN_IGNORED).
        static let ignored = Change(rawValue: 0x8000)
    }
    /// One change in a directory.
    struct Event {
        /// The directory as returned by `watch`, or -1 if unknown.
        let folder: CInt
        let change: Change
        /// The name in the directory: empty for the directory itself, `nil` if it is not UTF-8.
        let name: String?
    }

    private let inotify: Descriptor

    /// Creates a watch of no directories.
    ///
    /// - Throws: `SystemError` when the user has no inotify instance or descriptor left.
    init() throws(SystemError) {
        let number = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard number >= 0 else { throw .last("inotify_init1") }
        inotify = Descriptor(owning: number)
    }

    /// A descriptor for epoll(7), readable while there are events.
    var descriptor: CInt { inotify.number }

    /// Adds `change` to the changes watched for in the directory `path`, and returns the number
    /// that its events will bear.
    ///
    /// - Throws: `SystemError` of inotify_add_watch(2).
    func watch(_ path: String, for change: Change) throws(SystemError) -> CInt {
        // IN_ONLYDIR, IN_MASK_ADD, IN_EXCL_UNLINK.
        let mask = change.rawValue & ~0x2000 | 0x0100_0000 | 0x2000_0000 | 0x0400_0000
        let number = inotify_add_watch(inotify.number, path, mask)
        guard number >= 0 else { throw .last("inotify_add_watch", path) }
        return number
    }

    /// Returns the events since the last call. Does not wait.
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
