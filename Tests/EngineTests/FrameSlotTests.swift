import DualCamCore
import Frames
import Glibc
import Imaging
import Platform
import Synchronization
import TestJPEGs
import TestSupport
import Testing

@testable import Engine

@Suite("The place of a camera's newest frame") struct FrameSlotTests {
    private let bell: Bell
    private let slot: FrameSlot

    init() throws {
        bell = try Bell()
        slot = FrameSlot(bell: bell)
    }

    private func frame(_ number: UInt64, _ size: Size = Size(width: 16, height: 8)) -> Frame {
        let time = Timestamp(seconds: Double(number))
        return flatFrame(size: size, format: .gray, color: .video, at: time, sequence: number, [0])
    }

    private func jpeg(_ number: UInt64) -> JPEGFrame {
        JPEGFrame([0, 0, 0, 0], at: Timestamp(seconds: Double(number)), sequence: number)
    }

    @Test func `holds nothing of the camera once it is cleared, neither its frame nor its JPEG`() {
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
        #expect(slot.newest.jpeg == nil && slot.newest.content.frame == nil)
        let content = slot.fetch()
        #expect(content.frame == nil && !content.isJPEG)
        // What was forgotten was not replaced by the next.
        slot.put(frame(1))
        #expect(slot.counts.replaced == 0 && slot.counts.captured == 2)
    }

    @Test func `rings for each frame, and counts those that nobody fetched`() {
        slot.put(frame(0), lost: 2)
        #expect(bellRings)
        slot.put(frame(1))
        #expect(slot.counts.replaced == 1)
        #expect(slot.fetch().frame?.sequence == 1)
        slot.put(frame(2), decoding: Timestamp(seconds: 0.004))
        #expect(slot.counts.replaced == 1, "it was shown")
        // A picture that nothing shows replaces none, and leaves none.
        slot.put(nil, of: jpeg(3))
        #expect(slot.latest == nil && slot.newest.jpeg?.sequence == 3)
        slot.put(frame(4), of: jpeg(4), lost: 1)
        #expect(slot.counts.replaced == 2)
        slot.countDropped()
        #expect(slot.counts.captured == 5 && slot.counts.missing == 3)
        #expect(slot.counts.damaged == 1 && slot.counts.decode.count == 4)
        #expect(slot.latest?.sequence == 4, "a damaged one leaves the one before")
    }

    @Test func `wakes its camera for who looks, and is wanted for a while`() throws {
        let camera = try Bell()
        func rings() -> Bool { camera.wait(until: MonotonicClock.now + Timestamp(seconds: 0.001)) }
        slot.attach(camera)
        slot.show(at: .hidden)
        #expect(!slot.isWanted && !rings())
        _ = slot.newest
        #expect(slot.isWanted && rings())
        _ = slot.newest
        #expect(!rings(), "it is awake")
        slot.tap(Received())
        #expect(rings())
    }

    /// Returns a frame of stripes that differ by `contrast`.
    private func striped(_ number: UInt64, _ contrast: UInt8) -> Frame {
        let frame = frame(number)
        let plane = frame.plane(0)
        for y in 0..<plane.rows {
            for x in 0..<plane.rowBytes { plane.row(y)[x] = 100 + (x % 2 == 0 ? 0 : contrast) }
        }
        return frame
    }

    @Test func `keeps the sharpest of the newest three, until it thaws`() {
        slot.put(striped(0, 20))
        slot.judge()
        #expect(slot.frozen == nil, "nobody asked for it")
        slot.freeze()
        #expect(slot.isJudging && slot.fetch().frame?.sequence == 0)
        slot.judge()
        #expect(slot.frozen?.sequence == 0)
        slot.judge()
        slot.put(striped(1, 20))
        slot.judge()
        #expect(slot.fetch().frame?.sequence == 0, "it is no sharper")
        #expect(slot.latest?.sequence == 1, "the camera goes on")
        slot.put(striped(2, 40))
        slot.judge()
        #expect(slot.fetch().frame?.sequence == 2 && !slot.isJudging)
        slot.put(striped(3, 90))
        slot.judge()
        #expect(slot.fetch().frame?.sequence == 2)
        #expect(slot.fetch().frame?.plane(0).row(0)[1] == 140)
        slot.thaw()
        #expect(slot.fetch().frame?.sequence == 3 && slot.frozen == nil)
    }

    @Test("shows nothing live once a freeze has ended with its camera, until that opens again")
    func settling() {
        slot.put(striped(0, 20))
        slot.freeze()
        slot.judge()
        slot.put(striped(1, 90), of: jpeg(1))
        let tap = Received()
        slot.tap(tap)
        slot.settle()
        func isKept() -> Bool {
            let content = slot.fetch()
            return content.frame?.sequence == 0 && !content.isJPEG && slot.latest?.sequence == 0
                && slot.newest.jpeg == nil && slot.still()?.sequence == 0
        }
        #expect(isKept())
        slot.put(striped(2, 90), of: jpeg(2))
        #expect(isKept() && tap.list == ["4 bytes at 2"], "recordings go on")
        slot.sharpen(striped(2, 90))
        slot.releaseOriginal()
        slot.keepCopy()
        #expect(isKept())
        slot.reopen()
        #expect(isKept())
        slot.put(striped(3, 20))
        #expect(slot.fetch().frame?.sequence == 3)
        slot.settle()
        slot.put(striped(4, 20))
        #expect(slot.fetch().frame?.sequence == 4, "nothing was frozen")
    }

    @Test("wakes its camera where larger pictures are wanted, and not for smaller ones")
    func waking() throws {
        let camera = try Bell()
        slot.attach(camera)
        func isWoken() -> Bool {
            defer { camera.silence() }
            var entry = pollfd(fd: camera.descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 0) == 1
        }
        slot.show(at: .glance)
        #expect(!isWoken())
        slot.show(at: .whole)
        #expect(isWoken())
        slot.show(at: .whole)
        #expect(!isWoken())
    }

    @Test("has the delay of its picture's first publication, however often that is repeated")
    func delay() {
        let shown = frame(1)
        slot.put(shown)
        #expect(slot.delay == nil)
        for time in [1.05, 1.2, 3] { slot.published(shown, at: Timestamp(seconds: time)) }
        #expect(slot.delay == Timestamp(seconds: 1.05) - Timestamp(seconds: 1))
    }

    @Test func `counts what was lost before a picture that nobody sees, too`() {
        slot.skip(frame(3), nil, lost: 2)
        slot.put(frame(5), lost: 1)
        #expect(slot.counts.missing == 3 && slot.counts.captured == 2)
    }

    @Test("keeps nothing frozen once it thaws or is cleared", arguments: [false, true])
    func forgetting(isCleared: Bool) {
        weak var memory: FrameBuffer?
        slot.put(striped(0, 20))
        slot.freeze()
        slot.judge()
        memory = slot.frozen?.buffer
        #expect(memory != nil)
        if isCleared { slot.clear() } else { slot.thaw() }
        #expect(memory == nil, "its memory is held")
        slot.put(striped(1, 90))
        slot.judge()
        #expect(slot.frozen == nil, "what was being judged is no longer wanted")
    }

    @Test("takes no picture in which the room is seen that is to be hidden, and records that")
    func hiddenRoom() throws {
        let (tap, camera) = (Received(), try Bell())
        slot.attach(camera)
        func hidden(_ number: UInt64) -> Frame {
            var frame = striped(number, 90)
            frame.isRoomHidden = true
            return frame
        }
        /// Returns the numbers of pictures in which the room is still to be hidden.
        func unfinished() -> [UInt64] {
            var numbers: [UInt64] = []
            _ = slot.catchUp { frame in
                numbers.append(frame.sequence)
                return nil
            }
            return numbers
        }
        slot.put(striped(0, 20))
        slot.freeze()
        slot.judge()
        camera.silence()
        slot.hideRoom(by: RoomCover())
        // The newest picture is hidden at once.
        #expect(camera.wait(until: MonotonicClock.now + Timestamp(seconds: 1)))
        #expect(slot.frozen == nil && slot.isJudging && unfinished() == [0])
        #expect(slot.fetch().frame == nil)
        slot.dropUncovered()
        #expect(slot.latest == nil)
        slot.tap(tap)
        slot.put(striped(1, 20))
        slot.sharpen(striped(1, 20))
        slot.judge()
        #expect(slot.latest == nil && slot.frozen == nil && unfinished() == [])
        slot.put(hidden(2), original: striped(2, 20))
        slot.judge()
        #expect(slot.latest?.sequence == 2 && slot.frozen?.isRoomHidden == true)
        #expect(slot.newest.original?.isRoomHidden == false && unfinished() == [])
        #expect(tap.list == ["copy 1", "copy 2"])
        slot.releaseOriginal()
        #expect(slot.newest.original == nil)
        slot.thaw()
        slot.hideRoom(by: RoomCover(showsRoom: true))
        slot.put(striped(3, 20))
        #expect(slot.fetch().frame?.sequence == 3 && slot.newest.original == nil)
    }

    @Test func `hides a room that fades for good once it has, in a frozen picture, too`() throws {
        slot.put(striped(0, 20))
        slot.freeze()
        slot.judge()
        var cover = RoomCover()
        cover.fade = 1
        slot.hideRoom(by: cover)
        func finish(_ frame: Frame) -> Frame? {
            var frame = frame
            frame.isRoomHidden = true
            return frame
        }
        let end = try #require(slot.catchUp(finish))
        #expect(slot.frozen?.isRoomHidden == false && slot.fetch().frame != nil)
        try eventually("the end of the fade") { MonotonicClock.now >= end }
        #expect(slot.catchUp(finish) == nil)
        #expect(slot.latest?.isRoomHidden == true && slot.frozen?.isRoomHidden == true)
    }

    private var bellRings: Bool { bell.wait(until: MonotonicClock.now + Timestamp(seconds: 0.001)) }

    @Test func `knows how large it is shown, and whether it can be had larger`() {
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

    @Test func `gives a recording every picture as the camera gave it, until it is told to stop`() {
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

    @Test func `has one tap for several recordings, each of which gets all`() {
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
