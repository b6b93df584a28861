package import Capture
package import DualCamCore
package import Frames
import Imaging
package import Platform
import Synchronization

/// Keeps one camera open for as long as it is wanted, whatever becomes of it, decodes its pictures as
/// large as they are shown, and leaves them in a slot.
///
/// One thread a capture pipeline of a role, named `capture-back`, `capture-back-2` and so on. It waits in the kernel while the
/// camera is not wanted.
package final class CaptureThread: Sendable {
    /// What the thread tells, from the thread itself.
    package enum Report: Hashable, Sendable {
        /// The device is being opened.
        case opening
        /// Its first frame came, in this mode; in place of another one that the bus has no room for.
        case streaming(CaptureMode, insteadOf: CaptureMode?)
        /// It does not deliver; `streaming` follows once it does again.
        case interrupted(Interruption, reason: String)
        /// It delivers what is wanted now, for a photograph or not. Told each time that somebody wants something else
        /// of a camera that is open.
        case adapted(isFull: Bool)
        /// It is closed, because it is not wanted. Told each time that none was wanted, as far as that was seen.
        case closed
    }

    /// Which camera is to be open, and how.
    private struct CaptureTarget {
        var source: (any CameraSource)?
        var request: CaptureRequest
        /// Whether the slot's frame is to be forgotten first, even if a camera is wanted again.
        var forgetsPicture = false
        var isOver = false
        /// Rises with each change, so that the thread sees that it changed.
        var number = 0
        /// The number of the last one that a camera which is open does not fulfil.
        var opening = 0

        mutating func change() {
            number += 1
            opening = number
        }
    }

    private let target: Mutex<CaptureTarget>
    private let bell: Bell
    private let slot: FrameSlot
    private let report: @Sendable (Report, String) -> Void
    private let thread = Mutex<Thread?>(nil)

    /// Seconds after which a camera that failed is tried again, at first and at most.
    ///
    /// The most is short enough for a camera that another program has let go of to be back within 2 s.
    private static let retryDelay = 0.25...1.0
    /// Intervals without a frame after which a camera counts as stalled, and at least how many
    /// seconds: in the dark some give five frames a second, whatever was agreed on.
    private static let (stallIntervals, stallTime) = (5.0, 0.5)
    /// Seconds without a frame after which a stalled camera is opened anew. Sooner would interrupt
    /// for longer those that only hesitate.
    private static let reopeningTime = 2.0
    /// Seconds that a camera may take to its first frame, and give nothing but damaged ones.
    private static let startTime = 3.0

    /// Starts the thread, with no camera wanted. `report` is called on it with what becomes of a camera, and of which, by
    /// its identity; of none when all are closed. Throws when the system has no thread to give.
    package init(
        role: Role,
        pipeline: CapturePipeline = .a,
        slot: FrameSlot,
        report: @escaping @Sendable (Report, String) -> Void
    ) throws(SystemError) {
        bell = try Bell()
        target = Mutex(
            CaptureTarget(
                source: nil,
                request: CaptureRequest(size: Size(width: 0, height: 0), rate: 1)
            )
        )
        self.slot = slot
        self.report = report
        slot.attach(bell)
        let started = try Thread(name: "capture-\(role.rawValue)\(pipeline.suffix)") { [self] in
            run()
        }
        thread.withLock { $0 = started }
    }

    /// Wants `source` open, from now on; another one than before is closed first.
    package func open(_ source: any CameraSource, _ request: CaptureRequest) {
        target.withLock {
            $0.source = source
            $0.request = request
            $0.change()
        }
        bell.ring()
    }

    /// Wants the camera that is open for `request` from now on: it is opened anew only where it
    /// would deliver something else.
    package func adapt(to request: CaptureRequest) {
        target.withLock {
            $0.request = request
            $0.number += 1
        }
        bell.ring()
    }

    /// Wants no camera. What was seen last is forgotten unless `keepingPicture`.
    package func close(keepingPicture: Bool) {
        target.withLock {
            $0.source = nil
            $0.forgetsPicture = $0.forgetsPicture || !keepingPicture
            $0.change()
        }
        bell.ring()
    }

    /// Has a camera that failed tried again now: it may be there again.
    package func retry() { bell.ring() }

    /// Has the thread close the camera and end; does not wait for it.
    package func end() {
        target.withLock {
            $0.source = nil
            $0.forgetsPicture = true
            $0.isOver = true
            $0.change()
        }
        bell.ring()
    }

    /// Waits until the thread has ended, at most until `deadline`; whether it has. After `end()`.
    ///
    /// One whose device does not answer cannot be ended: a call to a driver takes as long as it
    /// takes, 5 s and more.
    package func wait(until deadline: Timestamp) -> Bool { thread.join(until: deadline) }

    // MARK: On the thread

    private func run() {
        var seen = 0
        var delay = Self.retryDelay.lowerBound
        while true {
            let wanted = target.withLock { target in
                defer { target.forgetsPicture = false }
                return target
            }
            let isNew = wanted.number != seen
            if isNew { delay = Self.retryDelay.lowerBound }
            seen = wanted.number
            if wanted.forgetsPicture { slot.clear() }
            guard let source = wanted.source else {
                if isNew { report(.closed, "") }
                if wanted.isOver { return }
                bell.wait(until: nil)
                continue
            }
            report(.opening, source.identity)
            let start = MonotonicClock.now
            do throws(CaptureError) {
                let stream = try source.open(wanted.request, bell: bell)
                defer { slot.discontinue() }
                try deliver(stream, of: source.identity, wanted.request, openedAt: start, &seen)
                continue
            } catch {
                // There may be another target; if not, its picture is to be larger, and it is opened anew.
                if error.code == .woken { continue }
                report(
                    .interrupted(error.interruption, reason: "\(error)"),
                    source.identity
                )
            }
            // A camera that had worked for a while gets the short delay again.
            if (MonotonicClock.now - start).seconds > 5 { delay = Self.retryDelay.lowerBound }
            bell.wait(until: MonotonicClock.now + Timestamp(seconds: delay))
            delay = min(2 * delay, Self.retryDelay.upperBound)
        }
    }

    /// Moves frames from `stream`, which was being opened from `start` on for `request`, to the slot until there is
    /// a target that it does not fulfil; `seen` is the number of the last one that it does.
    private func deliver(
        _ stream: any CameraStream,
        of identity: String,
        _ request: CaptureRequest,
        openedAt start: Timestamp,
        _ seen: inout Int
    ) throws(CaptureError) {
        let decoder: FrameDecoder
        do {
            decoder = try FrameDecoder(expecting: stream.mode.size)
        } catch {
            throw CaptureError(.system, "JPEG", detail: error.description)
        }
        defer { close(decoder) }
        let interval = 1 / max(stream.mode.rate, 0.1)
        let stallTimeout = max(Self.stallIntervals * interval, Self.stallTime)
        var mode = stream.mode
        /// What it is to tell that it delivers.
        var adapted: Report? = .adapted(isFull: request.isFull)
        var isDelivering = false
        // How many seconds without a frame there may be now.
        var limit = max(Self.startTime, stallTimeout)
        var sequence: UInt64?
        var lastFrame = MonotonicClock.now
        // A damaged frame is no picture, but shows that the camera goes on.
        var lastSign = lastFrame
        while true {
            let (number, opening) = target.withLock { ($0.number, $0.opening) }
            if number != seen {
                let request = target.withLock { $0.request }
                guard opening <= seen, stream.suits(request) else { return }
                seen = number
                adapted = .adapted(isFull: request.isFull)
            }
            if isDelivering, let reported = adapted {
                adapted = nil
                report(reported, identity)
            }
            if let frame = decoder.sharpen(for: slot.extent) { slot.sharpen(frame) }
            switch try take(from: stream, decoder, until: lastSign + Timestamp(seconds: limit)) {
            case .picture(let number, let frame, let jpeg, let decoding):
                lastFrame = MonotonicClock.now
                lastSign = lastFrame
                let lost = sequence.map { number > $0 + 1 ? number - $0 - 1 : 0 }
                if sequence == nil { slot.countOpening(lastFrame - start) }
                sequence = number
                if let frame { mode.size = frame.pictureSize }
                slot.put(frame, of: jpeg, lost: lost ?? 0, decoding: decoding)
                if !isDelivering {
                    isDelivering = true
                    limit = stallTimeout
                    // A node of PipeWire tells only with its first frame.
                    mode.rate = stream.mode.rate
                    mode.format = stream.mode.format
                    report(.streaming(mode, insteadOf: stream.unreducedMode), identity)
                }
            case .dropped:
                slot.countDropped()
                // The camera has counted it, too; it is not lost a second time.
                sequence = sequence.map { $0 + 1 }
                lastSign = MonotonicClock.now
                if lastFrame + Timestamp(seconds: Self.startTime) < lastSign {
                    throw CaptureError(.unreadable, "decode", detail: "damaged frames only")
                }
            case .timedOut:
                let error = CaptureError(.timedOut, "capture", detail: "no frame")
                guard isDelivering else { throw error }
                isDelivering = false
                limit = max(Self.reopeningTime, 2 * stallTimeout)
                report(.interrupted(error.interruption, reason: "\(error)"), identity)
            case .woken:
                break
            }
        }
    }

    /// What came of waiting for a picture.
    private enum Taken {
        /// One, with its number; without a frame where nobody looks, else after it was decoded.
        case picture(UInt64, Frame?, JPEGFrame?, decoding: Timestamp)
        case dropped, timedOut, woken
    }

    /// Waits for the next picture, and decodes it for who looks.
    private func take(
        from stream: any CameraStream,
        _ decoder: FrameDecoder,
        until deadline: Timestamp
    ) throws(CaptureError) -> Taken {
        switch try stream.next(until: deadline, bell: bell) {
        case .frame(let frame):
            return .picture(frame.sequence, frame, nil, decoding: stream.decoding)
        case .jpeg(let jpeg):
            let start = MonotonicClock.now
            switch decoder.decode(jpeg, for: slot.extent) {
            case .frame(let frame):
                return .picture(
                    jpeg.sequence,
                    frame,
                    jpeg,
                    decoding: MonotonicClock.now - start
                )
            case .unseen: return .picture(jpeg.sequence, nil, jpeg, decoding: .zero)
            case .damaged: return .dropped
            }
        case .dropped: return .dropped
        case .timedOut: return .timedOut
        case .woken: return .woken
        }
    }

    /// Gives the last JPEG back, whose memory may be the device's. If nobody looked, a small picture
    /// is made of it before: who looks later is to see what the camera saw last, blurred.
    private func close(_ decoder: FrameDecoder) {
        if slot.latest == nil,
            let frame = decoder.sharpen(for: .glance)
        {
            slot.sharpen(frame)
        }
        slot.releaseJPEG()
    }
}
