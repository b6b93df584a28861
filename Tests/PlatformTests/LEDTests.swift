import Foundation
import Platform
import TestSupport
import Testing

@Suite("A light of the kernel's LED class") struct LEDTests {
    @Test func `shines as brightly as it can, or not at all, and says so`() throws {
        let scratch = try ScratchDirectory()
        defer { scratch.remove() }
        let root = URL(filePath: scratch.path)
        let folder = root.appendingPathComponent("white:flash")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let brightness = folder.appendingPathComponent("brightness")
        try "31\n".write(
            to: folder.appendingPathComponent("max_brightness"),
            atomically: true,
            encoding: .utf8
        )
        // As in sysfs, a write replaces the content.
        try "00".write(to: brightness, atomically: true, encoding: .utf8)
        let led = LED("white:flash", in: root.path)
        #expect(led.isOn == false)
        try led.turn(on: true)
        #expect(try String(contentsOf: brightness, encoding: .utf8) == "31")
        #expect(led.isOn == true)
        try "0".write(to: brightness, atomically: true, encoding: .utf8)
        try led.turn(on: false)
        #expect(led.isOn == false)
    }

    @Test func `says that it is not there`() {
        let led = LED("none", in: "/nonexistent")
        #expect(led.isOn == nil)
        #expect(throws: SystemError("open", "/nonexistent/none/brightness", errno: 2)) {
            try led.turn(on: true)
        }
    }
}
