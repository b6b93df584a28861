import Frames
import Glibc
import Platform

/// A trial of a browser: without a window and with a profile of its own, it opens the stream in a
/// page and counts frames. Its settings for PipeWire cameras are those of the user's own profile.
struct BrowserTrial {
    let browser: Browser
    /// The home directory of the user.
    let home: String
    /// The name of the camera that apps see.
    let camera: String

    /// The time in seconds for which frames are counted, and until when the page has to report.
    private static let (counted, limit) = (5, 60.0)

    /// The outcome.
    struct Outcome {
        let isWell: Bool
        /// The result for people, as a sentence without its full stop.
        let text: String
        var report: TrialReport?
        /// The command that may help.
        var command: String?
    }

    /// Runs the trial, which takes some ten seconds.
    ///
    /// - Throws: `Failure` if there is no such browser, or it cannot be started.
    func run() throws(Failure) -> Outcome {
        guard let place = browser.places(in: home).first(where: { $0.command != nil }),
            let program = place.command
        else { throw .notInstalled(browser) }
        let isOn = isOn(in: place)
        let profile = try makeProfile(for: place, isOn: isOn)
        defer { Self.remove(profile) }
        let server = try TrialServer(page: TrialPage.html(camera: camera, seconds: Self.counted))
        var words = program
        if browser == .firefox {
            words += ["--headless", "--no-remote", "--profile", profile, server.address]
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
            words.append(server.address)
        }
        let signals = try Self.signals()
        let process = try Self.start(words, in: profile, isSandboxed: place.sandbox != nil)
        var status: CInt?
        defer { Self.end(process, hasEnded: status != nil) }
        let deadline = MonotonicClock.now + Timestamp(seconds: Self.limit)
        while true {
            if let body = server.serve() { return outcome(TrialReport(body), isOn: isOn) }
            var value: CInt = 0
            if status == nil, waitpid(process, &value, WNOHANG) == process { status = value }
            if let status, status != 0 {
                return Outcome(isWell: false, text: "\(browser.title) ended right after its start")
            }
            guard MonotonicClock.now < deadline else {
                // The desktop may wait for an answer.
                let isAsked = DesktopCheckup(home: home).isAccessMissing
                return Outcome(
                    isWell: false,
                    text:
                        "\(browser.title) did not report within \(Int(Self.limit)) s what it sees",
                    command: isAsked ? "dualcamctl doctor --fix access" : nil
                )
            }
            var waiting = (server.descriptors + [signals.descriptor]).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            poll(&waiting, nfds_t(waiting.count), 100)
            if let signal = signals.next() { throw Failure("interrupted (signal \(signal))") }
        }
    }

    private static func signals() throws(Failure) -> Signals {
        do throws(SystemError) {
            return try Signals([SIGINT, SIGTERM, SIGHUP])
        } catch {
            throw Failure("\(error)")
        }
    }

    private static func start(
        _ words: [String],
        in profile: String,
        isSandboxed: Bool
    ) throws(Failure) -> CInt {
        // Browsers make folders of their own at home and for the cache. Snap and Flatpak need to
        // know the real home.
        let homes = ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"]
        let set = (isSandboxed ? [] : homes) + ["TMPDIR"]
        do throws(SystemError) {
            return try spawn(
                words[0],
                words,
                // Chromium keeps reports of its crashes outside of its profile.
                environment: inheritedEnvironment.filter { variable in
                    !set.contains { variable.hasPrefix("\($0)=") }
                } + set.map { "\($0)=\(profile)" } + [
                    "CHROME_CONFIG_HOME=\(profile)", "BREAKPAD_DUMP_LOCATION=\(profile)",
                ],
                input: .nothing,
                output: .nothing,
                errors: .nothing,
                inGroup: true
            )
        } catch {
            throw Failure("\(error)")
        }
    }

    /// Returns what `report` means, for a browser whose setting for PipeWire cameras `isOn`.
    func outcome(_ report: TrialReport, isOn: Bool) -> Outcome {
        let name = report.browser.isEmpty ? browser.title : ownName(report.browser)
        let fix = isOn ? nil : "dualcamctl doctor --fix \(browser.rawValue)"
        func bad(_ text: String, _ command: String? = nil) -> Outcome {
            Outcome(isWell: false, text: "\(name) \(text)", report: report, command: command)
        }
        let setting = isOn ? "" : "; its setting for PipeWire cameras is off"
        if let frames = report.frames, frames > 0, report.seconds > 0 {
            let time = (report.seconds * 10).rounded() / 10
            let text = time == time.rounded() ? "\(Int(time))" : "\(time)"
            return Outcome(
                isWell: true,
                text: "\(name) sees \(camera): \(frames) frames in \(text) s, "
                    + "\(report.size.0)×\(report.size.1)",
                report: report
            )
        }
        switch report.error?.name {
        case nil where report.cameras.isEmpty: return bad("lists no camera\(setting)", fix)
        case nil:
            let cameras = report.cameras.joined(separator: ", ")
            return bad("lists \(cameras), but not \(camera)\(setting)", fix)
        case "NotFoundError": return bad("lists no camera\(setting)", fix)
        case "NotAllowedError", "SecurityError":
            return bad("was refused the camera", "dualcamctl doctor --fix access")
        case "NotReadableError", "AbortError":
            let reason = report.error?.reason ?? ""
            // The page asked for any camera, to learn the names of all.
            return report.cameras.contains(camera)
                ? bad("lists \(camera), but cannot open it: \(reason)")
                : bad("cannot open a camera: \(reason)\(setting)", fix)
        case .some:
            return bad("gets no picture: \(report.error?.reason ?? "")")
        }
    }

    /// Brave and Chrome call themselves what Chromium does.
    private func ownName(_ name: String) -> String {
        guard name.hasPrefix("Chromium"), browser != .firefox else { return name }
        return browser.title + name.dropFirst("Chromium".count)
    }

    // MARK: The profile

    /// `true` if the user's own profile looks for cameras in PipeWire.
    private func isOn(in place: Browser.Place) -> Bool {
        let steps = DesktopCheckup(home: home).browserSteps([place])
        guard browser != .edge else { return DesktopCheckup(home: home).startsEdge(with: place) }
        guard !place.isNew || !steps.isEmpty else { return false }
        return steps.allSatisfy(\.isDone)
    }

    /// Makes a profile that has the setting `isOn`, where the browser may write, and returns its
    /// path.
    private func makeProfile(
        for place: Browser.Place,
        isOn: Bool
    ) throws(Failure) -> String {
        var parent = "/tmp"
        if let sandbox = place.sandbox {
            parent = place.isSnap ? "\(sandbox)/common" : "\(sandbox)/cache"
            // The sandbox makes it, too, when it is first started.
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
        let text =
            browser == .firefox
            ? settings.map { "user_pref(\"\($0)\", \($1));\n" }.joined()
            : isOn
                ? String(
                    decoding: try FileForm.chromiumFlags.fixed(nil),
                    as: UTF8.self
                ) : "{}"
        let name = browser == .firefox ? "user.js" : "Local State"
        do throws(Failure) {
            // A program in the sandbox may have put a link in the place of the folder.
            try FixedFile("\(path)/\(name)", inside: place.sandbox).write(
                FileContent(bytes: Array(text.utf8), mode: 0o600)
            )
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
            var status: CInt = 0
            if waitpid(process, &status, WNOHANG) == process { isRunning = false }
            usleep(50_000)
        }
        kill(-process, SIGKILL)
        if isRunning { _ = retryingInterrupts { waitpid(process, nil, 0) } }
        // Its processes may still write into the profile.
        usleep(200_000)
    }
}
