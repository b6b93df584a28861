import CLinux
package import Frames
import Glibc
import Synchronization

/// An event loop for descriptors and timers: epoll(7), and one timerfd(2) for all timers. A round
/// of the loop does not allocate, so the composite thread can run one too. Bound to the thread that
/// runs it, except for `mailbox`.
package final class EventLoop {
    /// The events of a descriptor, to wait for or as they occurred.
    package struct Readiness: OptionSet, Sendable {
        /// The bits of epoll: EPOLLIN and others.
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        /// It has data to read (EPOLLIN).
        package static let readable = Readiness(rawValue: 0x001)
        /// It has urgent data, such as a V4L2 event (EPOLLPRI).
        package static let urgent = Readiness(rawValue: 0x002)
        /// It has room to write (EPOLLOUT).
        package static let writable = Readiness(rawValue: 0x004)
        /// It failed (EPOLLERR); always reported.
        package static let failed = Readiness(rawValue: 0x008)
        /// The other side has closed it (EPOLLHUP); always reported.
        package static let hungUp = Readiness(rawValue: 0x010)
    }

    /// A watched descriptor. Ends with `cancel()`, or with the loop.
    package final class Watch {
        fileprivate let number: CInt
        /// The mark of its events: a descriptor's number may be used again for another file.
        fileprivate let key: UInt64
        fileprivate let handler: (Readiness) -> Void
        fileprivate weak var loop: EventLoop?

        fileprivate init(
            number: CInt,
            key: UInt64,
            loop: EventLoop,
            handler: @escaping (Readiness) -> Void
        ) {
            self.number = number
            self.key = key
            self.loop = loop
            self.handler = handler
        }

        /// Changes the awaited events to `readiness`; if empty, only failures are reported.
        package func wait(for readiness: Readiness) {
            var event = epoll_event(events: readiness.rawValue, data: epoll_data_t(u64: key))
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

    /// A timer of the loop. Idle until armed; fires once each time.
    package final class Timer {
        private weak var loop: EventLoop?
        private let alarm: Alarm

        fileprivate init(_ loop: EventLoop, _ alarm: Alarm) {
            self.loop = loop
            self.alarm = alarm
        }

        deinit {
            alarm.time = nil
            loop?.remove(alarm)
        }

        /// Fires at `time`, or at once if that is past. Replaces an earlier setting.
        package func arm(at time: Timestamp) { loop?.set(alarm, to: time) }

        /// Fires `seconds` from now. Replaces an earlier setting.
        package func arm(after seconds: Double) {
            arm(at: MonotonicClock.now + Timestamp(seconds: seconds))
        }

        /// Stops the timer.
        package func disarm() { loop?.set(alarm, to: nil) }
    }

    /// The loop's part of a timer.
    fileprivate final class Alarm {
        /// The time at which it fires; `nil` while it is idle.
        var time: Timestamp?
        /// The number of the last expiry before it was armed.
        var expiry = 0
        let handler: () -> Void

        init(_ handler: @escaping () -> Void) { self.handler = handler }
    }

    /// The way to run work on the loop from other threads. May outlive the loop.
    package final class Mailbox: Sendable {
        private struct Contents {
            var pending: [@Sendable () -> Void] = []
            var isClosed = false
        }

        let bell: Bell
        private let contents = Mutex(Contents())

        fileprivate init() throws(SystemError) { bell = try Bell() }

        /// Queues `work` to run on the loop's thread, in order. From any thread; allocates.
        ///
        /// - Returns: `false` if the mailbox is closed, where the work is not queued.
        @discardableResult
        package func post(_ work: @escaping @Sendable () -> Void) -> Bool {
            post(work, closes: false)
        }

        /// Queues `work` as the last: nothing is queued after it. From any thread; allocates.
        func close(with work: @escaping @Sendable () -> Void) { post(work, closes: true) }

        @discardableResult
        private func post(_ work: @escaping @Sendable () -> Void, closes: Bool) -> Bool {
            let isQueued = contents.withLock { contents in
                guard !contents.isClosed else { return false }
                contents.pending.append(work)
                contents.isClosed = closes
                return true
            }
            if isQueued { bell.ring() }
            return isQueued
        }

        fileprivate func drain() {
            bell.silence()
            let work = contents.withLock { contents in
                defer { contents.pending.removeAll() }
                return contents.pending
            }
            for item in work { item() }
        }
    }

    /// A timerfd.
    private final class Clock {
        let timer: Descriptor
        /// The time to which it is set; `nil` while it is not.
        private var time: Timestamp?

        init() throws(SystemError) {
            let number = timerfd_create(CLOCK_MONOTONIC, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
            guard number >= 0 else { throw .last("timerfd_create") }
            timer = Descriptor(owning: number)
        }

        func set(to new: Timestamp?) {
            guard new != time else { return }
            time = new
            var setting = itimerspec()
            if let new {
                let nanoseconds = max(1, new.nanoseconds)
                setting.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
                setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
            }
            timerfd_settime(timer.number, CInt(TFD_TIMER_ABSTIME), &setting, nil)
        }

        /// Returns `true` if its time has come; `false` if it was set anew since it expired.
        func expires() -> Bool {
            var count: UInt64 = 0
            guard read(timer.number, &count, 8) == 8 else { return false }
            time = nil
            return true
        }
    }

    fileprivate let epoll: Descriptor
    fileprivate var watches: [CInt: Watch] = [:]
    /// The number of watches so far.
    private var watchCount: UInt64 = 0
    private var isStopped = false
    /// The timerfd of all timers, once there is one.
    private var clock: Clock?
    private var alarms: [Alarm] = []
    /// The number of times that timers have fired, and if they are doing so.
    private var (expiries, isFiring) = (0, false)
    private static let eventCount = 16
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: eventCount)
    /// The way to run work on this loop from other threads.
    package let mailbox: Mailbox

    /// Creates an empty loop. Throws EMFILE or ENFILE if there are no descriptors left.
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

    /// Readable while there is work for `runOnce`, so that another loop can run this one.
    package var descriptor: CInt { epoll.number }

    /// Calls `handler` on the loop's thread whenever `number` becomes ready as requested, or fails.
    /// A descriptor may have one watch at a time. Throws the errno of epoll_ctl(2), such as EPERM
    /// for a descriptor that cannot be polled.
    @discardableResult
    package func watch(
        _ number: CInt,
        for readiness: Readiness,
        handler: @escaping (Readiness) -> Void
    ) throws(SystemError) -> Watch {
        precondition(watches[number] == nil, "a descriptor watched twice")
        watchCount += 1
        let key = watchCount << 32 | UInt64(number)
        var event = epoll_event(events: readiness.rawValue, data: epoll_data_t(u64: key))
        guard epoll_ctl(epoll.number, EPOLL_CTL_ADD, number, &event) == 0 else {
            throw .last("epoll_ctl")
        }
        let watch = Watch(number: number, key: key, loop: self, handler: handler)
        watches[number] = watch
        return watch
    }

    /// Returns an idle timer that calls `handler` on the loop's thread. It ends when it is
    /// released. Throws EMFILE or ENFILE if there are no descriptors left.
    package func timer(_ handler: @escaping () -> Void) throws(SystemError) -> Timer {
        if clock == nil {
            let new = try Clock()
            try watch(new.timer.number, for: .readable) { [unowned self] _ in fire() }
            clock = new
        }
        let alarm = Alarm(handler)
        alarms.append(alarm)
        return Timer(self, alarm)
    }

    fileprivate func remove(_ alarm: Alarm) {
        alarms.removeAll { $0 === alarm }
        setClock()
    }

    fileprivate func set(_ alarm: Alarm, to time: Timestamp?) {
        alarm.time = time
        alarm.expiry = expiries
        setClock()
    }

    /// Sets the clock to the first of the alarms.
    private func setClock() {
        guard !isFiring else { return }
        var first: Timestamp?
        for alarm in alarms {
            if let time = alarm.time, first.map({ time < $0 }) ?? true { first = time }
        }
        clock?.set(to: first)
    }

    /// Calls the handlers whose time has come.
    private func fire() {
        guard clock?.expires() ?? false else { return }
        let now = MonotonicClock.now
        expiries += 1
        isFiring = true
        while let due = firstDue(at: now) {
            due.time = nil
            due.handler()
        }
        isFiring = false
        setClock()
    }

    /// Returns the first alarm due. One that a handler arms waits for the next round, even if past.
    private func firstDue(at now: Timestamp) -> Alarm? {
        var first: (alarm: Alarm, time: Timestamp)?
        for alarm in alarms where alarm.expiry < expiries {
            guard let time = alarm.time, time <= now else { continue }
            if first.map({ time < $0.time }) ?? true { first = (alarm, time) }
        }
        return first?.alarm
    }

    /// Runs until `stop()`. A loop that `keepsTime` rests for a moment in long runs (`ThreadRun`).
    package func run(keepsTime: Bool = false) {
        var run = ThreadRun()
        while !isStopped {
            if keepsTime { run.rest() }
            runOnce(milliseconds: -1)
        }
        isStopped = false
    }

    /// Ends `run()` after this round, or before its first. On the loop's thread; others `post` it.
    package func stop() { isStopped = true }

    /// Waits at most `milliseconds` (-1 for no limit) for events, and handles them.
    package func runOnce(milliseconds: CInt) {
        let count = retryingInterrupts {
            epoll_wait(epoll.number, events, CInt(Self.eventCount), milliseconds)
        }
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let event = events[index]
            // A handler may have cancelled a watch that became ready in the same round, and begun
            // another of the same number.
            let key = event.data.u64
            guard let watch = watches[CInt(truncatingIfNeeded: key)], watch.key == key else {
                continue
            }
            watch.handler(Readiness(rawValue: event.events))
        }
    }
}
