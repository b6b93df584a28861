import DBusKit
import Glibc

/// The state of the user's session and of the machine's sleep, from logind:
/// org.freedesktop.login1(5). A user service has no session of its own, so the session on the
/// user's display counts. Bound to the connection's thread.
final class Login {
    enum Event: Hashable, Sendable {
        /// About to sleep (`true`): it waits at most 5 s for `releaseSleep`. Woken up (`false`).
        case sleeping(Bool)
        /// logind has started (`true`), so that `ask()` is needed, or is not running (`false`).
        case available(Bool)
        /// The session is locked or in the background (`true`), or neither.
        case away(Bool)
        /// The reply was an error or timed out. `ask()` repeats the question.
        case silent
    }

    private static let manager = "org.freedesktop.login1.Manager"
    private static let session = "org.freedesktop.login1.Session"
    private static let user = "org.freedesktop.login1.User"
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let noUser = "org.freedesktop.login1.NoSuchUser"
    private static let managerPath: ObjectPath = "/org/freedesktop/login1"

    private let onEvent: (Event) -> Void
    private var peer: Peer?
    /// The lock that delays sleep until the cameras are closed, while it is held.
    private var inhibitor: Value?
    private var isSleeping = false
    private var userPath: ObjectPath?
    private var sessionPath: ObjectPath?
    /// The number of the present question; replies to earlier ones do not count.
    private var question = 0

    /// Follows the logind on `connection`, the system bus, once it is there.
    init(on connection: BusConnection, onEvent: @escaping (Event) -> Void) {
        self.onEvent = onEvent
        peer = Peer("org.freedesktop.login1", on: connection) { [unowned self] isThere in
            if isThere { begin() } else { end() }
        }
    }

    /// Lets the machine sleep now that the cameras are closed.
    func releaseSleep() {
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
            if case .success(let value) = $0, let isOn = value.boolean { self?.sleep(isOn) }
        }
        onEvent(.available(true))
    }

    private func end() {
        inhibitor = nil
        question += 1
        onEvent(.available(false))
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
        ) { [weak self] result in
            guard let self, !isSleeping, case .success(let values) = result else { return }
            inhibitor = values.first
        }
    }

    // MARK: The session

    /// Asks if the session is away. The answer is `away` or `silent`.
    func ask() {
        guard peer?.owner != nil else { return }
        question += 1
        let question = question
        peer?.ask("GetUser", of: Self.manager, at: Self.managerPath, [.uint32(getuid())]) {
            [weak self] result in
            guard let self, question == self.question else { return }
            switch result {
            case .success(let values):
                guard let path = values.first?.objectPath else { return onEvent(.silent) }
                follow(user: path)
            // A user without a session has none to be away from.
            case .failure(let error) where error.name == Self.noUser: onEvent(.away(false))
            case .failure: onEvent(.silent)
            }
        }
    }

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
        question += 1
        let question = question
        peer?.read("Display", of: Self.user, at: user) { [weak self] result in
            guard let self, question == self.question else { return }
            guard case .success(let value) = result,
                let path = value.structure?.last?.objectPath
            else { return onEvent(.silent) }
            // "/" if the user has no session with a display, and so none to be away from.
            guard path != .root else {
                sessionPath = nil
                return onEvent(.away(false))
            }
            if path != sessionPath {
                sessionPath = path
                peer?.subscribe(Self.properties, at: path) { [unowned self] _ in look(at: path) }
            }
            look(at: path)
        }
    }

    private func look(at session: ObjectPath) {
        // Another session may count by now.
        guard session == sessionPath else { return }
        question += 1
        let question = question
        // Both at once: no camera may open between one value and the other.
        peer?.ask("GetAll", of: Self.properties, at: session, [.string(Self.session)]) {
            [weak self] result in
            guard let self, question == self.question else { return }
            guard case .success(let reply) = result, let values = reply.first?.named else {
                return onEvent(.silent)
            }
            let isLocked = values["LockedHint"]?.boolean ?? false
            onEvent(.away(isLocked || !(values["Active"]?.boolean ?? true)))
        }
    }
}
