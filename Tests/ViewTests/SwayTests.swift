import Foundation
import Frames
import TestSupport
import Testing
import ViewCore

/// The window on Sway, which puts it above others when it is asked to.
@Suite(.serialized) struct SwayTests {
    /// The corner at the bottom right, where it starts, and the one at the top left.
    private static let start = (x: 1280 - 16 - 480, y: 720 - 16 - 270)
    private static let corner = (x: 16, y: 16)

    /// `true` if the window's picture is on the screen at `place`, in its own colours.
    private func isShown(_ desktop: SwayDesktop, at place: (x: Int, y: Int)) throws -> Bool {
        // The sky of the back test picture.
        let color = try desktop.color(place.x + 240, place.y + 5)
        return color.reduce(0, +) > 100 && (color.max() ?? 0) - (color.min() ?? 0) > 20
    }

    private func with(_ body: (SwayDesktop, Daemon) throws -> Void) throws {
        try PrivateSession.with { session in
            try FirstStart.isOver(in: session)
            let desktop = try SwayDesktop(in: session)
            try body(desktop, try Daemon(ShownWindow.configuration, in: session))
        }
    }

    @Test func `The window is above one that is tiled, on every workspace`() throws {
        try with { desktop, _ in
            let other = try desktop.start("test-window", "drop")
            try eventually("a tiled window; \(other.errors)", within: 10) {
                try desktop.color(100, 400).min() ?? 0 > 200
            }
            let program = try desktop.start("dualcam-view")
            try eventually("the window above it; \(program.errors)", within: 15) {
                try isShown(desktop, at: Self.start)
            }
            // It takes no room from the others.
            #expect(try desktop.color(100, 400).min() ?? 0 > 200)
            try desktop.tell("[title=\"^Target$\"] focus")
            #expect(try isShown(desktop, at: Self.start))
            try desktop.tell("workspace 2")
            try eventually("the window alone on another workspace", within: 10) {
                try desktop.color(100, 400).max() ?? 255 < 100 && isShown(desktop, at: Self.start)
            }
        }
    }

    @Test func `The window goes to a near corner, and is there again at the next start`() throws {
        try with { desktop, _ in
            let program = try desktop.start("dualcam-view")
            try eventually("the window; \(program.errors)", within: 15) {
                try isShown(desktop, at: Self.start)
            }
            // A point of the main picture, from there to near the corner.
            let (x, y) = (Self.start.x + 160, Self.start.y + 110)
            try desktop.hand(
                "move \(x) \(y)",
                "sleep 0.6",
                "down",
                "sleep 0.1",
                "move \(x - 20) \(y - 20)",
                "sleep 0.3",
                "move 400 300",
                "sleep 0.1",
                "move 180 120",
                "sleep 0.1",
                "up",
                "sleep 0.1",
                "move 181 121",
                "sleep 0.3",
                "move 182 121"
            )
            try eventually("the window in the corner", within: 10) {
                try SwayPlace(
                    of: "org.dualcam.View",
                    title: "DualCam",
                    in: desktop.tell("-t", "get_tree", "-r")
                )?.window == Rect(x: 16, y: 16, width: 480, height: 270)
            }
            try desktop.tell("[title=\"^DualCam$\"] kill")
            #expect(try program.wait(within: 10) == .status(0))
            let again = try desktop.start("dualcam-view")
            try eventually("the window where it was; \(again.errors)", within: 15) {
                try isShown(desktop, at: Self.corner)
            }
        }
    }
}
