import Capture
import DualCamCore
import PipeWire
import Testing

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
}
