package import Capture
package import DualCamCore
import Frames
package import Platform
import Synchronization

/// Keeps one camera open for as long as it is wanted, whatever becomes of it, and leaves its
/// frames in a slot.
///
/// One thread a role, named `capture-back` or `capture-front`. It waits in the kernel while the
/// camera is not wanted.
package final class CameraThread: Sendable {
    /// What the thread tells, from the thread itself.
    package enum Report: Hashable, Sendable {
        /// The device is being opened.
        case opening
        /// Its first frame came, in this mode; in place of another one that the bus has no room for.
        case streaming(CaptureMode, insteadOf: CaptureMode?)
        /// It does not deliver; it will be tried again.
        case interrupted(Interruption, reason: String)
        /// It is closed, because it is not wanted.
        case closed
    }

    private struct Wish {
        var source: (any CameraSource)?
        var request: CaptureRequest
        /// Whether the slot keeps its frame while no camera is wanted.
        var keepsPicture = false
        var isOver = false
        /// Rises with each wish, so that the thread sees that it changed.
        var number = 0
    }

    private let wish: Mutex<Wish>
    private let bell: Bell
    private let slot: FrameSlot
    private let report: @Sendable (Report) -> Void
    private let thread = Mutex<Thread?>(nil)

    /// Seconds after which a camera that failed is tried again, at first and at most.
    private static let retryDelay = 0.25...2.0
    /// Intervals without a frame after which a camera counts as stalled.
    private static let stallIntervals = 5.0

    /// Starts the thread, with no camera wanted. Throws when the system has no thread to give.
    package init(
        role: Role,
        slot: FrameSlot,
        report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        bell = try Bell()
        wish = Mutex(
            Wish(source: nil, request: CaptureRequest(size: Size(width: 0, height: 0), rate: 1))
        )
        self.slot = slot
        self.report = report
        let started = try Thread(name: "capture-\(role.rawValue)") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Wants `source` open, from now on; another one than before is closed first.
    package func open(_ source: any CameraSource, _ request: CaptureRequest) {
        wish.withLock {
            $0.source = source
            $0.request = request
            $0.number += 1
        }
        bell.ring()
    }

    /// Wants no camera. What was seen last is forgotten unless `keepingPicture`.
    package func close(keepingPicture: Bool) {
        wish.withLock {
            $0.source = nil
            $0.keepsPicture = keepingPicture
            $0.number += 1
        }
        bell.ring()
    }

    /// Has a camera that failed tried again now: it may be there again.
    package func retry() { bell.ring() }

    /// Closes the camera, ends the thread and waits for it. Once.
    package func end() {
        wish.withLock {
            $0.isOver = true
            $0.number += 1
        }
        bell.ring()
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ended?.join()
    }

    // MARK: On the thread

    private func run() {
        var seen = -1
        var delay = Self.retryDelay.lowerBound
        var isOpen = false
        while true {
            let wanted = wish.withLock { $0 }
            if wanted.number != seen { delay = Self.retryDelay.lowerBound }
            seen = wanted.number
            guard !wanted.isOver, let source = wanted.source else {
                if !wanted.keepsPicture { slot.clear() }
                if isOpen { report(.closed) }
                isOpen = false
                if wanted.isOver { return }
                bell.wait(until: nil)
                continue
            }
            isOpen = true
            report(.opening)
            let start = MonotonicClock.now
            do throws(CaptureError) {
                let stream = try source.open(wanted.request)
                try deliver(stream, until: seen)
                continue
            } catch {
                report(.interrupted(error.interruption, reason: "\(error)"))
            }
            // A camera that had worked for a while gets the short delay again.
            if (MonotonicClock.now - start).seconds > 5 { delay = Self.retryDelay.lowerBound }
            bell.wait(until: MonotonicClock.now + Timestamp(seconds: delay))
            delay = min(2 * delay, Self.retryDelay.upperBound)
        }
    }

    /// Moves frames from `stream` to the slot until the wish is no longer number `seen`.
    private func deliver(_ stream: any CameraStream, until seen: Int) throws(CaptureError) {
        let mode = stream.mode
        // Until the first frame a camera may take its time.
        let patience = Timestamp(seconds: max(Self.stallIntervals / max(mode.rate, 1), 0.2))
        let patienceAtFirst = Timestamp(seconds: 3)
        var isDelivering = false
        var sequence: UInt64?
        var lastFrame = MonotonicClock.now
        while wish.withLock({ $0.number }) == seen {
            let deadline = lastFrame + (isDelivering ? patience : patienceAtFirst)
            switch try stream.next(until: deadline, bell: bell) {
            case .frame(let frame):
                lastFrame = MonotonicClock.now
                let lost = sequence.map { frame.sequence > $0 + 1 ? frame.sequence - $0 - 1 : 0 }
                sequence = frame.sequence
                slot.put(frame, lost: lost ?? 0)
                if !isDelivering {
                    isDelivering = true
                    report(.streaming(mode, insteadOf: stream.unreducedMode))
                }
            case .dropped:
                slot.countDropped()
                // The camera has counted it, too; it is not lost a second time.
                sequence = sequence.map { $0 + 1 }
                if lastFrame + patienceAtFirst < MonotonicClock.now {
                    throw CaptureError(.unreadable, "decode", detail: "damaged frames only")
                }
            case .timedOut:
                throw CaptureError(.timedOut, "capture", detail: "no frame")
            case .woken:
                break
            }
        }
    }
}
