import Control
import DBusKit
import Foundation
import Glibc
import Platform
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
        let page = try Data(contentsOf: repository.appending(path: "Tests/Browser/page.html"))
        try Daemon.with(Self.configuration) { daemon in
            // Portal 1.16 never notices a camera that appears after it.
            let desktop = try BrowserDesktop(in: daemon.session)
            try desktop.waitForCamera()
            try watch(daemon, on: desktop, page)
            try reopen(on: desktop, page)
        }
    }

    /// A user who has never started a browser, and whom no app has asked for the camera.
    @Test("that was never started sees the stream after doctor --fix", .timeLimit(.minutes(8)))
    func trial() throws {
        try Daemon.with(Self.configuration) { daemon in
            let desktop = try BrowserDesktop(in: daemon.session, isNew: true)
            try desktop.waitForCamera()
            let (directory, home) = (daemon.session.directory, "\(daemon.session.directory)/home")
            // Nothing of the machine is changed, whatever doctor finds there.
            try FileManager.default.createDirectory(
                atPath: "\(directory)/bin",
                withIntermediateDirectories: true
            )
            symlink("/bin/false", "\(directory)/bin/pkexec")
            let path = daemon.session.environment["PATH"] ?? ""
            func doctor(_ arguments: String...) throws -> (status: Child.Exit, output: String) {
                let child = try desktop.run(
                    Programs.path(of: "dualcamctl"),
                    ["doctor"] + arguments,
                    adding: ["PATH": "\(directory)/bin:\(path)"]
                )
                return (try child.wait(within: 100), child.output + child.errors)
            }
            func permissions() throws -> String {
                try desktop.permissions("Lookup", "ss", "devices", "camera")
            }
            let before = try Self.files(in: home)
            #expect(try permissions().isEmpty)
            let off = try doctor("--try", "chromium")
            #expect(off.status == .status(1))
            #expect(off.output.contains("its setting for PipeWire cameras is off"), "\(off.output)")
            #expect(off.output.contains("→ dualcamctl doctor --fix chromium\n"))
            // Trying it leaves nothing, neither in the home directory nor elsewhere.
            #expect(try Self.files(in: home) == before)

            let fixed = try doctor("--fix", "--yes").output
            for name in ["chromium", "firefox", "access"] {
                #expect(fixed.contains("✓ \(name) "), "\(fixed)")
            }
            for (browser, name) in [("chromium", "Chromium"), ("firefox", "Firefox")] {
                // Now and then, Chromium's own process that has the camera ends by itself: see
                // `Browser.next`.
                var output = ""
                try eventually("frames in \(name): \(output)", within: 240) {
                    let result = try doctor("--try", browser)
                    output = result.output
                    return result.status == .status(0)
                }
                #expect(output.contains("✓ \(browser) ") && output.contains("\(name) "))
                #expect(output.contains(" sees DualCam: ") && output.contains(" frames in 5"))
                print(output)
            }

            let undone = try doctor("--undo")
            #expect(undone.status == .status(0), "\(undone.output)")
            #expect(try Self.files(in: home) == before)
            #expect(try permissions().isEmpty)
        }
    }

    /// Returns the permissions and the content of each file in `folder`, and of each folder the
    /// permissions, but for DualCam's own state.
    private static func files(in folder: String) throws -> [String: [String]] {
        var result: [String: [String]] = [:]
        let names = FileManager.default.enumerator(atPath: folder)
        for case let name as String in names ?? .init() where !name.hasPrefix(".local") {
            var status = stat()
            #expect(lstat("\(folder)/\(name)", &status) == 0)
            let bytes = try? readFile("\(folder)/\(name)", limit: 1 << 24)
            result[name] = [String(status.st_mode, radix: 8), bytes.map { "\($0)" } ?? "-"]
        }
        return result
    }

    /// The number of frames that the daemon has published.
    private func published(_ daemon: Daemon) throws -> Int {
        let values = try daemon.call("Statistics", of: .stream).first?.named
        return Int(try #require(values?["frames-published"]?.integer))
    }

    /// Opens the page, counts frames, and checks the picture before, between and after two swaps,
    /// and while the cameras are closed.
    private func watch(_ daemon: Daemon, on desktop: BrowserDesktop, _ page: Data) throws {
        let (browser, opened) = try open(on: desktop, page)
        #expect(opened.cameras == ["DualCam"])
        #expect(opened.label == "DualCam")
        #expect(opened.width == 1280 && opened.height == 720)
        #expect(opened.frameRate == 30)

        // What is lost stays so; what is on its way, more of it on a busy machine, comes.
        func missing() throws -> Int {
            try (1...5).map { _ in
                let counted = try #require(browser.next(within: 40).frames)
                return try published(daemon) - counted
            }.min() ?? 0
        }
        let before = try missing()
        let first = try published(daemon)
        try eventually("150 frames", within: 40) { try published(daemon) >= first + 150 }
        let lost = try missing() - before
        #expect(lost <= 2)
        print("opened at try \(opened.tries ?? 0), lost \(lost) frames")

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
    private func reopen(on desktop: BrowserDesktop, _ page: Data) throws {
        // Frames of 144 bytes, so that the size of the file gives their number.
        let file = "\(desktop.session.directory)/frames"
        let other = try desktop.session.run(
            "gst-launch-1.0",
            "--no-fault",
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
        try eventually("GStreamer's frames", within: 30, while: other) { try frames() > 10 }
        var opened = 0
        var starts = 0
        while opened < 10 {
            starts += 1
            try #require(starts <= 12)
            do {
                let (browser, _) = try open(on: desktop, page)
                for _ in 1...10 { _ = try browser.next(within: 40) }
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
        on desktop: BrowserDesktop,
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
