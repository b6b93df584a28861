import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Frames

/// A verb for one property of the daemon: it prints it, sets it, or changes it from what it is.
protocol PropertyKind {
    /// `CameraOption` if each camera has the property.
    associatedtype Place: ParsableArguments = NoPlace
    static var verb: PropertyVerb { get }
}

protocol CameraKind: PropertyKind where Place == CameraOption {}

struct NoPlace: ParsableArguments {}

/// The rules of a verb for a property.
struct PropertyVerb {
    enum Change {
        case set(Value)
        /// A change from what it is, which the daemon makes.
        case step(Value)
        /// A call of a method, which returns `true` at an end.
        case call((Client, ObjectPath) throws(Failure) -> Bool)
    }

    /// The text of a value, both ways.
    struct Text {
        var help: String
        var completion: CompletionKind?
        /// The words that may be written, for the message about anything else.
        var expected: String
        var read: (String) -> Change?
        /// Returns the value among all of the interface, as people write it.
        var shown: ([String: Value]) -> String
    }

    let name: String
    let abstract: String
    var discussion = ""
    let interface: String
    /// The property, and those that JSON has beside it, with their keys there, as in "Enabled=pro".
    let properties: [(name: String, key: String)]
    /// Tells if a camera has it; one that has not leaves it to the other one.
    var presence: KeyPath<CameraInterface, PropertyMember<Bool>>?
    let text: Text

    var property: String { properties[0].name }

    init<Members: InterfaceMembers>(
        _ name: String,
        _ abstract: String,
        discussion: String = "",
        of interface: Members.Type,
        _ properties: [String],
        presence: KeyPath<CameraInterface, PropertyMember<Bool>>? = nil,
        text: (String) -> Text
    ) {
        (self.name, self.abstract, self.discussion) = (name, abstract, discussion)
        (self.interface, self.presence) = (Members.name, presence)
        self.properties = properties.map { word in
            let parts = word.split(separator: "=").map(String.init)
            return (parts[0], parts.last == parts[0] ? parts[0].memberKey : parts[1])
        }
        self.text = text(self.properties[0].name)
    }

    func change(_ given: String) throws(ValidationError) -> Change {
        guard let change = text.read(given) ?? text.read(given.lowercased()) else {
            throw ValidationError("Expected \(text.expected), not \"\(given)\".")
        }
        return change
    }

    /// Makes a change. Returns the value reached, if it is known, and `true` if it is an end.
    @discardableResult
    func make(
        _ change: Change,
        _ client: Client,
        at path: ObjectPath = DualCam.path
    ) throws(Failure) -> (value: Value?, isLimited: Bool) {
        switch change {
        case .set(let value): try client.set(property, of: interface, at: path, to: value)
        case .step(let change):
            let arguments = (interface, property, Variant(change))
            let (value, isEnd) = try client.call(\StepsInterface.step, at: path, arguments)
            return (value.value, isEnd)
        case .call(let call): return (nil, try call(client, path))
        }
        return (nil, false)
    }

    /// Makes the change, if there is one, and prints the value that there is then.
    func perform(
        _ change: Change?,
        _ client: Client,
        _ role: Role?,
        _ options: ChangeOptions
    ) throws {
        let path = role?.path ?? DualCam.path
        let (reached, isLimited) = try change.map { try make($0, client, at: path) } ?? (nil, false)
        if change != nil { try options.waitIfAsked(client) }
        let isRead = change == nil
        var values = try client.values(of: interface, at: path, startsService: !isRead)
        if let reached { values[property] = reached }
        if isLimited { Output.complain("dualcamctl: \(name) ends at \(text.shown(values)).") }
        if !isRead { client.tellObstacles(to: [property], role) }
        var members = properties.map { ($0.key, JSON.place(values[$0.name])) }
        if !isRead, interface == ControlsInterface.name {
            members.append(("limited", .boolean(isLimited)))
        }
        options.answer(role, text.shown(values), members)
    }
}

struct Adjust<Kind: PropertyKind>: ParsableCommand {
    static var configuration: CommandConfiguration {
        let verb = Kind.verb
        return CommandConfiguration(
            commandName: verb.name,
            abstract: verb.abstract,
            discussion: verb.discussion
        )
    }
    @Argument(help: ArgumentHelp(Kind.verb.text.help), completion: Kind.verb.text.completion)
    var value: String?
    @OptionGroup var place: Kind.Place
    @OptionGroup var options: ChangeOptions

    func validate() throws { _ = try value.map(Kind.verb.change) }

    func run() throws {
        let verb = Kind.verb
        let client = try Client()
        let change = try value.map(verb.change)
        let camera = place as? CameraOption
        var role = try camera?.role(client, startsService: change != nil)
        if change == nil, camera?.place == nil, let presence = verb.presence, let main = role {
            func has(_ role: Role) -> Bool {
                (try? client.get(presence, at: role.path, startsService: false)) ?? false
            }
            if !has(main), has(main.other) { role = main.other }
        }
        do {
            try verb.perform(change, client, role, options)
        } catch let failure as Failure
            where failure.status == .notFound && verb.presence != nil && camera?.place == nil
        {
            // Only the other one can be meant, if it has it.
            do { try verb.perform(change, client, role?.other, options) } catch { throw failure }
        }
    }
}

/// The options of commands that change what is seen.
struct ChangeOptions: ParsableArguments {
    @Flag(help: "Return only when the picture shows it.")
    var wait = false
    @OptionGroup var common: CommonOptions

    /// The longest movement, in seconds.
    private static let timeout = 70.0

    /// Waits for the end of what moves, if that was asked for.
    func waitIfAsked(_ client: Client) throws(Failure) {
        if wait { try client.call(\SceneInterface.settle, within: Self.timeout) }
    }

    /// Prints what a command came to: "back: 2×", or JSON.
    func answer(_ role: Role?, _ text: String, _ members: [(String, JSON)]) {
        let camera = role.map { [("camera", JSON.string($0.rawValue))] } ?? []
        guard !common.json else { return Output.write(JSON.document(camera + members)) }
        let line = role.map { "\($0.rawValue): \(text)" } ?? text
        Output.write(line.split(separator: "\n").map { "\(String($0).printable)\n" }.joined())
    }
}

/// The words for a camera: its own name, or where it is shown.
enum CameraPlace: String, CaseIterable, ExpressibleByArgument {
    case back, front, main, inset

    func role(
        _ client: Client,
        startsService: Bool = true,
        within timeout: Double = Client.defaultTimeout
    ) throws(Failure) -> Role {
        if let role = Role(rawValue: rawValue) { return role }
        let place = self == .inset ? \SceneInterface.inset : \SceneInterface.main
        let path = try client.get(place, startsService: startsService, within: timeout)
        guard let role = Role(path) else {
            throw Failure(status: .notFound, message: "There is no \(rawValue) camera.")
        }
        return role
    }
}

struct CameraOption: ParsableArguments {
    @Option(name: .customLong("camera"), help: "The camera to use (default: main, the large one).")
    var place: CameraPlace?

    /// Returns the camera that is named, or else the one that the stream shows large.
    func role(_ client: Client, startsService: Bool = true) throws(Failure) -> Role {
        try (place ?? .main).role(client, startsService: startsService)
    }
}

extension Client {
    /// Says what keeps changes of `properties` from being seen now, and what would be needed.
    /// `role` is the camera that they are of, if any.
    func tellObstacles(to properties: [String], _ role: Role?) {
        for obstacle in Set(properties.compactMap { obstacle(to: $0, role) }) {
            Output.complain("dualcamctl: \(obstacle)")
        }
    }

    private func obstacle(to property: String, _ role: Role?) -> String? {
        if let role, (try? get(\CameraInterface.state, at: role.path)) == "unavailable" {
            return "The \(role.rawValue) camera is not connected."
        }
        // The values of the controls are of use elsewhere, too.
        let ofPicture = [
            "Zoom", "Mirror", "Rotation", "Ink", "Room", "RoomBlur", "Framing", "FramingTightness",
            "Perspective", "Frozen", "Lens",
        ]
        guard role == nil || ofPicture.contains(property),
            let scene = try? getAll(of: SceneInterface.self), let layout = scene[\.layout]
        else { return nil }
        let isHidden = scene[\.insetVisible] == false && layout == Layout.pip.rawValue
        let show = isHidden ? "inset show" : "layout pip"
        if let role {
            let isShown = role == Role(scene[\.main]) || !(isHidden || layout == "single")
            return isShown
                ? nil
                : "The \(role.rawValue) camera is not shown. Show it with `dualcamctl \(show)`."
        }
        switch property {
        case "InsetVisible", "InsetShape", "InsetCorner", "InsetPosition", "InsetSize",
            "SwapIcon":
            guard layout == Layout.pip.rawValue else {
                return "The layout \(layout) has no inset. Show one with `dualcamctl layout pip`."
            }
            if isHidden, property != "InsetVisible" {
                return "The inset is hidden. Show it with `dualcamctl inset show`."
            }
            return lack(so: "there is no inset")
        case "Layout":
            return layout == "single" ? nil : lack(so: "it is shown alone")
        case "Hud":
            guard scene[\.hud] == "pro", (try? get(\ProInterface.enabled)) == false else {
                return nil
            }
            return "The values are shown while Pro mode is on. Turn it on with `dualcamctl pro on`."
        case "TitleCorner":
            return scene[\.title] == ""
                ? "There is no title. Show one with `dualcamctl title TEXT`." : nil
        default: return nil
        }
    }

    /// Says that a camera is missing, and what follows if the other one is there.
    private func lack(so consequence: String) -> String? {
        switch Role.allCases.count(where: {
            (try? get(\CameraInterface.state, at: $0.path)) == "unavailable"
        }) {
        case 0: nil
        case 1: "There is only one camera, so \(consequence)."
        default: "There is no camera."
        }
    }
}

extension String {
    /// The key in JSON of what has this name on D-Bus: "frameRate" for "FrameRate".
    var memberKey: String { prefix(1).lowercased() + dropFirst() }
}

extension JSON {
    /// Creates the JSON form of a value; a camera's path is its role.
    static func place(_ value: Value?) -> JSON {
        Role(value?.objectPath).map { .string($0.rawValue) } ?? JSON(value)
    }
}

/// A number as an argument: what a value becomes or, with a sign, by how much it changes.
enum Amount: Equatable {
    case to(Double)
    case by(Double)

    /// Reads "0.3", "+0.3" or "-0.3"; also "=-0.3", which sets a negative number, and with
    /// `percent` "30%".
    init?(_ text: String, unit: String = "", percent: Bool = false) {
        let isExact = text.hasPrefix("=")
        var digits = isExact ? text.dropFirst() : text[...]
        var scale = 1.0
        if percent, digits.hasSuffix("%") {
            (digits, scale) = (digits.dropLast(digits.hasSuffix(" %") ? 2 : 1), 100)
        } else if !unit.isEmpty, digits.hasSuffix(unit) {
            digits = digits.dropLast(unit.count)
        }
        guard let number = Double(digits), number.isFinite, digits.first?.isLetter != true else {
            return nil
        }
        let isSigned = digits.hasPrefix("+") || digits.hasPrefix("-")
        self = isSigned && !isExact ? .by(number / scale) : .to(number / scale)
    }
}
