import Capture
import Control
import Frames
import Platform
import Synchronization
import TestSupport
import Testing

@testable import DBusKit
@testable import DualCamCore
@testable import DualCamDaemon

@MainActor
@Suite("Previews on the bus", .timeLimit(.minutes(1)))
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
        let camera = try Gated()
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
        if !hangs { camera.gate.ring() }
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
        camera.gate.ring()
        try eventually("the closed device") {
            loop.runOnce(milliseconds: 5)
            return daemon.state.isPrivate
        }
        #expect(camera.isOpen.withLock { !$0 } && callers.sent.count == 1)
        withExtendedLifetime(stream) {}
    }
}

/// A camera that opens once its gate has rung.
private final class Gated: CameraSource {
    let name = "Gated", identity = "test:gated"
    let gate: Bell
    let pictures = Mutex(0)
    let isOpen = Mutex(false)

    init() throws { gate = try Bell() }

    func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        _ = gate.wait(until: nil)
        return Stream(self)
    }

    func openControls() throws(CaptureError) -> any ControlPort {
        throw CaptureError(.unsupported, "controls")
    }

    private final class Stream: CameraStream {
        let mode = CaptureMode(size: Size(width: 64, height: 48), rate: 100, format: .gray)
        private let source: Gated

        init(_ source: Gated) {
            self.source = source
            source.isOpen.withLock { $0 = true }
        }

        deinit { source.isOpen.withLock { $0 = false } }

        func suits(_ request: CaptureRequest) -> Bool { true }

        func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
            if bell.wait(until: MonotonicClock.now + Timestamp(seconds: 0.01)) { return .woken }
            let count = source.pictures.withLock { count in
                count += 1
                return count
            }
            let layout = FrameLayout(size: mode.size, format: .gray)
            return .frame(
                Frame(
                    buffer: FrameBuffer(byteCount: layout.byteCount),
                    layout: layout,
                    color: .jpeg,
                    timestamp: MonotonicClock.now,
                    sequence: UInt64(count)
                )
            )
        }
    }
}
