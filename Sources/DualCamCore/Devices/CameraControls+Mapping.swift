import Glibc

// Conversions between a device's numbers and the photographer's terms.
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

    /// Returns the menu's items with their ISO, lowest first.
    func isoMenu(_ control: DeviceControl) -> [(index: Int, iso: Int)] {
        let numbers = control.menu.compactMap { item in item.number.map { (item.index, $0) } }
        // V4L2 defines the numbers as thousandths of ISO. Some drivers give ISO itself, but never
        // numbers as large as these.
        let isThousandth = (numbers.map(\.1).max() ?? 0) >= 20_000
        return numbers.map { (index: $0.0, iso: isThousandth ? $0.1 / 1000 : $0.1) }
            .filter { $0.iso > 0 }
            .sorted { $0.iso < $1.iso }
    }

    /// Returns the ISO of a gain, each step of which is worth the same number of stops.
    func isoExactly(_ gain: Int, on control: DeviceControl) -> Double {
        let (least, most) = (
            Double(settings.isoRange.lowerBound), Double(settings.isoRange.upperBound)
        )
        let range = control.range
        guard range.count > 1 else { return least }
        // Some drivers report values outside their own range.
        let share =
            Double(gain.clamped(to: range) - range.lowerBound)
            / Double(range.upperBound - range.lowerBound)
        return least * pow(most / least, share)
    }

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

    /// The colour temperature assumed for a picture without white balance, in Kelvin: daylight.
    static var daylight: Int { 5500 }

    /// Returns the Kelvin that the device itself is balanced for when `wanted` Kelvin are asked
    /// for. Software does the rest where the device cannot reach `wanted`.
    func deviceKelvin(for wanted: Int) -> Int {
        if let temperature {
            let range = temperature.range
            return range.contains(wanted) ? wanted : wanted.clamped(to: range)
        }
        return presetItem(for: wanted)?.kelvin ?? Self.daylight
    }

    /// Returns the item of the presets' menu nearest to `wanted` Kelvin, by reciprocal Kelvin.
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

    /// Returns the gain of coded values that makes a picture `stops` stops lighter.
    func lightGain(_ stops: Double) -> Double { pow(2, stops / 2.2) }
}
