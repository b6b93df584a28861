import CV4L2
import DualCamCore
import Glibc

/// An input of a device, as VIDIOC_ENUMINPUT describes it.
struct DeviceInput: Hashable {
    var index: UInt32
    /// `true` if it is no tuner, which would need a channel.
    var isCamera: Bool
    /// V4L2_IN_ST_…: what is wrong with its signal.
    var status: UInt32
    /// V4L2_IN_CAP_…: what can be set.
    var capabilities: UInt32

    /// `true` if nothing sends a picture to it, as far as is known.
    var hasNoSignal: Bool {
        status
            & UInt32(
                V4L2_IN_ST_NO_POWER | V4L2_IN_ST_NO_SIGNAL | V4L2_IN_ST_NO_SYNC
                    | V4L2_IN_ST_NO_H_LOCK
            ) != 0
    }
    /// `true` if its signal has timings: HDMI and its like.
    var hasTimings: Bool { capabilities & UInt32(V4L2_IN_CAP_DV_TIMINGS) != 0 }
    var hasStandard: Bool { capabilities & UInt32(V4L2_IN_CAP_STD) != 0 }

    /// Returns the order in which to look for a signal: the selected input first, which a person or
    /// another program chose, and tuners never.
    static func candidates(_ inputs: [DeviceInput], selected: UInt32) -> [DeviceInput] {
        inputs.filter { $0.index == selected }
            + inputs.filter { $0.index != selected && $0.isCamera }
    }
}

extension VideoDevice {
    /// Sets the device to the signal at its input: the timings of HDMI, the standard of analogue
    /// video. Without a signal there, the first other input that has one is selected. A device
    /// without inputs or timings, as most cameras are, stays as it is.
    ///
    /// Detecting a signal may take some tenths of a second.
    ///
    /// - Throws: `noSignal`, after which another try may succeed; `busy` if another program streams
    ///   from it; otherwise the code of the failed call.
    func followSignal() throws(CaptureError) {
        var selected: UInt32 = 0
        guard attempt(cv4l2_g_input, &selected) == 0 else { return }
        var inputs: [DeviceInput] = []
        while inputs.count < 32, let input = input(UInt32(inputs.count)) { inputs.append(input) }
        let candidates = DeviceInput.candidates(inputs, selected: selected)
        guard candidates.contains(where: { $0.hasTimings || $0.hasStandard || $0.hasNoSignal })
        else { return }
        var failure: CaptureError?
        for input in candidates {
            var number = input.index
            if number != selected {
                try call(cv4l2_s_input, "VIDIOC_S_INPUT", &number)
            }
            do throws(CaptureError) {
                // The status of an input is true only while it is selected.
                try adopt(self.input(number) ?? input)
                watchSignal(of: number)
                return
            } catch  where error.code == .noSignal {
                failure = failure ?? error
            } catch {
                // The one selected may have a fault of its own; others are only tried.
                guard number == selected else { continue }
                throw error
            }
        }
        if candidates.count > 1 { _ = attempt(cv4l2_s_input, &selected) }
        if let failure { throw failure }
    }

    /// Returns the input `index`; `nil` if there is none.
    private func input(_ index: UInt32) -> DeviceInput? {
        var answer = v4l2_input()
        answer.index = index
        guard attempt(cv4l2_enuminput, &answer) == 0 else { return nil }
        return DeviceInput(
            index: index,
            isCamera: answer.type != UInt32(V4L2_INPUT_TYPE_TUNER),
            status: answer.status,
            capabilities: answer.capabilities
        )
    }

    /// Takes over the timings or the standard of the signal at `input`, which is selected.
    private func adopt(_ input: DeviceInput) throws(CaptureError) {
        if input.hasTimings {
            try adoptTimings()
        } else if input.hasNoSignal {
            throw noSignal("VIDIOC_ENUMINPUT")
        } else if input.hasStandard {
            try adoptStandard()
        }
    }

    private func adoptTimings() throws(CaptureError) {
        var found = v4l2_dv_timings()
        switch attempt(cv4l2_query_dv_timings, &found) {
        case 0: break
        case ENOLINK: throw noSignal("VIDIOC_QUERY_DV_TIMINGS", ENOLINK)
        case ENOLCK: throw noSignal("VIDIOC_QUERY_DV_TIMINGS", ENOLCK, "the signal is unsteady")
        case ERANGE:
            throw noSignal("VIDIOC_QUERY_DV_TIMINGS", ERANGE, "the device cannot show the signal")
        // It cannot detect them: the timings stay as they were set.
        default: return
        }
        guard found.bt.width > 0, found.bt.height > 0 else {
            throw noSignal("VIDIOC_QUERY_DV_TIMINGS")
        }
        var present = v4l2_dv_timings()
        if attempt(cv4l2_g_dv_timings, &present) == 0, cv4l2_same_timings(&present, &found) {
            return
        }
        try call(cv4l2_s_dv_timings, "VIDIOC_S_DV_TIMINGS", &found)
    }

    private func adoptStandard() throws(CaptureError) {
        var found: v4l2_std_id = 0
        // It cannot detect it, or not now: the standard stays as it was set.
        guard attempt(cv4l2_querystd, &found) == 0 else { return }
        guard found != 0 else { throw noSignal("VIDIOC_QUERYSTD") }
        var present: v4l2_std_id = 0
        if attempt(cv4l2_g_std, &present) == 0, present & found != 0 { return }
        try call(cv4l2_s_std, "VIDIOC_S_STD", &found)
    }

    private func noSignal(
        _ operation: String,
        _ errno: CInt = 0,
        _ detail: String = "nothing at the input sends a picture"
    ) -> CaptureError {
        CaptureError(.noSignal, operation, path, errno: errno, detail: detail)
    }

    /// Asks to be told of changes of the signal at input `number` (V4L2_EVENT_SOURCE_CHANGE).
    private func watchSignal(of number: UInt32) {
        var subscription = v4l2_event_subscription()
        subscription.type = UInt32(V4L2_EVENT_SOURCE_CHANGE)
        subscription.id = number
        watchesSignal = attempt(cv4l2_subscribe_event, &subscription) == 0
    }

    /// Takes the events so far. Returns `true` if the signal changed.
    func takeSignalChange() -> Bool {
        var hasChanged = false
        var event = v4l2_event()
        // A limit, in case a driver's events never end.
        for _ in 0..<64 {
            guard attempt(cv4l2_dqevent, &event) == 0 else { break }
            hasChanged = hasChanged || event.type == UInt32(V4L2_EVENT_SOURCE_CHANGE)
        }
        return hasChanged
    }
}
