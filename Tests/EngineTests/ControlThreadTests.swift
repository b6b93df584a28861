import Capture
import DualCamCore
import Engine
import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("The thread of a camera's controls", .timeLimit(.minutes(5)))
struct ControlThreadTests {
    private typealias Outcome = Result<ControlThread.Outcome, ControlRefusal>
    private static let timeout = 20.0

    private let driver: ScriptedDriver
    private let reports = Mutexed<[(identity: String, controls: CameraControls)]>([])
    private let thread: ControlThread

    init() throws {
        driver = try ScriptedDriver()
        let reports = reports
        thread = try ControlThread(role: .back, region: { .hz50 }) { identity, controls in
            reports.with { $0.append((identity, controls)) }
        }
    }

    /// Assigns the camera to the thread.
    private func use(
        isStreaming: Bool,
        isShown: Bool = false,
        manual: ControlCommand? = nil,
        zoom: ZoomRequest? = nil
    ) throws {
        var controls = CameraControls()
        if let manual {
            controls.read(driver.controls)
            controls.settle(try controls.plan(manual), driver.controls)
        }
        let source = ScriptedCamera(driver: driver)
        thread.use(
            ControlThread.Use(
                source: source,
                controls: controls,
                isStreaming: isStreaming,
                isShown: isShown,
                zoom: zoom
            )
        )
    }

    /// Performs `command` and returns its outcome.
    private func perform(_ command: ControlCommand) throws -> Outcome {
        let answer = Mutexed<Outcome?>(nil)
        thread.perform(command) { result in answer.with { $0 = result } }
        return try eventually("the answer to \(command)", within: Self.timeout) {
            answer.with { $0 }
        }
    }

    private func end() {
        thread.end()
        #expect(thread.wait(until: MonotonicClock.now + Timestamp(seconds: Self.timeout)))
        #expect(driver.openPorts == 0, "the device is closed")
    }

    /// Waits for a report of the thread for which `isTrue` holds.
    private func waitFor(_ what: String, _ isTrue: (CameraControls) -> Bool) throws {
        try eventually(what, within: Self.timeout) {
            reports.with { $0.contains { isTrue($0.controls) } }
        }
    }

    @Test("switches automatics off before values, and reads back what came of it")
    func order() throws {
        defer { end() }
        try use(isStreaming: true)
        let outcome = try perform(.shutter(4000)).get()
        #expect(driver.log == ["auto_exposure=1", "exposure_time=40", "read"])
        #expect(outcome.identity == "scripted")
        #expect(outcome.controls.shutter == 4000 && !outcome.controls.isExposureAutomatic)
        #expect(outcome.limit == nil)
        let limited = try perform(.stepShutter(99)).get()
        #expect(limited.limit != nil)
    }

    @Test("tells what is true after a value was refused that an automatic has")
    func inactive() throws {
        defer { end() }
        try use(isStreaming: true)
        let refusal = ControlRefusal.notSupported("exposure_time is inactive")
        #expect(try perform(.raw("exposure_time", 40)) == .failure(refusal))
        // The automatic goes off, and then the driver takes no value.
        driver.refuse("exposure_time", with: .failed(.stalled, "no answer"))
        #expect(try perform(.shutter(4000)) == .failure(.failed(.stalled, "no answer")))
        try waitFor("what is true now") { !$0.isExposureAutomatic && $0.manual.shutter == nil }
        driver.refuse("exposure_time", with: nil)
        #expect(try perform(.shutter(4000)).get().controls.shutter == 4000)
        // A reset makes everything automatic.
        #expect(try perform(.reset).get().controls.isExposureAutomatic)
    }

    @Test("shows what a driver that rounds made of a value, and takes it for nobody else's")
    func rounding() throws {
        defer { end() }
        driver.rounding = 16
        try use(isStreaming: true)
        let controls = try perform(.iso(400)).get().controls
        let gain = driver.value(of: "gain")
        #expect(gain % 16 == 0 && controls.manual.iso == 400)
        #expect(controls.device.first { $0.name == "gain" }?.value == gain)
        #expect(try perform(.look).get().controls.manual.iso == 400)
        // From there a click goes on to the next stop.
        #expect(try perform(.stepISO(1)).get().controls.manual.iso == 500)
    }

    @Test("hears of another program's change by an event, and while values are shown without one")
    func others() throws {
        defer { end() }
        try use(isStreaming: true)
        _ = try perform(.shutter(4000))
        #expect(driver.subscribed.contains("exposure_time"))
        driver.change("exposure_time", to: 100)
        driver.emitEvent()
        try waitFor("the other's shutter") { $0.shutter == 10_000 && $0.manual.shutter == 10_000 }
        #expect(reports.with { $0.allSatisfy { $0.identity == "scripted" } })

        // An automatic changes its value, which no event reports.
        _ = try perform(.automatic([.shutter]))
        driver.change("exposure_time", to: 300)
        try use(isStreaming: true, isShown: true)
        try waitFor("the automatic's shutter") { $0.shutter == 30_000 && $0.isExposureAutomatic }
    }

    @Test("opens a camera that delivers nothing for the moment that a value takes")
    func closed() throws {
        defer { end() }
        try use(isStreaming: false)
        #expect(try perform(.focus(0)).get().controls.focus == 0)
        #expect(driver.log == ["focus_auto=0", "focus=250", "read"])
        try eventually("the closed device", within: Self.timeout) { driver.openPorts == 0 }
        #expect(driver.openings == 1)
        // Its manual value still applies once it delivers.
        driver.change("focus_auto", to: 1)
        try use(isStreaming: true)
        try eventually("the focus", within: Self.timeout) { driver.value(of: "focus_auto") == 0 }
    }

    @Test("says that a camera is gone, and has it as wanted once it is back")
    func gone() throws {
        defer { end() }
        driver.isGone = true
        try use(isStreaming: false)
        #expect(
            try perform(.iso(400))
                == .failure(.failed(.unplugged, "there is no camera"))
        )
        // A camera that cannot be reached has nothing left to undo.
        #expect(try perform(.reset).get().controls.manual.isAutomatic)
        driver.isGone = false
        #expect(try perform(.iso(400)).get().controls.manual.iso == 400)
        driver.forget()
        try use(isStreaming: true)
        try eventually("its gain", within: Self.timeout) { driver.value(of: "gain") != 32 }
    }

    @Test("is as wanted when another camera has the role")
    func another() throws {
        defer { end() }
        try use(isStreaming: false, manual: .shutter(8000))
        try use(isStreaming: true)
        try eventually("its shutter", within: Self.timeout) {
            driver.value(of: "exposure_time") == 80
        }
    }

    private static let light = [
        DeviceControl(
            id: 20,
            name: "exposure_dynamic_framerate",
            kind: .boolean,
            purpose: .dynamicFrameRate,
            range: 0...1,
            value: 1
        ),
        DeviceControl(
            id: 21,
            name: "power_line_frequency",
            kind: .menu,
            purpose: .powerLine,
            range: 0...2,
            menu: (0...2).map { DeviceControl.Item(index: $0, name: "\($0)") },
            value: 2
        ),
    ]

    @Test("holds the rate and the filter against flicker, and puts back what it found")
    func light() throws {
        defer { end() }
        driver.add(Self.light)
        try use(isStreaming: true)
        try eventually("the values", within: Self.timeout) {
            driver.log.prefix(2) == ["exposure_dynamic_framerate=0", "power_line_frequency=1"]
        }
        // Another program's change wins.
        driver.change("power_line_frequency", to: 0)
        try use(isStreaming: false)
        try eventually("the closed device", within: Self.timeout) { driver.openPorts == 0 }
        #expect(driver.value(of: "exposure_dynamic_framerate") == 1)
        #expect(driver.value(of: "power_line_frequency") == 0)
        // A device that takes no such value goes on without.
        driver.refuse("power_line_frequency", with: .failed(.stalled, "no answer"))
        try use(isStreaming: true)
        try eventually("the rate", within: Self.timeout) {
            driver.value(of: "exposure_dynamic_framerate") == 0
        }
        #expect(try perform(.shutter(4000)).get().controls.shutter == 4000)
        driver.refuse("power_line_frequency", with: nil)
        try use(isStreaming: false)
        try eventually("the closed device", within: Self.timeout) { driver.openPorts == 0 }
        #expect(driver.value(of: "power_line_frequency") == 0)
    }

    @Test("puts nothing back that the camera refused to hold, whoever sets it later")
    func refusedLight() throws {
        defer { end() }
        driver.add(Self.light)
        driver.refuse("power_line_frequency", with: .failed(.stalled, "no answer"))
        try use(isStreaming: true)
        _ = try perform(.look)
        #expect(driver.value(of: "exposure_dynamic_framerate") == 0)
        driver.refuse("power_line_frequency", with: nil)
        // Another program wants what we wanted.
        driver.change("power_line_frequency", to: 1)
        try use(isStreaming: false)
        try eventually("the closed device", within: Self.timeout) { driver.openPorts == 0 }
        #expect(driver.value(of: "exposure_dynamic_framerate") == 1)
        #expect(driver.value(of: "power_line_frequency") == 1)
    }

    @Test("holds what is locked while the camera delivers, and leaves its automatic to others")
    func locking() throws {
        defer { end() }
        driver.change("exposure_time", to: 333)
        driver.change("focus", to: 40)
        try use(isStreaming: true)
        let controls = try perform(.lock([])).get().controls
        #expect(controls.manual.lock.subjects == [.exposure, .focus])
        #expect(driver.value(of: "auto_exposure") == 1 && driver.value(of: "focus_auto") == 0)
        try use(isStreaming: false)
        try eventually("the automatic", within: Self.timeout) {
            driver.value(of: "auto_exposure") == 3 && driver.value(of: "focus_auto") == 1
                && driver.openPorts == 0
        }
        // Meanwhile the automatic of another program goes elsewhere.
        driver.change("exposure_time", to: 50)
        try use(isStreaming: true)
        try eventually("the same values", within: Self.timeout) {
            driver.value(of: "auto_exposure") == 1 && driver.value(of: "exposure_time") == 333
                && driver.value(of: "focus") == 40
        }
        // What a dial has set is no longer put back.
        _ = try perform(.shutter(4000)).get()
        #expect(try perform(.unlock).get().controls.manual.lock.subjects == [])
        #expect(driver.value(of: "auto_exposure") == 1 && driver.value(of: "focus_auto") == 1)
        try use(isStreaming: false)
        try eventually("the closed device", within: Self.timeout) { driver.openPorts == 0 }
        #expect(driver.value(of: "auto_exposure") == 1)
    }

    @Test("leaves the automatics on where not all that was to be locked can be")
    func lockingHalfWay() throws {
        defer { end() }
        try use(isStreaming: true)
        driver.refuse("focus", with: .notSupported("not now"))
        #expect(throws: ControlRefusal.self) { try perform(.lock([])).get() }
        func isAutomatic() -> Bool {
            driver.value(of: "auto_exposure") == 3 && driver.value(of: "focus_auto") == 1
        }
        #expect(isAutomatic())
        let controls = try perform(.look).get().controls
        #expect(controls.manual.lock.subjects == [] && controls.manual.isAutomatic)
        // What is locked already stays so.
        _ = try perform(.lock([.exposure])).get()
        #expect(throws: ControlRefusal.self) { try perform(.lock([.focus])).get() }
        #expect(driver.value(of: "auto_exposure") == 1 && driver.value(of: "focus_auto") == 1)
        try use(isStreaming: false)
        try eventually("the automatic", within: Self.timeout) {
            isAutomatic() && driver.openPorts == 0
        }
    }

    @Test("holds nothing that the user does not want held, from the moment of the change")
    func lightOff() throws {
        defer { end() }
        driver.add(Self.light)
        var controls = CameraControls()
        func use(_ change: (inout ControlSettings) -> Void) {
            change(&controls.settings)
            thread.use(
                ControlThread.Use(
                    source: ScriptedCamera(driver: driver),
                    controls: controls,
                    isStreaming: true,
                    isShown: false
                )
            )
        }
        func waitFor(rate: Int, filter: Int) throws {
            try eventually("\(rate) and \(filter)", within: Self.timeout) {
                driver.value(of: "exposure_dynamic_framerate") == rate
                    && driver.value(of: "power_line_frequency") == filter
            }
        }
        use { $0.antiFlicker = .hz60 }
        try waitFor(rate: 0, filter: 2)
        use { $0.antiFlicker = .hz50 }
        try waitFor(rate: 0, filter: 1)
        use {
            $0.antiFlicker = .off
            $0.holdsRate = false
        }
        try waitFor(rate: 1, filter: 2)
    }

    @Test("puts back after a crash what an earlier run held")
    func lightAfterACrash() throws {
        let folder = try ScratchDirectory()
        driver.add(Self.light)
        func run(_ body: (ControlThread) throws -> Void) throws {
            let thread = try ControlThread(
                role: .front,
                region: { .hz50 },
                records: "\(folder.path)/held"
            ) { _, _ in }
            defer {
                thread.end()
                #expect(thread.wait(until: MonotonicClock.now + Timestamp(seconds: 20)))
            }
            thread.use(
                ControlThread.Use(
                    source: ScriptedCamera(driver: driver),
                    controls: CameraControls(),
                    isStreaming: true,
                    isShown: false
                )
            )
            try body(thread)
        }
        try run { _ in
            try eventually("the record", within: Self.timeout) {
                driver.value(of: "power_line_frequency") == 1
                    && (try? String(contentsOfFile: "\(folder.path)/held/scripted", encoding: .utf8))
                        == "20 1 0\n21 2 1\n"
            }
            // As if this run ended without a word: its record stays, and the values.
            try FileManager.default.copyItem(
                atPath: "\(folder.path)/held",
                toPath: "\(folder.path)/crashed"
            )
        }
        #expect(driver.value(of: "power_line_frequency") == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/held") == [])
        try FileManager.default.removeItem(atPath: "\(folder.path)/held")
        try FileManager.default.moveItem(
            atPath: "\(folder.path)/crashed",
            toPath: "\(folder.path)/held"
        )
        driver.change("power_line_frequency", to: 1)
        driver.change("exposure_dynamic_framerate", to: 0)
        try run { thread in
            let answer = Mutexed(false)
            thread.perform(.look) { _ in answer.with { $0 = true } }
            try eventually("the answer", within: Self.timeout) { answer.with { $0 } }
        }
        #expect(driver.value(of: "power_line_frequency") == 2)
        #expect(driver.value(of: "exposure_dynamic_framerate") == 1)
    }

    private static func zoom(to zoom: Double, number: Int) -> ZoomRequest {
        var framing = Framing()
        framing.move(to: zoom, middle: .middle, at: MonotonicClock.now, duration: 0)
        return ZoomRequest(framing: framing, factor: 1, number: number)
    }

    @Test("steps the camera's own zoom after what is seen, and puts it back in the end")
    func zooming() throws {
        driver.change("zoom", to: 120)
        try use(isStreaming: true)
        try waitFor("where it was found") { $0.isZoomOthers && $0.magnification == 1.2 }
        #expect(driver.log.isEmpty)

        try use(isStreaming: true, zoom: Self.zoom(to: 3, number: 1))
        try waitFor("the zoom") { $0.magnification == 3 }
        let written = driver.log.compactMap {
            $0.hasPrefix("zoom=") ? Double($0.dropFirst(5)) : nil
        }
        #expect(written.first == 126 && written.last == 300)
        for (a, b) in zip(written, written.dropFirst()) { #expect(b > a && b / a <= 1.05) }
        #expect(reports.with { $0.dropFirst().allSatisfy { !$0.controls.isZoomOthers } })
        // Each step was reported after it was read.
        let seen = reports.with { $0.map(\.controls.magnification) }
        #expect(seen.count >= written.count && seen == seen.sorted())

        // The zoom ends at the device's limit, and is set at once while nothing is shown yet.
        try use(isStreaming: false, zoom: Self.zoom(to: 9, number: 2))
        try eventually("the zoom as it was", within: Self.timeout) {
            driver.value(of: "zoom") == 120 && driver.openPorts == 0
        }
        try use(isStreaming: true, zoom: Self.zoom(to: 9, number: 2))
        try eventually("its end", within: Self.timeout) { driver.value(of: "zoom") == 500 }
        #expect(driver.log.filter { $0 != "read" }.suffix(2) == ["zoom=120", "zoom=500"])
        end()
        #expect(driver.value(of: "zoom") == 120)
    }

    @Test(
        "leaves the camera's own zoom where another turns it, and says so; also where it is not taken"
    )
    func zoomOfOthers() throws {
        defer { end() }
        try use(isStreaming: true, zoom: Self.zoom(to: 2, number: 1))
        try waitFor("the zoom") { $0.magnification == 2 }
        // Until it is still.
        try eventually("some reads of it", within: Self.timeout) {
            driver.log.suffix(4) == ["read", "read", "read", "read"]
        }
        driver.change("zoom", to: 400)
        driver.emitEvent()
        try waitFor("the other's zoom") {
            $0.isZoomOthers && $0.zoomNumber == 1 && $0.magnification == 4
        }
        try use(isStreaming: true, zoom: Self.zoom(to: 3, number: 2))
        try waitFor("the zoom again") {
            $0.zoomNumber == 2 && $0.magnification == 3 && !$0.isZoomOthers
        }
        driver.refuse("zoom", with: .failed(.stalled, "no answer"))
        try use(isStreaming: true, zoom: Self.zoom(to: 1, number: 3))
        try waitFor("that it stays") {
            $0.zoomNumber == 3 && !$0.isZoomOthers && $0.magnification == 3
        }
        #expect(driver.value(of: "zoom") == 300)
    }

    @Test("turns the torch off when its camera closes, is left, or the thread ends")
    func torch() throws {
        func light() throws {
            try use(isStreaming: true)
            #expect(try perform(.torch(true)).get().controls.torch == true)
            #expect(driver.value(of: "led_mode") == DeviceControl.FlashMode.torch)
        }
        func waitUntilDark() throws {
            try eventually("the dark", within: Self.timeout) {
                driver.value(of: "led_mode") == DeviceControl.FlashMode.off && driver.openPorts == 0
            }
        }
        try light()
        try use(isStreaming: false)
        try waitUntilDark()
        try light()
        thread.leave()
        try waitUntilDark()
        try light()
        end()
        #expect(driver.value(of: "led_mode") == DeviceControl.FlashMode.off)
    }

    @Test("does what it was asked before it ends, and keeps nobody waiting meanwhile")
    func ending() throws {
        try use(isStreaming: true)
        _ = try perform(.look)
        driver.isHanging = true
        let answers = Mutexed<[Outcome]>([])
        for iso in [200, 400] {
            thread.perform(.iso(iso)) { result in answers.with { $0.append(result) } }
        }
        try eventually("the hanging call", within: Self.timeout) { driver.hasHung }
        thread.end()
        #expect(!thread.wait(until: MonotonicClock.now + Timestamp(seconds: 0.05)))
        #expect(answers.with { $0.isEmpty })
        driver.isHanging = false
        end()
        let values = answers.with { $0.map { try? $0.get().controls.manual.iso } }
        #expect(values == [200, 400])
    }
}

/// A value behind a lock.
private final class Mutexed<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
    func with<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { body(&$0) }
    }
}

/// A camera with the controls of `driver`.
private struct ScriptedCamera: CameraSource {
    let driver: ScriptedDriver
    let name = "Scripted"
    let identity = "scripted"

    func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        throw CaptureError(.gone, "camera")
    }

    func openControls() throws(CaptureError) -> any ControlPort {
        guard !driver.isGone else { throw CaptureError(.gone, "camera") }
        return ScriptedPort(driver)
    }
}

/// Access to the controls of `driver`, as long as it is held.
private final class ScriptedPort: ControlPort {
    private let driver: ScriptedDriver
    init(_ driver: ScriptedDriver) {
        self.driver = driver
        driver.opened()
    }
    deinit { driver.closed() }

    var descriptor: CInt { driver.descriptor }
    func controls() throws(ControlRefusal) -> [DeviceControl] { driver.controls }
    func update(
        _ controls: inout [DeviceControl],
        where matters: (DeviceControl) -> Bool
    ) throws(ControlRefusal) {
        let now = driver.read()
        for index in controls.indices where matters(controls[index]) {
            controls[index] = now.first { $0.id == controls[index].id } ?? controls[index]
        }
    }
    func write(_ write: ControlWrite) throws(ControlRefusal) {
        if let refusal = driver.write(write) { throw refusal }
    }
    func subscribe(to controls: [DeviceControl]) { driver.subscribe(controls.map(\.name)) }
    func takeEvents() -> Bool { driver.takeEvents() }
}

/// A driver like those of USB cameras, usable from any thread.
private final class ScriptedDriver: Sendable {
    private struct Script {
        var controls: [DeviceControl]
        var log: [String] = []
        var refusals: [String: ControlRefusal] = [:]
        var subscribed: [String] = []
        var rounding = 1
        var openPorts = 0
        var openings = 0
        var isGone = false
        var isHanging = false
        var hasHung = false
    }
    private let script: Mutex<Script>
    /// A socket: out-of-band data makes it urgent, as a driver's event does.
    let descriptor: CInt
    private let other: CInt

    init() throws(SystemError) {
        var pair: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
            throw .last("socketpair")
        }
        (descriptor, other) = (pair[0], pair[1])
        script = Mutex(Script(controls: Self.initial))
    }

    deinit {
        close(descriptor)
        close(other)
    }

    private static var initial: [DeviceControl] {
        func control(
            _ id: UInt32,
            _ name: String,
            _ purpose: DeviceControl.Purpose,
            _ range: ClosedRange<Int>,
            _ value: Int,
            menu: [Int] = []
        ) -> DeviceControl {
            DeviceControl(
                id: id,
                name: name,
                kind: menu.isEmpty ? .integer : .menu,
                purpose: purpose,
                range: range,
                initial: value,
                menu: menu.map { DeviceControl.Item(index: $0, name: "item \($0)") },
                value: value
            )
        }
        var controls = [
            control(1, "auto_exposure", .exposureMode, 0...3, 3, menu: [1, 3]),
            control(2, "exposure_time", .exposureTime, 1...10000, 156),
            control(3, "gain", .gain, 0...255, 32),
            control(4, "focus_auto", .focusAuto, 0...1, 1),
            control(5, "focus", .focus, 0...250, 120),
            control(6, "zoom", .zoom, 100...500, 100),
            control(7, "led_mode", .flashMode, 0...2, 0, menu: [0, 1, 2]),
        ]
        follow(&controls)
        return controls
    }

    /// Marks values as inactive while their automatic is on.
    private static func follow(_ controls: inout [DeviceControl]) {
        for (automatic, value, off) in [
            ("auto_exposure", "exposure_time", 1), ("focus_auto", "focus", 0),
        ] {
            let isOn = controls.first { $0.name == automatic }?.value != off
            for index in controls.indices where controls[index].name == value {
                controls[index].flags = isOn ? .inactive : []
            }
        }
    }

    var controls: [DeviceControl] { script.withLock { $0.controls } }
    /// The values written and the complete reads since the last command.
    var log: [String] { script.withLock { $0.log } }
    var subscribed: [String] { script.withLock { $0.subscribed } }
    var openPorts: Int { script.withLock { $0.openPorts } }
    var openings: Int { script.withLock { $0.openings } }
    var hasHung: Bool { script.withLock { $0.hasHung } }
    var isGone: Bool {
        get { script.withLock { $0.isGone } }
        set { script.withLock { $0.isGone = newValue } }
    }
    /// `true` while writes do not return.
    var isHanging: Bool {
        get { script.withLock { $0.isHanging } }
        set { script.withLock { $0.isHanging = newValue } }
    }
    /// The gain is rounded to a multiple of this.
    var rounding: Int {
        get { script.withLock { $0.rounding } }
        set { script.withLock { $0.rounding = newValue } }
    }

    func value(of name: String) -> Int { controls.first { $0.name == name }?.value ?? .min }
    func refuse(_ name: String, with refusal: ControlRefusal?) {
        script.withLock { $0.refusals[name] = refusal }
    }
    /// Changes a value as another program does.
    func change(_ name: String, to value: Int) {
        script.withLock { script in
            for index in script.controls.indices where script.controls[index].name == name {
                script.controls[index].value = value
            }
            Self.follow(&script.controls)
        }
    }
    /// Adds controls to those of the camera.
    func add(_ controls: [DeviceControl]) { script.withLock { $0.controls += controls } }
    /// Resets the values, as when the camera is plugged in again.
    func forget() { script.withLock { $0.controls = Self.initial } }
    func emitEvent() {
        var byte: UInt8 = 33
        #expect(send(other, &byte, 1, CInt(MSG_OOB)) == 1)
    }
    func takeEvents() -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, CInt(MSG_OOB | MSG_DONTWAIT)) == 1
    }

    func opened() {
        script.withLock {
            $0.openPorts += 1
            $0.openings += 1
        }
    }
    func closed() { script.withLock { $0.openPorts -= 1 } }
    func subscribe(_ names: [String]) { script.withLock { $0.subscribed = names } }
    func read() -> [DeviceControl] {
        script.withLock { script in
            // A read before a command is not its result.
            if !script.log.isEmpty { script.log.append("read") }
            return script.controls
        }
    }
    func write(_ write: ControlWrite) -> ControlRefusal? {
        while script.withLock({ script in
            script.hasHung = script.hasHung || script.isHanging
            return script.isHanging
        }) {
            usleep(2_000)
        }
        return script.withLock { script in
            guard let index = script.controls.firstIndex(where: { $0.id == write.id }) else {
                return .notSupported(write.name)
            }
            if let refusal = script.refusals[write.name] { return refusal }
            // The EACCES of a driver.
            guard !script.controls[index].flags.contains(.inactive) else {
                return .notSupported("\(write.name) is inactive")
            }
            script.log.append("\(write.name)=\(write.value)")
            let step = write.name == "gain" ? script.rounding : 1
            script.controls[index].value = write.value / step * step
            Self.follow(&script.controls)
            return nil
        }
    }
}
