import ArgumentParser
import Control
import DBusKit

/// A turn of a dial: a member of the interface of controls and its argument.
private struct Turn {
    let member: String
    let argument: Value

    /// Parses `text`. +N and -N are clicks, for the member `step`; `set` parses any other text.
    ///
    /// - Throws: `ValidationError` that names what was `expected` if the text has no meaning.
    init(
        _ text: String,
        step: String,
        expecting expected: String,
        set: (String) -> (String, Value)?
    ) throws {
        let isSigned = text.hasPrefix("+") || text.hasPrefix("-")
        if isSigned, let steps = Int32(text) {
            (member, argument) = (step, .int32(steps))
        } else if let setting = set(text) {
            (member, argument) = setting
        } else {
            throw ValidationError("Expected \(expected), not \"\(text)\".")
        }
    }
}

extension CameraOption {
    /// Returns the camera of the option, or the main camera if it is not given.
    func role(_ client: Client) throws(Failure) -> CameraRole {
        if let role { return role }
        guard let role = CameraRole(try client.get("Main", of: .scene).objectPath) else {
            throw Failure(status: .notFound, message: "there is no main camera")
        }
        return role
    }
}

/// Turns one dial of one camera and reports the result.
private struct DialTurn {
    let client: Client
    let role: CameraRole

    init(_ camera: CameraOption) throws(Failure) {
        client = try Client()
        role = try camera.role(client)
    }

    @discardableResult
    func call(_ member: String, _ arguments: Value...) throws(Failure) -> [Value] {
        try client.call(member, of: .controls, at: role.path, arguments)
    }

    /// Turns the dial, reports if it reached its end, and prints these properties.
    func turn(_ turn: Turn, _ options: CommonOptions, _ properties: [String]) throws(Failure) {
        // Only steps have a reply, whose last value is `true` if they were limited.
        let isLimited = try call(turn.member, turn.argument).last?.boolean ?? false
        if isLimited { Output.complain("dualcamctl: that is the end of the dial") }
        try report(options, properties, isLimited: isLimited)
    }

    /// Prints as JSON, if asked for, the camera, these of its properties and whether the dial
    /// reached its end.
    func report(_ options: CommonOptions, _ properties: [String], isLimited: Bool) throws(Failure) {
        guard options.json else { return }
        var members: [(String, JSON)] = [("camera", .string(role.rawValue))]
        for property in properties {
            let value = try client.get(property, of: .controls, at: role.path)
            members.append((property.prefix(1).lowercased() + property.dropFirst(), JSON(value)))
        }
        members.append(("limited", .boolean(isLimited)))
        Output.write(JSON.document(members))
    }
}

struct ProMode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pro",
        abstract: "Show the main camera's values in the picture, and set them yourself.",
        discussion: "When you turn it off, every value of both cameras is automatic again."
    )
    @Argument(help: "Turn it on or off; toggle switches from one to the other.")
    var value: Switch
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch("Enabled", of: .pro, "pro", options)
    }
}

struct TurnDial: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dial",
        abstract: "Choose a dial, or turn it by one click, with a knob or two keys."
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
            try client.set("Dial", of: .pro, to: .string(verb.rawValue))
            if options.json { Output.write(JSON.document([("dial", .string(verb.rawValue))])) }
            return
        }
        let role = camera.role.map { ["camera": Value.string($0.rawValue)] } ?? [:]
        let answer = try client.call(
            "StepDial",
            of: .pro,
            [.int32(verb == .up ? 1 : -1)],
            options: role
        )
        let isLimited = answer.last?.boolean ?? false
        if isLimited { Output.complain("dualcamctl: that is the end of the dial") }
        if options.json {
            let dial = try client.get("Dial", of: .pro)
            Output.write(
                JSON.document([
                    ("dial", JSON(dial)), ("value", JSON(answer.first)),
                    ("limited", .boolean(isLimited)),
                ])
            )
        }
    }
}

struct SetISO: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "iso",
        abstract: "Set a camera's ISO (default: the main camera)."
    )
    @Argument(help: "An ISO such as 400; +N or -N, in third stops; or auto.")
    var value: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func turn() throws -> Turn {
        try Turn(value, step: "StepIso", expecting: "a number, +N, -N or auto") { text in
            if text == "auto" { return ("SetAuto", .strings(["iso"])) }
            return UInt32(text).map { ("SetIso", .uint32($0)) }
        }
    }

    func validate() throws { _ = try turn() }

    func run() throws {
        try DialTurn(camera).turn(try turn(), options, ["Iso", "IsoAuto", "IsoApproximate"])
    }
}

struct SetShutter: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shutter",
        abstract: "Set a camera's exposure time (default: the main camera)."
    )
    @Argument(help: "1/250 or 0.5s; +N (faster) or -N (slower), in third stops; or auto.")
    var value: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func turn() throws -> Turn {
        let expected = "1/N, a time such as 0.5s, +N, -N or auto"
        return try Turn(value, step: "StepShutter", expecting: expected) { text in
            if text == "auto" { return ("SetAuto", .strings(["shutter"])) }
            return SetShutter.microseconds(text).map { ("SetShutter", .uint64($0)) }
        }
    }

    func validate() throws { _ = try turn() }

    func run() throws {
        try DialTurn(camera).turn(try turn(), options, ["Shutter", "ShutterText", "ExposureAuto"])
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

struct SetFocus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "focus",
        abstract: "Set a camera's focus (default: the main camera)."
    )
    @Argument(help: "near, infinity, or 0 (near) to 1; +N (farther) or -N clicks; or auto.")
    var value: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func turn() throws -> Turn {
        let expected = "near, infinity, 0 to 1, +N, -N or auto"
        return try Turn(value, step: "StepFocus", expecting: expected) { text in
            if text == "auto" { return ("SetAuto", .strings(["focus"])) }
            let words = ["near": 0.0, "infinity": 1.0]
            guard let focus = words[text] ?? Double(text), (0...1).contains(focus) else {
                return nil
            }
            return ("SetFocus", .double(focus))
        }
    }

    func validate() throws { _ = try turn() }

    func run() throws {
        try DialTurn(camera).turn(try turn(), options, ["Focus", "FocusText", "FocusAuto"])
    }
}

struct SetWhiteBalance: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wb",
        abstract: "Set a camera's white balance (default: the main camera)."
    )
    @Argument(
        help: """
            auto, sunny, cloudy, shade, tungsten, fluorescent; a temperature such as 5500K; +N or \
            -N, in hundreds of kelvins.
            """
    )
    var value: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func turn() throws -> Turn {
        let presets = ["auto", "sunny", "cloudy", "shade", "tungsten", "fluorescent"]
        let expected = presets.joined(separator: ", ") + ", a temperature such as 5500K, +N or -N"
        return try Turn(value, step: "StepKelvin", expecting: expected) { text in
            if presets.contains(text) { return ("SetWhiteBalance", .string(text)) }
            let digits = text.hasSuffix("K") || text.hasSuffix("k") ? text.dropLast() : text[...]
            return UInt32(digits).map { ("SetKelvin", .uint32($0)) }
        }
    }

    func validate() throws { _ = try turn() }

    func run() throws {
        try DialTurn(camera).turn(try turn(), options, ["WhiteBalance", "Kelvin", "Software"])
    }
}

struct Compensate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ev",
        abstract:
            "Make a camera's picture lighter or darker (default: the main camera).",
        discussion: "This is done in software, and works with any camera."
    )
    @Argument(help: ArgumentHelp("From -2 to 2 stops; auto is 0.", valueName: "stops"))
    var value: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func stops() throws -> Double {
        guard let stops = value == "auto" ? 0 : Double(value) else {
            throw ValidationError("Expected stops from -2 to 2, or auto, not \"\(value)\".")
        }
        return stops
    }

    func validate() throws { _ = try stops() }

    func run() throws {
        let turning = try DialTurn(camera)
        try turning.call("SetCompensation", .double(try stops()))
        try turning.report(options, ["Compensation"], isLimited: false)
    }
}

struct Controls: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "List or set the controls of a camera's driver (default: the main camera)."
    )
    @Option(
        help: ArgumentHelp(
            "Set these controls; for a menu, give an item's number or name.",
            valueName: "name=value,…"
        )
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
        let turning = try DialTurn(camera)
        if set != nil {
            for (name, text) in try pairs() { try write(name, text, turning) }
            guard options.json else { return }
        }
        let rows = try turning.call("ListRaw").first?.array ?? []
        let controls = try rows.compactMap { row -> (name: String, [(String, JSON)])? in
            guard case .structure(let fields) = row, let name = fields.first?.string else {
                return nil
            }
            let names = ["name", "type", "minimum", "maximum", "step", "value", "flags"]
            var members = zip(names, fields).map { ($0, JSON($1)) }
            if let described = try turning.call("DescribeRaw", .string(name)).first?.named {
                members.insert(("default", JSON(described["default"])), at: 5)
                if case .dictionary(let items, _, _)? = described["menu"] {
                    let sorted = items.sorted { ($0.key.integer ?? 0) < ($1.key.integer ?? 0) }
                    members.append(
                        ("menu", .object(sorted.map { ("\($0.key.integer ?? 0)", JSON($0.value)) }))
                    )
                }
            }
            return (name, members)
        }
        if options.json {
            let list = JSON.array(controls.map { .object($0.1) })
            let role = JSON.string(turning.role.rawValue)
            return Output.write(JSON.document([("camera", role), ("controls", list)]))
        }
        if controls.isEmpty {
            Output.complain("dualcamctl: the \(turning.role.rawValue) camera has no controls")
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
            line += ", \(text("default")) at first"
        }
        let flags = members.first { $0.0 == "flags" }.map { Int($0.1.text) ?? 0 } ?? 0
        for (bit, word) in [(1, "disabled"), (2, "grabbed"), (4, "read-only"), (16, "inactive")]
        where flags & bit != 0 {
            line += "  " + Colour.grey(word)
        }
        return line
    }

    private func write(_ name: String, _ text: String, _ turning: DialTurn) throws {
        var value = Int32(text)
        if value == nil {
            let described = try turning.call("DescribeRaw", .string(name)).first?.named
            if case .dictionary(let items, _, _)? = described?["menu"] {
                value = items.first { $0.value.string?.lowercased() == text.lowercased() }
                    .flatMap { $0.key.integer.map { Int32(clamping: $0) } }
            }
        }
        guard let value else {
            throw Failure(status: .usage, message: "\(name) cannot be \"\(text.printable)\"")
        }
        try turning.call("SetRaw", .string(name), .int32(value))
    }
}
