package import Frames

/// The manual values that a photographer has chosen; everything else is automatic.
package struct ManualControls: Hashable, Sendable {
    /// The ISO; `nil`: automatic.
    package var iso: Int?
    /// The exposure time, in microseconds; `nil`: automatic.
    package var shutter: Int?
    /// `true` while the time stays as found, since automatic exposure would undo a manual ISO.
    package var holdsShutter = false
    /// The focus position, from 0 (near) to 1 (infinity); `nil`: automatic.
    package var focus: Double?
    /// The light in which the picture looks neutral.
    package var whiteBalance = WhiteBalance.auto
    /// The exposure compensation, in stops; done in software.
    package var compensation = 0.0
    /// The controls that are held as the camera's automatic found them.
    package var lock = ControlLock()
    /// The wanted values; the others stay as they were found.
    package var image: [ImageControl: Int] = [:]

    package init() {}

    package var isAutomatic: Bool { self == ManualControls() }

    /// The values that stay at the end of Pro mode.
    var withoutPro: ManualControls {
        var rest = ManualControls()
        (rest.lock, rest.image) = (lock, image)
        return rest
    }
}

/// The user's settings for a camera's controls, from the configuration.
package struct ControlSettings: Hashable, Sendable {
    /// The ISO at the lowest and at the highest gain.
    package var isoRange = 100...3200
    /// `true` if larger focus values are farther away; V4L2 says nearer.
    package var isFocusReversed = false
    /// `true` if the camera may not lower its rate in the dark.
    package var holdsRate = true
    package var antiFlicker = AntiFlicker.auto
    /// The frames per second that the camera delivers, or is to deliver.
    package var frameRate = 30.0
    /// `true` if the exposure is for the face in the picture.
    package var metersFace = false
    /// The seconds in which a camera turns that can.
    package var transition = 0.25

    package init() {}
}

/// A camera's controls in a photographer's terms: the driver's description, the manual values, and
/// the conversion between the two. Pure.
package struct CameraControls: Hashable, Sendable {
    /// The range of the exposure compensation, in stops.
    package static let compensations = -2.0...2.0

    /// The controls as last reported by the driver; empty for a source without controls.
    package private(set) var device: [DeviceControl] = []
    /// The manual values; everything else is automatic.
    package internal(set) var manual: ManualControls
    package var settings: ControlSettings
    /// The values that the driver settled on after our writes, by control number. A different value
    /// was set by another program.
    var settled: [UInt32: Int] = [:]
    /// The number of the `ZoomRequest` that the camera's own zoom follows; 0: none.
    package var zoomNumber = 0
    /// The latest time at which the zoom reached its present value.
    package var zoomTime = Timestamp.zero
    /// `true` while the camera delivers and its zoom stands where others left it.
    package var isZoomOthers = false
    /// `true` while the exposure is ours in place of the camera's automatic, for a face.
    package var isMetering = false
    /// The stops of light that software adds to what the camera can do for a face.
    package var metered = 0.0
    /// The values before our first write, by number, for controls without an automatic.
    var original: [UInt32: Int] = [:]

    /// The controls of a source that has none, or whose controls are not known yet.
    package init(
        manual: ManualControls = ManualControls(),
        settings: ControlSettings = ControlSettings()
    ) {
        self.manual = manual
        self.settings = settings
    }

    /// Takes the controls as reported. A value set by another program replaces the manual one.
    package mutating func read(_ device: [DeviceControl]) {
        self.device = device
        func isOther(_ control: DeviceControl?) -> Bool {
            control.map { settled[$0.id] != nil && settled[$0.id] != $0.value } ?? false
        }
        for subject in takenOver({ isOther($0) }) { manual.lock.values[subject] = nil }
        // A control that moves reports many values on its way.
        for name in manual.image.keys where !name.moves {
            guard let control = control(for: .image(name)), isOther(control) else { continue }
            manual.image[name] = control.value
            settled[control.id] = control.value
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

    /// Takes the controls as the driver reports them after all of `plan`, as the result of that.
    package mutating func settle(_ plan: ControlPlan, _ device: [DeviceControl]) {
        manual = plan.manual
        original = plan.original
        self.device = device
        settled = [:]
        for control in device where control.purpose != nil { settled[control.id] = control.value }
    }

    /// Forgets the results of earlier writes. After a device was plugged in again, the manual
    /// values count, not those that it reports.
    package mutating func forgetSettled() { settled = [:] }

    /// Forgets the results of writes that `writes` has undone: a value there is no other program's.
    package mutating func forgetSettled(by writes: [ControlWrite]) {
        for write in writes { settled[write.id] = nil }
    }

    /// Keeps the original values that `plan` noted, even if only part of it was carried out.
    package mutating func keepOriginals(of plan: ControlPlan) {
        original.merge(plan.original) { kept, _ in kept }
    }

    // MARK: The controls by what they are for

    /// Returns the control for `purpose`, if the camera has one that can be set.
    package func control(for purpose: DeviceControl.Purpose) -> DeviceControl? {
        device.first { $0.purpose == purpose && $0.isSettable }
    }

    var exposureMode: DeviceControl? { control(for: .exposureMode) }

    /// The item of the exposure menu that makes the exposure time manual.
    var manualExposure: Int? {
        [DeviceControl.ExposureMode.manual, DeviceControl.ExposureMode.shutterPriority]
            .first { exposureMode?.has($0) ?? false }
    }

    /// The item of the exposure menu that is automatic.
    var automaticExposure: Int? {
        [DeviceControl.ExposureMode.auto, DeviceControl.ExposureMode.aperturePriority]
            .first { exposureMode?.has($0) ?? false }
    }

    /// The control of the exposure time; `nil` if the time cannot be manual.
    var exposureTime: DeviceControl? {
        guard let control = control(for: .exposureTime), control.range.upperBound > 0 else {
            return nil
        }
        return exposureMode == nil || manualExposure != nil ? control : nil
    }

    /// The control that stands for ISO: the sensitivity itself, otherwise a gain.
    var sensitivity: DeviceControl? {
        if let control = control(for: .iso), control.menu.contains(where: { $0.number != nil }) {
            return control
        }
        return control(for: .analogueGain) ?? control(for: .gain)
    }

    /// The switch for manual ISO, apart from that of the exposure.
    var isoSwitch: DeviceControl? {
        sensitivity?.purpose == .iso
            ? control(for: .isoMode) ?? control(for: .autogain) : control(for: .autogain)
    }

    var focusControl: DeviceControl? { control(for: .focus) }
    var focusSwitch: DeviceControl? { control(for: .focusAuto) }
    var temperature: DeviceControl? { control(for: .temperature) }
    var preset: DeviceControl? { control(for: .whiteBalancePreset) }
    var whiteBalanceSwitch: DeviceControl? { control(for: .whiteBalanceAuto) }
    /// The switch of the camera's light; `nil` if the light cannot stay on.
    var flashMode: DeviceControl? {
        control(for: .flashMode).flatMap { $0.has(DeviceControl.FlashMode.torch) ? $0 : nil }
    }

    // MARK: What a photographer sees

    /// The ISO; `nil` if the camera has none.
    package var iso: Int? { sensitivity.map { iso(of: $0) } }

    /// `true` while the camera chooses the ISO.
    package var isISOAutomatic: Bool {
        guard sensitivity != nil, !isMetering else { return true }
        if let isoSwitch { return isoSwitch.value != 0 }
        return manual.iso == nil && isExposureAutomatic && exposureMode != nil
    }

    /// `true` if the ISO is derived from a gain.
    package var isISOApproximate: Bool { sensitivity.map { $0.purpose != .iso } ?? false }

    /// The stops of ISO that the camera can reach, lowest first.
    package var isoStops: [Int] {
        guard let control = sensitivity else { return [] }
        if control.purpose == .iso { return isoMenu(control).map(\.iso) }
        let reachable = Stops.iso.filter { settings.isoRange.contains($0) }.filter {
            Stops.match(isoExactly(gain(for: $0, on: control), on: control), Double($0))
        }
        return reachable.count > 1
            ? reachable : [settings.isoRange.lowerBound, settings.isoRange.upperBound]
    }

    /// The exposure time, in microseconds; `nil` if the camera does not report it.
    package var shutter: Int? {
        device.first { $0.purpose == .exposureTime && !$0.flags.contains(.disabled) }
            .map { max(1, $0.value) * 100 }
    }

    /// `true` while the camera chooses the exposure time.
    package var isExposureAutomatic: Bool {
        guard !isMetering, let exposureMode else { return isMetering || exposureTime == nil }
        return exposureMode.value != manualExposure
            && exposureMode.value != DeviceControl.ExposureMode.manual
    }

    /// The exposure times that the camera can reach, in microseconds, shortest first.
    package var shutterStops: [Int] {
        guard let control = exposureTime else { return [] }
        return Stops.shutter.filter {
            Stops.match(Double(control.nearest(to: Double($0) / 100)) * 100, Double($0))
        }
    }

    /// The focus position, from 0 (near) to 1 (infinity); `nil` if the camera has no focus.
    package var focus: Double? { focusControl.map { position(of: $0.value, on: $0) } }

    /// `true` while the camera focuses by itself, or has no focus.
    package var isFocusAutomatic: Bool {
        focusSwitch.map { $0.value != 0 } ?? (focusControl == nil)
    }

    /// The positions at which the focus dial clicks, near to far.
    package var focusStops: [Double] {
        guard let control = focusControl else { return [] }
        let positions = (control.range.upperBound - control.range.lowerBound) / control.step
        let clicks = max(1, min(Stops.focusClicks, positions))
        return (0...clicks).map { Double($0) / Double(clicks) }
    }

    /// `true` if the camera itself can be told its white balance.
    var hasWhiteBalance: Bool {
        temperature != nil || preset != nil || whiteBalanceSwitch != nil
    }

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

    /// The colour temperature that the picture is balanced for; `nil` if unknown.
    package var kelvin: Int? {
        guard let wanted = manual.whiteBalance.kelvin else {
            return temperature?.value ?? whiteBalance.kelvin
        }
        // Software does the rest, exact to the Kelvin.
        guard grade.red == 1, let temperature else { return wanted }
        return temperature.value
    }

    /// `true` while the camera's light is on; `nil` if there is none that we can switch.
    package var torch: Bool? { flashMode.map { $0.value == DeviceControl.FlashMode.torch } }

    /// `true` while the camera can gather no more light: its exposure time and its gain, if it has
    /// them, are near their upper ends, and neither was set by hand. The exposure time is also
    /// limited by the interval between frames.
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

    /// The correction done in software.
    package var grade: Grade {
        var grade = Grade.none
        if let wanted = manual.whiteBalance.kelvin {
            grade = Grade(from: deviceKelvin(for: wanted), to: wanted)
        }
        let stops = manual.compensation + metered
        if stops != 0 { grade.light = lightGain(stops) }
        return grade
    }

    /// The names of the corrections done in software.
    package var software: [String] {
        let grade = grade
        return (grade.red == 1 ? [] : ["white-balance"])
            + (grade.light == 1 ? [] : ["compensation"])
    }
}

extension CameraControls {
    /// Returns what `dial` is set to, in words; `nil` if the camera does not say.
    package func text(of dial: Dial) -> String? {
        switch dial {
        case .iso: iso.map(String.init)
        case .shutter: shutter.map(Stops.shutterText)
        case .focus: focus.map(Stops.focusText)
        case .whiteBalance: kelvin.map { "\($0) K" }
        }
    }
}
