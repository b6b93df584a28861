import Control
import Frames
import Platform
import Testing

@testable import DBusKit
@testable import DualCamCore
@testable import DualCamDaemon

@MainActor
@Suite("Service") struct ServiceTests {
    /// The export stops the program at a member without a handler.
    @Test func everyDeclaredMemberHasAHandler() throws {
        let scripted = try Scripted()
        let server = scripted.server
        let main = try #require(server.objects[DualCam.path]).map(\.interface)
        let camera = try #require(server.objects[DualCam.backPath]).map(\.interface)
        #expect(Set(main + camera) == Set(Interface.all))
        func value(_ name: String, _ interface: Interface) -> Value? {
            server.export(interface.name, at: DualCam.path)?.values[name]
        }
        #expect(value("State", .stream) == .string("stopped"))
        for (name, path) in [("Main", DualCam.backPath), ("Inset", DualCam.frontPath)] {
            #expect(value(name, .scene) == .objectPath(path), "\(name)")
        }
        withExtendedLifetime(scripted) {}
    }

    @Test func `A swap takes no time if that is asked for`() throws {
        let scripted = try Scripted()
        let callers = scripted.callers
        for (options, isSwapped) in [(["instant": Value.boolean(true)], true), ([:], false)] {
            try callers.call("Swap", of: SceneInterface.name, [.named(options)], from: ":1.1")
            #expect(try callers.sent.last?.values() == [.boolean(isSwapped)])
            let scene = scripted.daemon.state.scene.scene(at: MonotonicClock.now)
            #expect(scene[0].role == .front)
        }
    }

    @Test func `A value that cannot be is refused, and changes nothing`() throws {
        let scripted = try Scripted()
        let (callers, before) = (scripted.callers, scripted.daemon.state.scene)
        let wrong: [(String, [Value])] = [
            ("Layout", [.string(""), .string(String(repeating: "x", count: 1 << 20))]),
            ("InsetCorner", [.string("middle")]),
            (
                "InsetSize",
                [.nan, .infinity, -.infinity, 0, -1, 0.5001, 0.0999, 1e308].map(Value.double)
            ),
        ]
        for (property, values) in wrong {
            for value in values {
                try callers.set(property, of: SceneInterface.name, value, from: ":1.1")
                #expect(callers.errors.last == "OutOfRange", "\(property) \(value)")
                #expect((1..<400).contains(callers.refusal.count))
            }
        }
        for turn: UInt32 in [1, 45, 360, .max] {
            let (name, value) = (CameraInterface.name, Value.uint32(turn))
            try callers.set("Rotation", of: name, value, at: DualCam.backPath, from: ":1.1")
            #expect(callers.errors.last == "OutOfRange", "\(turn)")
        }
        #expect(callers.errors.count == 15)
        #expect(scripted.daemon.state.scene == before)
    }
}
