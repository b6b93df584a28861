import DualCamCore
import Engine
import Frames
import Photos
import Platform
import Synchronization
import TestCameras
import TestJPEGs
import TestSupport
import Testing

@Suite("A photograph of a camera that has just opened", .timeLimit(.minutes(5)))
struct SettlingTests {
    private func put(_ luma: Int, _ number: Int, in slot: FrameSlot) {
        slot.put(grayFrame(UInt8(luma), UInt64(number)))
    }

    /// Returns for how many seconds a camera is waited for that gives a picture of the level `luma`
    /// of its number every 20 ms.
    private func wait(_ luma: (Int) -> Int) throws -> Double {
        let slot = FrameSlot(bell: try Bell())
        var (now, number) = (Timestamp.zero, 0)
        PhotoThread.settle([slot], now: { now }) { seconds in
            now = now + Timestamp(seconds: seconds)
            while Double(number) * 0.02 < now.seconds {
                put(luma(number), number, in: slot)
                number += 1
            }
        }
        return now.seconds
    }

    @Test("waits until it is as bright as a moment ago, and for no longer")
    func calm() throws {
        #expect(abs(try wait { _ in 100 } - 0.4) < 0.001)
        #expect(abs(try wait { min(20 + 2 * $0, 80) } - 1) < 0.2)
    }

    @Test("waits two seconds where it never is, and where no picture comes")
    func restless() throws {
        // Brighter all the time: no two looks at it are alike.
        #expect(abs(try wait { 20 + 2 * $0 } - 2) < 0.001)
        var now = Timestamp.zero
        PhotoThread.settle([FrameSlot(bell: try Bell())], now: { now }) {
            now = now + Timestamp(seconds: $0)
        }
        #expect(abs(now.seconds - 2) < 0.001)
    }

    @Test("waits for those alone that have yet to settle")
    func settled() throws {
        let slots = [FrameSlot(bell: try Bell()), FrameSlot(bell: try Bell())]
        let settling = Mutex<[ObjectIdentifier]>([])
        let photos = try PhotoThread { slots in
            settling.withLock { $0 = slots.map { ObjectIdentifier($0) } }
        }
        defer {
            photos.end()
            #expect(photos.wait(until: MonotonicClock.now + Timestamp(seconds: 60)))
        }
        let folder = try ScratchDirectory()
        let isDone = Mutex(false)
        let stills = zip(["back", "front"], slots).map { name, slot in
            PhotoThread.StillRequest(
                name: name,
                source: .camera(slot, .identity),
                settles: name == "front",
                tags: [:]
            )
        }
        photos.take(stills, to: .folder(folder.path)) { result in
            #expect(throws: Never.self) { try result.get() }
            isDone.withLock { $0 = true }
        }
        var number = 0
        try eventually("the photographs") {
            for slot in slots { put(100, number, in: slot) }
            number += 1
            return isDone.withLock { $0 }
        }
        #expect(settling.withLock { $0 } == [ObjectIdentifier(slots[1])])
    }

    @Test("makes an ordinary JPEG of one that few programs show", arguments: UnusualJPEG.shown)
    func unusual(jpeg: UnusualJPEG) throws {
        let photo = try photo(of: jpeg.bytes)
        #expect(photo.size == jpeg.size.transposed)
        #expect(photo.picture.size == photo.size)
    }

    @Test("has no noise of the camera's", arguments: FaultyJPEG.all.filter { $0.verdict == .noise })
    func noise(fault: FaultyJPEG) throws {
        let whole = ScriptedJPEG.decoded(ScriptedJPEG().bytes).map { UInt32($0) * 0x01_01_01 }
        let picture = Raster(size: ScriptedJPEG.size, pixels: whole).turned(by: .clockwise90)
        let photo = try photo(of: fault.bytes)
        #expect(photo.picture.pixels.map { $0 & 0xFF_FF_FF } == picture.pixels)
    }

    /// Returns the size and the picture of a photograph, turned by a quarter, that is taken while a
    /// camera delivers `jpeg`.
    private func photo(of jpeg: [UInt8]) throws -> (size: Size, picture: Raster) {
        let slot = FrameSlot(bell: try Bell())
        let photos = try PhotoThread()
        defer {
            photos.end()
            #expect(photos.wait(until: MonotonicClock.now + Timestamp(seconds: 60)))
        }
        let folder = try ScratchDirectory()
        let still = PhotoThread.StillRequest(
            name: "back",
            source: .camera(slot, .clockwise90),
            settles: false,
            tags: [:]
        )
        let result = Mutex<Result<[PhotoThread.Photo], PhotoThread.Failure>?>(nil)
        photos.take([still], to: .folder(folder.path)) { made in result.withLock { $0 = made } }
        var number: UInt64 = 0
        try eventually("the photograph") {
            let picture = JPEGFrame(jpeg, at: MonotonicClock.now, sequence: number)
            slot.put(nil, of: picture, lost: 0, decoding: .zero)
            number += 1
            return result.withLock { $0 != nil }
        }
        let photo = try #require(try result.withLock { $0 }?.get().first)
        let bytes = try readFile(photo.path ?? "", limit: 1 << 20)
        return (photo.size, try JPEGCodec.decode(bytes).picture)
    }
}
