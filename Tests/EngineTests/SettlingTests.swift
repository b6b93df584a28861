import DualCamCore
import Engine
import Frames
import Platform
import Synchronization
import TestJPEGs
import TestSupport
import Testing

@Suite("A photograph of a camera that has just opened", .timeLimit(.minutes(5)))
struct SettlingTests {
    private func put(_ luma: Int, _ number: Int, in slot: FrameSlot) {
        let layout = FrameLayout(size: Size(width: 64, height: 32), format: .i420)
        let buffer = FrameBuffer(byteCount: layout.byteCount)
        for index in buffer.bytes.indices { buffer.bytes[index] = UInt8(luma) }
        slot.put(
            Frame(
                buffer: buffer,
                layout: layout,
                color: .jpeg,
                timestamp: MonotonicClock.now,
                sequence: UInt64(number)
            )
        )
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
}
