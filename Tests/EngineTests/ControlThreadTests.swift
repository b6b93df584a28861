import Capture
import Engine
import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestCameras
import TestSupport
import Testing

@testable import DualCamCore

@Suite("The thread of a camera's controls", .timeLimit(.minutes(5))) final class ControlThreadTests
{
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
        thread.use(driver.use(controls, isStreaming: isStreaming, isShown: isShown, zoom: zoom))
    }

    /// Has the camera deliver no more, and waits until it is closed.
    private func close() throws {
        try use(isStreaming: false)
        try eventually("the closed device", within: Self.timeout) { driver.openPorts == 0 }
    }

    private func perform(_ command: ControlCommand) throws -> Outcome {
        let answer = Mutexed<Outcome?>(nil)
        thread.perform(command) { result in answer.with { $0 = result } }
        return try eventually("the answer to \(command)", within: Self.timeout) {
            answer.with { $0 }
        }
    }

    deinit { end() }

    private func end() {
        thread.end()
        #expect(thread.wait(until: MonotonicClock.now + Timestamp(seconds: Self.timeout)))
        #expect(driver.openPorts == 0, "the device is closed")
    }

    private func waitFor(_ what: String, _ isTrue: (CameraControls) -> Bool) throws {
        try eventually(what, within: Self.timeout) {
            reports.with { $0.contains { isTrue($0.controls) } }
        }
    }

    @Test func `switches automatics off before values, and reads back what came of it`() throws {
        try use(isStreaming: true)
        let outcome = try perform(.shutter(4000)).get()
        #expect(driver.log == ["auto_exposure=1", "exposure_time=40", "read"])
        #expect(outcome.identity == "scripted")
        #expect(outcome.controls.shutter == 4000 && !outcome.controls.isExposureAutomatic)
        #expect(outcome.limit == nil)
        #expect(try perform(.stepShutter(99)).get().limit != nil)
    }

    @Test("tells what is true after a value was refused that an automatic has")
    func inactive() throws {
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

    @Test("hears of another program's change by an event, and while values are shown without one")
    func others() throws {
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
        try use(isStreaming: false)
        #expect(try perform(.focus(0)).get().controls.focus == 0)
        #expect(driver.log == ["focus_auto=0", "focus=250", "read"])
        try eventually("the closed device", within: Self.timeout) { driver.openPorts == 0 }
        #expect(driver.openings == 1)
        // Its manual value still applies once it delivers.
        driver.change("focus_auto", to: 1)
        try use(isStreaming: true)
        try eventually("the focus", within: Self.timeout) { driver["focus_auto"] == 0 }
    }

    @Test("says that a camera is gone, and has it as wanted once it is back")
    func gone() throws {
        driver.isGone = true
        try use(isStreaming: false)
        #expect(try perform(.iso(400)) == .failure(.failed(.unplugged, "there is no camera")))
        // A camera that cannot be reached has nothing left to undo.
        #expect(try perform(.reset).get().controls.manual.isAutomatic)
        driver.isGone = false
        #expect(try perform(.iso(400)).get().controls.manual.iso == 400)
        driver.forget()
        try use(isStreaming: true)
        try eventually("its gain", within: Self.timeout) { driver["gain"] != 32 }
    }

    @Test("is as wanted when another camera has the role")
    func another() throws {
        try use(isStreaming: false, manual: .shutter(8000))
        try use(isStreaming: true)
        try eventually("its shutter", within: Self.timeout) { driver["exposure_time"] == 80 }
    }

    private static let light = [
        DeviceControl(
            20,
            "exposure_dynamic_framerate",
            .dynamicFrameRate,
            0...1,
            1,
            kind: .boolean
        ),
        DeviceControl(21, "power_line_frequency", .powerLine, 0...2, 2, menu: [0, 1, 2]),
    ]

    @Test("holds the rate and the filter against flicker, and puts back what it found")
    func light() throws {
        driver.add(Self.light)
        try use(isStreaming: true)
        try eventually("the values", within: Self.timeout) {
            driver.log.prefix(2) == ["exposure_dynamic_framerate=0", "power_line_frequency=1"]
        }
        // Another program's change wins.
        driver.change("power_line_frequency", to: 0)
        try close()
        #expect(driver["exposure_dynamic_framerate"] == 1)
        #expect(driver["power_line_frequency"] == 0)
        // A device that takes no such value goes on without.
        driver.refuse("power_line_frequency", with: .failed(.stalled, "no answer"))
        try use(isStreaming: true)
        try eventually("the rate", within: Self.timeout) {
            driver["exposure_dynamic_framerate"] == 0
        }
        #expect(try perform(.shutter(4000)).get().controls.shutter == 4000)
        driver.refuse("power_line_frequency", with: nil)
        try close()
        #expect(driver["power_line_frequency"] == 0)
    }

    @Test func `puts nothing back that the camera refused to hold, whoever sets it later`() throws {
        driver.add(Self.light)
        driver.refuse("power_line_frequency", with: .failed(.stalled, "no answer"))
        try use(isStreaming: true)
        _ = try perform(.look)
        #expect(driver["exposure_dynamic_framerate"] == 0)
        driver.refuse("power_line_frequency", with: nil)
        // Another program wants what we wanted.
        driver.change("power_line_frequency", to: 1)
        try close()
        #expect(driver["exposure_dynamic_framerate"] == 1)
        #expect(driver["power_line_frequency"] == 1)
    }

    @Test("holds what is locked while the camera delivers, and leaves its automatic to others")
    func locking() throws {
        driver.change("exposure_time", to: 333)
        driver.change("focus", to: 40)
        try use(isStreaming: true)
        let controls = try perform(.lock([])).get().controls
        #expect(controls.manual.lock.subjects == [.exposure, .focus])
        #expect(driver["auto_exposure"] == 1 && driver["focus_auto"] == 0)
        try use(isStreaming: false)
        try eventually("the automatic", within: Self.timeout) {
            driver["auto_exposure"] == 3 && driver["focus_auto"] == 1 && driver.openPorts == 0
        }
        // Meanwhile the automatic of another program goes elsewhere.
        driver.change("exposure_time", to: 50)
        try use(isStreaming: true)
        try eventually("the same values", within: Self.timeout) {
            driver["auto_exposure"] == 1 && driver["exposure_time"] == 333 && driver["focus"] == 40
        }
        // What a dial has set is no longer put back.
        _ = try perform(.shutter(4000)).get()
        #expect(try perform(.unlock).get().controls.manual.lock.subjects == [])
        #expect(driver["auto_exposure"] == 1 && driver["focus_auto"] == 1)
        try close()
        #expect(driver["auto_exposure"] == 1)
    }

    @Test func `leaves the automatics on where not all that was to be locked can be`() throws {
        try use(isStreaming: true)
        driver.refuse("focus", with: .notSupported("not now"))
        #expect(throws: ControlRefusal.self) { try perform(.lock([])).get() }
        func isAutomatic() -> Bool { driver["auto_exposure"] == 3 && driver["focus_auto"] == 1 }
        #expect(isAutomatic())
        let controls = try perform(.look).get().controls
        #expect(controls.manual.lock.subjects == [] && controls.manual.isAutomatic)
        // What is locked already stays so.
        _ = try perform(.lock([.exposure])).get()
        #expect(throws: ControlRefusal.self) { try perform(.lock([.focus])).get() }
        #expect(driver["auto_exposure"] == 1 && driver["focus_auto"] == 1)
        try use(isStreaming: false)
        try eventually("the automatic", within: Self.timeout) {
            isAutomatic() && driver.openPorts == 0
        }
    }

    @Test("holds nothing that the user does not want held, from the moment of the change")
    func lightOff() throws {
        driver.add(Self.light)
        var controls = CameraControls()
        func use(_ change: (inout ControlSettings) -> Void) {
            change(&controls.settings)
            thread.use(driver.use(controls))
        }
        func waitFor(rate: Int, filter: Int) throws {
            try eventually("\(rate) and \(filter)", within: Self.timeout) {
                driver["exposure_dynamic_framerate"] == rate
                    && driver["power_line_frequency"] == filter
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

    @Test func `puts back after a crash what an earlier run held`() throws {
        let folder = try ScratchDirectory()
        let (files, held) = (FileManager.default, "\(folder.path)/held")
        driver.add(Self.light)
        func run(_ body: (ControlThread) throws -> Void) throws {
            let thread = try ControlThread(role: .front, region: { .hz50 }, records: held) { _, _ in
            }
            defer {
                thread.end()
                #expect(thread.wait(until: MonotonicClock.now + Timestamp(seconds: 20)))
            }
            thread.use(driver.use(CameraControls()))
            try body(thread)
        }
        try run { _ in
            try eventually("the record", within: Self.timeout) {
                driver["power_line_frequency"] == 1
                    && (try? String(contentsOfFile: held + "/scripted", encoding: .utf8))
                        == "20 1 0\n21 2 1\n"
            }
            // As if this run ended without a word: its record stays, and the values.
            try files.copyItem(atPath: held, toPath: "\(folder.path)/crashed")
        }
        #expect(driver["power_line_frequency"] == 2)
        #expect(try files.contentsOfDirectory(atPath: held) == [])
        try files.removeItem(atPath: held)
        try files.moveItem(atPath: "\(folder.path)/crashed", toPath: held)
        driver.change("power_line_frequency", to: 1)
        driver.change("exposure_dynamic_framerate", to: 0)
        try run { thread in
            let answer = Mutexed(false)
            thread.perform(.look) { _ in answer.with { $0 = true } }
            try eventually("the answer", within: Self.timeout) { answer.with { $0 } }
        }
        #expect(driver["power_line_frequency"] == 2)
        #expect(driver["exposure_dynamic_framerate"] == 1)
    }

    @Test("gives a face its light, leaves what others set, and gives the exposure back")
    func metering() throws {
        func use(_ thread: ControlThread, isMetering: Bool = true, isStreaming: Bool = true) {
            var controls = CameraControls()
            controls.settings.metersFace = isMetering
            thread.use(driver.use(controls, isStreaming: isStreaming))
        }
        func isFound() -> Bool {
            ["auto_exposure", "exposure_time", "gain"].map { driver[$0] } == [3, 156, 32]
        }
        // Too dark by one stop and a bit: two flashes of the lamps, and gain for the rest.
        func begin(_ thread: ControlThread) throws {
            use(thread)
            thread.meter(105)
            try eventually("the exposure", within: Self.timeout) { driver["auto_exposure"] == 1 }
            try eventually("the time", within: Self.timeout) {
                driver["exposure_time"] % 100 == 0 && driver["gain"] != 32
            }
        }
        try begin(thread)
        try waitFor("what people see") { $0.isMetering && $0.isExposureAutomatic }
        use(thread, isMetering: false)
        try eventually("what was found", within: Self.timeout) { isFound() }
        // A compensation leaves the exposure to the camera.
        try begin(thread)
        _ = try perform(.compensation(1)).get()
        #expect(isFound())
        _ = try perform(.compensation(0)).get()
        use(thread, isMetering: false)
        // By hand.
        #expect(try perform(.shutter(4000)).get().controls.shutter == 4000)
        use(thread)
        thread.meter(60)
        #expect(try perform(.look).get().controls.shutter == 4000)
        _ = try perform(.reset)
        // By another program.
        use(thread, isStreaming: false)
        driver.forget()
        try begin(thread)
        driver.change("exposure_time", to: 77)
        try eventually("nothing more", within: Self.timeout) {
            thread.meter(60)
            return reports.with { $0.last?.controls.isMetering == false }
        }
        use(thread, isStreaming: false)
        try eventually("the closed device", within: Self.timeout) { driver.openPorts == 0 }
        #expect(driver["exposure_time"] == 77 && driver["auto_exposure"] == 1)
        // After a crash.
        driver.forget()
        let folder = try ScratchDirectory()
        let record = "\(folder.path)/held/scripted"
        for isCrash in [true, false] {
            let other = try ControlThread(
                role: .front,
                region: { .hz50 },
                records: "\(folder.path)/held"
            ) { _, _ in }
            if isCrash { try begin(other) } else { use(other, isMetering: false) }
            let text = try? String(contentsOfFile: record, encoding: .utf8)
            let values = driver.controls
            if !isCrash { try eventually("the exposure", within: Self.timeout) { isFound() } }
            other.end()
            #expect(other.wait(until: MonotonicClock.now + Timestamp(seconds: Self.timeout)))
            #expect(isFound())
            guard isCrash else { break }
            try #require(text).write(toFile: record, atomically: true, encoding: .utf8)
            driver.controls = values
        }
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
            driver["zoom"] == 120 && driver.openPorts == 0
        }
        try use(isStreaming: true, zoom: Self.zoom(to: 9, number: 2))
        try eventually("its end", within: Self.timeout) { driver["zoom"] == 500 }
        #expect(driver.log.filter { $0 != "read" }.suffix(2) == ["zoom=120", "zoom=500"])
        end()
        #expect(driver["zoom"] == 120)
    }

    @Test(
        "leaves the camera's own zoom where another turns it, and says so; also where it is not taken"
    )
    func zoomOfOthers() throws {
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
        #expect(driver["zoom"] == 300)
    }

    private static let image = [
        DeviceControl(30, "brightness", .image(.brightness), -64...64, 5),
        DeviceControl(31, "contrast", .image(.contrast), 0...64, 32),
        DeviceControl(32, "pan", .image(.pan), -7200...7200, 100),
    ]

    @Test("sets the picture while the camera delivers, and puts back what others have not changed")
    func picture() throws {
        driver.add(Self.image)
        try use(isStreaming: false)
        // Of a closed camera, it is noted.
        let noted = try perform(.image(.brightness, 20)).get().controls
        #expect(noted.manual.image == [.brightness: 20] && driver["brightness"] == 5)
        try use(isStreaming: true)
        try eventually("the brightness", within: Self.timeout) { driver["brightness"] == 20 }
        _ = try perform(.image(.contrast, 40)).get()
        #expect(driver["contrast"] == 40)
        // A value that a camera refuses is not wanted.
        driver.refuse("contrast", with: .failed(.stalled, "no answer"))
        #expect(throws: ControlRefusal.self) { try perform(.image(.contrast, 50)).get() }
        driver.change("brightness", to: -9)
        driver.emitEvent()
        try waitFor("the other's brightness") { $0.manual.image[.brightness] == -9 }
        driver.refuse("contrast", with: nil)
        try close()
        #expect(driver["brightness"] == -9 && driver["contrast"] == 32)
        driver.refuse("contrast", with: .failed(.stalled, "no answer"))
        driver.change("brightness", to: 5)
        try use(isStreaming: true)
        try eventually("the brightness", within: Self.timeout) { driver["brightness"] == -9 }
        _ = try perform(.image(.brightness, nil)).get()
        #expect(driver["brightness"] == 5)
        driver.change("brightness", to: 7)
        try close()
        #expect(driver["brightness"] == 7 && driver["contrast"] == 32)
    }

    @Test(
        "turns the camera smoothly, and back when it closes, unless another program has turned it"
    )
    func turning() throws {
        driver.add(Self.image)
        func written() -> [Int] {
            driver.log.compactMap { $0.hasPrefix("pan=") ? Int($0.dropFirst(4)) : nil }
        }
        try use(isStreaming: true)
        _ = try perform(.image(.pan, 5000)).get()
        try eventually("the pan", within: Self.timeout) { driver["pan"] == 5000 }
        #expect(written().count > 2 && written() == written().sorted())
        try close()
        #expect(driver["pan"] == 100)
        try use(isStreaming: true)
        try eventually("the pan again", within: Self.timeout) { driver["pan"] == 5000 }
        #expect(written().suffix(2) == [100, 5000], "at once, since nothing is shown yet")
        try eventually("some reads of it", within: Self.timeout) {
            driver.log.suffix(4) == ["read", "read", "read", "read"]
        }
        driver.change("pan", to: -3000)
        driver.emitEvent()
        try waitFor("the other's pan") { $0.manual.image[.pan] == -3000 }
        try close()
        #expect(driver["pan"] == -3000)
    }

    @Test("turns the torch off when its camera closes, is left, or the thread ends")
    func torch() throws {
        func light() throws {
            try use(isStreaming: true)
            #expect(try perform(.torch(true)).get().controls.torch == true)
            #expect(driver["led_mode"] == DeviceControl.FlashMode.torch)
        }
        func waitUntilDark() throws {
            try eventually("the dark", within: Self.timeout) {
                driver["led_mode"] == DeviceControl.FlashMode.off && driver.openPorts == 0
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
        #expect(driver["led_mode"] == DeviceControl.FlashMode.off)
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
        #expect(answers.with { $0.map { try? $0.get().controls.manual.iso } } == [200, 400])
    }
}

private final class Mutexed<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
    func with<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { body(&$0) }
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
@dynamicMemberLookup private final class ScriptedDriver: Sendable {
    struct Script {
        var controls: [DeviceControl]
        var log: [String] = []
        var refusals: [String: ControlRefusal] = [:]
        var subscribed: [String] = []
        var openPorts = 0
        var openings = 0
        var isGone = false
        /// `true` while writes do not return.
        var isHanging = false
        var hasHung = false
    }
    private let script: Mutex<Script>
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
        var controls = [
            DeviceControl(1, "auto_exposure", .exposureMode, 0...3, 3, menu: [1, 3]),
            DeviceControl(2, "exposure_time", .exposureTime, 1...10000, 156),
            DeviceControl(3, "gain", .gain, 0...255, 32),
            DeviceControl(4, "focus_auto", .focusAuto, 0...1, 1),
            DeviceControl(5, "focus", .focus, 0...250, 120),
            DeviceControl(6, "zoom", .zoom, 100...500, 100),
            DeviceControl(7, "led_mode", .flashMode, 0...2, 0, menu: [0, 1, 2]),
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

    subscript<Value: Sendable>(dynamicMember path: WritableKeyPath<Script, Value>) -> Value {
        get { script.withLock { $0[keyPath: path] } }
        set { script.withLock { $0[keyPath: path] = newValue } }
    }

    subscript(name: String) -> Int { self.controls.first { $0.name == name }?.value ?? .min }
    /// Returns the use of a camera with these controls.
    func use(
        _ controls: CameraControls,
        isStreaming: Bool = true,
        isShown: Bool = false,
        zoom: ZoomRequest? = nil
    ) -> ControlThread.Use {
        let source = ScriptedCamera(
            "scripted",
            controls: { [self] () throws(CaptureError) in
                guard !self.isGone else { throw CaptureError(.gone, "camera") }
                return ScriptedPort(self)
            }
        )
        return .init(
            source: source,
            controls: controls,
            isStreaming: isStreaming,
            isShown: isShown,
            zoom: zoom
        )
    }
    func refuse(_ name: String, with refusal: ControlRefusal?) {
        script.withLock { $0.refusals[name] = refusal }
    }
    func change(_ name: String, to value: Int) {
        script.withLock { script in
            for index in script.controls.indices where script.controls[index].name == name {
                script.controls[index].value = value
            }
            Self.follow(&script.controls)
        }
    }
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
        }) { usleep(2_000) }
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
            script.controls[index].value = write.value
            Self.follow(&script.controls)
            return nil
        }
    }
}

extension DeviceControl {
    fileprivate init(
        _ id: UInt32,
        _ name: String,
        _ purpose: Purpose,
        _ range: ClosedRange<Int>,
        _ value: Int,
        kind: Kind = .integer,
        menu: [Int] = []
    ) {
        self.init(
            id: id,
            name: name,
            kind: menu.isEmpty ? kind : .menu,
            purpose: purpose,
            range: range,
            initial: value,
            menu: menu.map { Item(index: $0, name: "item \($0)") },
            value: value
        )
    }
}
