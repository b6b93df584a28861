import Control
import DBusKit
import Foundation
import Frames
import Platform
import TestSupport
import Testing

/// The window under a hand, on a desktop without a screen.
@Suite(.serialized) struct WindowTests {
    /// A point on the inset at the top right, and one on the main picture.
    private static let inset = (x: 405, y: 45)
    private static let main = (x: 160, y: 110)

    @Test func `Hands do in the stream what they do in the window`() throws {
        try ShownWindow.with { window in
            try window.hand(at: Self.inset.x, Self.inset.y, "click 1")
            try window.wait("Swapped") { $0 == .boolean(true) }
            // The front test picture is teal where the back one is a sky of violet.
            try eventually("the other picture on the screen", within: 5) {
                let color = try window.desktop.color(window.place.x + 30, window.place.y + 60)
                return color[1] > color[0]
            }
            try window.hand(at: Self.main.x, Self.main.y, "click --repeat 2 --delay 60 1")
            try window.wait("Swapped") { $0 == .boolean(false) }

            let (x, y) = (window.place.x, window.place.y)
            try window.hand(
                at: Self.inset.x,
                Self.inset.y,
                "mousedown 1 mousemove \(x + 300) \(y + 120) sleep 0.05 "
                    + "mousemove \(x + 200) \(y + 140) sleep 0.05"
            )
            #expect(try window.daemon.scene.get(\.insetVisible), "others see it all the while")
            try window.desktop.hand("mouseup 1")
            try window.wait("InsetPosition") { $0.array?.count == 2 }
            try window.hand(at: 200, 140, "key alt+Left key alt+shift+Left")
            try eventually("nine units to the left", within: 5) {
                let left = try window.daemon.scene.get(\.insetRectangle).x * 480
                return abs(left - (350.4 - 205 - 9)) < 2
            }
            try window.hand(
                at: 200,
                140,
                "mousedown 1 mousemove \(x + 150) \(y + 180) sleep 0.05 "
                    + "mousemove \(x + 75) \(y + 225) sleep 0.05 mouseup 1"
            )
            try window.wait("InsetCorner") { $0 == .string("bottom-left") }
            try window.wait("InsetPosition") { $0.array == [] }
            try eventually("the front picture in that corner", within: 10) {
                let color = try window.desktop.color(x + 60, y + 212)
                return color[1] > color[0]
            }
            try window.hand(at: 60, 212, "click --repeat 2 --delay 30 4")
            try window.wait("InsetSize") { ($0.double ?? 0) > 0.28 }

            try window.hand(at: Self.main.x, Self.main.y, "click --repeat 3 --delay 30 4")
            try eventually("a zoom", within: 5) {
                let zoom = try window.daemon.get("Zoom", of: .camera, at: DualCam.backPath)
                return (zoom.double ?? 1) > 1.2
            }
        }
    }

    @Test func `Keys do what the list of keys says`() throws {
        try ShownWindow.with { window in
            try window.hand(at: Self.main.x, Self.main.y, "key space")
            try window.wait("Swapped") { $0 == .boolean(true) }
            try window.desktop.hand("key l")
            try window.wait("Layout") { $0 == .string("side-by-side") }
            try window.desktop.hand("key BackSpace")
            try window.wait("Layout") { $0 == .string("pip") }
            try window.desktop.hand("key o")
            try window.wait("InsetVisible") { $0 == .boolean(false) }
            try window.desktop.hand("key h")
            try window.daemon.privacy.wait(for: \.enabled, true, within: 5)
            try window.desktop.hand("key h")
            try window.daemon.privacy.wait(for: \.enabled, false, within: 5)
        }
    }

    @Test func `A window that nobody sees consumes nothing, and the cameras close`() throws {
        try ShownWindow.with { window in
            try window.daemon.back.wait(for: \.state, "streaming", within: 5)
            try window.desktop.hand("windowminimize \(window.id)")
            try window.daemon.back.wait(for: \.state, "closed")
            #expect(try window.daemon.stream.get(\.consumers) == 0)
            try window.desktop.hand("windowmap \(window.id)")
            try window.waitForPicture()
            try window.daemon.back.wait(for: \.state, "streaming", within: 5)
        }
    }

    @Test func `Restore brings a hidden window back, and the stream goes on for others`() throws {
        try ShownWindow.with { window in
            let session = window.desktop.session
            let reader = try StreamReader("dualcam", in: session)
            defer { reader.close() }
            _ = try reader.next(within: 10)
            try window.desktop.hand("windowminimize \(window.id)")
            try window.daemon.stream.wait(for: \.consumers, 1, within: 5)
            reader.flush()
            _ = try reader.next()
            _ = try session.output(Programs.path(of: "dualcamctl"), "restore")
            try window.waitForPicture()
            try window.daemon.stream.wait(for: \.consumers, 2, within: 5)
            reader.flush()
            _ = try reader.next()
            #expect(reader.failure == nil)
        }
    }

    @Test func `A daemon that dies is told of, and its picture comes back with it`() throws {
        try ShownWindow.with { window in
            window.daemon.program.end()
            try eventually("no picture", within: 5) {
                try window.desktop.color(window.place.x + 240, window.place.y + 5) == [0, 0, 0]
            }
            let path = "\(window.desktop.session.directory)/dualcam.toml"
            try window.desktop.session.run(
                Programs.path(of: "dualcamd"),
                ["--config", path],
                adding: ["NOTIFY_SOCKET": window.daemon.notifications.path]
            )
            try window.waitForPicture()
        }
    }

    @Test func `A PipeWire that restarts brings the picture back by itself`() throws {
        try ShownWindow.with { window in
            let session = window.desktop.session
            session.kill(.wireplumber)
            session.kill(.pipewire)
            try eventually("no picture", within: 5) {
                try window.desktop.color(window.place.x + 240, window.place.y + 5) == [0, 0, 0]
            }
            try session.start(.pipewire)
            try session.start(.wireplumber)
            try window.waitForPicture()
        }
    }

    @Test func `Controls have names by which they can be found and pressed`() throws {
        try ShownWindow.with(hasScreenReader: true) { window in
            try window.hand(at: Self.main.x, Self.main.y, "mousemove_relative 3 3")
            let reader = try ScreenReader(window.daemon)
            let names = [
                "Close", "Fullscreen", "Layout", "Take a Photo", "Record", "Privacy", "Menu",
            ]
            try eventually("the controls", within: 10) {
                Set(names).isSubset(of: Set(reader.named.keys))
            }
            try reader.press("Layout")
            try reader.press("Circle")
            try window.wait("InsetShape") { $0 == .string("circle") }
            try reader.press("Black")
            try window.wait("Background") { $0 == .string("black") }
            try reader.press("Stacked")
            try window.wait("Layout") { $0 == .string("stacked") }
        }
    }

    @Test func `The controls have all their room over a person who stands in the picture`() throws {
        try ShownWindow.with(hasScreenReader: true) { window in
            let reader = try ScreenReader(window.daemon)
            func waitForLayout(_ isThere: Bool) throws {
                try eventually("the layouts' button: \(isThere)", within: 10) {
                    try window.hand(at: Self.main.x, Self.main.y, "mousemove_relative 3 3")
                    return reader.named["Menu"] != nil && (reader.named["Layout"] != nil) == isThere
                }
            }
            // Half of the picture beside it is too little.
            try window.daemon.scene.set(\.insetCorner, "bottom-right")
            try window.daemon.scene.set(\.insetSize, 0.5)
            try waitForLayout(false)
            try window.desktop.hand("key 3")
            try window.wait("InsetShape") { $0 == .string("person") }
            try waitForLayout(true)
        }
    }

    @Test func `In fullscreen all of the stream is shown, also on a screen of another shape`()
        throws
    {
        try ShownWindow.with { window in
            try window.daemon.scene.set(\.layout, "single")
            try window.desktop.hand("mousemove 5 5 key F11")
            // The screen is 16:10: 40 rows stay free above, and below.
            try eventually("the whole picture, to its edges", within: 10) {
                let above = try window.desktop.color(640, 20)
                let picture = try [(4, 400), (1275, 400), (640, 50)].map(window.desktop.color)
                return above == [0, 0, 0] && picture.allSatisfy { $0.reduce(0, +) > 60 }
            }
        }
    }

    @Test func `A daemon that hangs looks it, and does not do later what was asked meanwhile`()
        throws
    {
        try ShownWindow.with(hasScreenReader: true) { window in
            func isGrey() throws -> Bool {
                let color = try window.desktop.color(window.place.x + 240, window.place.y + 60)
                return (color.max() ?? 0) - (color.min() ?? 0) < 4 && color[0] > 10
            }
            #expect(try !isGrey())
            window.daemon.program.signal(SIGSTOP)
            try window.hand(at: Self.inset.x, Self.inset.y, "click 1")
            try eventually("a grey picture", within: 10, isGrey)
            let reader = try ScreenReader(window.daemon)
            try eventually("what helps", within: 5) {
                reader.named["DualCam does not answer"] != nil && reader.named["Restart"] != nil
            }
            try window.desktop.hand("key space sleep 0.2")
            window.daemon.program.signal(SIGCONT)
            try eventually("the picture again", within: 10) { try !isGrey() }
            #expect(try window.scene("Swapped") == .boolean(false))
        }
    }

    @Test func `Restart ends a daemon that hangs`() throws {
        try ShownWindow.with(hasScreenReader: true) { window in
            window.daemon.program.signal(SIGSTOP)
            try ScreenReader(window.daemon).press("Restart")
            try eventually("its end", within: 10) { window.daemon.program.exit != nil }
        }
    }

    @Test func `A window that is closed while it records asks, and may leave the recording alone`()
        throws
    {
        try ShownWindow.with(hasScreenReader: true) { window in
            func isRecording() throws -> Bool { try window.daemon.capture.get(\.recording) }
            try window.desktop.hand("key r")
            try eventually("a recording", within: 10, isRecording)
            try window.desktop.hand("key alt+F4")
            let reader = try ScreenReader(window.daemon)
            try reader.press("Keep Recording")
            try eventually("no window", within: 10) {
                try window.desktop.run("xprop", "-id", window.id, "WM_STATE").contains("Withdrawn")
                    || !window.desktop.run("xwininfo", "-id", window.id).contains("IsViewable")
            }
            #expect(try isRecording() && window.program.exit == nil)
            _ = try window.desktop.start("dualcam-view")
            try window.waitForPicture()
            try window.desktop.hand("key alt+F4")
            try reader.press("Stop and Close")
            #expect(try window.program.wait(within: 20) == .status(0))
            #expect(try !isRecording())
        }
    }

    @Test func `A recording says that it has no sound, and that it is paused`() throws {
        try ShownWindow.with(hasScreenReader: true) { window in
            let reader = try ScreenReader(window.daemon)
            try window.desktop.hand("key r")
            let words = "Recording without sound: there is no microphone"
            try eventually("the word", within: 20) { reader.named[words] != nil }
            try window.daemon.capture.call(\.pauseRecording)
            try eventually("the pause", within: 10) {
                reader.named.keys.contains { $0.hasPrefix("Paused 0:") }
            }
        }
    }

    @Test func `In Pro mode the other controls stay in reach`() throws {
        try ShownWindow.with(hasScreenReader: true) { window in
            try window.hand(at: Self.main.x, Self.main.y, "key p key r")
            try window.daemon.capture.wait(for: \.recording, true, within: 10)
            _ = try window.reader(showing: ["Take a Photo", "Privacy", "Pro Mode"])
            try window.click("Record")
            try window.daemon.capture.wait(for: \.recording, false, within: 10)
            try window.click("Swap the Pictures")
            try window.wait("Swapped") { $0 == .boolean(true) }
        }
    }

    @Test func `A message takes the place of the one before`() throws {
        try ShownWindow.with(hasScreenReader: true) { window in
            let reader = try ScreenReader(window.daemon)
            let (silent, sound) = ("Recordings are silent", "Recordings have sound")
            try window.desktop.hand("key a")
            try eventually("the first message", within: 5) { reader.named[silent] != nil }
            try window.desktop.hand("key a")
            try eventually("the second one instead", within: 2) {
                let names = reader.named
                return names[sound] != nil && names[silent] == nil
            }
        }
    }
}
