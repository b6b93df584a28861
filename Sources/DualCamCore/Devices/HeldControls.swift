/// The controls held at a value while a camera delivers, so that it keeps its rate in the dark,
/// lamps do not flicker, and what is locked stays. They are put back when it closes. Pure.
package struct HeldControls: Hashable, Sendable {
    /// A control's value before it was held, and the one that it is held at.
    private struct Values: Hashable {
        var found: Int
        var held: Int
    }
    /// The values by control number.
    private var values: [UInt32: Values] = [:]

    package init() {}

    package var isEmpty: Bool { values.isEmpty }

    /// Returns what to write for `settings` to a camera that reports `device`, in a region with the
    /// mains `region`. What it lacks, and what is right already, is left out.
    package func plan(
        _ settings: ControlSettings,
        _ device: [DeviceControl],
        region: MainsFrequency
    ) -> [ControlWrite] {
        device.filter(\.isSettable).compactMap { control in
            let wanted: Int? =
                switch control.purpose {
                case .dynamicFrameRate: settings.holdsRate ? 0 : nil
                case .powerLine:
                    Self.item(for: settings.antiFlicker.mains(in: region), of: control)
                default: nil
                }
            guard let wanted, wanted != control.value else { return nil }
            return ControlWrite(control, wanted)
        }
    }

    /// Returns the item of the menu for `mains`, if there is one.
    private static func item(for mains: MainsFrequency, of control: DeviceControl) -> Int? {
        let item: Int? =
            switch mains {
            case .hz50: DeviceControl.PowerLine.hz50
            case .hz60: DeviceControl.PowerLine.hz60
            // A camera that finds out by itself is right in both halves.
            case .both: DeviceControl.PowerLine.auto
            case .unknown: nil
            }
        return item.flatMap { control.has($0) ? $0 : nil }
    }

    /// Notes that `write` is made to a camera that reports `device`.
    package mutating func note(_ write: ControlWrite, over device: [DeviceControl]) {
        guard let control = device.first(where: { $0.id == write.id }) else { return }
        let found = values[write.id]?.found ?? control.value
        values[write.id] = Values(found: found, held: write.value)
    }

    /// Forgets a write that the camera refused.
    package mutating func forget(_ write: ControlWrite) { values[write.id] = nil }

    /// Forgets a write, so that its control is held as in `before`, if at all.
    package mutating func forget(_ write: ControlWrite, as before: HeldControls) {
        values[write.id] = before.values[write.id]
    }

    /// Forgets the automatics of `device` that `lock` holds no more: somebody set them; they stay.
    package mutating func forget(_ device: [DeviceControl], except lock: ControlLock) {
        for control in device {
            guard let subject = control.purpose?.lockSubject, lock.values[subject] == nil else {
                continue
            }
            values[control.id] = nil
        }
    }

    /// Takes what `device` reports for the values that its controls are held at.
    package mutating func keep(_ device: [DeviceControl]) {
        for control in device { values[control.id]?.held = control.value }
    }

    /// Forgets these controls: somebody else set them; they stay.
    package mutating func forget(_ device: [DeviceControl]) {
        for control in device { values[control.id] = nil }
    }

    /// Returns `true` if one of `device` is not at the value that it is held at.
    package func isChanged(_ device: [DeviceControl]) -> Bool {
        device.contains { control in values[control.id].map { $0.held != control.value } ?? false }
    }

    /// Returns the writes that put back what was found. What another program has changed stays.
    package func release(_ device: [DeviceControl]) -> [ControlWrite] {
        device.compactMap { control in
            guard let value = values[control.id], control.value == value.held else { return nil }
            return ControlWrite(control, value.found)
        }
    }

    // MARK: What survives a crash

    /// The text that `init(parsing:over:)` reads: a line for each control.
    package var text: String {
        values.sorted { $0.key < $1.key }
            .map { "\($0.key) \($0.value.found) \($0.value.held)\n" }.joined()
    }

    /// Takes up what an earlier run left in `text`, for a camera that reports `device`. A control
    /// with another value than it was held at was reset or changed since, and is not held.
    package init(parsing text: String, over device: [DeviceControl]) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let id = UInt32(words[0]), let found = Int(words[1]),
                let held = Int(words[2]),
                let control = device.first(where: { $0.id == id && $0.value == held }),
                control.purpose?.isHeld == true,
                control.range.contains(found)
            else { continue }
            values[id] = Values(found: found, held: held)
        }
    }
}
