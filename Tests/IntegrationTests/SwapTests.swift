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

        @Test func itBeginsAtOnceAndEndsInTime() throws {
            try DaemonTests.withStill(duration: 300) { daemon, reader in
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
    }
}
