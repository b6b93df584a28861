import DualCamCore
import Frames
import Glibc
import Testing

@testable import Capture
@testable import PipeWire

@Suite("Cameras that only PipeWire has") struct PipeWireCameraTests {
    private func camera(
        _ name: String,
        device: String = "",
        title: String = "",
        role: String = "Camera",
        path: String = "",
        location: String = ""
    ) -> PipeWireObject.Camera {
        PipeWireObject.Camera(
            name: name,
            serial: "7",
            client: "3",
            device: device,
            title: title,
            role: role,
            path: path,
            location: location
        )
    }

    @Test func aPhoneAndABuiltInCameraAreTaken() {
        let phone = camera("phone", title: "Pixel")
        #expect(phone.asDevice?.identity == "pipewire:phone")
        #expect(phone.asDevice?.name == "Pixel")
        #expect(phone.asDevice?.isCalled("pipewire:phone") == true)
        #expect(phone.asDevice?.refusal == nil)
        let builtIn = camera(
            "libcamera_input.__SB_.PC00.LNK1",
            title: "Built-in Front Camera",
            path: "libcamera:\\_SB_.PC00.LNK1"
        )
        #expect(builtIn.asDevice?.name == "Built-in Front Camera")
    }

    @Test func libcameraSaysWhichWayACameraFaces() {
        let rows: [(String, CameraDevice.Orientation?, isFixed: Bool)] = [
            ("front", .front, true), ("back", .back, true), ("external", .external, false),
            ("", nil, false), ("upwards", nil, false),
        ]
        for row in rows {
            let device = camera("lid", path: "libcamera:\\_SB_.LNK1", location: row.0).asDevice
            #expect(device?.orientation == row.1, "\(row.0)")
            #expect(device?.isFixed == row.isFixed, "\(row.0)")
            // It is as good as a device: nothing but libcamera drives it.
            #expect(device?.isRelay == false)
        }
        #expect(camera("phone", location: "front").asDevice?.isRelay == true)
    }

    @Test func `a program that takes our pictures, or those made of them, shows echoes`() {
        var list = PipeWireCameraList()
        func program(_ client: UInt32, _ process: String) {
            list.add(client, .client(process: process, name: "", application: ""))
        }
        func source(_ id: UInt32, of client: UInt32) {
            var source = camera("camera \(id)")
            source.client = "\(client)"
            list.add(id, .camera(source))
        }
        program(1, "\(getpid())")
        source(10, of: 1)
        // A relay with a connection for each direction.
        for client: UInt32 in [2, 3] { program(client, "1000") }
        list.add(20, .node(client: "2"))
        source(30, of: 3)
        // What passes the relay's pictures on, and a bystander.
        program(4, "2000")
        list.add(40, .node(client: "4"))
        source(41, of: 4)
        program(5, "3000")
        source(50, of: 5)
        // Nothing is known of these two.
        for client: UInt32 in [6, 7] { program(client, "") }
        list.add(60, .node(client: "6"))
        source(70, of: 7)
        #expect(list.echoes == [10])
        list.add(100, .link(source: 10, target: 60))
        #expect(list.echoes == [10])
        list.add(101, .link(source: 10, target: 20))
        #expect(list.echoes == [10, 30])
        list.add(102, .link(source: 30, target: 40))
        #expect(list.echoes == [10, 30, 41])
        // We take the pictures of another.
        list.add(11, .node(client: "1"))
        list.add(103, .link(source: 50, target: 11))
        #expect(list.echoes == [10, 30, 41])
        list.remove(101)
        #expect(list.echoes == [10])
    }

    /// Nodes that stand for a V4L2 device or the stream, or that are no cameras.
    @Test func othersAreNot() {
        let usb = "libcamera:\\_SB_.PCI0.XHCI-5:1.0-046d:0825"
        for other in [
            camera("v4l2_input.pci", device: "/dev/video0", path: "v4l2:/dev/video0"),
            camera("libcamera_input.usb", path: usb), camera("dualcam"), camera("dualcam.back"),
            camera("x", title: "DualCam Front"), camera("obs-vcam"), camera("x", title: "OBS"),
            camera("screen", role: "Screen"), camera("screen", role: ""), camera(""),
        ] {
            #expect(other.asDevice == nil, "\(other)")
        }
    }

    /// GStreamer rounds each row up to 4 bytes, and its older versions do not say so; others put
    /// row to row.
    @Test(arguments: [true, false], [642, 644])
    func planesLieAsGStreamerAndOthersPutThem(isNamed: Bool, width: Int) {
        let rounded = (width + 3) / 4 * 4
        let half = (width / 2 + 3) / 4 * 4
        for (format, lengths) in [
            (PixelFormat.i420, [rounded, half, half]), (.nv12, [rounded, rounded]),
            (.i420, [width, width / 2, width / 2]), (.nv12, [width, width]),
        ] {
            let rows = [360, 180, 180].prefix(lengths.count)
            let block = BlockLayout(
                FrameLayout(size: Size(width: width, height: 360), format: format),
                stride: isNamed ? lengths[0] : 0,
                byteCount: zip(lengths, rows).map(*).reduce(0, +)
            )
            var end = 0
            for index in lengths.indices {
                let plane = block.plane(index)
                #expect(plane.offset == end && plane.stride == lengths[index], "\(format) \(index)")
                #expect(plane.rowBytes == (format == .i420 && index > 0 ? width / 2 : width))
                end += lengths[index] * rows[index]
            }
        }
    }
}
