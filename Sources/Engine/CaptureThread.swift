package import Capture
package import DualCamCore
package import Frames
import Imaging
package import Platform
import Synchronization

/// Keeps one camera open while it is wanted, also through failures; decodes its pictures at the
/// size they are shown at, and leaves them in a slot. There is one thread per capture pipeline of a
/// role, named `capture-back`, `capture-back-2` and so on, from the first time that the camera is
/// wanted. It waits in the kernel while it is not.
package final class CaptureThread: Sendable {
    /// An event of the camera, reported on the thread itself.
    package enum Report: Hashable, Sendable {
        case opening
        /// The first frame came, in this mode; `insteadOf`: the mode that the bus had no room for.
        case streaming(CaptureMode, insteadOf: CaptureMode?)
        /// The camera delivers no frames; `streaming` follows once it does again. `holder` is the
        /// program that has it, if that is the reason and known.
        case interrupted(Interruption, reason: String, holder: String = "")
        /// The camera delivers what is wanted now, for a photograph or not. Reported once it
        /// delivers, and after each change of the request that it meets without being reopened.
        case adapted(isFull: Bool)
        /// Persons are now looked for so often, since the machine is too slow, or no longer.
        case looking(RoomPace.Step)
        /// The camera is closed as it is not wanted. Reported for each new request for none.
        case closed
    }

    /// The camera to have open, and how.
    private struct CaptureTarget {
        var source: (any CameraSource)?
        var request: CaptureRequest
        /// `true` if the slot's frame is to be forgotten first, even if a camera is wanted again.
        var forgetsPicture = false
        /// The number of times that `retry()` was called.
        var retries = 0
        /// The number of the newest change, by which the thread notices it.
        var number = 0
        /// The number of the newest change that an open camera does not meet.
        var opening = 0
        /// The number of the newest change for which the thread has reported `closed`.
        var closed = 0

        mutating func change() {
            number += 1
            opening = number
        }
    }

    private let target: Mutex<CaptureTarget>
    private let slot: FrameSlot
    private let report: @Sendable (Report, String) -> Void
    private let timed: RealTimeThreads?
    private let worker: Worker

    /// The time without a frame after which a camera counts as stalled: in intervals, and at least
    /// in seconds. In the dark some cameras give five frames a second, whatever was agreed on.
    private static let (stallIntervals, stallTime) = (5.0, 0.5)
    /// The seconds without a frame after which a stalled camera is reopened. Reopening sooner would
    /// lengthen the interruption for cameras that only hesitate.
    private static let reopeningTime = 2.0
    /// The seconds that a camera may take to its first frame, or deliver only damaged ones; and
    /// those that one may take to its first frame which took too long at the last try. Some devices
    /// need a long time, and some need another try soon.
    private static let (startTime, longStartTime) = (3.0, 10.0)

    /// Creates a thread that starts once a camera is wanted. It is one of `timed`. `report` is
    /// called on it with each event and the identity of its camera, which is empty for `closed`.
    /// Throws `SystemError` if the system has no thread or descriptor left.
    package init(
        role: Role,
        pipeline: CapturePipeline = .a,
        slot: FrameSlot,
        timed: RealTimeThreads? = nil,
        report: @escaping @Sendable (Report, String) -> Void
    ) throws(SystemError) {
        worker = try Worker(name: "capture-\(role.rawValue)\(pipeline.suffix)")
        target = Mutex(
            CaptureTarget(
                source: nil,
                request: CaptureRequest(size: Size(width: 0, height: 0), rate: 1)
            )
        )
        self.slot = slot
        self.report = report
        self.timed = timed
        slot.attach(worker.bell)
    }

    private func start() throws(SystemError) {
        guard !worker.hasStarted, !worker.isEnding else { return }
        try worker.start(timed: timed) { [self] in run() }
    }

    /// Requests that `source` be open from now on. Another one that is open is closed first.
    package func open(_ source: any CameraSource, _ request: CaptureRequest) {
        target.withLock {
            $0.source = source
            $0.request = request
            $0.change()
        }
        do throws(SystemError) { try start() } catch {
            return report(.interrupted(.stalled, reason: "\(error)"), source.identity)
        }
        worker.wake()
    }

    /// Changes the request for the open camera, reopened only if it would deliver something else.
    package func adapt(to request: CaptureRequest) {
        target.withLock {
            $0.request = request
            $0.number += 1
        }
        worker.wake()
    }

    /// Requests that no camera be open. The last picture is forgotten unless `keepingPicture`.
    package func close(keepingPicture: Bool) {
        target.withLock {
            $0.source = nil
            $0.forgetsPicture = $0.forgetsPicture || !keepingPicture
            $0.change()
            if !worker.hasStarted { $0.closed = $0.number }
        }
        if worker.hasStarted { worker.wake() } else { report(.closed, "") }
    }

    /// `true` once the camera is closed and `closed` was reported for the newest request. A report
    /// may be about an older one: a camera may have been opened since.
    package var isClosed: Bool { target.withLock { $0.closed == $0.number } }

    /// Tries a camera that failed again now, since it may be back.
    package func retry() {
        let isWanted = target.withLock { target in
            target.retries += 1
            return target.source != nil
        }
        // There may have been no thread to be had.
        if isWanted { try? start() }
        worker.wake()
    }

    /// Makes the thread close the camera and end. Does not wait for it.
    package func end() {
        target.withLock {
            $0.source = nil
            $0.forgetsPicture = true
            $0.change()
        }
        worker.end()
    }

    /// Waits for the thread to end, at most until `deadline`, and returns `true` if it has. Call
    /// after `end()`. A thread whose device does not answer cannot be ended: a call to a driver can
    /// take 5 s and more.
    package func wait(until deadline: Timestamp) -> Bool { worker.join(until: deadline) }

    // MARK: On the thread

    private func run() {
        var seen = 0
        var delay = RetryDelay()
        // The camera that took too long to its first frame.
        var slow = ""
        while true {
            let wanted = target.withLock { target in
                defer { target.forgetsPicture = false }
                return target
            }
            let isNew = wanted.number != seen
            if isNew { delay = RetryDelay() }
            seen = wanted.number
            if wanted.forgetsPicture { slot.clear() }
            slot.dropUncovered()
            guard let source = wanted.source else {
                if isNew {
                    target.withLock { $0.closed = seen }
                    report(.closed, "")
                }
                if worker.isEnding { return }
                // A moment at which much was released, and nothing waits for this thread.
                if isNew { Memory.trim() }
                worker.bell.wait(until: nil)
                continue
            }
            report(.opening, source.identity)
            let start = MonotonicClock.now
            switch deliver(from: source, wanted.request, openedAt: start, &seen, &slow) {
            case .changed: break
            // Another try would only open the device in vain, and its light might blink.
            case .hopeless: waitForChange(since: wanted)
            case .failed(let isRefusal):
                let now = MonotonicClock.now
                worker.bell.wait(until: now + delay.next(after: now - start, isRefusal: isRefusal))
            }
        }
    }

    /// The reason why a camera was closed.
    private enum Ending {
        /// Something else is wanted, or it has to be opened anew.
        case changed
        /// It failed, and may work later; if a camera on the network refused, much later.
        case failed(isRefusal: Bool)
        /// It fails until something changes.
        case hopeless
    }

    /// Opens `source` and delivers its frames for as long as it works and is wanted; reports why it
    /// does not work. `slow` is the camera that took too long to its first frame.
    private func deliver(
        from source: any CameraSource,
        _ request: CaptureRequest,
        openedAt start: Timestamp,
        _ seen: inout Int,
        _ slow: inout String
    ) -> Ending {
        var hasDelivered = false
        do throws(CaptureError) {
            slot.reopen()
            let opening = seen
            let stream = try source.open(request, bell: worker.bell) { isWanted(since: opening) }
            defer { slot.discontinue() }
            try deliver(
                stream,
                of: source.identity,
                request,
                openedAt: start,
                within: source.identity == slow ? Self.longStartTime : Self.startTime,
                &seen,
                &hasDelivered
            )
            return .changed
        } catch {
            // Another camera is wanted, or none.
            if error.code == .woken { return .changed }
            // Only opening it again tells what is at its input now.
            if error.code == .newSignal, hasDelivered { return .changed }
            if error.code == .timedOut, !hasDelivered { slow = source.identity }
            report(
                .interrupted(error.interruption, reason: "\(error)", holder: error.holder),
                source.identity
            )
            return error.code == .noMode ? .hopeless : .failed(isRefusal: error.isAnswer)
        }
    }

    /// Returns `true` unless another camera is wanted, or none, since the change `number`.
    private func isWanted(since number: Int) -> Bool {
        target.withLock { $0.opening <= number }
    }

    /// Waits for another target than `before`, or for `retry()`. The bell rings for other reasons,
    /// too, such as a picture that is shown larger.
    private func waitForChange(since before: CaptureTarget) {
        while target.withLock({ $0.number == before.number && $0.retries == before.retries }) {
            worker.bell.wait(until: nil)
        }
    }

    /// The progress of a delivery.
    private struct Delivery {
        /// The camera's identity, and the time from which it was opened.
        let identity: String
        let start: Timestamp
        var mode: CaptureMode
        /// The event to report once it delivers.
        var adapted: Report?
        var isDelivering = false
        /// The seconds without a frame that are allowed now.
        var limit: Double
        /// The number of the last frame, by the camera's count.
        var sequence: UInt64?
        var lastFrame = MonotonicClock.now
        var fault: JPEGError?
        /// A damaged frame is no picture, but shows that the camera is alive.
        var lastSign: Timestamp

        init(
            _ stream: any CameraStream,
            of identity: String,
            _ request: CaptureRequest,
            openedAt start: Timestamp,
            within limit: Double
        ) {
            (self.identity, self.start, self.limit) = (identity, start, limit)
            mode = stream.mode
            adapted = .adapted(isFull: request.isFull)
            lastSign = lastFrame
        }

        /// Returns the number of frames that are missing before the one with `number`.
        func lost(before number: UInt64) -> UInt64 {
            guard let sequence, number > sequence else { return 0 }
            // The sender of the pictures may count in any way.
            return min(number - sequence - 1, 1 << 20)
        }
    }

    /// Moves frames from `stream`, which was opened from `start` on for `request`, to the slot
    /// until a request comes that the stream does not meet; `seen` is the number of the last one
    /// that it meets. The first frame may take `startTime` seconds.
    private func deliver(
        _ stream: any CameraStream,
        of identity: String,
        _ request: CaptureRequest,
        openedAt start: Timestamp,
        within startTime: Double,
        _ seen: inout Int,
        _ hasDelivered: inout Bool
    ) throws(CaptureError) {
        let decoder: FrameDecoder
        let opened = seen
        do {
            // A picture that takes long does not keep the camera from closing.
            decoder = try FrameDecoder(expecting: stream.mode.size) { [self] in
                isWanted(since: opened)
            }
        } catch {
            throw CaptureError(.system, "JPEG", detail: error.description)
        }
        let rooms = RoomStage(slot) { [self] in report(.looking($0), identity) }
        defer {
            leave(decoder, rooms)
            if target.withLock({ !$0.forgetsPicture }) { slot.keepCopy() } else { slot.clear() }
        }
        let limit = max(startTime, Self.stallTimeout(of: stream))
        var delivery = Delivery(stream, of: identity, request, openedAt: start, within: limit)
        var turn = ThreadRun()
        while true {
            // A camera that is always ahead of the decoder leaves nothing to wait for.
            turn.rest()
            guard adapt(&delivery, stream, &seen) else { return }
            let fadeEnd = sharpen(decoder, rooms, isDelivering: delivery.isDelivering)
            stream.isEveryPictureNeeded = slot.isTapped
            stream.isShown = slot.isWanted
            let deadline = delivery.lastSign + Timestamp(seconds: delivery.limit)
            switch try take(from: stream, decoder, until: min(deadline, fadeEnd ?? deadline)) {
            case .outdated(let number, let frame, let jpeg):
                delivery.lastSign = MonotonicClock.now
                slot.skip(frame, jpeg, lost: delivery.lost(before: number))
                if delivery.sequence == nil { slot.countOpening(delivery.lastSign - start) }
                delivery.sequence = number
            case .picture(let number, let frame, let jpeg, let decoding):
                let picture = (frame, jpeg, number)
                guard
                    put(picture, rooms, decoding: decoding, from: stream, &delivery)
                else {
                    try drop(&delivery, nil)
                    break
                }
                hasDelivered = true
            case .dropped(let fault): try drop(&delivery, fault)
            case .timedOut where MonotonicClock.now < deadline: break
            case .timedOut: try pause(&delivery, stream)
            case .resting: leave(decoder, rooms)
            case .woken: break
            }
        }
    }

    /// Takes over a new request. Returns `false` if the stream does not meet it; `seen` is the
    /// number of the last one that it meets.
    private func adapt(
        _ delivery: inout Delivery,
        _ stream: any CameraStream,
        _ seen: inout Int
    ) -> Bool {
        let (number, opening) = target.withLock { ($0.number, $0.opening) }
        if number != seen {
            let request = target.withLock { $0.request }
            guard opening <= seen, stream.suits(request) else { return false }
            seen = number
            delivery.adapted = .adapted(isFull: request.isFull)
        }
        if delivery.isDelivering, let reported = delivery.adapted {
            delivery.adapted = nil
            report(reported, delivery.identity)
        }
        return true
    }

    /// Decodes the newest JPEG again if it is shown larger, or looked at as a whole. Hides the room
    /// in what is in the slot, and cuts persons out, where that is still to be done; returns when
    /// it is to be done again, if a room fades.
    private func sharpen(
        _ decoder: FrameDecoder,
        _ rooms: RoomStage,
        isDelivering: Bool
    ) -> Timestamp? {
        func show(_ frame: Frame?) {
            if let frame = frame.flatMap(rooms.hidden) { slot.sharpen(frame) }
        }
        rooms.follow()
        show(decoder.sharpen(for: slot.extent))
        let fadeEnd = slot.catchUp(rooms.hidden)
        if isDelivering, slot.isJudging {
            show(decoder.sharpen(for: .whole))
            slot.judge()
        }
        return fadeEnd
    }

    /// Leaves a picture in the slot. Returns `false` if no memory is free to hide its room.
    private func put(
        _ picture: (frame: Frame?, jpeg: JPEGFrame?, number: UInt64),
        _ rooms: RoomStage,
        decoding: Timestamp,
        from stream: any CameraStream,
        _ delivery: inout Delivery
    ) -> Bool {
        let (original, jpeg, number) = picture
        var frame = original
        guard rooms.hideRoom(in: &frame, decoding: decoding, interval: stream.interval) else {
            return false
        }
        delivery.lastFrame = MonotonicClock.now
        delivery.lastSign = delivery.lastFrame
        delivery.fault = nil
        let lost = delivery.lost(before: number)
        if delivery.sequence == nil { slot.countOpening(delivery.lastFrame - delivery.start) }
        delivery.sequence = number
        // A PipeWire node tells its mode only with its first frame, and may change it, as a camera
        // on the network may.
        let before = delivery.mode
        if let original { delivery.mode.size = original.pictureSize }
        delivery.mode.rate = stream.mode.rate
        delivery.mode.format = stream.mode.format
        if delivery.isDelivering, delivery.mode.size != before.size { slot.discontinue() }
        slot.put(frame, of: jpeg, original: original, lost: lost, decoding: decoding)
        delivery.limit = Self.stallTimeout(of: stream)
        if !delivery.isDelivering || delivery.mode != before {
            delivery.isDelivering = true
            report(
                .streaming(delivery.mode, insteadOf: stream.unreducedMode),
                delivery.identity
            )
        }
        return true
    }

    /// Counts a damaged frame, or a JPEG with `fault`. Throws `unsupported` for a second one of a
    /// kind that cannot be shown; `unreadable` if there were no others for too long.
    private func drop(_ delivery: inout Delivery, _ fault: JPEGError?) throws(CaptureError) {
        slot.countDropped()
        // The camera has counted this frame too: it must not be counted as lost as well.
        delivery.sequence = delivery.sequence.map { $0 &+ 1 }
        delivery.lastSign = MonotonicClock.now
        if let fault, fault == delivery.fault, let error = CaptureError(fault) { throw error }
        delivery.fault = fault
        if delivery.lastFrame + Timestamp(seconds: Self.startTime) < delivery.lastSign {
            throw CaptureError(.unreadable, "capture", detail: "all are damaged")
        }
    }

    /// Reports a camera that stalls, and allows it some time before it is opened anew. Throws
    /// `timedOut` if it has had that time, or has not begun; `unsupported` if its only picture
    /// cannot be shown.
    private func pause(
        _ delivery: inout Delivery,
        _ stream: any CameraStream
    ) throws(CaptureError) {
        let error = CaptureError(.timedOut, "capture")
        guard delivery.isDelivering else {
            throw delivery.fault.flatMap { CaptureError($0) } ?? error
        }
        delivery.isDelivering = false
        delivery.limit = max(Self.reopeningTime, 2 * Self.stallTimeout(of: stream))
        report(.interrupted(error.interruption, reason: "\(error)"), delivery.identity)
    }

    /// Returns the seconds without a frame after which the camera of `stream` counts as stalled.
    private static func stallTimeout(of stream: any CameraStream) -> Double {
        max(stallIntervals * stream.interval, stallTime)
    }

    /// The outcome of waiting for a picture.
    private enum Taken {
        /// A picture and its number, the frame if one is wanted, and the time it took to decode.
        case picture(UInt64, Frame?, JPEGFrame?, decoding: Timestamp)
        /// A picture that is not decoded because the camera has a newer one: its number, and the
        /// picture as the camera gave it, if it was needed.
        case outdated(UInt64, Frame?, JPEGFrame?)
        /// A damaged picture, or a JPEG with this fault.
        case dropped(JPEGError?)
        case timedOut, woken, resting
    }

    /// Waits for the next picture, and decodes it if it is shown and the newest: with a slow
    /// decoder, pictures would otherwise have waited in all the device's buffers.
    private func take(
        from stream: any CameraStream,
        _ decoder: FrameDecoder,
        until deadline: Timestamp
    ) throws(CaptureError) -> Taken {
        switch try stream.next(until: deadline, bell: worker.bell) {
        case .frame(let frame) where stream.hasNewer:
            return .outdated(frame.sequence, frame, nil)
        case .jpeg(let jpeg) where stream.hasNewer:
            return .outdated(jpeg.sequence, nil, jpeg)
        case .outdated(let number): return .outdated(number, nil, nil)
        case .frame(let frame):
            return .picture(frame.sequence, frame, nil, decoding: stream.decoding)
        case .jpeg(let jpeg):
            let (start, noisy) = (MonotonicClock.now, decoder.noisyCount)
            switch decoder.decode(jpeg, for: slot.extent) {
            case .frame(let frame):
                if decoder.noisyCount > noisy { slot.countNoisy() }
                return .picture(
                    jpeg.sequence,
                    frame,
                    jpeg,
                    decoding: MonotonicClock.now - start
                )
            case .unseen: return .picture(jpeg.sequence, nil, jpeg, decoding: .zero)
            case .damaged: return .dropped(decoder.fault)
            }
        case .dropped: return .dropped(nil)
        case .timedOut: return .timedOut
        case .woken: return .woken
        case .resting: return .resting
        }
    }

    /// Gives the last picture's memory back, which may be the device's. If pictures were not shown,
    /// first makes a small one of the last JPEG, which a later consumer sees blurred.
    private func leave(_ decoder: FrameDecoder, _ rooms: RoomStage) {
        if slot.latest == nil,
            let frame = decoder.sharpen(for: .glance).flatMap(rooms.hidden)
        {
            slot.sharpen(frame)
        }
        decoder.forget()
        slot.releaseOriginal()
    }
}

extension CaptureError {
    /// Creates the error of a camera whose JPEGs all have `fault`; `nil` if the next may be fine.
    init?(_ fault: JPEGError) {
        guard let words = fault.lasting else { return nil }
        self.init(.unsupported, "capture", detail: words)
    }
}
