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

        @Test func whatItShowsOfItselfIsWhatTheFilesSay() throws {
            let directory = URL(fileURLWithPath: #filePath)
                .deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("dbus")
            let files = try FileManager.default.contentsOfDirectory(
                at: directory,
                includingPropertiesForKeys: nil
            ).filter { $0.pathExtension == "xml" }
            var described: [String: [String]] = [:]
            for file in files {
                described.merge(try Outline(Data(contentsOf: file)).interfaces) { $1 }
            }
            try Daemon.with(Self.configuration) { daemon in
                let root = try outline(DualCam.path, daemon)
                let camera = try outline(DualCam.backPath, daemon)
                #expect(root.children == ["cameras"])
                #expect(
                    try outline("/org/dualcam/DualCam1/cameras", daemon).children == [
                        "back", "front",
                    ]
                )
                #expect(try outline(DualCam.frontPath, daemon).interfaces == camera.interfaces)
                let own = root.interfaces.merging(camera.interfaces) { $1 }
                    .filter { $0.key.hasPrefix(DualCam.busName) }
                #expect(own == described)
                for standard in ["Properties", "Introspectable", "Peer"] {
                    #expect(root.interfaces["org.freedesktop.DBus.\(standard)"] != nil)
                    #expect(camera.interfaces["org.freedesktop.DBus.\(standard)"] != nil)
                }
                #expect(root.interfaces["org.freedesktop.DBus.ObjectManager"] != nil)
                let log = try outline(DualCam.logPath, daemon)
                #expect(log.interfaces["org.freedesktop.LogControl1"] != nil)
            }
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
                try daemon.set("Swapped", of: .scene, to: .boolean(true))
                try daemon.settle()
                #expect(daemon.changes(of: .scene).count == 1 && daemon.signals.count == 1)
            }
        }

        /// The changes without those that follow from a change of the layout.
        private static func chosen(_ changes: [[String: Value]]) -> [[String: Value]] {
            changes.map { $0.filter { !$0.key.hasSuffix("Rectangle") } }.filter { !$0.isEmpty }
        }

        @Test func theStreamTellsWhoLooks() throws {
            try Daemon.with(Self.configuration) { daemon in
                func viewers() throws -> [[String: Value]] {
                    try daemon.get("Viewers", of: .stream).array?.compactMap(\.named) ?? []
                }
                #expect(try viewers().isEmpty)
                let reader = try daemon.reader()
                _ = try reader.next()
                try eventually("a viewer", within: 10) { try viewers().count == 1 }
                let viewer = try viewers()[0]
                #expect(viewer["pid"] == .uint32(UInt32(getpid())))
                #expect(viewer["name"]?.string?.isEmpty == false)
                #expect((viewer["since"]?.integer ?? 0) / 1_000_000 > 1_700_000_000)
                reader.close()
                try eventually("nobody", within: 10) { try viewers().isEmpty }
                try daemon.settle()
                #expect(daemon.changes(of: .stream).count { $0["Viewers"] != nil } >= 2)
            }
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
                try daemon.set("InsetVisible", of: .scene, to: .boolean(false))
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
                #expect(try daemon.get("State", of: .stream) == .string("stopped"))
                #expect(try Listed("dualcam", in: daemon.session) == nil)
                #expect(try announced(["Stop"]) == [])
                #expect(try announced(["Start"]) == ["WillStart", "DidStart"])
                #expect(try daemon.get("State", of: .stream) == .string("idle"))
                #expect(try Listed("dualcam", in: daemon.session) != nil)
                #expect(try announced(["Start"]) == [])
                #expect(
                    try announced(["Toggle", "Toggle"])
                        == ["WillStop", "DidStop", "WillStart", "DidStart"]
                )
                // Nobody has a window, so nothing happens; whoever listens by name has one.
                let refusal = #expect(throws: DBusError.self) { try announced(["Restore"]) }
                #expect(refusal?.message.hasPrefix("No program has a window") == true)
                let window = daemon.bus.subscribe(
                    MatchRule(
                        path: DualCam.path,
                        interface: "\(Interface.stream)",
                        member: "RestoreRequested"
                    )
                ) { _ in }
                #expect(
                    try withExtendedLifetime(window) { try announced(["Restore"]) } == [
                        "RestoreRequested"
                    ]
                )
                #expect(try daemon.get("State", of: .stream) == .string("idle"))

                // With a consumer, it hands over, and the stream goes on for the others.
                let reader = try daemon.reader()
                defer { reader.close() }
                let before = try reader.next().sequence
                #expect(
                    try withExtendedLifetime(window) { try announced(["Restore"]) } == [
                        "RestoreRequested"
                    ]
                )
                #expect(try daemon.get("Consumers", of: .stream) == .uint32(1))
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

        @Test func whatIsWrongIsRefusedWhileFramesGoOn() throws {
            try Daemon.with(Self.configuration) { daemon in
                let reader = try StreamReader("dualcam", in: daemon.session)
                defer { reader.close() }
                _ = try reader.next()
                reader.flush()
                let (long, scene) = (String(repeating: "x", count: 1 << 20), "\(Interface.scene)")
                let (own, standard) = ("org.dualcam.DualCam1.Error.", "org.freedesktop.DBus.Error.")
                let none = Value.named([:])
                func set(
                    _ property: String,
                    _ value: Value,
                    of interface: String = scene
                ) -> [Value] { [.string(interface), .string(property), .variant(value)] }
                let camera = "\(Interface.camera)"

                let wrong: [(String, String, ObjectPath, [Value], String)] = [
                    ("Swap", scene, DualCam.path, [], "\(standard)InvalidArgs"),
                    ("Swap", scene, DualCam.path, [.string("now")], "\(standard)InvalidArgs"),
                    ("Swap", scene, DualCam.path, [none, none], "\(standard)InvalidArgs"),
                    ("Swap", scene, DualCam.path, [.string(long)], "\(standard)InvalidArgs"),
                    ("Dance", scene, DualCam.path, [none], "\(standard)UnknownMethod"),
                    (
                        "Swap", "org.dualcam.DualCam1.Nothing", DualCam.path, [none],
                        "\(standard)UnknownInterface"
                    ),
                    ("Swap", scene, DualCam.backPath, [none], "\(standard)UnknownInterface"),
                    ("Swap", scene, "/nowhere", [none], "\(standard)UnknownObject"),
                    (
                        "Get", Self.properties, DualCam.path, [.string(scene), .string("Nothing")],
                        "\(standard)UnknownProperty"
                    ),
                    (
                        "Get", Self.properties, DualCam.path, [.string("a.b"), .string("Layout")],
                        "\(standard)UnknownInterface"
                    ),
                    (
                        "Set", Self.properties, DualCam.path, set("Main", .objectPath("/")),
                        "\(standard)PropertyReadOnly"
                    ),
                    (
                        "Set", Self.properties, DualCam.path, set("Layout", .uint32(1)),
                        "\(standard)InvalidArgs"
                    ),
                    (
                        "Set", Self.properties, DualCam.path, set("Layout", .string("")),
                        "\(own)OutOfRange"
                    ),
                    (
                        "Set", Self.properties, DualCam.path, set("Layout", .string(long)),
                        "\(own)OutOfRange"
                    ),
                    (
                        "Set", Self.properties, DualCam.path, set("InsetCorner", .string("middle")),
                        "\(own)OutOfRange"
                    ),
                    (
                        "Set", Self.properties, DualCam.path, set("InsetVisible", .string("true")),
                        "\(standard)InvalidArgs"
                    ),
                ]
                for (member, interface, path, arguments, error) in wrong {
                    expectRefusal(daemon, member, of: interface, at: path, arguments, error)
                }
                let frames = reader.drain() + [try reader.next()]
                #expect(frames.breaks == [])
                let sizes = [.nan, .infinity, -.infinity, 0, -1, 0.5001, 0.0999, 1e308]
                for size in sizes {
                    let arguments = set("InsetSize", .double(size))
                    let error = "\(own)OutOfRange"
                    expectRefusal(
                        daemon,
                        "Set",
                        of: Self.properties,
                        at: DualCam.path,
                        arguments,
                        error
                    )
                }
                for degrees in [1, 45, 360, UInt32.max] {
                    let arguments = set("Rotation", .uint32(degrees), of: camera)
                    let error = "\(own)OutOfRange"
                    expectRefusal(
                        daemon,
                        "Set",
                        of: Self.properties,
                        at: DualCam.backPath,
                        arguments,
                        error
                    )
                }
                // Unknown options of any type are ignored; those that are known have a type.
                try daemon.call("Reset", of: .scene, options: ["x": .string(long)])
                expectRefusal(
                    daemon,
                    "Reset",
                    of: scene,
                    at: DualCam.path,
                    [.named(["instant": .double(.nan)])],
                    "\(standard)InvalidArgs"
                )

                #expect(try daemon.get("InsetSize", of: .scene) == .double(0.25))
                #expect(try daemon.get("Layout", of: .scene) == .string("pip"))
                #expect(try daemon.problems == [])
            }
        }

        private func expectRefusal(
            _ daemon: Daemon,
            _ member: String,
            of interface: String,
            at path: ObjectPath,
            _ arguments: [Value],
            _ error: String
        ) {
            do {
                try daemon.send(member, of: interface, at: path, arguments)
                Issue.record("\(interface).\(member) was accepted, expected \(error)")
            } catch let refusal as DBusKit.DBusError {
                #expect(refusal.name == error, "\(refusal)")
                #expect(!refusal.message.isEmpty && refusal.message.count < 400)
            } catch {
                Issue.record(error)
            }
        }
    }
}
