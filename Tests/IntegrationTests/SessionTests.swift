import Control
import DBusKit
import Foundation
import Frames
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of sleep, locks and absence, with logind and screen savers played by dbusmock.
    @Suite("The session", .timeLimit(.minutes(5)))
    struct SessionTests {
        private static let configuration = DaemonTests.still(
            back: "test:bars",
            front: "test:ramp",
            scene: "layout = \"single\""
        )

        /// A cause for which the cameras are closed, with its end.
        private struct Cause: Sendable {
            let name: String
            let interruption: String
            let turn: @Sendable (MockedDesktop, Bool) throws -> Void
        }

        private static let causes: [Cause] = [
            Cause(name: "sleep", interruption: "asleep") { try $0.sleep($1) },
            Cause(name: "LockedHint", interruption: "locked") { try $0.setLocked($1) },
            Cause(name: "another session in front", interruption: "locked") {
                try $0.setActive(!$1)
            },
            Cause(name: "screen saver", interruption: "locked") { try $0.setScreenSaver($1) },
            Cause(name: "GNOME's screen saver", interruption: "locked") { try $0.setGnome($1) },
        ]

        @Test func camerasCloseForItAndComeBackAfterIt() throws {
            try with { desktop in
                try desktop.startLogin()
                try desktop.startScreenSaver()
                try desktop.startGnome()
            } _: { desktop, daemon in
                try eventually("the inhibitor") {
                    try desktop.inhibitors == [MockedDesktop.inhibitor]
                }
                let viewer = try Viewer(daemon)
                var pictures: [String: StreamPicture] = [:]
                for cause in Self.causes {
                    try daemon.forgetSignals()
                    try cause.turn(desktop, true)
                    try viewer.reach("interrupted", cause.interruption)
                    let frames = try daemon.captured
                    try viewer.expectSteady("\(cause.name), begin")
                    #expect(try daemon.stream.get(\.state) == "interrupted")
                    let picture = try veiledPicture(daemon)
                    pictures[cause.interruption] = pictures[cause.interruption] ?? picture
                    #expect(try daemon.captured == frames, "\(cause.name): cameras go on")
                    // Cameras that are closed on purpose are not a problem.
                    #expect(try daemon.problems == [])

                    try cause.turn(desktop, false)
                    try viewer.awaitLive()
                    try viewer.expectSteady("\(cause.name), end")
                    try daemon.settle()
                    for camera in [DualCam.backPath, DualCam.frontPath] {
                        let changes = daemon.changes(of: .camera, at: camera)
                        let why = changes.compactMap { $0["Interruption"]?.string }
                        #expect(why == [cause.interruption, "none"], "\(cause.name)")
                        // At the first try: nothing but the cause kept it closed.
                        let states = changes.compactMap { $0["State"]?.string }
                        let steps = states.filter { $0 != "opening" }
                        #expect(steps == ["interrupted", "streaming"], "\(states)")
                    }
                }
                // Each picture shows its own reason.
                let asleep = try #require(pictures["asleep"])
                #expect(try asleep.differs(from: #require(pictures["locked"])))
            }
        }

        /// Returns the picture for a new consumer: the last one, blurred beyond any edge, with text
        /// on it.
        private func veiledPicture(_ daemon: Daemon) throws -> StreamPicture {
            let reader = try daemon.reader()
            let picture = try reader.stillPicture()
            let luma = picture.luma(row: 200)
            let step = zip(luma, luma.dropFirst()).map { abs($0 - $1) }.max() ?? 255
            #expect(step < 12, "an edge of \(step)")
            #expect(luma.max().map { $0 - (luma.min() ?? 0) } ?? 0 > 30, "nothing is left of it")
            let words = (340..<380).flatMap { picture.luma(row: $0)[500..<780] }
            #expect((words.max() ?? 0) > 180, "no words")
            return picture
        }

        /// Lock is logind's request to the screen lock. LockedHint says if it has locked, and not
        /// every lock tells logind when it opens.
        @Test func beingAskedToLockIsNotBeingLocked() throws {
            try with {
                try $0.startLogin()
            } _: { desktop, daemon in
                let viewer = try Viewer(daemon)
                try daemon.forgetSignals()
                try desktop.askForLock(true)
                try desktop.askForLock(false)
                // A later message on the same way has arrived, and so have the earlier ones.
                try desktop.setLocked(true)
                try viewer.reach("interrupted", "locked")
                try desktop.setLocked(false)
                try viewer.awaitLive()
                try daemon.settle()
                let changes = daemon.changes(of: .camera, at: DualCam.backPath)
                #expect(changes.compactMap { $0["Interruption"]?.string } == ["locked", "none"])
                try viewer.expectSteady("a lock")
            }
        }

        @Test("a system bus that does not answer holds nobody up, and no camera opens")
        func busThatDoesNotAnswer() throws {
            try PrivateSession.with { session in
                let silent = try SilentSocket("\(session.directory)/silent")
                let daemon = try Daemon(
                    Self.configuration,
                    in: session,
                    node: false,
                    adding: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(silent.path)"]
                )
                // PipeWire's library asks that bus, too: see docs/pipewire.md.
                try eventually("the node", within: 60) { try daemon.stream.get(\.active) }
                let reader = try daemon.reader()
                _ = try reader.next()
                try eventually("a problem") {
                    try daemon.complains(of: "does not say whether the session is locked")
                }
                #expect(try daemon.back.get(\.interruption) == "locked")
                #expect {
                    try daemon.call("TakePhoto", of: .capture)
                } throws: {
                    "\($0)".contains("does not say whether the session is locked")
                }
                #expect(try daemon.captured == [0, 0])
                // The thread that waits for the bus does not hold up the end either.
                #expect(try daemon.end().exit == .status(0))
            }
        }

        /// Runs `body` with a daemon in a desktop that `prepare` has set up.
        private func with(
            _ prepare: (MockedDesktop) throws -> Void,
            _ body: (MockedDesktop, Daemon) throws -> Void
        ) throws {
            let desktop = try MockedDesktop()
            defer { desktop.session.close() }
            do {
                try prepare(desktop)
                let daemon = try Daemon(Self.configuration, in: desktop.session)
                try body(desktop, daemon)
                #expect(try daemon.end().exit == .status(0))
            } catch {
                desktop.session.printLogs()
                throw error
            }
        }
    }
}
