import CTurboJPEG
import Capture
import DualCamCore
import Engine
import Frames
import Glibc
import Platform
import Synchronization
import TestCameras
import TestJPEGs
import TestSupport
import Testing

@Suite("A preview's thread", .timeLimit(.minutes(5))) struct PreviewThreadTests {
    @Test("sends whole pictures, small ones, until nobody reads")
    func pictures() throws {
        let preview = try Preview(of: try TestSource("bars", role: .back))
        for _ in 1...3 {
            let size = try #require(try preview.reader?.picture().flatMap(jpegSize))
            #expect((1...320).contains(size.width) && (1...320).contains(size.height))
        }
        #expect(preview.reports == [.delivering])
        preview.reader?.close()
        try preview.awaitEnd(nil)
    }

    @Test("waits for nobody who does not read, and closes the camera when it is told to")
    func slowReader() throws {
        let camera = ScriptedCamera.counting()
        let preview = try Preview(of: camera)
        try eventually("pictures that nobody takes", within: 20) {
            camera.pictures.withLock { $0 } > 20
        }
        preview.thread.end()
        try preview.awaitEnd(nil)
        #expect(camera.isOpen.withLock { !$0 })
        // The first is there as a whole, and no other one.
        #expect(try preview.reader?.picture().flatMap(jpegSize) != nil)
        #expect(try preview.reader?.picture() == nil)
    }

    @Test func `closes the camera once a picture stays unread for long`() throws {
        let camera = ScriptedCamera.counting()
        let preview = try Preview(of: camera, unread: 0.3)
        #expect(try preview.reader?.picture().flatMap(jpegSize) != nil)
        try preview.awaitEnd(nil)
        #expect(camera.isOpen.withLock { !$0 })
    }

    @Test("shows the newest picture to a reader that comes back")
    func newest() throws {
        let camera = ScriptedCamera.counting()
        let preview = try Preview(of: camera)
        try eventually("many pictures", within: 20) { camera.pictures.withLock { $0 } > 45 }
        let old = try #require(try preview.reader?.picture())
        let new = try #require(try preview.reader?.picture())
        #expect(luma(old) < 100)
        #expect(luma(new) > ScriptedCamera.luma(45) - 5, "a picture from between came first")
        preview.thread.end()
        try preview.awaitEnd(nil)
    }

    @Test func `ends with the camera's error, and lets the reader know`() throws {
        let error = CaptureError(.busy, "open", "/dev/video0", errno: EBUSY)
        let preview = try Preview(
            of: ScriptedCamera(opening: { () throws(CaptureError) in throw error })
        )
        try preview.awaitEnd(error)
        #expect(try preview.reader?.picture() == nil)
    }

    @Test("a camera whose pictures are all damaged fails, soon or late", arguments: [0, 1])
    func damaged(good: Int) throws {
        let camera = ScriptedCamera(format: .mjpg) { number, _, bell in
            if bell.wait(until: MonotonicClock.now + Timestamp(seconds: 0.01)) { return .woken }
            if number < good { return .frame(grayFrame(99, UInt64(number))) }
            let bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xD9]
            return .jpeg(JPEGFrame(bytes, at: MonotonicClock.now, sequence: UInt64(number)))
        }
        let preview = try Preview(of: camera, within: (0.5, 0.5))
        let reader = try #require(preview.reader)
        for _ in 0..<good { #expect(try reader.picture().flatMap(jpegSize) != nil) }
        try preview.awaitEnd(CaptureError(.unreadable, "capture", detail: "all are damaged"))
        #expect(try reader.picture() == nil)
    }

    @Test func `a picture that is on its way when it is told to end is not sent`() throws {
        let ending = Mutex<PreviewThread?>(nil)
        let camera = ScriptedCamera { _, _, bell in
            guard let preview = ending.withLock({ $0 }) else {
                bell.wait(until: MonotonicClock.now + Timestamp(seconds: 0.01))
                return .timedOut
            }
            preview.end()
            return .frame(grayFrame(99, 0))
        }
        let preview = try Preview(of: camera)
        ending.withLock { $0 = preview.thread }
        try preview.awaitEnd(nil)
        ending.withLock { $0 = nil }
        #expect(preview.reports == [.closed(nil)])
        let reader = try #require(preview.reader)
        #expect(try reader.picture() == nil)
    }

    @Test("an end before the beginning opens nothing for long")
    func early() throws {
        let camera = ScriptedCamera.counting()
        let preview = try Preview(of: camera)
        preview.thread.end()
        try preview.awaitEnd(nil)
        #expect(camera.isOpen.withLock { !$0 })
    }

    @Test func `a picture that does not fit is not cut, but sent on as the reader reads`() throws {
        var reader: PreviewReader?
        let socket = try PictureSocket { reader = PreviewReader($0) }
        let large = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        #expect(socket.isTaken)
        socket.send(large)
        #expect(!socket.isTaken)
        let got = Mutex<[UInt8]?>(nil)
        let taking = try #require(reader)
        let thread = try Thread(name: "reader") {
            let bytes = try? taking.picture()
            got.withLock { $0 = bytes }
        }
        try eventually("the rest", within: 20) { socket.isTaken }
        thread.join()
        #expect(got.withLock { $0 } == large)
        #expect(!socket.isLeft)
    }

    /// Returns the size of a JPEG; `nil` if it is none.
    private func jpegSize(_ bytes: [UInt8]) -> Size? { decoded(bytes)?.size }

    private func luma(_ bytes: [UInt8]) -> Double {
        let pixels = decoded(bytes)?.gray ?? []
        return Double(pixels.reduce(0) { $0 + Int($1) }) / Double(max(1, pixels.count))
    }

    private func decoded(_ bytes: [UInt8]) -> (size: Size, gray: [UInt8])? {
        let decoder = tjInitDecompress()
        defer { tjDestroy(decoder) }
        var (width, height, sampling, colors): (CInt, CInt, CInt, CInt) = (0, 0, 0, 0)
        let count = UInt(bytes.count)
        guard
            tjDecompressHeader3(decoder, bytes, count, &width, &height, &sampling, &colors) == 0
        else { return nil }
        var gray = [UInt8](repeating: 0, count: Int(width * height))
        let format = TJPF_GRAY.rawValue
        guard tjDecompress2(decoder, bytes, count, &gray, width, 0, height, format, 0) == 0 else {
            return nil
        }
        return (Size(width: Int(width), height: Int(height)), gray)
    }
}

/// A preview, with what it has reported.
private final class Preview {
    private let log: ReportLog
    let thread: PreviewThread
    let reader: PreviewReader?

    private final class ReportLog: Sendable {
        let all = Mutex<[PreviewThread.Report]>([])
    }

    init(
        of source: any CameraSource,
        within limits: (start: Double, stall: Double) = (60, 60),
        unread: Double = 60
    ) throws {
        let log = ReportLog()
        var made: PreviewReader?
        thread = try PreviewThread(
            source,
            within: limits,
            unread: unread,
            takeReader: { made = PreviewReader($0) },
            report: { report in log.all.withLock { $0.append(report) } }
        )
        (self.log, reader) = (log, made)
    }

    var reports: [PreviewThread.Report] { log.all.withLock { $0 } }

    func awaitEnd(_ error: CaptureError?) throws {
        try eventually("its end", within: 20) { reports.last == .closed(error) }
        #expect(thread.wait(until: MonotonicClock.now + Timestamp(seconds: 10)))
    }
}
