import CV4L2
import DualCamCore
import Frames
import Glibc
import Platform
import Testing

@testable import Capture

/// HDMI bridges and sticks, and analogue video: devices whose inputs have a signal, or none.
@Suite("The signal at a device's input") struct SignalTests {
    private struct Input {
        var type = UInt32(V4L2_INPUT_TYPE_CAMERA)
        var status: UInt32 = 0
        var capabilities: UInt32 = 0
        /// The timings of its signal, or the errno of asking for them.
        var timings: (size: Size, errno: CInt) = (Size(width: 1920, height: 1080), 0)
        var standard: v4l2_std_id = 0

        static let hdmi = Input(capabilities: UInt32(V4L2_IN_CAP_DV_TIMINGS))
        static let analogue = Input(capabilities: UInt32(V4L2_IN_CAP_STD))
        static func hdmi(_ errno: CInt) -> Input {
            var input = hdmi
            input.timings.errno = errno
            return input
        }
    }

    private final class Device {
        let calls = ScriptedDevice()
        var inputs: [Input]
        var selected: UInt32 = 0
        var timings = Size(width: 640, height: 480)
        var standard: v4l2_std_id = 0
        var events: [UInt32] = []
        lazy var device = VideoDevice(path: "/dev/videoX", calls: calls)

        init(_ inputs: [Input]) {
            self.inputs = inputs
            calls.on(cv4l2_g_input, UInt32.self) { [unowned self] in
                $0 = selected
                return self.inputs.isEmpty ? ENOTTY : 0
            }
            calls.on(cv4l2_s_input, UInt32.self) { [unowned self] in
                selected = $0
                return 0
            }
            calls.on(cv4l2_enuminput, v4l2_input.self) { [unowned self] in
                guard self.inputs.indices.contains(Int($0.index)) else { return EINVAL }
                let input = self.inputs[Int($0.index)]
                $0.type = input.type
                $0.capabilities = input.capabilities
                // True only while it is selected.
                $0.status = $0.index == selected ? input.status : 0
                return 0
            }
            calls.on(cv4l2_query_dv_timings, v4l2_dv_timings.self) { [unowned self] in
                let found = self.inputs[Int(selected)].timings
                $0.bt.width = UInt32(found.size.width)
                $0.bt.height = UInt32(found.size.height)
                return found.errno
            }
            calls.on(cv4l2_g_dv_timings, v4l2_dv_timings.self) { [unowned self] in
                $0.bt.width = UInt32(timings.width)
                $0.bt.height = UInt32(timings.height)
                return 0
            }
            calls.on(cv4l2_s_dv_timings, v4l2_dv_timings.self) { [unowned self] in
                timings = Size(width: Int($0.bt.width), height: Int($0.bt.height))
                return 0
            }
            calls.on(cv4l2_querystd, v4l2_std_id.self) { [unowned self] in
                $0 = self.inputs[Int(selected)].standard
                return 0
            }
            calls.on(cv4l2_g_std, v4l2_std_id.self) { [unowned self] in
                $0 = standard
                return 0
            }
            calls.on(cv4l2_s_std, v4l2_std_id.self) { [unowned self] in
                standard = $0
                return 0
            }
            calls.on(cv4l2_subscribe_event, v4l2_event_subscription.self) { _ in 0 }
            calls.on(cv4l2_dqevent, v4l2_event.self) { [unowned self] in
                guard !events.isEmpty else { return ENOENT }
                $0.type = events.removeFirst()
                return 0
            }
        }
    }

    @Test func `is taken over with its timings, or its standard`() throws {
        let hdmi = Device([.hdmi])
        try hdmi.device.followSignal()
        #expect(hdmi.timings == Size(width: 1920, height: 1080) && hdmi.device.watchesSignal)
        #expect(hdmi.calls.log.contains(cv4l2_s_dv_timings))
        // The same ones are not set again, which would stop another program's stream.
        let count = hdmi.calls.log.count { $0 == cv4l2_s_dv_timings }
        try hdmi.device.followSignal()
        #expect(hdmi.calls.log.count { $0 == cv4l2_s_dv_timings } == count)

        var input = Input.analogue
        input.standard = 0xff
        let analogue = Device([input])
        analogue.standard = 0xb000
        try analogue.device.followSignal()
        #expect(analogue.standard == 0xff)
    }

    @Test("that there is not is told as that, and comes by itself")
    func none() throws {
        var dark = Input.analogue
        dark.status = UInt32(V4L2_IN_ST_NO_SIGNAL)
        for input in [.hdmi(ENOLINK), .hdmi(ENOLCK), .hdmi(ERANGE), dark, .analogue] {
            let device = Device([input])
            let error = #expect(throws: CaptureError.self) { try device.device.followSignal() }
            #expect(error?.code == .noSignal && error?.interruption == .noSignal)
            #expect(Interruption.noSignal.text(for: .back) == "No signal")
            device.inputs[0] = .hdmi
            try device.device.followSignal()
        }
    }

    @Test func `is looked for at the other inputs, but not at a tuner`() throws {
        var tuner = Input()
        tuner.type = UInt32(V4L2_INPUT_TYPE_TUNER)
        let device = Device([.hdmi(ENOLINK), tuner, .hdmi(ENOLCK), .hdmi])
        try device.device.followSignal()
        #expect(device.selected == 3)
        // None of them has one: the input stays as it was chosen.
        device.inputs[3] = .hdmi(ENOLINK)
        #expect(throws: CaptureError.self) { try device.device.followSignal() }
        #expect(device.selected == 3)
        // A signal at the selected one is enough.
        device.inputs = [.hdmi, .hdmi]
        device.selected = 1
        try device.device.followSignal()
        #expect(device.selected == 1)
    }

    @Test("is no matter of most cameras, which are not asked for more than their inputs")
    func cameras() throws {
        for inputs in [[], [Input()], [Input(), Input()]] {
            let device = Device(inputs)
            try device.device.followSignal()
            #expect(
                Set(device.calls.log).isSubset(of: [cv4l2_g_input, cv4l2_enuminput])
                    && !device.device.watchesSignal
            )
        }
    }

    @Test func `ends the stream when it changes, and other events do not`() throws {
        let device = Device([.hdmi])
        try device.device.followSignal()
        let request = CaptureRequest(size: Size(width: 64, height: 32), rate: 30)
        let stream = try V4L2Source.stream(device.device, request)
        device.calls.events = CInt(POLLIN | POLLPRI)
        device.calls.isBroken = true
        device.events = [UInt32(V4L2_EVENT_EOS)]
        device.calls.deliveries = [.init(), .init()]
        guard case .frame = try stream.next(until: .zero, bell: try Bell()) else {
            Issue.record("no frame")
            return
        }
        device.events = [UInt32(V4L2_EVENT_CTRL), UInt32(V4L2_EVENT_SOURCE_CHANGE)]
        device.calls.deliveries = [.init()]
        let error = #expect(throws: CaptureError.self) {
            // Pictures that are there already come first.
            for _ in 0..<3 { _ = try stream.next(until: .zero, bell: try Bell()) }
        }
        #expect(error?.code == .newSignal)
    }
}
