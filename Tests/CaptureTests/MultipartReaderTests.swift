import Testing

@testable import Capture

private let (one, two, three) = (jpeg("one"), jpeg("two\n--"), jpeg("3\u{ff}\u{d9}4\r\n"))

private func jpeg(_ content: String) -> String { "\u{ff}\u{d8}\(content)\u{ff}\u{d9}" }

@Suite("Multipart reader") struct MultipartReaderTests {
    /// Returns the pictures in `body`, fed in pieces of `step` bytes.
    private func pictures(_ type: String, _ body: String, step: Int) throws -> [String] {
        var reader = try #require(MultipartReader(type: type))
        var found: [String] = []
        var rest = body.unicodeScalars.map { UInt8($0.value) }[...]
        while !rest.isEmpty {
            try rest.prefix(step).withUnsafeBytes { bytes in
                try reader.read(bytes) { picture in
                    found.append(
                        String(String.UnicodeScalarView(picture.map { Unicode.Scalar($0) }))
                    )
                }
            }
            rest = rest.dropFirst(step)
        }
        return found
    }

    private static let type = "multipart/x-mixed-replace; boundary=foo"

    /// What a camera writes: its type, the body, and the pictures in it.
    private static let dialects: [(name: String, type: String, body: String, [String])] = [
        (
            "as it should be", type,
            "--foo\r\nContent-Type: image/jpeg\r\nContent-Length: 7\r\n\r\n\(one)\r\n"
                + "--foo\r\nContent-Type: image/jpeg\r\nContent-Length: 10\r\n\r\n\(two)\r\n--foo--\r\n",
            [one, two]
        ),
        (
            "words before the first part, and nothing between parts", type,
            "hello\r\n\r\n--foo\r\nContent-Length: 7\r\n\r\n\(one)--foo\r\ncontent-length:10\r\n\r\n\(two)",
            [one, two]
        ),
        (
            "dashes in the boundary, quoted, and no CR",
            "multipart/x-mixed-replace;boundary=\"--foo\"",
            "--foo\nContent-Length: 7\n\n\(one)\n----foo\nContent-Length: 10\n\n\(two)\n",
            [one, two]
        ),
        (
            "dashes in the boundary, and no length", "multipart/x-mixed-replace;boundary=--foo",
            "----foo\r\n\r\n\(one)\r\n----foo\r\n\r\n\(two)\r\n----foo", [one, two]
        ),
        (
            "a boundary with a semicolon and spaces",
            "multipart/x-mixed-replace; boundary = \"a; b\"",
            "--a; b\r\nContent-Type: image/jpeg\r\n\r\n\(one)\r\n--a; b\r\n\r\n\(two)\r\n--a; b \r\n",
            [one, two]
        ),
        (
            "no boundary", "Multipart/X-Mixed-Replace",
            "--a\r\nContent-Length: 7\r\n\r\n\(one)\r\n--b\r\nContent-Length: 10\r\n\r\n\(two)",
            [one, two]
        ),
        (
            "no dashes", type, "foo\r\nContent-Length: 7\r\n\r\n\(one)\nfoo\n\n\(two)\nfoo\n",
            [one, two]
        ),
        (
            "no length", type,
            "--foo\r\nContent-Type: image/jpeg\r\n\r\n\(two)\r\n--foo\r\n\r\n\(three)\n--foo\r\n",
            [two, three]
        ),
        (
            "no delimiter before the first part", type,
            "Content-Type: image/jpeg\r\nContent-Length: 7\r\n\r\n\(one)\r\n--foo\r\n"
                + "Content-Type: image/jpeg\r\nContent-Length: 10\r\n\r\n\(two)\r\n", [one, two]
        ),
        ("nothing at all before it", type, "\(one)\r\n--foo\r\n\r\n\(two)\r\n--foo", [one, two]),
        (
            "a blank line before it", type,
            "\r\nContent-Type: image/jpeg\r\n\r\n\(one)\r\n--foo\r\n\r\n\(two)\r\n--foo",
            [one, two]
        ),
        (
            "more than 64 KiB before the first delimiter", type,
            "\(String(repeating: "a: b\r\n", count: 20_000))--foo\r\n\r\n\(one)\r\n--foo\r\n", [one]
        ),
        (
            "a large first picture without a delimiter", type,
            "Content-Type: image/jpeg\r\n\r\n\(large)\r\n--foo\r\n\r\n\(one)\r\n--foo\r\n",
            [large, one]
        ),
        (
            "another boundary than it names", type,
            "--bar\r\nContent-Type: image/jpeg\r\n\r\n\(two)\r\n--bar\r\n\r\n\(one)\r\n--bar\r\n",
            [two, one]
        ),
        (
            "another boundary, and a length", type,
            "--bar\r\nContent-Length: 10\r\n\r\n\(two)\r\n--bar\r\nContent-Length: 7\r\n\r\n\(one)",
            [two, one]
        ),
        (
            "multipart/mixed", "multipart/mixed; boundary=foo",
            "--foo\r\nContent-Type: image/jpeg\r\n\r\n\(one)\r\n--foo\r\n", [one]
        ),
        (
            "no type that says so, as FFmpeg sends it", "application/octet-stream",
            "--ffmpeg\r\nContent-type: image/jpeg\r\nContent-length: 7\r\n\r\n\(one)\r\n"
                + "--ffmpeg\r\nContent-type: image/jpeg\r\nContent-length: 10\r\n\r\n\(two)\r\n--ffmpeg\r\n",
            [one, two]
        ),
        ("no type", "", "--a\r\n\r\n\(one)\r\n--a", [one]),
        (
            "one JPEG after another", "video/x-motion-jpeg", "\(one)\(two)\r\n\(three)\(one)",
            [one, two, three]
        ),
        (
            "parts of other types", type,
            [
                "image/pjpeg", "IMAGE/JPG", "application/octet-stream", "text/plain",
                "image/jpeg;q=1",
            ]
            .map { "--foo\r\nContent-Type: \($0)\r\n\r\n\(one)\r\n" }.joined() + "--foo",
            Array(repeating: one, count: 5)
        ),
        (
            "lower case and folded lines", type,
            "--foo\r\ncontent-type: image/jpeg;\r\n q=1\r\ncontent-length:\r\n\t7\r\n\r\n\(one)\r\n",
            [one]
        ),
        (
            "blank lines", type,
            "--foo\r\n\r\nContent-Type: image/jpeg\r\nContent-Length: 7\r\n\r\n\r\n\(one)\r\n\r\n"
                + "--foo\r\n\r\n\r\n\(two)\r\n\r\n\r\n--foo\r\n", [one, two + "\r\n\r\n"]
        ),
        (
            "no blank line after the header", type,
            "--foo\r\nContent-Length: 7\r\n\(one)\r\n--foo\r\n\r\n\(two)\r\n--foo", [one, two]
        ),
        (
            "lengths too small", type,
            [1, 2, 6].map { "--foo\r\nContent-Length: \($0)\r\n\r\n\(one)\r\n" }.joined() + "--foo",
            [one, one, one]
        ),
        (
            "lengths too large", type,
            [8, 9, 20, 8_000_000].map { "--foo\r\nContent-Length: \($0)\r\n\r\n\(one)\r\n" }
                .joined()
                + "--foo\r\n", [one + "\r", one + "\r\n", one, one]
        ),
        (
            "lengths that make no sense", type,
            ["-1", "0", "x", "99999999999999999999"]
                .map { "--foo\r\nContent-Length: \($0)\r\n\r\n\(one)\r\n" }.joined() + "--foo",
            [one, one, one, one]
        ),
        (
            "a picture that is cut off", type,
            "--foo\r\nContent-Length: 5\r\n\r\n\u{ff}\u{d8}cut\r\n--foo\r\n\r\n\(one)\r\n--foo",
            ["\u{ff}\u{d8}cut", one]
        ),
        (
            "padding after a picture", type,
            "--foo\r\nContent-Length: 9\r\n\r\n\(one)\0\0\r\n--foo\r\n\r\n\(one)\r\n--foo",
            [one + "\0\0", one]
        ),
        (
            "parts that are no pictures, and empty ones", type,
            "--foo\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nno!\r\n"
                + "--foo\r\nContent-Length: 0\r\n\r\n\r\n--foo\r\nContent-Length: -4\r\n\r\n--foo\r\n"
                + "Content-Type: a/b\r\n\r\n--foo\r\nContent-Length: 7\r\nX\r\n: \r\n\r\n\(one)",
            [one]
        ),
    ]

    private static let large = jpeg(String(repeating: "a\u{ff}\0", count: 30_000))

    @Test("what cameras write is read, in pieces of any size", arguments: dialects.map(\.name))
    func parts(name: String) throws {
        let (_, type, body, expected) = try #require(Self.dialects.first { $0.name == name })
        for step in [1, 2, 3, 7, 1000, 1 << 20] {
            #expect(try pictures(type, body, step: step) == expected, "in pieces of \(step)")
        }
    }

    @Test(arguments: ["text/plain", "binary/octet-stream", "application/x-mixed-replace"])
    func `other types may hold a video`(_ type: String) {
        #expect(MultipartReader(type: type) != nil)
    }

    @Test("other types are none", arguments: ["text/html", "image/jpeg", "application/json"])
    func otherType(type: String) { #expect(MultipartReader(type: type) == nil) }

    @Test(
        "what has no end takes no memory, and not for ever",
        arguments: [
            (MultipartReader.Fault.noParts, "", String(repeating: "x", count: 1000)),
            (.longHeader, "--foo\r\n", String(repeating: "x", count: 1000)),
            (.longHeader, "--foo\r\n", "a: b\r\n"),
            (.longHeader, "--foo\r\nContent-Type:", " image/jpeg\r\n"),
            (.longPart, "--foo\r\n\r\n\u{ff}\u{d8}", String(repeating: "x", count: 1000)),
            (.longPart, "--foo\r\na: b\r\n\r\nx", String(repeating: "x", count: 1000)),
            (.longPart, "--foo\r\nContent-Length: 99999999\r\n\r\nx", "x\n\n\n"),
            (.longHeader, "--foo\r\n\r\n", "\r\n"), (.noParts, "--foo\r\na: b\r\n\r\n", "\r\n"),
            (.noParts, "", "--foo\r\n"), (.noParts, "", "--foo\r\nContent-Length: -1\r\n\r\n"),
            (.noParts, "", "--foo\r\nContent-Length: 0\r\n\r\n\r\n"),
            (.noParts, "", "--foo\r\nContent-Type: a/b\r\nContent-Length: 1\r\n\r\nx\r\n"),
        ]
    )
    func limits(fault: MultipartReader.Fault, start: String, then: String) throws {
        let body = String(repeating: then, count: 9_000_000 / then.utf8.count)
        #expect(throws: fault) { try pictures(Self.type, start + body, step: 1 << 16) }
    }
}
