import Control
import DBusKit
import Frames
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of a swap as a consumer sees it, between a dark main picture and a light inset in
    /// which nothing moves: at rest all frames are equal, byte by byte.
    @Suite("A swap", .timeLimit(.minutes(5)))
    struct SwapTests {
        /// A received frame, as measured.
        private struct Sight {
            /// The time from the reply to the call until the arrival, in seconds.
            var time: Double
            /// The time of arrival.
            var arrival: Timestamp
            /// The column at which the light picture begins in the row through the middle of the
            /// inset: 934 while it is the inset, 0 while it is the main picture.
            var edge: Int
            /// `true` if it differs from the frame before.
            var isNew: Bool

            /// The progress of the light picture, 0 … 1, before easing.
            var phase: Double {
                let way = 1 - Double(edge) / 934
                return way < 0.5 ? cbrt(way / 4) : 1 - cbrt((1 - way) / 4)
            }
        }

        /// The allowance in seconds for the delivery of a composited frame to the test, besides an
        /// interval.
        private static let delivery = 0.025
        private static let interval = 1.0 / 30

        /// Runs `body` with a daemon in whose stream nothing moves, and a reader of it.
        private func withStill(_ body: (Daemon, StreamReader) throws -> Void) throws {
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

        private func edge(_ picture: StreamPicture) -> Int {
            // The border is light, too, and belongs to the picture.
            picture.luma(row: 116).firstIndex { $0 > 120 } ?? picture.size.width
        }

        /// Calls Swap, and again when `condition` first holds. Returns the frames from the first
        /// reply until nothing has changed for six frames, and the time of the second reply.
        private func watch(
            _ daemon: Daemon,
            _ reader: StreamReader,
            again condition: (Sight) -> Bool = { _ in false }
        ) throws -> (sights: [Sight], again: Double?) {
            var last = try reader.stillPicture()
            try daemon.call("Swap", of: .scene)
            let reply = MonotonicClock.now
            var again: Double?
            var sights: [Sight] = []
            var quiet = 0
            var changes = 0
            while quiet < 6 || changes == 0 {
                try #require(sights.count < 60, "no end, or no beginning")
                let frame = try reader.next()
                let picture = StreamPicture(frame, size: last.size)
                let isNew = picture.differs(from: last)
                let sight = Sight(
                    time: (frame.arrival - reply).seconds,
                    arrival: frame.arrival,
                    edge: edge(picture),
                    isNew: isNew
                )
                last = picture
                sights.append(sight)
                changes += isNew ? 1 : 0
                quiet = isNew ? 0 : quiet + 1
                if again == nil, condition(sight) {
                    try daemon.call("Swap", of: .scene)
                    again = (MonotonicClock.now - reply).seconds
                }
            }
            return (sights, again)
        }

        @Test func itBeginsAtOnceAndEndsInTime() throws {
            try withStill { daemon, reader in
                let lateness = Lateness(daemon.session)
                // There and back each time.
                for isToMain in [true, false, true, false] {
                    let sights = try watch(daemon, reader).sights
                    let changes = sights.filter(\.isNew)
                    let (first, last) = (try #require(changes.first), try #require(changes.last))
                    let edges = sights.map(\.edge)
                    if isToMain {
                        #expect(zip(edges, edges.dropFirst()).allSatisfy { $0 >= $1 })
                    }
                    #expect(edges.last == (isToMain ? 0 : 934))
                    print(
                        "first change \(milliseconds(first.time)) after the answer,",
                        "last \(milliseconds(last.time)), edges \(edges)"
                    )
                    let reply = first.arrival - Timestamp(seconds: first.time)
                    let allowed = Self.interval + Self.delivery
                    #expect(
                        first.time <= allowed + lateness.seconds(from: reply, to: first.arrival)
                    )
                    #expect(
                        abs(last.time - 0.3)
                            <= allowed + lateness.seconds(from: reply, to: last.arrival)
                    )
                }
            }
        }

        @Test(arguments: [0.2, 0.5, 0.8])
        func askedAgainOnTheWayItTurnsRound(at phase: Double) throws {
            try withStill { daemon, reader in
                let lateness = Lateness(daemon.session)
                // This thread may notice the place, or the daemon hear of it, after the end.
                for _ in 0..<8 {
                    let (sights, again) = try watch(daemon, reader) { $0.phase >= phase }
                    if let again, again < 0.29 {
                        return try expectTurn(sights, daemon, lateness)
                    }
                    try daemon.call("Reset", of: .scene, options: ["instant": .boolean(true)])
                }
                Issue.record("never asked on the way")
            }
        }

        /// Expects a way there and back in `sights` without a jump, equally fast in both
        /// directions.
        private func expectTurn(
            _ sights: [Sight],
            _ daemon: Daemon,
            _ lateness: Lateness
        ) throws {
            let edges = sights.map(\.edge)
            print("there and back, edges \(edges)")
            #expect(edges.last == 934)
            #expect(edges.min().map { $0 < 934 } == true)
            for (before, after) in zip(sights, sights.dropFirst()) where after.edge > 0 {
                let step = abs(after.phase - before.phase) * 0.3
                let late = lateness.seconds(
                    from: before.arrival - Timestamp(seconds: Self.interval),
                    to: after.arrival
                )
                #expect(
                    step < after.time - before.time + Self.delivery + late,
                    "\(before) \(after)"
                )
            }
            let top = sights.map(\.phase).max() ?? 0
            let end = try #require(sights.last { $0.isNew })
            let reply = end.arrival - Timestamp(seconds: end.time)
            let late = lateness.seconds(from: reply, to: end.arrival)
            #expect(abs(end.time - 2 * top * 0.3) < 2 * Self.interval + Self.delivery + late)
            #expect(try daemon.get("Swapped", of: .scene) == .boolean(false))
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
                let lateness = Lateness(session)
                var seen: [(light: Double, contrast: Int)] = []
                for _ in 0..<4 {
                    try daemon.call("Swap", of: .scene)
                    for _ in 0..<8 {
                        let frame = try reader.next()
                        let picture = StreamPicture(frame, size: DaemonTests.size)
                        let area = PixelRect(x: 560, y: 400, width: 160, height: 20)
                        let sight = (light: picture.mean(area), contrast: contrast(picture))
                        seen.append(sight)
                        // Either one or the other, and nothing between, unless no thread could
                        // decode the picture for most of the 0.2 s that it has.
                        let isDull = sight.contrast < 6 && abs(sight.light - 50) < 4
                        guard !isDull, sight.contrast <= 150 else { continue }
                        let late = lateness.seconds(
                            from: frame.arrival - Timestamp(seconds: 0.4),
                            to: frame.arrival
                        )
                        #expect(late > 0.1, "\(sight)")
                    }
                }
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
