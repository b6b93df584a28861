/// The controls that are held as the camera's automatic found them, under a hand over a page, too.
package struct ControlLock: Hashable, Sendable {
    /// A part of the automatic that can be held. The words are those of the commands and of D-Bus.
    package enum Subject: String, CaseIterable, Hashable, Sendable {
        case exposure, focus
        case whiteBalance = "wb"
    }

    /// The values to hold, by control number, of each part that is held.
    var values: [Subject: [UInt32: Int]] = [:]

    package init() {}

    package var subjects: [Subject] { Subject.allCases.filter { values[$0] != nil } }
}

extension DeviceControl.Purpose {
    /// The part of the automatic that a switch of this purpose turns off; `nil` if it is none.
    package var lockSubject: ControlLock.Subject? {
        switch self {
        case .exposureMode, .autogain, .isoMode: .exposure
        case .focusAuto: .focus
        case .whiteBalanceAuto: .whiteBalance
        default: nil
        }
    }
}

extension DeviceControl.Purpose {
    /// `true` if `HeldControls` may hold it.
    var isHeld: Bool {
        switch self {
        case .dynamicFrameRate, .powerLine: true
        case .image(let name): !name.moves
        default: lockSubject != nil || isExposure
        }
    }
}

extension CameraControls {
    /// The parts of the automatic that this camera can hold.
    package var lockable: [ControlLock.Subject] {
        ControlLock.Subject.allCases.filter { !lockSwitches(of: $0).isEmpty }
    }

    /// The switches of the automatic for `subject`, and the item that turns each off.
    private func lockSwitches(
        of subject: ControlLock.Subject
    ) -> [(control: DeviceControl, off: Int)] {
        switch subject {
        case .exposure:
            let mode = exposureMode.flatMap { mode in
                exposureTime == nil ? nil : manualExposure.map { (control: mode, off: $0) }
            }
            return [mode, isoSwitch.map { (control: $0, off: 0) }].compactMap { $0 }
        case .focus: return focusSwitch.map { [($0, 0)] } ?? []
        case .whiteBalance: return whiteBalanceSwitch.map { [($0, 0)] } ?? []
        }
    }

    /// The controls whose values are held for `subject`.
    private func lockedControls(of subject: ControlLock.Subject) -> [DeviceControl] {
        switch subject {
        case .exposure:
            [exposureTime, sensitivity.flatMap { $0.purpose == .iso ? nil : $0 }]
                .compactMap { $0 }
        case .focus: [focusControl].compactMap { $0 }
        case .whiteBalance: [temperature].compactMap { $0 }
        }
    }

    /// Plans to hold `subjects` as they are now; if it is empty, all that the camera can hold.
    /// Throws `notSupported`, with what the camera can hold.
    func planLock(
        _ subjects: Set<ControlLock.Subject>,
        _ plan: inout ControlPlan
    ) throws(ControlRefusal) {
        let lockable = lockable
        let others = lockable.map(\.rawValue).joined(separator: " ")
        let advice = lockable.isEmpty ? "freeze on" : "lock \(others)"
        for subject in ControlLock.Subject.allCases where subjects.contains(subject) {
            guard !lockable.contains(subject) else { continue }
            throw .notSupported(
                "This camera cannot lock its \(subject.words). Try `dualcamctl \(advice)`."
            )
        }
        guard !lockable.isEmpty else {
            throw .notSupported("This camera has nothing to lock. Try `dualcamctl \(advice)`.")
        }
        for subject in lockable where subjects.isEmpty || subjects.contains(subject) {
            // What is held already has no automatic that could find anything else.
            guard plan.manual.lock.values[subject] == nil else { continue }
            plan.manual.lock.values[subject] = Dictionary(
                lockedControls(of: subject).map { ($0.id, $0.value) },
                uniquingKeysWith: { first, _ in first }
            )
        }
        planLocked(&plan)
    }

    /// Plans to hold all that is to be held, on a device that may have forgotten it.
    func planLocked(_ plan: inout ControlPlan) {
        for subject in plan.manual.lock.subjects {
            let switches = lockSwitches(of: subject).filter { $0.control.value != $0.off }
            for (control, off) in switches {
                plan.switches.append(ControlWrite(control, off))
                plan.held.append(ControlWrite(control, off))
            }
            // Written even if they are right: many a camera goes to what was last set by hand.
            for control in lockedControls(of: subject) {
                guard let value = plan.manual.lock.values[subject]?[control.id],
                    control.range.contains(value)
                else { continue }
                plan.values.append(ControlWrite(control, value))
            }
        }
    }

    /// Returns the parts that are no longer held, since another program has turned an automatic on
    /// again: a switch of theirs fulfils `isOther`.
    func takenOver(_ isOther: (DeviceControl) -> Bool) -> [ControlLock.Subject] {
        manual.lock.subjects.filter { lockSwitches(of: $0).contains { isOther($0.control) } }
    }
}

extension ControlLock.Subject {
    fileprivate var words: String {
        switch self {
        case .exposure: "exposure"
        case .focus: "automatic focus"
        case .whiteBalance: "white balance"
        }
    }
}
