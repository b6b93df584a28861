import ArgumentParser
import Control
import DBusKit
import DualCamCore

extension Verbs {
    static let stream: List = [Start.self, Stop.self, Toggle.self, Restore.self]
    static let scene: List = [SwapPictures.self, SetLayout.self, Inset.self]
    static let camera: List = [Mirror.self, Rotate.self, Orientation.self]
    static let privacy: List = [Privacy.self]
    static let reset: List = [ResetAll.self]
}

// Each command does one thing without output, or prints the new state as JSON.

/// A number as an argument: what a value becomes or, with a sign, by how much it changes.
enum Amount: ExpressibleByArgument, CustomStringConvertible {
    case to(Double)
    case by(Double)

    /// Reads "0.3", "+0.3" or "-0.3"; also "=-0.3", which sets a negative number.
    init?(argument: String) {
        let isExact = argument.hasPrefix("=")
        let digits = isExact ? argument.dropFirst() : argument[...]
        guard let number = Double(digits), number.isFinite, digits.first?.isLetter != true else {
            return nil
        }
        let isSigned = digits.hasPrefix("+") || digits.hasPrefix("-")
        self = isSigned && !isExact ? .by(number) : .to(number)
    }

    /// The number without its meaning.
    var number: Double {
        switch self {
        case .to(let number), .by(let number): number
        }
    }

    /// `true` if the number is a change.
    var isRelative: Bool { if case .by = self { true } else { false } }

    /// Returns the new value of one that is `value` now, at most up to an end of `range`.
    func applied(to value: Double, in range: ClosedRange<Double>) -> Double {
        guard case .by(let change) = self else { return number }
        return min(max(value + change, range.lowerBound), range.upperBound)
    }

    var description: String {
        let text = "\(number)"
        let plain = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        return isRelative && number >= 0 ? "+\(plain)" : plain
    }
}

/// Calls a method of `Stream`.
private func drive(
    _ method: KeyPath<StreamInterface, MethodMember<Void, NoOptions, Void>>,
    _ options: CommonOptions
) throws {
    let client = try Client()
    try client.call(method)
    try report(options, [("state", JSON(try client.get(\StreamInterface.state)))])
}

struct Start: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Offer the stream to apps as a camera."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.start, options) }
}

struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop offering the stream. A recording continues."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.stop, options) }
}

struct Toggle: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop the stream, or start it again."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.toggle, options) }
}

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring back the window of your camera program. The stream continues."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.restore, options) }
}

struct ResetAll: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Go back to the configuration, and forget later changes.",
        discussion: "Privacy and recording are not affected."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.reset, options) }
}

struct SwapPictures: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swap",
        abstract: "Swap the main picture and the inset."
    )
    @Flag(help: "Go back to the scene in the configuration instead.")
    var reset = false
    @Flag(help: "Skip the transition.")
    var instant = false
    @OptionGroup var options: CommonOptions

    func run() throws {
        let client = try Client()
        var transition = Options<SceneInterface.Transition>()
        if instant { transition.instant = true }
        if reset {
            try client.call(\SceneInterface.reset, options: transition)
        } else {
            try client.call(\SceneInterface.swap, options: transition)
        }
        try report(options, [("swapped", JSON(try client.get(\SceneInterface.swapped)))])
    }
}

extension Layout: ExpressibleByArgument {}
extension Corner: ExpressibleByArgument {}

struct SetLayout: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "layout",
        abstract: "Choose how the two pictures are arranged."
    )

    enum Choice: ExpressibleByArgument {
        case layout(Layout)
        /// The layout after the present one; the first after the last.
        case next

        init?(argument: String) {
            if argument == "next" {
                self = .next
            } else {
                guard let layout = Layout(argument: argument) else { return nil }
                self = .layout(layout)
            }
        }

        static let allValueStrings = Layout.allCases.map(\.rawValue) + ["next"]
    }

    @Argument(
        help: """
            pip: the main picture with the inset; side-by-side, stacked: both at the same size, \
            beside or above each other; single: the main picture alone; next: the one after the current one.
            """,
        completion: .list(Choice.allValueStrings)
    )
    var layout: Choice
    @OptionGroup var options: CommonOptions

    func run() throws {
        let client = try Client()
        let chosen =
            switch layout {
            case .layout(let layout): layout
            case .next: Layout(rawValue: try client.get(\SceneInterface.layout))?.next ?? .pip
            }
        try client.set(\SceneInterface.layout, to: chosen.rawValue)
        report(options, [("layout", .string(chosen.rawValue))])
    }
}

extension Layout {
    /// The layout after this one; the first after the last.
    fileprivate var next: Layout {
        let all = Layout.allCases
        return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }
}

struct Inset: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show, hide, move or resize the inset."
    )

    enum Verb: String, CaseIterable, ExpressibleByArgument {
        case show
        case hide
        case toggle
    }

    @Argument(help: "Show or hide the inset. Not needed with --corner or --size.")
    var verb: Verb?
    @Option(help: "Move it to this corner.")
    var corner: Corner?
    @Option(
        help: """
            Make it this wide: 0.1 to 0.5 of the stream's width, or 10% to 50%; with a sign, such \
            as +0.05, relative to the current value.
            """,
        transform: Self.size
    )
    var size: Amount?
    @OptionGroup var options: CommonOptions

    func validate() throws {
        guard verb != nil || corner != nil || size != nil else {
            throw ValidationError("Expected show, hide, toggle, --corner or --size.")
        }
        if let size, !size.isRelative, !SceneStyle.insetSizes.contains(size.number) {
            throw ValidationError("Expected a size from 0.1 to 0.5, not \(size).")
        }
    }

    /// Reads a part of the stream's width, also in percent.
    private static func size(_ text: String) throws -> Amount {
        let isPercent = text.hasSuffix("%")
        let digits = isPercent ? text.dropLast(text.hasSuffix(" %") ? 2 : 1) : text[...]
        guard let size = Amount(argument: String(digits)) else {
            throw ValidationError("Expected a size such as 0.3 or 30%, not \"\(text)\".")
        }
        switch size {
        case .to(let number): return .to(isPercent ? number / 100 : number)
        case .by(let number): return .by(isPercent ? number / 100 : number)
        }
    }

    func run() throws {
        let client = try Client()
        if let corner {
            try client.set(\SceneInterface.insetCorner, to: corner.rawValue)
        }
        if let size {
            let now = size.isRelative ? try client.get(\SceneInterface.insetSize) : 0
            try client.set(
                \SceneInterface.insetSize,
                to: size.applied(to: now, in: SceneStyle.insetSizes)
            )
        }
        if let verb {
            let isVisible =
                switch verb {
                case .show: true
                case .hide: false
                case .toggle: !(try client.get(\SceneInterface.insetVisible))
                }
            try client.set(\SceneInterface.insetVisible, to: isVisible)
        }
        try report(
            options,
            [
                ("insetVisible", JSON(try client.get(\SceneInterface.insetVisible))),
                ("insetCorner", JSON(try client.get(\SceneInterface.insetCorner))),
                ("insetSize", JSON(try client.get(\SceneInterface.insetSize))),
            ]
        )
    }
}

struct Mirror: CameraVerb {
    static let defaultCamera = DefaultCamera.front
    static let configuration = CommandConfiguration(
        abstract: "Mirror a camera's picture left to right \(defaultCamera)."
    )
    @Argument(help: Switch.help)
    var value: Switch
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch(\CameraInterface.mirror, of: self, "mirror", options)
    }
}

struct Privacy: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Close both cameras for every app; the stream shows the last picture, blurred."
    )
    @Argument(help: Switch.help)
    var value: Switch
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch(\PrivacyInterface.enabled, "privacy", options)
    }
}

struct Orientation: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Turn the pictures to match the way the device is held.",
        discussion: "The mode names the edge of the device that is up; auto follows its sensor."
    )

    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case auto
        case normal
        case leftUp = "left-up"
        case rightUp = "right-up"
        case bottomUp = "bottom-up"
    }

    @Argument(
        help: "The edge that is up; auto follows the sensor, normal does not turn the pictures."
    )
    var mode: Mode
    @OptionGroup var options: CommonOptions

    func run() throws {
        let client = try Client()
        try client.set(\OrientationInterface.mode, to: mode.rawValue)
        try report(
            options,
            [
                ("mode", .string(mode.rawValue)),
                ("orientation", JSON(try client.get(\OrientationInterface.current))),
                ("sensorAvailable", JSON(try client.get(\OrientationInterface.sensorAvailable))),
            ]
        )
    }
}

struct Rotate: CameraVerb {
    static let defaultCamera = DefaultCamera.main
    static let configuration = CommandConfiguration(
        abstract: "Set how a camera is mounted \(defaultCamera)."
    )

    @Argument(
        help: """
            Degrees clockwise: 0, 90, 180 or 270; with a sign, such as +90, relative to the current \
            value.
            """,
        completion: .list(["0", "90", "180", "270", "+90"])
    )
    var angle: Amount
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func validate() throws {
        guard [0, 90, 180, 270].contains(abs(angle.number)) else {
            throw ValidationError("Expected 0, 90, 180 or 270 degrees, not \(angle).")
        }
    }

    func run() throws {
        let client = try Client()
        let role = try role(client)
        let now =
            angle.isRelative ? try client.get(\CameraInterface.rotation, at: role.path) : 0
        let degrees = (Int(angle.number) + Int(now) + 360) % 360
        try client.set(\CameraInterface.rotation, at: role.path, to: UInt32(degrees))
        report(
            options,
            [("camera", .string(role.rawValue)), ("rotation", .number("\(degrees)"))]
        )
    }
}
