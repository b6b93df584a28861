import Control
import Foundation
import Frames
import Platform
import TestSupport
import Testing

@testable import DBusKit

/// A session bus with the test's own imitation of the daemon, and the real `dualcamctl`.
final class FakeDaemon {
    let session: PrivateSession
    let loop: EventLoop
    private var connection: BusConnection?
    private var server: ObjectServer?
    /// The calls to the daemon: "Swap instant=true", "back Rotation=90".
    private(set) var asked: [String] = []
    var refusal: DBusError?
    /// `true` if the cameras' drivers have controls.
    var hasControls = true
    /// The change of each value that the daemon tells, of whatever type.
    var distortion: (Value) -> Value = { $0 }
    /// `true` if a recording has a file as soon as it begins.
    var hasFiles = true

    init() throws {
        session = try PrivateSession([.bus])
        loop = try EventLoop()
    }

    // MARK: - The daemon

    /// Has the user's systemd take commands, by the socket that it has.
    func haveSystemd() throws {
        try put("", at: "\(session.environment["XDG_RUNTIME_DIR"] ?? "")/systemd/private")
    }

    /// Makes the daemon appear. `changing` holds the properties that differ from the usual, by
    /// interface.
    func appear(changing changes: [Interface: [String: Value]] = [:]) throws {
        let address = session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        let connection = try BusConnection(to: .address(address), loop: loop)
        let server = ObjectServer(on: connection, managing: DualCam.path)
        func export(_ interface: Interface, _ path: ObjectPath, _ values: [String: Value]) {
            server.export(
                interface,
                at: path,
                properties: values.merging(changes[interface] ?? [:]) { $1 }
                    .mapValues(distortion)
            ) { [unowned self] in
                answer($0)
            } onWrite: { [unowned self] in
                answer($0, interface)
            }
        }
        export(.stream, DualCam.path, FakeDaemon.stream)
        export(.scene, DualCam.path, FakeDaemon.scene)
        export(.pro, DualCam.path, ["Enabled": .boolean(true), "Dial": .string("iso")])
        export(.controls, DualCam.backPath, FakeDaemon.controls)
        export(.controls, DualCam.frontPath, FakeDaemon.controls)
        export(
            .orientation,
            DualCam.path,
            [
                "Mode": .string("auto"), "Current": .string("normal"),
                "SensorAvailable": .boolean(false),
            ]
        )
        export(.capture, DualCam.path, FakeDaemon.capture)
        export(.configuration, DualCam.path, ["Values": .named(["output.width": .uint32(1280)])])
        export(.library, DualCam.path, [:])
        export(.privacy, DualCam.path, ["Enabled": .boolean(false)])
        export(
            .phone,
            DualCam.path,
            [
                "State": .string("none"), "Paired": .boolean(false),
                "Phones": .named([]),
            ]
        )
        export(
            .scenes,
            DualCam.path,
            ["Names": .strings(["talk", "desk"]), "Current": .string("desk")]
        )
        for path in [DualCam.path, DualCam.backPath, DualCam.frontPath] {
            export(.steps, path, [:])
        }
        export(.camera, DualCam.backPath, FakeDaemon.camera("back", "Desk Cam", mirror: false))
        export(.camera, DualCam.frontPath, FakeDaemon.camera("front", "Face Cam", mirror: true))
        try connection.requestName(DualCam.busName)
        self.connection = connection
        self.server = server
    }

    /// What is refused of a scene that is applied, by key.
    var sceneRefusals: [String: Value] = ["back.iso": .string("This camera has no ISO.")]

    /// The reason why a recording ended by itself, if it did.
    var recordingError: String?
    /// More of what it says of the file of a recording.
    var recordingResult: [String: Value] = [:]

    func vanish() {
        server = nil
        connection = nil
    }

    func set(_ values: [String: Value], of interface: Interface, at path: ObjectPath = DualCam.path)
    {
        server?.set(values, of: interface, at: path)
    }

    func emit(_ signal: String) { server?.emit(signal, of: .stream, at: DualCam.path) }

    private func reply(_ call: Invocation, _ values: Value...) {
        call.reply(values.map(distortion))
    }

    private func answer(_ call: Invocation) {
        let options = call.options.map { " \($0)=\($1.boolean.map { "\($0)" } ?? "?")" }.joined()
        let values = ["Controls", "Pro", "Camera", "Scenes", "Configuration"].contains {
            call.interface.hasSuffix($0)
        }
        let place =
            call.path == DualCam.path
            ? "" : (call.path.text.split(separator: "/").last ?? "") + " "
        let arguments =
            values
            ? call.arguments.dropLast().map { value in
                " "
                    + (value.array?.map(FakeDaemon.text).joined(separator: ",")
                        ?? FakeDaemon.text(value))
            }.joined() : ""
        if call.member == "Step" { return step(call, place) }
        asked.append(place + call.member + arguments + options)
        if let refusal { return call.fail(refusal) }
        switch call.member {
        case "Swap":
            set(["Swapped": .boolean(true)], of: .scene)
            reply(call, .boolean(true))
        case "Statistics":
            reply(
                call,
                .named([
                    "frames-published": .uint64(300),
                    "composite": .named(["p50": .uint64(900), "p99": .uint64(1600)]),
                ])
            )
        case "List":
            let item: [String: Value] = [
                "path": .string("/home/me/Videos/DualCam/a.mkv"), "kind": .string("movie"),
                "camera": .string("back"), "size": .uint64(1234), "seconds": .double(65.4),
                "time": .int64(1_763_735_405_000_000),
            ]
            reply(call, .named([item]), .uint32(1))
        case "Apply": reply(call, .named(sceneRefusals))
        case "FindPerspective":
            let corner = Value.structure([.double(0.5), .double(0.5)])
            reply(call, .array(Array(repeating: corner, count: 4), of: "(dd)"), .double(0.9))
        case "Next": reply(call, .string("talk"), .named([:]))
        case "Export": reply(call, .string(FakeDaemon.sceneText))
        case "Import": reply(call, .strings(["a", "b"]))
        case "StepIso": reply(call, .uint32(500), .boolean(false))
        case "StepShutter": reply(call, .uint64(2000), .boolean(true))
        case "StepFocus": reply(call, .double(0.75), .boolean(false))
        case "StepKelvin": reply(call, .uint32(7600), .boolean(false))
        case "StepDial": reply(call, .string("500"), .boolean(false))
        case "SetImage": reply(call, .int32(10), .boolean(false))
        case "ListRaw":
            reply(
                call,
                .array(
                    hasControls
                        ? [
                            FakeDaemon.raw("auto_exposure", "menu", 0, 3, 1, 0),
                            FakeDaemon.raw("exposure_time_absolute", "int", 1, 10000, 156, 16),
                        ] : [],
                    of: "(ssiiiiu)"
                )
            )
        case "DescribeRaw":
            var control: [String: Value] = ["default": .int32(3)]
            if call.arguments.first == .string("auto_exposure") {
                control["menu"] = .dictionary(
                    [.int32(1): .string("Manual Mode"), .int32(3): .string("Aperture Priority")],
                    key: .int32,
                    value: .string
                )
            }
            reply(call, .named(control))
        case "TakePhoto":
            let photo: [String: Value] = [
                "path": .string("/a.jpg"), "width": .uint32(1280), "camera": .string("back"),
            ]
            reply(call, .named([photo]))
        case "StartRecording", "ToggleRecording":
            let file: [String: Value] = [
                "path": .string("/home/me/Videos/DualCam/a.mkv"), "picture": .string("back"),
                "encoder": .string("mjpeg"),
            ]
            set(["RecordingFiles": .named(hasFiles ? [file] : [])], of: .capture)
            guard call.member == "ToggleRecording" else { return call.reply() }
            reply(call, .boolean(true), .named([]))
        case "StopRecording":
            var file: [String: Value] = [
                "path": .string("/home/me/Videos/DualCam/a.mkv"), "dropped": .uint32(2),
            ]
            file["error"] = recordingError.map { .string($0) }
            file.merge(recordingResult) { $1 }
            reply(call, .named([file]))
        default: call.reply()
        }
    }

    /// Takes a step; a word stays as it is.
    private func step(_ call: Invocation, _ place: String) {
        let (name, property) = (call.arguments[0].string ?? "", call.arguments[1].string ?? "")
        guard case .variant(let change) = call.arguments[2],
            let interface = Interface.all.first(where: { $0.name == name }),
            let now = server?.export(interface.name, at: call.path)?.values[property]
        else { return call.fail(.invalidArguments("no such property")) }
        let short = name.dropFirst(DualCam.busName.count + 1)
        asked.append("\(place)Step \(short) \(property) \(FakeDaemon.text(change))")
        if let refusal { return call.fail(refusal) }
        let ranges = ["Focus": 0.0...1, "Kelvin": 2000...10000, "Compensation": -2...2]
        let by = change.double ?? change.integer.map(Double.init) ?? 0
        let wanted = (now.double ?? now.integer.map(Double.init) ?? 0) + by
        let end = ranges[property].map { min(max(wanted, $0.lowerBound), $0.upperBound) } ?? wanted
        let next: Value =
            switch now {
            case .boolean(let isOn): .boolean(!isOn)
            case .double: .double(end)
            case .uint32: .uint32(UInt32(exactly: max(0, end).rounded()) ?? .max)
            default: now
            }
        set([property: next], of: interface, at: call.path)
        reply(call, .variant(next), .boolean(end != wanted))
    }

    private func answer(_ write: PropertyWrite, _ interface: Interface) {
        let place =
            write.path == DualCam.path
            ? "" : (write.path.text.split(separator: "/").last ?? "") + " "
        asked.append("\(place)\(write.property)=\(FakeDaemon.text(write.value))")
        if let refusal { return write.refuse(refusal) }
        set([write.property: write.value], of: interface, at: write.path)
        write.accept()
    }

    private static func raw(
        _ name: String,
        _ type: String,
        _ least: Int32,
        _ most: Int32,
        _ value: Int32,
        _ flags: UInt32
    ) -> Value {
        .structure([
            .string(name), .string(type), .int32(least), .int32(most), .int32(1), .int32(value),
            .uint32(flags),
        ])
    }

    private static func text(_ value: Value) -> String {
        if let text = value.string { return text }
        if let flag = value.boolean { return "\(flag)" }
        if let number = value.double { return "\(number)" }
        if let named = value.named { return named.map { "\($0)=\(text($1))" }.joined() }
        return value.integer.map { "\($0)" } ?? "?"
    }

    private static let stream: [String: Value] = [
        "State": .string("streaming"), "Active": .boolean(true), "Possible": .boolean(true),
        "Problems": .strings([]), "NodeId": .uint32(42), "Consumers": .uint32(2),
        "Width": .uint32(1280), "Height": .uint32(720), "FrameRate": .uint32(30),
        "PixelFormat": .string("YUY2"), "Version": .string("1.2.3"),
        "ConfigurationFile": .string(""), "Devices": .named([]), "LoopbackDevice": .string(""),
        "Viewers": .named([
            [
                "name": .string("Firefox"), "application-id": .string(""),
                "pid": .uint32(4711), "since": .uint64(1_763_735_405_000_000),
                "through": .string(""),
            ],
            [
                "name": .string(""), "application-id": .string(""), "pid": .uint32(0),
                "since": .uint64(1_763_735_406_000_000), "through": .string(""),
            ],
        ]),
    ]

    private static let capture: [String: Value] = [
        "Recording": .boolean(false), "RecordingSeconds": .uint32(0), "LivePhoto": .boolean(false),
        "RecordingPaused": .boolean(false), "SelfTimer": .string(""),
        "SelfTimerSeconds": .uint32(0),
        "RecordingFiles": .named([]), "RecordingSilence": .string(""), "RecordingRoom": .uint64(0),
    ]

    /// A scene, with a value of a later version.
    private static let sceneText = """
        [[scene]]
        name = "desk"
        main = "back"
        inset-visible = true
        inset-size = 0.2
        title = ["A \\"desk\\"", "Ünder"]
        glow = { of = "later" }
        [scene.back]
        zoom = 2
        zoom-at = [0.5, 0.25]
        iso = "auto"

        """

    private static let scene: [String: Value] = [
        "Swapped": .boolean(false), "Layout": .string("pip"),
        "Main": .objectPath(DualCam.backPath), "Inset": .objectPath(DualCam.frontPath),
        "InsetVisible": .boolean(true), "InsetShape": .string("rectangle"),
        "Background": .string("auto"),
        "InsetCorner": .string("top-right"), "InsetPosition": .array([], of: .double),
        "InsetSize": .double(0.25), "SwapIcon": .boolean(true), "Hud": .string("pro"),
        "Layouts": .strings(["pip", "single"]), "Title": .string(""), "Away": .string(""),
        "TitleCorner": .string("bottom-left"), "HudConsumer": .string(""),
        "Moving": .boolean(false),
        "MainRectangle": .structure([.double(0), .double(0), .double(1), .double(1)]),
        "InsetRectangle": .structure([.double(0), .double(0), .double(0), .double(0)]),
        "InsetRoom": .structure([.double(0), .double(0), .double(1), .double(1)]),
    ]

    private static let controls: [String: Value] = [
        "Iso": .uint32(400), "IsoAuto": .boolean(false), "IsoApproximate": .boolean(true),
        "IsoStops": .array([.uint32(100), .uint32(400)], of: .uint32), "Shutter": .uint64(4000),
        "ShutterText": .string("1/250"), "ShutterStops": .array([.uint64(4000)], of: .uint64),
        "ExposureAuto": .boolean(false), "Aperture": .double(1.8), "Focus": .double(0.7),
        "FocusText": .string("0.3 m"), "FocusAuto": .boolean(false),
        "WhiteBalance": .string("shade"), "Kelvin": .uint32(7500),
        "KelvinRange": .structure([.uint32(2000), .uint32(10000)]), "Compensation": .double(0),
        "Software": .strings(["white-balance"]), "Locked": .strings(["exposure"]),
        "Image": .named(
            ["brightness", "pan"].map { name in
                [
                    "name": .string(name), "minimum": .int32(-50), "maximum": .int32(50),
                    "step": .int32(1), "default": .int32(3), "value": .int32(10),
                ]
            }
        ),
    ]

    private static func camera(_ role: String, _ name: String, mirror: Bool) -> [String: Value] {
        [
            "Role": .string(role), "Name": .string(name), "Source": .string("v4l2:usb-\(role)"),
            "State": .string("streaming"), "Interruption": .string("none"),
            "Holder": .string(""),
            "Width": .uint32(1280), "Height": .uint32(720), "FrameRate": .uint32(30),
            "PixelFormat": .string("MJPG"), "Mirror": .boolean(mirror), "Rotation": .uint32(0),
            "Lens": .string("wide"), "LensFallback": .boolean(false),
            "Lenses": .array(
                [
                    .structure([.string("ultra-wide"), .double(0.5)]),
                    .structure([.string("wide"), .double(1)]),
                ],
                of: "(sd)"
            ),
            "Torch": .boolean(false), "TorchAvailable": .boolean(role == "front"),
            "Frozen": .boolean(false), "Ink": .boolean(false), "Room": .string("as-is"),
            "RoomBlur": .double(0.5), "Framing": .string("off"), "FramingTightness": .double(0.5),
            "Metering": .string("frame"),
            "Perspective": .array([], of: "(dd)"), "Zoom": .double(1),
            "ZoomRange": .structure([.double(1), .double(8)]),
            "NodeId": .uint32(.max), "Consumers": .uint32(0),
            "FramesCaptured": .uint64(1000), "FramesDropped": .uint64(1),
            "Delay": .uint64(21000),
        ]
    }

    // MARK: - The client

    func start(_ arguments: String...) throws -> Child { try start(arguments) }

    func start(_ arguments: [String]) throws -> Child {
        try session.run(FakeDaemon.tool, arguments, adding: ["COLUMNS": "80", "TZ": "UTC"])
    }

    func run(_ arguments: String...) throws -> Child { try run(arguments) }

    func run(_ arguments: [String]) throws -> Child {
        let child = try start(arguments)
        try wait(for: "dualcamctl \(arguments)") { child.exit != nil }
        return child
    }

    /// Runs the loop until `condition` holds.
    func wait(for what: @autoclosure () -> String, until condition: () -> Bool) throws {
        try loop.wait(for: what(), within: 15, until: condition)
    }

    /// The path of the program, built beside the tests.
    static let tool = Programs.path(of: "dualcamctl")
}

extension Value {
    /// Returns a list of values with names.
    static func named(_ entries: [[String: Value]]) -> Value { entries.dbus }
}
