import DualCamCore
import Engine
import Frames
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("A photograph of a camera that has just opened", .timeLimit(.minutes(1)))
struct SettlingTests {
    /// Takes a photograph of a camera that gives a picture of the level `luma` of its number every
    /// 20 ms, and returns for how many seconds it was waited for: all of them, and those in which
    /// processors were free.
    private func wait(
        settling: Bool,
        luma: (Int) -> UInt8
    ) throws -> (whole: Double, free: Double) {
        let slot = FrameSlot(bell: try Bell())
        let photos = try PhotoThread()
        defer {
            photos.end()
            #expect(photos.wait(until: MonotonicClock.now + Timestamp(seconds: 20)))
        }
        let folder = try ScratchDirectory()
        let taken = Mutex<Timestamp?>(nil)
        let isDone = Mutex(false)
        let lateness = Lateness()
        let start = MonotonicClock.now
        photos.take(
            [
                PhotoThread.StillRequest(
                    name: "back",
                    source: .camera(slot, .identity),
                    settles: settling,
                    tags: [:]
                )
            ],
            to: .folder(folder.path),
            taken: { taken.withLock { $0 = MonotonicClock.now } },
            done: { result in
                #expect(throws: Never.self) { try result.get() }
                isDone.withLock { $0 = true }
            }
        )
        var number = 0
        let layout = FrameLayout(size: Size(width: 64, height: 32), format: .i420)
        try eventually("the photograph") {
            let buffer = FrameBuffer(byteCount: layout.byteCount)
            for index in buffer.bytes.indices { buffer.bytes[index] = luma(number) }
            slot.put(
                Frame(
                    buffer: buffer,
                    layout: layout,
                    color: .jpeg,
                    timestamp: MonotonicClock.now,
                    sequence: UInt64(number)
                )
            )
            number += 1
            usleep(18_000)
            return isDone.withLock { $0 }
        }
        let end = try #require(taken.withLock { $0 })
        let whole = (end - start).seconds
        return (whole, whole - lateness.seconds(from: start, to: end))
    }

    @Test("waits until it is as bright as a moment ago, and for no longer")
    func calm() throws {
        #expect(try wait(settling: true) { _ in 100 }.free < 1.2)
        #expect(try wait(settling: false) { UInt8($0 % 200) }.free < 1, "it had settled before")
    }

    @Test("waits two seconds where it never is")
    func restless() throws {
        // Brighter all the time: no two looks at it are alike, whenever they come.
        let seconds = try wait(settling: true) { UInt8(min(20 + 2 * $0, 250)) }
        #expect(seconds.whole > 1.5 && seconds.free < 3)
    }
}
