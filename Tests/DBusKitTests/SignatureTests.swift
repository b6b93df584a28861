import CDBus
import TestSupport
import Testing

@testable import DBusKit

@Suite("Signatures") struct SignatureTests {
    @Test(arguments: [
        "", "y", "bnqiuxtd", "sogh", "v", "as", "a{sv}", "aa{sv}", "(ii)", "a{oa{sa{sv}}}",
        "(i(ss)a{y(dd)})", "ssiiiiu",
    ])
    func aValidOneReadsAsItIsWritten(_ text: String) throws {
        #expect(try Signature(parsing: text).text == text)
    }

    @Test(arguments: [
        "a", "(", ")", "()", "(i", "i)", "{sv}", "a{s}", "a{svv}", "a{vs}", "a{(i)s}", "a{sv", "z",
        "a{}", "é", "r", "e", "a{asv}",
        String(repeating: "a", count: 33) + "y", String(repeating: "y", count: 256),
        String(repeating: "(", count: 33) + "y" + String(repeating: ")", count: 33),
    ])
    func anInvalidOneIsRefused(_ text: String) {
        #expect(throws: DBusKit.DBusError.self) { try Signature(parsing: text) }
    }

    @Test func itAgreesWithLibdbus() {
        var generator = Chance()
        let alphabet = Array("ybnqiuxtdsoghvaaaa((()))a{}}{sv")
        for _ in 0..<200_000 {
            let length = Int.random(in: 0...12, using: &generator)
            let text = String(
                (0..<length).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                }
            )
            let isOurs = (try? Signature(parsing: text)) != nil
            #expect(
                isOurs == (dbus_signature_validate(text, nil) != 0),
                "seed \(Chance.seed): \(text)"
            )
        }
        for depth in 1...40 {
            for text in [
                String(repeating: "a", count: depth) + "y",
                String(repeating: "(", count: depth) + "y" + String(repeating: ")", count: depth),
                String(repeating: "a{s", count: depth) + "y" + String(repeating: "}", count: depth),
                String(repeating: "a(", count: depth) + "y" + String(repeating: ")", count: depth),
            ] {
                let isOurs = (try? Signature(parsing: text)) != nil
                #expect(isOurs == (dbus_signature_validate(text, nil) != 0), "\(text)")
            }
        }
    }

    @Test func aCompleteTypeIsExactlyOne() throws {
        #expect(try CompleteType(parsing: "a{sv}") == .dictionary(key: .string, value: .variant))
        for text in ["", "ss"] {
            #expect(throws: DBusKit.DBusError.self) { try CompleteType(parsing: text) }
        }
    }

    @Test(arguments: [
        ("/", true), ("/a/b_1", true), ("", false), ("a", false), ("/a/", false), ("//", false),
        ("/a-b", false), ("/é", false), ("/a\0b", false),
    ])
    func anObjectPathIsValidOrNone(_ text: String, _ isValid: Bool) {
        #expect((ObjectPath(text) != nil) == isValid)
    }
}
