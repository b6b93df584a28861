package import DBusKit
import Glibc
package import Platform

/// The state of the user's session and of the machine's sleep, from logind:
/// org.freedesktop.login1(5).
///
/// A user service has no session of its own, so the session on the user's display counts.
///
/// - Context: Bound to the connection's thread.
package final class Login {
    /// An event of logind.
    package enum Event: Hashable, Sendable {
        /// The machine is about to sleep (`true`), and waits until `releaseSleep`, 5 s at most; or
        /// it woke up.
        case sleeping(Bool)
        /// The session is locked or in the background (`true`), or neither.
        case away(Bool)
    }

    private static let manager = "org.freedesktop.login1.Manager"
    private static let session = "org.freedesktop.login1.Session"
    private static let user = "org.freedesktop.login1.User"
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let managerPath: ObjectPath = "/org/freedesktop/login1"

    /// The time in seconds for which the last state of a logind that has gone counts. One that
    /// restarts is back sooner, and no camera opens behind a locked screen meanwhile.
    private static let memory = 3.0

    private let onEvent: (Event) -> Void
    private var peer: Peer?
    private var forgetting: EventLoop.Timer?
    /// The lock that delays sleep until the cameras are closed, while it is held.
    private var inhibitor: Value?
    private var isSleeping = false
    private var userPath: ObjectPath?
    private var sessionPath: ObjectPath?
    private var wasAway = false

    /// Follows the logind on `connection`, the system bus, once it is there. `loop` is the
    /// connection's.
    ///
    /// - Throws: `SystemError` when the process is out of descriptors.
    package init(
        on connection: BusConnection,
        loop: EventLoop,
        onEvent: @escaping (Event) -> Void
    ) throws(SystemError) {
        self.onEvent = onEvent
        forgetting = try loop.timer { [unowned self] in forget() }
        peer = Peer("org.freedesktop.login1", on: connection) { [unowned self] isThere in
            if isThere { begin() } else { end() }
        }
    }

    /// Lets the machine sleep now that the cameras are closed.
    package func releaseSleep() {
        // A lock that was requested and arrives later is released then.
        inhibitor = nil
    }

    private func begin() {
        peer?.unsubscribe()
        sessionPath = nil
        userPath = nil
        peer?.subscribe(Self.manager, at: Self.managerPath) { [unowned self] signal in
            let arguments = signal.arguments
            if signal.member == "PrepareForSleep", let isOn = arguments.first?.boolean {
                sleep(isOn)
            } else if signal.member == "UserNew", arguments.first?.integer == Int(getuid()),
                let path = arguments.last?.objectPath
            {
                follow(user: path)
            }
        }
        inhibit()
        peer?.read("PreparingForSleep", of: Self.manager, at: Self.managerPath) { [weak self] in
            if let isOn = $0.boolean { self?.sleep(isOn) }
        }
        peer?.ask("GetUser", of: Self.manager, at: Self.managerPath, [.uint32(getuid())]) {
            [weak self] in
            guard let path = $0.first?.objectPath else { return }
            self?.follow(user: path)
        }
    }

    private func end() {
        inhibitor = nil
        forgetting?.arm(after: Self.memory)
    }

    private func forget() {
        sleep(false)
        learn(isLocked: false, isInFront: true)
    }

    private func sleep(_ isOn: Bool) {
        guard isOn != isSleeping else { return }
        isSleeping = isOn
        // The delay of the next sleep comes before anything else.
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
        guard path != userPath else { return findSession(of: path) }
        userPath = path
        peer?.subscribe(Self.properties, at: path) { [unowned self] signal in
            guard signal.arguments.first?.string == Self.user else { return }
            findSession(of: path)
        }
        findSession(of: path)
    }

    private func findSession(of user: ObjectPath) {
        peer?.read("Display", of: Self.user, at: user) { [weak self] value in
            guard let self, let path = value.structure?.last?.objectPath, path != sessionPath else {
                return
            }
            // "/" if the user has no session with a display, and so none to be away from.
            sessionPath = path == .root ? nil : path
            guard let sessionPath else { return learn(isLocked: false, isInFront: true) }
            peer?.subscribe(Self.properties, at: sessionPath) { [unowned self] _ in
                look(at: sessionPath)
            }
            look(at: sessionPath)
        }
    }

    private func look(at session: ObjectPath) {
        // Both at once: no camera may open between one value and the other.
        peer?.ask("GetAll", of: Self.properties, at: session, [.string(Self.session)]) {
            [weak self] in
            // Another session may count by now.
            guard let self, session == sessionPath, let values = $0.first?.named else { return }
            learn(
                isLocked: values["LockedHint"]?.boolean ?? false,
                isInFront: values["Active"]?.boolean ?? true
            )
        }
    }

    private func learn(isLocked: Bool, isInFront: Bool) {
        forgetting?.disarm()
        let isAway = isLocked || !isInFront
        guard isAway != wasAway else { return }
        wasAway = isAway
        onEvent(.away(isAway))
    }
}
