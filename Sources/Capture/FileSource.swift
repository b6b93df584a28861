package import DualCamCore
import Frames
import Glibc
import Media
import Platform

/// A picture, or a looped movie, in place of a camera.
package struct FileSource: CameraSource {
    private let path: String

    /// Creates a source of the file at `path`, which is read when the source is opened.
    package init(path: String) { self.path = path }

    package var name: String { path.split(separator: "/").last.map(String.init) ?? path }
    /// "file:" and the path.
    package var identity: String { "file:\(path)" }

    /// Opens the file at its own size and rate; a single picture at the rate of the request.
    ///
    /// - Throws: `notFound`, `denied`, `unreadable` or `unsupported`, naming the file and the
    ///   reason; `unsupported` also if the configured mode is not the file's; `system` without
    ///   memory.
    package func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        let path = path
        let reader = try reading { () throws(MediaError) in try MovieReader(path: path) }
        return FileStream(reader, try reader.mode(for: request))
    }
}

extension MovieReader {
    /// `true` for a single picture, which has no rate of its own.
    fileprivate var isPicture: Bool { rate == 0 }

    fileprivate func mode(for request: CaptureRequest) throws(CaptureError) -> CaptureMode {
        var mode = CaptureMode(size: size, rate: rate, format: format)
        if isPicture { mode.rate = Double(request.rate) }
        if case .mode(let size, let rate, let format) = request.mode {
            if isPicture { mode.rate = rate }
            guard size == mode.size, abs(rate - mode.rate) <= rate / 200,
                format == nil || format == mode.format
            else {
                throw CaptureError(
                    .unsupported,
                    "capture mode",
                    "\(request.mode) of \(path)",
                    detail: "it has \(mode)"
                )
            }
        }
        return mode
    }
}

/// Returns the result of `body`, a call of the reader.
///
/// - Throws: the reader's error as one of a camera.
private func reading<Result>(
    _ body: () throws(MediaError) -> Result
) throws(CaptureError) -> Result {
    do throws(MediaError) {
        return try body()
    } catch {
        let code: CaptureError.Code =
            switch error.code {
            case .notFound: .notFound
            case .denied: .denied
            case .unsupported: .unsupported
            case .unreadable: .unreadable
            case .noSpace, .busy, .harmful, .system: .system
            }
        throw CaptureError(
            code,
            error.operation,
            error.subject,
            errno: error.errno,
            detail: error.detail
        )
    }
}

/// An open file. Each frame is read ahead, decoded unless it is a JPEG, and delivered when due.
private final class FileStream: CameraStream {
    let mode: CaptureMode
    private(set) var decoding = Timestamp.zero
    private let reader: MovieReader
    private let isPicture: Bool
    private var pool: FramePool?
    private var layout: FrameLayout?
    /// The memory of JPEGs, sized for the largest expected one.
    private var jpegs: FramePool?
    private var pending: Pending?
    private var start = MonotonicClock.now
    private var sequence: UInt64 = 0

    private enum Pending {
        case picture(FramePicture)
        case jpeg(FrameBuffer, Int)
        case damaged
    }

    init(_ reader: MovieReader, _ mode: CaptureMode) {
        self.reader = reader
        self.mode = mode
        isPicture = reader.isPicture
    }

    func suits(_ request: CaptureRequest) -> Bool {
        (try? reader.mode(for: request)) == mode
    }

    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
        let pending = if let pending { pending } else { try decode() }
        self.pending = pending
        let due = start + Timestamp(seconds: Double(sequence) / mode.rate)
        switch wait(for: -1, bell: bell, until: min(due, deadline)) {
        case .rang: return .woken
        case .ready, .due: guard MonotonicClock.now >= due else { return .timedOut }
        }
        // A late caller does not get the missed frames in a burst.
        let late = MonotonicClock.now - due
        if late.seconds * mode.rate > 3 { start = start + late }
        // A single picture is kept.
        if !isPicture { self.pending = nil }
        let timestamp = start + Timestamp(seconds: Double(sequence) / mode.rate)
        defer { sequence += 1 }
        switch pending {
        case .damaged: return .dropped
        case .jpeg(let buffer, let count):
            return .jpeg(
                JPEGFrame(
                    buffer: buffer,
                    byteCount: count,
                    timestamp: timestamp,
                    sequence: sequence
                )
            )
        case .picture(let picture):
            guard let buffer = picture.buffer else { return .dropped }
            return .frame(
                Frame(
                    buffer: buffer,
                    layout: picture.layout,
                    color: picture.color,
                    timestamp: timestamp,
                    sequence: sequence
                )
            )
        }
    }

    private func decode() throws(CaptureError) -> Pending {
        let start = MonotonicClock.now
        defer { decoding = MonotonicClock.now - start }
        let reader = reader
        guard try reading({ () throws(MediaError) in try reader.advance() }) else {
            return try damaged()
        }
        // A single picture is decoded once, completely.
        if !isPicture, let jpeg = reader.jpeg { return copy(jpeg) }
        let (layout, color) = reader.layout
        if layout != self.layout {
            self.layout = layout
            pool = FramePool(count: isPicture ? 1 : 6, byteCount: layout.byteCount)
        }
        guard let buffer = pool?.draw() else { return .damaged }
        let isWhole = try reading { () throws(MediaError) in
            try reader.copy(into: buffer)
        }
        guard isWhole else { return try damaged() }
        return .picture(FramePicture(buffer: buffer, layout: layout, color: color))
    }

    /// Returns a damaged frame of a movie; the next may be whole.
    private func damaged() throws(CaptureError) -> Pending {
        guard isPicture else { return .damaged }
        throw CaptureError(.unreadable, "read", reader.path, detail: "it is damaged")
    }

    /// Copies `jpeg`, since the reader's memory is reused for the next frame.
    private func copy(_ jpeg: UnsafeRawBufferPointer) -> Pending {
        if jpegs == nil { jpegs = FramePool(count: 6, byteCount: 4 * mode.size.area + 65536) }
        guard let buffer = jpegs?.draw(), jpeg.count <= buffer.bytes.count else { return .damaged }
        buffer.bytes.copyMemory(from: jpeg)
        return .jpeg(buffer, jpeg.count)
    }
}
