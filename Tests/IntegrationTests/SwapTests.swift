import Control
import DBusKit
import DualCamCore
import Frames
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of a swap as a consumer sees it, between a dark main picture and a light inset in
    /// which nothing moves: at rest all frames are equal, byte by byte.
    @Suite("A swap", .timeLimit(.minutes(5)))
    struct SwapTests {
        /// A received frame.
        private struct Sight {
            var picture: StreamPicture
            /// The earliest and the latest time at which it may have been composed: its own, which
            /// is ahead by an interval at most, and that of its arrival.
            var composed: ClosedRange<Timestamp>
            /// The part of its way that the light picture has come: 0 while it is the inset, 1 when
            /// it is the main picture.
            var way: Double

            init(_ frame: StreamReader.Frame) throws {
                picture = StreamPicture(frame, size: DaemonTests.size)
                let pts = try #require(frame.pts)
                composed = pts - Timestamp(seconds: 1.0 / 30)...max(pts, frame.arrival)
                // The border is light, too, and belongs to the picture.
                let edge = picture.luma(row: 116).firstIndex { $0 > 120 } ?? 934
                way = 1 - Double(edge) / 934
            }
        }

        /// Calls Swap, and returns the time that this took.
        private func swap(_ daemon: Daemon) throws -> ClosedRange<Timestamp> {
            let start = MonotonicClock.now
            try daemon.call("Swap", of: .scene)
            return start...MonotonicClock.now
        }

        /// Returns the least and the most seconds from a time in `start` to one in `end`.
        private func seconds(
            from start: ClosedRange<Timestamp>,
            to end: ClosedRange<Timestamp>
        ) -> ClosedRange<Double> {
            let least = (end.lowerBound - start.upperBound).seconds
            return least...max(least, (end.upperBound - start.lowerBound).seconds)
        }

        /// Expects the part of the way that there is after as many of `duration` seconds.
        private func expect(
            _ sight: Sight,
            at seconds: ClosedRange<Double>,
            of duration: Double,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            func eased(_ seconds: Double) -> Double {
                Easing.inOut(min(1, max(0, seconds / duration)))
            }
            let pixels = 3.0 / 934
            #expect(
                (eased(seconds.lowerBound) - pixels...eased(seconds.upperBound) + pixels)
                    .contains(sight.way),
                "\(sight.way) of the way after \(seconds) s",
                sourceLocation: sourceLocation
            )
        }

        /// Runs `body` with a daemon in whose stream nothing moves, and a reader of it.
        private func withStill(
            duration: Double = 0.3,
            _ body: (Daemon, StreamReader) throws -> Void
        ) throws {
            try PrivateSession.with { session in
                let (light, dark) = ("\(session.directory)/a.y4m", "\(session.directory)/b.y4m")
                let small = Size(width: 320, height: 180)
                try writeMovie([200], size: small, to: light)
                try writeMovie([40], size: small, to: dark)
                let configuration = """
                    [cameras.back]
                    source = "file:\(dark)"
                    [cameras.front]
                    source = "file:\(light)"
                    [scene]
                    swap-duration-ms = \(Int(duration * 1000))
                    """
                let daemon = try Daemon(configuration, in: session)
                let reader = try daemon.reader()
                defer { reader.close() }
                _ = try reader.picture("both pictures") {
                    $0[640, 400].y == 40 && $0[1100, 160].y == 200
                }
                try body(daemon, reader)
            }
        }

        @Test func itBeginsAtOnceAndEndsInTime() throws {
            try withStill { daemon, reader in
                // There and back each time.
                for isToMain in [true, false, true, false] {
                    let still = try reader.stillPicture()
                    let asked = try swap(daemon)
                    var last = try Sight(reader.next())
                    var time = seconds(from: asked, to: last.composed)
                    while time.lowerBound < 0.5 {
                        let sight = try Sight(reader.next())
                        let isMoving = sight.picture.differs(from: last.picture)
                        #expect(!isMoving || time.lowerBound < 0.3, "it moves after \(time) s")
                        time = seconds(from: asked, to: sight.composed)
                        let isNew = sight.picture.differs(from: still)
                        #expect(isNew || time.lowerBound < 1.0 / 30, "nothing after \(time) s")
                        // On the way back the dark picture grows over the light one.
                        if isToMain {
                            expect(sight, at: time, of: 0.3)
                            #expect(sight.way >= last.way)
                        }
                        last = sight
                    }
                    #expect(last.way == (isToMain ? 1 : 0))
                }
            }
        }

        @Test func askedAgainOnTheWayItTurnsRound() throws {
            // So long that it is asked on the way, however busy the machine is.
            let duration = 2.0
            try withStill(duration: duration) { daemon, reader in
                _ = try reader.stillPicture()
                let there = try swap(daemon)
                var sights = [try Sight(reader.next())]
                while sights[sights.count - 1].way < 0.1 {
                    try #require(sights.count < 100, "no beginning")
                    sights.append(try Sight(reader.next()))
                }
                let back = try swap(daemon)
                let top = seconds(from: there, to: back)
                var time = 0.0...0.0
                // Equally fast in both directions, without a jump.
                while time.lowerBound < top.upperBound + 0.2 {
                    let sight = try Sight(reader.next())
                    time = seconds(from: back, to: sight.composed)
                    if time.lowerBound > 0 {
                        let least = top.lowerBound - time.upperBound
                        let most = top.upperBound - time.lowerBound
                        expect(sight, at: least...most, of: duration)
                    } else {
                        sights.append(sight)
                    }
                }
                for sight in sights where sight.composed.upperBound < back.lowerBound {
                    expect(sight, at: seconds(from: there, to: sight.composed), of: duration)
                }
                #expect(try Sight(reader.next()).way == 0)
                #expect(try daemon.get("Swapped", of: .scene) == .boolean(false))
            }
        }

        @Test func instantlyIsInOneFrame() throws {
            try withStill { daemon, reader in
                var last = try reader.stillPicture()
                let answer = try daemon.call(
                    "Swap",
                    of: .scene,
                    options: ["instant": .boolean(true)]
                )
                #expect(answer == [.boolean(true)])
                var changes: [StreamPicture] = []
                for _ in 0..<12 {
                    let picture = StreamPicture(try reader.next(), size: last.size)
                    if picture.differs(from: last) { changes.append(picture) }
                    last = picture
                }
                #expect(changes.count == 1)
                #expect(changes.last?[640, 400].y == 200 && changes.last?[1100, 160].y == 40)
            }
        }

        /// JPEGs are decoded only as large as they are seen: an inset small, a hidden picture not
        /// at all.
        @Test(arguments: ["pip", "single"])
        func itsPictureIsSharpFromTheFirstFrameOn(layout: String) throws {
            try PrivateSession.with { session in
                let (dark, fine) = ("\(session.directory)/a.mjpeg", "\(session.directory)/b.mjpeg")
                try writeJPEG(size: DaemonTests.size, copies: 3, to: dark) { _ in 40 }
                // Grey when it is scaled down.
                try writeJPEG(size: DaemonTests.size, copies: 3, to: fine) {
                    $0 & 2 == 0 ? 20 : 230
                }
                let configuration = DaemonTests.still(
                    back: "file:\(dark)",
                    front: "file:\(fine)",
                    scene: "layout = \"\(layout)\""
                )
                let daemon = try Daemon(configuration, in: session)
                let reader = try daemon.reader()
                defer { reader.close() }
                func contrast(_ picture: StreamPicture) -> Int {
                    let row = picture.luma(row: 400)[560..<720]
                    return (row.max() ?? 0) - (row.min() ?? 0)
                }
                _ = try reader.picture("the main picture") {
                    abs($0[640, 400].y - 50) < 4 && contrast($0) < 4
                }
                var seen: [(light: Double, contrast: Int)] = []
                var unsharp: Set<Int> = []
                for turn in 0..<6 {
                    try daemon.call("Swap", of: .scene)
                    for _ in 0..<8 {
                        let picture = StreamPicture(try reader.next(), size: DaemonTests.size)
                        let area = PixelRect(x: 560, y: 400, width: 160, height: 20)
                        let sight = (light: picture.mean(area), contrast: contrast(picture))
                        seen.append(sight)
                        let isDull = sight.contrast < 6 && abs(sight.light - 50) < 4
                        if !isDull, sight.contrast <= 150 { unsharp.insert(turn) }
                    }
                }
                // Either one or the other, and nothing between, at least once: a picture that no
                // thread could decode within 0.2 s is shown as it is.
                #expect(unsharp.count < 3, "\(seen)")
                let (dull, sharp) = (
                    seen.filter { $0.contrast < 6 }, seen.filter { $0.contrast > 150 }
                )
                #expect(dull.count > 4 && sharp.count > 4)
            }
        }

        @Test func itIsToldOnce() throws {
            try withStill { daemon, _ in
                try daemon.forgetSignals()
                try daemon.call("Swap", of: .scene)
                try daemon.settle()
                let changes = daemon.changes(of: .scene)
                #expect(changes.count == 1)
                #expect(
                    changes.first == [
                        "Swapped": .boolean(true),
                        "Main": .objectPath(DualCam.frontPath),
                        "Inset": .objectPath(DualCam.backPath),
                    ]
                )
                #expect(daemon.signals.count == 1)
            }
        }
    }
}
