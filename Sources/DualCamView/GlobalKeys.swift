import DBusKit
import Glibc
import ViewCore

/// Keys that work in other programs, too: the portal's GlobalShortcuts.
final class GlobalKeys {
    enum State: Equatable {
        /// The portal has not answered yet.
        case unknown
        /// The desktop has no such portal.
        case impossible
        case off
        /// They work; the keys of each command, in the desktop's words.
        case on([String])
        /// The user or the desktop said no.
        case refused
    }

    /// The commands that can have a key: their names, their effects, and the proposed keys.
    static let shortcuts: [(id: String, command: Command, words: String, key: String)] = [
        ("swap", .swap, "Swap the two pictures", "CTRL+ALT+s"),
        ("privacy", .togglePrivacy, "Turn privacy on or off", "CTRL+ALT+h"),
        ("photo", .photo, "Take a photo", "CTRL+ALT+c"),
        ("record", .record, "Start or stop recording", "CTRL+ALT+r"),
        ("next-scene", .nextScene, "Show the next scene", "CTRL+ALT+n"),
    ]

    private(set) var state = State.unknown { didSet { if state != oldValue { onChange() } } }
    var onChange: () -> Void = {}
    private let onKey: (Command) -> Void
    private let connection: BusConnection
    private var ownerWatch: BusConnection.Subscription?
    private var activations: BusConnection.Subscription?
    /// The request that waits for its answer.
    private var response: BusConnection.Subscription?
    private var owner = ""
    private var session: ObjectPath?
    private var wants = false
    private var tokens = 0

    private static let portal = "org.freedesktop.portal.Desktop"
    private static let path: ObjectPath = "/org/freedesktop/portal/desktop"
    private static let interface = "org.freedesktop.portal.GlobalShortcuts"

    /// Looks for the portal on `connection`; with `wants`, the keys are to work at once.
    init(_ connection: BusConnection, wants: Bool, onKey: @escaping (Command) -> Void) {
        self.connection = connection
        self.wants = wants
        self.onKey = onKey
        // A portal that restarts knows neither us nor the session.
        ownerWatch = connection.subscribe(.owner(of: Self.portal)) { [unowned self] signal in
            let owner = signal.arguments.last?.string ?? ""
            guard owner != self.owner, !self.owner.isEmpty else { return }
            leave()
            if !owner.isEmpty { look() }
        }
        look()
    }

    /// Asks the desktop for the keys; it may let the user choose them first.
    func bind() {
        wants = true
        if session == nil { look() } else { bindShortcuts() }
    }

    func end() {
        wants = false
        if let session {
            call("Close", of: "org.freedesktop.portal.Session", at: session) { _ in }
        }
        session = nil
        if case .on = state { state = .off }
    }

    private func leave() {
        (session, response, activations) = (nil, nil, nil)
        owner = ""
        state = .unknown
    }

    /// Finds out if the portal has shortcuts, and registers the window with it.
    private func look() {
        // Needed since version 1.21 of the portal; older ones do not know it.
        call(
            "Register",
            of: "org.freedesktop.host.portal.Registry",
            [.string(ViewProgram.id), .named([:])]
        ) { [weak self] _ in self?.readVersion() }
    }

    private func readVersion() {
        let arguments: [Value] = [.string(Self.interface), .string("version")]
        call("Get", of: "org.freedesktop.DBus.Properties", arguments) { [weak self] answer in
            guard let self else { return }
            guard case .variant(let version)? = answer?.first, (version.integer ?? 0) > 0 else {
                state = .impossible
                return
            }
            if state == .unknown || state == .impossible { state = .off }
            findOwner()
        }
    }

    private func findOwner() {
        try? connection.call(.owner(of: Self.portal)) { [weak self] answer in
            guard let self, let owner = (try? answer.get())?.first?.string else { return }
            self.owner = owner
            if wants { createSession() }
        }
    }

    private func createSession() {
        guard session == nil else { return bindShortcuts() }
        request("CreateSession", [], ["session_handle_token": .string("dualcam\(getpid())")]) {
            [weak self] results in
            guard let self else { return }
            // A string, though it is a path.
            let handle = results?["session_handle"]
            guard let session = handle?.objectPath ?? handle?.string.flatMap({ ObjectPath($0) })
            else {
                state = .refused
                return
            }
            self.session = session
            activations = connection.subscribe(
                MatchRule(
                    sender: owner,
                    path: Self.path,
                    interface: Self.interface,
                    member: "Activated"
                )
            ) { [unowned self] signal in
                guard signal.arguments.count >= 2, signal.arguments[0].objectPath == session,
                    let shortcut = Self.shortcuts.first(where: {
                        $0.id == signal.arguments[1].string
                    })
                else { return }
                onKey(shortcut.command)
            }
            bindShortcuts()
        }
    }

    private func bindShortcuts() {
        guard let session else { return }
        let list = Value.array(
            Self.shortcuts.map { shortcut in
                .structure([
                    .string(shortcut.id),
                    .named([
                        "description": .string(shortcut.words),
                        "preferred_trigger": .string(shortcut.key),
                    ]),
                ])
            },
            of: "(sa{sv})"
        )
        request("BindShortcuts", [.objectPath(session), list, .string("")], [:]) {
            [weak self] results in
            guard let self else { return }
            guard let results else {
                state = .refused
                return
            }
            let rows = (results["shortcuts"]?.array ?? []).compactMap(\.structure)
            state = .on(
                rows.compactMap { row in
                    guard row.count == 2, let id = row[0].string,
                        let words = Self.shortcuts.first(where: { $0.id == id })?.words,
                        let key = row[1].named?["trigger_description"]?.string, !key.isEmpty
                    else { return nil }
                    return "\(words): \(key)"
                }
            )
        }
    }

    /// Makes a request of the portal; `done` gets the results, or `nil` if it was refused.
    private func request(
        _ member: String,
        _ arguments: [Value],
        _ options: [String: Value],
        _ done: @escaping ([String: Value]?) -> Void
    ) {
        tokens += 1
        let token = "dualcam\(tokens)"
        let sender = connection.uniqueName.dropFirst().replacing(".", with: "_")
        let place = "/org/freedesktop/portal/desktop/request/\(sender)/\(token)"
        guard let path = ObjectPath(place) else { return done(nil) }
        response = connection.subscribe(
            MatchRule(
                sender: owner,
                path: path,
                interface: "org.freedesktop.portal.Request",
                member: "Response"
            )
        ) { [unowned self] signal in
            response = nil
            guard signal.arguments.count == 2, signal.arguments[0].integer == 0 else {
                return done(nil)
            }
            done(signal.arguments[1].named ?? [:])
        }
        let all = options.merging(["handle_token": .string(token)]) { $1 }
        call(member, of: Self.interface, arguments + [.named(all)]) { if $0 == nil { done(nil) } }
    }

    private func call(
        _ member: String,
        of interface: String,
        at path: ObjectPath = GlobalKeys.path,
        _ arguments: [Value] = [],
        _ done: @escaping ([Value]?) -> Void
    ) {
        let call = MethodCall(
            member,
            of: interface,
            at: path,
            on: Self.portal,
            arguments,
            timeout: 10
        )
        connection.ask(call) { done(try? $0.get()) }
    }
}
