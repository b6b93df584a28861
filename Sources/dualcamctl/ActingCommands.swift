import ArgumentParser
import Control
import DBusKit

// Each command does one thing without output, or prints the new state as JSON.

/// Calls the method `member` of `Stream`.
private func drive(_ member: String, _ options: CommonOptions) throws {
    let client = try Client()
    try client.call(member, of: .stream)
    try report(options, [("state", JSON(try client.get("State", of: .stream)))])
}

struct Start: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Publish the stream.")
    @OptionGroup var options: CommonOptions
    func run() throws { try drive("Start", options) }
}

struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take the stream away, and close cameras that are not recorded."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive("Stop", options) }
}

struct Toggle: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop a stream that is started, start one that is stopped."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive("Toggle", options) }
}

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop, and ask your own camera window to come back."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive("Restore", options) }
}

struct SwapPictures: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swap",
        abstract: "Have the two pictures trade places."
    )
    @Flag(help: "Go back to the scene as configured instead.")
    var reset = false
    @Flag(help: "Without the transition.")
    var instant = false
    @OptionGroup var options: CommonOptions

    func run() throws {
        let client = try Client()
        try client.call(
            reset ? "Reset" : "Swap",
            of: .scene,
            options: instant ? ["instant": .boolean(true)] : [:]
        )
        try report(options, [("swapped", JSON(try client.get("Swapped", of: .scene)))])
    }
}

struct SetLayout: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "layout",
        abstract: "Choose how the two pictures share the frame."
    )

    enum Layout: String, CaseIterable, ExpressibleByArgument {
        case pip
        case sideBySide = "side-by-side"
        case stacked
        case single
    }

    @Argument(help: "The layout.")
    var layout: Layout
    @OptionGroup var options: CommonOptions

    func run() throws {
        let client = try Client()
        try client.set("Layout", of: .scene, to: .string(layout.rawValue))
        report(options, [("layout", .string(layout.rawValue))])
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

    enum Corner: String, CaseIterable, ExpressibleByArgument {
        case topLeft = "top-left"
        case topRight = "top-right"
        case bottomLeft = "bottom-left"
        case bottomRight = "bottom-right"
    }

    @Argument(help: "May be left out with --corner or --size.")
    var verb: Verb?
    @Option(help: "Where it stands.")
    var corner: Corner?
    @Option(help: "Its width, as a fraction of the frame's: 0.1 to 0.5.")
    var size: Double?
    @OptionGroup var options: CommonOptions

    func validate() throws {
        guard verb != nil || corner != nil || size != nil else {
            throw ValidationError("Expected show, hide, toggle, --corner or --size.")
        }
        if let size, !(0.1...0.5).contains(size) {
            throw ValidationError("Expected a size from 0.1 to 0.5, not \(size).")
        }
    }

    func run() throws {
        let client = try Client()
        if let corner {
            try client.set("InsetCorner", of: .scene, to: .string(corner.rawValue))
        }
        if let size { try client.set("InsetSize", of: .scene, to: .double(size)) }
        if let verb {
            let isVisible =
                switch verb {
                case .show: true
                case .hide: false
                case .toggle: try client.get("InsetVisible", of: .scene) != .boolean(true)
                }
            try client.set("InsetVisible", of: .scene, to: .boolean(isVisible))
        }
        try report(
            options,
            [
                ("insetVisible", JSON(try client.get("InsetVisible", of: .scene))),
                ("insetCorner", JSON(try client.get("InsetCorner", of: .scene))),
                ("insetSize", JSON(try client.get("InsetSize", of: .scene))),
            ]
        )
    }
}

struct Mirror: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a camera mirrored left to right, the front one unless told otherwise."
    )
    @Argument(help: "Whether it is mirrored.")
    var value: Switch
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch("Mirror", of: .camera, of: camera.role ?? .front, "mirror", options)
    }
}

struct Privacy: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Close the cameras whoever looks, the last picture staying blurred."
    )
    @Argument(help: "on, off or toggle.")
    var value: Switch
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch("Enabled", of: .privacy, "privacy", options)
    }
}

struct Orientation: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Turn the pictures for how the device is held.",
        discussion: "The edge of the device that is up; auto: what its sensor tells."
    )

    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case auto
        case normal
        case leftUp = "left-up"
        case rightUp = "right-up"
        case bottomUp = "bottom-up"
    }

    @Argument var mode: Mode
    @OptionGroup var options: CommonOptions

    func run() throws {
        let client = try Client()
        try client.set("Mode", of: .orientation, to: .string(mode.rawValue))
        try report(
            options,
            [
                ("mode", .string(mode.rawValue)),
                ("orientation", JSON(try client.get("Current", of: .orientation))),
                ("sensorAvailable", JSON(try client.get("SensorAvailable", of: .orientation))),
            ]
        )
    }
}

struct Rotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say how a camera is mounted, the main one unless told otherwise."
    )

    enum Angle: UInt32, CaseIterable, ExpressibleByArgument {
        case none = 0
        case right = 90
        case half = 180
        case left = 270
    }

    @Argument(help: "Degrees clockwise.")
    var angle: Angle
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        let client = try Client()
        let role = try camera.role(client)
        try client.set("Rotation", of: .camera, at: role.path, to: .uint32(angle.rawValue))
        report(
            options,
            [("camera", .string(role.rawValue)), ("rotation", .number("\(angle.rawValue)"))]
        )
    }
}
