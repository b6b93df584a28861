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
    static let configuration = CommandConfiguration(
        abstract: "Offer the stream to apps as a camera."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive("Start", options) }
}

struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take the stream away from apps. A recording goes on."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive("Stop", options) }
}

struct Toggle: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop the stream, or start it if it is stopped."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive("Toggle", options) }
}

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop the stream, and ask your camera program to show its window again."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive("Restore", options) }
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
        abstract: "Choose how the two pictures are arranged."
    )

    enum Layout: String, CaseIterable, ExpressibleByArgument {
        case pip
        case sideBySide = "side-by-side"
        case stacked
        case single
    }

    @Argument(help: "pip: the main picture with the inset; single: the main picture alone.")
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

    @Argument(help: "Not needed with --corner or --size.")
    var verb: Verb?
    @Option(help: "Move it to this corner.")
    var corner: Corner?
    @Option(help: "Make it this wide: 0.1 to 0.5 of the stream's width.")
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
        abstract: "Mirror a camera's picture left to right (default: the front camera)."
    )
    @Argument(help: "Turn it on or off; toggle switches from one to the other.")
    var value: Switch
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch("Mirror", of: .camera, of: camera.role ?? .front, "mirror", options)
    }
}

struct Privacy: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Close the cameras, whatever uses them; the stream shows the last picture, blurred."
    )
    @Argument(help: "Turn it on or off; toggle switches from one to the other.")
    var value: Switch
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch("Enabled", of: .privacy, "privacy", options)
    }
}

struct Orientation: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Turn the pictures to match how the device is held.",
        discussion: "The mode names the edge of the device that is up; auto follows its sensor."
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
        abstract: "Set how a camera is mounted (default: the main camera)."
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
