import Control
import DBusKit
import Foundation
import Frames
import TestSupport
import Testing

/// The window for people who see little, who read from the right, or whose screen is small.
@Suite(.serialized) struct LookTests {
    /// A way to show the window.
    struct Look: CustomTestStringConvertible {
        let testDescription: String
        var variables: [String: String] = [:]
        /// The dots in an inch, of which the size of all words is made: 96 is usual.
        var dpi = 96
        var width = 480
        var isRightToLeft = false
        /// The name of a C file beside this one that is loaded into the window.
        var preload: String?

        var isDark: Bool { variables["ADW_DEBUG_COLOR_SCHEME"] != nil }
        var hasContrast: Bool { variables["ADW_DEBUG_HIGH_CONTRAST"] != nil }

        static let usual = Look(testDescription: "as usual")
        static let large = Look(testDescription: "text twice as large", dpi: 192)
        static let contrast = Look(
            testDescription: "high contrast",
            variables: ["ADW_DEBUG_HIGH_CONTRAST": "1"]
        )

        static let all = [
            usual, large, contrast,
            Look(testDescription: "dark", variables: ["ADW_DEBUG_COLOR_SCHEME": "prefer-dark"]),
            Look(testDescription: "from right to left", isRightToLeft: true),
            Look(testDescription: "a phone's width", width: 360),
            Look(
                testDescription: "all of it at once",
                variables: [
                    "ADW_DEBUG_HIGH_CONTRAST": "1", "ADW_DEBUG_COLOR_SCHEME": "prefer-dark",
                ],
                dpi: 192,
                width: 360,
                isRightToLeft: true
            ),
        ]

        static let smallest = Look(
            testDescription: "a phone's width, text twice as large",
            dpi: 192,
            width: 360
        )

        /// Those with the least room for words.
        static var narrow: [Look] { [large] + all.suffix(1) }

        func with(_ body: (ShownWindow) throws -> Void) throws {
            let scratch = try ScratchDirectory()
            defer { scratch.remove() }
            var variables = variables
            let resources = "\(scratch.path)/resources"
            try "Xft.dpi: \(dpi)\n".write(toFile: resources, atomically: true, encoding: .utf8)
            variables["XENVIRONMENT"] = resources
            if let preload = preload ?? (isRightToLeft ? "righttoleft" : nil) {
                let source = "Tests/ViewTests/\(preload).c"
                variables["LD_PRELOAD"] = try preloadable(source, in: scratch.path)
            }
            try ShownWindow.with(hasScreenReader: true, look: variables, width: width, body)
        }
    }

    /// The least width and height of what can be hit, as WCAG 2.2 has it. AT-SPI tells those of a
    /// button without its padding.
    private static let least = 24

    /// Waits until all that is called one of `names` is within the window and large enough to be
    /// hit, and nothing of it lies over another; returns the places.
    @discardableResult
    private func places(
        of names: [String],
        in window: ShownWindow,
        _ reader: ScreenReader,
        least: Int = least
    ) throws -> [String: PixelRect] {
        let whole = PixelRect(window.size)
        var places: [String: PixelRect] = [:]
        do {
            try eventually("\(names) within the window", within: 10) {
                try window.hand(at: 100, 60, "mousemove_relative 3 3")
                let named = reader.named
                places = [:]
                for name in names { places[name] = named[name].flatMap(reader.place) }
                guard places.count == names.count else { return false }
                return places.allSatisfy { name, place in
                    place.intersection(whole) == place && min(place.width, place.height) >= least
                        && places.allSatisfy {
                            $0.key == name || $0.value.intersection(place).isEmpty
                        }
                }
            }
        } catch let error as TimedOut {
            Issue.record("\(error): \(places)")
        }
        return places
    }

    @Test(arguments: Look.all)
    func `All controls are in the window, and can be hit`(look: Look) throws {
        try look.with { window in
            let reader = try ScreenReader(window.daemon)
            let controls = try places(
                of: ["Close", "Fullscreen", "Take a Photo", "Record", "Menu"],
                in: window,
                reader
            )
            if let close = controls["Close"], let whole = controls["Fullscreen"] {
                #expect((close.x > whole.x) == look.isRightToLeft)
            }
            if let photo = controls["Take a Photo"], let record = controls["Record"] {
                #expect((photo.x > record.x) == look.isRightToLeft)
            }
            try window.desktop.hand("key g")
            try places(of: ["Open", "Move to Trash", "Back to the Picture"], in: window, reader)
        }
    }

    @Test(arguments: Look.narrow)
    func `The button that ends privacy is in the window, and can be clicked`(look: Look) throws {
        try look.with { window in
            let reader = try ScreenReader(window.daemon)
            try window.hand(at: 100, 60, "key h")
            try window.daemon.privacy.wait(for: \.enabled, true, within: 5)
            let button = "Show"
            try places(of: ["Cameras are off", button], in: window, reader, least: 16)
            guard let place = try places(of: [button], in: window, reader)[button] else { return }
            try window.hand(
                at: place.x + place.width / 2,
                place.y + place.height / 2,
                "mousemove_relative 2 2 click 1"
            )
            try window.daemon.privacy.wait(for: \.enabled, false, within: 10)
        }
    }

    @Test(arguments: [Look.smallest] + Look.all.suffix(1))
    func `The presets of Pro mode leave the discs alone`(look: Look) throws {
        try look.with { window in
            let reader = try ScreenReader(window.daemon)
            try window.hand(at: 100, 60, "key w")
            _ = try dial(window, reader)
            try places(of: ["White balance presets", "Close", "Fullscreen"], in: window, reader)
        }
    }

    @Test func `A click counts though the layout changes while the button is lifted`() throws {
        let look = Look(testDescription: "a button that was just lifted", preload: "lifted")
        try look.with { window in
            let reader = try ScreenReader(window.daemon)
            try window.hand(at: 100, 60, "key h")
            try window.daemon.privacy.wait(for: \.enabled, true, within: 5)
            let button = "Show"
            guard let place = try places(of: [button], in: window, reader)[button] else { return }
            // The dials are there while the button is held, below what ends privacy.
            try window.hand(
                at: place.x + place.width / 2,
                place.y + place.height / 2,
                "mousedown 1 sleep 0.1 key w"
            )
            try window.daemon.pro.wait(for: \.enabled, true, within: 5)
            _ = try dial(window, reader)
            try window.desktop.hand("mouseup 1")
            try window.daemon.privacy.wait(for: \.enabled, false, within: 5)
        }
    }

    @Test(arguments: Look.narrow)
    func `The other windows fit on a phone`(look: Look) throws {
        try look.with { window in
            for _ in 1...2 { _ = try window.takePhoto() }
            try window.hand(at: 100, 60, "sleep 0.1")
            for (key, title) in [("comma", "Preferences"), ("question", "Keyboard Shortcuts")] {
                try window.desktop.hand("key \(key)")
                try check(title, look, window.desktop)
                try window.desktop.hand("key Escape")
                try window.desktop.waitForFocus(of: "DualCam")
            }
            let picker = try window.desktop.start("dualcam-view", "--pick")
            let reader = try ScreenReader(window.daemon)
            try eventually("both pictures", within: 10) {
                reader.all.filter { $0.key.hasPrefix("Photo ·") }.flatMap(\.value).count >= 2
            }
            try check("Choose a Picture", look, window.desktop)
            try window.desktop.hand("key Escape")
            #expect(try picker.wait(within: 10) == .status(1))
        }
    }

    /// Checks the window called `title`, which is to have the keyboard.
    private func check(_ title: String, _ look: Look, _ desktop: Desktop) throws {
        try desktop.waitForFocus(of: title)
        let id = try desktop.run("xdotool", "getactivewindow").filter(\.isNumber)
        let least = try eventually("a least size of \(title)", within: 10) {
            try desktop.run("xprop", "-id", id, "WM_NORMAL_HINTS")
                .firstMatch(of: /minimum size: (\d+) by (\d+)/)
        }
        let (width, height) = (Int(least.1) ?? 0, Int(least.2) ?? 0)
        // libadwaita's window of preferences asks for 360 within its frame, which is 5 wide here
        // and is not there on a phone.
        #expect(width <= 370 && height <= 294, "\(title): \(width) × \(height)")
        let place = try desktop.run("xdotool", "getwindowgeometry", "--shell", id)
        let (x, y) = (place.firstMatch(of: /X=(\d+)/), place.firstMatch(of: /Y=(\d+)/))
        let (left, top) = (x.flatMap { Int($0.1) } ?? 0, y.flatMap { Int($0.1) } ?? 0)
        // A point of its bar beside all words.
        try eventually("\(title) as dark as people want it", within: 10) {
            let color = try desktop.color(left + 150, top + 10)
            return look.isDark ? color.max() ?? 0 < 80 : color.min() ?? 0 > 200
        }
    }

    @Test(arguments: [Look.usual, Look.contrast])
    func `Nothing shines through controls where people want contrast`(look: Look) throws {
        try look.with { window in
            let reader = try ScreenReader(window.daemon)
            let names = ["Layout", "Take a Photo"]
            let controls = try places(of: names, in: window, reader)
            guard let layout = controls[names[0]], let photo = controls[names[1]] else { return }
            // Between them there is nothing but their bar.
            let x = (layout.x + layout.width + photo.x) / 2
            try shade(window, look, x, layout.y + layout.height / 2)
            try window.desktop.hand("key w")
            let dial = try dial(window, reader)
            try shade(window, look, dial.x + 30, dial.y + dial.height / 2)
        }
    }

    /// Waits until a point of the window is black, or shows some of the picture.
    private func shade(_ window: ShownWindow, _ look: Look, _ x: Int, _ y: Int) throws {
        try eventually("a background", within: 10) {
            // In motion, the controls stay; none is lit up by the pointer.
            try window.hand(at: 100, 60, "mousemove_relative 3 3")
            let color = try window.desktop.color(window.place.x + x, window.place.y + y)
            return (color == [0, 0, 0]) == look.hasContrast
        }
    }

    private func dial(_ window: ShownWindow, _ reader: ScreenReader) throws -> PixelRect {
        try eventually("a dial", within: 10) {
            reader.named.first { $0.key.hasPrefix("White balance ·") }.flatMap {
                reader.place(of: $0.value)
            }
        }
    }

    @Test(arguments: [Look.usual, Look.large])
    func `The dial's words grow with all others`(look: Look) throws {
        try look.with { window in
            let reader = try ScreenReader(window.daemon)
            // What changes is the dial alone, until it has faded in.
            try window.daemon.scene.set(\.layout, "single")
            try window.daemon.back.set(\.frozen, true)
            try window.hand(at: 100, 60, "key w")
            let dial = try dial(window, reader)
            let words = PixelRect(
                x: window.place.x + dial.x + dial.width / 2 - 60,
                y: window.place.y + dial.y + dial.height - 30,
                width: 120,
                height: 30
            )
            var (height, colors): (Int, [[Int]]) = (0, [])
            try eventually("words at rest", within: 10) {
                try window.hand(at: 100, dial.y + 30, "mousemove_relative 3 3")
                let before = colors
                colors = try window.desktop.colors(words)
                height = (0..<words.height).count { row in
                    colors[(row * words.width)..<((row + 1) * words.width)].contains {
                        $0.min() ?? 0 > 170
                    }
                }
                return height > 0 && colors == before
            }
            #expect(look.dpi > 96 ? (13...20).contains(height) : (7..<13).contains(height))
        }
    }
}

extension LookTests {
    /// The luminance of a colour, as WCAG 2.2 defines it.
    private static func luminance(_ color: [Int]) -> Double {
        let parts = color.prefix(3).map { part in
            let value = Double(part) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return zip(parts, [0.2126, 0.7152, 0.0722]).reduce(0) { $0 + $1.0 * $1.1 }
    }

    /// Returns the contrast between the brightest colour in the middle of a place, which is a
    /// word's or a symbol's, and the ground at the upper edge of that.
    ///
    /// A screen reader's places are up to 12 points off with GTK 4.18, which leaves the padding of
    /// what is around out of them; in a square of 24 there is a part of the symbol all the same.
    private func contrast(_ place: PixelRect, in window: ShownWindow) throws -> Double {
        let area = PixelRect(
            x: window.place.x + place.x + place.width / 2 - 12,
            y: window.place.y + place.y + place.height / 2 - 12,
            width: 24,
            height: 24
        )
        let light = try window.desktop.colors(area).map(Self.luminance)
        let edge = light[..<area.width]
        return ((light.max() ?? 0) + 0.05) / ((edge.max() ?? 0) + 0.05)
    }

    @Test(arguments: ["color=c=white", "color=c=black", "testsrc2=d=9"])
    func `Words and symbols stand out over any picture`(picture: String) throws {
        try Look.usual.with { window in
            let path = "\(window.desktop.session.directory)/picture.avi"
            try ffmpeg([
                "-f", "lavfi", "-i", "\(picture):s=640x360:r=30", "-frames:v", "30",
                "-pix_fmt", "yuvj420p", "-c:v", "mjpeg", "-q:v", "2", path,
            ])
            let source = "source = \"file:\(path)\"\n"
            try window.daemon.reload("[cameras.back]\n\(source)[cameras.front]\n\(source)")
            try window.daemon.scene.set(\.layout, "single")
            try window.daemon.back.wait(for: \.state, "streaming", within: 10)
            let reader = try ScreenReader(window.daemon)
            let controls = try places(of: ["Layout", "Take a Photo", "Menu"], in: window, reader)
            for (name, place) in controls {
                try eventually("a symbol that stands out: \(name)", within: 20) {
                    try window.hand(at: 100, 60, "mousemove_relative 3 3")
                    return try contrast(place, in: window) >= 3
                }
            }
            try window.desktop.hand("key h")
            let words = "Cameras are off"
            guard let place = try places(of: [words], in: window, reader, least: 8)[words] else {
                return
            }
            try eventually("words that stand out", within: 20) {
                try contrast(place, in: window) >= 4.5
            }
        }
    }
}
