import CAV
import Glibc
import Platform

/// A new file that libavformat writes to.
///
/// - Context: One thread at a time.
final class OutputFile {
    /// The path at which the file was created.
    let path: String
    /// The context for libavformat. Never `nil` during the life of the file.
    private(set) var io: UnsafeMutablePointer<AVIOContext>?
    /// The errno of the first write that failed, or 0.
    private(set) var failure: CInt = 0
    /// `true` while the bytes written may be a Matroska header, which is written again at the end.
    var isHeader = false
    private let file: CInt
    /// The same file; `nil` if it belongs to someone else.
    private let owned: OwnedFile?
    /// The length in bytes after the last successful flush.
    private var wholeLength: off_t = 0

    /// Creates `path`, which must not exist, with the access rights `mode` under any umask, and
    /// locks it (`FileLock`), so that nobody repairs it meanwhile.
    ///
    /// - Throws: `noSpace`, `denied`, `notFound` or `system`.
    convenience init(creating path: String, mode: UInt32) throws(MediaError) {
        let file = OwnedFile(try Self.create(path, mode: mode))
        // It was ours alone from its first moment on; a file system without locks goes without.
        _ = FileLock.take(file.number)
        try self.init(file.number, path, owned: file)
    }

    /// Creates `path`, which must not exist, with the access rights `mode` under any umask.
    ///
    /// - Throws: As `init(creating:mode:)`.
    static func create(_ path: String, mode: UInt32) throws(MediaError) -> CInt {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let number = open(path, flags, mode)
        guard number >= 0 else { throw .last("create", path) }
        // Not every file system has modes.
        guard fchmod(number, mode) == 0 || errno == EPERM || errno == ENOTSUP || errno == ENOSYS
        else {
            let error = MediaError.last("fchmod", path)
            close(number)
            unlink(path)
            throw error
        }
        return number
    }

    /// Writes to `file`, which is empty and stays open as long as this object; `owned` is its
    /// owner, if it has no other. `path` is for errors.
    ///
    /// - Throws: `system` without memory.
    init(_ file: CInt, _ path: String, owned: OwnedFile? = nil) throws(MediaError) {
        self.file = file
        self.owned = owned
        self.path = path
        let size = 1 << 16
        let memory = av_malloc(size)?.assumingMemoryBound(to: UInt8.self)
        // Not retained: `deinit` frees the context that calls back.
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
            throw MediaError(.system, "avio_alloc_context", path, errno: ENOMEM)
        }
    }

    deinit { freeContext(&io) }

    private func write(_ bytes: UnsafeRawBufferPointer) -> CInt {
        isHeader ? makeFlat(bytes).withUnsafeBytes(writeAll) : writeAll(bytes)
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer) -> CInt {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = retryingInterrupts {
                Glibc.write(file, part.baseAddress, part.count)
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
            return fstat(file, &status) == 0 ? Int64(status.st_size) : Int64(-errno)
        }
        let place = lseek(file, off_t(offset), origin)
        return place < 0 ? Int64(-errno) : Int64(place)
    }

    /// Returns the bytes with a rectangular projection in place of the spherical one that
    /// libavformat writes in order to store the roll.
    ///
    /// A workaround for libavformat before 6.1, which writes no rotation of flat pictures to
    /// Matroska; it can go with the support for those versions. In RFC 9559, ProjectionType
    /// (0x7671) is 0 for rectangular, which has no ProjectionPrivate (0x7672), unlike the sphere
    /// (1). A Void element (0xEC) takes its place.
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

    /// Makes the entry of track `number` in a finished Matroska file unused space, so that the file
    /// tells of no track that it does not have. All bytes were flushed before.
    ///
    /// In RFC 9559 an entry (0xAE) is in Tracks (0x1654AE6B), and begins with its TrackNumber
    /// (0xD7). A Void element (0xEC) of the same size takes its place with the change of one byte.
    func voidTrack(_ number: Int) {
        var head = [UInt8](repeating: 0, count: 1 << 16)
        let count = retryingInterrupts { pread(file, &head, head.count, 0) }
        guard count > 0 else { return }
        let bytes = head[..<count]
        /// Returns the size that is coded at `place`, and the place after it.
        func size(at place: Int) -> (size: Int, end: Int)? {
            guard bytes.indices.contains(place), bytes[place] != 0 else { return nil }
            let length = bytes[place].leadingZeroBitCount + 1
            guard place + length <= bytes.endIndex else { return nil }
            let first = Int(bytes[place]) & ((1 << (8 - length)) - 1)
            return (
                bytes[place + 1..<place + length].reduce(first) { $0 << 8 | Int($1) },
                place + length
            )
        }
        let mark: [UInt8] = [0x16, 0x54, 0xAE, 0x6B]
        // The list of elements before it has its mark, too, but no entry behind that.
        let tracks = bytes.indices.dropLast(4).lazy.compactMap { place -> (size: Int, end: Int)? in
            guard bytes[place] == mark[0], bytes[place..<place + 4].elementsEqual(mark),
                let size = size(at: place + 4), size.end < bytes.endIndex,
                bytes[size.end] == 0xAE
            else { return nil }
            return size
        }
        guard let (whole, start) = tracks.first else { return }
        var place = start
        while place < min(start + whole, bytes.endIndex - 4) {
            guard let (length, inside) = size(at: place + 1) else { return }
            let isIt =
                bytes[place] == 0xAE && inside + 3 <= bytes.endIndex && bytes[inside] == 0xD7
                && bytes[inside + 1] == 0x81 && Int(bytes[inside + 2]) == number
            if isIt {
                var void: UInt8 = 0xEC
                _ = retryingInterrupts { pwrite(file, &void, 1, off_t(place)) }
                return
            }
            place = inside + length
        }
    }

    /// Writes all buffered bytes to the file.
    ///
    /// - Throws: `noSpace`, `denied` or `system`.
    func flush() throws(MediaError) {
        avio_flush(io)
        guard failure == 0 else { throw error("write") }
        var status = stat()
        if fstat(file, &status) == 0 { wholeLength = status.st_size }
    }

    /// Writes all bytes to the disk, safe from a power cut. Waits for the disk.
    ///
    /// - Throws: As `flush()`.
    func sync() throws(MediaError) {
        try flush()
        // fdatasync(2) fails with EINVAL for files that cannot be synchronised, such as pipes.
        guard fdatasync(file) == 0 || errno == EINVAL else { throw .last("fdatasync", path) }
    }

    /// Cuts off the incomplete bytes after the last `flush()`, following a failure.
    ///
    /// If that fails too, the file ends in mid-packet, as after a power cut; players stop there.
    func cutBack() { _ = retryingInterrupts { Int(ftruncate(file, wholeLength)) } }

    /// The room where the file is now; `nil` if the system call fails.
    var space: DiskSpace? { DiskSpace(of: file) }

    /// The path at which the file is now; `nil` if it is at none, because it was removed.
    var place: String? {
        var own = stat()
        guard fstat(file, &own) == 0 else { return path }
        let link = linkTarget("/proc/self/fd/\(file)")
        let found = [path, link].compactMap { $0 }.first { candidate in
            var there = stat()
            return stat(candidate, &there) == 0 && there.st_ino == own.st_ino
                && there.st_dev == own.st_dev
        }
        // A disk may not answer, or somebody may rename the file between two calls.
        let isRemoved = own.st_nlink == 0 || link?.hasSuffix(" (deleted)") ?? false
        return found ?? (isRemoved ? nil : link ?? path)
    }

    /// The most bytes that the file may have, by the kind of its file system, such as 4 GiB on FAT,
    /// and by the limit of this process.
    var sizeLimit: Int64 {
        let offset = lseek(file, 0, SEEK_CUR)
        defer { lseek(file, offset, SEEK_SET) }
        var (least, most) = (off_t(0), off_t.max)
        while least < most {
            let middle = most - (most - least) / 2
            // No file system lets a file be read past where it may grow.
            if lseek(file, middle, SEEK_SET) >= 0 { least = middle } else { most = middle - 1 }
        }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
            return Int64(least)
        }
        return min(Int64(least), Int64(clamping: limit.rlim_cur))
    }

    /// The length in bytes, or 0 if the system call fails.
    var byteCount: Int64 {
        var status = stat()
        return fstat(file, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Returns the error of a libavformat call that writes here: the failed write, if any, or
    /// `result`.
    func error(_ operation: String, _ result: CInt = 0) -> MediaError {
        guard failure != 0 else { return .libav(operation, path, result) }
        return MediaError(.init(errno: failure), "write", path, errno: failure)
    }
}
