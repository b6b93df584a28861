import DBusKit
import Frames
import Platform
import TestSupport

/// What a screen reader learns of the programs of a session: AT-SPI, which is plain D-Bus.
///
/// - Context: bound to the test's thread.
final class ScreenReader {
    /// An object that a program shows.
    struct Accessible: Hashable {
        let owner: String
        let path: ObjectPath
    }

    private let loop: EventLoop
    private let bus: BusConnection

    init(_ daemon: Daemon) throws {
        let address = try daemon.bus.call(
            MethodCall("GetAddress", of: "org.a11y.Bus", at: "/org/a11y/bus", on: "org.a11y.Bus")
        )
        loop = try EventLoop()
        bus = try BusConnection(to: .address(address.first?.string ?? ""), loop: loop)
    }

    /// The objects that have a name, by it; the outermost where several have the same.
    var named: [String: Accessible] { all.compactMapValues(\.first) }

    /// All objects that have a name, by it, the outer ones first.
    var all: [String: [Accessible]] {
        var found: [String: [Accessible]] = [:]
        var queue = [
            Accessible(owner: "org.a11y.atspi.Registry", path: "/org/a11y/atspi/accessible/root")
        ]
        for _ in 0..<2000 where !queue.isEmpty {
            let object = queue.removeFirst()
            if let name = name(of: object), !name.isEmpty {
                found[name, default: []].append(object)
            }
            queue += children(of: object)
        }
        return found
    }

    /// The control that has the keyboard, with its name.
    var focused: (name: String, object: Accessible)? {
        for (name, objects) in all {
            if let object = objects.first(where: { hasState(Self.hasFocus, $0) }) {
                return (name, object)
            }
        }
        return nil
    }

    /// AT-SPI's numbers: ATSPI_ROLE_PUSH_BUTTON, ATSPI_STATE_FOCUSED, ATSPI_STATE_PRESSED,
    /// ATSPI_STATE_SENSITIVE and ATSPI_STATE_SHOWING.
    static let button = UInt32(43)
    static let (hasFocus, pressed, sensitive, showing) = (12, 20, 24, 25)
    /// ATSPI_ROLE_TOGGLE_BUTTON; before GTK 4.10 a toggle is a push button with a state.
    static let toggles: Set<UInt32> = [43, 62]

    /// Returns what kind of object it is, in AT-SPI's numbers.
    func role(of object: Accessible) -> UInt32? {
        let answer = try? call(object, "GetRole", of: "org.a11y.atspi.Accessible")
        if case .uint32(let role)? = answer?.first { return role }
        return nil
    }

    /// Returns `true` if `object` has a state, by AT-SPI's number for it.
    func hasState(_ number: Int, _ object: Accessible) -> Bool {
        let answer = try? call(object, "GetState", of: "org.a11y.atspi.Accessible")
        let words = answer?.first?.array?.compactMap(\.integer) ?? []
        guard words.indices.contains(number / 32) else { return false }
        return words[number / 32] >> (number % 32) & 1 == 1
    }

    func place(of object: Accessible) -> PixelRect? {
        // ATSPI_COORD_TYPE_WINDOW; programs do not know where on the screen they are.
        let answer = try? call(object, "GetExtents", of: "org.a11y.atspi.Component", [.uint32(1)])
        let numbers = (answer?.first?.structure ?? []).compactMap(\.integer).map { Int($0) }
        guard numbers.count == 4 else { return nil }
        return PixelRect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }

    /// Does what a click does, on the object of this name, else on one whose name begins with it.
    /// GTK 4.8 calls some buttons by their words twice.
    func press(_ beginning: String) throws {
        // What is new has a name before it has an action. GTK clicks a button 250 ms after it is
        // asked to, and what that enables does nothing before. Since GTK 4.16 a cell of a grid has
        // the name of the button in it, and no action.
        _ =
            try eventually("a press of \(beginning)") {
                let found = all
                let longer = found.keys.filter { $0 != beginning && $0.hasPrefix(beginning) }
                let objects = ([beginning] + longer).flatMap { found[$0] ?? [] }
                for object in objects where hasState(Self.sensitive, object) && canBePressed(object)
                {
                    let press = "DoAction"
                    let answer = try? call(object, press, of: "org.a11y.atspi.Action", [.int32(0)])
                    if let answer { return answer }
                }
                return nil
            } as [Value]
    }

    /// Returns `true` if it has an action of its own. The words on a button have others, such as
    /// clipboard.copy.
    private func canBePressed(_ object: Accessible) -> Bool {
        let answer = try? call(object, "GetName", of: "org.a11y.atspi.Action", [.int32(0)])
        return answer?.first?.string?.contains(".") == false
    }

    private func name(of object: Accessible) -> String? { text("Name", of: object) }

    /// Returns what is said of an object beside its name.
    func description(of object: Accessible) -> String? { text("Description", of: object) }

    private func text(_ property: String, of object: Accessible) -> String? {
        let answer = try? call(
            object,
            "Get",
            of: "org.freedesktop.DBus.Properties",
            [.string("org.a11y.atspi.Accessible"), .string(property)]
        )
        guard case .variant(let text)? = answer?.first else { return nil }
        return text.string
    }

    private func children(of object: Accessible) -> [Accessible] {
        let answer = try? call(object, "GetChildren", of: "org.a11y.atspi.Accessible")
        return (answer?.first?.array ?? []).compactMap { child in
            guard let fields = child.structure, fields.count == 2, let owner = fields[0].string,
                let path = fields[1].objectPath
            else { return nil }
            return Accessible(owner: owner, path: path)
        }
    }

    private func call(
        _ object: Accessible,
        _ member: String,
        of interface: String,
        _ arguments: [Value] = []
    ) throws -> [Value] {
        try bus.call(
            MethodCall(
                member,
                of: interface,
                at: object.path,
                on: object.owner,
                arguments,
                timeout: 5
            )
        )
    }
}
