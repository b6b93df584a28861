import Capture
import DualCamCore
import Frames
import Glibc
import Imaging
import Platform
import Synchronization
import TestCameras
import TestJPEGs
import TestSupport
import Testing

@testable import Engine

@Suite("A camera's thread", .timeLimit(.minutes(5))) final class CaptureThreadTests {
    private let slot: FrameSlot
    private let log = ReportLog()
    private let thread: CaptureThread
    private let request = CaptureRequest(size: Size(width: 64, height: 48), rate: 30)

    init() throws {
        let (slot, log) = (FrameSlot(bell: try Bell()), log)
        self.slot = slot
        thread = try CaptureThread(role: .back, slot: slot) { report, _ in log.add(report) }
    }

    deinit { end() }

    private func end() {
        thread.end()
        #expect(thread.wait(until: MonotonicClock.now + Timestamp(seconds: 10)))
    }

    /// Opens `camera`, and waits for its first frame.
    private func start(_ camera: GivingCamera) throws {
        camera.give()
        thread.open(camera.source, request)
        try log.wait(for: "the first frame") { $0.contains { $0.isStreaming } }
    }

    @Test("starts once a camera is wanted; until then it is closed at once")
    func later() throws {
        thread.close(keepingPicture: false)
        #expect(log.reports == [.closed] && thread.isClosed)
        thread.retry()
        end()
        let log = ReportLog()
        let other = try CaptureThread(role: .front, pipeline: .b, slot: slot) { report, _ in
            log.add(report)
        }
        let camera = GivingCamera("a")
        camera.give()
        other.open(camera.source, request)
        try log.wait(for: "the first frame") { $0.contains { $0.isStreaming } }
        other.close(keepingPicture: false)
        try log.wait(for: "its end") { $0.last == .closed }
        other.end()
        #expect(other.wait(until: MonotonicClock.now + Timestamp(seconds: 10)))
    }

    @Test("forgets one camera's picture for another one, though it never saw that none was wanted")
    func anotherCamera() throws {
        let (first, hanging, last) = (
            GivingCamera("a"), GivingCamera("b", isOpening: true), GivingCamera("c")
        )
        try start(first)
        thread.open(hanging.source, request)
        try log.wait(for: "the hanging camera") { _ in hanging.opened == 1 }
        #expect(slot.latest != nil)
        thread.close(keepingPicture: false)
        thread.open(last.source, request)
        hanging.finishOpening()
        try log.wait(for: "the last camera") { _ in last.opened == 1 }
        #expect(slot.latest == nil)
        #expect(!log.reports.contains(.closed))
    }

    @Test func `keeps a picture while told so, and forgets it when told again`() throws {
        let camera = GivingCamera("a")
        try start(camera)
        thread.close(keepingPicture: true)
        try log.wait(for: "its end") { $0.last == .closed }
        #expect(slot.latest != nil)
        thread.close(keepingPicture: false)
        try log.wait(for: "the second answer") { $0.count { $0 == .closed } == 2 }
        #expect(slot.latest == nil)
    }

    @Test("keeps a copy of the last picture, not the device's memory, in which it came")
    func borrowedPicture() throws {
        let camera = GivingCamera("a", isBorrowing: true)
        try start(camera)
        #expect(slot.latest?.buffer.isBorrowed == true && camera.isLending)
        thread.close(keepingPicture: true)
        try log.wait(for: "its end") { $0.last == .closed }
        #expect(slot.latest?.buffer.isBorrowed == false)
        #expect(slot.latest?.plane(0).row(47)[63] == 99)
        #expect(!camera.isLending)
    }

    @Test func `gives a camera that is slow to start more time at the next try`() throws {
        let camera = GivingCamera("a", firstFrameAfter: 5)
        thread.open(camera.source, request)
        let pause = try Bell()
        for _ in 0..<1500 where !log.reports.contains(where: { $0.isStreaming }) {
            pause.wait(until: MonotonicClock.now + Timestamp(seconds: 0.01))
        }
        #expect(log.reports.contains { $0.isStreaming })
        #expect(log.reports.contains { $0.isStall })
        #expect(camera.opened == 2)
    }

    @Test("hides the room from the first picture on, also in one that is there, or has stayed")
    func room() throws {
        let camera = GivingCamera("a")
        slot.hideRoom(by: RoomCover())
        try start(camera)
        #expect(slot.latest?.isRoomHidden == true && slot.newest.original?.isRoomHidden == false)
        slot.hideRoom(by: RoomCover(showsRoom: true))
        camera.give()
        try log.wait(for: "the room") { _ in slot.latest?.isRoomHidden == false }
        // No other picture comes.
        slot.hideRoom(by: RoomCover())
        try log.wait(for: "the hidden room") { _ in slot.latest?.isRoomHidden == true }
        slot.hideRoom(by: RoomCover(showsRoom: true))
        camera.give()
        try log.wait(for: "the room") { _ in slot.latest?.isRoomHidden == false }
        thread.close(keepingPicture: true)
        try log.wait(for: "its end") { $0.last == .closed }
        #expect(slot.latest != nil)
        slot.hideRoom(by: RoomCover())
        try log.wait(for: "no picture") { _ in slot.latest == nil }
    }

    @Test("cuts persons out of the picture that is there, and of one that is frozen")
    func cutout() throws {
        let camera = GivingCamera("a")
        try start(camera)
        slot.freeze()
        try log.wait(for: "the frozen picture") { _ in slot.frozen != nil }
        var extent = slot.extent
        extent.isCutOut = true
        slot.show(at: extent)
        try log.wait(for: "the masks") { _ in
            slot.latest?.cutout != nil && slot.frozen?.cutout != nil
        }
        #expect(slot.latest?.isRoomHidden == false && slot.newest.original?.cutout == nil)
        extent.isCutOut = false
        slot.show(at: extent)
        camera.give()
        try log.wait(for: "no mask") { _ in slot.latest.map { $0.cutout == nil } ?? false }
    }

    /// The thread has a thousandth of a second for each picture.
    @Test func `looks for persons less often, then never, where it is too slow, and hides all`()
        throws
    {
        slot.hideRoom(by: RoomCover())
        let camera = ScriptedCamera(rate: 1000) { number, _, _ in
            .frame(grayFrame(99, UInt64(number + 1)))
        }
        thread.open(camera, request)
        try log.wait(for: "each step") {
            $0.contains(.looking(.everySecond)) && $0.contains(.looking(.none))
        }
        #expect(slot.latest?.isRoomHidden == true)
        slot.hideRoom(by: RoomCover(showsRoom: true))
        try log.wait(for: "another try") { $0.last == .looking(.each) }
    }

    @Test("opens a device anew whose signal changed, and tells that it has none")
    func newSignal() throws {
        let camera = GivingCamera("a")
        try start(camera)
        camera.changeSignal()
        try log.wait(for: "another try") { _ in camera.opened == 2 }
        camera.give()
        try log.wait(for: "the new signal") { $0.count { $0.isStreaming } == 2 }
        // No interruption came between.
        #expect(!log.reports.contains { if case .interrupted = $0 { true } else { false } })
        camera.loseSignal()
        try log.wait(for: "the lost signal") {
            $0.contains { if case .interrupted(.noSignal, _, _) = $0 { true } else { false } }
        }
    }

    @Test func `says that a camera hesitates, leaves it open, and says when it goes on`() throws {
        let camera = GivingCamera("a", goesOn: true)
        camera.give()
        thread.open(camera.source, request)
        try log.wait(for: "two beginnings") { $0.count { $0.isStreaming } >= 2 }
        let reports = log.reports.filter { $0 != .adapted(isFull: false) }
        #expect(reports.first == .opening && reports[2].isStall)
        #expect(reports[1].isStreaming && reports[3].isStreaming)
    }

    @Test func `opens a camera anew that gives nothing more`() throws {
        let camera = GivingCamera("a")
        camera.give()
        thread.open(camera.source, request)
        try log.wait(for: "another try") { _ in camera.opened == 2 }
        #expect(log.reports.contains { $0.isStall })
    }

    @Test("leaves a camera open that suits its new place, and opens one anew that does not")
    func adapting() throws {
        let camera = GivingCamera("a")
        try start(camera)
        thread.adapt(to: CaptureRequest(size: request.size, rate: 15))
        camera.give()
        try log.wait(for: "another frame") { _ in slot.counts.captured == 2 }
        #expect(camera.opened == 1)
        var full = request
        full.isFull = true
        thread.adapt(to: full)
        try log.wait(for: "the answer") { $0.last == .adapted(isFull: true) }
        #expect(camera.opened == 1)
        thread.adapt(to: CaptureRequest(size: Size(width: 32, height: 24), rate: 30))
        try log.wait(for: "another opening") { _ in camera.opened == 2 }
        #expect(slot.latest != nil, "its picture stays meanwhile")
    }

    @Test("goes on opening a camera that another program gives, unless it is not wanted any more")
    func rungWhileOpening() throws {
        let camera = DistantCamera()
        thread.open(camera, request)
        try eventually("its opening") { camera.openings.withLock { $0 } == 1 }
        thread.adapt(to: CaptureRequest(size: request.size, rate: 15))
        try eventually("the bell") { camera.rings.withLock { $0 } > 0 }
        camera.isReady.withLock { $0 = true }
        try log.wait(for: "the first frame") { $0.contains { $0.isStreaming } }
        #expect(camera.openings.withLock { $0 } == 1)
        let other = DistantCamera()
        thread.open(other, request)
        try eventually("its opening") { other.openings.withLock { $0 } == 1 }
        thread.close(keepingPicture: false)
        try log.wait(for: "its end") { $0.last == .closed }
    }

    @Test("decodes pictures as large as they are shown, and the newest anew when it grows")
    func shownExtents() throws {
        let camera = GivingCamera("a", jpeg: flatJPEG(request.size, luma: 90, format: .gray))
        slot.show(at: ShownExtent(Size(width: 16, height: 12)))
        try start(camera)
        #expect(slot.latest?.reduction == 4)
        // The camera gives no other frame: the same picture is decoded larger.
        let small = try #require(slot.latest)
        slot.show(at: ShownExtent(request.size))
        try log.wait(for: "the same, larger") { _ in slot.latest?.reduction == 1 }
        #expect(slot.latest?.sequence == small.sequence && slot.counts.captured == 1)
        // The next frame is shown nowhere.
        slot.show(at: .hidden)
        camera.give()
        try log.wait(for: "one for nobody") { _ in slot.counts.captured == 2 }
        #expect(slot.latest == nil && slot.newest.jpeg?.sequence == 1)
        #expect(slot.counts.decode.count == 1 && slot.counts.replaced == 1)
        slot.show(at: ShownExtent(Size(width: 32, height: 24)))
        try log.wait(for: "the newest") { _ in slot.latest?.reduction == 2 }
        #expect(slot.latest?.sequence == 1)
    }

    @Test("keeps a blurred picture's worth of a camera that nobody saw before it closed")
    func unseenPicture() throws {
        let camera = GivingCamera("a", jpeg: flatJPEG(request.size, luma: 90, format: .gray))
        slot.show(at: .hidden)
        try start(camera)
        camera.give()
        try log.wait(for: "one for nobody") { _ in slot.counts.captured == 2 }
        #expect(slot.latest == nil)
        thread.close(keepingPicture: true)
        try log.wait(for: "its end") { $0.last == .closed }
        #expect(slot.latest?.sequence == 1)
        #expect(slot.newest.jpeg == nil, "the device has its memory back")
    }

    @Test func `is shown although its JPEGs have no end marker, and that is counted`() throws {
        let camera = GivingCamera(
            "a",
            jpeg: flatJPEG(request.size, luma: 90, format: .gray).dropLast(2)
        )
        try start(camera)
        camera.give()
        try log.wait(for: "the second") { _ in slot.latest?.sequence == 1 }
        #expect(slot.counts.noisy == 2 && slot.counts.captured == 2 && slot.counts.damaged == 0)
    }

    @Test("says at once of what kind the JPEGs are that it cannot show", arguments: [false, true])
    func unshown(comesOnce: Bool) throws {
        let camera = GivingCamera("a", jpeg: UnusualJPEG.deep.bytes)
        camera.give()
        if !comesOnce { camera.give() }
        thread.open(camera.source, request)
        try log.wait(for: "the reason") { $0.contains { $0.isStall } }
        let reasons = log.reports.compactMap {
            if case .interrupted(_, let reason, _) = $0 { reason } else { nil }
        }
        let words =
            "no picture came: its JPEGs are of a kind that DualCam cannot show: they do "
            + "not have 8 bits per colour"
        #expect(reasons.first == words)
        #expect(slot.counts.damaged == (comesOnce ? 1 : 2))
    }

    @Test func `counts a damaged picture as that, not as a missing one, too`() throws {
        let camera = GivingCamera("a")
        try start(camera)
        camera.damage()
        try log.wait(for: "the damage") { _ in slot.counts.damaged == 1 }
        camera.give()
        try log.wait(for: "the next frame") { _ in slot.counts.captured == 2 }
        #expect(slot.latest?.sequence == 2 && slot.counts.missing == 0)
    }

    @Test("opens a camera without a usable mode once, and again only when told that it may be back")
    func noMode() throws {
        let camera = ScriptedCamera(
            opening: { () throws(CaptureError) in throw CaptureError(.noMode, "capture mode") }
        )
        thread.open(camera, request)
        try log.wait(for: "the reason") { $0.contains { $0.isUnsupported } }
        // Two of the usual delays, and a picture that moves.
        for width in 1...20 {
            slot.show(at: ShownExtent(Size(width: 16 * width, height: 12 * width)))
            try Bell().wait(until: MonotonicClock.now + Timestamp(seconds: 0.04))
        }
        #expect(camera.openings.withLock { $0 } == 1)
        thread.retry()
        try log.wait(for: "another try") { $0.count { $0.isUnsupported } == 2 }
        thread.open(camera, request)
        try log.wait(for: "a third try") { $0.count { $0.isUnsupported } == 3 }
        #expect(camera.openings.withLock { $0 } == 3)
    }

    @Test func `is not waited for longer than wanted when its device hangs`() throws {
        let camera = GivingCamera("a", isOpening: true)
        thread.open(camera.source, request)
        try log.wait(for: "the try") { _ in camera.opened == 1 }
        thread.end()
        #expect(!thread.wait(until: MonotonicClock.now + Timestamp(seconds: 0.05)))
        camera.finishOpening()
        end()
        #expect(log.reports.last == .closed)
    }
}

@Suite("The delays before a camera is tried again")
struct RetryTests {
    @Test("grow up to a second, and are short again once it worked for a while")
    func delays() {
        var delay = RetryDelay()
        for _ in 1...2 {
            let delays = [5.1, 0, 4.9, 0].map { delay.next(after: Timestamp(seconds: $0)) }
            #expect(delays.map(\.seconds) == [0.25, 0.5, 1, 1])
        }
    }

    @Test func `grow to half a minute while the camera refuses`() {
        var delay = RetryDelay()
        let delays = (0..<9).map { _ in delay.next(after: Timestamp(seconds: 6), isRefusal: true) }
        #expect(delays.map(\.seconds) == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30])
        #expect(delay.next(after: Timestamp(seconds: 61), isRefusal: true).seconds == 0.25)
    }
}

extension CaptureThread.Report {
    fileprivate var isStreaming: Bool { if case .streaming = self { true } else { false } }
    fileprivate var isStall: Bool {
        if case .interrupted(.stalled, _, _) = self { true } else { false }
    }
    fileprivate var isUnsupported: Bool {
        if case .interrupted(.unsupported, _, _) = self { true } else { false }
    }
}

private final class ReportLog: Sendable {
    private let list = Mutex<[CaptureThread.Report]>([])
    var reports: [CaptureThread.Report] { list.withLock { $0 } }
    func add(_ report: CaptureThread.Report) { list.withLock { $0.append(report) } }

    func wait(for what: String, until isTrue: ([CaptureThread.Report]) -> Bool) throws {
        let pause = try Bell()
        for _ in 0..<5000 {
            if isTrue(reports) { return }
            pause.wait(until: MonotonicClock.now + Timestamp(seconds: 0.002))
        }
        Issue.record("waited for \(what); reported: \(reports)")
    }
}

private final class GivingCamera: Sendable {
    private struct Script {
        var isOpening: Bool
        var frames = 0
        var damaged = 0
        var failure: CaptureError.Code?
        var hasSignal = true
        /// When it gives a frame by itself.
        var due: Timestamp?
        var loan: Loan
    }
    private final class Lent {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 14, alignment: 64)
        init() { for index in bytes.indices { bytes[index] = 99 } }
        deinit { bytes.deallocate() }
    }
    private struct Loan: @unchecked Sendable { weak var memory: Lent? }
    private final class Box: Sendable {
        let script: Mutex<Script>
        init(_ script: Script) { self.script = Mutex(script) }

        /// Returns `true` if there was one of `what` to give.
        func take(_ what: WritableKeyPath<Script, Int>) -> Bool {
            script.withLock { script in
                defer { script[keyPath: what] = max(0, script[keyPath: what] - 1) }
                return script[keyPath: what] > 0
            }
        }
    }
    private let box: Box
    let source: ScriptedCamera

    /// While `isOpening`, opening it does not return. A camera that `goesOn` gives a frame after a
    /// wait for one has timed out. Frames are the `jpeg` if there is one, or `isBorrowing` memory.
    /// The first comes by itself `firstFrameAfter` seconds, if that is not 0.
    init(
        _ name: String,
        isOpening: Bool = false,
        goesOn: Bool = false,
        jpeg: [UInt8]? = nil,
        isBorrowing: Bool = false,
        firstFrameAfter: Double = 0
    ) {
        let box = Box(Script(isOpening: isOpening, loan: Loan()))
        self.box = box
        @Sendable func open() throws(CaptureError) {
            guard box.script.withLock({ $0.hasSignal }) else {
                throw CaptureError(.noSignal, "input")
            }
            while box.script.withLock({ $0.isOpening }) { usleep(2000) }
            guard firstFrameAfter > 0 else { return }
            box.script.withLock {
                $0.due = MonotonicClock.now + Timestamp(seconds: firstFrameAfter)
            }
        }
        @Sendable func picture(_ number: UInt64) -> CapturedEvent {
            if let jpeg { return .jpeg(JPEGFrame(jpeg, at: MonotonicClock.now, sequence: number)) }
            let frame = grayFrame(99, number)
            guard isBorrowing else { return .frame(frame) }
            let memory = Lent()
            box.script.withLock { $0.loan.memory = memory }
            return .frame(
                Frame(
                    buffer: FrameBuffer(borrowing: memory.bytes, owner: memory),
                    layout: frame.layout,
                    color: frame.color,
                    timestamp: frame.timestamp,
                    sequence: number
                )
            )
        }
        source = ScriptedCamera(
            name,
            rate: 30,
            next: { number, deadline, bell throws(CaptureError) in
                while MonotonicClock.now < deadline {
                    let failure = box.script.withLock { script in
                        if let due = script.due, MonotonicClock.now >= due {
                            script.frames += 1
                            script.due = nil
                        }
                        defer { script.failure = nil }
                        return script.failure
                    }
                    if let failure { throw CaptureError(failure, "scripted") }
                    if box.take(\.damaged) { return .dropped }
                    if box.take(\.frames) { return picture(UInt64(number)) }
                    if bell.wait(until: MonotonicClock.now + Timestamp(seconds: 0.002)) {
                        return .woken
                    }
                }
                if goesOn { box.script.withLock { $0.frames += 1 } }
                return .timedOut
            },
            opening: { () throws(CaptureError) in try open() }
        )
    }

    var opened: Int { source.openings.withLock { $0 } }
    func give() { box.script.withLock { $0.frames += 1 } }
    func damage() { box.script.withLock { $0.damaged += 1 } }
    var isLending: Bool { box.script.withLock { $0.loan.memory != nil } }
    func changeSignal() { box.script.withLock { $0.failure = .newSignal } }
    func loseSignal() {
        box.script.withLock {
            $0.failure = .newSignal
            $0.hasSignal = false
        }
    }
    func finishOpening() { box.script.withLock { $0.isOpening = false } }
}

/// A camera that another program gives: opening it waits until `isReady`.
private final class DistantCamera: CameraSource {
    let openings = Mutex(0)
    /// The number of times that the bell rang meanwhile.
    let rings = Mutex(0)
    let isReady = Mutex(false)
    private let camera = ScriptedCamera.counting()
    var name: String { camera.name }
    var identity: String { camera.identity }

    func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        try camera.open(request)
    }

    func open(
        _ request: CaptureRequest,
        bell: Bell,
        while isWanted: () -> Bool
    ) throws(CaptureError) -> any CameraStream {
        openings.withLock { $0 += 1 }
        while !isReady.withLock({ $0 }) {
            guard bell.wait(until: MonotonicClock.now + Timestamp(seconds: 0.002)) else { continue }
            guard isWanted() else { throw CaptureError(.woken, "scripted") }
            rings.withLock { $0 += 1 }
        }
        return try open(request)
    }

    func openControls() throws(CaptureError) -> any ControlPort { try camera.openControls() }
}
