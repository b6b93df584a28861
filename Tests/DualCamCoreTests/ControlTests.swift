import Testing

@testable import DualCamCore

struct ScriptedControls {
    var controls: [DeviceControl]
    /// The driver's rounding of a value, by the control's name.
    var rounding: [String: (Int) -> Int] = [:]
    /// The values written, in order: "auto_exposure=1".
    private(set) var log: [String] = []

    init(_ controls: [DeviceControl]) {
        self.controls = controls
        follow()
    }

    subscript(name: String) -> Int {
        get { controls.first { $0.name == name }?.value ?? .min }
        set {
            guard let index = controls.firstIndex(where: { $0.name == name }) else { return }
            controls[index].value = newValue
            follow()
        }
    }

    /// Marks values as inactive while their automatic is on.
    private mutating func follow() {
        let automatics: [(String, String, (Int) -> Bool)] = [
            ("auto_exposure", "exposure_time_absolute", { $0 != 1 && $0 != 2 }),
            ("focus_automatic_continuous", "focus_absolute", { $0 != 0 }),
            ("white_balance_automatic", "white_balance_temperature", { $0 != 0 }),
            ("gain_automatic", "gain", { $0 != 0 }),
        ]
        for (automatic, value, isOn) in automatics {
            guard let state = controls.first(where: { $0.name == automatic })?.value,
                let index = controls.firstIndex(where: { $0.name == value })
            else { continue }
            if isOn(state) {
                controls[index].flags.insert(.inactive)
            } else {
                controls[index].flags.remove(.inactive)
            }
        }
    }

    /// Carries out `plan`. A value that it refuses is an issue, as it would be in the stream.
    mutating func run(_ plan: ControlPlan, _ state: inout CameraControls) {
        for write in plan.switches + plan.values {
            guard let index = controls.firstIndex(where: { $0.id == write.id }) else {
                Issue.record("no control \(write.name)")
                continue
            }
            let control = controls[index]
            // A driver refuses these with EACCES or ERANGE.
            #expect(!control.flags.contains(.inactive), "\(write.name) is inactive")
            #expect(control.range.contains(write.value), "\(write.name)=\(write.value)")
            log.append("\(write.name)=\(write.value)")
            self[write.name] = rounding[write.name]?(write.value) ?? write.value
        }
        state.settle(plan, controls)
    }

    /// Gives `command` as the control side does. Returns the end of the dial if it was reached.
    @discardableResult
    mutating func give(_ command: ControlCommand, _ state: inout CameraControls) throws -> Bound? {
        log = []
        state.read(controls)
        let plan = try state.plan(command)
        run(plan, &state)
        return plan.limit
    }

    // MARK: Devices

    private static func control(
        _ id: UInt32,
        _ name: String,
        _ purpose: DeviceControl.Purpose,
        _ range: ClosedRange<Int>,
        step: Int = 1,
        value: Int,
        menu: [Int] = []
    ) -> DeviceControl {
        DeviceControl(
            id: id,
            name: name,
            kind: menu.isEmpty ? .integer : .menu,
            purpose: purpose,
            range: range,
            step: step,
            initial: value,
            menu: menu.map { DeviceControl.Item(index: $0, name: "item \($0)") },
            value: value
        )
    }

    static func exposure(
        _ range: ClosedRange<Int> = 1...10000,
        modes: [Int] = [1, 3]
    ) -> [DeviceControl] {
        [
            control(1, "auto_exposure", .exposureMode, 0...3, value: modes.last ?? 3, menu: modes),
            control(2, "exposure_time_absolute", .exposureTime, range, value: 156),
            control(3, "exposure_dynamic_framerate", .dynamicFrameRate, 0...1, value: 1),
        ]
    }
    static func gain(_ range: ClosedRange<Int> = 0...255, step: Int = 1) -> [DeviceControl] {
        [control(4, "gain", .gain, range, step: step, value: range.lowerBound)]
    }
    static let autogain = [control(5, "gain_automatic", .autogain, 0...1, value: 1)]
    static let focus = [
        control(6, "focus_automatic_continuous", .focusAuto, 0...1, value: 1),
        control(7, "focus_absolute", .focus, 0...250, step: 5, value: 0),
    ]
    static func balance(_ range: ClosedRange<Int> = 2800...6500, step: Int = 1) -> [DeviceControl] {
        [
            control(8, "white_balance_automatic", .whiteBalanceAuto, 0...1, value: 1),
            control(9, "white_balance_temperature", .temperature, range, step: step, value: 4600),
        ]
    }
    static let presets = [
        control(
            10,
            "white_balance_auto_preset",
            .whiteBalancePreset,
            0...9,
            value: 1,
            menu: [1, 2, 6]
        )
    ]
    static let full = exposure() + gain() + focus + balance()
}

@Suite("A camera's controls") struct ControlTests {
    private var device = ScriptedControls(ScriptedControls.full)

    var state = CameraControls()

    // MARK: Lock

    @Test mutating func aLockHoldsWhatAutomaticHasFound() throws {
        device["exposure_time_absolute"] = 312
        device["gain"] = 40
        device["focus_absolute"] = 85
        device["white_balance_temperature"] = 3900
        try device.give(.lock([]), &state)
        #expect(
            device.log == [
                "auto_exposure=1", "focus_automatic_continuous=0", "white_balance_automatic=0",
                "exposure_time_absolute=312", "gain=40", "focus_absolute=85",
                "white_balance_temperature=3900",
            ]
        )
        #expect(state.manual.lock.subjects == [.exposure, .focus, .whiteBalance])
        // Pro mode that goes off leaves it, and so does another lock.
        try device.give(.reset, &state)
        #expect(device["auto_exposure"] == 1 && device["focus_absolute"] == 85)
        try device.give(.lock([.focus]), &state)
        #expect(state.manual.lock.subjects.count == 3)
        // A device that forgot it gets the same values.
        var fresh = ScriptedControls(ScriptedControls.full)
        state.forgetSettled()
        try fresh.give(.restore, &state)
        #expect(fresh["exposure_time_absolute"] == 312 && fresh["focus_absolute"] == 85)
        #expect(fresh["white_balance_automatic"] == 0)
        try fresh.give(.unlock, &state)
        #expect(
            fresh.log == [
                "auto_exposure=3", "focus_automatic_continuous=1", "white_balance_automatic=1",
            ]
        )
        #expect(state.manual.isAutomatic)
    }

    @Test mutating func aDialEndsTheLockOfItsValueAlone() throws {
        var device = ScriptedControls(
            ScriptedControls.exposure() + ScriptedControls.autogain + ScriptedControls.gain()
                + ScriptedControls.focus
        )
        try device.give(.lock([]), &state)
        #expect(device["gain_automatic"] == 0)
        try device.give(.shutter(20000), &state)
        #expect(state.manual.lock.subjects == [.focus])
        #expect(state.manual.iso == 100 && device["gain_automatic"] == 0, "the gain stays, too")
        try device.give(.automatic([.focus]), &state)
        #expect(state.manual.lock.subjects == [] && device["focus_automatic_continuous"] == 1)
    }

    @Test mutating func aSceneHoldsExactlyWhatItNames() throws {
        device["focus_absolute"] = 85
        device["white_balance_temperature"] = 3900
        try device.give(.lock([.exposure, .focus]), &state)
        try device.give(.lockOnly([.focus, .whiteBalance]), &state)
        #expect(state.manual.lock.subjects == [.focus, .whiteBalance])
        #expect(device["auto_exposure"] == 3 && device["white_balance_automatic"] == 0)
        #expect(device["focus_absolute"] == 85 && device["white_balance_temperature"] == 3900)
        // None is none, not all.
        try device.give(.lockOnly([]), &state)
        #expect(state.manual.isAutomatic && device["focus_automatic_continuous"] == 1)
        var other = CameraControls()
        other.read(ScriptedControls.balance())
        #expect(throws: ControlRefusal.self) { try other.plan(.lockOnly([.focus])) }
        #expect(try other.plan(.lockOnly([])).switches.isEmpty)
    }

    @Test mutating func anotherProgramEndsALock() throws {
        try device.give(.lock([.exposure, .focus]), &state)
        device["auto_exposure"] = 3
        state.read(device.controls)
        #expect(state.manual.lock.subjects == [.focus])
    }

    @Test func whatACameraCannotHoldIsRefusedWithWhatItCan() throws {
        var state = CameraControls()
        state.read(ScriptedControls.balance())
        let refusal = ControlRefusal.notSupported(
            "This camera cannot lock its exposure. Try `dualcamctl lock wb`."
        )
        #expect(throws: refusal) { try state.plan(.lock([.exposure, .whiteBalance])) }
        state = CameraControls()
        let nothing = ControlRefusal.notSupported(
            "This camera has nothing to lock. Try `dualcamctl freeze on`."
        )
        #expect(throws: nothing) { try state.plan(.lock([])) }
    }

    @Test mutating func anotherLensHoldsNothingAndNothingIsRemembered() throws {
        var whole = State.withTwoCameras()
        try device.give(.lock([]), &whole.cameras.back.controls)
        whole.cameras.back.identity = "cam"
        #expect(SavedState(whole).cameras.isEmpty)
    }

    // MARK: ISO

    @Test mutating func theWholeRangeOfAGainIsTurnedThroughStopByStop() throws {
        try device.give(.iso(100), &state)
        #expect(state.iso == 100 && !state.isISOAutomatic && state.isISOApproximate)
        #expect(
            state.isoStops == [
                100, 125, 160, 200, 250, 320, 400, 500, 640, 800, 1000, 1250, 1600, 2000, 2500,
                3200,
            ]
        )
        for stop in state.isoStops.dropFirst() {
            #expect(try device.give(.stepISO(1), &state) == nil)
            #expect(state.iso == stop)
        }
        #expect(device["gain"] == 255)
        #expect(try device.give(.stepISO(1), &state) == .maximum)
        #expect(state.iso == 3200)
        #expect(try device.give(.stepISO(-99), &state) == .minimum)
        #expect(state.iso == 100 && device["gain"] == 0)
    }

    @Test mutating func aManualISOHoldsTheExposure() throws {
        try device.give(.iso(800), &state)
        #expect(device.log.first == "auto_exposure=1", "the automatic goes off first")
        #expect(device["exposure_time_absolute"] == 156 && !state.isExposureAutomatic)
        try device.give(.automatic([.iso]), &state)
        #expect(state.isExposureAutomatic && device["gain"] == 0 && state.manual.isAutomatic)
        #expect(device["exposure_dynamic_framerate"] == 1)
    }

    @Test mutating func anAutomaticOfItsOwnLeavesTheExposureAlone() throws {
        var device = ScriptedControls(
            ScriptedControls.exposure() + ScriptedControls.autogain + ScriptedControls.gain()
        )
        state.read(device.controls)
        #expect(state.isISOAutomatic)
        try device.give(.iso(800), &state)
        #expect(device.log == ["gain_automatic=0", "gain=153"])
        #expect(state.isExposureAutomatic && !state.isISOAutomatic)
        try device.give(.automatic([.iso]), &state)
        #expect(device.log == ["gain_automatic=1"] && state.isISOAutomatic)
    }

    @Test mutating func stopsThatAGainCannotReachAreNone() throws {
        var device = ScriptedControls(ScriptedControls.gain(0...5))
        try device.give(.stepISO(1), &state)
        #expect(state.isoStops == [100, 200, 400, 800, 1600, 3200])
        #expect(state.iso == 200)
        device = ScriptedControls(ScriptedControls.gain(0...1))
        state = CameraControls()
        try device.give(.stepISO(1), &state)
        #expect(state.isoStops == [100, 3200] && state.iso == 3200)
    }

    @Test mutating func aSensitivityIsTakenAtItsWord() throws {
        var iso = DeviceControl(id: 20, name: "iso_sensitivity", purpose: .iso, range: 0...2)
        iso.menu = [(0, 100_000), (1, 200_000), (2, 800_000)].map {
            DeviceControl.Item(index: $0, name: "thousandths", number: $1)
        }
        let auto = DeviceControl(
            id: 21,
            name: "iso_sensitivity_auto",
            purpose: .isoMode,
            range: 0...1,
            value: 1
        )
        var device = ScriptedControls([auto, iso] + ScriptedControls.gain())
        #expect(try device.give(.iso(250), &state) == nil)
        #expect(device.log == ["iso_sensitivity_auto=0", "iso_sensitivity=1"])
        #expect(state.iso == 200 && !state.isISOApproximate && state.isoStops == [100, 200, 800])
        #expect(try device.give(.stepISO(2), &state) == .maximum)
        #expect(state.iso == 800)
    }

    @Test mutating func anISOThatTheCameraHasNotIsRefused() throws {
        #expect(throws: ControlRefusal.outOfRange("ISO must be between 100 and 3200, not 50.")) {
            try device.give(.iso(50), &state)
        }
        var none = ScriptedControls(ScriptedControls.focus)
        for command in [ControlCommand.iso(400), .stepISO(1), .shutter(4000)] {
            #expect {
                try none.give(command, &state)
            } throws: {
                if case .notSupported? = $0 as? ControlRefusal { true } else { false }
            }
        }
        #expect(none.log == [] && state.manual.isAutomatic)
        #expect(state.iso == nil && state.isoStops == [])
    }

    // MARK: Shutter

    @Test mutating func aManualShutterKeepsTheRateWhileItFits() throws {
        try device.give(.shutter(4000), &state)
        #expect(
            device.log == [
                "auto_exposure=1", "exposure_dynamic_framerate=0", "exposure_time_absolute=40",
            ]
        )
        #expect(state.shutter == 4000 && !state.isExposureAutomatic && !state.isISOAutomatic)
        // Longer than a thirtieth of a second: the frame rate has to drop.
        try device.give(.shutter(100_000), &state)
        #expect(device.log == ["exposure_dynamic_framerate=1", "exposure_time_absolute=1000"])
        try device.give(.automatic([.shutter]), &state)
        #expect(device["auto_exposure"] == 3 && device["exposure_dynamic_framerate"] == 1)
    }

    @Test mutating func upIsFasterAndStopsAreThoseThatTheDeviceTellsApart() throws {
        try device.give(.shutter(1000), &state)
        #expect(state.shutterStops.prefix(4) == [200, 313, 400, 500])
        #expect(state.shutterStops.last == 1_000_000)
        #expect(try device.give(.stepShutter(1), &state) == nil)
        #expect(state.shutter == 800)
        #expect(try device.give(.stepShutter(-2), &state) == nil)
        #expect(Stops.shutterText(microseconds: state.shutter ?? 0) == "1/800")
        #expect(try device.give(.stepShutter(.max), &state) == .minimum)
        #expect(device["exposure_time_absolute"] == 2)
        #expect(try device.give(.stepShutter(.min), &state) == .maximum)
        #expect(state.shutter == 1_000_000)
    }

    @Test mutating func aNarrowRangeCutsTheStops() throws {
        var device = ScriptedControls(ScriptedControls.exposure(50...400))
        try device.give(.shutter(10_000), &state)
        let names = state.shutterStops.map { Stops.shutterText(microseconds: $0) }
        #expect(
            names.joined(separator: " ") == "1/200 1/160 1/125 1/100 1/80 1/60 1/50 1/40 1/30 1/25"
        )
        let words = "Shutter must be between 1/200 and 1/25, not 1/1000."
        let refusal = ControlRefusal.outOfRange(words)
        #expect(throws: refusal) { try device.give(.shutter(1000), &state) }
        #expect(state.shutter == 10_000)
    }

    @Test(arguments: [
        ([1, 3], 1, 3), ([0, 1, 2, 3], 1, 0), ([0, 1], 1, 0), ([2, 3], 2, 3), ([0, 2], 2, 0),
    ])
    mutating func manualAndAutoAreWhatTheMenuOffers(modes: [Int], manual: Int, auto: Int) throws {
        var device = ScriptedControls(ScriptedControls.exposure(modes: modes))
        device["auto_exposure"] = auto
        try device.give(.shutter(4000), &state)
        #expect(device["auto_exposure"] == manual && !state.isExposureAutomatic)
        try device.give(.reset, &state)
        #expect(device["auto_exposure"] == auto && state.isExposureAutomatic)
    }

    @Test mutating func aMenuWithoutManualHasNoShutter() throws {
        var device = ScriptedControls(ScriptedControls.exposure(modes: [0, 3]))
        #expect(throws: (any Error).self) { try device.give(.shutter(4000), &state) }
        #expect(state.shutterStops == [] && state.isExposureAutomatic && state.shutter == 15600)
    }

    // MARK: Focus

    @Test(arguments: [(false, 250, 0), (true, 0, 250)])
    mutating func nearIsWhereTheDeviceSaysOrTheUser(reversed: Bool, near: Int, far: Int) throws {
        var device = ScriptedControls(ScriptedControls.focus)
        state.settings.isFocusReversed = reversed
        try device.give(.focus(0), &state)
        #expect(device.log == ["focus_automatic_continuous=0", "focus_absolute=\(near)"])
        #expect(state.focus == 0 && !state.isFocusAutomatic)
        #expect(try device.give(.stepFocus(-1), &state) == .minimum)
        for _ in 0..<20 { #expect(try device.give(.stepFocus(1), &state) == nil) }
        #expect(device["focus_absolute"] == far && state.focus == 1)
        #expect(try device.give(.stepFocus(1), &state) == .maximum)
        try device.give(.automatic([.focus]), &state)
        #expect(state.isFocusAutomatic && device["focus_automatic_continuous"] == 1)
    }

    @Test mutating func aFixedFocusIsRefused() throws {
        var device = ScriptedControls(ScriptedControls.gain())
        #expect(throws: ControlRefusal.notSupported("This camera has no manual focus.")) {
            try device.give(.focus(0.5), &state)
        }
        #expect(state.focus == nil && state.focusStops == [] && state.isFocusAutomatic)
    }

    // MARK: White balance

    @Test mutating func theDeviceGoesAsFarAsItCanAndSoftwareTheRest() throws {
        try device.give(.whiteBalance(.preset(.sunny)), &state)
        #expect(device.log == ["white_balance_automatic=0", "white_balance_temperature=5500"])
        #expect(state.kelvin == 5500 && state.grade == .none && state.software == [])
        try device.give(.whiteBalance(.preset(.shade)), &state)
        #expect(device["white_balance_temperature"] == 6500 && state.kelvin == 7500)
        #expect(state.whiteBalance.word == "shade" && state.software == ["white-balance"])
        #expect(state.grade.red > 1.01 && state.grade.blue < 0.99, "warmer")
        #expect(
            abs(0.299 * state.grade.red + 0.587 * state.grade.green + 0.114 * state.grade.blue - 1)
                < 1e-9
        )
        try device.give(.whiteBalance(.kelvin(2000)), &state)
        #expect(device["white_balance_temperature"] == 2800)
        #expect(state.grade.red < 0.99 && state.grade.blue > 1.01, "cooler")
        try device.give(.whiteBalance(.auto), &state)
        #expect(device.log == ["white_balance_automatic=1"] && state.grade == .none)
    }

    @Test mutating func presetsOfTheDeviceAreUsedWhereThereIsNoTemperature() throws {
        var device = ScriptedControls(ScriptedControls.presets)
        try device.give(.whiteBalance(.preset(.tungsten)), &state)
        #expect(device["white_balance_auto_preset"] == 2 && state.software == [])
        try device.give(.whiteBalance(.preset(.shade)), &state)
        #expect(device["white_balance_auto_preset"] == 6 && state.software == ["white-balance"])
        try device.give(.reset, &state)
        #expect(device["white_balance_auto_preset"] == 1 && state.whiteBalance == .auto)
    }

    @Test mutating func withoutAnyControlSoftwareDoesItAll() throws {
        var device = ScriptedControls([])
        try device.give(.stepKelvin(1), &state)
        #expect(state.kelvin == 5600 && state.software == ["white-balance"])
        #expect(try device.give(.stepKelvin(99), &state) == .maximum)
        #expect(state.kelvin == 10000 && state.whiteBalance.word == "custom")
        #expect(try device.give(.stepKelvin(-99), &state) == .minimum)
        #expect(state.kelvin == 2000)
        let words = "White balance must be between 2000 K and 10000 K, not 1999 K."
        let refusal = ControlRefusal.outOfRange(words)
        #expect(throws: refusal) { try device.give(.whiteBalance(.kelvin(1999)), &state) }
        try device.give(.compensation(1), &state)
        #expect(state.software == ["white-balance", "compensation"] && state.grade.light > 1.3)
    }

    @Test func warmerLightHasMoreRed() {
        var before = Grade.light(kelvin: 1800)
        for kelvin in stride(from: 1900, through: 12000, by: 100) {
            let light = Grade.light(kelvin: kelvin)
            #expect(light.red / light.blue < before.red / before.blue, "\(kelvin) K")
            before = light
        }
        let day = Grade.light(kelvin: 6500)
        #expect(abs(day.red / day.green - 1) < 0.1 && abs(day.blue / day.green - 1) < 0.1)
    }

    // MARK: Truth

    @Test mutating func aDriverThatRoundsIsShownAsItIsAndNotStuckAt() throws {
        device.rounding["gain"] = { $0 / 50 * 50 }
        device.rounding["white_balance_temperature"] = { $0 / 500 * 500 }
        try device.give(.iso(400), &state)
        #expect(device["gain"] == 100 && state.iso == 400)
        // 500 is a gain of 118, which the driver rounds to 100 again; the next click must still
        // have an effect.
        try device.give(.stepISO(1), &state)
        #expect(state.iso == 400)
        try device.give(.stepISO(1), &state)
        try device.give(.stepISO(1), &state)
        #expect(device["gain"] == 150)
        try device.give(.whiteBalance(.kelvin(5700)), &state)
        #expect(state.kelvin == 5500 && state.software == [])
    }

    @Test mutating func whatAnotherProgramSetsIsNoticedAndKept() throws {
        try device.give(.iso(400), &state)
        try device.give(.shutter(4000), &state)
        try device.give(.focus(0), &state)
        try device.give(.whiteBalance(.preset(.sunny)), &state)
        device["exposure_time_absolute"] = 100
        device["gain"] = 255
        device["focus_absolute"] = 0
        device["white_balance_temperature"] = 3300
        state.read(device.controls)
        #expect(
            state.manual.iso == 3200 && state.manual.shutter == 10_000 && state.manual.focus == 1
        )
        #expect(state.whiteBalance == .kelvin(3300) && state.kelvin == 3300)
        device["auto_exposure"] = 3
        device["white_balance_automatic"] = 1
        state.read(device.controls)
        #expect(state.isExposureAutomatic && state.manual.shutter == nil && state.manual.iso == nil)
        #expect(state.whiteBalance == .auto && state.manual.focus == 1)
    }

    @Test mutating func whatWasDoneInPartIsUndoneWhole() throws {
        var device = ScriptedControls(ScriptedControls.exposure() + ScriptedControls.gain())
        var state = CameraControls()
        state.read(device.controls)
        let gain = device["gain"]
        let plan = try state.plan(.iso(1600))
        // The automatics went off and the gain was set; then the camera refused everything else.
        for write in plan.switches + plan.values { device[write.name] = write.value }
        #expect(device["gain"] != gain && device["exposure_dynamic_framerate"] == 0)
        state.keepOriginals(of: plan)
        state.read(device.controls)
        #expect(state.manual.isAutomatic, "it is not what is wanted")
        try device.give(.iso(800), &state)
        try device.give(.reset, &state)
        #expect(device["gain"] == gain && device["exposure_dynamic_framerate"] == 1)
        #expect(device["auto_exposure"] == 3)
    }

    @Test mutating func aTorchIsALightThatShinesAllTheTime() throws {
        func light(_ modes: [Int]) -> DeviceControl {
            DeviceControl(
                id: 40,
                name: "led_mode",
                kind: .menu,
                purpose: .flashMode,
                range: 0...2,
                menu: modes.map { DeviceControl.Item(index: $0, name: "\($0)") }
            )
        }
        var device = ScriptedControls([light([0, 1, 2])])
        #expect(state.torch == nil)
        try device.give(.torch(true), &state)
        #expect(device.log == ["led_mode=2"] && state.torch == true)
        try device.give(.torch(false), &state)
        #expect(device.log == ["led_mode=0"] && state.torch == false)
        try device.give(.toggleTorch, &state)
        #expect(device.log == ["led_mode=2"] && state.torch == true)
        // A flash alone is not a torch.
        state.read([light([0, 1])])
        #expect(state.torch == nil)
        #expect(throws: ControlRefusal.notSupported("This camera has no torch.")) {
            try state.plan(.torch(true))
        }
    }

    @Test mutating func aChangeStartsFromWhatTheDeviceHas() throws {
        try device.give(.focus(0), &state)
        for _ in 0..<3 { try device.give(.moveFocus(0.1), &state) }
        #expect(state.manual.focus == 0.3)
        #expect(try device.give(.moveFocus(2), &state) == .maximum && state.manual.focus == 1)
        for _ in 0..<7 { try device.give(.moveCompensation(0.1), &state) }
        #expect(state.manual.compensation == 0.7, "no dust")
        #expect(try device.give(.moveCompensation(-9), &state) == .minimum)
        try device.give(.moveKelvin(250), &state)
        #expect(state.kelvin == 4850)
        #expect(try device.give(.moveKelvin(-9000), &state) == .minimum && state.kelvin == 2000)
        try device.give(.moveRaw("gain", 30), &state)
        #expect(device["gain"] == 30)
        #expect(try device.give(.moveRaw("gain", 999), &state) == .maximum && device["gain"] == 255)
        // A change smaller than a step is one.
        try device.give(.moveRaw("focus_absolute", 1), &state)
        #expect(device["focus_absolute"] == 5)
        #expect(
            throws: ControlRefusal.outOfRange("auto_exposure has no steps. Give its new value.")
        ) {
            try state.plan(.moveRaw("auto_exposure", 1))
        }
        #expect(throws: ControlRefusal.self) { try state.plan(.moveRaw("none", 1)) }
        var none = CameraControls()
        none.read([])
        #expect(throws: ControlRefusal.self) { try none.plan(.moveKelvin(100)) }
    }

    @Test mutating func whatIsNotThereIsAutomaticAlready() throws {
        var device = ScriptedControls([])
        try device.give(.automatic([.iso, .shutter, .focus, .whiteBalance]), &state)
        #expect(device.log == [] && state.manual.isAutomatic)
    }

    @Test mutating func noClickChangesNothing() throws {
        for command in [ControlCommand.stepISO(0), .stepShutter(0), .stepFocus(0), .stepKelvin(0)] {
            try device.give(command, &state)
        }
        #expect(device.log == [] && state.manual.isAutomatic)
    }

    @Test mutating func aGainBeyondItsOwnRangeIsItsEnd() throws {
        device["gain"] = 100_000
        state.read(device.controls)
        #expect(state.iso == 3200)
    }

    @Test mutating func aDeviceThatForgotIsSetAgain() throws {
        try device.give(.iso(400), &state)
        try device.give(.shutter(4000), &state)
        try device.give(.focus(0.5), &state)
        try device.give(.whiteBalance(.preset(.shade)), &state)
        let manual = state.manual
        // Plugged in again while in use: its values now are not those of another program.
        device = ScriptedControls(ScriptedControls.full)
        state.forgetSettled()
        state.read(device.controls)
        #expect(state.manual == manual)
        // Plugged in again in another session, with manual values.
        device = ScriptedControls(ScriptedControls.full)
        state = CameraControls(manual: manual)
        try device.give(.restore, &state)
        #expect(state.iso == 400 && state.shutter == 4000 && state.focus == 0.5)
        #expect(state.kelvin == 7500 && device["white_balance_temperature"] == 6500)
        try device.give(.reset, &state)
        #expect(device["auto_exposure"] == 3 && device["white_balance_automatic"] == 1)
        #expect(device["focus_automatic_continuous"] == 1 && device["gain"] == 0)
        #expect(state.manual.isAutomatic)
        // A camera that lacks some of the controls sets the others.
        device = ScriptedControls(ScriptedControls.gain())
        state = CameraControls(manual: manual)
        try device.give(.restore, &state)
        #expect(device.log == ["gain=102"])
    }

    @Test(
        arguments: [
            ("gain", 12, nil), ("gain", 256, "gain must be between 0 and 255, not 256."),
            ("auto_exposure", 1, nil),
            ("auto_exposure", 0, "auto_exposure must be one of 1 (item 1), 3 (item 3), not 0."),
        ] as [(String, Int, String?)]
    )
    mutating func aDriversOwnValueIsCheckedAndWritten(
        name: String,
        value: Int,
        refusal: String?
    ) throws {
        if let refusal {
            #expect(throws: ControlRefusal.outOfRange(refusal)) {
                try device.give(.raw(name, value), &state)
            }
        } else {
            try device.give(.raw(name, value), &state)
            #expect(device[name] == value)
        }
        let words = "This camera has no control “x”. `dualcamctl controls` lists them."
        let unknown = ControlRefusal.notSupported(words)
        #expect(throws: unknown) { try device.give(.raw("x", 1), &state) }
    }

    @Test mutating func anAutomaticISOGetsItsGainAndItsExposureBack() throws {
        var device = ScriptedControls(ScriptedControls.exposure() + ScriptedControls.gain())
        device["gain"] = 37
        try device.give(.iso(1600), &state)
        #expect(device["gain"] != 37 && device["auto_exposure"] == 1)
        // A second value does not take the first for the original.
        try device.give(.iso(800), &state)
        try device.give(.automatic([.iso]), &state)
        #expect(device["gain"] == 37 && device["auto_exposure"] == 3)
        #expect(device["exposure_dynamic_framerate"] == 1 && state.manual.isAutomatic)
        // A manual shutter of the user's own stays.
        try device.give(.shutter(8000), &state)
        try device.give(.iso(1600), &state)
        try device.give(.automatic([.iso]), &state)
        #expect(device["gain"] == 37 && device["auto_exposure"] == 1)
        #expect(state.manual.shutter == 8000 && state.manual.iso == nil)
        #expect(!state.manual.holdsShutter)
    }

    @Test mutating func anExposureThatWasHeldIsHeldAgain() throws {
        var device = ScriptedControls(ScriptedControls.exposure() + ScriptedControls.gain())
        try device.give(.iso(1600), &state)
        #expect(state.manual.holdsShutter)
        let manual = state.manual
        device = ScriptedControls(ScriptedControls.exposure() + ScriptedControls.gain())
        state = CameraControls(manual: manual)
        try device.give(.restore, &state)
        #expect(device["auto_exposure"] == 1 && state.manual.holdsShutter)
        // Held without a manual gain, as after a camera without one.
        var held = ManualControls()
        held.holdsShutter = true
        device = ScriptedControls(ScriptedControls.exposure())
        state = CameraControls(manual: held)
        try device.give(.restore, &state)
        #expect(device["auto_exposure"] == 1)
    }

    @Test mutating func anAutomaticShutterTakesTheISOWithIt() throws {
        var device = ScriptedControls(ScriptedControls.exposure() + ScriptedControls.gain())
        try device.give(.iso(1600), &state)
        try device.give(.shutter(8000), &state)
        try device.give(.automatic([.shutter]), &state)
        #expect(state.manual.iso == nil && device["auto_exposure"] == 3 && device["gain"] == 0)
        // With a switch of its own, it stays.
        device = ScriptedControls(
            ScriptedControls.exposure() + ScriptedControls.gain() + ScriptedControls.autogain
        )
        state = CameraControls()
        try device.give(.iso(1600), &state)
        try device.give(.shutter(8000), &state)
        try device.give(.automatic([.shutter]), &state)
        #expect(state.manual.iso == 1600 && device["gain_automatic"] == 0)
        #expect(device["auto_exposure"] == 3)
    }

    @Test("an original is given back once, and the next one is what was found then")
    mutating func originalsAreForgotten() throws {
        var device = ScriptedControls(ScriptedControls.exposure() + ScriptedControls.gain())
        for (gain, dynamic) in [(37, 1), (90, 0), (12, 1)] {
            (device["gain"], device["exposure_dynamic_framerate"]) = (gain, dynamic)
            device["exposure_time_absolute"] = 156
            try device.give(.iso(800), &state)
            #expect(device["gain"] != gain && device["exposure_dynamic_framerate"] == 0)
            try device.give(.automatic([.iso]), &state)
            #expect(device["gain"] == gain && device["exposure_dynamic_framerate"] == dynamic)
            try device.give(.shutter(100_000), &state)
            #expect(device["exposure_dynamic_framerate"] == 1, "a long exposure needs slow frames")
            try device.give(.automatic([.shutter]), &state)
            #expect(device["exposure_dynamic_framerate"] == dynamic)
        }
    }

    @Test(
        "an automatic that another program turns on ends what was set by hand, and nothing else",
        arguments: [
            ("gain_automatic", 1, ControlCommand.iso(800)), ("auto_exposure", 3, .shutter(4000)),
            ("focus_automatic_continuous", 1, .focus(0.5)),
            ("white_balance_automatic", 1, .whiteBalance(.kelvin(4000))),
        ]
    )
    mutating func automaticsOfOthers(_ name: String, on: Int, _ command: ControlCommand) throws {
        var device = ScriptedControls(ScriptedControls.full + ScriptedControls.autogain)
        try device.give(command, &state)
        state.read(device.controls)
        #expect(!state.manual.isAutomatic && device[name] != on)
        device[name] = on
        state.read(device.controls)
        #expect(state.manual.isAutomatic)
        // The others stay.
        let all: [ControlCommand] = [
            .iso(800), .shutter(4000), .focus(0.5), .whiteBalance(.kelvin(4000)),
        ]
        for command in all { try device.give(command, &state) }
        var expected = state.manual
        switch command {
        case .iso: expected.iso = nil
        case .shutter: expected.shutter = nil
        case .focus: expected.focus = nil
        default: expected.whiteBalance = .auto
        }
        device[name] = on
        state.read(device.controls)
        #expect(state.manual == expected)
    }
}
