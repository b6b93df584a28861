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
                    + "mousemove \(x + 120) \(y + 200) sleep 0.05 mouseup 1"
            )
            try window.wait("InsetCorner") { $0 == .string("bottom-left") }
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
            try eventually("privacy", within: 5) {
                try window.daemon.get("Enabled", of: .privacy) == .boolean(true)
            }
            try window.desktop.hand("key h")
            try eventually("no privacy", within: 5) {
                try window.daemon.get("Enabled", of: .privacy) == .boolean(false)
            }
        }
    }

    @Test func `A window that nobody sees consumes nothing, and the cameras close`() throws {
        try ShownWindow.with { window in
            try eventually("cameras", within: 5) {
                try window.daemon.state(of: DualCam.backPath) == "streaming"
            }
            try window.desktop.hand("windowminimize \(window.id)")
            try eventually("closed cameras") {
                try window.daemon.state(of: DualCam.backPath) == "closed"
            }
            #expect(try window.daemon.get("Consumers", of: .stream) == .uint32(0))
            try window.desktop.hand("windowmap \(window.id)")
            try window.waitForPicture()
            try eventually("cameras again", within: 5) {
                try window.daemon.state(of: DualCam.backPath) == "streaming"
            }
        }
    }

    @Test func `Restore brings a hidden window back, and the stream goes on for others`() throws {
        try ShownWindow.with { window in
            let session = window.desktop.session
            let reader = try StreamReader("dualcam", in: session)
            defer { reader.close() }
            _ = try reader.next(within: 10)
            try window.desktop.hand("windowminimize \(window.id)")
            try eventually("a single consumer", within: 5) {
                try window.daemon.get("Consumers", of: .stream) == .uint32(1)
            }
            reader.flush()
            _ = try reader.next()
            _ = try session.output(Programs.path(of: "dualcamctl"), "restore")
            try window.waitForPicture()
            try eventually("both consumers", within: 5) {
                try window.daemon.get("Consumers", of: .stream) == .uint32(2)
            }
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
                "Close", "Fullscreen", "Swap the Pictures", "Next Layout", "Take a Photo",
                "Record", "Pro Mode", "Privacy",
            ]
            try eventually("the controls", within: 10) {
                Set(names).isSubset(of: Set(reader.named.keys))
            }
            try reader.press("Swap the Pictures")
            try window.wait("Swapped") { $0 == .boolean(true) }
        }
    }
}
