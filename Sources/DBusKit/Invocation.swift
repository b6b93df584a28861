/// The one answer that is owed for a call: given once, now or later; Failed when it is forgotten.
///
/// - Context: bound to the connection's thread.
final class Answer {
    let call: Message
    private let connection: BusConnection
    private let beforeSending: () -> Void
    private var isGiven = false

    /// `beforeSending` is called first, so that what the call changed is told before its answer.
    init(to call: Message, on connection: BusConnection, beforeSending: @escaping () -> Void) {
        self.call = call
        self.connection = connection
        self.beforeSending = beforeSending
    }

    deinit {
        if !isGiven { give(.failure(.failed("\(call.member ?? "The call") was not answered"))) }
    }

    func give(_ result: Result<[Value], DBusError>) {
        precondition(!isGiven, "a call answered twice")
        isGiven = true
        beforeSending()
        guard call.wantsReply else { return }
        do {
            switch result {
            case .success(let values): connection.send(try Message(replyTo: call, values))
            case .failure(let error): connection.send(try Message(error, replyTo: call))
            }
        } catch {
            // The values cannot be sent; the caller shall not wait for ever.
            if let message = try? Message(error, replyTo: call) { connection.send(message) }
        }
    }
}

/// A method of ours that somebody called. Its arguments are of the declared types.
///
/// Answer it exactly once, with `reply` or `fail`, at once or in a later round of the loop. One
/// that is released without an answer is answered with org.freedesktop.DBus.Error.Failed.
///
/// - Context: bound to the connection's thread.
package final class Invocation {
    /// The object that is called.
    package let path: ObjectPath
    /// The interface that the method belongs to.
    package let interface: String
    /// The method's name.
    package let member: String
    /// One for each argument that the interface declares.
    package let arguments: [Value]
    private let method: Interface.Method
    private let answer: Answer

    init(
        _ method: Interface.Method,
        of interface: String,
        at path: ObjectPath,
        arguments: [Value],
        answer: Answer
    ) {
        self.method = method
        self.interface = interface
        self.path = path
        self.arguments = arguments
        self.answer = answer
        member = method.name
    }

    /// The unique name of the caller: ":1.42".
    package var sender: String { answer.call.sender ?? "" }

    /// The last argument, where it is the `options a{sv}` that our methods end with; its values
    /// are of any type. Options that are not known are to be passed over.
    package var options: [String: Value] { arguments.last?.named ?? [:] }

    /// Answers with what the method gives, of exactly the declared types.
    package func reply(_ values: Value...) {
        precondition(
            values.map(\.type) == method.gives.map(\.type),
            "\(member) gives (\(method.gives.map(\.type.code).joined()))"
        )
        answer.give(.success(values))
    }

    /// Answers that it could not be done.
    package func fail(_ error: DBusError) { answer.give(.failure(error)) }
}

/// A property of ours that somebody writes. The value is of the declared type.
///
/// Answer it exactly once, with `accept` or `refuse`, as an `Invocation`. Accepting does not store
/// the value: the property changes when the owner `set`s it, before it accepts.
///
/// - Context: bound to the connection's thread.
package final class PropertyWrite {
    /// The object whose property it is.
    package let path: ObjectPath
    /// The interface that the property belongs to.
    package let interface: String
    /// The property's name.
    package let property: String
    /// The value asked for, of the property's type.
    package let value: Value
    private let answer: Answer

    init(
        _ property: String,
        of interface: String,
        at path: ObjectPath,
        value: Value,
        answer: Answer
    ) {
        self.property = property
        self.interface = interface
        self.path = path
        self.value = value
        self.answer = answer
    }

    /// The unique name of the caller: ":1.42".
    package var sender: String { answer.call.sender ?? "" }

    /// Answers that it is done.
    package func accept() { answer.give(.success([])) }

    /// Answers that it could not be done.
    package func refuse(_ error: DBusError) { answer.give(.failure(error)) }
}
