import Control
import DBusKit
import Foundation
import Frames
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of how the device is held, reported by iio-sensor-proxy, which dbusmock plays.
    @Suite("Orientation", .timeLimit(.minutes(2)))
    struct OrientationTests {
        private static let proxy = "net.hadess.SensorProxy"
        private static let template = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Mocks/sensor_proxy.py").path
        private static let whole = Rect(DaemonTests.size)
        private static let configuration = DaemonTests.still(
            back: "test:bars",
            front: "test:bars",
            scene: "layout = \"single\""
        ).replacing(
            "source = \"test:bars\"",
            with: "source = \"test:bars\"\ncapture = \"1280x720@30\""
        )

        private func start(in session: PrivateSession) throws -> MockedService {
            let proxy = try MockedService(
                Self.proxy,
                at: "/net/hadess/SensorProxy",
                interface: Self.proxy,
                template: Self.template,
                on: .system,
                in: session
            )
            try proxy.set(internal: "HasAccelerometer", to: .boolean(true))
            return proxy
        }

        @Test func bothCamerasPicturesAreUprightHoweverItIsHeld() throws {
            let session = try PrivateSession(PrivateSession.Service.usual + [.systemBus])
            defer { session.close() }
            do {
                let daemon = try Daemon(Self.configuration, in: session)
                #expect(try daemon.get("SensorAvailable", of: .orientation) == .boolean(false))
                #expect(try daemon.get("Current", of: .orientation) == .string("normal"))
                var proxy: MockedService? = try start(in: session)
                try eventually("the sensor") {
                    try daemon.get("SensorAvailable", of: .orientation) == .boolean(true)
                }
                #expect(try proxy?.owners == 0, "no camera is open")
                let reader = try daemon.reader()
                defer { reader.close() }
                _ = try reader.picture("the camera") { $0[80, 200] == .gray(235) }
                try eventually("the claim") { try proxy?.owners == 1 }
                for (word, turns) in [
                    ("left-up", 1), ("bottom-up", 2), ("right-up", 3), ("normal", 0),
                ] {
                    try proxy?.set(internal: "AccelerometerOrientation", to: .string(word))
                    try eventually("\(word)") {
                        try daemon.get("Current", of: .orientation) == .string(word)
                    }
                    // The orientation is unknown, and nothing changes.
                    try proxy?.set(internal: "AccelerometerOrientation", to: .string("undefined"))
                    for isFront in [false, true] {
                        try daemon.set("Swapped", of: .scene, to: .boolean(isFront))
                        let mirror = Transform(mirrored: isFront)
                        let transform = Transform(quarterTurns: isFront ? -turns : turns)
                            .followed(by: mirror)
                        let size = transform.apply(to: DaemonTests.size)
                        let place = Self.whole.fitting(aspect: size.aspect)
                        // The place of the white bar, the first of eight.
                        let bar = transform.apply(toX: 40, y: 360, in: DaemonTests.size)
                        let x = Int(
                            place.x + (Double(bar.x) + 0.5) / Double(size.width) * place.width
                        )
                        let y = Int(
                            place.y + (Double(bar.y) + 0.5) / Double(size.height) * place.height
                        )
                        let picture = try reader.picture("\(word)") { $0[x, y] == .gray(235) }
                        expect(picture, shows: .bars, in: place, turned: transform, word)
                    }
                    try daemon.set("Swapped", of: .scene, to: .boolean(false))
                    #expect(try daemon.get("Current", of: .orientation) == .string(word))
                }

                // The proxy restarts, and is asked again.
                proxy?.end()
                proxy = nil
                try eventually("no sensor") {
                    try daemon.get("SensorAvailable", of: .orientation) == .boolean(false)
                }
                let second = try start(in: session)
                try eventually("the claim") { try second.owners == 1 }
                try second.set(internal: "AccelerometerOrientation", to: .string("left-up"))
                try eventually("left-up") {
                    try daemon.get("Current", of: .orientation) == .string("left-up")
                }
                try daemon.set("Mode", of: .orientation, to: .string("bottom-up"))
                #expect(try daemon.get("Current", of: .orientation) == .string("bottom-up"))
                try daemon.set("Mode", of: .orientation, to: .string("auto"))
                #expect(try daemon.get("Current", of: .orientation) == .string("left-up"))
                reader.close()
                try eventually("the release") { try second.owners == 0 }
                #expect(try daemon.end().exit == .status(0))
            } catch {
                session.printLogs()
                throw error
            }
        }
    }
}

extension MockedService {
    /// Changes a value of the mocked sensor, which is sent only to clients that claimed it.
    fileprivate func set(internal property: String, to value: Value) throws {
        let arguments: [Value] = [.string(name), .string(property), .variant(value)]
        try call("SetInternalProperty", of: "org.freedesktop.DBus.Mock", arguments)
    }

    /// The number of programs that have claimed the accelerometer.
    fileprivate var owners: Int {
        get throws {
            let list = try call(
                "GetInternalProperty",
                of: "org.freedesktop.DBus.Mock",
                [.string("AccelerometerOwners")]
            )
            return list.first?.array?.count ?? -1
        }
    }
}
