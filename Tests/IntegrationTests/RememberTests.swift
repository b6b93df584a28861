import Control
import DBusKit
import Foundation
import TestSupport
import Testing

extension DaemonTests {
    @Suite("What was set", .timeLimit(.minutes(2)))
    struct RememberTests {
        /// What the daemon says of all that is set below.
        private func settings(_ daemon: Daemon) throws -> [Value] {
            [
                try daemon.get("Mirror", of: .camera, at: DualCam.frontPath),
                try daemon.get("Rotation", of: .camera, at: DualCam.backPath),
                try daemon.get("Mode", of: .orientation), try daemon.get("Layout", of: .scene),
                try daemon.get("SwapIcon", of: .scene), try daemon.get("Hud", of: .scene),
                try daemon.get("LivePhoto", of: .capture), try daemon.get("Title", of: .scene),
                try daemon.get("Ink", of: .camera, at: DualCam.backPath),
                try daemon.get("Perspective", of: .camera, at: DualCam.backPath),
                try daemon.get("Enabled", of: .pro),
                try daemon.get("WhiteBalance", of: .controls, at: DualCam.backPath),
                try daemon.get("Swapped", of: .scene),
            ]
        }

        @Test("survives a restart without being asked to, and not after a reset")
        func remembered() throws {
            let still = DaemonTests.still(back: "test:bars", front: "test:ramp")
            try PrivateSession.with { session in
                let first = try Daemon(still, in: session)
                let configured = try settings(first)
                let front = DualCam.frontPath
                try first.camera(front).set(\.mirror, false)
                try first.back.set(\.rotation, 180)
                try first.orientation.set(\.mode, "left-up")
                try first.scene.set(\.layout, "stacked")
                try first.scene.set(\.swapIcon, false)
                try first.scene.set(\.hud, "always")
                try first.capture.set(\.livePhoto, true)
                try first.scene.set(\.title, "Ada\nEngines")
                try first.back.set(\.ink, true)
                _ = try session.output(
                    Programs.path(of: "dualcamctl"),
                    "perspective",
                    "set",
                    "0.2,0.1",
                    "0.8,0.1",
                    "0.9,0.9",
                    "0.1,0.9"
                )
                try first.pro.set(\.enabled, true)
                try first.backControls.call(\.setWhiteBalance, "shade")
                try first.scene.set(\.swapped, true)
                let changed = try settings(first)
                #expect(zip(changed, configured).allSatisfy { $0 != $1 })
                #expect(try first.end().exit == .status(0))

                // Each run begins with the same main picture.
                let second = try Daemon(still, in: session)
                #expect(try settings(second) == changed.dropLast() + [.boolean(false)])
                try second.scene.set(\.swapped, true)
                #expect(try second.end().exit == .status(0))

                // What the file says anew counts, and the swap where it is wanted.
                let file = still + "\nhud = \"off\"\n[state]\nremember = true\n"
                let third = try Daemon(file, in: session)
                #expect(try third.scene.get(\.hud) == "off")
                #expect(try third.scene.get(\.swapped) == true)
                _ = try session.output(Programs.path(of: "dualcamctl"), "reset")
                #expect(
                    try settings(third)
                        == configured.map { $0 == .string("pro") ? .string("off") : $0 }
                )
                // At once: a crash does not bring it back.
                let state = "\(session.directory)/home/.local/state/dualcam/state.toml"
                try eventually("the reset on the disk") {
                    try !String(contentsOfFile: state, encoding: .utf8).contains("mirror")
                }
                third.program.signal(SIGKILL)
                _ = try third.program.wait()
                let fourth = try Daemon(still, in: session)
                #expect(try settings(fourth) == configured)
            }
        }

        @Test("is forgotten where that is wanted")
        func forgotten() throws {
            let still =
                DaemonTests.still(back: "test:bars", front: "test:ramp")
                + "\n[state]\nremember = false\n"
            try PrivateSession.with { session in
                let first = try Daemon(still, in: session)
                try first.scene.set(\.layout, "stacked")
                #expect(try first.end().exit == .status(0))
                let second = try Daemon(still, in: session)
                #expect(try second.scene.get(\.layout) == "pip")
            }
        }
    }
}
