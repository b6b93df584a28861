import CAV
import Glibc
import Platform

/// An open file that libavformat reads, and nothing beside it: libavformat gets no path to open
/// and no protocol. The place where it reads is its own, not that of the descriptor.
///
/// - Context: One thread at a time.
final class InputFile {
    /// The context for libavformat. Never `nil` during the life of the file.
    private(set) var io: UnsafeMutablePointer<AVIOContext>?
    private let file: CInt
    private var offset: Int64 = 0

    /// Reads through `file`, a descriptor that stays open as long as this object.
    ///
    /// - Throws: `system` without memory.
    init(_ file: CInt) throws(MediaError) {
        self.file = file
        let size = 1 << 16
        let memory = av_malloc(size)?.assumingMemoryBound(to: UInt8.self)
        // Not retained: `deinit` frees the context that calls back.
        io = cav_alloc_input(
            memory,
            CInt(size),
            Unmanaged.passUnretained(self).toOpaque(),
            { context, bytes, count in
                guard let context, let bytes, count > 0 else { return -EINVAL }
                let file = Unmanaged<InputFile>.fromOpaque(context).takeUnretainedValue()
                return file.read(UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
            },
            { context, offset, origin in
                guard let context else { return Int64(-EINVAL) }
                let file = Unmanaged<InputFile>.fromOpaque(context).takeUnretainedValue()
                return file.seek(offset, from: origin)
            }
        )
        guard memory != nil, io != nil else {
            throw MediaError(.system, "avio_alloc_context", errno: ENOMEM)
        }
    }

    deinit { freeContext(&io) }

    private func read(_ bytes: UnsafeMutableRawBufferPointer) -> CInt {
        let count = retryingInterrupts {
            pread(file, bytes.baseAddress, bytes.count, off_t(offset))
        }
        guard count > 0 else { return count == 0 ? cav_end_of_file : -errno }
        offset += Int64(count)
        return CInt(count)
    }

    private func seek(_ offset: Int64, from origin: CInt) -> Int64 {
        var base: Int64 = 0
        switch origin & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return length
        case SEEK_CUR: base = self.offset
        case SEEK_END: base = length
        default: break
        }
        let (place, isTooFar) = base.addingReportingOverflow(offset)
        guard !isTooFar, place >= 0 else { return Int64(-EINVAL) }
        self.offset = place
        return place
    }

    private var length: Int64 {
        var status = stat()
        return fstat(file, &status) == 0 ? Int64(status.st_size) : Int64(-errno)
    }
}

/// The words for a file that libav does not know.
let notMedia = "it is damaged, or no picture or movie that DualCam can show"

/// Frees the context of a file, and its buffer.
func freeContext(_ io: inout UnsafeMutablePointer<AVIOContext>?) {
    if let io {
        // libavformat may have replaced the buffer.
        var memory: UnsafeMutablePointer<UInt8>? = io.pointee.buffer
        av_freep(&memory)
    }
    avio_context_free(&io)
}

extension InputFile {
    /// Opens the file with libavformat, of one of the `formats` that it names, or of any if that is
    /// `nil`, and read enough of it to know its streams. `path` is for errors, and a hint.
    ///
    /// The context must be closed before this object is released. Returns `nil` if the file ends
    /// before the first packet.
    ///
    /// - Throws: `unreadable` with libav's reason; `system` without memory.
    func open(
        _ path: String,
        formats: String?
    ) throws(MediaError) -> UnsafeMutablePointer<AVFormatContext>? {
        var container = avformat_alloc_context()
        guard let made = container else {
            throw MediaError(.system, "avformat_alloc_context", path, errno: ENOMEM)
        }
        made.pointee.pb = io
        var options: OpaquePointer?
        // What a playlist names must not be opened. No protocol has this name.
        av_dict_set(&options, "protocol_whitelist", "none", 0)
        if let formats { av_dict_set(&options, "format_whitelist", formats, 0) }
        let opened = avformat_open_input(&container, path, nil, &options)
        av_dict_free(&options)
        if opened == cav_end_of_file { return nil }
        guard opened != cav_invalid else {
            throw MediaError(.unreadable, "read", path, detail: notMedia)
        }
        guard opened >= 0 else {
            throw .libav("avformat_open_input", path, opened, .unreadable)
        }
        let found = avformat_find_stream_info(container, nil)
        guard found >= 0 else {
            avformat_close_input(&container)
            throw .libav("avformat_find_stream_info", path, found, .unreadable)
        }
        return container
    }
}

/// A descriptor that several objects share, closed with the last.
final class OwnedFile {
    private let file: Descriptor

    /// Takes ownership of the open descriptor `number`.
    init(_ number: CInt) { file = Descriptor(owning: number) }

    /// Opens the regular file at `path` with the flags of open(2), and returns it with its
    /// properties.
    ///
    /// - Throws: `unreadable` for what is no regular file; else by errno.
    static func open(
        _ path: String,
        _ flags: CInt
    ) throws(MediaError) -> (file: OwnedFile, status: stat) {
        // A pipe would otherwise wait for a writer.
        let number = Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw .last("open", path) }
        let file = OwnedFile(number)
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .last("fstat", path) }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else {
            let words = kind == S_IFDIR ? "it is a directory" : "it is not a regular file"
            throw MediaError(.unreadable, "open", path, detail: words)
        }
        return (file, status)
    }

    /// The number, valid while this object lives.
    var number: CInt { file.number }
}
