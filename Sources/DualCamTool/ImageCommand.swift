import ArgumentParser
import Control
import DBusKit
import DualCamCore

extension ImageControl: ExpressibleByArgument {}

struct SetImage: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image",
        abstract: "List or set a camera's brightness, contrast and the like, or turn the camera.",
        discussion: """
            These are the camera's own, in its own numbers; a camera has some of them. What you set \
            is kept for this camera. When it closes, the values that it was found with are put back.
            """
    )

    @Argument(help: "What to show or set; without it, all that the camera has are listed.")
    var name: ImageControl?
    @Argument(
        help: """
            A number, or a share of the range such as 50%; with a sign, such as +10 or -5%, relative \
            to the current value; =-10 sets a negative value; default is the camera's own; auto \
            puts back what the camera was found with.
            """,
        completion: .list(["default", "auto", "50%", "+5%"])
    )
    var value: String?
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: ChangeOptions

    private enum Wanted {
        case standard, found
        /// A number, or a share of the range.
        case amount(Amount, isShare: Bool)
    }

    private func wanted(_ value: String) throws(ValidationError) -> Wanted {
        switch value.lowercased() {
        case "default": return .standard
        case "auto": return .found
        default: break
        }
        let isShare = value.hasSuffix("%")
        guard let amount = Amount(value, percent: true) else {
            throw ValidationError(
                "Expected a number, 50%, a change such as +10, default or auto, not \"\(value)\"."
            )
        }
        return .amount(amount, isShare: isShare)
    }

    func validate() throws { _ = try value.map(wanted) }

    func run() throws {
        let client = try Client()
        let role = try camera.role(client, startsService: value != nil)
        let path = role.path
        // Of a closed camera nothing may be known yet.
        _ = try client.call(\ControlsInterface.listRaw, at: path, (), startsService: value != nil)
        var all = try controls(client, role)
        if let name, let value {
            let (number, with) = try change(wanted(value), all.first { $0.name == name.rawValue })
            let (now, isLimited) = try client.call(
                \ControlsInterface.setImage,
                at: path,
                (name.rawValue, number),
                options: with
            )
            if isLimited { Output.complain("dualcamctl: \(name.rawValue) ends at \(now).") }
            try options.waitIfAsked(client)
            all = try controls(client, role)
        }
        let shown = all.filter { name == nil || $0.name == name?.rawValue }
        if let name, shown.isEmpty {
            throw Failure(
                status: .notFound,
                message: "The \(role.rawValue) camera has no \(name.rawValue)."
            )
        }
        if shown.isEmpty {
            Output.complain("dualcamctl: The \(role.rawValue) camera has no image controls.")
        }
        let width = shown.map(\.name.columns).max() ?? 0
        let lines = shown.map { "\($0.name.padded(to: width))  \($0.line)" }
        guard name == nil, !options.common.json else {
            return options.answer(
                role,
                lines.joined(),
                [("image", .array(shown.map { .object($0.members) }))]
            )
        }
        for line in lines { Output.write(line + "\n") }
    }

    private func controls(_ client: Client, _ role: Role) throws(Failure) -> [ListedControl] {
        try client.get(\ControlsInterface.image, at: role.path).map { ListedControl($0) }
    }

    /// Returns the value and the options of SetImage. A control that the camera lacks is refused
    /// there.
    private func change(
        _ wanted: Wanted,
        _ control: ListedControl?
    ) throws(Failure) -> (Int32, Options<ControlsInterface.Image>) {
        var with = Options<ControlsInterface.Image>()
        switch wanted {
        case .standard: return (control?.standard ?? 0, with)
        case .found:
            with.auto = true
            return (0, with)
        case .amount(let amount, let isShare):
            let (least, most) = (Double(control?.least ?? 0), Double(control?.most ?? 0))
            let scale = isShare ? most - least : 1
            let number: Double
            switch amount {
            case .to(let value): number = value * scale + (isShare ? least : 0)
            case .by(let value):
                number = value * scale
                with.relative = true
            }
            return (Int32(exactly: number.rounded()) ?? (number < 0 ? .min : .max), with)
        }
    }
}

/// A control of the picture, as the property Image lists it.
private struct ListedControl {
    let name: String
    let value, least, most, step, standard: Int32
    let isInactive: Bool

    init(_ listed: [String: Value]) {
        func number(_ key: String) -> Int32 { Int32(clamping: listed[key]?.integer ?? 0) }
        name = listed["name"]?.string?.printable ?? ""
        (value, standard, step) = (number("value"), number("default"), number("step"))
        (least, most) = (number("minimum"), number("maximum"))
        isInactive = (listed["flags"]?.integer ?? 0) & 16 != 0
    }

    var line: String {
        "\(value)  of \(least) to \(most)\(step > 1 ? " by \(step)" : ""), default \(standard)"
            + (isInactive ? "  " + Colour.grey("inactive") : "")
    }

    var members: [(String, JSON)] {
        [
            ("name", .string(name)), ("value", JSON(value)), ("minimum", JSON(least)),
            ("maximum", JSON(most)), ("step", JSON(step)), ("default", JSON(standard)),
            ("inactive", JSON(isInactive)),
        ]
    }
}
