import Capture
import Control
import Platform
import Synchronization
import TestCameras
import TestSupport
import Testing

@testable import DBusKit
@testable import DualCamCore
@testable import DualCamDaemon

@MainActor
@Suite("Previews on the bus", .timeLimit(.minutes(5)))
struct PreviewServiceTests {
    @Test(
        "nobody gets a first picture after cameras have to close, or waits for a device until then",
        arguments: [false, true]
    )
    func privacy(hangs: Bool) throws {
        let scripted = try Scripted {
            for role in Role.allCases { $0.cameras[role].source = .test("bars") }
        }
        let (daemon, loop, callers) = (scripted.daemon, scripted.loop, Callers())
        let gate = try Bell()
        let camera = CountedCamera(behind: gate)
        let previews = PreviewService(daemon, loop: loop) { _ in camera }
        let stream = StreamService(
            daemon,
            SourceEditor(daemon, loop: loop, path: nil),
            previews,
            on: ObjectServer(port: callers, managing: DualCam.path)
        )
        daemon.camerasChanged([
            CameraDevice(path: "/dev/video0", name: "Desk", identity: "v4l2:desk")
        ])
        if !hangs { gate.ring() }
        try callers.call(
            "OpenPreview",
            of: StreamInterface.name,
            [.string("v4l2:desk"), .named([:])],
            from: ":1.1"
        )
        if !hangs {
            // The first was sent, and the report of that waits for the loop.
            try eventually("a second picture") { camera.pictures.withLock { $0 } > 1 }
        }
        #expect(callers.sent.isEmpty)
        daemon.send(.privacy(.set(true)))
        #expect(callers.errors == ["Locked"])
        #expect(!daemon.state.isPrivate)
        gate.ring()
        try eventually("the closed device") {
            loop.runOnce(milliseconds: 5)
            return daemon.state.isPrivate
        }
        #expect(camera.isOpen.withLock { !$0 } && callers.sent.count == 1)
        withExtendedLifetime(stream) {}
    }
}
