package import Control
import Frames
import Glibc
import Platform

/// A trial of a browser: without a window and with a profile of its own, it opens the stream in a
/// page and counts frames. Its settings for PipeWire cameras are those of the user's own profile.
package struct BrowserTrial {
    let browser: Browser
    let desktop: DesktopCheckup
    /// The name of the camera that apps see.
    let camera: String

    package init(browser: Browser, desktop: DesktopCheckup, camera: String) {
        self.browser = browser
        self.desktop = desktop
        self.camera = camera
    }

    /// The time in seconds for which frames are counted, and until when the page has to report.
    private static let (counted, limit) = (5, 60.0)

    /// Runs the trial, which takes some ten seconds. Returns its result, and the report of the page
    /// if there is one. Throws `Failure` if there is no such browser, or it cannot be started.
    package func run() throws(Failure) -> (Finding, TrialReport?) {
        guard let place = browser.places(in: desktop.home).first(where: { $0.command != nil }),
            var words = place.command
        else { throw browser.notInstalled }
        let isOn = isOn(in: place)
        let profile = try makeProfile(for: place, isOn: isOn)
        defer { Self.remove(profile) }
        let server = try TrialServer(page: TrialPage.html(camera: camera, seconds: Self.counted))
        if browser == .firefox {
            words += ["--headless", "--no-remote", "--profile", profile]
        } else {
            words += [
                "--headless=new", "--user-data-dir=\(profile)", "--no-first-run",
                "--use-fake-ui-for-media-stream", "--autoplay-policy=no-user-gesture-required",
                "--disable-gpu", "--password-store=basic",
            ]
            // Its desktop entry has the switch.
            if browser == .edge, isOn, place.sandbox == nil { words.append(BrowserSwitch.word) }
            // Chromium has no sandbox for root.
            if geteuid() == 0 { words.append("--no-sandbox") }
        }
        let signals = try named { () throws(SystemError) in
            try Signals([SIGINT, SIGTERM, SIGHUP])
        }
        let process = try named { () throws(SystemError) in
            try start(words + [server.address], in: profile, of: place)
        }
        var status: CInt?
        defer { Self.end(process, hasEnded: status != nil) }
        let deadline = MonotonicClock.now + Timestamp(seconds: Self.limit)
        while MonotonicClock.now < deadline {
            if let body = server.serve() {
                let report = TrialReport(body)
                return (finding(report, isOn: isOn), report)
            }
            var value: CInt = 0
            if status == nil, waitpid(process, &value, WNOHANG) == process { status = value }
            if let status, status != 0 {
                return (bad("\(browser.title) ended right after its start"), nil)
            }
            var waiting = (server.descriptors + [signals.descriptor]).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            poll(&waiting, nfds_t(waiting.count), 100)
            if let signal = signals.next() { throw Failure("interrupted (signal \(signal))") }
        }
        // The desktop may wait for an answer.
        let text = "\(browser.title) did not report within \(Int(Self.limit)) s what it sees"
        return (bad(text, desktop.isAccessMissing ? "access" : nil), nil)
    }

    private func bad(_ text: String, _ fix: String? = nil) -> Finding {
        Finding.bad(text, fix.map { "dualcamctl doctor --fix \($0)" }).named(browser.rawValue)
    }

    private func start(
        _ words: [String],
        in profile: String,
        of place: Browser.Place
    ) throws(SystemError) -> CInt {
        // Browsers make folders at home and for the cache. Snap and Flatpak need the real home.
        let homes = ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"]
        // Chromium keeps reports of its crashes outside of its profile.
        let all = ["TMPDIR", "CHROME_CONFIG_HOME", "BREAKPAD_DUMP_LOCATION"]
        let set = (place.sandbox == nil ? homes : []) + all
        let kept = inheritedEnvironment.filter { entry in
            !set.contains { entry.hasPrefix("\($0)=") }
        }
        return try spawn(
            words[0],
            words,
            environment: kept + set.map { "\($0)=\(profile)" },
            input: .nothing,
            output: .nothing,
            errors: .nothing,
            inGroup: true
        )
    }

    /// Returns what `report` means, for a browser whose setting for PipeWire cameras `isOn`.
    func finding(_ report: TrialReport, isOn: Bool) -> Finding {
        // Brave and Chrome call themselves what Chromium does.
        let own = report.browser.hasPrefix("Chromium") && browser != .firefox
        let name =
            report.browser.isEmpty
            ? browser.title
            : own ? browser.title + report.browser.dropFirst("Chromium".count) : report.browser
        let fix = isOn ? nil : browser.rawValue
        let setting = isOn ? "" : "; its setting for PipeWire cameras is off"
        if let frames = report.frames, frames > 0, report.seconds > 0 {
            let time = (report.seconds * 10).rounded() / 10
            let text = Int(exactly: time).map { "\($0)" } ?? "\(time)"
            let size = "\(report.width)×\(report.height)"
            return .good("\(name) sees \(camera): \(frames) frames in \(text) s, \(size)")
                .named(browser.rawValue)
        }
        let reason = report.reason ?? ""
        switch report.error {
        case nil where report.cameras.isEmpty, "NotFoundError":
            return bad("\(name) lists no camera\(setting)", fix)
        case nil:
            let cameras = report.cameras.joined(separator: ", ")
            return bad("\(name) lists \(cameras), but not \(camera)\(setting)", fix)
        case "NotAllowedError", "SecurityError":
            return bad("\(name) was refused the camera", "access")
        case "NotReadableError", "AbortError":
            // The page asked for any camera, to learn the names of all.
            return report.cameras.contains(camera)
                ? bad("\(name) lists \(camera), but cannot open it: \(reason)")
                : bad("\(name) cannot open a camera: \(reason)\(setting)", fix)
        default: return bad("\(name) gets no picture: \(reason)")
        }
    }

    // MARK: The profile

    /// Returns `true` if the user's own profile looks for cameras in PipeWire.
    private func isOn(in place: Browser.Place) -> Bool {
        guard browser != .edge else { return desktop.startsEdge(with: place) }
        let steps = desktop.browserSteps([place])
        return !(place.isNew && steps.isEmpty) && steps.allSatisfy(\.isDone)
    }

    /// Makes a profile with the setting `isOn` where the browser may write, and returns its path.
    private func makeProfile(for place: Browser.Place, isOn: Bool) throws(Failure) -> String {
        let parent = place.sandbox.map { "\($0)/\(place.isSnap ? "common" : "cache")" } ?? "/tmp"
        // The sandbox makes it, too, when it is first started.
        if let sandbox = place.sandbox {
            _ = try FixedFile("\(parent)/-", inside: sandbox, makesFolders: true)
        }
        var template = Array("\(parent)/dualcam-try-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw .last("mkdir", parent)
        }
        let settings = [
            // Nobody is there to click on "Allow", or on anything else.
            "media.navigator.permission.disabled": "true",
            "browser.aboutwelcome.enabled": "false",
            "browser.shell.checkDefaultBrowser": "false",
            "datareporting.policy.dataSubmissionEnabled": "false",
            "browser.startup.homepage_override.mstone": "\"ignore\"",
            FirefoxPreferences.camera: "\(isOn)",
        ]
        let text = settings.map { "user_pref(\"\($0)\", \($1));\n" }.joined()
        do throws(Failure) {
            let (name, bytes) =
                browser == .firefox
                ? ("user.js", Array(text.utf8))
                : ("Local State", isOn ? try FileForm.chromiumFlags.fixed(nil) : Array("{}".utf8))
            // A program in the sandbox may have put a link in the place of the folder.
            try FixedFile("\(path)/\(name)", inside: place.sandbox)
                .write(FileContent(bytes: bytes, mode: 0o600))
        } catch {
            Self.remove(path)
            throw error
        }
        return path
    }

    private static func remove(_ path: String) {
        _ = Program.succeeds(["rm", "-rf", "--", path])
    }

    /// Ends the browser and what it started.
    private static func end(_ process: CInt, hasEnded: Bool) {
        kill(-process, SIGTERM)
        var isRunning = !hasEnded
        for _ in 0..<60 where isRunning {
            isRunning = waitpid(process, nil, WNOHANG) != process
            usleep(50_000)
        }
        kill(-process, SIGKILL)
        if isRunning { _ = retryingInterrupts { waitpid(process, nil, 0) } }
        // Its processes may still write into the profile.
        usleep(200_000)
    }
}

extension Browser {
    /// The failure of a command that needs this browser.
    package var notInstalled: Failure {
        Failure(status: .notFound, message: "\(title) is not installed")
    }
}
