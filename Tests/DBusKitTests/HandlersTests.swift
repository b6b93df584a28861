import CDBus
import Glibc
import Testing

@testable import DBusKit

/// The lamp of `ObjectServerTests`, with typed members.
private struct LampInterface: InterfaceMembers {
    static let name = "org.example.Thing1.Lamp"
    static let members = LampInterface()

    struct Blink: OptionMembers {
        init() {}
        let quick = OptionMember<Bool>("quick")
        let colours = OptionMember<[String]>("colours")
    }

    let blink = MethodMember(
        "Blink",
        takes: ArgumentMember<UInt32>("times"),
        options: Blink.self,
        gives: ArgumentMember<Bool>("done"),
        for: .everyone
    )
    let burn = MethodMember("Burn")
    let lit = PropertyMember<Bool>("Lit", .readWrite, harmless: false)
    let hours = PropertyMember<UInt64>("Hours")
    let blinked = SignalMember("Blinked", ArgumentMember<UInt32>("times"))
}

/// Properties and an option that are numbers.
private struct NumberInterface: InterfaceMembers {
    static let name = "org.example.Thing1.Numbers"
    static let members = NumberInterface()

    struct Wait: OptionMembers {
        init() {}
        let hours = OptionMember<UInt32>("hours")
    }

    let wait = MethodMember("Wait", options: Wait.self)
    let hours = PropertyMember<UInt32>("Hours", .readWrite)
    let share = PropertyMember<Double>("Share", .readWrite)
}

/// A server without a bus: what is sent to it is delivered at once, and what it sends is kept.
private final class Loopback: MessagePort {
    var onCall: ((Message) -> Void)?
    var onRound: () -> Void = {}
    private(set) var sent: [Message] = []
    var leaving: [String: () -> Void] = [:]
    private var serial: UInt32 = 0

    func soon() {}
    func send(_ message: Message) { sent.append(message) }
    func onLeaving(_ name: String, _ handler: @escaping () -> Void) -> AnyObject {
        leaving[name] = handler
        return self
    }

    func call(
        _ member: String,
        of interface: String = LampInterface.name,
        _ arguments: [Value] = [],
        from sender: String = ":1.1"
    ) throws {
        let message = try Message(
            MethodCall(member, of: interface, at: desk, on: Stage.name, arguments)
        )
        serial += 1
        dbus_message_set_serial(message.pointer, serial)
        dbus_message_set_sender(message.pointer, sender)
        onCall?(message)
    }

    func set(_ property: String, _ value: Value, from sender: String = ":1.1") throws {
        try call(
            "Set",
            of: "org.freedesktop.DBus.Properties",
            [.string(LampInterface.name), .string(property), .variant(value)],
            from: sender
        )
    }

    var last: String {
        guard let message = sent.last else { return "nothing" }
        return message.error?.name ?? "\((try? message.values()) ?? [])"
    }

    /// The members or error names of all that was sent, in order.
    var order: [String] {
        sent.map {
            $0.error?.name.split(separator: ".").last.map(String.init) ?? $0.member ?? "reply"
        }
    }
}

@Suite("Handlers") struct HandlersTests {
    private let port = Loopback()
    private let server: ObjectServer

    init() { server = ObjectServer(port: port) }

    private func export(burn: @escaping (Call<Void, NoOptions, Void>) -> Void = { $0.reply() }) {
        server.export(LampInterface.self, at: desk) { lamp in
            lamp.answer(\.blink) { [server] call throws(DBusKit.DBusError) in
                guard call.arguments > 0 else { throw .failed("never") }
                server.emit(\LampInterface.blinked, at: desk, call.arguments)
                call.reply(call.options.quick ?? false)
            }
            lamp.answer(\.burn) { burn($0) }
            lamp.get(\.lit) { true }
            lamp.set(\.lit) { _ in }
            lamp.get(\.hours) { 12 }
        }
    }

    @Test func aMemberWithoutAHandlerIsMissing() {
        let handlers = Handlers<LampInterface>()
        #expect(handlers.missing == ["Blink", "Burn", "Lit", "Hours"])
        handlers.answer(\.blink) { $0.reply(true) }
        handlers.get(\.lit) { true }
        handlers.get(\.hours) { 1 }
        #expect(handlers.missing == ["Burn", "Lit"])
        handlers.set(\.lit) { _ in }
        handlers.answer(\.burn) { $0.reply() }
        #expect(handlers.missing == [])
    }

    @Test func callsHaveTypedArgumentsAndOptions() throws {
        export()
        let none = Value.named([:])
        try port.call("Blink", [.uint32(2), .named(["quick": .boolean(true)])])
        #expect(port.order == ["Blinked", "reply"])
        #expect(try port.sent.last?.values() == [.boolean(true)])
        try port.call("Blink", [.uint32(2), .named(["other": .string("ignored")])])
        #expect(try port.sent.last?.values() == [.boolean(false)])
        try port.call("Blink", [.uint32(0), none])
        #expect(port.last == "org.freedesktop.DBus.Error.Failed")
        for wrong: [Value] in [
            [.int32(2), none], [.uint32(2)], [.uint32(2), .named(["quick": .string("yes")])],
            [.uint32(2), .named(["quick": .variant(.boolean(true))])],
        ] {
            try port.call("Blink", wrong)
            #expect(port.last == "org.freedesktop.DBus.Error.InvalidArgs", "\(wrong)")
        }
        try port.set("Lit", .string("on"))
        #expect(port.last == "org.freedesktop.DBus.Error.InvalidArgs")
        try port.set("Lit", .boolean(false))
        #expect(port.last == "[]")
    }

    @Test func anIntegerOfAnyTypeThatFitsIsTaken() throws {
        var hours: [UInt32] = []
        var shares: [Double] = []
        server.export(NumberInterface.self, at: desk) { numbers in
            numbers.get(\.hours) { hours.last ?? 0 }
            numbers.set(\.hours) { hours.append($0) }
            numbers.get(\.share) { shares.last ?? 0 }
            numbers.set(\.share) { shares.append($0) }
            numbers.answer(\.wait) { call in
                hours.append(call.options.hours ?? 0)
                call.reply()
            }
        }
        func set(_ property: String, _ value: Value) throws {
            try port.call(
                "Set",
                of: "org.freedesktop.DBus.Properties",
                [.string(NumberInterface.name), .string(property), .variant(value)]
            )
        }
        for value: Value in [.int32(90), .byte(1), .int64(2), .uint64(3)] {
            try set("Hours", value)
            #expect(port.last == "[]")
        }
        try set("Share", .int32(2))
        try port.call("Wait", of: NumberInterface.name, [.named(["hours": .int32(7)])])
        #expect(hours == [90, 1, 2, 3, 7] && shares == [2])
        for value: Value in [.int32(-1), .uint64(1 << 32), .double(1)] {
            try set("Hours", value)
            #expect(port.last == "org.freedesktop.DBus.Error.InvalidArgs", "\(value)")
        }
    }

    @Test func stepsAreTakenFromWhatThereIsByThoseWhoMaySetIt() throws {
        var isLit = false
        server.export(LampInterface.self, at: desk) { lamp in
            lamp.answer(\.blink) { $0.reply(true) }
            lamp.answer(\.burn) { $0.reply() }
            lamp.get(\.lit) { isLit }
            lamp.set(\.lit) { isLit = $0 }
            lamp.get(\.hours) { 12 }
            lamp.step(\.hours) { step throws(DBusKit.DBusError) in
                guard try step.number < 9 else { throw .failed("too many") }
                step.accept(isLimited: true)
            }
        }
        var told: [String] = []
        func step(_ property: String, _ change: Value) {
            server.step(property, of: LampInterface.name, at: desk, by: change) { result in
                switch result {
                case .success(let (value, isLimited)): told.append("\(value) \(isLimited)")
                case .failure(let error): told.append("\(error)")
                }
            }
        }
        for _ in 0..<3 { step("Lit", .string("toggle")) }
        #expect(told == ["boolean(true) false", "boolean(false) false", "boolean(true) false"])
        told = []
        step("Hours", .int32(1))
        step("Hours", .double(9))
        step("Hours", .string("next"))
        step("Lit", .double(0.5))
        step("None", .int32(1))
        #expect(told.count == 5 && told[0] == "uint64(12) true" && told[1] == "too many")
    }

    @Test func oneElementMayStandForAListOfOne() throws {
        var colours: [[String]?] = []
        server.export(LampInterface.self, at: desk) { lamp in
            lamp.answer(\.blink) { call in
                colours.append(call.options.colours)
                call.reply(true)
            }
            lamp.answer(\.burn) { $0.reply() }
            lamp.get(\.lit) { true }
            lamp.set(\.lit) { _ in }
            lamp.get(\.hours) { 12 }
        }
        for value: Value in [.string("red"), .strings(["red", "blue"]), .strings([])] {
            try port.call("Blink", [.uint32(1), .named(["colours": value])])
            #expect(port.sent.last?.error == nil, "\(value)")
        }
        #expect(colours == [["red"], ["red", "blue"], []])
        for wrong: Value in [.uint32(1), .array([.uint32(1)], of: .uint32)] {
            try port.call("Blink", [.uint32(1), .named(["colours": wrong])])
            #expect(port.last == "org.freedesktop.DBus.Error.InvalidArgs", "\(wrong)")
        }
    }

    @Test func oneCallerMayNotHaveManyCallsWaiting() throws {
        var waiting: [Call<Void, NoOptions, Void>] = []
        export { waiting.append($0) }
        for _ in 0..<64 { try port.call("Burn", [.named([:])]) }
        #expect(port.sent.isEmpty)
        try port.call("Burn", [.named([:])])
        #expect(port.last == "org.freedesktop.DBus.Error.LimitsExceeded")
        try port.call("Burn", [.named([:])], from: ":1.2")
        #expect(waiting.count == 65 && port.sent.count == 1)
        waiting[0].reply()
        try port.call("Burn", [.named([:])])
        #expect(waiting.count == 66 && port.sent.count == 2)
        for call in waiting.dropFirst() { call.reply() }
        #expect(server.unanswered.isEmpty)
    }

    @Test func aCallerThatLeavesIsReportedUntilTheAnswer() throws {
        var calls: [Call<Void, NoOptions, Void>] = []
        export { calls.append($0) }
        var gone = 0
        for _ in 0..<2 { try port.call("Burn", [.named([:])]) }
        calls[0].whenCallerLeaves { gone += 1 }
        port.leaving[":1.1"]?()
        #expect(gone == 1)
        calls[0].reply()
        port.leaving[":1.1"]?()
        #expect(gone == 1)
        calls[1].reply()
        calls[1].whenCallerLeaves { gone += 1 }
        port.leaving[":1.1"]?()
        #expect(gone == 1)
    }

    @Test func whoIsNotTrustedMayDoWhatIsForEveryone() throws {
        export()
        server.isTrusted = { caller, decide in decide(caller == ":1.1") }
        let denied = "org.freedesktop.DBus.Error.AccessDenied"
        for (caller, expected) in [(":1.1", "[]"), (":1.9", denied)] {
            try port.call("Burn", [.named([:])], from: caller)
            #expect(port.last == expected)
            try port.set("Lit", .boolean(true), from: caller)
            #expect(port.last == expected)
            try port.set("Lit", .boolean(false), from: caller)
            #expect(port.last == "[]")
            try port.call("Blink", [.uint32(1), .named([:])], from: caller)
            #expect(try port.sent.last?.values() == [.boolean(false)])
            try port.call(
                "GetAll",
                of: "org.freedesktop.DBus.Properties",
                [.string("")],
                from: caller
            )
            #expect(port.sent.last?.error == nil)
        }
    }

    @Test func callsKeepTheirOrderWhileTrustIsDecided() throws {
        export()
        var decide: [(Bool) -> Void] = []
        server.isTrusted = { decide.append($1) }
        try port.call("Burn", [.named([:])])
        try port.call("Blink", [.uint32(1), .named([:])])
        try port.set("Lit", .boolean(true))
        try port.call("Blink", [.uint32(0), .named([:])], from: ":1.2")
        // Another caller does not wait.
        #expect(port.order == ["Failed"] && decide.count == 1)
        decide[0](false)
        #expect(port.order == ["Failed", "AccessDenied", "Blinked", "reply"])
        try #require(decide.count == 2)
        decide[1](true)
        #expect(port.order.last == "reply" && port.sent.count == 5)
        #expect(server.unanswered.isEmpty && server.held.isEmpty)
    }

    @Test func aMessageMayNameFewDescriptors() throws {
        export()
        let file = SharedDescriptor(owning: dup(0))
        let many = Value.array(Array(repeating: .descriptor(file), count: 100), of: .descriptor)
        try port.call("Blink", [.uint32(1), .named(["files": many])])
        #expect(port.last == "org.freedesktop.DBus.Error.LimitsExceeded")
        try port.call("Blink", [.uint32(1), .named(["file": .descriptor(file)])])
        #expect(port.sent.last?.error == nil)
    }

    @Test func `what a handler refuses is refused, with its reason, whenever it does`() throws {
        var later: [Write<Bool>] = []
        server.export(LampInterface.self, at: desk) { lamp in
            lamp.answer(\.blink) { call throws(DBusKit.DBusError) in throw .failed("no") }
            lamp.answer(\.burn) { $0.fail(.limitsExceeded("no")) }
            lamp.get(\.lit) { true }
            lamp.setLater(\.lit) { write throws(DBusKit.DBusError) in
                guard write.value else { throw .invalidArguments("no") }
                later.append(write)
            }
            lamp.get(\.hours) { 12 }
        }
        try port.call("Blink", [.uint32(1), .named([:])])
        try port.call("Burn", [.named([:])])
        try port.set("Lit", .boolean(false))
        for _ in 0..<2 { try port.set("Lit", .boolean(true)) }
        #expect(port.order == ["Failed", "LimitsExceeded", "InvalidArgs"])
        try #require(later.count == 2)
        later[0].refuse(.unknownProperty("no"))
        later[1].accept()
        #expect(port.order.dropFirst(3) == ["UnknownProperty", "reply"])
        #expect(port.sent.prefix(4).allSatisfy { $0.error?.message == "No." })
        #expect(server.unanswered.isEmpty)
    }

    @Test func `a value that cannot be changed refuses each value, for any type`() throws {
        server.export(LampInterface.self, at: desk) { lamp in
            lamp.answer(\.blink) { $0.reply(true) }
            lamp.answer(\.burn) { $0.reply() }
            lamp.get(\.lit) { true }
            lamp.set(\.lit) { isOn throws(DBusKit.DBusError) in
                if !isOn { throw .failed("it stays on") }
            }
            lamp.get(\.hours) { 12 }
        }
        try port.set("Lit", .boolean(false))
        #expect(port.sent.last?.error?.message == "It stays on.")
        try port.set("Lit", .boolean(true))
        #expect(port.last == "[]")
        try port.set("Hours", .uint64(1))
        #expect(port.last == "org.freedesktop.DBus.Error.PropertyReadOnly")
    }
}
