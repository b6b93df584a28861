import Glibc

// What a device's numbers mean, and back.
extension CameraControls {
    // MARK: ISO

    func iso(of control: DeviceControl) -> Int {
        if control.purpose == .iso {
            return isoMenu(control).first { $0.index == control.value }?.iso ?? 0
        }
        let exact = isoExactly(control.value, on: control)
        return Stops.nearest(Int(exact.rounded()), in: Stops.iso.filter(settings.isoRange.contains))
            ?? Int(exact.rounded())
    }

    /// The menu's items with their ISO, lowest first.
    func isoMenu(_ control: DeviceControl) -> [(index: Int, iso: Int)] {
        let numbers = control.menu.compactMap { item in item.number.map { (item.index, $0) } }
        // By V4L2 they are thousandths; a driver that says ISO itself has none that large.
        let isThousandth = (numbers.map(\.1).max() ?? 0) >= 20_000
        return numbers.map { (index: $0.0, iso: isThousandth ? $0.1 / 1000 : $0.1) }
            .filter { $0.iso > 0 }
            .sorted { $0.iso < $1.iso }
    }

    /// The ISO that a gain stands for: as many stops for each step of it.
    func isoExactly(_ gain: Int, on control: DeviceControl) -> Double {
        let (least, most) = (
            Double(settings.isoRange.lowerBound), Double(settings.isoRange.upperBound)
        )
        let range = control.range
        guard range.count > 1 else { return least }
        // Some drivers tell of values beyond their own range.
        let share =
            Double(gain.clamped(to: range) - range.lowerBound)
            / Double(range.upperBound - range.lowerBound)
        return least * pow(most / least, share)
    }

    /// The gain that comes nearest to an ISO.
    func gain(for iso: Int, on control: DeviceControl) -> Int {
        let (least, most) = (
            Double(settings.isoRange.lowerBound), Double(settings.isoRange.upperBound)
        )
        guard most > least else { return control.range.lowerBound }
        let share = log(Double(max(1, iso)) / least) / log(most / least)
        let range = control.range
        return control.nearest(
            to: Double(range.lowerBound) + share * Double(range.upperBound - range.lowerBound)
        )
    }

    // MARK: Focus

    func position(of value: Int, on control: DeviceControl) -> Double {
        let range = control.range
        let share = Double(value - range.lowerBound) / Double(range.upperBound - range.lowerBound)
        let position = settings.isFocusReversed ? share : 1 - share
        return (position.clamped(to: 0...1) * 1000).rounded() / 1000
    }

    func focusValue(for position: Double, on control: DeviceControl) -> Int {
        let range = control.range
        let share = settings.isFocusReversed ? position : 1 - position
        return control.nearest(
            to: Double(range.lowerBound) + share * Double(range.upperBound - range.lowerBound)
        )
    }

    // MARK: White balance

    /// What a picture counts as that nobody balanced: daylight.
    static var daylight: Int { 5500 }

    /// What the device is balanced for when it does what it can for `wanted` Kelvin. Software does the rest,
    /// where that is beyond the device's reach.
    func deviceKelvin(for wanted: Int) -> Int {
        if let temperature {
            let range = temperature.range
            return range.contains(wanted) ? wanted : wanted.clamped(to: range)
        }
        return presetItem(for: wanted)?.kelvin ?? Self.daylight
    }

    /// The item of the presets' menu that is nearest to `wanted`, in what the eye sees of it.
    func presetItem(for wanted: Int) -> (index: Int, kelvin: Int)? {
        let items = preset?.menu.compactMap { item in
            DeviceControl.PresetIndex.lights[item.index].map { (index: item.index, kelvin: $0) }
        }
        return items?.min {
            abs(1 / Double($0.kelvin) - 1 / Double(wanted))
                < abs(1 / Double($1.kelvin) - 1 / Double(wanted))
        }
    }

    // MARK: Light

    /// The gain of coded values that makes a picture `stops` stops lighter.
    func lightGain(_ stops: Double) -> Double { pow(2, stops / 2.2) }
}
