import Control
import DBusKit
import Frames
import TestSupport
import Testing

extension DaemonTests {
    @Suite("Lenses and zoom", .timeLimit(.minutes(1)))
    struct LensTests {
        private func zoom(_ daemon: Daemon, _ zoom: Double, _ options: [String: Value]) throws {
            try daemon.send(
                "SetZoom",
                of: Interface.camera.name,
                at: DualCam.backPath,
                [.double(zoom), .named(options)]
            )
        }

        /// Expects the picture to be a ramp of which the part from `start` to `end` is seen.
        private func expectRamp(_ picture: Picture, _ start: Double, _ end: Double) {
            for x in stride(from: 10, to: 1270, by: 60) {
                let place = start + (end - start) * (Double(x) + 0.5) / 1280
                let wanted = 16 + 219 * place
                #expect(abs(Double(picture[x, 600].y) - wanted) < 3, "at \(x)")
            }
        }

        @Test("a zoom shows the place that it is asked for, eased, in its range")
        func digital() throws {
            let configuration =
                DaemonTests.still(back: "test:ramp", front: "test:bars")
                .replacing("[scene]", with: "[scene]\nlayout = \"single\"")
            try Daemon.with(configuration) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                _ = try reader.picture("the ramp") { abs($0[640, 600].y - 126) < 3 }
                try zoom(
                    daemon,
                    4,
                    ["ramp-ms": .uint32(0), "at": .structure([.double(0.5), .double(0.5)])]
                )
                expectRamp(try reader.picture(), 0.375, 0.625)
                // The edge keeps the place from the middle.
                try zoom(
                    daemon,
                    2,
                    ["ramp-ms": .uint32(0), "at": .structure([.double(0.9), .double(0.5)])]
                )
                expectRamp(try reader.picture(), 0.5, 1)
                try zoom(daemon, 1, ["ramp-ms": .uint32(600)])
                _ = try reader.picture("a picture on the way") { (30...110).contains($0[4, 600].y) }
                _ = try reader.picture("the whole") { $0[4, 600].y < 20 }
                #expect(try daemon.get("Zoom", of: .camera, at: DualCam.backPath) == .double(1))
                #expect(throws: DBusError.self) { try zoom(daemon, 9, [:]) }
                #expect(throws: DBusError.self) { try zoom(daemon, .nan, [:]) }
                #expect(throws: DBusError.self) { try zoom(daemon, 2, ["ramp-ms": .int32(-1)]) }
                #expect(throws: DBusError.self) { try zoom(daemon, 2, ["at": .string("left")]) }
                #expect(try daemon.get("Zoom", of: .camera, at: DualCam.backPath) == .double(1))
            }
        }
    }
}
