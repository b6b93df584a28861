import Foundation
import Frames
import Glibc
import PipeWire
import Platform
import TestSupport
import Testing

extension PipeWireNodeTests {
    @Suite("What consumers get", .timeLimit(.minutes(5)))
    struct ConsumerTests {
        private static let small = Size(width: 64, height: 48)

        @Test func noFrameIsTorn() throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session)
                defer { publisher.close() }
                let reader = try StreamReader("dualcam", in: session, copies: true)
                defer { reader.close() }
                var clocked = 0
                for _ in 0..<100 {
                    let frame = try reader.next()
                    // Not always: a reader that is late sees the clock of the frame after.
                    clocked += frame.clock == frame.pts ? 1 : 0
                    try #require(frame.bytes.count == 1280 * 720 * 2)
                    let (first, last) = frame.bytes.withUnsafeBytes { bytes in
                        (
                            bytes.load(as: UInt64.self),
                            bytes.load(fromByteOffset: bytes.count - 8, as: UInt64.self)
                        )
                    }
                    #expect(first == frame.sequence && last == frame.sequence)
                }
                #expect(clocked > 50)
            }
        }

        /// A sink that keeps time by the pipeline's clock, which since PipeWire 1.4 is the graph's
        /// own, and leaves out what comes too late, as video sinks do.
        @Test(arguments: [0.0, 3.0])
        func aConsumerThatKeepsTimeGetsEveryFrame(afterIdleSeconds idle: Double) throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session)
                defer { publisher.close() }
                _ = try eventually("the node") { publisher.record.id }
                if idle > 0 {
                    let reader = try StreamReader("dualcam", in: session)
                    _ = try reader.frames(10, within: 10)
                    reader.close()
                    try eventually("nobody to look") { !publisher.record.isStreaming }
                    let start = publisher.record.age
                    try eventually("an idle gap", within: idle + 2) {
                        publisher.record.age - start > idle
                    }
                }
                let gstreamer = try session.gstreamer(
                    """
                    -v pipewiresrc target-object=dualcam ! video/x-raw ! identity name=came \
                    silent=false ! fakesink name=shown silent=false sync=true qos=true \
                    max-lateness=500000000 num-buffers=60
                    """
                )
                #expect(try gstreamer.wait(within: 20) == .status(0), "\(gstreamer.errors)")
                let came = counters(at: "came", in: gstreamer.output)
                let shown = counters(at: "shown", in: gstreamer.output)
                try #require(shown.count == 60)
                #expect(shown == Array(came.prefix(60)))
                // By the stream's own count; where PipeWire's graph is late it leaves one out.
                #expect(shown[59] - shown[0] < 60 + 3)
            }
        }

        private func counters(at name: String, in output: String) -> [Int] {
            output.split(separator: "\n").compactMap { line in
                guard line.contains("last-message = chain"), line.contains("(\(name):sink)")
                else { return nil }
                return line.firstMatch(of: /offset: (\d+),/).flatMap { Int($0.output.1) }
            }
        }

        /// OBS wants pointers alone, others take what comes; all share the buffers of the first.
        @Test(arguments: [
            [StreamReader.Memory.pointer, .any], [.any, .pointer], [.pointer],
        ])
        func eachGetsTheMemoryThatItWants(_ kinds: [StreamReader.Memory]) throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session)
                defer { publisher.close() }
                _ = try eventually("the node") { publisher.record.id }
                var readers: [StreamReader] = []
                defer { for reader in readers { reader.close() } }
                for kind in kinds {
                    readers.append(
                        try StreamReader("dualcam", in: session, memory: kind, copies: true)
                    )
                    for reader in readers {
                        reader.flush()
                        for frame in try reader.frames(3, within: 20) {
                            try #require(frame.bytes.count == 1280 * 720 * 2)
                            let sequence = frame.bytes.withUnsafeBytes { $0.load(as: UInt64.self) }
                            #expect(sequence == frame.sequence)
                        }
                    }
                }
            }
        }

        @Test func aConsumerThatCannotHaveWhatItWantsHarmsNobody() throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session)
                defer { publisher.close() }
                let reader = try StreamReader("dualcam", in: session)
                defer { reader.close() }
                _ = try reader.next()
                let other = try session.gstreamer(
                    """
                    -v pipewiresrc target-object=dualcam ! video/x-raw,width=640,height=480 ! \
                    fakesink silent=false
                    """
                )
                // It is linked for a moment. Then GStreamer 1.22 gives up; 1.26 waits for ever.
                try eventually("the other one", within: 10) {
                    publisher.record.events.contains(.consumers(2))
                }
                try expectEveryFrame(reader, of: publisher)
                #expect(publisher.record.losses == 0)
                #expect(!other.output.contains("last-message = chain"))
                let hasGivenUp =
                    other.exit == .status(1) && other.errors.contains("not-negotiated")
                #expect(other.exit == nil || hasGivenUp, "\(other.errors)")
            }
        }

        @Test(arguments: [
            "slow", "hoarding", "inactive", "stopped", "stopped as it came", "killed",
        ])
        func aConsumerThatDoesNotReadHarmsNobody(how: String) throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session, size: Self.small, rate: 90)
                defer { publisher.close() }
                let reader = try StreamReader("dualcam", in: session)
                defer { reader.close() }
                _ = try reader.next()

                var other: StreamReader?
                defer { other?.close() }
                if how.hasPrefix("stopped") || how == "killed" {
                    let gstreamer = try session.gstreamer(
                        "-v pipewiresrc target-object=dualcam ! video/x-raw ! fakesink silent=false"
                    )
                    try eventually("two consumers", while: gstreamer) {
                        publisher.record.consumers == 2
                    }
                    if how != "stopped as it came" {
                        try eventually("its frames", while: gstreamer) {
                            gstreamer.output.contains("chain")
                        }
                    }
                    gstreamer.signal(how == "killed" ? SIGKILL : SIGSTOP)
                } else {
                    other = try StreamReader("dualcam", in: session)
                    _ = try other?.next()
                    switch how {
                    case "slow": other?.behave(.slow(seconds: 0.2))
                    case "hoarding": other?.behave(.hoarding)
                    default: other?.setActive(false)
                    }
                }
                try expectEveryFrame(reader, of: publisher)
                // Nor does it keep others from coming, unless it was stopped while PipeWire agreed
                // on buffers with it: PipeWire then lets nobody in until it goes on or is killed.
                guard how != "stopped as it came" else { return }
                let late = try StreamReader("dualcam", in: session)
                defer { late.close() }
                try expectEveryFrame(late, of: publisher)
            }
        }

        /// All share the buffers of the first, of which there may be one.
        @Test(arguments: [1, 2, 3, 4])
        func aConsumerWithFewBuffersHarmsNobody(_ count: Int) throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session, size: Self.small, rate: 90)
                defer { publisher.close() }
                _ = try eventually("the node") { publisher.record.id }
                let first = try session.gstreamer(
                    """
                    -v pipewiresrc target-object=dualcam min-buffers=1 max-buffers=\(count) ! \
                    video/x-raw ! fakesink silent=false
                    """
                )
                func frames() -> Int { first.output.components(separatedBy: " chain ").count }
                // GStreamer waits with its only buffer for a second one.
                let most = count == 1 ? 0 : 30
                try eventually("its frames", while: first) { frames() > most }
                let reader = try StreamReader("dualcam", in: session)
                defer { reader.close() }
                _ = try reader.frames(60, within: 20)
                let before = frames()
                try eventually("more frames", while: first) { frames() >= before + most }
            }
        }

        @Test func oneConsumerThatHoldsEverythingLosesFramesButNotTheNode() throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session, size: Self.small, rate: 90)
                defer { publisher.close() }
                let hoarder = try StreamReader("dualcam", in: session, manner: .hoarding)
                try eventually("dropped frames") { publisher.record.dropped > 10 }
                hoarder.close()
                let reader = try StreamReader("dualcam", in: session)
                defer { reader.close() }
                try expectEveryFrame(reader, of: publisher)
                #expect(publisher.record.losses == 0)
            }
        }
    }
}
