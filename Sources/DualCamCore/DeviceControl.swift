/// A control of a camera as its driver describes it: the terms are V4L2's.
package struct DeviceControl: Hashable, Sendable {
    /// What its values are. The words are those of `v4l2-ctl`.
    package enum Kind: String, Hashable, Sendable {
        case integer = "int"
        case boolean = "bool"
        case menu
        /// A menu whose items are numbers.
        case integerMenu = "intmenu"
        case bitmask
        case button
        /// Of a type that has no single number.
        case other
    }

    /// What we use it for.
    package enum Purpose: Hashable, Sendable {
        /// V4L2_CID_EXPOSURE_AUTO, a menu of `ExposureMode`.
        case exposureMode
        /// V4L2_CID_EXPOSURE_ABSOLUTE, in 100 µs.
        case exposureTime
        /// V4L2_CID_EXPOSURE_AUTO_PRIORITY: frames may come slower for the sake of light.
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
        /// V4L2_CID_FOCUS_ABSOLUTE; larger is nearer, by V4L2's word.
        case focus
        /// V4L2_CID_AUTO_WHITE_BALANCE.
        case whiteBalanceAuto
        /// V4L2_CID_WHITE_BALANCE_TEMPERATURE, in Kelvin.
        case temperature
        /// V4L2_CID_AUTO_N_PRESET_WHITE_BALANCE, a menu of `PresetIndex`.
        case whiteBalancePreset
        /// V4L2_CID_ZOOM_ABSOLUTE; larger is narrower.
        case zoom
        /// V4L2_CID_FLASH_LED_MODE, a menu of `FlashMode`.
        case flashMode
    }

    /// Items of the menu V4L2_CID_EXPOSURE_AUTO (enum v4l2_exposure_auto_type).
    package enum ExposureMode {
        /// Time and aperture are automatic.
        package static let auto = 0
        /// Both are manual.
        package static let manual = 1
        /// The time is manual.
        package static let shutterPriority = 2
        /// The time is automatic.
        package static let aperturePriority = 3
    }

    /// Items of the menu V4L2_CID_AUTO_N_PRESET_WHITE_BALANCE (enum v4l2_auto_n_preset_white_balance).
    package enum PresetIndex {
        /// Whatever the camera finds.
        package static let auto = 1
        /// The items that are a light of a known colour, with its Kelvin.
        package static let lights = [
            2: 3200, 3: 4000, 4: 5000, 5: 2300, 6: 5500, 8: 6500, 9: 7500,
        ]
    }

    /// Items of the menu V4L2_CID_FLASH_LED_MODE (enum v4l2_flash_led_mode).
    package enum FlashMode {
        /// The light is off.
        package static let off = 0
        /// It shines all the time.
        package static let torch = 2
    }

    /// V4L2_CTRL_FLAG_…, by the kernel's own numbers.
    package struct Flags: OptionSet, Hashable, Sendable {
        /// The kernel's bits.
        package let rawValue: UInt32
        /// Flags of the kernel's bits.
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Cannot be used at all.
        package static let disabled = Flags(rawValue: 0x01)
        /// Cannot be changed while something else goes on, such as the stream.
        package static let grabbed = Flags(rawValue: 0x02)
        /// Can be looked at alone.
        package static let readOnly = Flags(rawValue: 0x04)
        /// Has no effect, since an automatic has it.
        package static let inactive = Flags(rawValue: 0x10)
        /// Has nothing to be read.
        package static let writeOnly = Flags(rawValue: 0x40)
        /// Changes by itself.
        package static let volatile = Flags(rawValue: 0x80)
    }

    /// An item of a menu.
    package struct Item: Hashable, Sendable {
        /// The value that chooses it.
        package var index: Int
        /// What people call it; of a menu of numbers, the number.
        package var name: String
        /// The number, in a menu of numbers.
        package var number: Int?

        /// An item of a menu of names, or of numbers where it has one.
        package init(index: Int, name: String, number: Int? = nil) {
            self.index = index
            self.name = name
            self.number = number
        }
    }

    /// The driver's number for it.
    package var id: UInt32
    /// Its name for programs: "exposure_time_absolute".
    package var name: String
    /// Its name for people: "Exposure Time, Absolute".
    package var title: String
    /// What its values are.
    package var kind: Kind
    /// What we use it for, if we do.
    package var purpose: Purpose?
    /// What it can be, in steps of `step` from the lowest on.
    package var range: ClosedRange<Int>
    /// By how much its values differ.
    package var step: Int
    /// What it is at first.
    package var initial: Int
    /// The items of a menu that there are.
    package var menu: [Item]
    /// What is true of it now.
    package var flags: Flags
    /// What it is now.
    package var value: Int

    /// A control with a value of the driver's.
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

    /// Whether it can be set, now or once an automatic lets go of it.
    var isSettable: Bool {
        flags.isDisjoint(with: [.disabled, .readOnly]) && range.lowerBound < range.upperBound
    }

    /// Whether it changes without being asked: told of by no event, it has to be looked at.
    package var changesItself: Bool { flags.contains(.volatile) || flags.contains(.inactive) }

    /// The value that it takes nearest to `wanted`.
    func nearest(to wanted: Double) -> Int {
        let (least, most) = (Double(range.lowerBound), Double(range.upperBound))
        let steps = ((min(max(wanted, least), most) - least) / Double(step)).rounded()
        let value = range.lowerBound + Int(steps) * step
        return value > range.upperBound ? value - step : value
    }

    /// Whether it is a menu that has the item `index`.
    func has(_ index: Int) -> Bool { menu.contains { $0.index == index } }
}

/// A value to be written to a control.
package struct ControlWrite: Hashable, Sendable {
    /// The driver's number of the control.
    package var id: UInt32
    /// Its name, for messages.
    package var name: String
    /// What it shall be.
    package var value: Int

    /// `value` for `control`.
    package init(_ control: DeviceControl, _ value: Int) {
        id = control.id
        name = control.name
        self.value = value
    }
}

/// Why a control is not set as asked. The reason is a sentence for people.
package enum ControlRefusal: Error, Hashable, Sendable {
    /// The camera has no such control, and software cannot stand in for it.
    case notSupported(String)
    /// The value is not among those possible; the reason says which are.
    case outOfRange(String)
    /// The camera is not there or did not take it.
    case failed(Interruption, String)

    /// Why, as a sentence for people.
    package var reason: String {
        switch self {
        case .notSupported(let reason), .outOfRange(let reason), .failed(_, let reason): reason
        }
    }
}
