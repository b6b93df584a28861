import CAV
import Glibc
import Platform

/// A new file that libavformat writes to.
///
/// - Context: bound to one thread at a time.
final class OutputFile {
    /// Where it was created.
    let path: String
    /// What libavformat calls. Never `nil` while this lives.
    private(set) var io: UnsafeMutablePointer<AVIOContext>?
    /// How a write failed first; 0 while none did.
    private(set) var failure: CInt = 0
    /// Whether what is written now may be the header of a Matroska file, which is written again at the end.
    var isHeader = false
    private let file: Descriptor
    /// How long it was when it was last known to end well.
    private var wholeLength: off_t = 0

    /// Creates `path`, which must not exist, with the access rights `mode` but for the umask.
    init(creating path: String, mode: UInt32) throws(RecordingError) {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let number = open(path, flags, mode)
        guard number >= 0 else { throw .last("open", path) }
        file = Descriptor(owning: number)
        self.path = path
        let size = 1 << 16
        let memory = av_malloc(size)?.assumingMemoryBound(to: UInt8.self)
        // Not retained: `deinit` frees what calls it.
        io = cav_alloc_output(
            memory,
            CInt(size),
            Unmanaged.passUnretained(self).toOpaque(),
            { context, bytes, count in
                guard let context, let bytes else { return -EINVAL }
                let file = Unmanaged<OutputFile>.fromOpaque(context).takeUnretainedValue()
                return file.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            },
            { context, offset, origin in
                guard let context else { return Int64(-EINVAL) }
                let file = Unmanaged<OutputFile>.fromOpaque(context).takeUnretainedValue()
                return file.seek(offset, from: origin)
            }
        )
        guard memory != nil, io != nil else {
            throw RecordingError(.system, "avio_alloc_context", path, errno: ENOMEM)
        }
    }

    deinit {
        if let io {
            // It may have replaced the memory that it was given.
            var memory: UnsafeMutablePointer<UInt8>? = io.pointee.buffer
            av_freep(&memory)
        }
        avio_context_free(&io)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> CInt {
        isHeader ? makeFlat(bytes).withUnsafeBytes(writeAll) : writeAll(bytes)
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer) -> CInt {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = retryingInterrupts {
                Glibc.write(file.number, part.baseAddress, part.count)
            }
            guard count > 0 else {
                if failure == 0 { failure = count < 0 ? errno : EIO }
                return -failure
            }
            rest = rest.dropFirst(count)
        }
        return CInt(bytes.count)
    }

    private func seek(_ offset: Int64, from origin: CInt) -> Int64 {
        let origin = origin & ~AVSEEK_FORCE
        if origin == AVSEEK_SIZE {
            var status = stat()
            return fstat(file.number, &status) == 0 ? Int64(status.st_size) : Int64(-errno)
        }
        let place = lseek(file.number, off_t(offset), origin)
        return place < 0 ? Int64(-errno) : Int64(place)
    }

    /// These bytes, with the flat projection that we mean in place of one on a sphere, of which libavformat writes
    /// the roll.
    ///
    /// A workaround for libavformat before 6.1, which writes no rotation of flat pictures to Matroska. In RFC 9559
    /// ProjectionType (0x7671) is 0 for rectangular, and without the ProjectionPrivate (0x7672) that is
    /// there for a sphere (1): its place becomes a Void (0xEC).
    private func makeFlat(_ header: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes = Array(header)
        let sphere: [UInt8] =
            [0x76, 0x71, 0x81, 1, 0x76, 0x72, 0x94] + [UInt8](repeating: 0, count: 20)
        guard bytes.count >= sphere.count else { return bytes }
        for start in 0...bytes.count - sphere.count
        where bytes[start] == sphere[0]
            && bytes[start..<start + sphere.count].elementsEqual(sphere)
        {
            bytes[start + 3] = 0
            bytes[start + 4] = 0xEC
            bytes[start + 5] = 0x80 | 21
            bytes[start + 6] = 0
        }
        return bytes
    }

    /// Writes everything to the file.
    func flush() throws(RecordingError) {
        avio_flush(io)
        guard failure == 0 else { throw error("write") }
        var status = stat()
        if fstat(file.number, &status) == 0 { wholeLength = status.st_size }
    }

    /// Puts everything on the disk: a power cut takes none of it. Waits for the disk.
    func sync() throws(RecordingError) {
        try flush()
        // What cannot be synchronised, such as a pipe, says EINVAL.
        guard fdatasync(file.number) == 0 || errno == EINVAL else { throw .last("fdatasync", path) }
    }

    /// After a failure: cuts off what came after the last `flush()`, of which the end is missing.
    ///
    /// Where that fails, too, it ends in the middle as after a power cut: players stop there.
    func cutBack() { _ = retryingInterrupts { Int(ftruncate(file.number, wholeLength)) } }

    /// How much room there is where it is now; `nil` where the system does not say.
    var space: DiskSpace? { DiskSpace(of: file.number) }

    /// Its length in bytes; 0 where the system does not say.
    var byteCount: Int64 {
        var status = stat()
        return fstat(file.number, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// What became of a call of libavformat's that writes here.
    func error(_ operation: String, _ result: CInt = 0) -> RecordingError {
        guard failure != 0 else { return .libav(operation, path, result) }
        return RecordingError(.init(errno: failure), "write", path, errno: failure)
    }
}
