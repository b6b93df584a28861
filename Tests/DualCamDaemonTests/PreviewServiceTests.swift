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
    private let scripted: Scripted
    private let callers = Callers()
    private let gate: Bell
    private let camera: ScriptedCamera
    private let stream: StreamService
    private var daemon: DualCamDaemon.Daemon { scripted.daemon }

    init() throws {
        scripted = try Scripted {
            for role in Role.allCases { $0.cameras[role].source = .test("bars") }
        }
        gate = try Bell()
        let camera = ScriptedCamera.counting(behind: gate)
        self.camera = camera
        stream = StreamService(
            scripted.daemon,
            SourceEditor(scripted.daemon, loop: scripted.loop, path: nil),
            PreviewService(scripted.daemon, loop: scripted.loop) { _ in camera },
            on: ObjectServer(port: callers, managing: DualCam.path)
        )
        scripted.daemon.find([
            CameraDevice(path: "/dev/video0", name: "Desk", identity: "v4l2:desk")
        ])
    }

    private var isOpen: Bool { camera.isOpen.withLock { $0 } }

    /// Has a program ask for a preview.
    private func open() throws {
        try callers.call(
            "OpenPreview",
            of: StreamInterface.name,
            [.string("v4l2:desk"), .named([:])],
            from: ":1.1"
        )
    }

    @Test(
        "nobody gets a first picture after cameras have to close, or waits for a device until then",
        arguments: [false, true]
    )
    func privacy(hangs: Bool) throws {
        if !hangs { gate.ring() }
        try open()
        if !hangs {
            // The first was sent, and the report of that waits for the loop.
            try eventually("a second picture") { camera.pictures.withLock { $0 } > 1 }
        }
        #expect(callers.sent.isEmpty)
        daemon.send(.privacy(.set(true)))
        #expect(callers.errors == ["Locked"])
        #expect(!daemon.state.isPrivate)
        gate.ring()
        try scripted.loop.wait(for: "the closed device") { daemon.state.isPrivate }
        #expect(!isOpen && callers.sent.count == 1)
    }

    @Test func `a camera to ignore is not opened, and closed once it is one`() throws {
        gate.ring()
        try open()
        try scripted.loop.wait(for: "a preview") { callers.sent.count == 1 }
        #expect(callers.errors.isEmpty && isOpen)
        var configuration = daemon.configuration
        configuration.ignoredCameras = ["/dev/video0"]
        daemon.reconfigure(configuration)
        try scripted.loop.wait(for: "a closed camera") { !isOpen }
        try open()
        #expect(callers.errors == ["Denied"])
        #expect(callers.refusal == "Desk is in [cameras] ignore, so DualCam does not open it.")
    }

    @Test func `a camera closes once the program has left that looks at it`() throws {
        gate.ring()
        try open()
        try scripted.loop.wait(for: "a preview") { callers.sent.count == 1 }
        #expect(isOpen)
        try open()
        #expect(callers.errors == ["Busy"])
        callers.leave(":1.1")
        try scripted.loop.wait(for: "a closed camera") { !isOpen }
    }
}
