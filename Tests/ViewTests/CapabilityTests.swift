import Control
import DBusKit
import Foundation
import Frames
import TestSupport
import Testing

/// The ways to what the window can do beside swapping, without a terminal.
@Suite(.serialized) struct CapabilityTests {
    /// The camera's picture in the window, above the bar.
    private static let (width, height) = (194.0 * 16 / 9, 194.0)

    private func corners(_ window: ShownWindow) throws -> [Pair<Double, Double>] {
        try window.daemon.back.get(\.perspective)
    }

    /// Opens the corners of a page, and waits until the second one is at a point of the window.
    private func straighten(_ window: ShownWindow, _ x: Int, _ y: Int) throws {
        try window.desktop.hand("key d")
        try eventually("the corners over the picture", within: 10) {
            let (left, top) = window.place
            return try window.desktop.color(left + x, top + y) == [255, 255, 255]
                && window.desktop.color(left + 240, top + 60).reduce(0, +) > 100
        }
    }

    @Test func `A page is straightened by its corners, with the pointer and with keys`() throws {
        try ShownWindow.with { window in
            try straighten(window, 361, 29)
            try window.hand(at: 361, 29, "mousedown 1 sleep 0.1 mousemove_relative -- 20 -10")
            try window.desktop.hand("sleep 0.1 mousemove_relative 12 -10 sleep 0.1 mouseup 1")
            try window.desktop.hand("key Return")
            let moved = try eventually("a page", within: 5) { () -> [Pair<Double, Double>]? in
                let corners = try corners(window)
                return corners.count == 4 ? corners : nil
            }
            #expect(abs(moved[1].first - (0.85 + 32 / Self.width)) < 0.005)
            #expect(abs(moved[1].second - (0.15 - 20 / Self.height)) < 0.01)
            #expect(abs(moved[3].first - 0.15) < 0.001)
            // The first one has the keyboard.
            try straighten(window, 393, 9)
            try window.desktop.hand("key --repeat 12 Right key Return")
            try eventually("another page", within: 5) {
                abs(try corners(window)[0].first - (0.15 + 12 / Self.width)) < 0.001
            }
            try straighten(window, 393, 9)
            try window.desktop.hand("key Left key Escape key o")
            try window.wait("InsetVisible") { $0 == .boolean(false) }
            #expect(abs(try corners(window)[0].first - (0.15 + 12 / Self.width)) < 0.001)
        }
    }

    @Test func `The self timer is in the menu, counts, and ends with a second press`() throws {
        // Nothing slides in: keys would go to the menu that slides out.
        let settings = ["gtk-enable-animations=0"]
        try ShownWindow.with(hasScreenReader: true, settings: settings) { window in
            // By keys: GTK 4.18 tells a screen reader no names of items. The timer is the sixth
            // from the top, ten seconds are the third item of its own menu, below the way back.
            try window.desktop.openMenu { try window.desktop.hand("key F10") }
            try window.desktop.hand("key --repeat 5 Down key Return key --repeat 3 Down key Return")
            let reader = try ScreenReader(window.daemon)
            try eventually("ten seconds to be chosen", within: 10) {
                reader.named["Take a Photo"].flatMap(reader.description)
                    == "Take a Photo in 10 Seconds"
            }
            for (start, end, purpose) in [("c", "c", "photo"), ("r", "Escape", "recording")] {
                try window.desktop.hand("key Escape key \(start)")
                try window.daemon.capture.wait(for: \.selfTimer, purpose, within: 5)
                try eventually("the count", within: 5) { reader.named["10"] != nil }
                try window.desktop.hand("key \(end)")
                try window.daemon.capture.wait(for: \.selfTimer, "", within: 5)
            }
        }
    }

    @Test func `A camera on the network is tried with its password before it is kept`() throws {
        try ShownWindow.with(hasScreenReader: true) { window in
            let picture = "\(window.desktop.session.directory)/lime.jpg"
            try ffmpeg(["-f", "lavfi", "-i", "color=lime:s=640x360", "-frames:v", "1", picture])
            let server = try PictureServer(
                guarding: Array(try Data(contentsOf: URL(fileURLWithPath: picture)))
            )
            func source() throws -> String { try window.daemon.back.get(\.source) }
            let before = try source()
            try window.desktop.hand("key comma")
            try window.desktop.waitForFocus(of: "Preferences")
            let reader = try ScreenReader(window.daemon)
            /// Tries a password in the new window.
            func begin(_ password: String) throws {
                try reader.press("Add Network Camera")
                try window.desktop.waitForFocus(of: "Add Network Camera")
                for words in ["localhost:\(server.port)/", "me", password] {
                    try window.desktop.hand("type \(words)")
                    try window.desktop.hand("key Tab")
                }
                try reader.press("Try")
            }
            func wait(for words: String) throws {
                try eventually(words, within: 20) {
                    reader.named.keys.contains { $0.contains(words) }
                }
            }
            try begin("wr0ng")
            try wait(for: "refuses the user or the password")
            // From the button that shows the password back to it.
            try window.desktop.hand("key shift+Tab key ctrl+a")
            try window.desktop.hand("type s3cret")
            try window.desktop.hand("key Return")
            try wait(for: "This is its picture")
            #expect(try source() == before)
            // The preferences have an inset of their own.
            try reader.press("Main Picture")
            let address = "url:http://localhost:\(server.port)/"
            try window.daemon.back.wait(for: \.source, address, within: 10)
            try window.desktop.waitForFocus(of: "Preferences")
            try begin("s3cret")
            try wait(for: "is the back camera already")
        }
    }

    @Test func `A scene is saved under a name, and a title is written`() throws {
        try ShownWindow.with { window in
            func dialog(_ key: String, _ words: String) throws {
                try window.desktop.hand("key \(key)")
                try eventually("a dialog", within: 10) {
                    try window.desktop.run("xdotool", "getactivewindow") != "\(window.id)\n"
                }
                try window.desktop.hand("sleep 0.3 key ctrl+a \(words) key Return")
                try eventually("the window", within: 10) {
                    try window.desktop.run("xdotool", "getactivewindow") == "\(window.id)\n"
                }
            }
            try dialog("n", "key L e s s o n")
            try eventually("a scene", within: 5) {
                try window.daemon.scenes.get(\.names).contains("Lesson")
            }
            try dialog("e", "key A d a Tab M a t h s")
            try window.daemon.scene.wait(for: \.title, "Ada\nMaths", within: 5)
        }
    }
}
