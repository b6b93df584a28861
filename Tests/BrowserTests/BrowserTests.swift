import Foundation
import TestSupport
import Testing

@Suite("A browser", .serialized)
struct BrowserTests {
    /// Pictures whose every pixel is known: colour bars over a grey ramp, and a grey ramp, which the
    /// front camera shows mirrored.
    private static let configuration = """
        [cameras.back]
        source = "test:bars"
        [cameras.front]
        source = "test:ramp"
        """

    @Test("opens the stream through the camera portal, twice in a row", .timeLimit(.minutes(4)))
    func chromium() throws {
        let page = try Data(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "Browser/page.html")
        )
        try Daemon.with(Self.configuration) { daemon in
            // Portal 1.16 never notices a camera that comes after it.
            let desktop = try Desktop(in: daemon.session)
            try desktop.waitForCamera()
            for round in 1...2 {
                try watch(on: desktop, page, "round \(round)")
            }
        }
    }

    /// Opens the page, counts frames, and looks at the picture before, between and after two swaps.
    private func watch(on desktop: Desktop, _ page: Data, _ title: String) throws {
        let (browser, opened) = try open(on: desktop, page)
        #expect(opened.cameras == ["DualCam"])
        #expect(opened.label == "DualCam")
        #expect(opened.width == 1280 && opened.height == 720)
        #expect(opened.frameRate == 30)

        let counted = try browser.next(within: 40)
        let frames = try #require(counted.frames)
        #expect(frames >= 140)
        print(
            "\(title): opened at try \(opened.tries ?? 0),",
            "\(frames) frames in \(counted.seconds ?? 0) s"
        )

        let bars = try Picture(browser.next(within: 5))
        print("\(title): \(bars.deviation(from: bars.barsAsMain)) from the bars")
        #expect(bars.deviation(from: bars.barsAsMain).largest <= Picture.tolerance)

        for (name, expected) in [
            ("ramp", \Picture.rampAsMain), ("bars again", \Picture.barsAsMain),
        ] {
            _ = try desktop.session.output(Programs.path(of: "dualcamctl"), "swap")
            var last = ""
            try eventually("the \(name); last: \(last)") {
                let picture = try Picture(browser.next(within: 5))
                let deviation = picture.deviation(from: picture[keyPath: expected])
                last = "\(deviation)"
                return deviation.largest <= Picture.tolerance
            }
            print("\(title): swapped, \(last) from the \(name)")
        }
        try browser.quit()
    }

    /// Opens the page in a new browser; once more when that has failed by itself.
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
