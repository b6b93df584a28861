import CLinux
package import Frames
import Glibc
import Synchronization

/// Waits for descriptors and times, and calls those concerned: epoll(7) and timerfd(2).
///
/// A round of the loop does not allocate, so that the composite thread can run one too.
///
/// - Context: bound to the thread that runs it, but for `post`, `stop` and `Bell.ring`.
package final class EventLoop {
    /// What a descriptor is waited for, and what it became.
    package struct Readiness: OptionSet, Sendable {
        /// As epoll has it: EPOLLIN and the like.
        package let rawValue: UInt32
        /// What epoll calls `rawValue`.
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        /// There is something to read (EPOLLIN).
        package static let readable = Readiness(rawValue: 0x001)
        /// There is something urgent, as a V4L2 event is (EPOLLPRI).
        package static let urgent = Readiness(rawValue: 0x002)
        /// There is room to write (EPOLLOUT).
        package static let writable = Readiness(rawValue: 0x004)
        /// It failed (EPOLLERR); always waited for.
        package static let failed = Readiness(rawValue: 0x008)
        /// The other side is gone (EPOLLHUP); always waited for.
        package static let hungUp = Readiness(rawValue: 0x010)
    }

    /// A descriptor under watch. Ends with `cancel()`, or with the loop.
    package final class Watch {
        fileprivate let number: CInt
        fileprivate let handler: (Readiness) -> Void
        fileprivate weak var loop: EventLoop?

        fileprivate init(
            number: CInt,
            loop: EventLoop,
            handler: @escaping (Readiness) -> Void
        ) {
            self.number = number
            self.loop = loop
            self.handler = handler
        }

        /// Waits for `readiness` from now on; for nothing but failure when it is empty.
        package func wait(for readiness: Readiness) {
            var event = epoll_event(
                events: readiness.rawValue,
                data: epoll_data_t(fd: number)
            )
            _ = loop.map { epoll_ctl($0.epoll.number, EPOLL_CTL_MOD, number, &event) }
        }

        /// Stops watching. The descriptor stays open. May be called from its own handler.
        package func cancel() {
            guard let loop, loop.watches[number] === self else { return }
            epoll_ctl(loop.epoll.number, EPOLL_CTL_DEL, number, nil)
            loop.watches[number] = nil
            self.loop = nil
        }
    }

    /// A moment at which the loop calls. At rest until `arm`ed; once each time it is.
    package final class Timer {
        private let timer: Descriptor
        private var watch: Watch?

        fileprivate init(loop: EventLoop, handler: @escaping () -> Void) throws(SystemError) {
            let number = timerfd_create(
                CLOCK_MONOTONIC,
                CInt(TFD_CLOEXEC | TFD_NONBLOCK)
            )
            guard number >= 0 else { throw .last("timerfd_create") }
            timer = Descriptor(owning: number)
            watch = try loop.watch(number, for: .readable) { _ in
                var count: UInt64 = 0
                // Nothing to read: it was set anew or disarmed since it became due.
                guard read(number, &count, 8) == 8 else { return }
                handler()
            }
        }

        deinit { watch?.cancel() }

        /// Calls at `time`, at once if it is past; replaces what was set before.
        package func arm(at time: Timestamp) {
            let nanoseconds = max(1, time.nanoseconds)
            var setting = itimerspec()
            setting.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
            setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
            timerfd_settime(timer.number, CInt(TFD_TIMER_ABSTIME), &setting, nil)
        }

        /// Calls `seconds` from now; replaces what was set before.
        package func arm(after seconds: Double) {
            arm(at: MonotonicClock.now + Timestamp(seconds: seconds))
        }

        /// Does not call.
        package func disarm() {
            var setting = itimerspec()
            timerfd_settime(timer.number, 0, &setting, nil)
        }
    }

    /// How other threads reach the loop. Outlives it without harm.
    package final class Mailbox: Sendable {
        fileprivate let bell: Bell
        private let pending = Mutex<[@Sendable () -> Void]>([])

        fileprivate init() throws(SystemError) { bell = try Bell() }

        /// Has the loop's thread run `work` soon, in order. From any thread; allocates.
        package func post(_ work: @escaping @Sendable () -> Void) {
            pending.withLock { $0.append(work) }
            bell.ring()
        }

        fileprivate func drain() {
            bell.silence()
            let work = pending.withLock { pending in
                defer { pending.removeAll() }
                return pending
            }
            for item in work { item() }
        }
    }

    fileprivate let epoll: Descriptor
    fileprivate var watches: [CInt: Watch] = [:]
    private var isRunning = false
    private static let eventCount = 16
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: eventCount)
    /// How other threads reach this loop.
    package let mailbox: Mailbox

    /// A loop that waits for nothing yet. Throws when the process is out of descriptors.
    package init() throws(SystemError) {
        let number = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard number >= 0 else {
            events.deallocate()
            throw .last("epoll_create1")
        }
        epoll = Descriptor(owning: number)
        mailbox = try Mailbox()
        let mailbox = mailbox
        try watch(mailbox.bell.descriptor, for: .readable) { _ in mailbox.drain() }
    }

    deinit { events.deallocate() }

    /// Calls `handler` on the loop's thread whenever `number` becomes what is waited for, or fails.
    ///
    /// One watch a descriptor. Throws when the descriptor cannot be polled.
    @discardableResult
    package func watch(
        _ number: CInt,
        for readiness: Readiness,
        handler: @escaping (Readiness) -> Void
    ) throws(SystemError) -> Watch {
        precondition(watches[number] == nil, "a descriptor watched twice")
        var event = epoll_event(events: readiness.rawValue, data: epoll_data_t(fd: number))
        guard epoll_ctl(epoll.number, EPOLL_CTL_ADD, number, &event) == 0 else {
            throw .last("epoll_ctl")
        }
        let watch = Watch(number: number, loop: self, handler: handler)
        watches[number] = watch
        return watch
    }

    /// A timer at rest, which calls `handler` on the loop's thread. Ends when it is released.
    package func timer(_ handler: @escaping () -> Void) throws(SystemError) -> Timer {
        try Timer(loop: self, handler: handler)
    }

    /// Goes round until `stop()`.
    package func run() {
        isRunning = true
        while isRunning { runOnce(milliseconds: -1) }
    }

    /// Ends `run()` after this round. By the loop's thread; others `post` it.
    package func stop() { isRunning = false }

    /// Waits at most `milliseconds` (-1: without end) for something to happen, and sees to it.
    package func runOnce(milliseconds: CInt) {
        let count = retryingInterrupts {
            epoll_wait(epoll.number, events, CInt(Self.eventCount), milliseconds)
        }
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let event = events[index]
            // A handler may have cancelled a watch that was ready in the same round.
            watches[event.data.fd]?.handler(Readiness(rawValue: event.events))
        }
    }
}
