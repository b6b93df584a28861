package import DualCamCore
import Frames
import Platform

/// A moving test picture in place of a camera.
///
/// A picture carries a `FrameCounter`, unless its name ends with "-plain": 0 for the first after
/// opening, plus one for each frame of the clock. Frames that were not fetched in time are counted
/// too, as a camera counts them.
package struct TestSource: CameraSource {
    private let picture: TestPicture
    private let isPlain: Bool

    private static let plain = "-plain"

    /// Creates a source of the picture called `name`, or of the one for `role` if it is `nil`.
    ///
    /// - Throws: `unsupported`, naming the existing pictures.
    package init(_ name: String?, role: Role) throws(CaptureError) {
        let full = name ?? role.rawValue
        isPlain = full.hasSuffix(Self.plain)
        let short = isPlain ? String(full.dropLast(Self.plain.count)) : full
        guard let picture = TestPicture(rawValue: short) else {
            throw CaptureError(
                .unsupported,
                "test picture",
                name ?? "",
                detail: UnknownTestPicture.hint
            )
        }
        self.picture = picture
    }

    /// "Test picture (bars)".
    package var name: String { "Test picture (\(picture.rawValue))" }
    /// "test:bars".
    package var identity: String { "test:\(picture.rawValue)\(isPlain ? Self.plain : "")" }

    /// Opens the picture at the size and rate of the request, or of its mode; always planar 4:2:0.
    ///
    /// - Throws: `unsupported` for a mode of another format or of an odd size.
    package func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        TestStream(picture, isPlain: isPlain, try picture.mode(for: request))
    }
}

extension TestPicture {
    /// The size for a photograph.
    private static let fullSize = Size(width: 1920, height: 1080)

    fileprivate func mode(for request: CaptureRequest) throws(CaptureError) -> CaptureMode {
        var mode = CaptureMode(
            size: extent(filling: request.size),
            rate: Double(request.rate),
            format: .i420
        )
        if request.isFull {
            mode.size = extent(filling: Self.fullSize)
        } else if case .mode(let size, let rate, let format) = request.mode {
            guard format == nil || format == .i420, extent(filling: size) == size else {
                throw CaptureError(
                    .unsupported,
                    "test picture",
                    rawValue,
                    detail: "\(request.mode) is not an even size of format \(PixelFormat.i420)"
                )
            }
            mode = CaptureMode(size: size, rate: rate, format: .i420)
        }
        return mode
    }
}

/// An open test picture: a few copies of the background, on which only the moving part is redrawn.
private final class TestStream: CameraStream {
    let mode: CaptureMode
    private let picture: TestPicture
    private let isPlain: Bool
    private let layout: FrameLayout
    private let background: FrameBuffer
    private var pool: FramePool
    /// The area drawn over the background in each buffer, to be restored.
    private var drawn: [ObjectIdentifier: PixelRect] = [:]
    private let start: Timestamp
    private var frame: UInt64 = 0

    init(_ picture: TestPicture, isPlain: Bool, _ mode: CaptureMode) {
        self.picture = picture
        self.isPlain = isPlain
        self.mode = mode
        let layout = FrameLayout(size: mode.size, format: .i420)
        self.layout = layout
        background = FrameBuffer(byteCount: layout.byteCount)
        picture.drawBackground(into: background, layout)
        if !isPlain { FrameCounter.removeColor(in: background, layout) }
        let buffers = (0..<6).map { _ in FrameBuffer(byteCount: layout.byteCount) }
        for buffer in buffers {
            buffer.bytes.copyMemory(from: UnsafeRawBufferPointer(background.bytes))
            drawn[ObjectIdentifier(buffer)] = PixelRect(x: 0, y: 0, width: 0, height: 0)
        }
        pool = FramePool(buffers)
        start = MonotonicClock.now
    }

    func suits(_ request: CaptureRequest) -> Bool {
        guard let best = try? picture.mode(for: request) else { return false }
        // For a photograph, the same number of pixels is enough.
        return request.isFull ? best.size == mode.size : best == mode
    }

    private func time(of index: UInt64) -> Timestamp {
        start + Timestamp(seconds: Double(index) / mode.rate)
    }

    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
        let due = time(of: frame)
        switch wait(for: -1, bell: bell, until: min(due, deadline)) {
        case .rang: return .woken
        case .ready, .due:
            guard due <= deadline || MonotonicClock.now >= due else { return .timedOut }
        }
        // A camera fills a few buffers while no one takes them; after that, frames are lost.
        let late = (MonotonicClock.now - due).seconds * mode.rate
        if late > 3 { frame += UInt64(late) }
        defer { frame += 1 }
        guard let buffer = pool.draw() else { return .dropped }
        draw(into: buffer)
        return .frame(
            Frame(
                buffer: buffer,
                layout: layout,
                color: .video,
                timestamp: time(of: frame),
                sequence: frame
            )
        )
    }

    private func draw(into buffer: FrameBuffer) {
        if let area = drawn[ObjectIdentifier(buffer)] { restore(area, in: buffer) }
        if let sprite = picture.sprite(after: Double(frame) / mode.rate, in: layout.size) {
            sprite.draw(into: buffer, layout)
            drawn[ObjectIdentifier(buffer)] = sprite.bounds.pixels(in: layout.size)
        }
        if !isPlain { FrameCounter.draw(frame, into: buffer, layout) }
    }

    /// Copies `area`, which has even edges, from the background.
    private func restore(_ area: PixelRect, in buffer: FrameBuffer) {
        for index in 0..<3 {
            let (from, to) = (background.plane(index, of: layout), buffer.plane(index, of: layout))
            let half = index == 0 ? 1 : 2
            for y in area.y / half..<area.maxY / half {
                (to.row(y) + area.x / half)
                    .update(from: from.row(y) + area.x / half, count: area.width / half)
            }
        }
    }
}
