import Control
import DBusKit
import Frames
import Platform
import TestSupport
import Testing

/// A session bus with a daemon of the test's own making on it, and the real `dualcamctl`.
final class Desk {
    let session: PrivateSession
    let loop: EventLoop
    private var connection: Connection?
    private var server: ObjectServer?
    /// What was asked of the daemon: "Swap instant=true", "back Rotation=90".
    private(set) var asked: [String] = []
    /// What calls are refused with, where they are.
    var refusal: DBusError?

    init() throws {
        session = try PrivateSession([.bus])
        loop = try EventLoop()
    }

    // MARK: - The daemon

    /// The daemon comes. `changing` differs from what is shown at first, by interface.
    func appear(changing changes: [Interface: [String: Value]] = [:]) throws {
        let address = session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        let connection = try Connection(to: .address(address), loop: loop)
        let server = ObjectServer(on: connection, managing: DualCam.path)
        func export(_ interface: Interface, _ path: ObjectPath, _ values: [String: Value]) {
            server.export(
                interface,
                at: path,
                properties: values.merging(changes[interface] ?? [:]) { $1 }
            ) { [unowned self] in
                answer($0)
            } onWrite: { [unowned self] in
                answer($0, interface)
            }
        }
        export(.stream, DualCam.path, Desk.stream)
        export(.scene, DualCam.path, Desk.scene)
        export(.privacy, DualCam.path, ["Enabled": .boolean(false)])
        export(.camera, DualCam.backPath, Desk.camera("back", "Desk Cam", mirror: false))
        export(.camera, DualCam.frontPath, Desk.camera("front", "Face Cam", mirror: true))
        try connection.requestName(DualCam.busName)
        self.connection = connection
        self.server = server
    }

    /// The daemon goes.
    func vanish() {
        server = nil
        connection = nil
    }

    /// The daemon shows other values.
    func set(_ values: [String: Value], of interface: Interface, at path: ObjectPath = DualCam.path)
    {
        server?.set(values, of: interface, at: path)
    }

    /// The daemon signals.
    func emit(_ signal: String) { server?.emit(signal, of: .stream, at: DualCam.path) }

    private func answer(_ call: Invocation) {
        let options = call.options.map { " \($0)=\($1.boolean.map { "\($0)" } ?? "?")" }.joined()
        asked.append(call.member + options)
        if let refusal { return call.fail(refusal) }
        switch call.member {
        case "Swap":
            set(["Swapped": .boolean(true)], of: .scene)
            call.reply(.boolean(true))
        case "Statistics": call.reply(.named([:]))
        default: call.reply()
        }
    }

    private func answer(_ write: PropertyWrite, _ interface: Interface) {
        let place =
            write.path == DualCam.path
            ? "" : (write.path.text.split(separator: "/").last ?? "") + " "
        asked.append("\(place)\(write.property)=\(Desk.text(write.value))")
        if let refusal { return write.refuse(refusal) }
        set([write.property: write.value], of: interface, at: write.path)
        write.accept()
    }

    private static func text(_ value: Value) -> String {
        if let text = value.string { return text }
        if let flag = value.boolean { return "\(flag)" }
        if let number = value.double { return "\(number)" }
        return value.integer.map { "\($0)" } ?? "?"
    }

    private static let stream: [String: Value] = [
        "State": .string("streaming"), "Active": .boolean(true), "Possible": .boolean(true),
        "Problems": .strings([]), "NodeId": .uint32(42), "Consumers": .uint32(2),
        "Width": .uint32(1280), "Height": .uint32(720), "FrameRate": .uint32(30),
        "PixelFormat": .string("YUY2"), "Version": .string("1.2.3"),
    ]

    private static let scene: [String: Value] = [
        "Swapped": .boolean(false), "Layout": .string("pip"),
        "Main": .objectPath(DualCam.backPath), "Inset": .objectPath(DualCam.frontPath),
        "InsetVisible": .boolean(true), "InsetCorner": .string("top-right"),
        "InsetSize": .double(0.25), "SwapIcon": .boolean(true),
    ]

    private static func camera(_ role: String, _ name: String, mirror: Bool) -> [String: Value] {
        [
            "Role": .string(role), "Name": .string(name), "Source": .string("v4l2:usb-\(role)"),
            "State": .string("streaming"), "Interruption": .string("none"),
            "Width": .uint32(1280), "Height": .uint32(720), "FrameRate": .uint32(30),
            "PixelFormat": .string("MJPG"), "Mirror": .boolean(mirror), "Rotation": .uint32(0),
            "FramesCaptured": .uint64(1000), "FramesDropped": .uint64(1),
        ]
    }

    // MARK: - The client

    /// Starts `dualcamctl`.
    func start(_ arguments: String...) throws -> Child { try start(arguments) }

    /// Starts `dualcamctl`.
    func start(_ arguments: [String]) throws -> Child {
        try session.run(Desk.tool, arguments, adding: ["COLUMNS": "80", "TZ": "UTC"])
    }

    /// Runs `dualcamctl` to its end while the daemon answers.
    func run(_ arguments: String...) throws -> Child { try run(arguments) }

    /// Runs `dualcamctl` to its end while the daemon answers.
    func run(_ arguments: [String]) throws -> Child {
        let child = try start(arguments)
        try wait(for: "dualcamctl \(arguments)") { child.exit != nil }
        return child
    }

    /// Goes round until `condition` holds; throws after fifteen seconds.
    func wait(for what: @autoclosure () -> String, until condition: () -> Bool) throws {
        let deadline = MonotonicClock.now + Timestamp(seconds: 15)
        while !condition() {
            guard MonotonicClock.now < deadline else { throw TimedOut(what(), after: 15) }
            loop.runOnce(milliseconds: 5)
        }
    }

    /// The program, built beside the tests.
    static let tool = Programs.path(of: "dualcamctl")
}
