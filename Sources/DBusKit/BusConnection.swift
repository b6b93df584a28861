import CDBus
import Frames
package import Platform

/// The port of an `ObjectServer`: a connection to a bus, or a test's. Bound to one thread.
protocol MessagePort: AnyObject {
    var onCall: ((Message) -> Void)? { get set }
    /// Called in the round of the loop that follows `soon()`, before messages are dispatched.
    var onRound: () -> Void { get set }
    /// Makes the loop call `onRound` soon.
    func soon()
    func send(_ message: Message)
    /// Calls `handler` once the program of this unique name has left, while the result is kept.
    func onLeaving(_ name: String, _ handler: @escaping () -> Void) -> AnyObject
}

/// A private connection to a message bus, driven by an `EventLoop`. No method calls back before it
/// returns: answers, signals and `onDisconnect` come in a later round of the loop. The program goes
/// on when the bus is lost. Bound to the loop's thread.
package final class BusConnection: MessagePort {
    /// The address of a bus.
    package enum Bus: Hashable, Sendable {
        /// The user's session bus, according to the environment.
        case session
        case system
        /// The bus at a D-Bus address, such as "unix:path=/run/user/1000/bus".
        case address(String)
    }

    /// A subscription to signals, which ends when it is released.
    package final class Subscription {
        fileprivate let rule: MatchRule
        fileprivate let handler: (Signal) -> Void
        private weak var connection: BusConnection?

        fileprivate init(
            _ rule: MatchRule,
            _ connection: BusConnection,
            handler: @escaping (Signal) -> Void
        ) {
            self.rule = rule
            self.connection = connection
            self.handler = handler
        }

        deinit { connection?.unsubscribe(rule) }
    }

    private struct WeakSubscription {
        weak var subscription: Subscription?
    }

    let handle: Handle
    private let binding: LoopBinding
    private var subscriptions: [WeakSubscription] = []
    private var pending: [ObjectIdentifier: PendingCall] = [:]
    /// The handler of method calls. Without one, calls are answered with UnknownMethod.
    var onCall: ((Message) -> Void)?
    /// Answers a call of a caller that has too many waiting.
    var onExcess: (Message) -> Void = { _ in }
    /// The calls that wait for their turn, by caller.
    private var waiting = Turns<Message>()
    /// The most that wait of one caller.
    private static let mostWaiting = 1024
    /// Called in the round of the loop that follows `soon()`, before messages are dispatched.
    var onRound: () -> Void = {}
    /// Called once when the bus is lost; the connection is of no use afterwards.
    package var onDisconnect: () -> Void = {}

    /// Connects to `bus` and registers. Blocks until the bus answers. Throws the error of libdbus
    /// if there is no such bus, `Failed` without descriptors, or `NoMemory`.
    package convenience init(to bus: Bus = .session, loop: EventLoop) throws(DBusError) {
        try self.init(Handle(bus), loop: loop)
    }

    /// Connects to `bus` on a thread of its own, since a bus may take its time to answer. Calls
    /// `completion` on the loop's thread with the connection, or with an error as of `init`. Throws
    /// `SystemError` if the system is out of threads; `completion` is then not called.
    package static func open(
        _ bus: Bus,
        loop: EventLoop,
        completion: @escaping (Result<BusConnection, DBusError>) -> Void
    ) throws(SystemError) {
        // Unsafe: used on the loop's thread alone.
        nonisolated(unsafe) let (loop, completion) = (loop, completion)
        let mailbox = loop.mailbox
        let thread = try Thread(name: "bus") {
            // Unsafe: handed over to the loop's thread.
            nonisolated(unsafe) let handle = Result { () throws(DBusError) in try Handle(bus) }
            mailbox.post {
                completion(
                    handle.flatMap { handle in
                        Result { () throws(DBusError) in try BusConnection(handle, loop: loop) }
                    }
                )
            }
        }
        thread.detach()
    }

    private init(_ handle: Handle, loop: EventLoop) throws(DBusError) {
        self.handle = handle
        do {
            binding = try LoopBinding(connection: handle.pointer, loop: loop)
        } catch {
            throw .failed(error.description)
        }
        // Not retained: `deinit` removes the filter.
        let context = Unmanaged.passUnretained(self).toOpaque()
        let isAdded = dbus_connection_add_filter(
            handle.pointer,
            BusConnection.filter,
            context,
            nil
        )
        guard isAdded != 0 else {
            binding.detach()
            throw .noMemory
        }
        binding.onRound = { [unowned self] in onRound() }
        binding.onDispatched = { [unowned self] in serve() }
    }

    deinit {
        for call in pending.values { call.cancel() }
        dbus_connection_remove_filter(
            handle.pointer,
            BusConnection.filter,
            Unmanaged.passUnretained(self).toOpaque()
        )
        binding.detach()
    }

    /// The name given to this connection by the bus, such as ":1.42".
    package var uniqueName: String {
        dbus_bus_get_unique_name(handle.pointer).map { String(cString: $0) } ?? ""
    }

    /// `true` while the connection to the bus is open, as far as known.
    package var isConnected: Bool { dbus_connection_get_is_connected(handle.pointer) != 0 }

    /// Requests the bus name `name`. Blocks until the bus answers. Throws `AddressInUse` when
    /// another program has the name, or the error of the bus.
    package func requestName(_ name: String) throws(DBusError) {
        let result = try call(
            .bus("RequestName", [.string(name), .uint32(UInt32(DBUS_NAME_FLAG_DO_NOT_QUEUE))])
        )
        // 1: primary owner; 4: already the owner.
        guard let code = result.first?.integer, code == 1 || code == 4 else {
            throw DBusError(
                "org.freedesktop.DBus.Error.AddressInUse",
                "\(name) belongs to another program"
            )
        }
    }

    /// Waits until all messages have left the process, before the program ends.
    package func flush() { dbus_connection_flush(handle.pointer) }

    /// `true` while a message waits until the bus takes it.
    package var hasUnsent: Bool { dbus_connection_has_messages_to_send(handle.pointer) != 0 }

    // MARK: - Calls

    /// Calls a method, waits for the answer, and returns its values. Throws the error answered,
    /// `NoReply` after the call's timeout, or `InvalidArgs` for an invalid call. Blocks the thread:
    /// for clients, never in a handler.
    package func call(_ call: MethodCall) throws(DBusError) -> [Value] {
        let message = try Message(call)
        var failure = CDBus.DBusError()
        dbus_error_init(&failure)
        defer { dbus_error_free(&failure) }
        let reply = dbus_connection_send_with_reply_and_block(
            handle.pointer,
            message.pointer,
            milliseconds(call.timeout),
            &failure
        )
        guard let reply else { throw DBusError(taking: failure) }
        return try Message(owning: reply).values()
    }

    /// Calls a method, and calls `completion` with the values or the error of the answer.
    /// `completion` is called once, in a later round, with `NoReply` after the call's timeout;
    /// never after the connection is released. Throws `InvalidArgs` for an invalid call,
    /// `Disconnected` or `NoMemory`. `completion` is then not called.
    package func call(
        _ call: MethodCall,
        completion: @escaping (Result<[Value], DBusError>) -> Void
    ) throws(DBusError) {
        let message = try Message(call)
        var pointer: OpaquePointer?
        let isSent = dbus_connection_send_with_reply(
            handle.pointer,
            message.pointer,
            &pointer,
            milliseconds(call.timeout)
        )
        guard isSent != 0 else { throw .noMemory }
        guard let pointer else { throw .disconnected("the bus is gone") }
        let call = PendingCall(owning: pointer)
        let identifier = ObjectIdentifier(call)
        pending[identifier] = call
        call.onReply = { [unowned self] reply in
            pending[identifier] = nil
            completion(reply)
        }
        guard call.start() else {
            pending[identifier] = nil
            call.cancel()
            throw .noMemory
        }
    }

    /// Calls a method as `call(_:completion:)`, with the error at once if no call can be made.
    package func ask(
        _ call: MethodCall,
        completion: @escaping (Result<[Value], DBusError>) -> Void
    ) {
        do {
            try self.call(call, completion: completion)
        } catch {
            completion(.failure(error))
        }
    }

    /// libdbus takes milliseconds, of which INT_MAX means without end.
    private func milliseconds(_ seconds: Double) -> CInt {
        CInt(max(1, min(seconds * 1000, 1e9)))
    }

    // MARK: - Signals

    /// Calls `handler` for each signal that matches `rule`, until the subscription is released.
    package func subscribe(
        _ rule: MatchRule,
        handler: @escaping (Signal) -> Void
    ) -> Subscription {
        let subscription = Subscription(rule, self, handler: handler)
        subscriptions.append(WeakSubscription(subscription: subscription))
        // Without an error to fill in, this does not wait for the bus, which keeps the order.
        dbus_bus_add_match(handle.pointer, rule.text, nil)
        return subscription
    }

    private func unsubscribe(_ rule: MatchRule) {
        subscriptions.removeAll { $0.subscription == nil }
        guard isConnected else { return }
        dbus_bus_remove_match(handle.pointer, rule.text, nil)
    }

    /// Calls `handler` once the program of this unique name has left, while the result is kept.
    package func onLeaving(_ name: String, _ handler: @escaping () -> Void) -> AnyObject {
        let subscription = subscribe(.owner(of: name)) { signal in
            if signal.arguments.last?.string == "" { handler() }
        }
        // It may have left before.
        try? call(.bus("NameHasOwner", [.string(name)])) { [weak subscription] answer in
            if subscription != nil, (try? answer.get()) == [.boolean(false)] { handler() }
        }
        return subscription
    }

    // MARK: - Messages

    func soon() { binding.soon() }

    /// Sends `message`. Lost without an error when the bus is gone, which `onDisconnect` reports.
    func send(_ message: Message) {
        dbus_connection_send(handle.pointer, message.pointer, nil)
    }

    private static let filter: DBusHandleMessageFunction = { _, message, context in
        guard let message, let context else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
        let connection = Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue()
        return connection.receive(Message(retaining: message))
    }

    private func receive(_ message: Message) -> DBusHandlerResult {
        switch message.kind {
        case DBUS_MESSAGE_TYPE_METHOD_CALL:
            guard onCall != nil else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
            queue(message)
            return DBUS_HANDLER_RESULT_HANDLED
        case DBUS_MESSAGE_TYPE_SIGNAL:
            receive(signal: message)
            return DBUS_HANDLER_RESULT_HANDLED
        default:
            return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
        }
    }

    private func queue(_ call: Message) {
        let caller = call.sender ?? ""
        guard waiting.count(of: caller) < Self.mostWaiting else { return onExcess(call) }
        waiting.add(call, of: caller)
    }

    /// Passes calls on for a moment. Returns `true` if more are waiting.
    private func serve() -> Bool {
        let end = MonotonicClock.now + LoopBinding.moment
        while let call = waiting.next() {
            onCall?(call)
            if MonotonicClock.now >= end { break }
        }
        return !waiting.isEmpty
    }

    /// Ends the pending calls, which libdbus forgets when the bus is lost.
    private func end() {
        let calls = pending.values
        pending = [:]
        for call in calls {
            call.cancel()
            call.onReply(.failure(.disconnected("the bus is gone")))
        }
        onDisconnect()
    }

    private func receive(signal message: Message) {
        guard let path = message.path, let interface = message.interface,
            let member = message.member
        else { return }
        // libdbus makes this signal itself; the bus lets no program send it.
        if interface == "org.freedesktop.DBus.Local", message.sender == nil {
            if member == "Disconnected" { end() }
            return
        }
        // A signal over the limit of values is none that a subscriber waits for.
        guard let sender = message.sender, !subscriptions.isEmpty,
            let values = try? message.values()
        else { return }
        let signal = Signal(
            sender: sender,
            path: path,
            interface: interface,
            member: member,
            arguments: values
        )
        for subscription in subscriptions.compactMap(\.subscription)
        where subscription.rule.matches(signal) {
            subscription.handler(signal)
        }
    }
}

/// An owned, private DBusConnection, closed on release.
final class Handle {
    let pointer: OpaquePointer

    init(_ bus: BusConnection.Bus) throws(DBusError) {
        dbus_threads_init_default()
        var failure = CDBus.DBusError()
        dbus_error_init(&failure)
        defer { dbus_error_free(&failure) }
        switch bus {
        case .session, .system:
            let type = bus == .session ? DBUS_BUS_SESSION : DBUS_BUS_SYSTEM
            guard let pointer = dbus_bus_get_private(type, &failure) else {
                throw DBusError(taking: failure)
            }
            self.pointer = pointer
        case .address(let address):
            guard !address.utf8.contains(0),
                let pointer = dbus_connection_open_private(address, &failure)
            else { throw DBusError(taking: failure) }
            guard dbus_bus_register(pointer, &failure) != 0 else {
                dbus_connection_close(pointer)
                dbus_connection_unref(pointer)
                throw DBusError(taking: failure)
            }
            self.pointer = pointer
        }
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        // libdbus closes the connection when a message brings more descriptors than this. The
        // kernel passes at most 253 at once (SCM_MAX_FD), so no program can do that to us.
        dbus_connection_set_max_message_unix_fds(pointer, 253)
        // Above this it reads no further until messages are released.
        dbus_connection_set_max_received_unix_fds(pointer, 64)
    }

    deinit {
        dbus_connection_close(pointer)
        dbus_connection_unref(pointer)
    }
}

/// An owned DBusPendingCall.
final class PendingCall {
    private let pointer: OpaquePointer
    var onReply: (Result<[Value], DBusError>) -> Void = { _ in }

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { dbus_pending_call_unref(pointer) }

    /// Arms `onReply`, to be called once. Returns `false` when out of memory.
    func start() -> Bool {
        // Not retained: the connection holds the call until it is answered or cancelled.
        let context = Unmanaged.passUnretained(self).toOpaque()
        return dbus_pending_call_set_notify(
            pointer,
            { _, context in
                guard let context else { return }
                Unmanaged<PendingCall>.fromOpaque(context).takeUnretainedValue().finish()
            },
            context,
            nil
        ) != 0
    }

    /// Cancels the call: `onReply` will not be called.
    func cancel() { dbus_pending_call_cancel(pointer) }

    private func finish() {
        guard let stolen = dbus_pending_call_steal_reply(pointer) else { return }
        let reply = Message(owning: stolen)
        if let error = reply.error { return onReply(.failure(error)) }
        do { onReply(.success(try reply.values())) } catch { onReply(.failure(error)) }
    }
}

extension DBusError {
    init(taking error: CDBus.DBusError) {
        self.init(
            error.name.map { String(cString: $0) } ?? "org.freedesktop.DBus.Error.Failed",
            error.message.map { String(cString: $0) } ?? ""
        )
    }
}
