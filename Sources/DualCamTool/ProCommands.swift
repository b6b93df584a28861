import ArgumentParser
import Control
import DBusKit
import DualCamCore

extension Verbs {
    static let pro: List = [
        ProMode.self, TurnDial.self, SetISO.self, SetShutter.self, SetFocus.self,
        SetWhiteBalance.self, Compensate.self, Lock.self, Unlock.self, Controls.self,
    ]
}

/// The action of a command on a dial of a camera: returns `true` if the dial reached its end.
private typealias Turn = (Client, ObjectPath) throws(Failure) -> Bool

/// Returns the turn that sets a value.
private func setting<Content>(
    _ method: KeyPath<ControlsInterface, MethodMember<Content, NoOptions, Void>>,
    to value: Content
) -> Turn {
    { (client, path) throws(Failure) in
        try client.call(method, at: path, value)
        return false
    }
}

/// Parses `text` as a turn of a dial. +N and -N are clicks, for the method `step`; `change` parses
/// any other text with a sign, and `set` one without.
///
/// - Throws: `ValidationError` that names what was `expected` if the text has no meaning.
private func parsedTurn<Content>(
    _ text: String,
    step: KeyPath<ControlsInterface, MethodMember<Int32, NoOptions, (Content, Bool)>>,
    expecting expected: String,
    change: (String) -> Turn? = { _ in nil },
    set: (String) -> Turn?
) throws -> Turn {
    let isSigned = text.hasPrefix("+") || text.hasPrefix("-")
    if isSigned, let steps = Int32(text) {
        return { (client, path) throws(Failure) in try client.call(step, at: path, steps).1 }
    }
    guard let turn = isSigned ? change(text) : set(text) else {
        throw ValidationError("Expected \(expected), not \"\(text)\".")
    }
    return turn
}

/// Turns one dial of one camera and reports the result.
private struct DialTurn {
    let client: Client
    let role: Role

    init(_ verb: some CameraVerb) throws(Failure) {
        client = try Client()
        role = try verb.role(client)
    }

    /// Calls a method of the camera's controls.
    @discardableResult
    func call<Arguments, Known, Results>(
        _ method: KeyPath<ControlsInterface, MethodMember<Arguments, Known, Results>>,
        _ arguments: Arguments,
        options: Options<Known> = Options()
    ) throws(Failure) -> Results {
        try client.call(method, at: role.path, arguments, options: options)
    }

    /// Returns a property of the camera's controls.
    func get<Content>(
        _ property: KeyPath<ControlsInterface, PropertyMember<Content>>
    ) throws(Failure) -> Content {
        try client.get(property, at: role.path)
    }

    /// Reports that the dial turns no further.
    static func sayItEnds() { Output.complain("dualcamctl: The dial is at its limit.") }

    /// Turns the dial, reports if it reached its end, and prints these properties.
    func turn<each Content: DBusType>(
        _ turn: Turn,
        _ options: CommonOptions,
        _ properties: repeat KeyPath<ControlsInterface, PropertyMember<each Content>>
    ) throws(Failure) {
        let isLimited = try turn(client, role.path)
        if isLimited { Self.sayItEnds() }
        try report(options, repeat each properties, isLimited: isLimited)
    }

    /// Prints as JSON, if asked for, the camera, these of its properties and whether the dial
    /// reached its end.
    func report<each Content: DBusType>(
        _ options: CommonOptions,
        _ properties: repeat KeyPath<ControlsInterface, PropertyMember<each Content>>,
        isLimited: Bool
    ) throws(Failure) {
        guard options.json else { return }
        var members: [(String, JSON)] = [("camera", .string(role.rawValue))]
        for property in repeat each properties {
            let value = try client.get(property, at: role.path)
            members.append((ControlsInterface.members[keyPath: property].key, JSON(value)))
        }
        members.append(("limited", .boolean(isLimited)))
        Output.write(JSON.document(members))
    }
}

extension PropertyMember {
    /// The key of the property in JSON: "FrameRate" becomes "frameRate".
    var key: String { name.prefix(1).lowercased() + name.dropFirst() }
}

struct ProMode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pro",
        abstract: "Show the main camera's values in the picture, and set them yourself.",
        discussion: "When you turn it off, every value of both cameras returns to automatic."
    )
    @Argument(help: Switch.help)
    var value: Switch
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch(\ProInterface.enabled, "pro", options)
    }
}

struct TurnDial: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dial",
        abstract: "Choose a dial, or turn it by one click, for example with a knob or two keys."
    )

    enum Verb: String, CaseIterable, ExpressibleByArgument {
        case up, down, iso, shutter, focus, wb
    }

    @Argument(help: "Turn the dial up or down, or choose iso, shutter, focus or wb.")
    var verb: Verb
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        let client = try Client()
        guard verb == .up || verb == .down else {
            try client.set(\ProInterface.dial, to: verb.rawValue)
            return report(options, [("dial", .string(verb.rawValue))])
        }
        var step = Options<ProInterface.Step>()
        step.camera = camera.role?.rawValue
        let (value, isLimited) = try client.call(
            \ProInterface.stepDial,
            verb == .up ? 1 : -1,
            options: step
        )
        if isLimited { DialTurn.sayItEnds() }
        try report(
            options,
            [
                ("dial", JSON(try client.get(\ProInterface.dial))), ("value", JSON(value)),
                ("limited", .boolean(isLimited)),
            ]
        )
    }
}

struct SetISO: CameraVerb {
    static let defaultCamera = DefaultCamera.main
    static let configuration = CommandConfiguration(
        commandName: "iso",
        abstract: "Set a camera's ISO \(defaultCamera)."
    )
    @Argument(
        help: "An ISO such as 400; +N or -N, in third stops; or auto.",
        completion: .isoStops
    )
    var value: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func turn() throws -> Turn {
        try parsedTurn(value, step: \.stepISO, expecting: "a number, +N, -N or auto") { text in
            if text == "auto" { return setting(\.setAuto, to: ["iso"]) }
            return UInt32(text).map { setting(\.setISO, to: $0) }
        }
    }

    func validate() throws { _ = try turn() }

    func run() throws {
        try DialTurn(self).turn(try turn(), options, \.iso, \.isoAuto, \.isoApproximate)
    }
}

struct SetShutter: CameraVerb {
    static let defaultCamera = DefaultCamera.main
    static let configuration = CommandConfiguration(
        commandName: "shutter",
        abstract: "Set a camera's exposure time \(defaultCamera)."
    )
    @Argument(
        help: "1/250 or 0.5s; +N (faster) or -N (slower), in third stops; or auto.",
        completion: .shutterStops
    )
    var value: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func turn() throws -> Turn {
        let expected = "1/N, a time such as 0.5s, +N, -N or auto"
        return try parsedTurn(value, step: \.stepShutter, expecting: expected) { text in
            if text == "auto" { return setting(\.setAuto, to: ["shutter"]) }
            return SetShutter.microseconds(text).map { setting(\.setShutter, to: $0) }
        }
    }

    func validate() throws { _ = try turn() }

    func run() throws {
        try DialTurn(self).turn(try turn(), options, \.shutter, \.shutterText, \.exposureAuto)
    }

    /// Returns "1/250", "0.5s", `1"`, "20ms" or "4000us" in microseconds, or `nil` for any other
    /// text.
    static func microseconds(_ text: String) -> UInt64? {
        func time(_ digits: some StringProtocol, _ unit: Double) -> UInt64? {
            guard let number = Double(digits), number > 0, number * unit < 1e9 else { return nil }
            return UInt64((number * unit).rounded())
        }
        if text.hasPrefix("1/") {
            guard let parts = Double(text.dropFirst(2)), parts >= 1, parts <= 1e6 else {
                return nil
            }
            return UInt64((1e6 / parts).rounded())
        }
        if text.hasSuffix("us") { return time(text.dropLast(2), 1) }
        if text.hasSuffix("ms") { return time(text.dropLast(2), 1000) }
        if text.hasSuffix("s") || text.hasSuffix("\"") { return time(text.dropLast(), 1e6) }
        return nil
    }
}

struct SetFocus: CameraVerb {
    static let defaultCamera = DefaultCamera.main
    static let configuration = CommandConfiguration(
        commandName: "focus",
        abstract: "Set a camera's focus \(defaultCamera)."
    )
    @Argument(
        help: """
            near, infinity, or 0 (near) to 1; with a sign, such as +0.1 (farther), relative to the \
            current value; +N or -N clicks; or auto.
            """,
        completion: .list(["auto", "near", "infinity"])
    )
    var value: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func turn() throws -> Turn {
        let expected = "near, infinity, 0 to 1, a change such as +0.1, +N, -N or auto"
        return try parsedTurn(value, step: \.stepFocus, expecting: expected) { text in
            guard case .by(let change)? = Amount(argument: text) else { return nil }
            return { (client, path) throws(Failure) in
                let focus = try client.get(\ControlsInterface.focus, at: path) + change
                let end = min(max(focus, 0), 1)
                try client.call(\ControlsInterface.setFocus, at: path, end)
                // What the camera makes of it is within its step.
                return end != focus
            }
        } set: { text in
            if text == "auto" { return setting(\.setAuto, to: ["focus"]) }
            let words = ["near": 0.0, "infinity": 1.0]
            guard let focus = words[text] ?? Double(text), (0...1).contains(focus) else {
                return nil
            }
            return setting(\.setFocus, to: focus)
        }
    }

    func validate() throws { _ = try turn() }

    func run() throws {
        try DialTurn(self).turn(try turn(), options, \.focus, \.focusText, \.focusAuto)
    }
}

struct SetWhiteBalance: CameraVerb {
    static let defaultCamera = DefaultCamera.main
    static let configuration = CommandConfiguration(
        commandName: "wb",
        abstract: "Set a camera's white balance \(defaultCamera)."
    )
    @Argument(
        help: """
            auto, sunny, cloudy, shade, tungsten, fluorescent; a temperature such as 5500K; a \
            change such as +500K; +N or -N, in hundreds of kelvins.
            """,
        completion: .list(WhiteBalance.words + ["5500K"])
    )
    var value: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func turn() throws -> Turn {
        let presets = WhiteBalance.words
        let expected =
            presets.joined(separator: ", ")
            + ", a temperature such as 5500K, a change such as +500K, +N or -N"
        return try parsedTurn(value, step: \.stepKelvin, expecting: expected) { text in
            guard text.hasSuffix("K") || text.hasSuffix("k"), let change = Int32(text.dropLast())
            else { return nil }
            return { (client, path) throws(Failure) in
                let now = try client.get(\ControlsInterface.kelvin, at: path)
                guard now > 0 else {
                    throw Failure(
                        "This camera does not report its white balance. Set it first, for example with "
                            + "`dualcamctl wb 5500K`."
                    )
                }
                let kelvin = Int64(now) + Int64(change)
                let range = try client.get(\ControlsInterface.kelvinRange, at: path)
                let end = min(max(kelvin, Int64(range.first)), Int64(range.second))
                try client.call(\ControlsInterface.setKelvin, at: path, UInt32(clamping: end))
                return end != kelvin
            }
        } set: { text in
            if presets.contains(text) { return setting(\.setWhiteBalance, to: text) }
            let digits = text.hasSuffix("K") || text.hasSuffix("k") ? text.dropLast() : text[...]
            return UInt32(digits).map { setting(\.setKelvin, to: $0) }
        }
    }

    func validate() throws { _ = try turn() }

    func run() throws {
        try DialTurn(self).turn(try turn(), options, \.whiteBalance, \.kelvin, \.software)
    }
}

struct Compensate: CameraVerb {
    static let defaultCamera = DefaultCamera.main
    static let configuration = CommandConfiguration(
        commandName: "ev",
        abstract:
            "Make a camera's picture lighter or darker \(defaultCamera).",
        discussion: "This is done in software, and works with any camera."
    )
    @Argument(
        help: ArgumentHelp(
            """
            Stops. With a sign, such as +1 or -0.3, relative to the current value; without one, 0 \
            to 2. =-1 sets a negative value; auto is 0.
            """,
            valueName: "stops"
        ),
        completion: .list(["auto", "+0.3", "+1", "0", "1", "2"])
    )
    var value: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func stops() throws -> Amount {
        guard let stops = value == "auto" ? .to(0) : Amount(argument: value) else {
            throw ValidationError(
                "Expected stops such as +1, -0.3, 0, =-1 or auto, not \"\(value)\"."
            )
        }
        return stops
    }

    func validate() throws { _ = try stops() }

    func run() throws {
        let turning = try DialTurn(self)
        let stops = try stops()
        var with = Options<ControlsInterface.Compensation>()
        if stops.isRelative { with.relative = true }
        var isLimited = false
        let before = stops.isRelative ? try turning.get(\.compensation) : 0
        try turning.call(\.setCompensation, stops.number, options: with)
        if stops.isRelative, stops.number != 0 {
            // Cameras have steps of up to half a stop.
            let now = try turning.get(\.compensation)
            isLimited = now == before || abs(before + stops.number - now) > 0.5
            if isLimited { DialTurn.sayItEnds() }
        }
        try turning.report(options, \.compensation, isLimited: isLimited)
    }
}

struct Controls: CameraVerb {
    static let defaultCamera = DefaultCamera.main
    static let configuration = CommandConfiguration(
        abstract:
            "List or set the controls of a camera's driver \(defaultCamera)."
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

    /// Returns the values to set, in order.
    private func pairs() throws -> [(name: String, text: String)] {
        try (set ?? "").split(separator: ",").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else {
                throw ValidationError("Expected NAME=VALUE, not \"\(pair)\".")
            }
            return (String(parts[0]), String(parts[1]))
        }
    }

    func validate() throws { _ = try pairs() }

    func run() throws {
        let turning = try DialTurn(self)
        if set != nil {
            for (name, text) in try pairs() { try write(name, text, turning) }
            guard options.json else { return }
        }
        let controls = try turning.call(\.listRaw, ()).map { row in
            let described = try turning.call(\.describeRaw, row.name)
            var members: [(String, JSON)] = [
                ("name", JSON(row.name)), ("type", JSON(row.type)),
                ("minimum", JSON(row.minimum)), ("maximum", JSON(row.maximum)),
                ("step", JSON(row.step)), ("default", JSON(described["default"])),
                ("value", JSON(row.value)), ("flags", JSON(row.flags)),
            ]
            if case .dictionary(let items, _, _)? = described["menu"] {
                let sorted = items.sorted { ($0.key.integer ?? 0) < ($1.key.integer ?? 0) }
                members.append(
                    ("menu", .object(sorted.map { ("\($0.key.integer ?? 0)", JSON($0.value)) }))
                )
            }
            return (name: row.name, members)
        }
        if options.json {
            let list = JSON.array(controls.map { .object($0.1) })
            let role = JSON.string(turning.role.rawValue)
            return Output.write(JSON.document([("camera", role), ("controls", list)]))
        }
        if controls.isEmpty {
            Output.complain("dualcamctl: The \(turning.role.rawValue) camera has no controls.")
        }
        let width = controls.map(\.name.count).max() ?? 0
        for (name, members) in controls {
            Output.write(name.padded(to: width).printable + "  " + Controls.line(members) + "\n")
        }
    }

    /// Returns "menu 3 (Aperture Priority Mode), of 1 Manual Mode, 3 Aperture Priority Mode".
    private static func line(_ members: [(String, JSON)]) -> String {
        let texts = Dictionary(members.map { ($0, $1.text) }) { $1 }
        func text(_ name: String) -> String {
            (texts[name] ?? "").replacing("\"", with: "").printable
        }
        var line = text("type").padded(to: 8) + text("value")
        if case .object(let items)? = members.first(where: { $0.0 == "menu" })?.1 {
            let named = items.map { ($0.0, $0.1.text.replacing("\"", with: "").printable) }
            if let now = named.first(where: { $0.0 == text("value") }) { line += " (\(now.1))" }
            line += "  of " + named.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        } else if ["int", "intmenu"].contains(text("type")) {
            line += "  of \(text("minimum")) to \(text("maximum"))"
            if text("step") != "1" { line += " by \(text("step"))" }
            line += ", default \(text("default"))"
        }
        let flags = members.first { $0.0 == "flags" }.map { Int($0.1.text) ?? 0 } ?? 0
        for (bit, word) in [(1, "disabled"), (2, "grabbed"), (4, "read-only"), (16, "inactive")]
        where flags & bit != 0 {
            line += "  " + Colour.grey(word)
        }
        return line
    }

    private func write(_ name: String, _ text: String, _ turning: DialTurn) throws {
        try turning.call(\.setRaw, (name, try value(of: name, text, turning)))
    }

    /// Returns the value that `text` means for the control `name`.
    private func value(of name: String, _ text: String, _ turning: DialTurn) throws -> Int32 {
        if text.hasPrefix("+") || text.hasPrefix("-") {
            return try changed(name, by: text, turning)
        }
        if let value = Int32(text.hasPrefix("=") ? text.dropFirst() : text[...]) { return value }
        let described = try turning.call(\.describeRaw, name)
        if case .dictionary(let items, _, _)? = described["menu"],
            let item = items.first(where: { $0.value.string?.lowercased() == text.lowercased() }),
            let number = item.key.integer
        {
            return Int32(clamping: number)
        }
        throw Failure(status: .usage, message: "\(name) cannot be \"\(text.printable)\".")
    }

    /// Returns the value of the control `name`, changed by `text`, at most up to an end.
    private func changed(_ name: String, by text: String, _ turning: DialTurn) throws -> Int32 {
        guard let change = Int32(text) else {
            throw Failure(
                status: .usage,
                message: "Expected a change such as \(name)=+5, not \"\(text.printable)\"."
            )
        }
        guard let control = try turning.call(\.listRaw, ()).first(where: { $0.name == name }) else {
            throw Failure(
                status: .notFound,
                message: "The \(turning.role.rawValue) camera has no control \(name)."
            )
        }
        guard control.type == "int" else {
            throw Failure(
                status: .usage,
                message: "\(name) has no steps for a change such as \(text). Give its new value."
            )
        }
        let wanted = Int64(control.value) + Int64(change)
        let value = min(max(wanted, Int64(control.minimum)), Int64(control.maximum))
        if value != wanted { Output.complain("dualcamctl: \(name) ends at \(value).") }
        return Int32(clamping: value)
    }
}

struct Lock: CameraVerb {
    static let defaultCamera = DefaultCamera.back
    static let configuration = CommandConfiguration(
        abstract: "Lock exposure, focus and white balance as they are \(defaultCamera).",
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
    @OptionGroup var options: CommonOptions

    func validate() throws {
        guard what.contains(.off), what.count > 1 else { return }
        throw ValidationError("Expected off without other words.")
    }

    func run() throws {
        try hold(what == [.off] ? nil : what.map(\.rawValue), self, options)
    }
}

struct Unlock: CameraVerb {
    static let defaultCamera = DefaultCamera.back
    static let configuration = CommandConfiguration(
        abstract: "Return locked values to automatic \(defaultCamera)."
    )
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws { try hold(nil, self, options) }
}

/// Holds these parts of a camera's automatic, or none for `nil`.
private func hold(_ what: [String]?, _ verb: some CameraVerb, _ options: CommonOptions) throws {
    let client = try Client()
    let role = try verb.role(client)
    if let what {
        try client.call(\ControlsInterface.lock, at: role.path, what)
    } else {
        try client.call(\ControlsInterface.unlock, at: role.path)
    }
    guard options.json else { return }
    let locked = try client.get(\ControlsInterface.locked, at: role.path)
    report(
        options,
        [("camera", .string(role.rawValue)), ("locked", .array(locked.map(JSON.string)))]
    )
}
