import CLinux
import Glibc

/// A way to write to another program's pipe that never waits for room, whatever its flags are and
/// whoever else writes: the kernel moves the bytes from a pipe of ours. Bound to one thread.
package final class PipeFeed {
    private let reader: Descriptor
    private let writer: Descriptor
    /// The number of bytes that are still to be moved.
    private var staged = 0

    /// Opens the pipe in between. Throws EMFILE or ENFILE if there are no descriptors left.
    package init() throws(SystemError) {
        var ends: [CInt] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { throw .last("pipe2") }
        reader = Descriptor(owning: ends[0])
        writer = Descriptor(owning: ends[1])
    }

    /// Writes as much of `bytes` to `pipe` as there is room for, as write(2) without waiting does.
    /// The next call has to begin with what was not written.
    package func write(_ bytes: UnsafeRawBufferPointer, to pipe: CInt) -> Int {
        if staged == 0 { staged = Glibc.write(writer.number, bytes.baseAddress, bytes.count) }
        guard staged > 0 else { return -1 }
        let count = clinux_move(reader.number, pipe, staged)
        staged -= max(0, count)
        return count
    }
}
