import CV4L2
import DualCamCore
import Frames
import Glibc
import Platform
import Testing

@testable import Capture

/// A node whose controls answer as uvcvideo's do.
private final class ScriptedNode: VideoCalls {
    struct Control {
        var id: Int32
        var name: String
        var type = V4L2_CTRL_TYPE_INTEGER
        var range: ClosedRange<Int64> = 0...255
        var value: Int32 = 0
        var items: [Int: String] = [:]
        /// The automatic in charge of the value, unless that is 1 (manual) or 0 (off).
        var automatic: Int32?
    }

    var controls: [Control] = [
        Control(
            id: V4L2_CID_CAMERA_CLASS,
            name: "Camera Controls",
            type: V4L2_CTRL_TYPE_CTRL_CLASS
        ),
        Control(id: V4L2_CID_GAIN, name: "Gain", value: 32),
        Control(
            id: V4L2_CID_EXPOSURE_AUTO,
            name: "Auto Exposure",
            type: V4L2_CTRL_TYPE_MENU,
            range: 0...3,
            value: 3,
            items: [1: "Manual Mode", 3: "Aperture Priority Mode"]
        ),
        Control(
            id: V4L2_CID_EXPOSURE_ABSOLUTE,
            name: "Exposure Time, Absolute",
            range: 1...10000,
            value: 156,
            automatic: V4L2_CID_EXPOSURE_AUTO
        ),
        Control(id: V4L2_CID_PRIVACY, name: "Privacy", type: V4L2_CTRL_TYPE_BOOLEAN, range: 0...1),
    ]
    var errors: [UInt: [CInt]] = [:]
    var broken: Int32?
    var pending = 0
    private(set) var subscribed: [UInt32] = []
    let descriptor: CInt = -1

    subscript(id: Int32) -> Int32 {
        get { controls.first { $0.id == id }?.value ?? -1 }
        set {
            for index in controls.indices where controls[index].id == id {
                controls[index].value = newValue
            }
        }
    }

    private func flags(_ control: Control) -> UInt32 {
        var flags: UInt32 = control.id == V4L2_CID_PRIVACY ? 4 : 0
        if let automatic = control.automatic, self[automatic] != 1 { flags |= 0x10 }
        return flags
    }

    func ioctl(_ request: UInt, _ argument: UnsafeMutableRawPointer) -> CInt {
        if let error = errors[request]?.first {
            errors[request]?.removeFirst()
            return error
        }
        switch request {
        case cv4l2_query_ext_ctrl:
            let query = argument.assumingMemoryBound(to: v4l2_query_ext_ctrl.self)
            let next = UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
            let asked = query.pointee.id & ~next
            let sorted = controls.sorted { $0.id < $1.id }
            let found = sorted.first {
                query.pointee.id & next != 0 ? UInt32($0.id) > asked : UInt32($0.id) == asked
            }
            guard let control = found else { return EINVAL }
            if control.id == broken { return EIO }
            query.pointee.id = UInt32(control.id)
            query.pointee.type = control.type.rawValue
            query.pointee.minimum = control.range.lowerBound
            query.pointee.maximum = control.range.upperBound
            query.pointee.step = 1
            query.pointee.flags = flags(control)
            withUnsafeMutableBytes(of: &query.pointee.name) {
                $0.copyBytes(from: control.name.utf8)
            }
        case cv4l2_querymenu:
            let query = argument.assumingMemoryBound(to: v4l2_querymenu.self)
            let control = controls.first { UInt32($0.id) == query.pointee.id }
            guard let name = control?.items[Int(query.pointee.index)] else { return EINVAL }
            withUnsafeMutableBytes(of: &query.pointee.name) { $0.copyBytes(from: name.utf8) }
        case cv4l2_g_ext_ctrls, cv4l2_s_ext_ctrls:
            let list = argument.assumingMemoryBound(to: v4l2_ext_controls.self).pointee
            guard list.count == 1, let one = list.controls else { return EINVAL }
            guard let control = controls.first(where: { UInt32($0.id) == one.pointee.id }) else {
                return EINVAL
            }
            if request == cv4l2_g_ext_ctrls {
                one.pointee.value = control.value
            } else {
                guard flags(control) & 0x14 == 0 else { return EACCES }
                guard control.range.contains(Int64(one.pointee.value)) else { return ERANGE }
                self[control.id] = one.pointee.value
            }
        case cv4l2_subscribe_event:
            subscribed.append(
                argument.assumingMemoryBound(to: v4l2_event_subscription.self).pointee.id
            )
        case cv4l2_dqevent:
            guard pending > 0 else { return ENOENT }
            pending -= 1
        default: return ENOTTY
        }
        return 0
    }

    func map(offset: Int, length: Int) throws(SystemError) -> MappedMemory {
        throw SystemError("mmap", errno: EINVAL)
    }

    func wait(bell: Bell, until deadline: Timestamp) -> WaitResult { .due }
}

@Suite("A V4L2 camera's controls") struct VideoControlsTests {
    private let node = ScriptedNode()
    private let controls: VideoControls

    init() { controls = VideoControls(VideoDevice(path: "/dev/video9", calls: node)) }

    @Test("are listed with their purpose, names of menus and what has them")
    func list() throws {
        let list = try controls.controls()
        #expect(list.map(\.name) == ["gain", "auto_exposure", "exposure_time_absolute", "privacy"])
        #expect(list.map(\.purpose) == [.gain, .exposureMode, .exposureTime, nil])
        #expect(list.map(\.value) == [32, 3, 156, 0])
        #expect(list[1].kind == .menu && list[1].menu.map(\.index) == [1, 3])
        #expect(list[1].menu.last?.name == "Aperture Priority Mode")
        #expect(list[2].flags == .inactive && list[2].title == "Exposure Time, Absolute")
        #expect(list[3].flags == .readOnly && list[3].kind == .boolean)
    }

    @Test("are refused while an automatic has them, and taken once that is off")
    func order() throws {
        var list = try controls.controls()
        #expect(
            throws: ControlRefusal.notSupported(
                "exposure_time_absolute is set by the camera now. Turn off its automatic first."
            )
        ) {
            try controls.write(ControlWrite(list[2], 40))
        }
        var state = CameraControls()
        state.read(list)
        let plan = try state.plan(.shutter(4000))
        for write in plan.switches + plan.values { try controls.write(write) }
        try controls.update(&list) { _ in true }
        state.settle(plan, list)
        #expect(state.shutter == 4000 && !state.isExposureAutomatic)
        #expect(list[2].flags == [])
    }

    @Test(arguments: [
        (ERANGE, ControlRefusal.outOfRange("The camera does not take gain=7.")),
        (EINVAL, .notSupported("The camera does not take gain=7.")),
        (
            EBUSY,
            .failed(
                .busy,
                "cannot set a control of /dev/video9: another program is using it; gain=7"
            )
        ),
        (
            ENODEV,
            .failed(.unplugged, "cannot set a control of /dev/video9: it was unplugged; gain=7")
        ),
        (
            EIO,
            .failed(
                .stalled,
                "cannot set a control of /dev/video9: the device does not work properly; gain=7"
            )
        ),
    ])
    func aRefusalSaysWhy(errno: CInt, refusal: ControlRefusal) throws {
        let gain = try controls.controls()[0]
        node.errors[cv4l2_s_ext_ctrls] = [errno]
        #expect(throws: refusal) { try controls.write(ControlWrite(gain, 7)) }
    }

    @Test("are read again and again though a signal interrupts and one cannot be read")
    func reading() throws {
        node.errors[cv4l2_g_ext_ctrls] = [EINTR, EIO]
        node.errors[cv4l2_query_ext_ctrl] = [EINTR]
        var list = try controls.controls()
        #expect(list.map(\.value) == [0, 3, 156, 0])
        node[V4L2_CID_GAIN] = 99
        try controls.update(&list) { $0.purpose == .gain }
        #expect(list[0].value == 99)
        node.errors[cv4l2_g_ext_ctrls] = [ENODEV]
        #expect(throws: ControlRefusal.self) { try controls.update(&list) { _ in true } }
    }

    @Test func `tell what others change, where the driver tells it`() throws {
        let list = try controls.controls()
        controls.subscribe(to: list.filter { $0.purpose != nil })
        #expect(node.subscribed.count == 3)
        #expect(!controls.takeEvents())
        node.pending = 2
        #expect(controls.takeEvents() && !controls.takeEvents())
    }

    @Test("are none where the driver has none")
    func none() throws {
        node.errors[cv4l2_query_ext_ctrl] = [ENOTTY]
        #expect(try controls.controls() == [])
    }

    @Test("are those before one that is broken")
    func broken() throws {
        node.broken = V4L2_CID_EXPOSURE_AUTO
        #expect(try controls.controls().map(\.name) == ["gain"])
    }

    @Test("are not those of a camera that was unplugged meanwhile, but an error")
    func unplugged() throws {
        let list = try controls.controls()
        for call in [cv4l2_query_ext_ctrl, cv4l2_g_ext_ctrls] {
            node.errors[call] = [ENODEV]
            let error = #expect(throws: ControlRefusal.self) { try controls.controls() }
            #expect(error?.isUnplugged == true)
            node.errors[call] = [ENODEV]
            var again = list
            #expect(throws: ControlRefusal.self) { try controls.update(&again) { _ in true } }
        }
        #expect(try controls.controls() == list)
    }
}

extension ControlRefusal {
    fileprivate var isUnplugged: Bool {
        if case .failed(.unplugged, _) = self { true } else { false }
    }
}
