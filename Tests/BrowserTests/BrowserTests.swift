import Foundation
import TestSupport
import Testing

@Suite("A browser", .serialized)
struct BrowserTests {
    /// Pictures in which every pixel is known: colour bars over a grey ramp, and a grey ramp, which
    /// the front camera shows mirrored.
    private static let configuration = """
        [cameras.back]
        source = "test:bars"
        [cameras.front]
        source = "test:ramp"
        """

    @Test("opens the stream through the camera portal, again and again", .timeLimit(.minutes(6)))
    func chromium() throws {
        let page = try Data(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "Browser/page.html")
        )
        try Daemon.with(Self.configuration) { daemon in
            // Portal 1.16 never notices a camera that appears after it.
            let desktop = try Desktop(in: daemon.session)
            try desktop.waitForCamera()
            try watch(on: desktop, page)
            try reopen(on: desktop, page)
        }
    }

    /// Opens the page, counts frames, and checks the picture before, between and after two swaps,
    /// and while the cameras are closed.
    private func watch(on desktop: Desktop, _ page: Data) throws {
        let (browser, opened) = try open(on: desktop, page)
        #expect(opened.cameras == ["DualCam"])
        #expect(opened.label == "DualCam")
        #expect(opened.width == 1280 && opened.height == 720)
        #expect(opened.frameRate == 30)

        let counted = try browser.next(within: 40)
        let frames = try #require(counted.frames)
        #expect(frames >= 140)
        print(
            "opened at try \(opened.tries ?? 0),",
            "\(frames) frames in \(counted.seconds ?? 0) s"
        )

        let bars = try CanvasReading(browser.next(within: 20))
        print("\(bars.deviation(from: bars.barsAsMain)) from the bars")
        #expect(bars.deviation(from: bars.barsAsMain).largest <= CanvasReading.tolerance)

        for (name, expected) in [
            ("ramp", \CanvasReading.rampAsMain), ("bars again", \CanvasReading.barsAsMain),
        ] {
            _ = try desktop.session.output(Programs.path(of: "dualcamctl"), "swap")
            var last = ""
            try eventually("the \(name); last: \(last)") {
                let picture = try CanvasReading(browser.next(within: 20))
                let deviation = picture.deviation(from: picture[keyPath: expected])
                last = "\(deviation)"
                return deviation.largest <= CanvasReading.tolerance
            }
            print("swapped, \(last) from the \(name)")
        }

        // Nothing is in its place: the picture is blurred, and darker.
        for (word, isLive) in [("on", false), ("off", true)] {
            _ = try desktop.session.output(Programs.path(of: "dualcamctl"), "privacy", word)
            try eventually("the picture after privacy \(word)", within: 40) {
                let picture = try CanvasReading(browser.next(within: 20))
                let largest = picture.deviation(from: picture.barsAsMain).largest
                return isLive ? largest <= CanvasReading.tolerance : largest > 40
            }
        }
        try browser.quit()
    }

    /// Makes the page close and open the camera ten times, while GStreamer uses it, too.
    private func reopen(on desktop: Desktop, _ page: Data) throws {
        // Frames of 144 bytes, so that the size of the file gives their number.
        let file = "\(desktop.session.directory)/frames"
        let other = try desktop.session.run(
            "gst-launch-1.0",
            "-q",
            "pipewiresrc",
            "target-object=dualcam",
            "!",
            "video/x-raw",
            "!",
            "videoconvertscale",
            "!",
            "video/x-raw,format=GRAY8,width=16,height=9",
            "!",
            "filesink",
            "buffer-mode=unbuffered",
            "location=\(file)"
        )
        func frames() throws -> Int {
            let values = try? FileManager.default.attributesOfItem(atPath: file)
            return (values?[.size] as? Int ?? 0) / 144
        }
        try eventually("GStreamer's frames; it wrote: \(other.errors)", within: 30) {
            try frames() > 10
        }
        var opened = 0
        var starts = 0
        while opened < 10 {
            starts += 1
            try #require(starts <= 12)
            do {
                let (browser, _) = try open(on: desktop, page)
                _ = try browser.next(within: 40)
                var picture = try CanvasReading(browser.next(within: 10))
                while opened < 10 {
                    let before = try frames()
                    picture = try CanvasReading(browser.next(within: 30, answering: "reopen"))
                    #expect(
                        picture.deviation(from: picture.barsAsMain).largest
                            <= CanvasReading.tolerance
                    )
                    try eventually("GStreamer's next frames", within: 40) {
                        try frames() > before + 5
                    }
                    opened += 1
                }
                try browser.quit()
            } catch is Browser.Raced {
                print("Chromium ended its camera process by itself after \(opened) openings")
            }
        }
        #expect(other.exit == nil)
        print("opened \(opened) times in \(starts) browsers, GStreamer had \(try frames()) frames")
    }

    /// Opens the page in a new browser, and once more if Chromium's own failure ended the first
    /// one.
    private func open(
        on desktop: Desktop,
        _ page: Data
    ) throws -> (Browser, PageServer.Report) {
        for _ in 1...3 {
            let browser = try Browser(on: desktop, showing: page)
            do {
                return (browser, try browser.next(within: 30))
            } catch is Browser.Raced {
                print("Chromium ended its camera process by itself; starting it again")
            }
        }
        throw Browser.Raced()
    }
}
