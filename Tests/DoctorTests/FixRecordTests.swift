import Control
import Testing

@testable import Doctor

@Suite("The records of fixes") struct FixRecordTests {
    private static let records: [FixRecord] = [
        FixRecord(
            name: "chromium",
            change: .file(
                .init(
                    path: "/home/ü me/100%/a\nb/Local State",
                    home: "/home/ü me",
                    form: .chromiumFlags,
                    before: FileContent(bytes: [0, 10, 10, 255], mode: 0o640),
                    after: FileContent(bytes: [], mode: 0o600),
                    folders: ["/a", "/a/%25\r\u{301}"]
                )
            )
        ),
        FixRecord(
            name: "firefox",
            change: .file(
                .init(path: "/x", form: .own, after: FileContent(bytes: [1], mode: 0))
            )
        ),
        FixRecord(
            name: "refusals",
            change: .permission(application: "", before: nil, after: ["yes"])
        ),
        FixRecord(
            name: "refusals",
            change: .permission(application: "a b", before: [], after: ["yes"])
        ),
        FixRecord(
            name: "refusals",
            change: .permission(application: "org.x", before: ["no", "x\n"], after: ["yes"])
        ), FixRecord(name: "unit", change: .unit("dualcamd", wasRunning: false, wasEnabled: true)),
        FixRecord(
            name: "refusals",
            change: .permission(application: "org.x", before: ["no"], after: nil)
        ),
        FixRecord(name: "loopback", change: .root(.loopback)),
    ]

    @Test(
        "no record has a command or an option run",
        arguments: [
            "name x\nundoing touch /tmp/x", "name loopback\nroot touch /tmp/x", "name x\nroot ",
            "name unit\nunit --root=/tmp/x\nrunning false\nenabled false",
        ]
    )
    func commands(_ lines: String) {
        #expect(throws: Failure.self) { try FixRecord(Array("dualcam-fix 1\n\(lines)\n\n".utf8)) }
    }

    /// Records of 0.3 had the command itself.
    @Test func anOlderRecordIsUndoneByWhatIsKnownNow() throws {
        let record = try FixRecord(
            Array("dualcam-fix 1\nname loopback\nundoing touch /tmp/x\n\n".utf8)
        )
        #expect(record.change == .root(.loopback))
    }

    @Test func `a record of 0.2 is read`() throws {
        let lines = """
            dualcam-fix 1
            name chromium
            form chromium-flags
            path /home/ü me/100%25/a%0ab/Local State
            home /home/ü me
            folder /a
            folder /a/%2525%0d\u{301}
            before 4 416
            after 0 384


            """
        let bytes = Array(lines.utf8) + [0, 10, 10, 255]
        #expect(try FixRecord(bytes) == Self.records[0])
        #expect(Self.records[0].bytes == bytes)
        for wrong in ["%", "%2", "%xx", "%-1"] {
            let other = lines.replacing("100%25", with: "100\(wrong)")
            #expect(throws: Failure.self) { try FixRecord(Array(other.utf8) + [0, 10, 10, 255]) }
        }
    }

    @Test("a record is read as it was written", arguments: records)
    func whole(_ record: FixRecord) throws {
        #expect(try FixRecord(record.bytes) == record)
    }

    @Test(
        "a record of which a part is missing, changed or added is not followed",
        arguments: records
    )
    func damaged(_ record: FixRecord) {
        let bytes = record.bytes
        for count in 0..<bytes.count {
            let part = try? FixRecord(Array(bytes[..<count]))
            #expect(part == nil, "\(count) bytes of \(bytes.count)")
        }
        for index in bytes.indices {
            var other = bytes
            other[index] = 0x0a
            // Never ends the program.
            _ = try? FixRecord(other)
            other[index] = 0xff
            _ = try? FixRecord(other)
        }
        guard case .file = record.change else { return }
        #expect(throws: Failure.self) { try FixRecord(bytes + [0]) }
        // The contents need not be text.
        let lines = bytes.firstRange(of: Array("\n\n".utf8)).map { $0.lowerBound } ?? 0
        let text = String(decoding: bytes[..<lines], as: UTF8.self)
        for number in ["-1", "99999999999", "99999999999999999999999", "x", ""] {
            let wrong = text.replacing("after \(0) ", with: "after \(number) ")
                .replacing("after \(1) ", with: "after \(number) ")
            #expect(wrong != text)
            #expect(throws: Failure.self) { try FixRecord(Array(wrong.utf8) + bytes[lines...]) }
        }
        #expect(throws: Never.self) { try FixRecord(Array(text.utf8) + bytes[lines...]) }
    }

    @Test("a record of a file that was removed is whole, or not followed")
    func removed() throws {
        let content = FileContent(bytes: Array("a\n\nb".utf8), mode: 0o640)
        func record(_ before: FileContent?) -> FixRecord {
            FixRecord(
                name: "hide-cameras",
                change: .file(.init(path: "/x/y", form: .own, before: before))
            )
        }
        let bytes = record(content).bytes
        #expect(try FixRecord(bytes) == record(content))
        for count in 0..<bytes.count { #expect((try? FixRecord(Array(bytes[..<count]))) == nil) }
        #expect(throws: Failure.self) { try FixRecord(bytes + [0]) }
        #expect(throws: Failure.self) { try FixRecord(record(nil).bytes) }
    }
}
