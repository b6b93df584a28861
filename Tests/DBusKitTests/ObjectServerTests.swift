import CDBus
import Frames
import Glibc
import Platform
import TestSupport
import Testing

@testable import DBusKit

let lamp = Interface(
    "org.example.Thing1.Lamp",
    methods: [
        Interface.Method("Blink", takes: ["times": "u", "options": "a{sv}"], gives: ["done": "b"]),
        Interface.Method("Forget", takes: ["options": "a{sv}"]),
        Interface.Method("Later", takes: ["options": "a{sv}"]),
        Interface.Method("Echo", takes: ["value": "v"], gives: ["value": "v"]),
        Interface.Method("Change", takes: ["options": "a{sv}"]),
    ],
    signals: [Interface.Signal("Blinked", ["times": "u"])],
    properties: [
        Interface.Property("Lit", "b", isWritable: true),
        Interface.Property("Brightness", "d", isWritable: true),
        Interface.Property("Hours", "t", change: .silent),
        Interface.Property("Maker", "s", change: .constant),
        Interface.Property("Picture", "ay", change: .invalidates),
    ]
)
let desk: ObjectPath = "/org/example/Thing1/lamps/desk"
private let properties = "org.freedesktop.DBus.Properties"

extension Stage {
    /// Exports a lamp whose methods answer as their names say.
    func exportLamp(at path: ObjectPath = desk, later: @escaping (Invocation) -> Void = { _ in }) {
        server.export(
            lamp,
            at: path,
            properties: [
                "Lit": .boolean(false), "Brightness": .double(0.5), "Hours": .uint64(12),
                "Maker": .string("Acme"), "Picture": .array([], of: .byte),
            ]
        ) { [unowned self] invocation in
            switch invocation.member {
            case "Blink":
                guard invocation.arguments[0] != .uint32(0) else {
                    return invocation.fail(
                        DBusKit.DBusError("org.example.Error.OutOfRange", "1 or more")
                    )
                }
                invocation.reply(.boolean(invocation.options["quick"]?.boolean ?? false))
            case "Later": later(invocation)
            case "Echo": invocation.reply(invocation.arguments[0])
            case "Change":
                server.set(["Lit": .boolean(true), "Hours": .uint64(13)], of: lamp, at: path)
                server.set(["Brightness": .double(1)], of: lamp, at: path)
                invocation.reply()
            default: break
            }
        } onWrite: { [unowned self] write in
            if write.value.double.map({ !(0...1).contains($0) }) ?? false {
                return write.refuse(DBusKit.DBusError("org.example.Error.OutOfRange", "0 to 1"))
            }
            server.set([write.property: write.value], of: lamp, at: write.path)
            write.accept()
        }
    }
}

@Suite("Object server", .timeLimit(.minutes(5))) struct ObjectServerTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test func realClientsCallAMethod() throws {
        stage.exportLamp()
        let object = "\(Stage.name) \(desk.text)"
        let busctl = try stage.run(
            "busctl --user call \(object) \(lamp.name) Blink ua{sv} 3 1 quick b true"
        )
        #expect(busctl.output == "b true\n", "\(busctl.errors)")
        let gdbus = try stage.run(
            "gdbus call --session --dest \(Stage.name) --object-path \(desk.text) "
                + "--method \(lamp.name).Blink 3 {'unknown':<[1,2]>}"
        )
        #expect(gdbus.output == "(false,)\n", "\(gdbus.errors)")
        let send = try stage.run(
            "dbus-send --session --print-reply --dest=\(object) \(lamp.name).Blink uint32:0 "
                + "dict:string:string:"
        )
        #expect(send.exit == .status(1))
        // dbus-send cannot write an a{sv}, so its error names the expected type.
        #expect(
            send.errors.contains(
                "org.freedesktop.DBus.Error.InvalidArgs: Blink takes (ua{sv}), not (ua{ss})"
            ),
            "\(send.errors)"
        )
    }

    @Test func everyPathOfTheTreeIsIntrospectable() throws {
        stage.exportLamp()
        stage.exportLamp(at: "/org/example/Thing1")
        let tree = try stage.run("busctl --user tree --list \(Stage.name)")
        #expect(
            tree.output.split(separator: "\n") == [
                "/", "/org", "/org/example", "/org/example/Thing1", "/org/example/Thing1/lamps",
                "/org/example/Thing1/lamps/desk",
            ],
            "\(tree.errors)"
        )
        let desk = try stage.run("busctl --user introspect \(Stage.name) \(desk.text)")
        for line in [
            ".Blink method ua{sv} b -", ".Lit property b false emits-change writable",
            ".Hours property t 12 -", ".Maker property s \"Acme\" const",
            ".Picture property ay 0 emits-invalidation", ".Blinked signal u - -",
            "org.freedesktop.DBus.Properties interface - - -",
            "org.freedesktop.DBus.Peer interface - - -",
            "org.freedesktop.DBus.Introspectable interface - - -",
        ] {
            let lines = desk.output.split(separator: "\n").map {
                $0.split(separator: " ").joined(separator: " ")
            }
            #expect(lines.contains(line), "\(line)")
        }
        #expect(!desk.output.contains("ObjectManager"))
        let root = try stage.run(
            "gdbus introspect --session --dest \(Stage.name) --object-path /org/example/Thing1"
        )
        #expect(root.output.contains("interface org.freedesktop.DBus.ObjectManager"))
        #expect(root.output.contains("node lamps {"))
    }

    static let refusals: [(String, String, ObjectPath, [Value], String, String)] = [
        ("Blink", lamp.name, "/org/example", [], "UnknownInterface", ""),
        ("Blink", lamp.name, "/nothing", [], "UnknownObject", ""),
        ("Blink", "org.example.Other", desk, [], "UnknownInterface", ""),
        ("Burn", lamp.name, desk, [], "UnknownMethod", ""),
        ("Blink", lamp.name, desk, [], "InvalidArgs", "Blink takes (ua{sv}), not ()"),
        (
            "Blink", lamp.name, desk, [.string(String(repeating: "x", count: 1_000_000))],
            "InvalidArgs", "Blink takes (ua{sv}), not (s)"
        ),
        ("Forget", lamp.name, desk, [.named([:])], "Failed", "Forget was not answered"),
        ("Get", properties, desk, [.string(lamp.name), .string("No")], "UnknownProperty", ""),
        ("Get", properties, desk, [.string("org.x.I"), .string("Lit")], "UnknownInterface", ""),
        ("Get", properties, desk, [.string(lamp.name)], "InvalidArgs", "Get takes (ss), not (s)"),
        ("Get", properties, "/nothing", [.string("a"), .string("b")], "UnknownObject", ""),
        ("GetAll", properties, desk, [.string("org.x.I")], "UnknownInterface", ""),
        (
            "Set", properties, desk, [.string(lamp.name), .string("Hours"), .variant(.uint64(1))],
            "PropertyReadOnly", ""
        ),
        (
            "Set", properties, desk, [.string(lamp.name), .string("Lit"), .variant(.string("on"))],
            "InvalidArgs", "Lit has the type b, not s"
        ),
        (
            "Set", properties, desk,
            [.string(lamp.name), .string("Lit"), .variant(.variant(.boolean(true)))],
            "InvalidArgs", "Lit has the type b, not v"
        ),
        (
            "Set", properties, desk,
            [
                .string(lamp.name), .string(String(repeating: "ö", count: 500_000)),
                .variant(.byte(1)),
            ],
            "UnknownProperty", ""
        ),
        (
            "GetManagedObjects", "org.freedesktop.DBus.ObjectManager", desk, [], "UnknownInterface",
            ""
        ),
    ]

    @Test func whatDoesNotFitIsRefusedByName() throws {
        let client = try stage.lampClient()
        for (member, interface, path, arguments, name, message) in Self.refusals {
            let answer = try stage.call(member, of: interface, at: path, arguments, from: client)
            guard case .failure(let error) = answer else {
                Issue.record("\(member) at \(path.text) was done")
                continue
            }
            #expect(error.name == "org.freedesktop.DBus.Error.\(name)", "\(member) \(error)")
            #expect(message.isEmpty || error.message == message + ".")
            #expect(error.message.unicodeScalars.count <= 1024)
        }
        let blink = try stage.call("Blink", [.uint32(0), .named([:])], from: client)
        #expect(blink == .failure(DBusKit.DBusError("org.example.Error.OutOfRange", "1 or more.")))
    }

    @Test func propertiesAreReadAndWritten() throws {
        let client = try stage.lampClient()
        func get(_ name: String, of interface: String = lamp.name) throws -> Value? {
            try stage.call(
                "Get",
                of: properties,
                [.string(interface), .string(name)],
                from: client
            ).get().first
        }
        func set(_ name: String, _ value: Value) throws -> Result<[Value], DBusKit.DBusError> {
            try stage.call(
                "Set",
                of: properties,
                [.string(lamp.name), .string(name), .variant(value)],
                from: client
            )
        }
        #expect(try get("Lit") == .variant(.boolean(false)))
        #expect(try get("Lit", of: "") == .variant(.boolean(false)))
        #expect(try set("Lit", .boolean(true)) == .success([]))
        #expect(try get("Lit") == .variant(.boolean(true)))
        for brightness: Double in [2, -.infinity, .nan] {
            let answer = try set("Brightness", .double(brightness))
            #expect(
                answer == .failure(DBusKit.DBusError("org.example.Error.OutOfRange", "0 to 1."))
            )
        }
        let all = try stage.call("GetAll", of: properties, [.string(lamp.name)], from: client)
        #expect(
            try all.get().first?.named == [
                "Lit": .boolean(true), "Brightness": .double(0.5), "Hours": .uint64(12),
                "Maker": .string("Acme"), "Picture": .array([], of: .byte),
            ]
        )
        let none = try stage.call("GetAll", of: properties, [.string(properties)], from: client)
        #expect(none == .success([.named([:])]))
    }

    @Test func oneChangeIsOneSignalBeforeTheAnswer() throws {
        let client = try stage.lampClient()
        var order: [String] = []
        var changes: [[Value]] = []
        let subscription = client.subscribe(MatchRule(interface: properties)) {
            order.append($0.member)
            changes.append($0.arguments)
        }
        try stage.settle(client)
        try client.call(Stage.lampCall("Change")) { _ in order.append("answer") }
        try stage.loop.wait(for: "the answer") { order.contains("answer") }
        #expect(order == ["PropertiesChanged", "answer"])
        #expect(
            changes == [
                [
                    .string(lamp.name),
                    .named(["Lit": .boolean(true), "Brightness": .double(1)]), .strings([]),
                ]
            ]
        )

        // Within a round: a change that is reverted is none, and unchanged values are not sent.
        changes = []
        stage.server.set(["Lit": .boolean(false)], of: lamp, at: desk)
        stage.server.set(["Lit": .boolean(true), "Hours": .uint64(99)], of: lamp, at: desk)
        stage.server.set(["Brightness": .double(1)], of: lamp, at: desk)
        try stage.settle(client)
        #expect(changes == [])
        stage.server.set(["Picture": .array([.byte(1)], of: .byte)], of: lamp, at: desk)
        try stage.settle(client)
        #expect(changes == [[.string(lamp.name), .named([:]), .strings(["Picture"])]])
        withExtendedLifetime(subscription) {}
    }

    @Test func aChangeIsToldWithoutACall() throws {
        let client = try stage.lampClient()
        var lit: Value?
        let subscription = client.subscribe(MatchRule(interface: properties)) {
            lit = $0.arguments[1].named?["Lit"]
        }
        try stage.settle(client)
        stage.server.set(["Lit": .boolean(true)], of: lamp, at: desk)
        try stage.loop.wait(for: "the change") { lit == .boolean(true) }
        withExtendedLifetime(subscription) {}
    }

    @Test func anAnswerMayComeLater() throws {
        var held: [Invocation] = []
        stage.exportLamp { held.append($0) }
        let client = try stage.client()
        var answers: [Result<[Value], DBusKit.DBusError>] = []
        let call = Stage.lampCall("Later")
        for _ in 0..<3 { try client.call(call) { answers.append($0) } }
        try stage.loop.wait(for: "the calls") { held.count == 3 }
        #expect(held.first?.sender == client.uniqueName)
        held[2].reply()
        held[0].fail(.failed("no"))
        held = []
        try stage.loop.wait(for: "the answers") { answers.count == 3 }
        // The call released without a reply is answered last.
        #expect(
            answers == [
                .success([]), .failure(.failed("No.")),
                .failure(.failed("Later was not answered.")),
            ]
        )
    }

    @Test func whoWantsNoAnswerGetsNone() throws {
        stage.exportLamp()
        let watcher = try stage.session.run(
            "dbus-monitor",
            ["--session", "type='error'", "type='method_return'"]
        )
        try eventually("dbus-monitor") { watcher.output.contains("NameLost") }
        for member in ["Blink", "Nothing"] {
            let send = try stage.run(
                "dbus-send --session --dest=\(Stage.name) \(desk.text) \(lamp.name).\(member)"
            )
            #expect(send.exit == .status(0))
        }
        let client = try stage.client()
        try stage.settle(client)
        #expect(!watcher.output.contains("error_name"), "\(watcher.output)")
    }

    @Test func anInterfaceMayBeLeftOut() throws {
        stage.exportLamp()
        stage.server.export(
            Interface("org.example.Thing1.Other", methods: [Interface.Method("Echo")]),
            at: desk
        )
        let client = try stage.client()
        func send(_ member: String) throws -> Message {
            let call = try #require(
                dbus_message_new_method_call(Stage.name, desk.text, nil, member)
            )
            defer { dbus_message_unref(call) }
            var pending: OpaquePointer?
            dbus_connection_send_with_reply(client.handle.pointer, call, &pending, 5_000)
            defer { dbus_pending_call_unref(pending) }
            try stage.loop.wait(for: "an answer") { dbus_pending_call_get_completed(pending) != 0 }
            return Message(owning: try #require(dbus_pending_call_steal_reply(pending)))
        }
        #expect(try send("Introspect").values().first?.string?.contains(lamp.name) == true)
        let error = "org.freedesktop.DBus.Error"
        #expect(try send("Blink").error?.name == "\(error).InvalidArgs")
        #expect(try send("Ping").error == nil)
        #expect(try send("Echo").error?.name == "\(error).UnknownMethod")
        #expect(try send("Nothing").error?.name == "\(error).UnknownMethod")
    }

    @Test func theObjectManagerTellsWhatComes() throws {
        stage.exportLamp(at: "/org/example/Thing1")
        stage.exportLamp()
        stage.exportLamp(at: "/org/example/Elsewhere")
        let client = try stage.client()
        var news: [(String, Value)] = []
        let manager = "org.freedesktop.DBus.ObjectManager"
        let subscription = client.subscribe(MatchRule(interface: manager)) {
            news.append(($0.member, $0.arguments[0]))
        }
        try stage.settle(client)
        news = []
        let objects = try stage.call(
            "GetManagedObjects",
            of: manager,
            at: "/org/example/Thing1",
            from: client
        ).get()
        guard case .dictionary(let entries, _, _)? = objects.first else {
            Issue.record("no dictionary")
            return
        }
        #expect(entries.keys.map(\.objectPath) == [desk])
        guard case .dictionary(let values, _, _)? = entries[.objectPath(desk)] else {
            Issue.record("no interfaces")
            return
        }
        #expect(values[.string(lamp.name)]?.named?["Maker"] == .string("Acme"))

        let hall: ObjectPath = "/org/example/Thing1/lamps/hall"
        stage.exportLamp(at: hall)
        try stage.settle(client)
        #expect(news.map(\.0) == ["InterfacesAdded"])
        #expect(news.map(\.1.objectPath) == [hall])
        withExtendedLifetime(subscription) {}
    }

    @Test func whatAnObjectGetsLaterIsAnnouncedAlone() throws {
        let client = try stage.lampClient()
        var told: [[Value]] = []
        let rule = MatchRule(sender: stage.connection.uniqueName, member: "InterfacesAdded")
        let subscription = client.subscribe(rule) { told.append($0.arguments) }
        try stage.settle(client)
        told = []
        for name in ["Clock", "Socket"] {
            let interface = Interface(
                "org.example.Thing1.\(name)",
                properties: [Interface.Property("Time", "t")]
            )
            stage.server.export(interface, at: desk, properties: ["Time": .uint64(1)])
            try stage.settle(client)
            guard case .dictionary(let entries, _, _)? = told.last?.last else {
                Issue.record("\(name) was not announced")
                continue
            }
            #expect(entries.keys.map(\.string) == [interface.name])
        }
        #expect(told.count == 2)
        withExtendedLifetime(subscription) {}
    }

    @Test func eachCallHasATimeOutOfItsOwn() throws {
        var kept: [Invocation] = []
        stage.exportLamp { kept.append($0) }
        let client = try stage.client()
        var ended: Set<Double> = []
        for timeout in [0.6, 0.02, 0.3] {
            let call = Stage.lampCall("Later", timeout: timeout)
            try client.call(call) { answer in
                if case .failure(let error) = answer, error.name.hasSuffix(".NoReply") {
                    ended.insert(timeout)
                }
            }
        }
        try stage.loop.wait(for: "the ends of the calls") { ended.count == 3 }
    }

    @Test func thePeerAnswers() throws {
        let ping = try stage.run(
            "busctl --user call \(Stage.name) / org.freedesktop.DBus.Peer Ping"
        )
        #expect(ping.exit == .status(0), "\(ping.errors)")
    }

    @Test func whatIsDeepOrLargeComesBack() throws {
        let client = try stage.lampClient()
        let deep = (0..<60).reduce(Value.byte(1)) { value, _ in .variant(value) }
        let large = Value.variant(.string(String(repeating: "x", count: 1_000_000)))
        for value in [deep, large, .variant(.named(["a": .double(1)]))] {
            #expect(try stage.call("Echo", [value], from: client) == .success([value]))
        }
        let many = Value.variant(.array(Array(repeating: .byte(0), count: 200_000), of: .byte))
        let answer = try stage.call("Echo", [many], from: client)
        guard case .failure(let error) = answer else { throw TimedOut("a failure", after: 0) }
        #expect(error.name == "org.freedesktop.DBus.Error.LimitsExceeded")
    }

    @Test func aFloodLeavesTheLoopItsTurn() throws {
        let client = try stage.lampClient()
        var answers = 0
        for _ in 0..<5_000 {
            try client.call(Stage.lampCall("Blink", [.uint32(1), .named([:])])) { _ in answers += 1
            }
        }
        var most = 0
        var before = 0
        try stage.loop.wait(for: "all answers") {
            most = max(most, answers - before)
            before = answers
            return answers == 5_000
        }
        // A round serves some dozens of messages, not thousands.
        #expect(most < 500)
    }

    @Test func `the calls of several callers are answered in turn`() throws {
        stage.exportLamp { invocation in
            usleep(5000)
            invocation.reply()
        }
        let (greedy, other) = (try stage.client(), try stage.client())
        var answers = 0
        // As many as this bus lets wait.
        for _ in 0..<128 {
            try greedy.call(Stage.lampCall("Later", timeout: 60)) { _ in answers += 1 }
        }
        greedy.flush()
        var isAnswered = false
        try other.call(Stage.lampCall("Later")) { _ in isAnswered = true }
        try stage.loop.wait(for: "the answer to the other") { isAnswered }
        // All of them came before it.
        #expect(answers < 64)
        try stage.loop.wait(for: "the other answers") { answers == 128 }
    }
}
