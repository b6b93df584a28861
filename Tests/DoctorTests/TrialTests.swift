import Testing

@testable import Doctor

@Suite("A trial of a browser") struct TrialTests {
    private static let agent = "agent Mozilla/5.0 (X11) HeadlessChrome/156.0.0.0 Safari/537.36\n"

    private func outcome(
        _ report: String,
        of browser: Browser = .chromium,
        isOn: Bool = true
    ) -> Finding {
        BrowserTrial(browser: browser, desktop: .init(home: "/none"), camera: "DualCam")
            .finding(TrialReport(Array(report.utf8)), isOn: isOn)
    }

    @Test("says how many frames came, in words for people")
    func well() {
        let report = "camera DualCam\nframes 150\nmilliseconds 5012\nwidth 1280\nheight 720"
        let well = outcome(Self.agent + report)
        #expect(well.outcome == .good && well.command == nil)
        #expect(well.text == "Chromium 156 sees DualCam: 150 frames in 5 s, 1280×720")
        #expect(outcome(Self.agent + report, of: .brave).text.hasPrefix("Brave 156 sees"))
        let edge = "agent Chrome/156.0 Edg/157.1\n" + report
        #expect(outcome(edge, of: .edge).text.hasPrefix("Edge 157 sees"))
        let firefox = "agent Mozilla/5.0 (X11; rv:153.0) Gecko/20100101 Firefox/153.0\n" + report
        #expect(outcome(firefox, of: .firefox).text.hasPrefix("Firefox 153 sees"))
        #expect(outcome(report).text.hasPrefix("Chromium sees DualCam"))
    }

    @Test(
        "says what is in the way, and what helps",
        arguments: [
            ("error NotFoundError", false, "lists no camera; its setting", "--fix chromium"),
            ("error NotFoundError", true, "lists no camera", nil),
            (
                "camera Lid\ncamera USB\nmissing DualCam", true, "lists Lid, USB, but not DualCam",
                nil
            ),
            ("missing DualCam", true, "lists no camera", nil),
            ("error NotAllowedError\nreason x", true, "was refused the camera", "--fix access"),
            (
                "camera DualCam\nerror NotReadableError\nreason busy", true,
                "lists DualCam, but cannot open it: busy", nil
            ),
            (
                "camera Lid\nerror NotReadableError\nreason busy", false,
                "cannot open a camera: busy; its setting", "--fix chromium"
            ),
            ("error AbortError\nreason busy", true, "Chromium 156 cannot open a camera: busy", nil),
            (
                "camera DualCam\nerror Error\nreason no frame came within 10 s", true,
                "gets no picture: no", nil
            ),
            ("frames 0\nmilliseconds 5000", true, "lists no camera", nil),
            ("", true, "lists no camera", nil),
        ] as [(String, Bool, String, String?)]
    )
    func amiss(_ report: String, _ isOn: Bool, _ words: String, _ command: String?) {
        let outcome = outcome(Self.agent + report, isOn: isOn)
        #expect(outcome.outcome == .bad && outcome.text.contains(words), "\(outcome.text)")
        #expect(outcome.command == command.map { "dualcamctl doctor \($0)" })
    }

    @Test func `believes no number that cannot be, and prints no command for a terminal`() {
        for numbers in [
            "frames -1", "frames 99999999999999999999", "frames x", "frames 1e3", "frames",
        ] {
            #expect(outcome("\(numbers)\nmilliseconds 5000").outcome == .bad)
        }
        #expect(outcome("frames 5\nmilliseconds -1").outcome == .bad)
        #expect(outcome("frames 5\nmilliseconds 99999999999999999999").outcome == .bad)
        let text = outcome("camera a\u{1b}[2J\u{7}\n").text
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 })
        let many = String(repeating: "camera x\n", count: 100_000)
        #expect(TrialReport(Array(many.utf8)).cameras.count == 100)
        #expect(TrialReport([0xff, 0xfe, 0x0a, 0x20]) == TrialReport([]))
    }

    @Test func `takes a request once it is complete`() {
        let whole = Array("POST /x/report HTTP/1.1\r\nHost: a\r\ncontent-length: 3\r\n\r\nabc".utf8)
        for count in 0..<whole.count { #expect(TrialRequest(Array(whole[..<count])) == nil) }
        let request = TrialRequest(whole)
        #expect(request?.line == "POST /x/report HTTP/1.1" && request?.body == Array("abc".utf8))
        for length in ["-5", "x", "99999999999999999999"] {
            let bytes = Array("POST / HTTP/1.1\r\nContent-Length: \(length)\r\n\r\nabc".utf8)
            #expect(TrialRequest(bytes)?.body.isEmpty == true)
        }
        #expect(TrialRequest(Array("\r\n\r\n".utf8))?.line == "")
    }

    @Test("shows a page in which the camera's name stays a string")
    func page() {
        let page = TrialPage.html(camera: "a\"</script>\\'\n", seconds: 5)
        #expect(page.contains("const wanted = \"a\\\"\\u003c/script>\\\\'\\n\", seconds = 5;"))
    }
}
