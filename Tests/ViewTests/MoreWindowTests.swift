import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

/// The window among others, and what comes and goes with it.
@Suite(.serialized) struct WindowLifeTests {
    private static let inset = (x: 405, y: 45)
    private static let main = (x: 160, y: 110)

    @Test(arguments: [true, false])
    func `A closed window ends the program, whoever closes it`(byKey: Bool) throws {
        try ShownWindow.with(hasScreenReader: !byKey) { window in
            if !byKey { try window.click("Close") }
            // Openbox grabs its keys anew when the first one is pressed, and may miss that one.
            try eventually("no window", within: 15) {
                if byKey { try window.desktop.hand("key alt+F4") }
                return try window.desktop.windows("DualCam").isEmpty
            }
            #expect(try window.program.wait() == .status(0))
        }
    }

    @Test func `A second start shows the window that there is, and ends`() throws {
        try ShownWindow.with { window in
            let second = try window.desktop.start("dualcam-view")
            #expect(try second.wait(within: 10) == .status(0))
            #expect(window.program.exit == nil)
            #expect(try window.desktop.windows("DualCam").count == 1)
        }
    }

    @Test func `The window is above a larger one, on every workspace`() throws {
        try ShownWindow.with { window in
            try eventually("a window above others, on every workspace", within: 5) {
                let state = try window.desktop.run(
                    "xprop",
                    "-id",
                    window.id,
                    "_NET_WM_STATE",
                    "_NET_WM_DESKTOP"
                )
                // openbox says by the number of the workspace that it is every one.
                return state.contains("_NET_WM_STATE_ABOVE") && state.contains("= 4294967295")
            }
            let large = try window.desktop.start("test-window", "large")
            try eventually("the large window", within: 10) {
                try large.output.contains("shown") && window.desktop.color(100, 400) == [0, 255, 0]
            }
            let color = try window.desktop.color(window.place.x + 240, window.place.y + 5)
            #expect(color != [0, 255, 0])
        }
    }

    @Test func `A window that others cover consumes nothing after a second`() throws {
        try ShownWindow.with { window in
            try window.daemon.stream.wait(for: \.consumers, 1, within: 5)
            let cover = try window.desktop.start("test-window", "cover")
            try eventually("the cover", within: 10) { cover.output.contains("shown") }
            try window.daemon.stream.wait(for: \.consumers, 0)
            window.desktop.session.forget(cover)
            try window.daemon.stream.wait(for: \.consumers, 1, within: 10)
            try window.waitForPicture()
        }
    }

    @Test func `After a click on a control the keys still mean what the list of them says`() throws
    {
        try ShownWindow.with(hasScreenReader: true) { window in
            try window.click("Privacy")
            try window.daemon.privacy.wait(for: \.enabled, true, within: 5)
            try window.desktop.hand("key space")
            try window.wait("Swapped") { $0 == .boolean(true) }
            #expect(try window.daemon.privacy.get(\.enabled) == true)
        }
    }

    @Test(arguments: ["click 3", "mousedown 1 sleep 1.2 mouseup 1"])
    func `The right button and a long press open the menu`(how: String) throws {
        try ShownWindow.with { window in
            try window.desktop.openMenu { try window.hand(at: Self.main.x, Self.main.y, how) }
            // The first item swaps. Without a menu these keys would do nothing.
            try window.desktop.hand("key Home key Return")
            try window.wait("Swapped") { $0 == .boolean(true) }
        }
    }

    @Test func `A double click may take as long, and be as wide, as the desktop has it`() throws {
        let settings = ["gtk-double-click-time = 4000", "gtk-double-click-distance = 40"]
        try ShownWindow.with(settings: settings) { window in
            try window.hand(at: Self.inset.x, Self.inset.y, "click 1")
            try window.wait("Swapped") { $0 == .boolean(true) }
            try window.hand(
                at: Self.main.x,
                Self.main.y,
                "click 1 sleep 0.8 mousemove_relative 20 10 click 1"
            )
            try window.wait("Swapped") { $0 == .boolean(false) }
        }
    }

    @Test func `Scenes and the sound of recordings have keys`() throws {
        try ShownWindow.with { window in
            try window.desktop.hand("key l")
            try window.wait("Layout") { $0 == .string("side-by-side") }
            try window.daemon.send(
                "Save",
                of: Interface.scenes.name,
                [.string("mine"), .named([:])]
            )
            let names =
                try window.daemon.get("Names", of: .scenes).array?.compactMap(\.string) ?? []
            try window.desktop.hand("key l")
            try window.wait("Layout") { $0 == .string("stacked") }
            try window.desktop.hand("key 1")
            try window.daemon.scenes.wait(for: \.current, names[0], within: 5)
            try window.desktop.hand("key 3")
            try window.daemon.scenes.wait(for: \.current, names[2], within: 5)
        }
    }

    @Test func `A message shows names as they are, with all marks of markup`() throws {
        try ShownWindow.with(hasScreenReader: true) { window in
            func change(_ method: String, _ text: String) throws {
                let arguments: [Value] = [.string(text), .named([:])]
                try window.daemon.send(method, of: Interface.scenes.name, arguments)
            }
            // What is left has the keys 1 to 3.
            for name in ["talk", "presenter"] { try change("Remove", name) }
            try change("Import", "[[scene]]\nname = \"<a> & b\"\n[scene.back]\niso = 400\n")
            let reader = try window.reader(showing: ["Record"])
            try window.desktop.hand("key 4")
            try eventually("the message", within: 10) {
                reader.named.keys.contains { $0.hasPrefix("Part of “<a> & b” could not be shown") }
            }
        }
    }

    @Test func `The dials come at once, fade after three seconds, and come again`() throws {
        try ShownWindow.with { window in
            // A point of the dial beside its scale and words, where black makes the picture darker.
            func brightness() throws -> Int {
                try window.desktop.color(window.place.x + 60, window.place.y + 180).reduce(0, +)
            }
            let before = try brightness()
            let start = MonotonicClock.now
            try window.desktop.hand("key p")
            try eventually("the dials", within: 10) { try brightness() < before * 3 / 4 }
            try eventually("a fade", within: 15) { try brightness() > before * 3 / 4 }
            #expect((MonotonicClock.now - start).seconds > 3)
            try window.hand(at: 60, 180, "mousemove_relative 2 2")
            try eventually("the dials again", within: 10) { try brightness() < before * 3 / 4 }
        }
    }
}

/// Pictures that go from the window to other places.
@Suite(.serialized) struct PicturesTests {
    @Test func `A photo is dragged into another program, at the first try`() throws {
        try ShownWindow.with { window in
            let path = try window.takePhoto()
            let target = try window.desktop.start("test-window", "drop")
            let id = try eventually("the other window", within: 10) {
                try window.desktop.windows("Target").first
            }
            try window.desktop.hand("windowmove \(id) 20 20")
            // The strip is at the bottom; its second cell is the newest picture. The other window
            // took the keyboard when it came.
            let (x, y) = (window.place.x + 200, window.place.y + 200)
            try window.hand(at: 160, 110, "click 1 sleep 0.3 key g")
            try eventually("the strip", within: 10) { try window.isStripOpen() }
            try window.desktop.hand(
                "mousemove \(x) \(y) sleep 0.3 mousedown 1 sleep 0.1 "
                    + "mousemove \(x - 20) \(y - 20) sleep 0.1 mousemove \(x - 60) \(y - 60) "
                    + "sleep 0.1 mousemove 260 200 sleep 0.3 mousemove 250 190 sleep 0.5 mouseup 1"
            )
            try eventually("a file; \(target.errors)", within: 10) { target.output.contains("\n") }
            #expect(target.output == "file://\(path)\n")
        }
    }

    @Test func `A script gets the picture that was chosen`() throws {
        try ShownWindow.with(hasScreenReader: true) { window in
            let path = try window.takePhoto()
            let picker = try window.desktop.start("dualcam-view", "--pick", "--type", "photo")
            let reader = try ScreenReader(window.daemon)
            try reader.press("Photo ·")
            try eventually("the choice", within: 5) {
                reader.named["Choose"].map { reader.hasState(ScreenReader.sensitive, $0) } ?? false
            }
            try reader.press("Choose")
            #expect(try picker.wait(within: 10) == .status(0))
            #expect(picker.output == "\(path)\n")

            let other = try window.desktop.start("dualcam-view", "--pick")
            try eventually("the window", within: 10) {
                try !window.desktop.windows("Choose a Picture").isEmpty
            }
            try window.desktop.hand(
                "search --onlyvisible --name ^Choose.a.Picture$ windowfocus --sync key Escape"
            )
            #expect(try other.wait(within: 10) == .status(1))
            #expect(other.output.isEmpty)
        }
    }

    @Test func `A picture is chosen by the keyboard alone`() throws {
        try ShownWindow.with(hasScreenReader: true) { window in
            let path = try window.takePhoto()
            let picker = try window.desktop.start("dualcam-view", "--pick", "--type", "photo")
            let reader = try ScreenReader(window.daemon)
            try eventually("the picture", within: 10) {
                reader.named.keys.contains { $0.hasPrefix("Photo ·") }
            }
            try window.desktop.waitForFocus(of: "Choose a Picture")
            /// Presses Tab until the right one has the keyboard.
            func go(to description: String, _ isRight: (String) -> Bool) throws {
                try eventually(description, within: 20) {
                    let before = reader.focused
                    if let before, isRight(before.name) { return true }
                    try window.desktop.hand("key Tab")
                    // A cell has the name of the button in it since GTK 4.16.
                    try eventually("the next control", within: 5) {
                        reader.focused?.object != before?.object
                    }
                    return false
                }
            }
            try go(to: "the picture") { name in
                !["Cancel", "Take a Photo", "Choose"].contains { name.hasPrefix($0) }
            }
            try window.desktop.hand("key Return")
            try eventually("the choice", within: 5) {
                reader.named["Choose"].map { reader.hasState(ScreenReader.sensitive, $0) } ?? false
            }
            try go(to: "the button") { $0.hasPrefix("Choose") }
            try window.desktop.hand("key Return")
            #expect(try picker.wait(within: 10) == .status(0))
            #expect(picker.output == "\(path)\n")
        }
    }

    @Test func `What is removed is in the trash, unless it is undone, and a live photo as a whole`()
        throws
    {
        try ShownWindow.with(hasScreenReader: true) { window in
            let path = try window.takePhoto()
            let movie = (path as NSString).deletingPathExtension + ".mkv"
            try Data("a movie".utf8).write(to: URL(filePath: movie))
            try window.desktop.hand("mousemove \(window.place.x + 160) \(window.place.y + 110)")
            try window.desktop.hand("key g")
            let reader = try ScreenReader(window.daemon)
            try reader.press("Live photo ·")
            try reader.press("Move to Trash")
            try reader.press("Undo")
            #expect(access(path, F_OK) == 0)
            try reader.press("Live photo ·")
            try reader.press("Move to Trash")
            try eventually("a strip without it", within: 5) {
                !reader.named.keys.contains { $0.hasPrefix("Live photo ·") }
            }
            #expect(access(path, F_OK) == 0)
            // Closing the window does not wait for the notice.
            try window.desktop.hand("key alt+F4")
            #expect(try window.program.wait(within: 10) == .status(0))
            #expect(access(path, F_OK) != 0)
            #expect(access(movie, F_OK) != 0)
            let home = window.desktop.session.environment["HOME"] ?? ""
            let trashed = try FileManager.default.contentsOfDirectory(
                atPath: "\(home)/.local/share/Trash/files"
            )
            #expect(trashed.count == 2)
        }
    }

    @Test func `A picker without a session bus says so with a status of its own`() throws {
        try PrivateSession.with([.bus]) { session in
            let desktop = try Desktop(in: session)
            session.kill(.bus)
            let picker = try desktop.start("dualcam-view", "--pick")
            #expect(try picker.wait(within: 10) == .status(8))
            #expect(picker.errors.contains("There is no session bus."))
        }
    }
}

/// What people hear who do not see the window.
@Suite(.serialized) struct SpokenTests {
    @Test func `Controls have roles and states`() throws {
        try ShownWindow.with(hasScreenReader: true) { window in
            try window.desktop.hand("key Menu")
            let reader = try window.reader(showing: ["Take a Photo", "Mirror", "Sound"])
            let named = reader.named
            #expect(named["Take a Photo"].flatMap(reader.role) == ScreenReader.button)
            guard let mirror = named["Mirror"], let sound = named["Sound"] else { return }
            #expect(ScreenReader.toggles.contains(reader.role(of: mirror) ?? 0))
            let was = reader.hasState(ScreenReader.pressed, mirror)
            try window.daemon.back.set(\.mirror, !was)
            try eventually("another state", within: 5) {
                reader.hasState(ScreenReader.pressed, mirror) != was
            }
            #expect(reader.hasState(ScreenReader.pressed, sound))
        }
    }
}
