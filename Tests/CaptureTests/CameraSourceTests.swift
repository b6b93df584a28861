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
            guard let use = try SourceUse(source, role: .front, device: device) else { return nil }
            let made = try cameraSource(use, phones: Phones())
            #expect(made.identity == use.identity && made.name == use.name)
            #expect(made.place == use.place)
            return made.identity
        }
        #expect(try identity(.auto) == nil)
        #expect(try identity(.auto, Self.desk) == "v4l2:a-desk")
        #expect(try identity(.v4l2("usb-2"), Self.door) == "v4l2:b-door")
        #expect(try identity(.v4l2("usb-2")) == "v4l2:usb-2")
        #expect(try identity(.test(nil)) == "test:front")
        #expect(try identity(.test("bars")) == "test:bars")
        #expect(try identity(.pipewire("node")) == "pipewire:node")
        #expect(try identity(.test("bars-plain")) == "test:bars-plain")
        #expect(try identity(.file("/a/b.jpg")) == "file:/a/b.jpg")
        let address = try NetworkAddress(parsing: "http://phone:8080/video?key=1")
        #expect(try identity(.url(address))?.hasPrefix("url:http://phone:8080/video?") == true)
        #expect(try identity(.phone("work")) == "phone:work")
        let node = CameraDevice(path: "pipewire:n", name: "Node", identity: "pipewire:n")
        #expect(try identity(.auto, node) == "pipewire:n")
        let unknown = #expect(throws: UnknownTestPicture.self) { try identity(.test("bear")) }
        let same = #expect(throws: CaptureError.self) { try TestSource("bear", role: .front) }
        #expect(unknown.map { "\($0)" } == same.map { "\($0)" })
    }

    @Test func `a device that is not there is told from one that cannot be used`() throws {
        let request = CaptureRequest(size: Size(width: 640, height: 480), rate: 30)
        let error = #expect(throws: CaptureError.self) {
            let use = try SourceUse(.v4l2("no-such-camera"), role: .back, device: nil)
            return try use.map { try cameraSource($0) }?.open(request)
        }
        #expect(error?.code == .notFound)
        #expect(error?.interruption == .notFound)
        let gone = #expect(throws: CaptureError.self) {
            try cameraSource(SourceUse(Self.desk).absent).open(request)
        }
        #expect(gone?.interruption == .unplugged)
        #expect(error?.description.contains("no-such-camera") == true)
    }
}
