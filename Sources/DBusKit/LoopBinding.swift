import CDBus
import Frames
import Glibc
import Platform

/// Drives a DBusConnection from an `EventLoop`: its descriptors, timeouts and dispatching. Bound to
/// the loop's thread, but libdbus may ring the bell from any thread.
final class LoopBinding {
    /// The watches on one descriptor. libdbus has one for reading and one for writing on the same
    /// socket, but the loop allows one watch per descriptor.
    private struct Entry {
        var watches: [OpaquePointer] = []
        var loopWatch: EventLoop.Watch?
    }

    private let connection: OpaquePointer
    private let loop: EventLoop
    private let bell: Bell
    private var bellWatch: EventLoop.Watch?
    private var entries: [CInt: Entry] = [:]
    private var due: [OpaquePointer: Timestamp] = [:]
    /// One timer for all timeouts, because each takes a descriptor. It fires at `next`.
    private var timer: EventLoop.Timer?
    private var next: Timestamp?
    /// Called once in a round of the loop that follows `soon()`, before messages are dispatched.
    var onRound: () -> Void = {}
    /// Called in the same round, once they are. Returns `true` if it has more to do.
    var onDispatched: () -> Bool = { false }

    /// The longest that a round dispatches, and answers calls: a flood leaves time for other work.
    static let moment = Timestamp(seconds: 0.002)

    /// Drives `connection`, which must outlive the binding or be left with `detach()`. Throws
    /// `SystemError` when out of descriptors or memory.
    init(connection: OpaquePointer, loop: EventLoop) throws(SystemError) {
        self.connection = connection
        self.loop = loop
        bell = try Bell()
        // First: the loop keeps the watch of the bell until it is cancelled.
        timer = try loop.timer { [unowned self] in serveTimeouts() }
        bellWatch = try loop.watch(bell.descriptor, for: .readable) { [unowned self] _ in
            round()
        }
        // Not retained: `detach` removes it from libdbus.
        let context = Unmanaged.passUnretained(self).toOpaque()
        let isSet =
            dbus_connection_set_watch_functions(
                connection,
                { watch, context in LoopBinding.of(context).map { $0.add(watch: watch) } ?? 0 },
                { watch, context in LoopBinding.of(context)?.remove(watch: watch) },
                { watch, context in LoopBinding.of(context)?.toggle(watch: watch) },
                context,
                nil
            ) != 0
            && dbus_connection_set_timeout_functions(
                connection,
                { timeout, context in LoopBinding.of(context).map { $0.add(timeout) } ?? 0 },
                { timeout, context in LoopBinding.of(context)?.remove(timeout) },
                { timeout, context in LoopBinding.of(context)?.toggle(timeout) },
                context,
                nil
            ) != 0
        guard isSet else {
            detach()
            throw SystemError("dbus_connection_set_watch_functions", errno: ENOMEM)
        }
        // Neither function may dispatch: libdbus calls them in the middle of its own work.
        dbus_connection_set_dispatch_status_function(
            connection,
            { _, status, context in
                guard status != DBUS_DISPATCH_COMPLETE else { return }
                LoopBinding.of(context)?.soon()
            },
            context,
            nil
        )
        dbus_connection_set_wakeup_main_function(
            connection,
            { context in LoopBinding.of(context)?.soon() },
            context,
            nil
        )
        // Messages may have arrived during the connection, such as NameAcquired.
        soon()
    }

    /// Leaves the connection. To be called before it is closed.
    func detach() {
        dbus_connection_set_dispatch_status_function(connection, nil, nil, nil)
        dbus_connection_set_wakeup_main_function(connection, nil, nil, nil)
        dbus_connection_set_timeout_functions(connection, nil, nil, nil, nil, nil)
        dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
        bellWatch?.cancel()
        bellWatch = nil
        timer = nil
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> LoopBinding? {
        context.map { Unmanaged<LoopBinding>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Makes the loop call `onRound` and dispatch. Never recursive.
    func soon() { bell.ring() }

    private func round() {
        bell.silence()
        onRound()
        let end = MonotonicClock.now + Self.moment
        var hasMore = true
        while hasMore, bellWatch != nil, MonotonicClock.now < end {
            hasMore = dbus_connection_dispatch(connection) != DBUS_DISPATCH_COMPLETE
        }
        // A handler may have let go of the connection.
        guard bellWatch != nil else { return }
        if onDispatched() || hasMore { soon() }
    }

    // MARK: - Watches

    private func add(watch: OpaquePointer?) -> dbus_bool_t {
        guard let watch else { return 0 }
        let number = dbus_watch_get_unix_fd(watch)
        entries[number, default: Entry()].watches.append(watch)
        guard refresh(number) else {
            remove(watch: watch)
            return 0
        }
        return 1
    }

    private func remove(watch: OpaquePointer?) {
        guard let watch else { return }
        let number = dbus_watch_get_unix_fd(watch)
        entries[number]?.watches.removeAll { $0 == watch }
        _ = refresh(number)
    }

    private func toggle(watch: OpaquePointer?) {
        guard let watch else { return }
        _ = refresh(dbus_watch_get_unix_fd(watch))
    }

    /// Updates the loop's watch of `number` to the enabled watches. Without one it is cancelled,
    /// because a closed peer would wake the loop without end. Returns `false` on failure.
    private func refresh(_ number: CInt) -> Bool {
        guard let entry = entries[number] else { return true }
        var flags: UInt32 = 0
        for watch in entry.watches where dbus_watch_get_enabled(watch) != 0 {
            flags |= dbus_watch_get_flags(watch)
        }
        guard flags != 0 else {
            entry.loopWatch?.cancel()
            entries[number] = entry.watches.isEmpty ? nil : Entry(watches: entry.watches)
            return true
        }
        var readiness: EventLoop.Readiness = []
        if flags & DBUS_WATCH_READABLE.rawValue != 0 { readiness.insert(.readable) }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { readiness.insert(.writable) }
        if let loopWatch = entry.loopWatch {
            loopWatch.wait(for: readiness)
            return true
        }
        let loopWatch = try? loop.watch(number, for: readiness) { [unowned self] readiness in
            serve(number, readiness)
        }
        entries[number]?.loopWatch = loopWatch
        return loopWatch != nil
    }

    private func serve(_ number: CInt, _ readiness: EventLoop.Readiness) {
        var happened: UInt32 = 0
        if readiness.contains(.readable) { happened |= DBUS_WATCH_READABLE.rawValue }
        if readiness.contains(.writable) { happened |= DBUS_WATCH_WRITABLE.rawValue }
        let failures =
            (readiness.contains(.failed) ? DBUS_WATCH_ERROR.rawValue : 0)
            | (readiness.contains(.hungUp) ? DBUS_WATCH_HANGUP.rawValue : 0)
        for watch in entries[number]?.watches ?? [] {
            // The previous watch may have removed or disabled this one.
            guard entries[number]?.watches.contains(watch) == true,
                dbus_watch_get_enabled(watch) != 0
            else { continue }
            let flags = happened & dbus_watch_get_flags(watch) | failures
            if flags != 0 { dbus_watch_handle(watch, flags) }
        }
    }

    // MARK: - Timeouts

    private func add(_ timeout: OpaquePointer?) -> dbus_bool_t {
        guard let timeout else { return 0 }
        arm(timeout)
        return 1
    }

    private func remove(_ timeout: OpaquePointer?) {
        guard let timeout else { return }
        due[timeout] = nil
        if due.isEmpty { disarm() }
    }

    private func toggle(_ timeout: OpaquePointer?) {
        guard let timeout else { return }
        arm(timeout)
    }

    private func arm(_ timeout: OpaquePointer) {
        guard dbus_timeout_get_enabled(timeout) != 0 else { return remove(timeout) }
        let seconds = Double(dbus_timeout_get_interval(timeout)) / 1000
        let time = MonotonicClock.now + Timestamp(seconds: seconds)
        due[timeout] = time
        guard next.map({ time < $0 }) ?? true else { return }
        next = time
        timer?.arm(at: time)
    }

    private func disarm() {
        next = nil
        timer?.disarm()
    }

    private func serveTimeouts() {
        let now = MonotonicClock.now
        for (timeout, time) in due where time <= now {
            // The previous timeout may have removed this one.
            guard due[timeout] == time else { continue }
            // A timeout repeats until libdbus disables or removes it.
            arm(timeout)
            dbus_timeout_handle(timeout)
        }
        next = due.values.min()
        if let next { timer?.arm(at: next) } else { disarm() }
    }
}
