import CV4L2
import DualCamCore
import Engine
import Frames
import Glibc
import Platform
import Synchronization
import TestJPEGs
import TestSupport
import Testing

@testable import Capture

@Suite("The newest picture", .timeLimit(.minutes(2))) struct NewestPictureTests {
    private let request = CaptureRequest(size: Size(width: 64, height: 32), rate: 30)
    private let picture = ScriptedDevice.Delivery(
        content: flatJPEG(Size(width: 64, height: 32), luma: 90, format: .gray)
    )

    @Test("is the one that is decoded, and a recording gets all, however slow the decoder is")
    func decoded() throws {
        let device = ScriptedDevice(.mjpg)
        device.deliveries = [picture]
        // While the first is worked on, the camera takes five more.
        let tap = Recording { count in
            if count == 1 { device.deliveries = Array(repeating: picture, count: 5) }
        }
        let slot = try run(device, tap)
        #expect(tap.times == Array(100...105))
        let counts = slot.counts
        #expect(counts.captured == 6 && counts.decode.count == 2)
        #expect(counts.replaced == 5, "none was shown, and one remains")
        #expect(counts.missing == 0 && counts.damaged == 0)
    }

    @Test("leaves its thread a wait now and then, though the camera is always ahead of it")
    func alwaysAhead() throws {
        let device = ScriptedDevice(.mjpg)
        device.deliveries = Array(repeating: picture, count: 4)
        var longest = 0.0
        var (waits, begin) = (-1, 0.0)
        let tap = Recording { count in
            let use = Self.use
            if use.waits != waits { (waits, begin) = (use.waits, use.seconds) }
            longest = max(longest, use.seconds - begin)
            guard count < 40 else { return }
            device.deliveries.append(picture)
            // Slower than any camera.
            while Self.use.seconds < use.seconds + 0.01 {}
        }
        _ = try run(device, tap, until: 42)
        print("the longest run of a camera's thread: \(longest) s")
        // The kernel would end the priority of all threads at 0.1 s, with some portals at 0.05 s.
        #expect((0.01..<0.045).contains(longest))
    }

    /// The number of waits of the calling thread, and its processor time.
    private static var use: (waits: Int, seconds: Double) {
        var usage = rusage()
        let thread: CInt = 1
        getrusage(thread, &usage)
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return (usage.ru_nvcsw, Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }

    @Test func `reaches a recording with all others where none needs a decoder`() throws {
        let device = ScriptedDevice()
        device.deliveries = Array(repeating: .init(), count: 6)
        let tap = Recording { _ in }
        let slot = try run(device, tap)
        #expect(tap.times == Array(100...105))
        #expect(slot.counts.captured == 6 && slot.counts.missing == 0)
    }

    @Test("is the last that is whole, if the one after it is damaged")
    func damaged() throws {
        let device = ScriptedDevice(.mjpg)
        var broken = picture
        broken.flags |= UInt32(V4L2_BUF_FLAG_ERROR)
        device.deliveries = [picture]
        let tap = Recording { count in
            if count == 1 { device.deliveries = [picture, picture, broken] }
            if count == 3 { device.deliveries.append(picture) }
        }
        let slot = try run(device, tap, until: 4)
        #expect(slot.counts.captured == 4 && slot.counts.damaged == 1)
        #expect(slot.counts.decode.count == 3, "the first, the last whole one, and the one after")
        #expect(slot.counts.missing == 0)
    }

    @Test(arguments: [false, true])
    func `is the only one that is converted, unless every one is needed`(isNeeded: Bool) throws {
        let size = request.size
        let device = ScriptedDevice(PixelFormat("RGB3"), length: size.area * 3, row: size.width * 3)
        let stream = try V4L2Source.stream(VideoDevice(path: "/dev/videoX", calls: device), request)
        stream.isEveryPictureNeeded = isNeeded
        device.deliveries = Array(repeating: .init(), count: 3)
        var outdated: [Bool] = []
        for index in 0..<3 {
            let event = try stream.next(until: .zero, bell: try Bell())
            if case .outdated(let number) = event {
                #expect(number == UInt64(index))
                outdated.append(true)
            } else {
                #expect(event.frame?.sequence == UInt64(index))
                outdated.append(false)
            }
            #expect(stream.hasNewer == (index < 2))
        }
        #expect(outdated == (isNeeded ? [false, false, false] : [true, true, false]))
    }

    /// Runs a camera's thread on `device` until its slot has the picture with this number, and
    /// returns the slot.
    private func run(
        _ device: ScriptedDevice,
        _ tap: Recording,
        until number: UInt64 = 5
    ) throws -> FrameSlot {
        let slot = FrameSlot(bell: try Bell())
        slot.tap(tap)
        let thread = try CaptureThread(role: .back, slot: slot) { _, _ in }
        thread.open(ScriptedSource(device), request)
        try eventually("the newest picture") { slot.latest?.sequence == number }
        thread.end()
        #expect(thread.wait(until: MonotonicClock.now + Timestamp(seconds: 20)))
        return slot
    }
}

/// A recording of the times of pictures, in seconds.
private final class Recording: FrameTap {
    private let list = Mutex<[Int]>([])
    // Unsafe: called on the camera's thread alone.
    private nonisolated(unsafe) let onPicture: (Int) -> Void

    /// `onPicture` is called on the camera's thread with the number of pictures so far.
    init(onPicture: @escaping (Int) -> Void) { self.onPicture = onPicture }

    var times: [Int] { list.withLock { $0 } }

    private func note(_ time: Timestamp) {
        let count = list.withLock { list in
            list.append(Int(time.seconds))
            return list.count
        }
        onPicture(count)
    }

    func take(copying frame: Frame) { note(frame.timestamp) }
    func take(_ frame: Frame) { note(frame.timestamp) }
    func take(jpeg bytes: UnsafeRawBufferPointer, at time: Timestamp) { note(time) }
    func drop() {}
    func discontinue(at time: Timestamp) {}
}

/// A source of a scripted device, which waits as a real one does.
private final class ScriptedSource: CameraSource {
    // Unsafe: used on the camera's thread alone once that has opened it.
    private nonisolated(unsafe) let device: ScriptedDevice

    init(_ device: ScriptedDevice) {
        device.isPatient = true
        self.device = device
    }

    var name: String { "scripted" }
    var identity: String { "scripted" }

    func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        try V4L2Source.stream(VideoDevice(path: "/dev/videoX", calls: device), request)
    }
}
