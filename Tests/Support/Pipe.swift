import Glibc
package import Platform

/// Creates a pipe, and returns the ends to read from and to write to.
///
/// Programs that other tests start meanwhile do not inherit it: one would hold it open. Glibc's
/// module has no pipe2(2), so it is a FIFO whose name is removed.
package func unsharedPipe() throws(SystemError) -> (reader: CInt, writer: CInt) {
    let scratch = try ScratchDirectory()
    defer { scratch.remove() }
    let path = "\(scratch.path)/pipe"
    guard mkfifo(path, 0o600) == 0 else { throw .last("mkfifo", path) }
    // Without O_NONBLOCK it would wait for a writer.
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard reader >= 0 else { throw .last("open", path) }
    let writer = open(path, O_WRONLY | O_CLOEXEC)
    guard writer >= 0, fcntl(reader, F_SETFL, 0) == 0 else {
        let error = SystemError.last("open", path)
        close(reader)
        close(writer)
        throw error
    }
    return (reader, writer)
}

/// Creates a pipe as `unsharedPipe()` does, which holds no more than a page of 4096 bytes.
package func onePagePipe() throws(SystemError) -> (reader: CInt, writer: CInt) {
    let ends = try unsharedPipe()
    // F_SETPIPE_SZ, which Glibc's module does not have.
    guard fcntl(ends.writer, 1031, 4096) == 4096 else { throw .last("fcntl") }
    return ends
}
