import Frames

/// The answer owed to a call: given once, or Failed at release. Bound to the connection's thread.
final class Answer {
    /// The recipient. The call itself is not kept: it holds descriptors of the caller's.
    let address: ReplyAddress
    private let port: any MessagePort
    private let beforeSending: () -> Void
    private var isGiven = false
    /// Called once it is given.
    var onGiven: () -> Void = {}
    /// Watches the caller.
    private var watch: AnyObject?

    /// Creates the answer to `call`. `beforeSending` is called first, so that the changes made by
    /// the call are sent before its answer.
    init(to call: Message, on port: any MessagePort, beforeSending: @escaping () -> Void) {
        address = ReplyAddress(of: call)
        self.port = port
        self.beforeSending = beforeSending
    }

    deinit {
        if !isGiven { give(.failure(.failed("\(address.member) was not answered"))) }
    }

    /// Calls `handler` if the caller leaves the bus before the answer.
    func whenCallerLeaves(_ handler: @escaping () -> Void) {
        guard !isGiven, !address.sender.isEmpty else { return }
        watch = port.onLeaving(address.sender) { [weak self] in
            guard self?.isGiven == false else { return }
            handler()
        }
    }

    /// Calls `handler` once the caller has left, even after the answer, while the result is kept.
    func onLeaving(_ handler: @escaping () -> Void) -> AnyObject {
        port.onLeaving(address.sender, handler)
    }

    func give(_ result: Result<[Value], DBusError>) {
        precondition(!isGiven, "a call answered twice")
        isGiven = true
        watch = nil
        onGiven()
        beforeSending()
        guard address.wantsReply else { return }
        do {
            switch result {
            case .success(let values): port.send(try Message(replyTo: address, values))
            case .failure(let error):
                let error = DBusError(error.name, error.message.sentence)
                port.send(try Message(error, replyTo: address))
            }
        } catch {
            // The values cannot be sent, but the caller must not wait for ever.
            if let message = try? Message(error, replyTo: address) { port.send(message) }
        }
    }
}

/// A call of an exported method, with arguments of the declared types. Answer it exactly once, with
/// `reply` or `fail`, at once or in a later round of the loop. A call released without an answer is
/// answered with org.freedesktop.DBus.Error.Failed. Bound to the connection's thread.
package struct Invocation {
    let method: Interface.Method
    package let interface: String
    package let path: ObjectPath
    /// The arguments, one for each that the interface declares.
    package let arguments: [Value]
    let answer: Answer

    package var member: String { method.name }

    /// The unique name of the caller, such as ":1.42".
    package var sender: String { answer.address.sender }

    /// The last argument if it is an `a{sv}`, the `options` at the end of DualCam's methods;
    /// otherwise empty. Values may be of any type; unknown options are to be ignored.
    package var options: [String: Value] { arguments.last?.named ?? [:] }

    /// Answers with the values of the method, of exactly the declared types.
    package func reply(_ values: Value...) { reply(values) }

    /// Answers with the values of the method, of exactly the declared types.
    package func reply(_ values: [Value]) {
        precondition(
            values.map(\.type) == method.gives.map(\.type),
            "\(member) gives (\(method.gives.map(\.type.code).joined()))"
        )
        answer.give(.success(values))
    }

    /// Answers with an error.
    package func fail(_ error: DBusError) { answer.give(.failure(error)) }
}

/// A request to set an exported property, with a value of the declared type. Answer it exactly
/// once, with `accept` or `refuse`, as an `Invocation`. Accepting does not store the value: the
/// owner calls `set` before it accepts. Bound to the connection's thread.
package struct PropertyWrite {
    package let property: String
    package let interface: String
    package let path: ObjectPath
    package let value: Value
    /// The unique name of the caller, such as ":1.42".
    package let sender: String
    let answer: (Result<Void, DBusError>) -> Void

    /// Answers with success.
    package func accept() { answer(.success(())) }

    /// Answers with an error.
    package func refuse(_ error: DBusError) { answer(.failure(error)) }
}
