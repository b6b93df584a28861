import Control
import DBusKit
import Foundation
import Frames
import Platform
import TestSupport

/// A desktop of an X server without a screen, with a window manager, a pointer and a keyboard.
///
/// - Context: bound to the test's thread.
final class Desktop {
    let session: PrivateSession
    private let screen: Screen

    /// `true` while programs tell a screen reader what they show.
    private let hasScreenReader: Bool

    private let look: [String: String]

    /// What programs on this desktop need in their environment.
    var variables: [String: String] {
        // No GPU here: GTK would take llvmpipe.
        ["DISPLAY": screen.display, "GSK_RENDERER": "cairo", "GDK_BACKEND": "x11"]
            .merging(hasScreenReader ? [:] : ["GTK_A11Y": "none"]) { $1 }
            .merging(look) { $1 }
    }

    /// Starts the desktop. With a screen reader's bus programs tell it what they show. `look` is
    /// more of their environment, and `settings` are lines of GTK's.
    init(
        in session: PrivateSession,
        hasScreenReader: Bool = false,
        look: [String: String] = [:],
        settings: [String] = []
    ) throws {
        self.session = session
        self.look = look
        try FirstStart.isOver(in: session)
        try FirstStart.set(settings, in: session)
        self.hasScreenReader = hasScreenReader
        if hasScreenReader {
            try session.run("/usr/libexec/at-spi-bus-launcher", "--launch-immediately")
        }
        screen = try Screen(in: session)
    }

    /// Runs a program on the desktop to its end, and returns its output.
    @discardableResult
    func run(_ program: String, _ arguments: String...) throws -> String {
        try screen.run(program, arguments, adding: variables)
    }

    /// Waits until the window called `title` has the keyboard.
    func waitForFocus(of title: String) throws {
        try eventually("\(title) to have the keyboard", within: 15) {
            try run("xdotool", "getactivewindow", "getwindowname") == "\(title)\n"
        }
    }

    /// Opens a menu, which is a window of its own, and returns when it is there.
    func openMenu(_ open: () throws -> Void) throws {
        func shown() throws -> Int {
            try run("xdotool", "search", "--onlyvisible", "--class", "").split(separator: "\n")
                .count
        }
        let before = try shown()
        try open()
        try eventually("the menu", within: 10) { try shown() > before }
    }

    /// Returns the numbers of the visible windows called `title`.
    func windows(_ title: String) throws -> [String] {
        try run("xdotool", "search", "--onlyvisible", "--name", "^\(title)$")
            .split(separator: "\n").map(String.init)
    }

    func start(_ program: String, _ arguments: String...) throws -> Child {
        try session.run(Programs.path(of: program), arguments, adding: variables)
    }

    func hand(_ words: String) throws { try screen.hand(words) }

    func color(_ x: Int, _ y: Int) throws -> [Int] { try screen.color(x, y) }

    func colors(_ area: PixelRect) throws -> [[Int]] { try screen.colors(area) }
}

/// The window on a desktop, with the daemon whose stream it shows.
///
/// - Context: bound to the test's thread.
final class ShownWindow {
    let desktop: Desktop
    let daemon: Daemon
    private(set) var program: Child
    private(set) var id = ""

    let size: Size
    /// The place of the picture on the screen: the window starts in the bottom right corner.
    let place: (x: Int, y: Int)

    private init(_ desktop: Desktop, _ daemon: Daemon, width: Int) throws {
        self.desktop = desktop
        size = Size(width: width, height: width * 9 / 16)
        place = (1280 - 16 - size.width, 800 - 16 - size.height)
        self.daemon = daemon
        program = try desktop.start("dualcam-view")
        try waitForPicture()
    }

    static func with(
        hasScreenReader: Bool = false,
        look: [String: String] = [:],
        settings: [String] = [],
        width: Int = 480,
        _ body: (ShownWindow) throws -> Void
    ) throws {
        try PrivateSession.with { session in
            if width != 480 { try FirstStart.remember(width: width, in: session) }
            let desktop = try Desktop(
                in: session,
                hasScreenReader: hasScreenReader,
                look: look,
                settings: settings
            )
            let daemon = try Daemon(configuration, in: session)
            let window = try ShownWindow(desktop, daemon, width: width)
            try body(window)
            if let exit = window.program.exit, exit != .status(0) {
                throw ServiceFailed(description: "the window: \(exit): \(window.program.errors)")
            }
            let complaints = window.program.errors.split(separator: "\n").filter {
                $0.contains("CRITICAL") || $0.contains("Gtk-WARNING")
                    || $0.contains("Adwaita-WARNING")
            }
            guard complaints.isEmpty else {
                throw ServiceFailed(description: complaints.joined(separator: "\n"))
            }
        }
    }

    static let configuration = """
        [cameras.back]
        source = "test"
        [cameras.front]
        source = "test"
        """

    /// Waits until a picture of the stream is on the screen, where it is to be.
    func waitForPicture() throws {
        try eventually("a picture in the window; \(program.errors)", within: 15) {
            try desktop.color(place.x + 240, place.y + 5).reduce(0, +) > 100
        }
        id = try desktop.windows("DualCam").first ?? ""
        // Keys go to whatever window has the focus.
        try eventually("the window to be the active one", within: 10) {
            try desktop.run("xdotool", "getactivewindow") == "\(id)\n"
        }
    }

    /// Moves the pointer to a point of the picture, in units of the window, and does more. The
    /// window sees all of it in this order, so nothing has to be waited for but what it shows then.
    func hand(at x: Int, _ y: Int, _ words: String) throws {
        try desktop.hand("mousemove \(place.x + x) \(place.y + y) \(words)")
    }

    /// Clicks on the control called `name` once it is shown, and has come to rest.
    func click(_ name: String) throws {
        let reader = try reader(showing: [name])
        var before: PixelRect?
        let place = try eventually("\(name) at rest", within: 10) {
            let place = reader.named[name].flatMap(reader.place)
            defer { before = place }
            return place == before ? place : nil
        }
        try hand(at: place.x + place.width / 2, place.y + place.height / 2, "click 1")
    }

    func reader(showing names: Set<String>) throws -> ScreenReader {
        let reader = try ScreenReader(daemon)
        try eventually("\(names)", within: 10) {
            try hand(at: 100, 60, "mousemove_relative 3 3")
            return names.isSubset(of: Set(reader.named.keys))
        }
        return reader
    }

    /// `true` while the strip of pictures is open, which is dark above its cells.
    func isStripOpen() throws -> Bool {
        try desktop.color(place.x + 330, place.y + 148).reduce(0, +) < 150
    }

    /// Takes a photo through the daemon, and returns its path.
    func takePhoto() throws -> String {
        let answer = try daemon.call(
            "TakePhoto",
            of: .capture,
            options: ["of": .strings(["stream"])]
        )
        let photo = answer.first?.array?.first?.named?["path"]?.string
        guard let photo else { throw ServiceFailed(description: "no photo: \(answer)") }
        return photo
    }

    func scene(_ property: String) throws -> Value { try daemon.get(property, of: .scene) }

    func wait(_ property: String, _ isRight: (Value) -> Bool) throws {
        try eventually("\(property)", within: 5) { isRight(try scene(property)) }
    }
}
