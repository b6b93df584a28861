import Control
import DualCamCore
import Glibc
import Platform
import TestSupport
import Testing

@testable import DBusKit
@testable import DualCamDaemon

@MainActor
@Suite("The library on the bus") struct LibraryServiceTests {
    @Test("gives so many items at once, however many are asked for, and says how many there are")
    func longestPage() throws {
        let folder = try ScratchDirectory()
        let first = "\(folder.path)/0.jpg"
        try writeFile([1], to: first)
        for number in 1..<1001 { #expect(link(first, "\(folder.path)/\(number).jpg") == 0) }
        let scripted = try Scripted {
            $0.capture.photoDirectory = folder.path
            $0.capture.videoDirectory = folder.path
        }
        let callers = Callers()
        let service = LibraryService(
            scripted.daemon,
            scripted.recording,
            on: ObjectServer(port: callers, managing: DualCam.path),
            loop: scripted.loop
        )
        defer { #expect(service.end(within: 60)) }
        func list(_ offset: UInt32, _ count: UInt32) throws -> [Int?] {
            let answers = callers.sent.count
            try callers.call(
                "List",
                of: LibraryInterface.name,
                [.uint32(offset), .uint32(count), .named([:])],
                from: ":1.1"
            )
            try scripted.loop.wait(for: "the list") { callers.sent.count > answers }
            let values = try #require(callers.sent.last).values()
            return [values.first?.array?.count, values.last?.integer]
        }
        #expect(try list(0, .max) == [1000, 1001])
        #expect(try list(1000, 1000) == [1, 1001])
        #expect(try list(0, 3) == [3, 1001])
    }
}
