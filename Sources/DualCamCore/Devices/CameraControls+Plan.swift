import Glibc

/// A command to a camera's controls.
package enum ControlCommand: Hashable, Sendable {
    case iso(Int)
    case stepISO(Int)
    /// An exposure time, in microseconds.
    case shutter(Int)
    /// Clicks of the shutter dial; positive is faster.
    case stepShutter(Int)
    /// A focus position, from 0 (near) to 1 (infinity).
    case focus(Double)
    /// Clicks of the focus dial; positive is farther.
    case stepFocus(Int)
    case whiteBalance(WhiteBalance)
    case stepKelvin(Int)
    /// Exposure compensation, in stops.
    case compensation(Double)
    /// Changes one of these from what it is: the focus, the temperature in kelvins, the
    /// compensation.
    case moveFocus(Double)
    case moveKelvin(Int)
    case moveCompensation(Double)
    /// Sets a control of the picture; `nil`: to the value that it was found with.
    case image(ImageControl, Int?)
    case moveImage(ImageControl, Int)
    /// Returns these dials to automatic.
    case automatic(Set<Dial>)
    /// Returns everything to automatic, except what is held.
    case reset
    /// Holds these parts as the automatic found them; none: all that the camera can hold.
    case lock(Set<ControlLock.Subject>)
    /// Holds these parts alone: what is held already stays, the rest returns to automatic.
    case lockOnly(Set<ControlLock.Subject>)
    /// Returns what is held to automatic.
    case unlock
    case torch(Bool)
    /// Turns it off, or on.
    case toggleTorch
    /// Sets the driver's control of this name to a value in the driver's terms.
    case raw(String, Int)
    /// Changes the driver's control of this name by a number.
    case moveRaw(String, Int)
    /// Writes all manual values again, to a device that may have forgotten them.
    case restore
    /// Sets nothing; all controls are read again.
    case look

    package var dial: Dial? {
        switch self {
        case .iso, .stepISO: .iso
        case .shutter, .stepShutter: .shutter
        case .focus, .stepFocus, .moveFocus: .focus
        case .whiteBalance, .stepKelvin, .moveKelvin: .whiteBalance
        case .automatic(let dials): dials.count == 1 ? dials.first : nil
        case .compensation, .moveCompensation, .image, .moveImage, .reset, .lock, .lockOnly,
            .unlock, .torch, .toggleTorch, .raw, .moveRaw, .restore, .look:
            nil
        }
    }

    /// `true` if the command also applies to an incoming lens. Focus, light and driver controls are
    /// each lens's own.
    package var isForAllLenses: Bool {
        switch self {
        case .compensation, .moveCompensation, .image, .moveImage, .reset, .automatic: true
        default: dial != nil && dial != .focus
        }
    }
}

/// The writes that a command needs, and the manual values once they are done.
package struct ControlPlan: Hashable, Sendable {
    /// Switches between automatic and manual, each written before the values that depend on it.
    package var switches: [ControlWrite] = []
    package var values: [ControlWrite] = []
    /// The manual values once everything is written.
    package var manual: ManualControls
    /// Those of the switches that are put back when the camera closes.
    package var held: [ControlWrite] = []
    /// The controls of the picture to set as in `manual` while the camera delivers, and to put back
    /// then; those that are `nil` there are put back at once.
    package var image: [ImageControl] = []
    /// The end of the dial that the command ran into.
    package var limit: Bound?
    /// The values before our first write, by number, for controls without an automatic.
    var original: [UInt32: Int]
}

extension CameraControls {
    /// Returns the writes that `command` needs, for the device as it was last `read`. Throws
    /// `notSupported`; `outOfRange`, with the possible values.
    package func plan(_ command: ControlCommand) throws(ControlRefusal) -> ControlPlan {
        var plan = ControlPlan(manual: manual, original: original)
        switch command {
        case .iso(let iso): try setISO(iso, &plan)
        case .stepISO(let clicks): try stepISO(clicks, &plan)
        case .shutter(let time): try setShutter(time, &plan)
        case .stepShutter(let clicks): try stepShutter(clicks, &plan)
        case .focus(let position): try setFocus(position, &plan)
        case .stepFocus(let clicks): try stepFocus(clicks, &plan)
        case .whiteBalance(let balance): try setWhiteBalance(balance, &plan)
        case .stepKelvin(let clicks): stepKelvin(clicks, &plan)
        case .compensation(let stops):
            guard Self.compensations.contains(stops) else {
                throw .outOfRange("Exposure compensation", stops, Self.compensations)
            }
            plan.manual.compensation = stops
        case .moveFocus(let change):
            let control = try needFocus()
            let here = position(of: control.value, on: control)
            let start = isOurs(control) ? manual.focus ?? here : here
            try setFocus(moved(start, by: change, in: 0...1, &plan), &plan)
        case .moveKelvin(let change):
            guard let now = manual.whiteBalance.kelvin ?? kelvin else {
                throw .failed(
                    .none,
                    "This camera does not report its white balance. Set it first, for example with "
                        + "`dualcamctl wb 5500K`."
                )
            }
            let range = Double(Stops.kelvin.lowerBound)...Double(Stops.kelvin.upperBound)
            let end = moved(Double(now), by: Double(change), in: range, &plan)
            try setWhiteBalance(.kelvin(Int(end)), &plan)
        case .moveCompensation(let change):
            plan.manual.compensation =
                moved(manual.compensation, by: change, in: Self.compensations, &plan)
        case .image(let name, let value): try planImage(name, value, &plan)
        case .moveImage(let name, let change):
            guard let control = image.first(where: { $0.name == name })?.control else {
                return try self.plan(.image(name, change))
            }
            let end = moved(control, by: change, &plan)
            try planImage(name, end, &plan)
        case .automatic(let dials): try planAutomatic(dials, &plan)
        case .reset:
            plan.manual = manual.withoutPro
            planAutomatic(&plan)
        case .lock(let subjects): try planLock(subjects, &plan)
        case .lockOnly(let subjects):
            for subject in manual.lock.subjects where !subjects.contains(subject) {
                unlock(subject, &plan)
            }
            // An empty set would hold all.
            if !subjects.isEmpty { try planLock(subjects, &plan) }
        case .unlock: for subject in manual.lock.subjects { unlock(subject, &plan) }
        case .torch(let isOn):
            guard let flashMode else { throw .notSupported("This camera has no torch.") }
            let mode = isOn ? DeviceControl.FlashMode.torch : DeviceControl.FlashMode.off
            plan.values.append(ControlWrite(flashMode, mode))
        case .toggleTorch: return try self.plan(.torch(torch != true))
        case .raw(let name, let value): try planRaw(name, value, &plan)
        case .moveRaw(let name, let change): try planRaw(name, by: change, &plan)
        case .look: break
        case .restore: try planRestored(&plan)
        }
        return plan
    }

    /// Returns `value` changed by `change`, at most up to an end of `range`, which the plan notes.
    private func moved(
        _ value: Double,
        by change: Double,
        in range: ClosedRange<Double>,
        _ plan: inout ControlPlan
    ) -> Double {
        // Without the dust of sums.
        let wanted = ((value + change) * 1e6).rounded() / 1e6
        if wanted > range.upperBound { plan.limit = .maximum }
        if wanted < range.lowerBound { plan.limit = .minimum }
        return min(max(wanted, range.lowerBound), range.upperBound)
    }

    /// Returns `true` if the control still shows the result of our last write.
    private func isOurs(_ control: DeviceControl) -> Bool { settled[control.id] == control.value }

    /// Checks that the camera has something for `dial` to turn. Throws `notSupported` otherwise.
    package func need(_ dial: Dial) throws(ControlRefusal) {
        switch dial {
        case .iso: _ = try needSensitivity()
        case .shutter: _ = try needExposureTime()
        case .focus: _ = try needFocus()
        case .whiteBalance: break  // Software does it if the camera cannot.
        }
    }

    func has(_ dial: Dial) -> Bool {
        do throws(ControlRefusal) {
            try need(dial)
            return true
        } catch { return false }
    }

    private func needSensitivity() throws(ControlRefusal) -> DeviceControl {
        guard let sensitivity else {
            throw .notSupported(
                "This camera has no ISO. Try `dualcamctl ev +1`."
            )
        }
        return sensitivity
    }

    private func needExposureTime() throws(ControlRefusal) -> DeviceControl {
        guard let exposureTime else {
            throw .notSupported(
                "This camera has no manual exposure. Try `dualcamctl ev +1`."
            )
        }
        return exposureTime
    }

    private func needFocus() throws(ControlRefusal) -> DeviceControl {
        guard let focusControl else { throw .notSupported("This camera has no manual focus.") }
        return focusControl
    }

    // MARK: Dials

    private func setISO(_ iso: Int, _ plan: inout ControlPlan) throws(ControlRefusal) {
        _ = try needSensitivity()
        let stops = isoStops
        let range =
            isISOApproximate
            ? settings.isoRange : (stops.first ?? 0)...max(stops.first ?? 0, stops.last ?? 0)
        guard range.contains(iso) else {
            throw .outOfRange("ISO", iso, range)
        }
        plan.manual.iso = iso
        endExposureLock(&plan)
        try planISO(&plan)
    }

    private func stepISO(_ clicks: Int, _ plan: inout ControlPlan) throws(ControlRefusal) {
        let control = try needSensitivity()
        if clicks == 0 { return }
        let start = isOurs(control) ? manual.iso ?? iso(of: control) : iso(of: control)
        guard let step = Stops.step(start, by: clicks, in: isoStops) else { return }
        plan.limit = step.limit
        plan.manual.iso = step.value
        endExposureLock(&plan)
        try planISO(&plan)
    }

    private func setShutter(_ time: Int, _ plan: inout ControlPlan) throws(ControlRefusal) {
        let control = try needExposureTime()
        let range = max(1, control.range.lowerBound) * 100...control.range.upperBound * 100
        // A time counts as in range if it rounds to one of the device's.
        let reach =
            Int(
                Double(range.lowerBound) / Stops.tolerance
            )...Int(Double(range.upperBound) * Stops.tolerance)
        guard reach.contains(time) else {
            let texts = [range.lowerBound, range.upperBound, time].map(Stops.shutterText)
            throw .outOfRange(
                "Shutter must be between \(texts[0]) and \(texts[1]), not \(texts[2])."
            )
        }
        plan.manual.shutter = time
        endExposureLock(&plan)
        planExposure(&plan)
    }

    private func stepShutter(_ clicks: Int, _ plan: inout ControlPlan) throws(ControlRefusal) {
        let control = try needExposureTime()
        if clicks == 0 { return }
        let start = isOurs(control) ? manual.shutter ?? shutter ?? 0 : shutter ?? 0
        // Faster means shorter.
        let stops = shutterStops
        guard let step = Stops.step(start, by: 0 - max(clicks, -stops.count - 1), in: stops) else {
            return
        }
        plan.limit = step.limit
        plan.manual.shutter = step.value
        endExposureLock(&plan)
        planExposure(&plan)
    }

    private func setFocus(_ position: Double, _ plan: inout ControlPlan) throws(ControlRefusal) {
        _ = try needFocus()
        guard (0...1).contains(position) else {
            throw .outOfRange("Focus", position, 0...1)
        }
        plan.manual.focus = position
        plan.manual.lock.values[.focus] = nil
        try planFocus(&plan)
    }

    private func stepFocus(_ clicks: Int, _ plan: inout ControlPlan) throws(ControlRefusal) {
        let control = try needFocus()
        if clicks == 0 { return }
        let here = position(of: control.value, on: control)
        let start = isOurs(control) ? manual.focus ?? here : here
        guard let step = Stops.step(start, by: clicks, in: focusStops) else { return }
        plan.limit = step.limit
        plan.manual.focus = step.value
        plan.manual.lock.values[.focus] = nil
        try planFocus(&plan)
    }

    private func setWhiteBalance(
        _ balance: WhiteBalance,
        _ plan: inout ControlPlan
    ) throws(ControlRefusal) {
        if let kelvin = balance.kelvin, !Stops.kelvin.contains(kelvin) {
            throw .outOfRange("White balance", kelvin, Stops.kelvin, unit: " K")
        }
        plan.manual.whiteBalance = balance
        plan.manual.lock.values[.whiteBalance] = nil
        planWhiteBalance(&plan)
    }

    private func stepKelvin(_ clicks: Int, _ plan: inout ControlPlan) {
        if clicks == 0 { return }
        let steps = Array(
            stride(
                from: Stops.kelvin.lowerBound,
                through: Stops.kelvin.upperBound,
                by: Stops.kelvinStep
            )
        )
        let start = manual.whiteBalance.kelvin ?? kelvin ?? Self.daylight
        guard let step = Stops.step(start, by: clicks, in: steps) else { return }
        plan.limit = step.limit
        plan.manual.whiteBalance = .kelvin(step.value)
        plan.manual.lock.values[.whiteBalance] = nil
        planWhiteBalance(&plan)
    }

    /// Plans all manual values anew. Another camera may be there now, so only what it can do.
    private func planRestored(_ plan: inout ControlPlan) throws(ControlRefusal) {
        if manual.iso != nil, sensitivity != nil { try planISO(&plan) }
        if manual.shutter != nil || manual.holdsShutter, exposureTime != nil {
            planExposure(&plan)
        }
        if manual.focus != nil, focusControl != nil { try planFocus(&plan) }
        if manual.whiteBalance != .auto { planWhiteBalance(&plan) }
        planLocked(&plan)
        plan.image = ImageControl.allCases.filter { wanted($0) != nil }
    }

    // MARK: Manual

    private func planISO(_ plan: inout ControlPlan) throws(ControlRefusal) {
        guard let control = sensitivity, let iso = plan.manual.iso else { return }
        if let isoSwitch {
            turn(isoSwitch, to: 0, &plan)
        } else if exposureTime != nil, exposureMode != nil {
            // Automatic exposure also drives the gain, or cancels its effect, so it goes off too.
            // The exposure time stays as it is.
            plan.manual.holdsShutter = plan.manual.shutter == nil
            planExposure(&plan)
        }
        if control.purpose == .iso {
            let items = isoMenu(control)
            let item = items.min {
                abs(log(Double($0.iso) / Double(iso))) < abs(log(Double($1.iso) / Double(iso)))
            }
            if let item { plan.values.append(ControlWrite(control, item.index)) }
        } else {
            if isoSwitch == nil, plan.original[control.id] == nil, manual.iso == nil {
                plan.original[control.id] = control.value
            }
            plan.values.append(ControlWrite(control, gain(for: iso, on: control)))
        }
    }

    private func planExposure(_ plan: inout ControlPlan) {
        guard let control = exposureTime else { return }
        if let exposureMode, let manualExposure { turn(exposureMode, to: manualExposure, &plan) }
        let time = plan.manual.shutter ?? shutter ?? 0
        if plan.manual.shutter != nil { plan.manual.holdsShutter = false }
        if let dynamic = self.control(for: .dynamicFrameRate) {
            // The frame rate holds while the exposure fits between frames; a longer one needs
            // slower frames.
            let fits = Double(time) <= 1.02e6 / max(settings.frameRate, 0.1)
            if plan.original[dynamic.id] == nil { plan.original[dynamic.id] = dynamic.value }
            turn(dynamic, to: fits ? 0 : 1, &plan)
        }
        if let shutter = plan.manual.shutter {
            plan.values.append(ControlWrite(control, control.nearest(to: Double(shutter) / 100)))
        }
    }

    private func planFocus(_ plan: inout ControlPlan) throws(ControlRefusal) {
        guard let control = focusControl, let position = plan.manual.focus else { return }
        if let focusSwitch { turn(focusSwitch, to: 0, &plan) }
        plan.values.append(ControlWrite(control, focusValue(for: position, on: control)))
    }

    private func planWhiteBalance(_ plan: inout ControlPlan) {
        guard let kelvin = plan.manual.whiteBalance.kelvin else {
            return automateWhiteBalance(&plan)
        }
        if let temperature {
            if let whiteBalanceSwitch { turn(whiteBalanceSwitch, to: 0, &plan) }
            plan.values.append(ControlWrite(temperature, temperature.nearest(to: Double(kelvin))))
        } else if let preset, let item = presetItem(for: kelvin) {
            plan.values.append(ControlWrite(preset, item.index))
        }
    }

    /// Ends holding the exposure, one value of which is set by hand; the other one stays as it is.
    private func endExposureLock(_ plan: inout ControlPlan) {
        guard plan.manual.lock.values.removeValue(forKey: .exposure) != nil else { return }
        if plan.manual.shutter == nil, exposureTime != nil { plan.manual.holdsShutter = true }
        if plan.manual.iso == nil, isoSwitch != nil { plan.manual.iso = iso }
    }

    /// Plans to change a value in the driver's own terms, at most up to an end.
    private func planRaw(
        _ name: String,
        by change: Int,
        _ plan: inout ControlPlan
    ) throws(ControlRefusal) {
        guard let control = device.first(where: { $0.name == name }), control.kind == .integer
        else {
            // What has no numbers has no steps, and what is not there is refused for that.
            if !device.contains(where: { $0.name == name }) { try planRaw(name, 0, &plan) }
            throw .outOfRange("\(name) has no steps. Give its new value.")
        }
        try planRaw(name, moved(control, by: change, &plan), &plan)
    }

    /// Returns the value of `control` changed by `change`, at most up to an end.
    private func moved(
        _ control: DeviceControl,
        by change: Int,
        _ plan: inout ControlPlan
    ) -> Int {
        // A change smaller than the device's step is one.
        let step = abs(change) < control.step ? control.step * change.signum() : change
        let range = Double(control.range.lowerBound)...Double(control.range.upperBound)
        return Int(moved(Double(control.value), by: Double(step), in: range, &plan))
    }

    /// Plans to write a value in the driver's own terms.
    private func planRaw(
        _ name: String,
        _ value: Int,
        _ plan: inout ControlPlan
    ) throws(ControlRefusal) {
        guard let control = device.first(where: { $0.name == name }) else {
            throw .notSupported(
                "This camera has no control “\(name.prefix(64))”. `dualcamctl controls` lists them."
            )
        }
        guard control.kind != .other, control.flags.isDisjoint(with: [.disabled, .readOnly]) else {
            throw .notSupported("\(name) cannot be set.")
        }
        switch control.kind {
        case .menu, .integerMenu:
            guard control.has(value) else {
                let items = control.menu.map { "\($0.index) (\($0.name))" }.joined(separator: ", ")
                throw .outOfRange("\(name) must be one of \(items), not \(value).")
            }
        case .button, .bitmask: break
        case .integer, .boolean, .other:
            guard control.range.contains(value) else {
                throw .outOfRange(name, value, control.range)
            }
        }
        plan.values.append(ControlWrite(control, value))
    }

    // MARK: Automatic

    private func planAutomatic(
        _ dials: Set<Dial>,
        _ plan: inout ControlPlan
    ) throws(ControlRefusal) {
        for dial in dials where manual.lock.values[dial.lockSubject] != nil {
            unlock(dial.lockSubject, &plan)
        }
        // What the camera does not have is automatic already.
        if dials.contains(.iso), sensitivity != nil {
            plan.manual.iso = nil
            plan.manual.holdsShutter = false
            automateISO(&plan)
            if plan.manual.shutter == nil, manual.holdsShutter { automateExposure(&plan) }
        }
        if dials.contains(.shutter), exposureTime != nil {
            plan.manual.shutter = nil
            plan.manual.holdsShutter = false
            automateExposure(&plan)
            // Without an ISO switch, automatic exposure overrides a manual ISO, so that ends too.
            if isoSwitch == nil, plan.manual.iso != nil {
                plan.manual.iso = nil
                automateISO(&plan)
            }
        }
        if dials.contains(.focus), focusControl != nil {
            guard focusSwitch != nil else {
                throw .notSupported("This camera does not focus by itself.")
            }
            plan.manual.focus = nil
            automateFocus(&plan)
        }
        if dials.contains(.whiteBalance) {
            plan.manual.whiteBalance = .auto
            automateWhiteBalance(&plan)
        }
    }

    private func planAutomatic(_ plan: inout ControlPlan) {
        let held = plan.manual.lock.values
        if held[.exposure] == nil {
            automateISO(&plan)
            automateExposure(&plan)
        }
        if held[.focus] == nil { automateFocus(&plan) }
        if held[.whiteBalance] == nil { automateWhiteBalance(&plan) }
    }

    /// Plans to return what is held of `subject` to automatic, unless it was also set by hand.
    private func unlock(_ subject: ControlLock.Subject, _ plan: inout ControlPlan) {
        guard plan.manual.lock.values.removeValue(forKey: subject) != nil else { return }
        switch subject {
        case .exposure:
            if manual.iso == nil { automateISO(&plan) }
            if manual.shutter == nil, !manual.holdsShutter { automateExposure(&plan) }
        case .focus: if manual.focus == nil { automateFocus(&plan) }
        case .whiteBalance: if manual.whiteBalance == .auto { automateWhiteBalance(&plan) }
        }
    }

    private func automateISO(_ plan: inout ControlPlan) {
        guard let control = sensitivity else { return }
        if let isoSwitch {
            turn(isoSwitch, to: 1, &plan)
        } else if control.purpose != .iso, manual.iso != nil {
            // A gain without an automatic gets back the value it was found with.
            let value = plan.original.removeValue(forKey: control.id) ?? control.initial
            plan.values.append(ControlWrite(control, value))
        }
    }

    private func automateExposure(_ plan: inout ControlPlan) {
        if let dynamic = control(for: .dynamicFrameRate),
            let value = plan.original.removeValue(forKey: dynamic.id)
        {
            turn(dynamic, to: value, &plan)
        }
        if let exposureMode, let automaticExposure, isExposureAutomatic == false {
            turn(exposureMode, to: automaticExposure, &plan)
        }
    }

    private func automateFocus(_ plan: inout ControlPlan) {
        if let focusSwitch { turn(focusSwitch, to: 1, &plan) }
    }

    private func automateWhiteBalance(_ plan: inout ControlPlan) {
        if let whiteBalanceSwitch { turn(whiteBalanceSwitch, to: 1, &plan) }
        if let preset, preset.has(DeviceControl.PresetIndex.auto), temperature == nil {
            plan.values.append(ControlWrite(preset, DeviceControl.PresetIndex.auto))
        }
    }

    /// Plans to set a switch, unless it is set already.
    private func turn(_ control: DeviceControl, to value: Int, _ plan: inout ControlPlan) {
        guard control.value != value, !plan.switches.contains(where: { $0.id == control.id }) else {
            return
        }
        plan.switches.append(ControlWrite(control, value))
    }
}

extension Dial {
    /// The part of the automatic that the dial replaces.
    fileprivate var lockSubject: ControlLock.Subject {
        switch self {
        case .iso, .shutter: .exposure
        case .focus: .focus
        case .whiteBalance: .whiteBalance
        }
    }
}
