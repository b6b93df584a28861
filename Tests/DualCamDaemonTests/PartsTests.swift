import CDBus
import Control
import Engine
import Frames
import Glibc
import Media
import Platform
import Synchronization
import TestCameras
import TestSupport
import Testing

@testable import DBusKit
@testable import DualCamCore
@testable import DualCamDaemon

/// A server's port whose callers are the test.
final class Callers: MessagePort {
    var onCall: ((Message) -> Void)?
    var onRound: () -> Void = {}
    private var leaving: [String: [() -> Void]] = [:]
    private var serial: UInt32 = 0

    private(set) var sent: [Message] = []

    func soon() {}
    func send(_ message: Message) { sent.append(message) }
    func onLeaving(_ name: String, _ handler: @escaping () -> Void) -> AnyObject {
        leaving[name, default: []].append(handler)
        return self
    }

    func leave(_ name: String) { for handler in leaving[name] ?? [] { handler() } }

    var refusal: String { sent.last?.error?.message ?? "" }

    /// The names of the errors that were sent, without what all have in common.
    var errors: [String] {
        sent.compactMap { $0.error?.name.split(separator: ".").last.map(String.init) }
    }

    func takePhoto(_ options: [String: Value], from sender: String) throws {
        try call("TakePhoto", of: CaptureInterface.name, [.named(options)], from: sender)
    }

    func set(
        _ name: String,
        of interface: String,
        _ value: Value,
        at path: ObjectPath = DualCam.path,
        from sender: String
    ) throws {
        try call(
            "Set",
            of: "org.freedesktop.DBus.Properties",
            [.string(interface), .string(name), .variant(value)],
            at: path,
            from: sender
        )
    }

    func call(
        _ member: String,
        of interface: String,
        _ arguments: [Value],
        at path: ObjectPath = DualCam.path,
        from sender: String
    ) throws {
        let message = try Message(
            MethodCall(member, of: interface, at: path, on: DualCam.busName, arguments)
        )
        serial += 1
        dbus_message_set_serial(message.pointer, serial)
        dbus_message_set_sender(message.pointer, sender)
        onCall?(message)
    }
}

extension CameraDevice {
    /// A camera that suits `role`.
    init(of role: Role, refusal: AutoRefusal? = nil) {
        self.init(
            path: "/dev/\(role)",
            name: "A camera",
            identity: "v4l2:\(role)",
            orientation: role == .back ? .back : .front,
            refusal: refusal
        )
    }

    /// One of several cameras of no role.
    static func numbered(_ number: Int) -> CameraDevice {
        CameraDevice(
            path: "/dev/video\(number)",
            name: "Camera \(number)",
            identity: "v4l2:camera-\(number)",
            aliases: ["/dev/v4l/by-id/camera-\(number)"]
        )
    }
}

extension DualCamDaemon.Daemon {
    /// Has udev list these cameras.
    func find(_ cameras: [CameraDevice]) {
        send(.cameras(.found(cameras, from: .kernel(isWhole: true))))
    }
}

/// A daemon whose cameras, stream and session are what the test says; it has no threads.
@MainActor
struct Scripted {
    let loop: EventLoop
    let daemon: DualCamDaemon.Daemon
    let server: ObjectServer
    let service: Service
    let recording: RecordingSession
    let live: LivePhotos
    let callers = Callers()

    init(
        loop given: EventLoop? = nil,
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws {
        var configuration = Configuration()
        change(&configuration)
        loop = try given ?? EventLoop()
        daemon = try DualCamDaemon.Daemon(configuration, loop: loop)
        recording = try RecordingSession(daemon, helper: [], loop: loop)
        live = try LivePhotos(daemon, loop: loop)
        server = ObjectServer(port: callers, managing: DualCam.path)
        service = try Service(
            daemon,
            recording,
            live,
            on: server,
            loop: loop,
            configurationFile: nil
        )
        daemon.find(Role.allCases.map { CameraDevice(of: $0) })
    }

    func stream() {
        daemon.send(.stream(.start))
        daemon.send(.node(nil, .published(id: 7)))
        daemon.send(.node(nil, .consumed(true)))
        let size = Size(width: 1280, height: 720)
        let mode = CaptureMode(size: size, rate: 30, format: .yuyv)
        for role in Role.allCases {
            daemon.send(.camera(role, .streaming(mode, insteadOf: nil)))
        }
    }
}

@MainActor
@Suite("Events in the daemon")
struct EventTests {
    @Test func `One that comes while another one is carried out waits for its turn`() throws {
        let scripted = try Scripted()
        let daemon = scripted.daemon
        var seen: [PrivacyOutcome?] = []
        daemon.performers.append { effect in
            guard case .storePrivacy(_, let number) = effect else { return }
            daemon.send(.privacy(.stored(number: number, failure: nil)))
            seen.append(daemon.state.privacyOutcome(of: number))
        }
        daemon.send(.privacy(.set(true)))
        #expect(seen == [nil] && daemon.state.isPrivate)
        withExtendedLifetime(scripted) {}
    }

    @Test func `What is to come is announced after all that was before, and before itself`() throws
    {
        let scripted = try Scripted()
        let daemon = scripted.daemon
        var told: [String] = []
        daemon.notify()
        daemon.observers.append {
            told.append("\(daemon.state.scene.isSwapped) \(daemon.state.isStarted)")
        }
        daemon.performers.append { effect in
            guard case .announce = effect else { return }
            // As each signal does.
            daemon.notify()
            told.append("announced")
        }
        daemon.send(.scene(.swap(instantly: true)))
        daemon.send(.stream(.start))
        #expect(told == ["true false", "announced"])
        daemon.notify()
        #expect(told.last == "true true")
        withExtendedLifetime(scripted) {}
    }

    @Test func `All of one turn of the loop are noticed once, and those before an answer by then`()
        throws
    {
        let scripted = try Scripted()
        let (daemon, loop) = (scripted.daemon, scripted.loop)
        daemon.notify()
        var count = 0
        daemon.observers.append { count += 1 }
        for _ in 1...3 { daemon.send(.scene(.swap(instantly: true))) }
        #expect(count == 0)
        for _ in 1...2 { loop.runOnce(milliseconds: 0) }
        #expect(count == 1)
        daemon.send(.scene(.swap(instantly: true)))
        scripted.callers.onRound()
        #expect(count == 2)
        loop.runOnce(milliseconds: 0)
        #expect(count == 2)
        withExtendedLifetime(scripted) {}
    }
}

@MainActor
@Suite("A camera without a picture")
struct NoPictureTests {
    @Test func `Is refused with the reason`() throws {
        let scripted = try Scripted()
        let daemon = scripted.daemon
        func refusal() -> String { daemon.noPicture(of: .front, "nothing to lock").message }
        scripted.stream()
        daemon.send(.camera(.front, .interrupted(.unplugged, reason: "no such device")))
        #expect(refusal() == "The front camera sends no pictures: no such device")
        daemon.send(.privacy(.set(true)))
        #expect(refusal().hasPrefix("Privacy is on."))
        daemon.send(.privacy(.set(false)))
        daemon.find(Role.allCases.map { CameraDevice(of: $0, refusal: .noPictures) })
        for role in Role.allCases { daemon.send(.camera(role, .closed)) }
        #expect(refusal() == "There is no front camera.")
    }
}

@MainActor
@Suite("Photographs that are asked for")
struct PhotoRequestTests {
    @Test("keep their cameras open, in the mode that the most demanding needs, until none is left")
    func cameras() throws {
        let scripted = try Scripted()
        let (callers, daemon) = (scripted.callers, scripted.daemon)
        func expect(_ roles: Set<Role>, full: Set<Role>) {
            #expect(daemon.state.photographed == roles)
            #expect(daemon.state.photographedFull == full)
        }
        try callers.takePhoto(["of": .string("back")], from: ":1.1")
        expect([.back], full: [])
        try callers.takePhoto(["of": .string("back"), "full": .boolean(true)], from: ":1.2")
        expect([.back], full: [.back])
        try callers.takePhoto(["of": .string("both"), "full": .boolean(true)], from: ":1.3")
        expect([.back, .front], full: [.back, .front])
        callers.leave(":1.3")
        expect([.back], full: [.back])
        callers.leave(":1.2")
        expect([.back], full: [])
        callers.leave(":1.1")
        expect([], full: [])
        // Into a file that cannot be written to.
        let null = SharedDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
        let arguments: [Value] = [.descriptor(null), .string("back"), .named([:])]
        try callers.call("TakePhotoTo", of: CaptureInterface.name, arguments, from: ":1.4")
        #expect(callers.errors.last == "InvalidArgs")
        expect([], full: [])
        withExtendedLifetime(scripted) {}
    }
}

@MainActor
@Suite("Photographs of many")
struct PhotoLimitTests {
    @Test("are at most eight of one program, and at most 64 of all")
    func limits() throws {
        let scripted = try Scripted()
        let callers = scripted.callers
        for _ in 1...8 { try callers.takePhoto(["of": .string("back")], from: ":1.1") }
        #expect(callers.errors == [])
        try callers.takePhoto(["of": .string("back")], from: ":1.1")
        #expect(callers.errors == ["Busy"])
        for number in 2...8 {
            for _ in 1...8 {
                try callers.takePhoto(["of": .string("front")], from: ":1.\(number)")
            }
        }
        #expect(callers.errors == ["Busy"])
        try callers.takePhoto(["of": .string("front")], from: ":1.9")
        #expect(callers.errors == ["Busy", "Busy"])
        #expect(callers.refusal == "64 photos of all programs are waiting already.")
        callers.leave(":1.3")
        for _ in 1...8 { try callers.takePhoto(["of": .string("front")], from: ":1.9") }
        // The others are the answers to the caller that left.
        #expect(callers.errors.count { $0 == "Busy" } == 2 && callers.errors.count == 10)
    }

    @Test("are counted together where a program has several connections")
    func connections() throws {
        let scripted = try Scripted()
        let callers = scripted.callers
        // The last of these has left by the time that the bus is asked.
        let programs = [":1.1": "a", ":1.2": "a", ":1.3": "b"]
        scripted.service.program = { caller, done in done(programs[caller]) }
        for _ in 1...5 { try callers.takePhoto(["of": .string("back")], from: ":1.1") }
        for _ in 1...3 { try callers.takePhoto(["of": .string("back")], from: ":1.2") }
        #expect(callers.errors == [])
        for caller in [":1.1", ":1.2"] {
            try callers.takePhoto(["of": .string("back")], from: caller)
            #expect(callers.refusal == "8 photos of this program are waiting already.")
        }
        try callers.takePhoto(["of": .string("back")], from: ":1.3")
        #expect(callers.errors == ["Busy", "Busy"])
        callers.leave(":1.2")
        for _ in 1...3 { try callers.takePhoto(["of": .string("back")], from: ":1.1") }
        #expect(callers.errors.count { $0 == "Busy" } == 2)
        try callers.takePhoto(["of": .string("back")], from: ":1.4")
        #expect(callers.refusal == "The caller has left.")
    }

    @Test("are of each picture once, whatever it is called")
    func subjects() throws {
        #expect(
            try PhotoService.subjects(["back", "both", "back"], isOne: false) == [.back, .front]
        )
        #expect(try PhotoService.subjects(["all"], isOne: false) == [.back, .front, .stream])
        #expect(try PhotoService.subjects(["stream"], isOne: true) == [.stream])
        for (words, isOne) in [(["both"], true), ([], false), (["none"], false)] {
            #expect(throws: DBusKit.DBusError.self) {
                try PhotoService.subjects(words, isOne: isOne)
            }
        }
    }

    @Test("that nobody could take are refused, and each error says why")
    func refused() throws {
        let scripted = try Scripted()
        let (callers, daemon) = (scripted.callers, scripted.daemon)
        let cases: [([String: Value], String)] = [
            (["of": .string("side")], "OutOfRange"),
            (["of": .strings([])], "OutOfRange"), (["of": .uint32(1)], "InvalidArgs"),
            (["full": .string("yes")], "InvalidArgs"),
            (["of": .string("stream"), "full": .boolean(true)], "OutOfRange"),
            (["full": .boolean(true), "live": .boolean(true)], "OutOfRange"),
        ]
        for (options, name) in cases {
            let count = callers.errors.count
            try callers.takePhoto(options, from: ":1.1")
            #expect(callers.errors.dropFirst(count) == [name], "\(options)")
        }
        daemon.find([CameraDevice(of: .back), CameraDevice(of: .front, refusal: .noPictures)])
        try callers.takePhoto(["of": .string("front")], from: ":1.1")
        #expect(callers.errors.last == "NoCamera")
        // Both are asked for; there is one.
        try callers.takePhoto([:], from: ":1.1")
        #expect(callers.errors.count == cases.count + 1)
        #expect(daemon.state.photographed == [.back])
        daemon.send(.recording(.start([.back], sound: false)))
        try callers.takePhoto(["of": .string("back"), "full": .boolean(true)], from: ":1.1")
        #expect(callers.errors.last == "Busy")
        daemon.send(.privacy(.set(true)))
        try callers.takePhoto(["of": .string("back")], from: ":1.1")
        #expect(callers.errors.last == "Locked")
    }

    @Test("wait for their camera, and end when it cannot be had")
    func lost() throws {
        let scripted = try Scripted()
        let (callers, daemon, service) = (scripted.callers, scripted.daemon, scripted.service)
        scripted.stream()
        daemon.send(.camera(.back, .interrupted(.bandwidth, reason: "no room")))
        try callers.takePhoto(["of": .string("back")], from: ":1.1")
        #expect(callers.errors == [] && daemon.state.photographed == [.back])
        daemon.send(.camera(.back, .interrupted(.unplugged, reason: "no such device")))
        daemon.notify()
        #expect(callers.errors == ["CameraLost"] && daemon.state.photographed == [])
        daemon.send(.camera(.back, .interrupted(.busy, reason: "held by cheese")))
        try callers.takePhoto(["of": .string("back")], from: ":1.1")
        #expect(callers.errors == ["CameraLost", "Busy"])
        withExtendedLifetime(service) {}
    }
}

@MainActor
@Suite("Privacy that is asked for")
struct PrivacyRequestTests {
    @Test("is answered when it is kept, or with what is missing")
    func answers() throws {
        let scripted = try Scripted()
        let (callers, daemon) = (scripted.callers, scripted.daemon)
        var stored: [(Bool, Int)] = []
        daemon.performers.append { effect in
            if case .storePrivacy(let isOn, let number) = effect { stored.append((isOn, number)) }
        }
        scripted.stream()
        func ask(_ isOn: Bool) throws {
            try callers.set("Enabled", of: PrivacyInterface.name, .boolean(isOn), from: ":1.1")
        }
        func answers() -> Int { callers.sent.count { $0.kind == DBUS_MESSAGE_TYPE_METHOD_RETURN } }
        try ask(true)
        #expect(stored.map(\.0) == [true] && answers() == 0)
        daemon.send(.privacy(.stored(number: stored[0].1, failure: nil)))
        daemon.notify()
        #expect(answers() == 0, "the cameras are open")
        for role in Role.allCases { daemon.send(.camera(role, .closed)) }
        daemon.notify()
        #expect(answers() == 1 && callers.errors == [])
        try ask(false)
        daemon.send(.privacy(.stored(number: stored[1].1, failure: "the disk is full")))
        daemon.notify()
        #expect(callers.errors == ["Failed"] && answers() == 1)
    }
}

@MainActor
@Suite("The configuration that is written")
struct SourceEditorTests {
    @MainActor private struct Edited {
        let scripted: Scripted
        let path: String
        let editor: SourceEditor

        init(_ path: String) throws {
            scripted = try Scripted()
            self.path = path
            editor = SourceEditor(scripted.daemon, loop: scripted.loop, path: path)
            scripted.daemon.find([.numbered(0), .numbered(1)])
        }

        var text: String {
            String(decoding: (try? readFile(path, limit: 9999)) ?? [], as: UTF8.self)
        }
        var front: SourceSpecification { scripted.daemon.configuration.cameras.front.source }

        /// Edits the file with `work`, and returns the error.
        private func edit(
            _ work: (@escaping (DBusKit.DBusError?) -> Void) -> Void
        ) throws -> String? {
            var answers: [DBusKit.DBusError?] = []
            work { answers.append($0) }
            try scripted.loop.wait(for: "the disk") { !answers.isEmpty }
            precondition(answers.count == 1)
            return answers[0]?.message
        }
        func use(_ word: String) throws -> String? {
            try edit { editor.use(word, as: .front, for: "", $0) }
        }
        func undo() throws -> String? { try edit { editor.undo($0) } }

        func hold(_ condition: Bool) { precondition(condition, text) }

        func end() {
            let deadline = MonotonicClock.now + Timestamp(seconds: 10)
            precondition(scripted.daemon.files.end(by: deadline))
        }
    }

    @Test("is as before after an undo, unless somebody changed it since")
    func undo() async {
        await #expect(processExitsWith: .success) {
            try await inFolder { folder in
                let file = try Edited("\(folder)/dualcam.toml")
                func expect(_ text: String?, contains part: String) {
                    precondition(text?.contains(part) ?? false, "\(text ?? "none"): \(part)")
                }
                try writeFile(Array("# mine\n".utf8), to: file.path)
                try file.hold(file.use("camera-1") == nil)
                file.hold(file.text.hasPrefix("# mine\n"))
                expect(file.text, contains: "v4l2:camera-1")
                file.hold(file.front == .v4l2("camera-1"))
                try file.hold(file.undo() == nil)
                file.hold(file.text == "# mine\n" && file.front == .auto)
                try expect(file.undo(), contains: "nothing to undo")
                try file.hold(file.use("camera-0") == nil)
                try writeFile(Array("# later\n".utf8), to: file.path)
                try expect(file.undo(), contains: "was changed since")
                file.hold(file.text == "# later\n")
                try file.hold(file.use("camera-7") != nil)
                try expect(file.use("test:nope"), contains: "there is no test picture nope")
                let nope = "file:\(folder)/nope.jpg"
                try expect(file.use(nope), contains: "nope.jpg: there is no such file")
                file.hold(file.text == "# later\n")
                file.end()
            }
        }
    }

    @Test("has the undo of the change before after one that failed")
    func undoAfterFailure() async {
        await #expect(processExitsWith: .success) {
            try await inFolder { folder in
                let store = "\(folder)/store"
                mkdir(store, 0o700)
                let disk = try SmallDisk(at: store, size: "64k")
                defer { withExtendedLifetime(disk) {} }
                try writeFile(Array("# mine\n".utf8), to: "\(store)/dualcam.toml")
                symlink("\(store)/dualcam.toml", "\(folder)/dualcam.toml")
                let file = try Edited("\(folder)/dualcam.toml")
                let first = try file.use("camera-1")
                precondition(first == nil, first ?? "")
                let filler = "\(store)/filler"
                do throws(SystemError) {
                    let block = [UInt8](repeating: 0, count: 1 << 17)
                    try write(block, to: creat(filler, 0o600), called: filler)
                } catch { precondition(error.errno == ENOSPC) }
                let second = try file.use("camera-0")
                precondition(second?.contains("the disk is full") ?? false, second ?? "")
                let undone = try file.undo()
                precondition(undone?.contains("the disk is full") ?? false, undone ?? "")
                truncate(filler, 0)
                let again = try file.undo()
                precondition(
                    again == nil && file.text == "# mine\n",
                    "\(again ?? ""), \(file.text)"
                )
                file.end()
            }
        }
    }

    @Test("is gone after an undo where there was none")
    func undoNew() async {
        await #expect(processExitsWith: .success) {
            try await inFolder { folder in
                let file = try Edited("\(folder)/dualcam.toml")
                let written = try file.use("camera-1")
                precondition(written == nil && access(file.path, F_OK) == 0)
                let undone = try file.undo()
                precondition(undone == nil && access(file.path, F_OK) != 0 && file.front == .auto)
                file.end()
            }
        }
    }
}

@MainActor
@Suite("Devices")
struct DeviceTests {
    @Test("are told when one comes or goes, or gets another role, and at no other time")
    func signalled() throws {
        let scripted = try Scripted()
        let (callers, daemon) = (scripted.callers, scripted.daemon)
        /// Returns the identities and roles of the devices in each signal that `change` causes.
        func told(_ change: () -> Void) throws -> [[String]] {
            callers.onRound()
            let count = callers.sent.count
            change()
            callers.onRound()
            return try callers.sent.dropFirst(count).compactMap { message in
                guard message.member == "PropertiesChanged" else { return nil }
                let arguments = try message.values()
                guard let devices = arguments[1].named?["Devices"]?.array else { return nil }
                return devices.compactMap(\.named).map {
                    "\($0["id"]?.string ?? "") \($0["role"]?.string ?? "")"
                }
            }
        }
        let (first, second) = (CameraDevice.numbered(0), CameraDevice.numbered(1))
        daemon.find([])
        #expect(try told { daemon.find([]) } == [])
        #expect(try told { daemon.find([first]) } == [["v4l2:camera-0 back"]])
        #expect(try told { daemon.find([first]) } == [])
        #expect(
            try told { daemon.find([first, second]) } == [
                ["v4l2:camera-0 back", "v4l2:camera-1 front"]
            ]
        )
        #expect(try told { daemon.send(.scene(.swap(instantly: true))) } == [])
        var configuration = daemon.configuration
        configuration.cameras.back.source = .v4l2("camera-1")
        #expect(
            try told { daemon.reconfigure(configuration) } == [
                ["v4l2:camera-0 front", "v4l2:camera-1 back"]
            ]
        )
        #expect(try told { daemon.find([second]) } == [["v4l2:camera-1 back"]])
        #expect(try told { daemon.find([]) } == [[]])
        withExtendedLifetime(scripted) {}
    }
}

@MainActor
@Suite("Recordings that are asked for")
struct RecordingRequestTests {
    @Test("are of cameras that are there, and may forbid a swap")
    func refused() throws {
        let scripted = try Scripted { $0.capture.allowsSwapWhileRecording = false }
        let (callers, daemon) = (scripted.callers, scripted.daemon)
        daemon.find([CameraDevice(of: .back), CameraDevice(of: .front, refusal: .noPictures)])
        let both: [String: Value] = ["of": .strings(["back", "front"])]
        try callers.call("StartRecording", of: CaptureInterface.name, [.named(both)], from: ":1.1")
        #expect(callers.errors == ["NoCamera"])
        #expect(callers.refusal == "There is no front camera to record.")
        daemon.find(Role.allCases.map { CameraDevice(of: $0) })
        daemon.send(.recording(.start([.back], sound: false)))
        try callers.call("Swap", of: SceneInterface.name, [.named([:])], from: ":1.1")
        try callers.set("Swapped", of: SceneInterface.name, .boolean(true), from: ":1.1")
        #expect(callers.errors == ["NoCamera", "Locked", "Locked"])
    }

    @Test("end with a toggle before they begin, and can be paused only then")
    func toggled() throws {
        let folder = try ScratchDirectory()
        let scripted = try Scripted { $0.capture.videoDirectory = folder.path }
        let callers = scripted.callers
        func call(_ member: String) throws {
            try callers.call(member, of: CaptureInterface.name, [.named([:])], from: ":1.1")
        }
        // The disk's answer is not taken before the loop runs.
        try call("StartRecording")
        #expect(callers.sent.isEmpty)
        try call("PauseRecording")
        try call("ResumeRecording")
        try call("ToggleRecording")
        #expect(callers.errors == ["NotRecording", "NotRecording", "NotRecording"])
        let answer = callers.sent.first { $0.kind == DBUS_MESSAGE_TYPE_METHOD_RETURN }
        #expect(try answer?.values().first == .boolean(false))
        #expect(!scripted.recording.isOn && scripted.recording.end())
    }

    @Test("do not pile up before a disk that does not answer")
    func slowDisk() throws {
        let folder = try ScratchDirectory()
        let scripted = try Scripted { $0.capture.videoDirectory = folder.path }
        let recording = scripted.recording
        var answers: [String] = []
        func start() {
            var request = RecordingRequest()
            request.hasSound = false
            recording.start(request) { result in
                switch result {
                case .success: answers.append("recording")
                case .failure(.alreadyRecording): answers.append("already")
                case .failure(.notRecording): answers.append("stopped")
                case .failure(.noCamera): answers.append("no camera")
                case .failure(.failed(let error)): answers.append(error.detail)
                }
            }
        }
        // The disk's answers are not taken before the loop runs.
        start()
        start()
        #expect(answers == ["already"])
        recording.stop { _ in }
        #expect(answers == ["already", "stopped"])
        start()
        let waits = "the disk has not answered the last request yet"
        #expect(answers == ["already", "stopped", waits])
        // It answers at last, too late for the first.
        for _ in 0..<2 { start() }
        #expect(answers.count == 5)
        try scripted.loop.wait(for: "the disk") {
            start()
            return answers.last == "already"
        }
        try scripted.loop.wait(for: "the recording") {
            scripted.daemon.state.recording.phase == .starting
        }
        #expect(recording.end())
    }
}

@MainActor
@Suite("A lens that comes in")
struct LensTimersTests {
    @Test("is steady after four frames that are equally bright, or after two seconds")
    func steady() throws {
        let loop = try EventLoop()
        let timers = try LensTimers(loop: loop, crossed: {}, retry: {}, look: {}, light: {})
        let slot = FrameSlot(bell: try Bell())
        var number: UInt64 = 0
        func put(_ luma: UInt8) {
            number += 1
            slot.put(grayFrame(luma, number))
        }
        // Those of before do not count.
        for _ in 0..<10 { put(100) }
        let start = MonotonicClock.now
        func isSteady(after seconds: Double) -> Bool {
            timers.isSteady(slot, at: start + Timestamp(seconds: seconds))
        }
        timers.beginLooking(at: start)
        for _ in 0..<4 {
            #expect(!isSteady(after: 0.3))
            put(100)
        }
        // Not before its least time, however many there are.
        #expect(!isSteady(after: 0.29))
        #expect(isSteady(after: 0.3))
        for luma in [150, 90, 150] as [UInt8] {
            put(luma)
            #expect(!isSteady(after: 1.99))
        }
        put(151)
        #expect(isSteady(after: 1.99))
        put(90)
        #expect(isSteady(after: 2))
    }

    @Test(
        "may differ by 3 %, and by the noise of a dark picture",
        arguments: [
            (100.0, 102.9, true), (100, 97.1, true), (100, 103.1, false), (100, 96.9, false),
            (2, 2.4, true), (2, 1.6, true), (2, 2.6, false), (0, 0.4, true), (0, 0.6, false),
        ]
    )
    func tolerance(_ before: Double, _ now: Double, _ isSteady: Bool) {
        #expect(LensTimers.isSteady(now, after: before) == isSteady)
    }
}

/// Runs `body` with the path of a new directory, which is that of the state.
@MainActor
func inFolder(_ body: @MainActor (String) throws -> Void) throws {
    try ScratchDirectory.with {
        setenv("XDG_STATE_HOME", $0, 1)
        try body($0)
    }
}

/// Returns whether a daemon with this directory for its state begins with privacy.
@MainActor
private func beginsPrivate(in directory: String, isKnown: Bool) throws -> Bool {
    setenv("XDG_STATE_HOME", directory, 1)
    let loop = try EventLoop()
    let daemon = try DualCamDaemon.Daemon(Configuration(), loop: loop)
    let store = try StateStore(daemon, loop: loop)
    try loop.wait(for: "the disk") { !daemon.state.privacy.isUnread }
    let suspensions = daemon.state.suspensions
    precondition(daemon.state.storeProblems.isEmpty == isKnown)
    store.store()
    precondition(daemon.files.end(by: MonotonicClock.now + Timestamp(seconds: 10)))
    return suspensions.contains(.privacy)
}

/// A reading of the configuration that lasts until the test ends it.
private final class Readings: Sendable {
    let begun = Atomic(0)
    let allowed = Atomic(0)

    /// Waits for the test, and returns a configuration that cannot be used.
    func read() -> (Configuration?, problems: [String]) {
        let number = begun.add(1, ordering: .relaxed).newValue
        while allowed.load(ordering: .relaxed) < number { usleep(1000) }
        return (nil, ["failure \(number)"])
    }
}

@MainActor
@Suite("The configuration that is read again")
struct ConfigurationReloadTests {
    @Test("is answered once for each reading, and requests meanwhile share the next")
    func once() throws {
        let loop = try EventLoop()
        let readings = Readings()
        var answers: [[String]] = []
        let files = try Files()
        let reload = ConfigurationReload(files, loop: loop, reading: { readings.read() })
        reload.done = { configuration, problems in
            #expect(configuration == nil)
            answers.append(problems)
        }
        for _ in 1...5 { reload.begin() }
        try eventually("the first") { readings.begun.load(ordering: .relaxed) == 1 }
        readings.allowed.store(2, ordering: .relaxed)
        try loop.wait(for: "both") { answers.count >= 2 }
        reload.begin()
        readings.allowed.store(9, ordering: .relaxed)
        #expect(files.end(by: MonotonicClock.now + Timestamp(seconds: 10)))
        for _ in 1...3 { loop.runOnce(milliseconds: 0) }
        #expect(answers == [["failure 1"], ["failure 2"], ["failure 3"]])
    }

    @Test("is waited for at the start, and told once")
    func first() throws {
        let loop = try EventLoop()
        let readings = Readings()
        readings.allowed.store(9, ordering: .relaxed)
        var answers: [[String]] = []
        let files = try Files()
        let reload = ConfigurationReload(files, loop: loop, reading: { readings.read() })
        reload.done = { answers.append($1) }
        #expect(try reload.first().problems == ["failure 1"])
        reload.begin()
        try loop.wait(for: "another") { !answers.isEmpty }
        #expect(answers == [["failure 2"]])
        #expect(files.end(by: MonotonicClock.now + Timestamp(seconds: 10)))
    }

    @Test("does not hold up the end where its disk hangs")
    func hanging() throws {
        let loop = try EventLoop()
        let readings = Readings()
        let files = try Files()
        let reload = ConfigurationReload(files, loop: loop, reading: { readings.read() })
        reload.begin()
        #expect(!files.end(by: MonotonicClock.now + Timestamp(seconds: 0.1)))
        readings.allowed.store(1, ordering: .relaxed)
    }
}

@Suite("Live photos")
struct LivePhotosTests {
    @Test("that could not begin do so by themselves")
    func retried() async {
        await #expect(processExitsWith: .success) {
            try await MainActor.run {
                let scripted = try Scripted { $0.capture.recordsAudio = false }
                scripted.stream()
                var limit = rlimit()
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                precondition(getrlimit(resource, &limit) == 0)
                var none = limit
                none.rlim_cur = 0
                precondition(setrlimit(resource, &none) == 0)
                scripted.live.wanted = [.stream]
                precondition(setrlimit(resource, &limit) == 0)
                precondition(scripted.live.clip(of: .stream) == nil)
                try scripted.loop.wait(for: "another try", within: 30) {
                    scripted.live.clip(of: .stream) != nil
                }
                precondition(scripted.live.end(by: MonotonicClock.now + Timestamp(seconds: 10)))
            }
        }
    }
}

/// Checks that what is set last is in `directory` when the daemon ends. The disk may be so slow
/// that its answer comes after the start.
@MainActor
private func storesTheLast(in directory: String, isSlow: Bool) throws {
    let loop = try EventLoop()
    var configuration = Configuration()
    configuration.memory = .all
    func start() throws -> (daemon: DualCamDaemon.Daemon, store: StateStore) {
        let daemon = try DualCamDaemon.Daemon(configuration, loop: loop)
        return (daemon, try StateStore(daemon, loop: loop, timeout: isSlow ? 0 : 60))
    }
    // Even one that is not waited for may be quick enough.
    let (daemon, store) = try eventually("a slow disk") {
        () -> (daemon: DualCamDaemon.Daemon, store: StateStore)? in
        let started = try start()
        return started.daemon.state.privacy.isUnread == isSlow ? started : nil
    }
    try loop.wait(for: "the disk") { !daemon.state.privacy.isUnread }
    // The loop does not run any more, so no timer stores this.
    daemon.send(.scene(.swap(instantly: true)))
    store.store()
    precondition(daemon.files.end(by: MonotonicClock.now + Timestamp(seconds: 10)))
    let text = try StateFile(path: "\(directory)/dualcam/state.toml").load()
    let saved = try text.map { try SavedState(parsing: $0) }
    precondition(saved == SavedState(daemon.state), "\(text ?? "nothing")")
}

/// Checks that a state that cannot be stored is a problem from the start, and until it is stored.
@MainActor
private func saysThatItForgets(in directory: String) throws {
    let obstacle = "\(directory)/dualcam"
    try writeFile([], to: obstacle)
    let loop = try EventLoop()
    var configuration = Configuration()
    for role in Role.allCases { configuration.cameras[role].source = .test(nil) }
    let daemon = try DualCamDaemon.Daemon(configuration, loop: loop)
    let store = try StateStore(daemon, loop: loop)
    func isForgetful() -> Bool {
        loop.runOnce(milliseconds: 5)
        return daemon.state.storeProblems.contains { $0.hasPrefix("What you set will be forgot") }
    }
    try eventually("the word") { isForgetful() }
    daemon.send(.set(\.scene.hud, .always))
    store.store()
    store.store()
    unlink(obstacle)
    try eventually("another try", within: 30) { !isForgetful() }
    let text = try StateFile(path: "\(obstacle)/state.toml").load()
    let saved = try text.map { try SavedState(parsing: $0) }
    precondition(saved == SavedState(daemon.state))
    // A later one that fails is told as well.
    unlink("\(obstacle)/state.toml")
    rmdir(obstacle)
    try writeFile([], to: obstacle)
    daemon.send(.set(\.scene.hud, .off))
    try eventually("the word again", within: 30) { isForgetful() }
    // What is not to be remembered cannot be forgotten.
    for memory in [Configuration.Memory.nothing, .settings] {
        configuration.memory = memory
        daemon.reconfigure(configuration)
        try eventually("the other", within: 30) { isForgetful() == (memory != .nothing) }
    }
    store.store()
    precondition(daemon.files.end(by: MonotonicClock.now + Timestamp(seconds: 10)))
}

/// Checks that rooms hidden in the last run are hidden again, with nothing of it but its mark.
@MainActor
private func hidesRooms(in directory: String, isConfigured: Bool) throws {
    let file = StateFile(path: "\(directory)/dualcam/rooms")
    try file.store("configured back\nfront\n")
    let loop = try EventLoop()
    let daemon = try DualCamDaemon.Daemon(Configuration(), loop: loop)
    let store = try StateStore(daemon, loop: loop, isConfigured: isConfigured)
    try loop.wait(for: "the disk") { !daemon.state.privacy.isUnread }
    precondition(daemon.state.hiddenRooms == (isConfigured ? [.front] : [.front, .back]))
    let text = isConfigured ? "front\n" : "back\nfront\n"
    try loop.wait(for: "the file") { (try? file.load()) == text }
    precondition(daemon.files.end(by: MonotonicClock.now + Timestamp(seconds: 10)))
    withExtendedLifetime(store) {}
}

@Suite("What is remembered")
struct RememberedStateTests {
    @Test("is which rooms were hidden, though all else is lost")
    func rooms() async {
        await #expect(processExitsWith: .success) {
            for isConfigured in [true, false] {
                try await inFolder { try hidesRooms(in: $0, isConfigured: isConfigured) }
            }
        }
    }

    @Test("is told to be forgotten while it cannot be stored, and stored once it can be")
    func forgetful() async {
        await #expect(processExitsWith: .success) {
            try await inFolder { try saysThatItForgets(in: $0) }
        }
    }

    @Test("has what was set just before the end, also where the disk was slow, with nothing on it")
    func last() async {
        await #expect(processExitsWith: .success) {
            for isSlow in [false, true] {
                try await inFolder { try storesTheLast(in: $0, isSlow: isSlow) }
            }
        }
    }

    @Test("is restored once")
    func once() async {
        await #expect(processExitsWith: .success) {
            try await inFolder { directory in
                try makeDirectory("\(directory)/dualcam")
                let loop = try EventLoop()
                var configuration = Configuration()
                configuration.memory = .all
                let daemon = try DualCamDaemon.Daemon(configuration, loop: loop)
                var state = daemon.state
                state.scene.setSwapped(true, at: .zero, instantly: true)
                try StateFile(path: "\(directory)/dualcam/state.toml").store(SavedState(state).text)
                let store = try StateStore(daemon, loop: loop)
                try loop.wait(for: "the disk") { !daemon.state.privacy.isUnread }
                precondition(daemon.state.scene.isSwapped)
                daemon.send(.scene(.swap(instantly: true)))
                // The disk's thread has ended, so all that it reported is there.
                store.store()
                precondition(daemon.files.end(by: MonotonicClock.now + Timestamp(seconds: 10)))
                for _ in 1...5 { loop.runOnce(milliseconds: 0) }
                precondition(!daemon.state.scene.isSwapped, "restored again")
            }
        }
    }
}

@Suite("The watchdog")
struct WatchdogTests {
    @Test("is not fed once the frames stop")
    func starved() async {
        await #expect(processExitsWith: .success) {
            try await inFolder { directory in
                let path = "\(directory)/notify"
                let notifications = try NotifySocket(path: path)
                setenv("NOTIFY_SOCKET", path, 1)
                setenv("WATCHDOG_USEC", "30000", 1)
                unsetenv("WATCHDOG_PID")
                let scripted = try Scripted()
                let watchdog = try Watchdog(scripted.daemon, loop: scripted.loop)
                try scripted.loop.wait(for: "the first") {
                    notifications.lines.contains("WATCHDOG=1")
                }
                // Time for ten more.
                let end = MonotonicClock.now + Timestamp(seconds: 0.1)
                while MonotonicClock.now < end { scripted.loop.runOnce(milliseconds: 5) }
                precondition(notifications.lines.count { $0 == "WATCHDOG=1" } == 1)
                watchdog.stop()
            }
        }
    }
}

@Suite("Privacy that was stored")
struct StoredPrivacyTests {
    @Test("is off only where it is certain that it was not on")
    func reading() async {
        await #expect(processExitsWith: .success) {
            try await MainActor.run {
                let root = try ScratchDirectory()
                for name in ["on", "unreadable"] { mkdir("\(root.path)/\(name)", 0o700) }
                mkdir("\(root.path)/on/dualcam", 0o700)
                close(creat("\(root.path)/on/dualcam/privacy", 0o600))
                // A link to itself: whether the file is there cannot be found out.
                symlink("dualcam", "\(root.path)/unreadable/dualcam")
                let isOff = try !beginsPrivate(in: "\(root.path)/none", isKnown: true)
                let isOn = try beginsPrivate(in: "\(root.path)/on", isKnown: true)
                let isAssumed = try beginsPrivate(in: "\(root.path)/unreadable", isKnown: false)
                precondition(isOff && isOn && isAssumed)
            }
        }
    }
}
