import Foundation
import Frames
import Glibc
import TestSupport
import Testing
import ViewCore

/// Random clicks and keys while the daemon hangs, dies and comes back, and cameras come and go: a
/// few in each run of the tests, DUALCAM_WINDOW_STEPS by hand (`make window-soak`).
/// DUALCAM_WINDOW_SEED repeats a run.
@Suite(.serialized, .timeLimit(.minutes(120))) struct WindowSoakTests {
    @Test func `Whatever is pressed, and whatever happens, the window goes on and does not grow`()
        throws
    {
        try PrivateSession.with { session in
            let soak = try WindowSoak(session)
            do {
                try soak.run()
            } catch {
                print("seed \(soak.seed), after: \(soak.story.suffix(8).joined(separator: "; "))")
                print(soak.program.errors.suffix(4000))
                throw error
            }
            print(soak.report)
        }
    }
}

private final class WindowSoak {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    let seed: Int
    private(set) var story: [String] = []
    private(set) var program: Child
    private let session: PrivateSession
    private let desktop: Desktop
    private var daemon: Child
    private var random: Chance
    private var isHung = false
    private var (steps, starts, hangs, deaths, changes) = (0, 1, 0, 0, 0)
    /// The resident memory of the window that runs now after each thousand steps, in megabytes.
    private var memory: [Int] = []
    private var since = 0

    private static let size = Size(width: 480, height: 270)
    private static let keys =
        ViewCore.Command.keys.map(\.key) + ["Tab", "Tab", "shift+Tab", "Return", "Left", "Right"]
    private static let sources = ["test", "test:bars", "v4l2:none", "auto"]

    init(_ session: PrivateSession) throws {
        self.session = session
        seed = Self.number("DUALCAM_WINDOW_SEED") ?? Int(Chance.seed)
        random = Chance(seed: UInt64(seed))
        // Nothing of the system may be changed, whatever is clicked.
        let stubs = "\(session.directory)/stubs"
        for name in ["pkexec", "sudo", "systemctl", "xdg-open"] {
            try FileManager.default.createDirectory(
                atPath: stubs,
                withIntermediateDirectories: true
            )
            try "#!/bin/sh\nexit 126\n".write(
                toFile: "\(stubs)/\(name)",
                atomically: true,
                encoding: .utf8
            )
            chmod("\(stubs)/\(name)", 0o755)
        }
        // Nor started from the desktop beside the window.
        let menus = "\(session.directory)/home/.config/openbox"
        try FileManager.default.createDirectory(atPath: menus, withIntermediateDirectories: true)
        try "<openbox_menu><menu id=\"root-menu\" label=\"\"/></openbox_menu>".write(
            toFile: "\(menus)/menu.xml",
            atomically: true,
            encoding: .utf8
        )
        let path = session.environment["PATH"] ?? "/usr/bin:/bin"
        desktop = try Desktop(in: session, look: ["PATH": "\(stubs):\(path)"])
        try Self.configure(session, "test", "test:bars")
        daemon = try Self.startDaemon(session)
        program = try desktop.start("dualcam-view")
        try waitForWindow()
    }

    var report: String {
        "window soak: \(steps) steps with seed \(seed), \(hangs) hangs, \(deaths) deaths, "
            + "\(changes) changes of cameras, \(starts) starts of the window; MB: \(memory)"
    }

    private static func configure(_ session: PrivateSession, _ back: String, _ front: String) throws
    {
        let text = """
            [cameras.back]
            source = "\(back)"
            [cameras.front]
            source = "\(front)"
            [capture]
            photo-directory = "\(session.directory)/photos"
            video-directory = "\(session.directory)/videos"
            """
        let path = "\(session.directory)/soak.toml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static func startDaemon(_ session: PrivateSession) throws -> Child {
        try session.run(
            Programs.path(of: "dualcamd"),
            ["--config", "\(session.directory)/soak.toml"]
        )
    }

    private func waitForWindow() throws {
        try eventually("the window", within: 15) { try !desktop.windows("DualCam").isEmpty }
    }

    func run() throws {
        let wanted = Self.number("DUALCAM_WINDOW_STEPS") ?? 150
        while steps < wanted {
            if number(12) == 0 { try happen() }
            let words = (0..<8).map { _ in action() }.joined(separator: " sleep 0.01 ")
            story.append(words)
            try desktop.hand(words)
            steps += 8
            since += 8
            try look()
            if since / 1000 > memory.count { memory.append(try resident()) }
        }
        try recover()
        // The first thousand steps fill caches. Of three looks one may see a picture being made.
        let last = memory.suffix(3).min() ?? 0
        if let least = memory.dropFirst().first, last > least + 12 {
            throw ServiceFailed(description: "the window grows: \(memory) MB")
        }
    }

    private func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    /// A click, a drag or a key, as xdotool's words.
    private func action() -> String {
        func place() -> String {
            // Not on what closes the window.
            var (x, y) = (number(Self.size.width), number(Self.size.height))
            if x < 120, y < 60 { (x, y) = (x + 120, y + 60) }
            return "mousemove \(1280 - 16 - Self.size.width + x) \(800 - 16 - Self.size.height + y)"
        }
        switch number(10) {
        case 0...3: return "key \(Self.keys[number(Self.keys.count)])"
        case 4...6: return "\(place()) click 1"
        case 7: return "\(place()) click \([3, 4, 5][number(3)])"
        case 8: return "\(place()) mousedown 1 \(place()) mouseup 1"
        default: return "key Escape"
        }
    }

    /// Something that happens beside the window.
    private func happen() throws {
        switch number(4) {
        case 0:
            isHung.toggle()
            story.append(isHung ? "the daemon hangs" : "it goes on")
            if isHung { hangs += 1 }
            daemon.signal(isHung ? SIGSTOP : SIGCONT)
        case 1:
            story.append("the daemon dies")
            deaths += 1
            daemon.signal(SIGKILL)
            isHung = false
        case 2: try startAgain()
        default:
            let sources = [0, 1].map { _ in Self.sources[number(4)] }
            story.append("the cameras are \(sources)")
            changes += 1
            try Self.configure(session, sources[0], sources[1])
            daemon.signal(SIGHUP)
        }
    }

    private func startAgain() throws {
        guard daemon.exit != nil else { return }
        story.append("the daemon starts")
        session.forget(daemon)
        daemon = try Self.startDaemon(session)
    }

    /// Looks if the window is there, and starts it again if somebody has closed it.
    private func look() throws {
        let complaints = program.errors.split(separator: "\n").filter {
            // GTK 4 says this of any popup that opens beside all monitors, and goes on.
            !$0.contains("gdk_monitor_get_geometry")
                && ($0.contains("CRITICAL") || $0.contains("Gtk-WARNING") || $0.contains("Fatal"))
        }
        guard complaints.isEmpty else {
            throw ServiceFailed(description: complaints.joined(separator: "\n"))
        }
        guard let exit = program.exit else { return }
        guard exit == .status(0) else {
            throw ServiceFailed(description: "the window: \(exit)")
        }
        story.append("the window was closed")
        session.forget(program)
        program = try desktop.start("dualcam-view")
        (starts, since, memory) = (starts + 1, 0, [])
        try waitForWindow()
    }

    private func resident() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(program.id)/status", encoding: .utf8)
        return text.firstMatch(of: /VmRSS:\s+(\d+)/).flatMap { Int($0.1) }.map { $0 / 1024 } ?? 0
    }

    /// Waits until the window shows the stream again, once all is well.
    private func recover() throws {
        daemon.signal(SIGCONT)
        try Self.configure(session, "test", "test:bars")
        let tool = Programs.path(of: "dualcamctl")
        try eventually("the daemon", within: 20) {
            try startAgain()
            return try desktop.run(tool, "status", "--json").contains(#""consumers":"#)
        }
        daemon.signal(SIGHUP)
        for words in ["privacy off", "start"] {
            let child = try session.run(tool, words.split(separator: " ").map(String.init))
            try child.wait(within: 20)
        }
        try look()
        try eventually("the window to show the stream", within: 20) {
            try desktop.run(tool, "status", "--format", "{{ consumers }}").hasPrefix("1")
        }
    }
}
