import Testing

@testable import DBusKit

private let lamp = Interface(
    "org.example.Thing1.Lamp",
    methods: [
        Interface.Method("Blink", takes: ["times": "u", "options": "a{sv}"], gives: ["done": "b"]),
        Interface.Method("Forget", takes: ["options": "a{sv}"]),
        Interface.Method("Later", takes: ["options": "a{sv}"]),
        Interface.Method("Refuse", takes: ["options": "a{sv}"]),
        Interface.Method("Echo", takes: ["value": "v"], gives: ["value": "v"]),
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
private let path: ObjectPath = "/org/example/Thing1/lamps/desk"
private let properties = "org.freedesktop.DBus.Properties"

extension Stage {
    fileprivate func exportLamp(
        at place: ObjectPath = path,
        onCall: @escaping (Invocation) -> Void = { _ in }
    ) {
        server.export(
            lamp,
            at: place,
            properties: [
                "Lit": .boolean(false), "Brightness": .double(0.5), "Hours": .uint64(12),
                "Maker": .string("Ørsted"), "Picture": .array([], of: .byte),
            ],
            onCall: onCall
        ) { [unowned self] write in
            if write.value.double.map({ !(0...1).contains($0) }) ?? false {
                return write.refuse(DBusError("org.example.Error.OutOfRange", "0 to 1"))
            }
            server.set([write.property: write.value], of: lamp, at: write.path)
            write.accept()
        }
    }
}

@Suite("Object server", .timeLimit(.minutes(1)))
struct ObjectServerTests {
    @Test func aRealClientCallsAMethod() throws {
        let stage = try Stage()
        stage.exportLamp { $0.reply(.boolean($0.arguments[0] == .uint32(3))) }
        let (status, output, errors) = try stage.run(
            "busctl",
            "--user",
            "call",
            Stage.name,
            path.text,
            lamp.name,
            "Blink",
            "ua{sv}",
            "3",
            "0"
        )
        #expect(status == 0, "\(errors)")
        #expect(output == "b true\n")
    }
}
