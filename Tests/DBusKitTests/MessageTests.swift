import CDBus
import Glibc
import TestSupport
import Testing

@testable import DBusKit

private func sent(_ values: [Value]) throws -> Message {
    let message = try Message(signal: "S", of: "org.example.I", at: "/", values)
    dbus_message_set_serial(message.pointer, 1)
    var bytes: UnsafeMutablePointer<CChar>?
    var count: CInt = 0
    try #require(dbus_message_marshal(message.pointer, &bytes, &count) != 0)
    defer { dbus_free(bytes) }
    let copy = try #require(
        dbus_message_demarshal(bytes, count, nil),
        "libdbus takes it for broken"
    )
    return Message(owning: copy)
}

private func nested(_ value: Value, _ count: Int) -> Value {
    (0..<count).reduce(value) { value, _ in .variant(value) }
}

@Suite("Messages") struct MessageTests {
    @Test(
        arguments: [
            [],
            [.byte(255), .boolean(true), .boolean(false), .int16(.min), .uint16(.max)],
            [
                .int32(.min), .uint32(.max), .int64(.min), .uint64(.max), .double(-0.0),
                .double(.infinity),
            ],
            [
                .string(""), .string("Ørsted 🎥\u{FFFF}"), .objectPath(.root),
                .signature(Signature([])),
            ],
            [.strings([]), .strings(["a", "", "b"]), .named([:]), .array([], of: "(si)")],
            [
                .named([
                    "a": .uint32(1), "b": .named(["c": .strings(["d"])]), "": .variant(.byte(1)),
                ])
            ],
            [.structure([.string("x"), .structure([.double(1), .array([.byte(1)], of: .byte)])])],
            [.dictionary([.uint32(7): .strings(["s"])], key: .uint32, value: "as")],
            [.dictionary([.objectPath("/a"): .named([:])], key: .objectPath, value: "a{sv}")],
            [.array([.variant(.byte(1)), .variant(.string("two"))], of: .variant)],
            [.string(String(repeating: "ö", count: 500_000))],
            [nested(.byte(1), 63)],
        ] as [[Value]]
    )
    func valuesArriveAsTheyWereSent(_ values: [Value]) throws {
        let message = try sent(values)
        #expect(message.signature == Signature(values.map(\.type)).text)
        #expect(try message.values() == values)
    }

    @Test func notANumberArrives() throws {
        #expect(try sent([.double(.nan)]).values().first?.double?.isNaN == true)
    }

    @Test func aNulInAStringIsReplaced() throws {
        #expect(try sent([.string("a\0b")]).values() == [.string("a\u{FFFD}b")])
    }

    @Test func aDescriptorArrivesAsACopyOfItsOwn() throws {
        let ends = try unsharedPipe()
        let input = SharedDescriptor(owning: ends.reader)
        let sent = SharedDescriptor(owning: ends.writer)
        let message = try Message(signal: "S", of: "org.example.I", at: "/", [.descriptor(sent)])
        guard case .descriptor(let output)? = try message.values().first else {
            Issue.record("no descriptor")
            return
        }
        #expect(output.number != sent.number)
        #expect(write(output.number, "!", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(input.number, &byte, 1) == 1)
        #expect(byte == UInt8(ascii: "!"))
    }

    @Test(
        arguments: [
            .array([.byte(1), .string("x")], of: .byte),
            .dictionary([.string("a"): .byte(1)], key: .string, value: .string),
            .dictionary([:], key: .variant, value: .string),
            .structure([]),
            nested(.byte(1), 65),
            .variant(.structure(Array(repeating: .byte(1), count: 300))),
            .array([], of: .structure(Array(repeating: .byte, count: 300))),
            .signature(Signature(Array(repeating: .byte, count: 300))),
            .array([.array([], of: .structure([]))], of: .array(.structure([]))),
        ] as [Value]
    )
    func whatCannotTravelIsRefused(_ value: Value) {
        #expect(throws: DBusKit.DBusError.self) {
            try Message(signal: "S", of: "org.example.I", at: "/", [.byte(1), value])
        }
    }

    @Test func moreThanWeLookAtIsRefused() throws {
        let message = try sent([.array(Array(repeating: .byte(0), count: 100_001), of: .byte)])
        #expect {
            try message.values()
        } throws: {
            ($0 as? DBusKit.DBusError)?.name == "org.freedesktop.DBus.Error.LimitsExceeded"
        }
    }
}
