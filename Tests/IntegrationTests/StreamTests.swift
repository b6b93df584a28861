import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    @Suite("The stream", .timeLimit(.minutes(2)))
    struct StreamTests {
        /// Two test pictures whose counters can be read, in the main picture and in the inset.
        private static let counters = """
            [cameras.front]
            mirror = false
            source = "test"
            [cameras.back]
            source = "test"
            [scene]
            inset-size = 0.5
            inset-border = 0
            inset-radius = 0
            swap-icon = false
            """
        private static let inset = Rect(x: 614, y: 26, width: 640, height: 360)

        @Test func theNodeIsWhatApplicationsLookFor() throws {
            try Daemon.with(DaemonTests.still(back: "test", front: "test")) { daemon in
                let node = try #require(try Listed("dualcam", in: daemon.session))
                #expect(node.properties["media.class"] == "Video/Source")
                #expect(node.properties["media.role"] == "Camera")
                #expect(node.properties["node.description"] == "DualCam")
                #expect(try daemon.get("NodeId", of: .stream) == .uint32(node.id))

                // Plain values alone: an object or a list would be a choice.
                try #require(node.formats.count == 1)
                let format = node.formats[0]
                #expect(format["mediaType"] as? String == "video")
                #expect(format["mediaSubtype"] as? String == "raw")
                #expect(format["format"] as? String == "YUY2")
                #expect(format["size"] as? [String: Int] == ["width": 1280, "height": 720])
                #expect(format["framerate"] as? [String: Int] == ["num": 30, "denom": 1])

                let shown = try ["Width", "Height", "FrameRate", "Consumers"].map {
                    try daemon.get($0, of: .stream).integer
                }
                #expect(shown == [1280, 720, 30, 0])
                #expect(try daemon.get("PixelFormat", of: .stream) == .string("YUY2"))
                #expect(try daemon.get("State", of: .stream) == .string("idle"))
                #expect(try daemon.problems == [])
            }
        }

        @Test func threeHundredFramesCarryEveryFrameOfTheCameras() throws {
            try Daemon.with(Self.counters) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                _ = try reader.picture("both cameras") {
                    $0.counter(of: DaemonTests.size, in: Self.inset, bits: 12) != nil
                        && $0.counter(of: DaemonTests.size, in: Rect(DaemonTests.size)) != nil
                }
                let format = try #require(reader.format)
                #expect(format.size == DaemonTests.size && format.rate == (30, 1))
                #expect(format.color == .video)

                // A machine with more to do than it can may lose a frame through nobody's fault.
                var troubles: [String] = []
                for _ in 0..<3 {
                    let trouble = try Self.troubles(of: reader, count: 300)
                    if trouble.isEmpty { return }
                    troubles.append(trouble)
                }
                Issue.record("not every frame: \(troubles)")
            }
        }

        /// What is wrong with the next `count` frames; empty when nothing is.
        private static func troubles(of reader: StreamReader, count: Int) throws -> String {
            let size = DaemonTests.size
            var last: (sequence: UInt64, main: Int, inset: Int, pts: Timestamp)?
            var times: [Timestamp] = []
            var stamps: [Timestamp] = []
            var steps = (sequence: 0, main: 0, inset: 0)
            var delays: [Double] = []
            reader.flush()
            for _ in 0..<count {
                let frame = try reader.next()
                let picture = Picture(frame, size: size)
                let pts = try #require(frame.pts)
                #expect(frame.stride == 2560 && frame.bytes.count == 2560 * 720)
                #expect(frame.transform == 0)
                let main = try #require(picture.counter(of: size, in: Rect(size)), "torn")
                let other = try #require(
                    picture.counter(of: size, in: Self.inset, bits: 12),
                    "torn in the inset"
                )
                if let last {
                    #expect(pts > last.pts)
                    #expect(other >= last.inset || last.inset > 4000)
                    if frame.sequence != last.sequence + 1 { steps.sequence += 1 }
                    if main != last.main + 1 { steps.main += 1 }
                    if !(0...2).contains(other - last.inset) { steps.inset += 1 }
                }
                last = (frame.sequence, main, other, pts)
                times.append(frame.arrival)
                stamps.append(pts)
                delays.append((frame.arrival - pts).seconds)
            }
            let rate = Double(count - 1) / (times[count - 1] - times[0]).seconds
            let stampRate = Double(count - 1) / (stamps[count - 1] - stamps[0]).seconds
            delays.sort()
            let summary = """
                \(rate) frames a second by arrival, \(stampRate) by pts; camera to consumer \
                \(milliseconds(delays[count / 2])), at worst \(milliseconds(delays[count - 1])); \
                not the next one: \(steps)
                """
            print(summary)
            let isRight =
                abs(rate / 30 - 1) <= 0.01 && abs(stampRate / 30 - 1) <= 0.01
                && steps == (0, 0, 0)
            return isRight ? "" : summary
        }

        @Test func threeConsumersAtOnceAreServed() throws {
            try Daemon.with(Self.counters) { daemon in
                let readers = try (0..<2).map { _ in
                    try StreamReader("dualcam", in: daemon.session)
                }
                defer { for reader in readers { reader.close() } }
                let gstreamer = try daemon.session.run(
                    "gst-launch-1.0",
                    "pipewiresrc",
                    "target-object=dualcam",
                    "num-buffers=60",
                    "!",
                    "video/x-raw,format=YUY2,width=1280,height=720",
                    "!",
                    "fakesink"
                )
                try eventually("three consumers", within: 10) {
                    try daemon.get("Consumers", of: .stream) == .uint32(3)
                }
                try eventually("live pictures") {
                    try daemon.get("State", of: .stream) == .string("streaming")
                }
                for reader in readers {
                    reader.flush()
                    let frames = try reader.frames(60, within: 8)
                    let steps = frames[59].sequence - frames[0].sequence
                    #expect(steps < 59 + 4, "\(steps) steps in 60 frames")
                }
                #expect(try gstreamer.wait(within: 15) == .status(0))
                try eventually("two consumers") {
                    try daemon.get("Consumers", of: .stream) == .uint32(2)
                }
            }
        }

        @Test func aHundredConsumersComeAndGo() throws {
            let output = "[output]\nwidth = 320\nheight = 240\n"
            try Daemon.with(output + Self.counters) { daemon in
                let files = "/proc/\(daemon.program.id)/fd"
                var descriptors = 0
                for turn in 0..<100 {
                    let reader = try StreamReader("dualcam", in: daemon.session)
                    defer { reader.close() }
                    _ = try reader.next()
                    if turn == 9 { descriptors = try count(files) }
                }
                try eventually("nobody to look") {
                    try daemon.get("Consumers", of: .stream) == .uint32(0)
                }
                try eventually("descriptors to be closed, had \(descriptors)") {
                    try count(files) <= descriptors
                }
                #expect(try daemon.problems == [])
            }
        }

        private func count(_ directory: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: directory).count
        }

        @Test func camerasAreOpenWhileSomebodyLooks() throws {
            try Daemon.with(Self.counters) { daemon in
                let cameras = [DualCam.backPath, DualCam.frontPath]
                func states() throws -> [String] { try cameras.map { try daemon.state(of: $0) } }
                #expect(try states() == ["closed", "closed"])
                #expect(try daemon.get("Width", of: .camera, at: DualCam.backPath) == .uint32(0))

                let reader = try StreamReader("dualcam", in: daemon.session)
                _ = try reader.next()
                try eventually("open cameras") { try states() == ["streaming", "streaming"] }
                let width = try daemon.get("Width", of: .camera, at: DualCam.backPath)
                #expect(width == .uint32(1280))
                let captured = try daemon.get("FramesCaptured", of: .camera, at: DualCam.backPath)
                #expect((captured.integer ?? 0) > 0)

                // Some consumers pause for less than half a second while they set up.
                try daemon.forgetSignals()
                for _ in 0..<3 {
                    reader.setActive(false)
                    try eventually("nobody to look") {
                        try daemon.get("State", of: .stream) == .string("idle")
                    }
                    reader.setActive(true)
                    try eventually("somebody to look") {
                        try daemon.get("State", of: .stream) == .string("streaming")
                    }
                }
                try daemon.settle()
                for camera in cameras {
                    let states = daemon.changes(of: .camera, at: camera).compactMap { $0["State"] }
                    #expect(states == [])
                }

                reader.close()
                try eventually("nobody to look") {
                    try daemon.get("State", of: .stream) == .string("idle")
                }
                let start = MonotonicClock.now
                try eventually("closed cameras", within: 3) {
                    try states() == ["closed", "closed"]
                }
                let time = (MonotonicClock.now - start).seconds
                print("cameras closed \(milliseconds(time)) after the last consumer left")
                #expect((0.4...1).contains(time))
            }
        }
    }
}
