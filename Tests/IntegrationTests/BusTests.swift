import Control
import DBusKit
import Foundation
import Frames
import Glibc
import TestSupport
import Testing

extension DaemonTests {
    @Suite("On the bus", .timeLimit(.minutes(5)))
    struct BusTests {
        private static let configuration = DaemonTests.still(back: "test", front: "test")

        @Test func theManualTellsOfWhatItShows() throws {
            try Daemon.with(Self.configuration) { daemon in
                let folder = daemon.session.directory + "/man"
                _ = try daemon.session.output(
                    "\(repository.path)/tools/manual",
                    Programs.directory,
                    folder
                )
                let page = try daemon.session.output(
                    "gzip",
                    "-dc",
                    "\(folder)/\(DualCam.busName).5.gz"
                )
                var told: Set<String> = []
                var interface = ""
                for line in page.split(separator: "\n") {
                    if let name = line.firstMatch(of: /^\.SS (org\.dualcam\..*)$/)?.1 {
                        interface = String(name)
                    } else if let entry = line.wholeMatch(
                        of: /(method|signal|property) \\fB(.*)\\fR/
                    ) {
                        told.insert("\(interface) \(entry.1) \(entry.2)")
                    }
                }
                #expect(told == Set(Interface.all.flatMap(members)))
                #expect(told.contains("\(DualCam.busName).Scene property Swapped b (readwrite)"))
                // Its log is no interface of its own.
                let level = try daemon.send(
                    "Get",
                    of: "org.freedesktop.DBus.Properties",
                    at: DualCam.logPath,
                    [.string("org.freedesktop.LogControl1"), .string("LogLevel")]
                )
                #expect(level.count == 1)
            }
        }

        private func members(of interface: Interface) -> [String] {
            func list(_ arguments: [Interface.Argument]) -> String {
                "(" + arguments.map { "\($0.name) \($0.type.code)" }.joined(separator: ", ") + ")"
            }
            let methods = interface.methods.map {
                "method \($0.name)\(list($0.takes))"
                    + ($0.gives.isEmpty ? "" : " \\[u2192] \(list($0.gives))")
            }
            let signals = interface.signals.map { "signal \($0.name)\(list($0.carries))" }
            let properties = interface.properties.map {
                "property \($0.name) \($0.type.code) (\($0.isWritable ? "readwrite" : "read"))"
            }
            return (methods + signals + properties).map { "\(interface.name) \($0)" }
        }

        @Test func aChangeIsToldOnce() throws {
            try Daemon.with(Self.configuration) { daemon in
                let changes: [(Interface, ObjectPath, String, Value)] = [
                    (.scene, DualCam.path, "Layout", .string("stacked")),
                    (.scene, DualCam.path, "InsetVisible", .boolean(false)),
                    (.scene, DualCam.path, "InsetCorner", .string("bottom-left")),
                    (.scene, DualCam.path, "InsetSize", .double(0.3)),
                    (.scene, DualCam.path, "SwapIcon", .boolean(false)),
                    (.camera, DualCam.backPath, "Mirror", .boolean(true)),
                    (.camera, DualCam.frontPath, "Rotation", .uint32(270)),
                ]
                for (interface, path, property, value) in changes {
                    try daemon.forgetSignals()
                    try daemon.set(property, of: interface, at: path, to: value)
                    try daemon.settle()
                    #expect(
                        Self.chosen(daemon.changes(of: interface, at: path)) == [[property: value]]
                    )
                    #expect(daemon.signals.count == 1, "\(property)")
                    #expect(try daemon.get(property, of: interface, at: path) == value)

                    // The same value again is not a change.
                    try daemon.forgetSignals()
                    try daemon.set(property, of: interface, at: path, to: value)
                    try daemon.settle()
                    #expect(daemon.signals.isEmpty, "\(property)")
                }
                try daemon.forgetSignals()
                try daemon.call("Reset", of: .scene)
                try daemon.settle()
                #expect(
                    Self.chosen(daemon.changes(of: .scene)) == [
                        [
                            "Layout": .string("pip"), "InsetVisible": .boolean(true),
                            "InsetCorner": .string("top-right"), "InsetSize": .double(0.25),
                            "SwapIcon": .boolean(true),
                        ]
                    ]
                )
                try daemon.forgetSignals()
                try daemon.scene.set(\.swapped, true)
                try daemon.settle()
                #expect(
                    daemon.changes(of: .scene) == [
                        [
                            "Swapped": .boolean(true), "Main": .objectPath(DualCam.frontPath),
                            "Inset": .objectPath(DualCam.backPath),
                        ]
                    ]
                )
                #expect(daemon.signals.count == 1)
            }
        }

        /// The changes without those that follow from a change of the layout.
        private static func chosen(_ changes: [[String: Value]]) -> [[String: Value]] {
            changes.map { $0.filter { !$0.key.hasSuffix("Rectangle") } }.filter { !$0.isEmpty }
        }

        @Test func appletsLearnWhereThePicturesAre() throws {
            try Daemon.with(Self.configuration) { daemon in
                func rectangle(_ name: String) throws -> [Double] {
                    try daemon.get(name, of: .scene).structure?.compactMap(\.double) ?? []
                }
                #expect(try daemon.get("Layouts", of: .scene).array?.count == 4)
                #expect(try rectangle("MainRectangle") == [0, 0, 1, 1])
                let inset = try rectangle("InsetRectangle")
                // In the top right corner, a quarter of the width, and of the stream's own shape.
                #expect(inset[0] > 0.7 && inset[0] + inset[2] < 1 && inset[1] < 0.1)
                #expect(abs(inset[2] - 0.25) < 0.01 && abs(inset[3] - 0.25) < 0.01)
                try daemon.forgetSignals()
                try daemon.scene.set(\.insetVisible, false)
                try daemon.settle()
                #expect(try rectangle("InsetRectangle") == [0, 0, 0, 0])
                #expect(daemon.changes(of: .scene).contains { $0["InsetRectangle"] != nil })
            }
        }

        @Test func startAndStopAreToldInOrder() throws {
            try Daemon.with(Self.configuration) { daemon in
                func announced(_ members: [String]) throws -> [String] {
                    try daemon.forgetSignals()
                    for member in members { try daemon.call(member, of: .stream) }
                    try daemon.settle()
                    return daemon.signals(of: .stream)
                }
                #expect(try announced(["Stop"]) == ["WillStop", "DidStop"])
                #expect(try daemon.stream.get(\.state) == "stopped")
                #expect(try Listed("dualcam", in: daemon.session) == nil)
                #expect(try announced(["Start"]) == ["WillStart", "DidStart"])
                #expect(try daemon.stream.get(\.state) == "idle")
                #expect(try Listed("dualcam", in: daemon.session) != nil)
                #expect(
                    try announced(["Toggle", "Toggle"])
                        == ["WillStop", "DidStop", "WillStart", "DidStart"]
                )
                // Nobody has a window, so nothing happens; whoever listens by name has one.
                let refusal = #expect(throws: DBusError.self) { try announced(["Restore"]) }
                #expect(refusal?.message.hasPrefix("No open window shows the stream") == true)
                let window = daemon.bus.subscribe(
                    MatchRule(
                        path: DualCam.path,
                        interface: "\(Interface.stream)",
                        member: "RestoreRequested"
                    )
                ) { _ in }
                // With a consumer, it hands over, and the stream goes on for the others.
                let reader = try daemon.reader()
                let before = try reader.next().sequence
                #expect(
                    try withExtendedLifetime(window) { try announced(["Restore"]) } == [
                        "RestoreRequested"
                    ]
                )
                #expect(try daemon.stream.get(\.consumers) == 1)
                #expect(try daemon.state(of: DualCam.backPath) == "streaming")
                reader.flush()
                #expect(try reader.next().sequence > before)

                // The cameras are closed before the stop is reported.
                try daemon.forgetSignals()
                try daemon.call("Stop", of: .stream)
                #expect(try daemon.state(of: DualCam.backPath) == "closed")
                try daemon.settle()
                #expect(daemon.signals(of: .stream) == ["WillStop", "DidStop"])
                let active = daemon.changes(of: .stream).compactMap { $0["Active"] }
                #expect(active == [.boolean(false)])
            }
        }
    }
}
