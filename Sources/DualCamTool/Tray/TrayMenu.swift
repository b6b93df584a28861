import Control
import DBusKit
import DualCamCore
import Frames

/// The tray's menu, as com.canonical.dbusmenu has it.
struct TrayMenu: Hashable {
    enum Action: Hashable {
        case swap
        case layout(Layout)
        case scene(String)
        case privacy
        case photo
        case record
        case cancelSelfTimer
        case window
        case start
        case quit
    }

    struct Item: Hashable, Sendable {
        /// Its number, which means the same as long as the tray runs: a menu that is open may be
        /// older than what the daemon tells.
        var id = 0
        var label: String
        var action: Action?
        var isEnabled = true
        /// The mark of a checked item, and of one of several; `nil` for neither.
        var mark: Mark?
        var children: [Item] = []

        static let line = Item(label: "")
    }

    struct Mark: Hashable {
        var isOn: Bool
        var isOneOfSeveral = false
    }

    /// Numbers for items, by what they do.
    struct Numbers {
        private var known: [String: Int] = [:]

        /// Returns the number of `key`, a new one the first time.
        mutating func number(_ key: String) -> Int {
            let number = known[key] ?? known.count + 1
            known[key] = number
            return number
        }
    }

    var items: [Item]
    /// The time of a recording, which the item that ends it shows; `nil` without one.
    var time: Int?

    /// All items, those of a submenu after it.
    var all: [Item] { items.flatMap { [$0] + $0.children } }

    /// Returns `true` if the two menus differ in no more than the time of a recording.
    func isLike(_ other: TrayMenu) -> Bool {
        items == other.items && (time == nil) == (other.time == nil)
    }

    var timed: Item? { time == nil ? nil : all.first { $0.action == .record } }

    /// Returns an item and its children as an `(ia{sv}av)`; 0 is the menu itself.
    func layout(of id: Int, depth: Int) -> Value? {
        if id == 0 { return node(0, ["children-display": .string("submenu")], depth, items) }
        return item(id).map { node(id, properties($0), depth, $0.children) }
    }

    /// Returns an item as an `(ia{sv})`.
    func row(_ item: Item) -> Value {
        .structure([.int32(Int32(clamping: item.id)), .named(properties(item))])
    }

    private func node(
        _ id: Int,
        _ properties: [String: Value],
        _ depth: Int,
        _ children: [Item]
    ) -> Value {
        let shown = depth == 0 ? [] : children
        let nodes = shown.map {
            Value.variant(node($0.id, self.properties($0), max(-1, depth - 1), $0.children))
        }
        return .structure([
            .int32(Int32(clamping: id)), .named(properties), .array(nodes, of: .variant),
        ])
    }

    func item(_ id: Int) -> Item? { all.first { $0.id == id } }

    func properties(_ item: Item) -> [String: Value] {
        guard !item.label.isEmpty else { return ["type": .string("separator")] }
        var values: [String: Value] = [
            // An underscore would mark a key.
            "label": .string((item.label + words(of: item)).replacing("_", with: "__")),
            "enabled": .boolean(item.isEnabled),
        ]
        if let mark = item.mark {
            values["toggle-type"] = .string(mark.isOneOfSeveral ? "radio" : "checkmark")
            values["toggle-state"] = .int32(mark.isOn ? 1 : 0)
        }
        if !item.children.isEmpty { values["children-display"] = .string("submenu") }
        return values
    }
}

extension TrayMenu {
    init(_ daemon: DaemonMirror, hasWindow: Bool, _ numbers: inout Numbers) {
        self.init(daemon, hasWindow: hasWindow)
        func number(_ items: inout [Item]) {
            for (index, item) in items.enumerated() {
                let words = item.label.isEmpty ? "line \(index)" : item.label
                items[index].id = numbers.number(item.action.map { "\($0)" } ?? words)
                number(&items[index].children)
            }
        }
        number(&items)
    }

    private init(_ daemon: DaemonMirror, hasWindow: Bool) {
        let window = hasWindow ? [Item(label: "Show the Window", action: .window)] : []
        if daemon.isSilent {
            let words = TrayState.silent.words
            items = [Item(label: words, isEnabled: false)] + window
            items.append(Item(label: "Quit", action: .quit))
            return
        }
        guard daemon.isPresent == true else {
            items = [
                Item(label: "DualCam is not running", isEnabled: false),
                Item(label: "Start", action: .start), .line, Item(label: "Quit", action: .quit),
            ]
            return
        }
        let layout = daemon[\SceneInterface.layout].flatMap(Layout.init)
        let isPrivate = daemon[\PrivacyInterface.enabled] ?? false
        let isRecording = daemon[\CaptureInterface.recording] ?? false
        time = isRecording ? Int(daemon[\CaptureInterface.recordingSeconds] ?? 0) : nil
        let scenes = daemon[\ScenesInterface.names] ?? []
        let scene = daemon[\ScenesInterface.current]
        // The apps that use the camera explain why its light is on.
        let viewers = ViewerNames(daemon).sentence
        items = viewers.map { [Item(label: $0, isEnabled: false), .line] } ?? []
        if daemon[\CaptureInterface.selfTimer]?.isEmpty == false {
            items += [Item(label: "Cancel the Self Timer", action: .cancelSelfTimer), .line]
        }
        items += [
            Item(label: "Swap", action: .swap),
            Item(
                label: "Layout",
                children: Layout.allCases.map {
                    Item(
                        label: $0.title,
                        action: .layout($0),
                        mark: Mark(isOn: $0 == layout, isOneOfSeveral: true)
                    )
                }
            ),
            Item(
                label: "Scene",
                isEnabled: !scenes.isEmpty,
                children: scenes.map {
                    Item(
                        label: $0.capitalizedFirst,
                        action: .scene($0),
                        mark: Mark(isOn: $0 == scene, isOneOfSeveral: true)
                    )
                }
            ),
            .line, Item(label: "Take a Photo", action: .photo, isEnabled: !isPrivate),
            Item(
                label: isRecording ? "Stop Recording" : "Record",
                action: .record,
                isEnabled: isRecording || !isPrivate
            ), Item(label: "Privacy", action: .privacy, mark: Mark(isOn: isPrivate)), .line,
        ]
        items += window + [Item(label: "Quit", action: .quit)]
    }

    /// The text after the label of an item.
    private func words(of item: Item) -> String {
        guard let time, item.action == .record else { return "" }
        return " (\(time / 60):\(time % 60 < 10 ? "0" : "")\(time % 60))"
    }
}
