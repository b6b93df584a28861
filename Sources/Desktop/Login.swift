package import DBusKit
import Glibc

/// What logind tells of the user's session and of the machine's sleep: org.freedesktop.login1(5).
///
/// A user service has no session of its own, so the one on the user's display counts.
///
/// - Context: bound to the connection's thread.
package final class Login {
    /// What happened.
    package enum Event: Hashable, Sendable {
        /// The machine is about to sleep; it waits until `releaseSleep`, 5 s at most. Or it woke.
        case sleeping(Bool)
        /// The session is locked or not in front, or neither.
        case away(Bool)
    }

    private static let manager = "org.freedesktop.login1.Manager"
    private static let session = "org.freedesktop.login1.Session"
    private static let user = "org.freedesktop.login1.User"
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let managerPath: ObjectPath = "/org/freedesktop/login1"

    private let onEvent: (Event) -> Void
    private var peer: Peer?
    /// Held, it delays sleep until cameras are closed.
    private var inhibitor: Value?
    private var isSleeping = false
    private var sessionPath: ObjectPath?
    private var isLocked = false
    private var isInFront = true
    private var wasAway = false

    /// Follows the logind on `connection`, the system bus, from the moment it is there.
    package init(on connection: Connection, onEvent: @escaping (Event) -> Void) {
        self.onEvent = onEvent
        peer = Peer("org.freedesktop.login1", on: connection) { [unowned self] isThere in
            if isThere { begin() } else { end() }
        }
    }

    /// Lets the machine sleep: the cameras are closed.
    package func releaseSleep() {
        // A lock that was asked for and comes after this is released then.
        inhibitor = nil
    }

    private func begin() {
        peer?.hearNothing()
        peer?.hear(Self.manager, at: Self.managerPath) { [unowned self] signal in
            guard signal.member == "PrepareForSleep", let isOn = signal.arguments.first?.boolean
            else { return }
            sleep(isOn)
        }
        inhibit()
        peer?.ask("GetUser", of: Self.manager, at: Self.managerPath, [.uint32(getuid())]) {
            [weak self] in
            guard let path = $0.first?.objectPath else { return }
            self?.follow(user: path)
        }
    }

    private func end() {
        inhibitor = nil
        isLocked = false
        isInFront = true
        sessionPath = nil
        if isSleeping { sleep(false) }
        tell()
    }

    private func sleep(_ isOn: Bool) {
        guard isOn != isSleeping else { return }
        isSleeping = isOn
        // The next sleep is delayed again before anything else is done.
        if !isOn { inhibit() }
        onEvent(.sleeping(isOn))
    }

    private func inhibit() {
        peer?.ask(
            "Inhibit",
            of: Self.manager,
            at: Self.managerPath,
            [
                .string("sleep"), .string("DualCam"), .string("Cameras are closed before sleep."),
                .string("delay"),
            ]
        ) { [weak self] values in
            guard let self, !isSleeping else { return }
            inhibitor = values.first
        }
    }

    // MARK: The session

    private func follow(user path: ObjectPath) {
        peer?.hear(Self.properties, at: path) { [unowned self] signal in
            guard signal.path == path, signal.arguments.first?.string == Self.user else { return }
            findSession(of: path)
        }
        findSession(of: path)
    }

    private func findSession(of user: ObjectPath) {
        peer?.read("Display", of: Self.user, at: user) { [weak self] value in
            guard let self, let path = value.structure?.last?.objectPath, path != sessionPath else {
                return
            }
            // "/" where the user has no session with a display: nothing to be away from.
            sessionPath = path == .root ? nil : path
            isLocked = false
            isInFront = true
            tell()
            guard let sessionPath else { return }
            peer?.hear(Self.properties, at: sessionPath) { [unowned self] signal in
                guard signal.path == self.sessionPath else { return }
                look(at: sessionPath)
            }
            look(at: sessionPath)
        }
    }

    private func look(at session: ObjectPath) {
        for property in ["LockedHint", "Active"] {
            peer?.read(property, of: Self.session, at: session) { [weak self] value in
                guard let self, session == sessionPath, let isOn = value.boolean else { return }
                if property == "LockedHint" { isLocked = isOn } else { isInFront = isOn }
                tell()
            }
        }
    }

    private func tell() {
        let isAway = isLocked || !isInFront
        guard isAway != wasAway else { return }
        wasAway = isAway
        onEvent(.away(isAway))
    }
}
