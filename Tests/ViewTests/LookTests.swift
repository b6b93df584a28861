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

        var isDark: Bool { variables["ADW_DEBUG_COLOR_SCHEME"] != nil }

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

        /// Runs `body` with a window of this look.
        func with(_ body: (ShownWindow) throws -> Void) throws {
            let scratch = try ScratchDirectory()
            defer { scratch.remove() }
            var variables = variables
            let resources = "\(scratch.path)/resources"
            try "Xft.dpi: \(dpi)\n".write(toFile: resources, atomically: true, encoding: .utf8)
            variables["XENVIRONMENT"] = resources
            if isRightToLeft {
                let source = URL(filePath: #filePath).deletingLastPathComponent()
                    .appending(path: "righttoleft.c").path
                let library = "\(scratch.path)/righttoleft.so"
                let environment = ProcessInfo.processInfo.environment
                let compiler = try Child(
                    "clang",
                    ["-shared", "-fPIC", "-o", library, source],
                    environment: environment
                )
                try #require(compiler.wait(within: 60) == .status(0), "\(compiler.errors)")
                variables["LD_PRELOAD"] = library
            }
            try ShownWindow.with(hasScreenReader: true, look: variables, width: width, body)
        }
    }

    @Test(arguments: Look.all)
    func `The other windows fit on a phone`(look: Look) throws {
        try look.with { window in
            for _ in 1...2 { _ = try window.takePhoto() }
            try window.hand(at: 100, 60, "sleep 0.1")
            for (key, title) in [("comma", "Preferences"), ("question", "Keys")] {
                try window.desktop.hand("key \(key)")
                try check(title, look, window.desktop)
                try window.desktop.hand("key Escape")
                try eventually("the window again", within: 10) {
                    try window.desktop.run("xdotool", "getactivewindow", "getwindowname")
                        == "DualCam\n"
                }
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
        let id = try eventually(title, within: 10) {
            try desktop.run("xdotool", "getactivewindow", "getwindowname") == "\(title)\n"
                ? desktop.run("xdotool", "getactivewindow").split(separator: "\n").first
                    .map(String.init) : nil
        }
        let least = try eventually("a least size of \(title)", within: 10) {
            try desktop.run("xprop", "-id", id, "WM_NORMAL_HINTS")
                .firstMatch(of: /minimum size: (\d+) by (\d+)/)
        }
        let (width, height) = (Int(least.1) ?? 0, Int(least.2) ?? 0)
        #expect(width <= 360 && height <= 294, "\(title)")
        let place = try desktop.run("xdotool", "getwindowgeometry", "--shell", id)
        let (x, y) = (place.firstMatch(of: /X=(\d+)/), place.firstMatch(of: /Y=(\d+)/))
        let (left, top) = (x.flatMap { Int($0.1) } ?? 0, y.flatMap { Int($0.1) } ?? 0)
        // A point of its bar beside all words.
        try eventually("\(title) as dark as people want it", within: 10) {
            let color = try desktop.color(left + 150, top + 10)
            return look.isDark ? color.max() ?? 0 < 80 : color.min() ?? 0 > 200
        }
    }
}
