import Foundation
import Frames
import Glibc
import Platform
import Publish
import TestSupport
import Testing

@Suite("Node", .serialized, .timeLimit(.minutes(2)))
struct NodeTests {
    @Test func itSaysWhatConsumersLookFor() throws {
        try PrivateSession.with { session in
            let publisher = try Publisher(in: session)
            defer { publisher.close() }
            let node = try eventually("the node") { try Listed("dualcam", in: session) }
            #expect(node.id == publisher.record.id)
            #expect(node.properties["media.class"] == "Video/Source")
            #expect(node.properties["media.role"] == "Camera")
            #expect(node.properties["node.description"] == "DualCam")
            #expect(node.properties["node.nick"] == "DualCam")
            #expect(Int(node.properties["priority.session"] ?? "").map { $0 > 1000 } == true)
            #expect(node.properties["node.pause-on-idle"] == nil)

            // Plain values alone: an object or a list would be a choice, which browsers skip.
            try #require(node.formats.count == 1)
            let format = node.formats[0]
            #expect(format["mediaType"] as? String == "video")
            #expect(format["mediaSubtype"] as? String == "raw")
            #expect(format["format"] as? String == "YUY2")
            #expect(format["size"] as? [String: Int] == ["width": 1280, "height": 720])
            #expect(format["framerate"] as? [String: Int] == ["num": 30, "denom": 1])
        }
    }

    @Test func threeHundredFramesArriveWholeAndInTime() throws {
        try PrivateSession.with { session in
            let publisher = try Publisher(in: session)
            defer { publisher.close() }
            let reader = try StreamReader("dualcam", in: session, copies: true)
            defer { reader.close() }
            var frames: [StreamReader.Frame] = []
            while frames.count < 300 {
                var frame = try reader.next()
                try #require(frame.bytes.count == 1280 * 720 * 2)
                let (first, last) = frame.bytes.withUnsafeBytes {
                    (
                        $0.load(as: UInt64.self),
                        $0.load(fromByteOffset: $0.count - 8, as: UInt64.self)
                    )
                }
                #expect(first == frame.sequence && last == frame.sequence, "a torn frame")
                frame.bytes = []
                frames.append(frame)
            }
            let format = try #require(reader.format)
            #expect(format.size == Size(width: 1280, height: 720))
            #expect(format.rate == (30, 1))
            #expect(format.color == .video)

            for (earlier, later) in zip(frames, frames.dropFirst()) {
                #expect(later.sequence == earlier.sequence + 1)
                let (before, after) = (try #require(earlier.pts), try #require(later.pts))
                #expect(before < after)
            }
            #expect(frames.allSatisfy { $0.stride == 1280 * 2 && $0.transform == 0 })
            #expect(frames.allSatisfy { $0.isDiscontinuous == ($0.sequence == 0) })
            let rate = 299 / (frames[299].arrival - frames[0].arrival).seconds
            #expect(abs(rate / 30 - 1) < 0.01, "\(rate) frames a second")
            let delays = frames.map { ($0.arrival - ($0.pts ?? .zero)).seconds * 1000 }.sorted()
            print(
                "rate \(rate), pts to consumer: median \(delays[150]) ms, worst \(delays[299]) ms"
            )
        }
    }

    @Test func threeConsumersAtOnceGetEveryFrame() throws {
        try PrivateSession.with { session in
            let publisher = try Publisher(in: session)
            defer { publisher.close() }
            let readers = try (0..<2).map { _ in try StreamReader("dualcam", in: session) }
            defer { for reader in readers { reader.close() } }
            let gstreamer = try session.run(
                "gst-launch-1.0",
                "pipewiresrc",
                "target-object=dualcam",
                "num-buffers=60",
                "!",
                "video/x-raw",
                "!",
                "fakesink"
            )
            try eventually("three consumers", within: 10) { publisher.record.consumers == 3 }
            for reader in readers { reader.flush() }
            for reader in readers {
                let frames = try reader.frames(60, within: 5)
                #expect(frames[59].sequence - frames[0].sequence == 59)
            }
            #expect(try gstreamer.wait(within: 10) == .status(0))
            try eventually("two consumers") { publisher.record.consumers == 2 }
            #expect(publisher.record.dropped == 0)
        }
    }

    @Test func aHundredConsumersComeAndGo() throws {
        try PrivateSession.with { session in
            let publisher = try Publisher(in: session, size: Size(width: 320, height: 240))
            defer { publisher.close() }
            let id = try eventually("the node") { publisher.record.id }
            var descriptors = 0
            for turn in 0..<100 {
                let reader = try StreamReader("dualcam", in: session)
                defer { reader.close() }
                _ = try reader.next()
                if turn == 9 { descriptors = openDescriptors() }
            }
            try eventually("the last one to be gone") {
                !publisher.record.isStreaming && publisher.record.consumers == 0
            }
            #expect(publisher.record.id == id)
            #expect(openDescriptors() <= descriptors)
        }
    }
}

/// The descriptors that this process has open.
func openDescriptors() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
}

/// A node as PipeWire lists it for everybody (`pw-dump`).
struct Listed {
    let id: UInt32
    let properties: [String: String]
    let formats: [[String: Any]]

    /// The node called `name`; `nil` while there is none.
    init?(_ name: String, in session: PrivateSession) throws {
        let text = try session.output("pw-dump")
        guard
            let objects = try JSONSerialization.jsonObject(with: Data(text.utf8))
                as? [[String: Any]]
        else { return nil }
        for object in objects {
            guard let content = object["info"] as? [String: Any],
                let properties = content["props"] as? [String: Any],
                properties["node.name"] as? String == name,
                let parameters = content["params"] as? [String: Any],
                let id = object["id"] as? Int
            else { continue }
            self.id = UInt32(id)
            self.properties = properties.mapValues { "\($0)" }
            formats = parameters["EnumFormat"] as? [[String: Any]] ?? []
            return
        }
        return nil
    }
}
