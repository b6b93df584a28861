import Capture
import DualCamCore
import Frames
import Testing

@Suite struct CameraSourceTests {
    private static let desk = CameraDevice(
        path: "/dev/video0",
        name: "Desk",
        identity: "v4l2:a-desk"
    )
    private static let door = CameraDevice(
        path: "/dev/video2",
        name: "Door",
        identity: "v4l2:b-door"
    )

    @Test func `a source is made of what the configuration says`() throws {
        func identity(
            _ source: SourceSpecification,
            _ device: CameraDevice? = nil
        ) throws -> String? {
            try cameraSource(source, role: .front, device: device)?.identity
        }
        #expect(try identity(.auto) == nil)
        #expect(try identity(.auto, Self.desk) == "v4l2:a-desk")
        #expect(try identity(.v4l2("usb-2"), Self.door) == "v4l2:b-door")
        #expect(try identity(.v4l2("usb-2")) == "v4l2:usb-2")
        #expect(try identity(.test(nil)) == "test:front")
        #expect(try identity(.test("bars")) == "test:bars")
        #expect(try identity(.pipewire("node")) == "pipewire:node")
        #expect(throws: CaptureError.self) { try identity(.test("bear")) }
    }

    @Test func `a device that is not there is told from one that cannot be used`() throws {
        let request = CaptureRequest(size: Size(width: 640, height: 480), rate: 30)
        let error = #expect(throws: CaptureError.self) {
            try V4L2Source(named: "no-such-camera").open(request)
        }
        #expect(error?.code == .notFound)
        #expect(error?.interruption == .notFound)
        let gone = #expect(throws: CaptureError.self) {
            try V4L2Source(missing: "v4l2:usb-1", name: "Desk").open(request)
        }
        #expect(gone?.interruption == .unplugged)
        #expect(error?.description.contains("no-such-camera") == true)
    }
}
