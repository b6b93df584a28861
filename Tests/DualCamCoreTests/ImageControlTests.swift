import Frames
import Testing

@testable import DualCamCore

@Suite("Brightness, contrast and the like") struct ImageControlTests: Reducing {
    var state = State.withTwoCameras()
    private var controls = CameraControls()

    private static func control(
        _ name: ImageControl,
        _ range: ClosedRange<Int>,
        step: Int = 1,
        value: Int = 0
    ) -> DeviceControl {
        DeviceControl(
            id: UInt32(name.rawValue.count),
            name: name.rawValue,
            purpose: .image(name),
            range: range,
            step: step,
            value: value
        )
    }

    private static let device = [
        control(.brightness, -64...64, value: 5), control(.hue, 0...100, step: 10),
        control(.pan, -36_000...36_000, step: 3600),
    ]

    init() { controls.read(Self.device) }

    /// Gives `command`, and returns what is wanted then.
    @discardableResult
    private mutating func give(_ command: ControlCommand) throws -> [ImageControl: Int] {
        controls.settle(try controls.plan(command), controls.device)
        return controls.manual.image
    }

    private var values: [Int] { controls.image.map(\.control.value) }

    @Test("what is wanted is one of the camera's values, and changes add up")
    mutating func wanting() throws {
        #expect(values == [5, 0, 0])
        #expect(try give(.image(.hue, 43)) == [.hue: 40])
        #expect(try give(.moveImage(.hue, 1)) == [.hue: 50], "at least one step")
        // Of what the camera has not reached yet, too.
        try give(.moveImage(.pan, 3600))
        #expect(try give(.moveImage(.pan, 3600))[.pan] == 7200)
        let plan = try controls.plan(.moveImage(.pan, .max / 2))
        #expect(plan.limit == .maximum && plan.manual.image[.pan] == 36_000)
        #expect(values == [5, 50, 7200])
        #expect(try give(.image(.hue, nil)) == [.pan: 7200])
        // Pro mode has nothing to do with it.
        #expect(try give(.reset) == [.pan: 7200])
    }

    @Test("a value that the camera lacks is refused with the range, and waits for the right camera")
    mutating func refusing() throws {
        let range = ControlRefusal.outOfRange("brightness must be between -64 and 64, not 65.")
        #expect(throws: range) { try controls.plan(.image(.brightness, 65)) }
        let missing = ControlRefusal.notSupported(
            "This camera has no gamma. `dualcamctl image` lists what it has."
        )
        #expect(throws: missing) { try controls.plan(.image(.gamma, 1)) }
        #expect(throws: missing) { try controls.plan(.moveImage(.gamma, 1)) }
        #expect(try controls.plan(.image(.gamma, nil)).manual.image.isEmpty)
        var manual = ManualControls()
        manual.image = [.brightness: 65, .gamma: 1, .hue: 30]
        controls = CameraControls(manual: manual)
        controls.read(Self.device)
        #expect(values == [5, 30, 0])
        #expect(try controls.plan(.restore).image == [.hue])
        #expect(try give(.restore) == manual.image)
        controls.noteMoved(.brightness, to: 5)
        #expect(controls.manual.image == manual.image)
    }

    @Test("what another program sets replaces what is wanted, and nothing else")
    mutating func others() throws {
        try give(.image(.brightness, 10))
        var device = Self.device
        (device[0].value, device[1].value) = (10, 70)
        controls.settle(try controls.plan(.look), device)
        device[0].value = 33
        controls.read(device)
        #expect(controls.manual.image == [.brightness: 33])
        controls.noteMoved(.pan, to: 3600)
        #expect(controls.manual.image == [.brightness: 33])
    }

    @Test("a camera that turns is eased there, and stays where another program turns it")
    func turning() {
        let start = Timestamp(seconds: 50)
        func at(_ seconds: Double) -> Timestamp { start + Timestamp(seconds: seconds) }
        var pan = Self.control(.pan, -36_000...36_000, step: 100, value: -1000)
        var drive = ControlDrive()
        drive.begin(pan)
        #expect(drive.isOthers)
        drive.follow(.turn(from: -1000, to: 3000, at: start, seconds: 0.4))
        var written: [Int] = []
        var step = 0.0
        repeat {
            if let value = drive.next(pan, at: at(step)) {
                drive.write(value)
                written.append(value)
                // A motor that takes its time.
                pan.value += (value - pan.value) / 2
            } else {
                pan.value = written.last ?? pan.value
            }
            drive.see(pan.value)
            step += ControlDrive.pace
        } while !drive.isOver(pan, at: at(step)) && step < 9
        #expect(written.count > 5 && written.last == 3000 && written == written.sorted())
        #expect(written.contains(1000) && !drive.isOthers && drive.home == -1000)
        drive.see(-500)
        #expect(drive.isOthers && drive.home == -500 && drive.next(pan, at: at(step)) == nil)
    }

    // MARK: In the state

    private mutating func report() {
        var read = state.cameras.back.controls
        read.read(Self.device)
        send(.controls(.back, .read(identity: "back", read)))
    }

    private mutating func configure(_ image: [ImageControl: Int]) -> [Effect] {
        var settings = state.configured
        settings.cameras.back.manual.image = image
        return send(.configured(settings))
    }

    private var problems: [String] {
        state.problems(besides: OtherProblems(), Configuration().output)
            .filter { $0.contains("configuration") }
    }

    @Test("a camera comes with the configured values, and takes over others when they change")
    mutating func configuring() throws {
        #expect(configure([.brightness: 10]).isEmpty)
        stream()
        #expect(state.cameras.back.controls.manual.image == [.brightness: 10])
        report()
        let commands = [
            SceneCommand(key: "back.brightness", command: .image(.brightness, nil)),
            SceneCommand(key: "back.hue", command: .image(.hue, 300)),
        ]
        #expect(configure([.hue: 300]) == [.setControls(.back, commands, of: "")])
        let problem = "cameras.back.hue in the configuration has no effect: "
        #expect(problems == [problem + "hue must be between 0 and 100, not 300."])
        // A camera that refuses it is told of once.
        send(.scenes(.refusedLate(["back.hue": "No."], of: "")))
        #expect(problems.count == 1 && state.scenes.lateRefusals.isEmpty)
    }

    @Test("what is wanted of a camera is its own, over a restart and the end of Pro mode, too")
    mutating func keeping() throws {
        _ = configure([.brightness: 10])
        stream()
        report()
        state.cameras.back.controls.manual.image = [.brightness: 20, .pan: -3600]
        send(.assigned(.back, id: "other"), .pro(.setEnabled(true)), .pro(.setEnabled(false)))
        #expect(state.cameras.back.controls.manual.image == [.brightness: 10])
        var later = State.withTwoCameras()
        later.take(.configured(state.configured))
        try SavedState(parsing: SavedState(state).text).restore(&later)
        later.take(.assigned(.back))
        #expect(later.cameras.back.controls.manual.image == [.brightness: 20, .pan: -3600])
    }
}
