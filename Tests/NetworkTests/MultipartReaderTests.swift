import Testing

@testable import Network

@Suite("Multipart reader") struct MultipartReaderTests {
    /// Returns the pictures in `body`, fed in pieces of `step` bytes.
    private func pictures(_ type: String, _ body: String, step: Int) throws -> [String] {
        var reader = try #require(MultipartReader(type: type))
        var found: [String] = []
        var rest = Array(body.utf8)[...]
        while !rest.isEmpty {
            try rest.prefix(step).withUnsafeBytes { bytes in
                try reader.read(bytes) { found.append(String(decoding: $0, as: UTF8.self)) }
            }
            rest = rest.dropFirst(step)
        }
        return found
    }

    private static let type = "multipart/x-mixed-replace; boundary=foo"

    @Test(
        "what cameras write is read, in pieces of any size",
        arguments: [
            // As it should be.
            (
                type,
                "--foo\r\nContent-Type: image/jpeg\r\nContent-Length: 5\r\n\r\none--\r\n"
                    + "--foo\r\nContent-Length: 3\r\n\r\ntwo\r\n--foo--\r\n", ["one--", "two"]
            ),
            // Words before the first part, and none between parts.
            (
                type,
                "hello\r\n--foo\r\nContent-Length: 3\r\n\r\none--foo\r\ncontent-length:3\r\n\r\ntwo",
                ["one", "two"]
            ),
            // The dashes belong to the boundary, or come twice; quotes; no CR.
            (
                "multipart/x-mixed-replace;boundary=\"--foo\"",
                "--foo\nContent-Length: 3\n\none\n----foo\nContent-Length: 3\n\ntwo\n",
                ["one", "two"]
            ),
            // No boundary, and none with dashes.
            (
                "Multipart/X-Mixed-Replace",
                "--a\r\nContent-Length: 1\r\n\r\n1\r\n--b\r\nContent-Length: 1"
                    + "\r\n\r\n2", ["1", "2"]
            ),
            (type, "foo\r\nContent-Length: 1\r\n\r\n1", ["1"]),
            // No length: the next delimiter ends a part.
            (
                type,
                "--foo\r\nContent-Type: image/jpeg\r\n\r\none\r\n--fo\r\n--foo\r\n\r\ntwo\n--foo\r\n",
                ["one\r\n--fo", "two"]
            ),
            // Parts that are no pictures, and empty ones.
            (
                type,
                "--foo\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nno!\r\n"
                    + "--foo\r\nContent-Length: 0\r\n\r\n\r\n--foo\r\nContent-Length: -4\r\n\r\n"
                    + "\r\n--foo\r\nContent-Length: 3\r\nX\r\n: \r\n\r\nyes", ["yes"]
            ),
        ]
    )
    func parts(type: String, body: String, expected: [String]) throws {
        for step in [1, 2, 3, 7, 1000] {
            #expect(try pictures(type, body, step: step) == expected, "in pieces of \(step)")
        }
    }

    @Test(
        "other types are none",
        arguments: ["", "text/html", "image/jpeg", "multipart/mixed; boundary=foo"]
    )
    func otherType(type: String) { #expect(MultipartReader(type: type) == nil) }

    @Test("what has no end takes no memory")
    func limits() throws {
        let line = String(repeating: "x", count: 1000)
        #expect(throws: MultipartReader.Fault.noParts) {
            try pictures(Self.type, String(repeating: line, count: 70), step: 4096)
        }
        #expect(throws: MultipartReader.Fault.longHeader) {
            try pictures(Self.type, "--foo\r\n" + String(repeating: line, count: 9), step: 100)
        }
        #expect(throws: MultipartReader.Fault.longHeader) {
            let header = String(repeating: "a: b\r\n", count: 3000)
            return try pictures(Self.type, "--foo\r\n" + header, step: 100)
        }
        #expect(throws: MultipartReader.Fault.longPart) {
            let body = String(repeating: line, count: 9000)
            return try pictures(Self.type, "--foo\r\n\r\n" + body, step: 1 << 16)
        }
        #expect(throws: MultipartReader.Fault.noParts) {
            let body = "--foo\r\nContent-Length: 99999999\r\n\r\n"
            return try pictures(Self.type, body + String(repeating: line, count: 70), step: 1 << 16)
        }
    }
}
