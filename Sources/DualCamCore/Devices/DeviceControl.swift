/// A control of a camera as its driver describes it, in V4L2's terms.
package struct DeviceControl: Hashable, Sendable {
    /// The type of a control's values. The words are those of `v4l2-ctl`.
    package enum Kind: String, Hashable, Sendable {
        case integer = "int"
        case boolean = "bool"
        case menu
        /// A menu whose items are numbers.
        case integerMenu = "intmenu"
        case bitmask
        case button
        /// A type whose value is not a single number.
        case other
    }

    /// The use that DualCam makes of a control.
    package enum Purpose: Hashable, Sendable {
        /// V4L2_CID_EXPOSURE_AUTO, a menu of `ExposureMode`.
        case exposureMode
        /// V4L2_CID_EXPOSURE_ABSOLUTE, in units of 100 µs.
        case exposureTime
        /// V4L2_CID_EXPOSURE_AUTO_PRIORITY: the frame rate may drop to gain light.
        case dynamicFrameRate
        /// V4L2_CID_ISO_SENSITIVITY_AUTO, a menu: 0 manual, 1 auto.
        case isoMode
        /// V4L2_CID_ISO_SENSITIVITY, a menu of ISO · 1000.
        case iso
        /// V4L2_CID_AUTOGAIN.
        case autogain
        /// V4L2_CID_ANALOGUE_GAIN.
        case analogueGain
        /// V4L2_CID_GAIN.
        case gain
        /// V4L2_CID_FOCUS_AUTO.
        case focusAuto
        /// V4L2_CID_FOCUS_ABSOLUTE; V4L2 defines larger values as nearer.
        case focus
        /// V4L2_CID_AUTO_WHITE_BALANCE.
        case whiteBalanceAuto
        /// V4L2_CID_WHITE_BALANCE_TEMPERATURE, in Kelvin.
        case temperature
        /// V4L2_CID_AUTO_N_PRESET_WHITE_BALANCE, a menu of `PresetIndex`.
        case whiteBalancePreset
        /// V4L2_CID_ZOOM_ABSOLUTE; larger values are narrower.
        case zoom
        /// V4L2_CID_POWER_LINE_FREQUENCY, a menu of `PowerLine`: against the flicker of lamps.
        case powerLine
        /// V4L2_CID_FLASH_LED_MODE, a menu of `FlashMode`.
        case flashMode
        case image(ImageControl)
    }

    /// The items of the menu V4L2_CID_EXPOSURE_AUTO (enum v4l2_exposure_auto_type).
    package enum ExposureMode {
        /// Automatic time and aperture.
        package static let auto = 0
        /// Manual time and aperture.
        package static let manual = 1
        /// Manual time.
        package static let shutterPriority = 2
        /// Automatic time.
        package static let aperturePriority = 3
    }

    /// The items of V4L2_CID_AUTO_N_PRESET_WHITE_BALANCE (v4l2_auto_n_preset_white_balance).
    package enum PresetIndex {
        package static let auto = 1
        /// The Kelvin of the items that stand for a light of known colour, by item.
        package static let lights = [
            2: 3200, 3: 4000, 4: 5000, 5: 2300, 6: 5500, 8: 6500, 9: 7500,
        ]
    }

    /// The items of the menu V4L2_CID_POWER_LINE_FREQUENCY (enum v4l2_power_line_frequency).
    package enum PowerLine {
        package static let hz50 = 1
        package static let hz60 = 2
        /// As the camera finds it.
        package static let auto = 3
    }

    /// The items of the menu V4L2_CID_FLASH_LED_MODE (enum v4l2_flash_led_mode).
    package enum FlashMode {
        package static let off = 0
        package static let torch = 2
    }

    /// V4L2_CTRL_FLAG_…, with the kernel's numbers.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        /// The control cannot be used at all.
        package static let disabled = Flags(rawValue: 0x01)
        package static let readOnly = Flags(rawValue: 0x04)
        /// The control has no effect while an automatic drives it.
        package static let inactive = Flags(rawValue: 0x10)
        package static let writeOnly = Flags(rawValue: 0x40)
        /// The control changes by itself.
        package static let volatile = Flags(rawValue: 0x80)
    }

    /// An item of a menu.
    package struct Item: Hashable, Sendable {
        /// The value that selects the item.
        package var index: Int
        /// The item's name for people; in a menu of numbers, the number.
        package var name: String
        /// The item's number, in a menu of numbers.
        package var number: Int?

        /// An item of a menu of names or, with `number`, of a menu of numbers.
        package init(index: Int, name: String, number: Int? = nil) {
            self.index = index
            self.name = name
            self.number = number
        }
    }

    /// The driver's number of the control.
    package var id: UInt32
    /// The name for programs: "exposure_time_absolute".
    package var name: String
    /// The name for people: "Exposure Time, Absolute".
    package var title: String
    package var kind: Kind
    /// The use that DualCam makes of it, if any.
    package var purpose: Purpose?
    /// The possible values, in steps of `step` from the lowest.
    package var range: ClosedRange<Int>
    /// The distance between neighbouring values; at least 1.
    package var step: Int
    package var initial: Int
    package var menu: [Item]
    package var flags: Flags
    package var value: Int

    package init(
        id: UInt32,
        name: String,
        title: String = "",
        kind: Kind = .integer,
        purpose: Purpose? = nil,
        range: ClosedRange<Int>,
        step: Int = 1,
        initial: Int = 0,
        menu: [Item] = [],
        flags: Flags = [],
        value: Int = 0
    ) {
        self.id = id
        self.name = name
        self.title = title
        self.kind = kind
        self.purpose = purpose
        self.range = range
        self.step = max(1, step)
        self.initial = initial
        self.menu = menu
        self.flags = flags
        self.value = value
    }

    /// `true` if the control can be set, now or once it is no longer automatic.
    var isSettable: Bool {
        flags.isDisjoint(with: [.disabled, .readOnly]) && range.lowerBound < range.upperBound
    }

    /// `true` if the value changes by itself. No event reports that, so it has to be polled.
    package var changesItself: Bool { flags.contains(.volatile) || flags.contains(.inactive) }

    func nearest(to wanted: Double) -> Int {
        let (least, most) = (Double(range.lowerBound), Double(range.upperBound))
        let steps = ((min(max(wanted, least), most) - least) / Double(step)).rounded()
        let value = range.lowerBound + Int(steps) * step
        return value > range.upperBound ? value - step : value
    }

    /// Returns `true` if this is a menu with the item `index`.
    func has(_ index: Int) -> Bool { menu.contains { $0.index == index } }
}

/// A value to write to a control.
package struct ControlWrite: Hashable, Sendable {
    /// The driver's number of the control.
    package var id: UInt32
    package var name: String
    package var value: Int

    package init(_ control: DeviceControl, _ value: Int) {
        id = control.id
        name = control.name
        self.value = value
    }
}

/// The reason that a control is not set as asked, with a sentence for people.
package enum ControlRefusal: Error, Hashable, Sendable {
    /// The camera has no such control, and software cannot replace it.
    case notSupported(String)
    /// The value is out of range; the sentence names the possible ones.
    case outOfRange(String)
    /// The camera is not there, or did not accept the value.
    case failed(Interruption, String)

    /// The refusal of `value` outside `range`: "ISO must be between 100 and 3200, not 50."
    static func outOfRange<Number: Comparable>(
        _ name: String,
        _ value: Number,
        _ range: ClosedRange<Number>,
        unit: String = ""
    ) -> ControlRefusal {
        .outOfRange(outOfRangeText(name, range, not: value, unit: unit))
    }

    /// The reason, as a sentence for people.
    package var reason: String {
        switch self {
        case .notSupported(let reason), .outOfRange(let reason), .failed(_, let reason): reason
        }
    }
}

/// Returns the sentence for `value` outside `range`: "ISO must be between 100 and 3200, not 50."
package func outOfRangeText<Number: Comparable>(
    _ name: String,
    _ range: ClosedRange<Number>,
    not value: Number,
    unit: String = ""
) -> String {
    func text(_ number: Number) -> String {
        let text = "\(number)"
        return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + unit
    }
    let bounds = "\(text(range.lowerBound)) and \(text(range.upperBound))"
    return "\(name) must be between \(bounds), not \(text(value))."
}
