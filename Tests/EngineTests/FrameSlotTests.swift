import DualCamCore
import Engine
import Frames
import Platform
import Synchronization
import Testing

@Suite("The place of a camera's newest frame")
struct FrameSlotTests {
    private let bell: Bell
    private let slot: FrameSlot

    init() throws {
        bell = try Bell()
        slot = FrameSlot(bell: bell)
    }

    private func frame(_ number: UInt64, _ size: Size = Size(width: 16, height: 8)) -> Frame {
        let layout = FrameLayout(size: size, format: .gray)
        return Frame(
            buffer: FrameBuffer(byteCount: layout.byteCount),
            layout: layout,
            color: .video,
            timestamp: Timestamp(seconds: Double(number)),
            sequence: number
        )
    }

    private func jpeg(_ number: UInt64) -> JPEGFrame {
        JPEGFrame(
            buffer: FrameBuffer(byteCount: 10),
            byteCount: 4,
            timestamp: Timestamp(seconds: Double(number)),
            sequence: number
        )
    }

    @Test("holds nothing of the camera once it is cleared, neither its frame nor its JPEG")
    func clearing() {
        weak var frameMemory: FrameBuffer?
        weak var jpegMemory: FrameBuffer?
        do {
            let (frame, jpeg) = (frame(0), jpeg(0))
            (frameMemory, jpegMemory) = (frame.buffer, jpeg.buffer)
            slot.put(frame, of: jpeg)
        }
        #expect(frameMemory != nil && jpegMemory != nil)
        slot.clear()
        #expect(frameMemory == nil && jpegMemory == nil, "its memory is held")
        #expect(slot.latest == nil && slot.latestJPEG == nil)
        #expect(slot.newest.jpeg == nil && slot.newest.content.frame == nil)
        let content = slot.fetch()
        #expect(content.frame == nil && !content.isJPEG)
        // What was forgotten was not replaced by the next.
        slot.put(frame(1))
        #expect(slot.counts.replaced == 0 && slot.counts.captured == 2)
    }

    @Test("rings for each frame, and counts those that nobody fetched")
    func counting() {
        slot.put(frame(0), lost: 2)
        #expect(bellRings)
        slot.put(frame(1))
        #expect(slot.counts.replaced == 1)
        #expect(slot.fetch().frame?.sequence == 1)
        slot.put(frame(2), decoding: Timestamp(seconds: 0.004))
        #expect(slot.counts.replaced == 1, "it was shown")
        // A picture that nothing shows replaces none, and leaves none.
        slot.put(nil, of: jpeg(3))
        #expect(slot.latest == nil && slot.latestJPEG?.sequence == 3)
        slot.put(frame(4), of: jpeg(4), lost: 1)
        #expect(slot.counts.replaced == 2)
        slot.countDropped()
        #expect(slot.counts.captured == 5 && slot.counts.missing == 3)
        #expect(slot.counts.damaged == 1 && slot.counts.decode.count == 4)
        #expect(slot.latest?.sequence == 4, "a damaged one leaves the one before")
    }

    private var bellRings: Bool {
        bell.wait(until: MonotonicClock.now + Timestamp(seconds: 0.001))
    }

    @Test("knows how large it is shown, and whether it can be had larger")
    func extents() {
        #expect(slot.extent == .whole)
        slot.show(at: ShownExtent(Size(width: 64, height: 36)))
        #expect(slot.extent == ShownExtent(Size(width: 64, height: 36)))
        slot.put(frame(0), of: jpeg(0))
        #expect(slot.fetch().isJPEG)
        slot.show(at: .hidden)
        #expect(slot.extent.isHidden)
        slot.put(frame(1))
        #expect(!slot.fetch().isJPEG)
    }

    @Test("gives a recording every picture as the camera gave it, until it is told to stop")
    func tapping() {
        let tap = Received()
        slot.put(frame(0))
        slot.tap(tap)
        slot.put(frame(1))
        slot.put(frame(2), of: jpeg(2))
        slot.put(nil, of: jpeg(3))
        #expect(tap.list == ["copy 1", "4 bytes at 2", "4 bytes at 3"])
        slot.tap(nil)
        slot.put(frame(4), of: jpeg(4))
        #expect(tap.list.count == 3)
    }

    @Test("has one tap for several recordings, each of which gets all")
    func fanOut() {
        let (first, second) = (Received(), Received())
        let taps = FrameTaps([first, second])
        taps.take(frame(1))
        taps.take(copying: frame(2))
        let jpeg = jpeg(3)
        taps.take(jpeg: jpeg.bytes, at: jpeg.timestamp)
        taps.drop()
        taps.discontinue(at: Timestamp(seconds: 5))
        let all = ["frame 1", "copy 2", "4 bytes at 3", "drop", "discontinuity at 5"]
        #expect(first.list == all && second.list == all)
    }
}

/// A tap that lists what it receives.
private final class Received: FrameTap {
    private let entries = Mutex<[String]>([])
    var list: [String] { entries.withLock { $0 } }
    private func add(_ entry: String) { entries.withLock { $0.append(entry) } }

    func take(copying frame: Frame) { add("copy \(frame.sequence)") }
    func take(_ frame: Frame) { add("frame \(frame.sequence)") }
    func take(jpeg bytes: UnsafeRawBufferPointer, at time: Timestamp) {
        add("\(bytes.count) bytes at \(Int(time.seconds))")
    }
    func drop() { add("drop") }
    func discontinue(at time: Timestamp) { add("discontinuity at \(Int(time.seconds))") }
}
