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
        private static let properties = "org.freedesktop.DBus.Properties"

        private func outline(_ path: ObjectPath, _ daemon: Daemon) throws -> Outline {
            let answer = try daemon.send(
                "Introspect",
                of: "org.freedesktop.DBus.Introspectable",
                at: path
            )
            return try Outline(Data((answer.first?.string ?? "").utf8))
        }

        @Test func theManualTellsOfWhatItShows() throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().path
            try Daemon.with(Self.configuration) { daemon in
                let folder = daemon.session.directory + "/man"
                _ = try daemon.session.output("\(root)/tools/manual", Programs.directory, folder)
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
                let shown = try [DualCam.path, DualCam.backPath].flatMap { path in
                    try outline(path, daemon).interfaces
                        .filter { $0.key.hasPrefix(DualCam.busName) }.flatMap(members)
                }
                let log = try outline(DualCam.logPath, daemon)
                #expect(log.interfaces["org.freedesktop.LogControl1"] != nil)
                #expect(told == Set(shown))
                #expect(told.contains("\(DualCam.busName).Scene property Swapped b (readwrite)"))
            }
        }

        /// Returns the members of an interface as the manual writes them.
        private func members(_ name: String, _ lines: [String]) -> [String] {
            var members: [(text: String, takes: [String], gives: [String])] = []
            for line in lines {
                func attribute(_ name: String) -> Substring {
                    guard let start = line.firstRange(of: "\"\(name)=")?.upperBound else {
                        return ""
                    }
                    return line[start...].prefix { $0 != "\"" }
                }
                let argument = "\(attribute("name")) \(attribute("type"))"
                switch line.split(separator: " ").first {
                case "method", "signal":
                    let kind = line.split(separator: " ")[0]
                    members.append(("\(name) \(kind) \(attribute("name"))(", [], []))
                case "property":
                    members.append(
                        ("\(name) property \(argument) (\(attribute("access")))", [], [])
                    )
                case "arg" where attribute("direction") == "out":
                    members[members.count - 1].gives.append(argument)
                case "arg": members[members.count - 1].takes.append(argument)
                default: break
                }
            }
            return members.map { text, takes, gives in
                guard text.hasSuffix("(") else { return text }
                let given = gives.isEmpty ? "" : " \\[u2192] (\(gives.joined(separator: ", ")))"
                return text + takes.joined(separator: ", ") + ")" + given
            }
        }

        @Test func theObjectManagerListsTheCameras() throws {
            try Daemon.with(Self.configuration) { daemon in
                let answer = try daemon.send(
                    "GetManagedObjects",
                    of: "org.freedesktop.DBus.ObjectManager"
                )
                guard case .dictionary(let objects, _, _)? = answer.first else {
                    throw TimedOut("a dictionary", after: 0)
                }
                #expect(
                    Set(objects.keys) == [
                        .objectPath(DualCam.backPath), .objectPath(DualCam.frontPath),
                    ]
                )
                for (path, role) in [(DualCam.backPath, "back"), (DualCam.frontPath, "front")] {
                    guard case .dictionary(let interfaces, _, _)? = objects[.objectPath(path)]
                    else {
                        throw TimedOut("the interfaces of \(path)", after: 0)
                    }
                    let values = interfaces[.string("org.dualcam.DualCam1.Camera")]?.named
                    #expect(values?["Role"] == .string(role))
                    #expect(values?["Source"] == .string("test"))
                    #expect(values?["State"] == .string("closed"))
                    #expect(values?["Mirror"] == .boolean(role == "front"))
                    let all = try daemon.send(
                        "GetAll",
                        of: Self.properties,
                        at: path,
                        [.string("org.dualcam.DualCam1.Camera")]
                    )
                    #expect(all.first?.named == values)
                }
            }
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
                defer { reader.close() }
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
