import Glibc
import Platform

/// Reports when PipeWire's socket appears, by inotify(7). Bound to its event loop's thread.
final class SocketWatch {
    private let inotify: Descriptor
    private var watch: EventLoop.Watch?

    /// Watches for the socket called `remote`, a name or a path, or for the user's if it is `nil`.
    /// Returns `nil` if the directory does not exist or cannot be watched.
    init?(loop: EventLoop, remote: String?, onAppearance: @escaping () -> Void) {
        guard let path = pipeWireSocketPath(remote), let slash = path.lastIndex(of: "/") else {
            return nil
        }
        let directory = String(path[...slash])
        let name = String(path[path.index(after: slash)...])
        let number = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        guard number >= 0 else { return nil }
        inotify = Descriptor(owning: number)
        guard inotify_add_watch(number, directory, UInt32(IN_CREATE | IN_MOVED_TO)) >= 0 else {
            return nil
        }
        watch = try? loop.watch(number, for: .readable) { _ in
            if Self.reads(name, from: number) { onAppearance() }
        }
    }

    deinit { watch?.cancel() }

    /// Reads all pending events of `inotify`. Returns `true` if one is about the file `name`.
    private static func reads(_ name: String, from inotify: CInt) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            var isThere = false
            while true {
                let count = read(inotify, buffer.baseAddress, buffer.count)
                guard count > 0 else { return isThere }
                var offset = 0
                while offset < count {
                    let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
                    offset += MemoryLayout<inotify_event>.size
                    let text = UnsafeRawBufferPointer(buffer)[offset..<offset + Int(event.len)]
                    isThere = isThere || text.prefix { $0 != 0 }.elementsEqual(name.utf8)
                    offset += Int(event.len)
                }
            }
        }
    }
}
