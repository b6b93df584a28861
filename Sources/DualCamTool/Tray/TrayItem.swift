import Control
import DBusKit
import DualCamCore
import Glibc

/// DualCam in the tray: org.kde.StatusNotifierItem and its menu.
///
/// - Context: bound to the connection's thread.
final class TrayItem {
    private let connection: BusConnection
    private let server: ObjectServer
    private let daemon: DaemonMirror
    private let quit: () -> Void
    private var watcher: BusConnection.Subscription?
    private var state = TrayState.off
    private var words = TrayState.off.words
    private var menu: TrayMenu
    private var numbers = TrayMenu.Numbers()
    private var revision: UInt32 = 1
    /// `true` while the menu is open.
    private var isOpen = false

    private static let path: ObjectPath = "/StatusNotifierItem"
    private static let menuPath: ObjectPath = "/MenuBar"
    private static let watcherName = "org.kde.StatusNotifierWatcher"

    private static let item = Interface(
        "org.kde.StatusNotifierItem",
        methods: [
            .init("Activate", takes: ["x": "i", "y": "i"]),
            .init("SecondaryActivate", takes: ["x": "i", "y": "i"]),
            .init("ContextMenu", takes: ["x": "i", "y": "i"]),
            .init("Scroll", takes: ["delta": "i", "orientation": "s"]),
        ],
        signals: [
            .init("NewIcon"), .init("NewToolTip"), .init("NewTitle"),
            .init("NewStatus", ["status": "s"]),
        ],
        properties: [
            .init("Category", "s"), .init("Id", "s"), .init("Title", "s"), .init("Status", "s"),
            .init("WindowId", "i"), .init("IconName", "s"), .init("IconPixmap", "a(iiay)"),
            .init("ToolTip", "(sa(iiay)ss)"), .init("ItemIsMenu", "b"), .init("Menu", "o"),
        ]
    )

    private static let menus = Interface(
        "com.canonical.dbusmenu",
        methods: [
            .init(
                "GetLayout",
                takes: ["parentId": "i", "recursionDepth": "i", "propertyNames": "as"],
                gives: ["revision": "u", "layout": "(ia{sv}av)"]
            ),
            .init(
                "GetGroupProperties",
                takes: ["ids": "ai", "propertyNames": "as"],
                gives: ["properties": "a(ia{sv})"]
            ), .init("GetProperty", takes: ["id": "i", "name": "s"], gives: ["value": "v"]),
            .init("Event", takes: ["id": "i", "eventId": "s", "data": "v", "timestamp": "u"]),
            .init("EventGroup", takes: ["events": "a(isvu)"], gives: ["idErrors": "ai"]),
            .init("AboutToShow", takes: ["id": "i"], gives: ["needUpdate": "b"]),
            .init(
                "AboutToShowGroup",
                takes: ["ids": "ai"],
                gives: ["updatesNeeded": "ai", "idErrors": "ai"]
            ),
        ],
        signals: [
            .init("ItemsPropertiesUpdated", ["updatedProps": "a(ia{sv})", "removed": "a(ias)"]),
            .init("LayoutUpdated", ["revision": "u", "parent": "i"]),
            .init("ItemActivationRequested", ["id": "i", "timestamp": "u"]),
        ],
        properties: [
            .init("Version", "u"), .init("TextDirection", "s"), .init("Status", "s"),
            .init("IconThemePath", "as"),
        ]
    )

    /// Shows DualCam in the tray of the session on `connection`, as soon as there is one. `quit` is
    /// called when the user chooses it.
    init(_ connection: BusConnection, quit: @escaping () -> Void) {
        self.connection = connection
        self.quit = quit
        daemon = DaemonMirror(connection)
        server = ObjectServer(on: connection)
        menu = TrayMenu(daemon, hasWindow: DualCamWindow.isInstalled, &numbers)
        server.export(Self.item, at: Self.path, properties: look) { [unowned self] call in
            if call.member == "Activate" { perform(.window) }
            if call.member == "SecondaryActivate" { perform(.swap) }
            call.reply()
        }
        server.export(
            Self.menus,
            at: Self.menuPath,
            properties: [
                "Version": .uint32(3), "TextDirection": .string("ltr"),
                "Status": .string("normal"), "IconThemePath": .strings([]),
            ]
        ) { [unowned self] in answer($0) }
        daemon.onChange = { [unowned self] in follow() }
        watcher = connection.subscribe(.owner(of: Self.watcherName)) { [unowned self] signal in
            if signal.arguments.last?.string != "" { register() }
        }
        register()
    }

    /// Registers this item with the tray. If there is none, says that it waits for one.
    private func register() {
        let name: Value = .string(connection.uniqueName)
        ask("RegisterStatusNotifierItem", of: Self.watcherName, [name]) { [weak self] answer in
            if answer == nil { self?.sayThatItWaits() } else { self?.lookForHost() }
        }
    }

    /// Looks if anything shows what is registered: a desktop may take items without a tray.
    private func lookForHost() {
        let property: [Value] = [
            .string(Self.watcherName), .string("IsStatusNotifierHostRegistered"),
        ]
        ask("Get", of: "org.freedesktop.DBus.Properties", property) { [weak self] answer in
            if case .variant(.boolean(false))? = answer?.first { self?.sayThatItWaits() }
        }
    }

    private func ask(
        _ member: String,
        of interface: String,
        _ arguments: [Value],
        _ done: @escaping ([Value]?) -> Void
    ) {
        let call = MethodCall(
            member,
            of: interface,
            at: "/StatusNotifierWatcher",
            on: Self.watcherName,
            arguments,
            startsService: false
        )
        try? connection.call(call) { done(try? $0.get()) }
    }

    private func sayThatItWaits() {
        Output.complain(
            "dualcamctl: There is no system tray yet; this waits for one. "
                + "GNOME has one with the AppIndicator extension."
        )
    }

    // MARK: Look

    private var look: [String: Value] {
        let icons = Value.array(
            [22, 44].map { size in
                .structure([
                    .int32(Int32(size)), .int32(Int32(size)),
                    .array(TrayIcon.pixels(state, size: size).map { .byte($0) }, of: .byte),
                ])
            },
            of: "(iiay)"
        )
        return [
            "Category": .string("Hardware"), "Id": .string("dualcam"),
            "Title": .string("DualCam"), "Status": .string("Active"), "WindowId": .int32(0),
            "IconName": .string(""), "IconPixmap": icons,
            "ToolTip": .structure([
                .string(""), .array([], of: "(iiay)"), .string("DualCam"),
                .string(words.escapedForMarkup),
            ]), "ItemIsMenu": .boolean(!DualCamWindow.isInstalled),
            "Menu": .objectPath(Self.menuPath),
        ]
    }

    /// Looks if the daemon still answers.
    func probe() { daemon.probe() }

    private func follow() {
        let state = presentState
        let viewers = state == .live ? ViewerNames(daemon).sentence : nil
        let words = selfTimer ?? viewers ?? state.words
        if state != self.state || words != self.words {
            let isOther = state != self.state
            (self.state, self.words) = (state, words)
            server.set(look, of: Self.item, at: Self.path)
            if isOther { server.emit("NewIcon", of: Self.item, at: Self.path) }
            server.emit("NewToolTip", of: Self.item, at: Self.path)
        }
        let menu = TrayMenu(daemon, hasWindow: DualCamWindow.isInstalled, &numbers)
        guard menu != self.menu else { return }
        let isLike = menu.isLike(self.menu)
        self.menu = menu
        // While the menu is closed, the time is not sent: AboutToShow asks for it.
        if isLike { return isOpen ? updateTime() : () }
        revision &+= 1
        server.emit(
            "LayoutUpdated",
            of: Self.menus,
            at: Self.menuPath,
            .uint32(revision),
            .int32(0)
        )
    }

    private func updateTime() {
        guard let row = menu.timed.map(menu.row) else { return }
        server.emit(
            "ItemsPropertiesUpdated",
            of: Self.menus,
            at: Self.menuPath,
            .array([row], of: "(ia{sv})"),
            .array([], of: "(ias)")
        )
    }

    private var selfTimer: String? {
        guard daemon.isPresent == true, !daemon.isSilent else { return nil }
        let seconds = daemon[\CaptureInterface.selfTimerSeconds]
        return StatusText.selfTimerText(daemon[\CaptureInterface.selfTimer], seconds)
    }

    private var presentState: TrayState {
        if daemon.isSilent { return .silent }
        guard daemon.isPresent == true, daemon[\StreamInterface.active] ?? false else {
            return .off
        }
        if daemon[\PrivacyInterface.enabled] ?? false { return .hidden }
        if daemon[\CaptureInterface.recordingPaused] ?? false { return .paused }
        if daemon[\CaptureInterface.recording] ?? false { return .recording }
        let alone = Role.allCases.map { daemon[\CameraInterface.consumers, at: $0.path] ?? 0 }
        return (daemon[\StreamInterface.consumers] ?? 0) > 0 || alone.contains { $0 > 0 }
            ? .live : .idle
    }

    // MARK: Menu

    private func answer(_ call: Invocation) {
        let first = call.arguments.first
        switch call.member {
        case "GetLayout":
            let depth = call.arguments[1].integer ?? -1
            guard let layout = menu.layout(of: first?.integer ?? 0, depth: depth) else {
                return call.fail(.invalidArguments("there is no such item"))
            }
            call.reply(.uint32(revision), layout)
        case "GetGroupProperties":
            let asked = (first?.array ?? []).compactMap(\.integer)
            let ids = asked.isEmpty ? menu.all.map(\.id) : asked
            call.reply(.array(ids.compactMap { menu.item($0).map(menu.row) }, of: "(ia{sv})"))
        case "GetProperty":
            let item = menu.item(first?.integer ?? 0)
            let name = call.arguments[1].string ?? ""
            guard let value = item.flatMap({ menu.properties($0)[name] }) else {
                return call.fail(.invalidArguments("there is no such item or property"))
            }
            call.reply(.variant(value))
        case "Event":
            event(first?.integer, call.arguments[1].string)
            call.reply()
        case "EventGroup":
            for fields in (first?.array ?? []).compactMap(\.structure) where fields.count == 4 {
                event(fields[0].integer, fields[1].string)
            }
            call.reply(.array([], of: .int32))
        case "AboutToShow": call.reply(.boolean(menu.time != nil))
        default: call.reply(.array([], of: .int32), .array([], of: .int32))
        }
    }

    private func event(_ id: Int?, _ kind: String?) {
        // Submenus open and close within the menu itself.
        if kind == "opened" { isOpen = true }
        if kind == "closed", id == 0 { isOpen = false }
        guard kind == "clicked", let action = id.flatMap({ menu.item($0) })?.action else { return }
        perform(action)
    }

    private func perform(_ action: TrayMenu.Action) {
        switch action {
        case .swap: daemon.call(\SceneInterface.swap, ())
        case .layout(let layout): daemon.set(\SceneInterface.layout, to: layout.rawValue)
        case .scene(let name): daemon.call(\ScenesInterface.apply, name)
        case .privacy:
            let change = (PrivacyInterface.name, "Enabled", Variant(.string("toggle")))
            daemon.call(\StepsInterface.step, change)
        case .photo: daemon.call(\CaptureInterface.takePhoto, (), within: 30)
        case .record:
            daemon.call(\CaptureInterface.toggleRecording, (), within: 60)
        case .cancelSelfTimer: daemon.call(\CaptureInterface.cancelSelfTimer, ())
        case .start: daemon.call(\StreamInterface.start, (), startsService: true)
        case .window: DualCamWindow.start()
        case .quit: quit()
        }
    }
}
