import CV4L2
import DualCamCore
import Glibc

/// The controls of a V4L2 node, opened for them alone.
final class VideoControls: ControlPort {
    private let device: VideoDevice

    init(_ device: VideoDevice) { self.device = device }

    var descriptor: CInt { device.descriptor }

    func controls() throws(ControlRefusal) -> [DeviceControl] {
        var controls: [DeviceControl] = []
        var id: UInt32 = 0
        // A limit, in case a driver's list never ends.
        while controls.count < 512 {
            var query = v4l2_query_ext_ctrl()
            query.id = id | UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
            let error = device.attempt(cv4l2_query_ext_ctrl, &query)
            // EINVAL ends the list; ENOTTY comes from a driver without controls.
            if error == EINVAL || error == ENOTTY { break }
            if error == ENODEV { throw refusal(error, "VIDIOC_QUERY_EXT_CTRL", "") }
            // A broken control does not hide those before it.
            if error != 0 { break }
            guard query.id > id else { break }
            id = query.id
            if var control = control(query) {
                control.menu = menu(of: control)
                controls.append(control)
            }
        }
        for index in controls.indices { try readValue(&controls[index]) }
        return controls
    }

    func update(
        _ controls: inout [DeviceControl],
        where matters: (DeviceControl) -> Bool
    ) throws(ControlRefusal) {
        for index in controls.indices where matters(controls[index]) {
            var query = v4l2_query_ext_ctrl()
            query.id = controls[index].id
            let error = device.attempt(cv4l2_query_ext_ctrl, &query)
            if error == ENODEV { throw refusal(error, "VIDIOC_QUERY_EXT_CTRL", "") }
            if error == 0 { controls[index].flags = DeviceControl.Flags(rawValue: query.flags) }
            try readValue(&controls[index])
        }
    }

    func write(_ write: ControlWrite) throws(ControlRefusal) {
        var control = v4l2_ext_control()
        control.id = write.id
        control.value = Int32(clamping: write.value)
        let error = exchange(cv4l2_s_ext_ctrls, &control)
        guard error == 0 else {
            throw refusal(error, "VIDIOC_S_EXT_CTRLS", "\(write.name)=\(write.value)")
        }
    }

    func subscribe(to controls: [DeviceControl]) {
        for control in controls {
            var subscription = v4l2_event_subscription()
            subscription.type = UInt32(V4L2_EVENT_CTRL)
            subscription.id = control.id
            // If a driver sends no events, the occasional poll has to do.
            _ = device.attempt(cv4l2_subscribe_event, &subscription)
        }
    }

    func takeEvents() -> Bool {
        var hasAny = false
        var event = v4l2_event()
        while device.attempt(cv4l2_dqevent, &event) == 0 { hasAny = true }
        return hasAny
    }

    // MARK: Reading

    private func control(_ query: v4l2_query_ext_ctrl) -> DeviceControl? {
        let flags = DeviceControl.Flags(rawValue: query.flags)
        // Control groups are listed as controls too.
        guard query.type != V4L2_CTRL_TYPE_CTRL_CLASS.rawValue else { return nil }
        let kind: DeviceControl.Kind =
            switch v4l2_ctrl_type(rawValue: query.type) {
            case V4L2_CTRL_TYPE_INTEGER: .integer
            case V4L2_CTRL_TYPE_BOOLEAN: .boolean
            case V4L2_CTRL_TYPE_MENU: .menu
            case V4L2_CTRL_TYPE_INTEGER_MENU: .integerMenu
            case V4L2_CTRL_TYPE_BITMASK: .bitmask
            case V4L2_CTRL_TYPE_BUTTON: .button
            default: .other
            }
        let title = text(of: query.name)
        let isNumber = query.nr_of_dims == 0 && kind != .other
        return DeviceControl(
            id: query.id,
            name: Self.variable(title),
            title: title,
            kind: isNumber ? kind : .other,
            purpose: isNumber ? Self.purposes[query.id] : nil,
            range: Int(query.minimum)...max(Int(query.minimum), Int(query.maximum)),
            step: Int(clamping: query.step),
            initial: Int(query.default_value),
            flags: flags,
            value: 0
        )
    }

    /// Returns the name that `v4l2-ctl` uses: "exposure_time_absolute" for "Exposure Time,
    /// Absolute".
    private static func variable(_ title: String) -> String {
        title.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
            .joined(separator: "_").lowercased()
    }

    private func menu(of control: DeviceControl) -> [DeviceControl.Item] {
        guard control.kind == .menu || control.kind == .integerMenu,
            control.range.lowerBound >= 0, control.range.upperBound < 1024
        else { return [] }
        return control.range.compactMap { index in
            var query = v4l2_querymenu()
            query.id = control.id
            query.index = UInt32(index)
            // The device refuses the items that it lacks.
            guard device.attempt(cv4l2_querymenu, &query) == 0 else { return nil }
            guard control.kind == .integerMenu else {
                return DeviceControl.Item(index: index, name: text(of: query.name))
            }
            let number = Int(query.value)
            return DeviceControl.Item(index: index, name: "\(number)", number: number)
        }
    }

    /// Reads the value, if there is one. A value that the device does not report stays.
    private func readValue(_ control: inout DeviceControl) throws(ControlRefusal) {
        guard control.kind != .other, control.kind != .button,
            control.flags.isDisjoint(with: [.disabled, .writeOnly])
        else { return }
        var answer = v4l2_ext_control()
        answer.id = control.id
        let error = exchange(cv4l2_g_ext_ctrls, &answer)
        if error == ENODEV || error == ENXIO {
            throw refusal(error, "VIDIOC_G_EXT_CTRLS", control.name)
        }
        if error == 0 { control.value = Int(answer.value) }
    }

    /// Transfers one control in a call of its own. Returns 0 or the errno.
    private func exchange(_ request: UInt, _ control: inout v4l2_ext_control) -> CInt {
        withUnsafeMutablePointer(to: &control) { control in
            var controls = v4l2_ext_controls()
            controls.count = 1
            controls.controls = control
            return device.attempt(request, &controls)
        }
    }

    private func refusal(_ errno: CInt, _ call: String, _ what: String) -> ControlRefusal {
        let error = device.failure(call, errno, detail: what)
        let name = what.split(separator: "=").first.map(String.init) ?? "The control"
        return switch errno {
        case EACCES:
            .notSupported("\(name) is set by the camera now. Turn off its automatic first.")
        case ERANGE: .outOfRange("The camera does not take \(what).")
        case EINVAL, ENOTTY: .notSupported("The camera does not take \(what).")
        default: .failed(error.interruption, "\(error)")
        }
    }

    private static let purposes: [UInt32: DeviceControl.Purpose] = [
        UInt32(V4L2_CID_EXPOSURE_AUTO): .exposureMode,
        UInt32(V4L2_CID_EXPOSURE_ABSOLUTE): .exposureTime,
        UInt32(V4L2_CID_EXPOSURE_AUTO_PRIORITY): .dynamicFrameRate,
        UInt32(V4L2_CID_ISO_SENSITIVITY): .iso,
        UInt32(V4L2_CID_ISO_SENSITIVITY_AUTO): .isoMode,
        UInt32(V4L2_CID_AUTOGAIN): .autogain,
        UInt32(V4L2_CID_ANALOGUE_GAIN): .analogueGain,
        UInt32(V4L2_CID_GAIN): .gain,
        UInt32(V4L2_CID_FOCUS_AUTO): .focusAuto,
        UInt32(V4L2_CID_FOCUS_ABSOLUTE): .focus,
        UInt32(V4L2_CID_AUTO_WHITE_BALANCE): .whiteBalanceAuto,
        UInt32(V4L2_CID_WHITE_BALANCE_TEMPERATURE): .temperature,
        UInt32(V4L2_CID_AUTO_N_PRESET_WHITE_BALANCE): .whiteBalancePreset,
        UInt32(V4L2_CID_ZOOM_ABSOLUTE): .zoom,
        UInt32(V4L2_CID_POWER_LINE_FREQUENCY): .powerLine,
        UInt32(V4L2_CID_FLASH_LED_MODE): .flashMode,
        UInt32(V4L2_CID_BRIGHTNESS): .image(.brightness),
        UInt32(V4L2_CID_CONTRAST): .image(.contrast),
        UInt32(V4L2_CID_SATURATION): .image(.saturation),
        UInt32(V4L2_CID_SHARPNESS): .image(.sharpness),
        UInt32(V4L2_CID_HUE): .image(.hue),
        UInt32(V4L2_CID_GAMMA): .image(.gamma),
        UInt32(V4L2_CID_BACKLIGHT_COMPENSATION): .image(.backlight),
        UInt32(V4L2_CID_PAN_ABSOLUTE): .image(.pan),
        UInt32(V4L2_CID_TILT_ABSOLUTE): .image(.tilt),
    ]
}
