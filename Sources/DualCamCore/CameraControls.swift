package import Frames

/// What a photographer wants of a camera; what is not wanted is automatic.
package struct ManualControls: Hashable, Sendable {
    /// The ISO.
    package var iso: Int?
    /// In microseconds.
    package var shutter: Int?
    /// The shutter stays as it was found, because a manual ISO means nothing beside an automatic
    /// that works against it.
    package var holdsShutter = false
    /// 0 near … 1 infinity.
    package var focus: Double?
    /// The light that the picture is to look right in.
    package var whiteBalance = WhiteBalance.auto
    /// In stops, done in software.
    package var compensation = 0.0

    /// All automatic.
    package init() {}

    /// Whether all is automatic.
    package var isAutomatic: Bool { self == ManualControls() }
}

/// What of a camera's controls the user has set in the configuration.
package struct ControlSettings: Hashable, Sendable {
    /// ISO at the lowest and at the highest gain.
    package var isoRange = 100...3200
    /// Larger numbers of its focus are farther away, not nearer as V4L2 says.
    package var isFocusReversed = false
    /// Frames per second that it delivers, or shall.
    package var frameRate = 30.0

    /// As without a configuration.
    package init() {}
}

/// A camera's controls as a photographer sees them: what its driver says of them, what was wanted
/// of them, and what each means in the other's terms. Pure.
package struct CameraControls: Hashable, Sendable {
    /// The controls as the driver told of them last; none where a source has none.
    package private(set) var device: [DeviceControl] = []
    /// What is set by hand of them; the rest is automatic.
    package internal(set) var manual: ManualControls
    /// What the user has set of them.
    package var settings: ControlSettings
    /// What the driver made of what we wrote, by the control's number: another value is another
    /// program's.
    var settled: [UInt32: Int] = [:]
    /// Which `ZoomRequest` its zoom follows; 0: none.
    package var zoomNumber = 0
    /// When its zoom was as it is now, at the latest.
    package var zoomTime = Timestamp.zero
    /// Whether its zoom stands where others left it, while it delivers.
    package var isZoomOthers = false
    /// What was there before we wrote, for what has no automatic to go back to.
    var original: [UInt32: Int] = [:]

    /// The controls of a source that has none, or whose are not known yet.
    package init(
        manual: ManualControls = ManualControls(),
        settings: ControlSettings = ControlSettings()
    ) {
        self.manual = manual
        self.settings = settings
    }

    /// Takes what the driver says now. What another program has set since takes the place of what
    /// was wanted.
    package mutating func read(_ device: [DeviceControl]) {
        self.device = device
        func isOther(_ control: DeviceControl?) -> Bool {
            control.map { settled[$0.id] != nil && settled[$0.id] != $0.value } ?? false
        }
        if manual.iso != nil, let control = sensitivity, isOther(control) {
            manual.iso = iso(of: control)
            settled[control.id] = control.value
        }
        if manual.iso != nil, let mode = isoSwitch, isOther(mode) { manual.iso = nil }
        if manual.shutter != nil || manual.holdsShutter, let mode = exposureMode, isOther(mode) {
            manual.shutter = nil
            manual.holdsShutter = false
            if isoSwitch == nil { manual.iso = nil }
        }
        if manual.shutter != nil, let control = exposureTime, isOther(control) {
            manual.shutter = control.value * 100
            settled[control.id] = control.value
        }
        if manual.focus != nil, isOther(focusSwitch) { manual.focus = nil }
        if manual.focus != nil, let control = focusControl, isOther(control) {
            manual.focus = position(of: control.value, on: control)
            settled[control.id] = control.value
        }
        if manual.whiteBalance != .auto, isOther(whiteBalanceSwitch) { manual.whiteBalance = .auto }
        if manual.whiteBalance != .auto, let control = temperature, isOther(control) {
            manual.whiteBalance = .kelvin(control.value)
            settled[control.id] = control.value
        }
    }

    /// Takes what the driver says after all of `plan` was written: what it made of that.
    package mutating func settle(_ plan: ControlPlan, _ device: [DeviceControl]) {
        manual = plan.manual
        original = plan.original
        self.device = device
        settled = [:]
        for control in device where control.purpose != nil { settled[control.id] = control.value }
    }

    /// The device may have forgotten what was written, as one that was plugged in again: what is
    /// wanted counts, not what it says.
    package mutating func forgetSettled() { settled = [:] }

    /// Keeps what `plan` would have to restore though it was carried out in part only.
    package mutating func keepOriginals(of plan: ControlPlan) {
        original.merge(plan.original) { kept, _ in kept }
    }

    // MARK: The controls by what they are for

    func control(for purpose: DeviceControl.Purpose) -> DeviceControl? {
        device.first { $0.purpose == purpose && $0.isSettable }
    }

    var exposureMode: DeviceControl? { control(for: .exposureMode) }

    /// The item of the exposure's menu that leaves the time to us.
    var manualExposure: Int? {
        [DeviceControl.ExposureMode.manual, DeviceControl.ExposureMode.shutterPriority]
            .first { exposureMode?.has($0) ?? false }
    }

    /// The item of the exposure's menu that is automatic.
    var automaticExposure: Int? {
        [DeviceControl.ExposureMode.auto, DeviceControl.ExposureMode.aperturePriority]
            .first { exposureMode?.has($0) ?? false }
    }

    /// The exposure time, where it can be manual.
    var exposureTime: DeviceControl? {
        guard let control = control(for: .exposureTime), control.range.upperBound > 0 else {
            return nil
        }
        return exposureMode == nil || manualExposure != nil ? control : nil
    }

    /// What stands for ISO: the sensitivity itself, else a gain.
    var sensitivity: DeviceControl? {
        if let control = control(for: .iso), control.menu.contains(where: { $0.number != nil }) {
            return control
        }
        return control(for: .analogueGain) ?? control(for: .gain)
    }

    /// What makes the ISO manual, apart from the exposure's own switch.
    var isoSwitch: DeviceControl? {
        sensitivity?.purpose == .iso
            ? control(for: .isoMode) ?? control(for: .autogain) : control(for: .autogain)
    }

    var focusControl: DeviceControl? { control(for: .focus) }
    var focusSwitch: DeviceControl? { control(for: .focusAuto) }
    var temperature: DeviceControl? { control(for: .temperature) }
    var preset: DeviceControl? { control(for: .whiteBalancePreset) }
    var whiteBalanceSwitch: DeviceControl? { control(for: .whiteBalanceAuto) }
    /// The switch of the camera's light, where that can shine all the time.
    var flashMode: DeviceControl? {
        control(for: .flashMode).flatMap { $0.has(DeviceControl.FlashMode.torch) ? $0 : nil }
    }

    // MARK: What a photographer sees

    /// The ISO; `nil` where the camera has none.
    package var iso: Int? { sensitivity.map { iso(of: $0) } }

    /// Whether the ISO is the camera's own choice.
    package var isISOAutomatic: Bool {
        guard sensitivity != nil else { return true }
        if let isoSwitch { return isoSwitch.value != 0 }
        return manual.iso == nil && isExposureAutomatic && exposureMode != nil
    }

    /// Whether the ISO is worked out of a gain.
    package var isISOApproximate: Bool { sensitivity.map { $0.purpose != .iso } ?? false }

    /// The stops of ISO that the camera can do, lowest first.
    package var isoStops: [Int] {
        guard let control = sensitivity else { return [] }
        if control.purpose == .iso { return isoMenu(control).map(\.iso) }
        let reachable = Stops.iso.filter { settings.isoRange.contains($0) }.filter {
            Stops.match(isoExactly(gain(for: $0, on: control), on: control), Double($0))
        }
        return reachable.count > 1
            ? reachable : [settings.isoRange.lowerBound, settings.isoRange.upperBound]
    }

    /// The exposure time in microseconds; `nil` where the camera does not tell.
    package var shutter: Int? {
        device.first { $0.purpose == .exposureTime && !$0.flags.contains(.disabled) }
            .map { max(1, $0.value) * 100 }
    }

    /// Whether the exposure time is the camera's own choice.
    package var isExposureAutomatic: Bool {
        guard let exposureMode else { return exposureTime == nil }
        return exposureMode.value != manualExposure
            && exposureMode.value != DeviceControl.ExposureMode.manual
    }

    /// The exposure times that the camera can do, in microseconds, shortest first.
    package var shutterStops: [Int] {
        guard let control = exposureTime else { return [] }
        return Stops.shutter.filter {
            Stops.match(Double(control.nearest(to: Double($0) / 100)) * 100, Double($0))
        }
    }

    /// 0 near … 1 infinity; `nil` where the camera has no focus.
    package var focus: Double? { focusControl.map { position(of: $0.value, on: $0) } }

    /// Whether the camera focuses by itself.
    package var isFocusAutomatic: Bool {
        focusSwitch.map { $0.value != 0 } ?? (focusControl == nil)
    }

    /// Where a dial of focus clicks.
    package var focusStops: [Double] {
        guard let control = focusControl else { return [] }
        let positions = (control.range.upperBound - control.range.lowerBound) / control.step
        let clicks = max(1, min(Stops.focusClicks, positions))
        return (0...clicks).map { Double($0) / Double(clicks) }
    }

    /// The white balance as it is.
    package var whiteBalance: WhiteBalance {
        guard manual.whiteBalance == .auto else { return manual.whiteBalance }
        if let whiteBalanceSwitch {
            return whiteBalanceSwitch.value == 0
                ? temperature.map { .kelvin($0.value) } ?? .auto : .auto
        }
        if let preset {
            guard let kelvin = DeviceControl.PresetIndex.lights[preset.value] else { return .auto }
            return WhiteBalance.Preset.allCases.first { $0.kelvin == kelvin }
                .map { .preset($0) } ?? .kelvin(kelvin)
        }
        return temperature.map { .kelvin($0.value) } ?? .auto
    }

    /// The colour temperature that the picture is balanced for; `nil` where nobody knows.
    package var kelvin: Int? {
        guard let wanted = manual.whiteBalance.kelvin else {
            return temperature?.value ?? whiteBalance.kelvin
        }
        // What is left to do is done in software, to the Kelvin.
        guard grade.red == 1, let temperature else { return wanted }
        return temperature.value
    }

    /// Whether the camera's light shines; `nil` where it has none that we can switch.
    package var torch: Bool? { flashMode.map { $0.value == DeviceControl.FlashMode.torch } }

    /// Whether the camera can get no more light out of the scene: its exposure, as long as the frames are far
    /// apart at most, and its gain are at their ends, as far as it has them. Not where they were set by hand.
    var isAtDarkEnd: Bool {
        guard manual.iso == nil, manual.shutter == nil, !manual.holdsShutter else { return false }
        if let exposureTime {
            let longest = min(
                Double(exposureTime.range.upperBound) * 100,
                1e6 / max(settings.frameRate, 0.1)
            )
            guard Double(exposureTime.value) * 100 >= 0.9 * longest else { return false }
        }
        guard let gain = sensitivity, gain.purpose != .iso else { return true }
        return Double(gain.value - gain.range.lowerBound)
            >= 0.9 * Double(gain.range.upperBound - gain.range.lowerBound)
    }

    /// What is done in software.
    package var grade: Grade {
        var grade = Grade.none
        if let wanted = manual.whiteBalance.kelvin {
            grade = Grade(from: deviceKelvin(for: wanted), to: wanted)
        }
        if manual.compensation != 0 { grade.light = lightGain(manual.compensation) }
        return grade
    }

    /// What is done in software, by name.
    package var software: [String] {
        let grade = grade
        return (grade.red == 1 ? [] : ["white-balance"])
            + (grade.light == 1 ? [] : ["compensation"])
    }
}
