import ArgumentParser
import Control
import DBusKit
import DualCamCore

struct TurnDial: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dial",
        abstract: "Choose a dial, or turn it by one click, for example with a knob or two keys."
    )

    enum Verb: String, CaseIterable, ExpressibleByArgument {
        case up, down, iso, shutter, focus, wb
    }

    @Argument(help: "Turn the dial up or down, or choose iso, shutter, focus or wb.")
    var verb: Verb?
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: ChangeOptions

    func run() throws {
        let client = try Client()
        guard verb == .up || verb == .down else {
            if let verb { try client.set(\ProInterface.dial, to: verb.rawValue) }
            let dial = try client.get(\ProInterface.dial, startsService: verb != nil)
            return options.answer(nil, dial, [("dial", .string(dial))])
        }
        let role = try camera.role(client)
        var step = Options<ProInterface.Step>()
        step.camera = camera.place == nil ? nil : role.rawValue
        let (value, isLimited) = try client.call(
            \ProInterface.stepDial,
            verb == .up ? 1 : -1,
            options: step
        )
        let dial = try client.get(\ProInterface.dial)
        if isLimited { Output.complain("dualcamctl: \(dial) ends at \(value.printable).") }
        options.answer(
            role,
            "\(dial) \(value)",
            [("dial", JSON(dial)), ("value", JSON(value)), ("limited", .boolean(isLimited))]
        )
    }
}

struct Controls: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List or set the controls of a camera's driver."
    )
    @Option(
        help: ArgumentHelp(
            """
            Set these controls; for a menu, give an item's number or name. With a sign, such as \
            gain=+5, relative to the current value; brightness==-5 sets a negative value.
            """,
            valueName: "name=value,…"
        ),
        completion: .controls
    )
    var set: String?
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func pairs() throws -> [(name: String, text: String)] {
        try (set ?? "").split(separator: ",").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            try expect(parts.count == 2, "Expected NAME=VALUE, not \"\(pair)\".")
            return (String(parts[0]), String(parts[1]))
        }
    }

    func validate() throws { _ = try pairs() }

    func run() throws {
        let client = try Client()
        let role = try camera.role(client, startsService: set != nil)
        let pairs = try pairs()
        for (name, text) in pairs { try write(name, text, client, role) }
        let listRaw = \ControlsInterface.listRaw
        let rows = try client.call(listRaw, at: role.path, (), startsService: set != nil)
        for row in rows where pairs.contains(where: { row.ends($0.name, $0.text) }) {
            Output.complain("dualcamctl: \(row.name.printable) ends at \(row.value).")
        }
        let isWhole = set == nil || options.json
        let shown = rows.filter { row in isWhole || pairs.contains { $0.name == row.name } }
        let controls = try shown.map { row in
            (row, try client.call(\ControlsInterface.describeRaw, at: role.path, row.name))
        }
        if options.json {
            let list = controls.map { JSON.object($0.members(describedBy: $1)) }
            let role = JSON.string(role.rawValue)
            return Output.write(JSON.document([("camera", role), ("controls", .array(list))]))
        }
        if rows.isEmpty {
            Output.complain("dualcamctl: The \(role.rawValue) camera has no controls.")
        }
        let width = shown.map(\.name.printable.columns).max() ?? 0
        for (row, described) in controls {
            let place = set == nil ? "" : "\(role.rawValue): "
            let name = row.name.printable.padded(to: width)
            Output.write("\(place)\(name)  \(row.line(describedBy: described))\n")
        }
    }

    private func write(_ name: String, _ text: String, _ client: Client, _ role: Role) throws {
        let isChange = text.hasPrefix("+") || text.hasPrefix("-")
        var value = Int32(text.hasPrefix("=") ? text.dropFirst() : text[...])
        if value == nil, !isChange {
            let described = try client.call(\ControlsInterface.describeRaw, at: role.path, name)
            let item = menu(described)?.first { $0.value.lowercased() == text.lowercased() }
            value = item.map { Int32(clamping: $0.key) }
        }
        guard let value else {
            throw Failure(
                status: .usage,
                message: isChange
                    ? "Expected a change such as \(name)=+5, not \"\(text.printable)\"."
                    : "\(name) cannot be \"\(text.printable)\"."
            )
        }
        var with = Options<ControlsInterface.Relative>()
        if isChange { with.relative = true }
        try client.call(\ControlsInterface.setRaw, at: role.path, (name, value), options: with)
    }
}

/// Returns the items of the menu of a control, by number; `nil` if it has none.
private func menu(_ described: [String: Value]) -> [(key: Int, value: String)]? {
    guard case .dictionary(let items, _, _)? = described["menu"] else { return nil }
    return items.map { ($0.key.integer ?? 0, $0.value.string ?? "") }.sorted { $0.0 < $1.0 }
}

extension RawControl {
    /// Returns `true` if the change `text` of the control `name` has led this one to an end.
    fileprivate func ends(_ name: String, _ text: String) -> Bool {
        name == self.name
            && (text.hasPrefix("+") && value == maximum || text.hasPrefix("-") && value == minimum)
    }

    fileprivate func members(describedBy described: [String: Value]) -> [(String, JSON)] {
        [
            ("name", JSON(name)), ("type", JSON(type)), ("minimum", JSON(minimum)),
            ("maximum", JSON(maximum)), ("step", JSON(step)),
            ("default", JSON(described["default"])), ("value", JSON(value)),
            ("flags", JSON(flags)),
        ] + (menu(described).map { [("menu", .object($0.map { ("\($0)", .string($1)) }))] } ?? [])
    }

    /// Returns "menu 3 (Aperture Priority Mode), of 1 Manual Mode, 3 Aperture Priority Mode".
    fileprivate func line(describedBy described: [String: Value]) -> String {
        var line = type.printable.padded(to: 8) + "\(value)"
        if let menu = menu(described) {
            if let now = menu.first(where: { $0.key == value }) {
                line += " (\(now.value.printable))"
            }
            line += "  of " + menu.map { "\($0) \($1.printable)" }.joined(separator: ", ")
        } else if ["int", "intmenu"].contains(type) {
            let by = step == 1 ? "" : " by \(step)"
            line += "  of \(minimum) to \(maximum)\(by), default \(JSON(described["default"]).text)"
        }
        for (bit, word) in [(1, "disabled"), (2, "grabbed"), (4, "read-only"), (16, "inactive")]
        where flags & UInt32(bit) != 0 {
            line += "  " + Colour.grey(word)
        }
        return line
    }
}

struct Lock: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lock exposure, focus and white balance as they are.",
        discussion: """
            This keeps a hand over the page from changing the picture. Without arguments, it locks \
            everything the camera can lock. It does not need Pro mode. Turning a dial unlocks what \
            the dial sets. When the camera closes, it is set back to automatic for other programs.
            """
    )

    enum What: String, CaseIterable, ExpressibleByArgument {
        case exposure, focus, wb, off
    }

    @Argument(help: "What to lock; off returns everything to automatic.")
    var what: [What] = []
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: ChangeOptions

    func validate() throws {
        try expect(!what.contains(.off) || what.count == 1, "Expected off without other words.")
    }

    func run() throws {
        try hold(what == [.off] ? nil : what.map(\.rawValue), camera, options)
    }
}

struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Return locked values to automatic."
    )
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: ChangeOptions

    func run() throws { try hold(nil, camera, options) }
}

/// Holds these parts of a camera's automatic, or none for `nil`.
private func hold(_ what: [String]?, _ camera: CameraOption, _ options: ChangeOptions) throws {
    let client = try Client()
    let role = try camera.role(client)
    if let what {
        try client.call(\ControlsInterface.lock, at: role.path, what, within: 15)
    } else {
        try client.call(\ControlsInterface.unlock, at: role.path)
    }
    let locked = try client.get(\ControlsInterface.locked, at: role.path)
    let text = locked.isEmpty ? "nothing is locked" : "locked " + locked.joined(separator: ", ")
    options.answer(role, text, [("locked", JSON(locked))])
}
