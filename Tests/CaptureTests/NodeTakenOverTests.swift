import CV4L2
import DualCamCore
import Testing

@testable import Capture

@Suite("A camera's node") struct NodeTakenOverTests {
    private func camera(bus: String, isRelay: Bool = false) -> V4L2Source {
        let device = CameraDevice(
            path: "/dev/video0",
            name: "Desk",
            identity: "v4l2:desk",
            bus: bus,
            isRelay: isRelay
        )
        return V4L2Source(SourceUse(device))
    }

    /// A device at that node, at the place `bus`.
    private func device(bus: String, capabilities: Int32 = V4L2_CAP_VIDEO_CAPTURE) -> VideoDevice {
        let calls = ScriptedDevice()
        calls.answers[cv4l2_querycap] = { argument in
            let answer = argument.assumingMemoryBound(to: v4l2_capability.self)
            answer.pointee.capabilities =
                UInt32(capabilities) | UInt32(V4L2_CAP_STREAMING)
            withUnsafeMutableBytes(of: &answer.pointee.bus_info) {
                $0.copyBytes(from: Array(bus.utf8) + [0])
            }
            return 0
        }
        return VideoDevice(path: "/dev/video0", calls: calls)
    }

    private func error(_ camera: V4L2Source, _ device: VideoDevice) -> CaptureError.Code? {
        do throws(CaptureError) {
            try camera.check(device)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("is not opened once another device has it")
    func other() {
        let desk = camera(bus: "usb-1")
        #expect(error(desk, device(bus: "usb-1")) == nil)
        #expect(error(desk, device(bus: "usb-2")) == .gone)
        #expect(error(desk, device(bus: "")) == .gone)
        #expect(error(desk, device(bus: "usb-1", capabilities: 0)) == .gone)
    }

    @Test("is opened where its place is unknown, and where a program feeds it only later")
    func unknown() {
        #expect(error(camera(bus: ""), device(bus: "usb-2")) == nil)
        let relay = camera(bus: "platform:loopback", isRelay: true)
        #expect(error(relay, device(bus: "platform:loopback", capabilities: 0)) == nil)
        #expect(error(relay, device(bus: "platform:other", capabilities: 0)) == .gone)
    }
}
