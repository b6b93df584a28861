import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

/// A desktop for the daemon: logind and two screen savers, played by dbusmock.
final class MockedDesktop {
    let session: PrivateSession
    private var login: MockedService?
    private var screenSaver: MockedService?
    private var gnome: MockedService?

    static let login = "org.freedesktop.login1"
    private static let loginPath: ObjectPath = "/org/freedesktop/login1"
    private static let screenSaver = "org.freedesktop.ScreenSaver"
    private static let gnome = "org.gnome.ScreenSaver"
    private var user: ObjectPath {
        ObjectPath(stringLiteral: "\(Self.loginPath.text)/user/\(getuid())")
    }

    init() throws {
        session = try PrivateSession(PrivateSession.Service.usual + [.systemBus])
    }

    // MARK: logind

    func startLogin() throws {
        let login = try MockedService(
            Self.login,
            at: Self.loginPath,
            interface: "\(Self.login).Manager",
            template: "logind",
            on: .system,
            in: session
        )
        // The template's own method takes a number as a string.
        try login.define(
            "GetUser",
            of: "\(Self.login).Manager",
            takes: "u",
            gives: "o",
            code: "ret = '\(Self.loginPath.text)/user/%u' % args[0]"
        )
        self.login = login
        try addSession()
        // It has its name before it has its user.
        try login.emit(
            "UserNew",
            of: "\(Self.login).Manager",
            "uo",
            .uint32(getuid()),
            .objectPath(user)
        )
    }

    private func addSession() throws {
        let id = "c1"
        try login?.call(
            "AddSession",
            of: "org.freedesktop.DBus.Mock",
            [.string(id), .string("seat0"), .uint32(getuid()), .string("somebody"), .boolean(true)]
        )
        try login?.set(
            "Display",
            of: "\(Self.login).User",
            at: user,
            to: .structure([.string(id), .objectPath(Self.displayed)])
        )
    }

    private static let displayed: ObjectPath = "/org/freedesktop/login1/session/c1"

    func sleep(_ isOn: Bool) throws {
        try login?.set("PreparingForSleep", of: "\(Self.login).Manager", to: .boolean(isOn))
        try login?.emit("PrepareForSleep", of: "\(Self.login).Manager", "b", .boolean(isOn))
    }

    func setLocked(_ isLocked: Bool) throws {
        try login?.set(
            "LockedHint",
            of: "\(Self.login).Session",
            at: Self.displayed,
            to: .boolean(isLocked)
        )
    }

    func setActive(_ isActive: Bool) throws {
        try login?.set(
            "Active",
            of: "\(Self.login).Session",
            at: Self.displayed,
            to: .boolean(isActive)
        )
    }

    /// Asks the session's screen lock to lock or unlock, as `loginctl lock-session` does.
    func askForLock(_ isOn: Bool) throws {
        try login?.call(
            isOn ? "Lock" : "Unlock",
            of: "\(Self.login).Session",
            at: Self.displayed
        )
    }

    /// The inhibitors that are held: what, who, why, mode.
    var inhibitors: [[String]] {
        get throws {
            let list = try login?.call("ListInhibitors", of: "\(Self.login).Manager")
            return (list?.first?.array ?? []).map {
                ($0.structure ?? []).prefix(4).compactMap(\.string)
            }
        }
    }

    /// The inhibitor that the daemon should hold while the machine is awake.
    static let inhibitor = ["sleep", "DualCam", "Cameras are closed before sleep.", "delay"]

    // MARK: Screen savers

    func startScreenSaver() throws {
        screenSaver = try MockedService(
            Self.screenSaver,
            at: "/ScreenSaver",
            interface: Self.screenSaver,
            on: .session,
            in: session
        )
        try answer(false)
    }

    private func answer(_ isActive: Bool) throws {
        try screenSaver?.define(
            "GetActive",
            of: Self.screenSaver,
            gives: "b",
            code: "ret = \(isActive ? "True" : "False")"
        )
    }

    func setScreenSaver(_ isActive: Bool) throws {
        try answer(isActive)
        try screenSaver?.emit("ActiveChanged", of: Self.screenSaver, "b", .boolean(isActive))
    }

    func startGnome() throws {
        let path: ObjectPath = "/org/gnome/ScreenSaver"
        gnome = try MockedService(
            Self.gnome,
            at: path,
            interface: Self.gnome,
            template: "gnome_screensaver",
            on: .session,
            in: session
        )
    }

    func setGnome(_ isActive: Bool) throws {
        try gnome?.call("SetActive", of: Self.gnome, [.boolean(isActive)])
    }
}

/// A consumer as in a video call, which takes frames all the time.
final class Viewer {
    private let daemon: Daemon
    private let reader: StreamReader
    private let node: Value

    /// Starts to take frames, and returns once both cameras deliver.
    init(_ daemon: Daemon) throws {
        self.daemon = daemon
        reader = try StreamReader("dualcam", in: daemon.session)
        _ = try reader.next()
        node = try daemon.get("NodeId", of: .stream)
        try awaitLive()
        reader.flush()
    }

    deinit { reader.close() }

    func reach(_ state: String, _ interruption: String) throws {
        for camera in [DualCam.backPath, DualCam.frontPath] {
            try eventually("\(camera.text) to be \(state): \(interruption)") {
                try daemon.state(of: camera) == state
                    && daemon.camera(camera).get(\.interruption) == interruption
            }
        }
    }

    func awaitLive() throws { try reach("streaming", "none") }

    /// Expects the same node as at first, still linked, and one stream without a break, which goes
    /// on now.
    func expectSteady(
        _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        // At least one after what may have held it up.
        let frames = reader.drain() + [try reader.next()]
        #expect(frames.breaks == [], "\(what)", sourceLocation: sourceLocation)
        #expect(reader.failure == nil, "\(what)", sourceLocation: sourceLocation)
        #expect(
            try daemon.get("NodeId", of: .stream) == node,
            "\(what): another node",
            sourceLocation: sourceLocation
        )
    }
}

extension [StreamReader.Frame] {
    /// The sequence numbers at which the stream began anew or went back; none of one in order.
    var breaks: [UInt64] {
        indices.filter { index in
            self[index].isDiscontinuous
                || index > 0 && self[index].sequence <= self[index - 1].sequence
        }.map { self[$0].sequence }
    }
}
