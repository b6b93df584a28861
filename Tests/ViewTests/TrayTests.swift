import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

/// DualCam in a desktop's tray, which a mock plays.
@Suite(.serialized) struct TrayTests {
    private static let watcher = "org.kde.StatusNotifierWatcher"
    private static let template =
        repository
        .appending(path: "Tests/Mocks/status_notifier_watcher.py").path

    /// The tray's item, as the desktop uses it.
    private final class Item {
        let daemon: Daemon
        let owner: String

        init(_ daemon: Daemon, _ owner: String) {
            self.daemon = daemon
            self.owner = owner
        }

        func call(
            _ member: String,
            of interface: String,
            at path: ObjectPath,
            _ arguments: [Value] = []
        ) throws -> [Value] {
            try daemon.bus.call(
                MethodCall(member, of: interface, at: path, on: owner, arguments, timeout: 5)
            )
        }

        /// Waits until this is said under the pointer.
        func wait(_ words: String) throws {
            try eventually(words, within: 10) { try self.words() == words }
        }

        func words() throws -> String {
            let answer = try call(
                "Get",
                of: "org.freedesktop.DBus.Properties",
                at: "/StatusNotifierItem",
                [.string("org.kde.StatusNotifierItem"), .string("ToolTip")]
            )
            guard case .variant(let tip)? = answer.first else { return "" }
            return tip.structure?.last?.string ?? ""
        }

        func labels() throws -> [String: Value] {
            let answer = try call(
                "GetGroupProperties",
                of: "com.canonical.dbusmenu",
                at: "/MenuBar",
                [.array([], of: .int32), .strings([])]
            )
            var found: [String: Value] = [:]
            for row in (answer.first?.array ?? []).compactMap(\.structure) where row.count == 2 {
                if let label = row[1].named?["label"]?.string { found[label] = row[0] }
            }
            return found
        }

        func choose(_ label: String) throws {
            try choose(id: eventually("the item \(label)", within: 5) { try self.labels()[label] })
        }

        func choose(id: Value, _ event: String = "clicked") throws {
            _ = try call(
                "Event",
                of: "com.canonical.dbusmenu",
                at: "/MenuBar",
                [id, .string(event), .variant(.string("")), .uint32(0)]
            )
        }
    }

    @Test func `The tray tells what goes on, and its menu does what it says`() throws {
        try PrivateSession.with { session in
            let daemon = try Daemon(ShownWindow.configuration, in: session)
            let program = try session.run(Programs.path(of: "dualcamctl"), "tray")
            // A desktop may have its tray later than programs have their items.
            let desktop = try MockedService(
                Self.watcher,
                at: "/StatusNotifierWatcher",
                interface: Self.watcher,
                template: Self.template,
                on: .session,
                in: session
            )
            let item = try Item(daemon, Self.owner(of: desktop))
            try Self.useMenu(item)
            try Self.look(item, at: session)
            try Self.record(item)
            try Self.rest(program)
            daemon.program.signal(SIGSTOP)
            try item.wait("DualCam does not answer")
            daemon.program.signal(SIGCONT)
            try item.wait("No app is using the camera")
            // A menu that is open may be older than what is shown now.
            let old = try item.labels()
            daemon.program.signal(SIGTERM)
            try item.wait("DualCam is not running")
            try item.choose(id: #require(old["Take a Photo"]))
            try item.choose(id: #require(old["Quit"]))
            #expect(try program.wait(within: 5) == .status(0))
        }
    }

    @Test func `The tray starts with the session where that is wanted, and no longer`() throws {
        try PrivateSession.with([]) { session in
            let path = "\(session.directory)/home/.config/autostart/org.dualcam.Tray.desktop"
            func turn(_ word: String) throws {
                let program = try session.run(
                    Programs.path(of: "dualcamctl"),
                    ["tray", "--at-login", word]
                )
                #expect(try program.wait(within: 10) == .status(0))
            }
            try turn("on")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.contains("\nExec=dualcamctl tray\n"))
            let check = try session.run("desktop-file-validate", path)
            #expect(try check.wait(within: 10) == .status(0), "\(check.output)")
            try turn("off")
            #expect(!FileManager.default.fileExists(atPath: path))
            try turn("toggle")
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    /// Returns the bus name of the item that was registered at the tray.
    private static func owner(of desktop: MockedService) throws -> String {
        try eventually("an item", within: 10) {
            let answer = try desktop.call("Registered", of: watcher)
            return answer.first?.string.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    private static func useMenu(_ item: Item) throws {
        try item.wait("No app is using the camera")
        try item.choose("Swap")
        try item.daemon.scene.wait(for: \.swapped, true, within: 5)
        try item.choose("Stacked")
        try item.daemon.scene.wait(for: \.layout, "stacked", within: 5)
        let names = try item.daemon.get("Names", of: .scenes).array?.compactMap(\.string) ?? []
        let scene = try #require(names.dropFirst().first)
        try item.choose(scene.capitalizedFirst)
        try item.daemon.scenes.wait(for: \.current, scene, within: 5)
        try item.choose("Privacy")
        try item.wait("Privacy: the cameras are closed")
        try item.choose("Privacy")
    }

    private static func record(_ item: Item) throws {
        var told: [String] = []
        let subscription = item.daemon.bus.subscribe(
            MatchRule(sender: item.owner, interface: "com.canonical.dbusmenu")
        ) { told.append($0.member) }
        func wait(until seconds: Int) throws {
            try eventually("\(seconds) s of recording", within: 20) {
                let time = try item.daemon.get("RecordingSeconds", of: .capture)
                return (time.integer ?? 0) >= seconds
            }
        }
        try item.choose("Record")
        try wait(until: 1)
        try item.daemon.settle()
        told = []
        try wait(until: 2)
        try item.daemon.settle()
        #expect(told.isEmpty)
        try item.choose(id: .int32(0), "opened")
        try eventually("the time", within: 5) {
            try item.daemon.settle()
            return told.contains("ItemsPropertiesUpdated")
        }
        #expect(!told.contains("LayoutUpdated"))
        try item.choose(id: .int32(0), "closed")
        try item.daemon.capture.call(\.pauseRecording)
        try item.wait("Recording paused")
        let end = try eventually("the end", within: 5) {
            try item.labels().first { $0.key.hasPrefix("Stop Recording (") }
        }
        try item.choose(id: end.value)
        try item.daemon.capture.wait(for: \.recording, false, within: 10)
        withExtendedLifetime(subscription) {}
    }

    private static func look(_ item: Item, at session: PrivateSession) throws {
        let reader = try StreamReader("dualcam", in: session)
        // By the name that it gives itself, also in the menu.
        let words = try eventually("a viewer", within: 10) {
            let words = try item.words()
            return words.hasSuffix(" is using the camera")
                && !words.hasSuffix(" app is using the camera")
                ? words : nil
        }
        try eventually("the viewer in the menu", within: 5) { try item.labels()[words] != nil }
        reader.close()
        try item.wait("No app is using the camera")
        // Words under the pointer are markup, which names are not.
        let program = "\(session.directory)/<b>&"
        _ = try session.output("sh", "-c", "cp $(command -v gst-launch-1.0) '\(program)'")
        let pipeline = "pipewiresrc target-object=dualcam ! video/x-raw ! fakesink"
        let viewer = try session.run(program, pipeline.split(separator: " ").map(String.init))
        try item.wait("&lt;b&gt;&amp; is using the camera")
        session.forget(viewer)
        try item.wait("No app is using the camera")
    }

    /// Checks that the tray does not wake while nothing happens.
    private static func rest(_ program: Child) throws {
        // What happened before may still be told.
        try eventually("half a second without waking", within: 10) {
            let before = wakes(program.id)
            usleep(500_000)
            return wakes(program.id) == before
        }
    }

    /// How often a process has waited.
    private static func wakes(_ process: pid_t) -> String {
        let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").first { $0.hasPrefix("voluntary") }.map(String.init)
            ?? ""
    }
}
