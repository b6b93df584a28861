import Control
import DBusKit
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("dualcamctl status --format", .timeLimit(.minutes(2)))
struct FormatTests {
    private let daemon: FakeDaemon

    init() throws { daemon = try FakeDaemon() }

    @Test func namesHaveValues() throws {
        try daemon.appear(changing: [.stream: ["Problems": .strings(["one", "two"])]])
        let format = "{{ problems }} {{ statistics.framesPublished }}{{ statistics.none }}"
        let child = try daemon.run("status", "--format", format)
        #expect(child.exit == .status(0), "\(child.errors)")
        #expect(child.output == "one, two 300\n")
    }

    @Test func whatIsUnknownIsWrongUsage() throws {
        let child = try daemon.run("status", "--format", "{{ mian }}")
        #expect(child.exit == .status(2) && child.output == "")
        let words = "There is no \"mian\"; expected one of state, "
        #expect(child.errors.contains(words), "\(child.errors)")
    }

    @Test func oneFormAtATime() throws {
        let child = try daemon.run("status", "--format", "x", "--json")
        #expect(child.exit == .status(2))
    }

    @Test func aNameWithControlCharactersIsOneLine() throws {
        try daemon.appear(changing: [.camera: ["Name": .string("a\nb\u{1b}[2J")]])
        let child = try daemon.run("status", "--format", "{{ cameras.back.name }}")
        #expect(child.output == "a\u{fffd}b\u{fffd}[2J\n")
    }

    @Test func followPrintsChangesOfTheLineAlone() throws {
        let child = try daemon.start("status", "--follow", "--format", "{{ state }} {{ swapped }}")
        try daemon.wait(for: "off") { child.output == "off \n" }
        try daemon.appear()
        try daemon.wait(for: "the daemon") { child.output == "off \nstreaming false\n" }
        daemon.set(["Consumers": .uint32(7)], of: .stream)
        daemon.set(["Swapped": .boolean(true)], of: .scene)
        try daemon.wait(for: "the swap") {
            child.output == "off \nstreaming false\nstreaming true\n"
        }
        child.signal(SIGTERM)
        #expect(try child.wait() == .status(0))
    }
}
