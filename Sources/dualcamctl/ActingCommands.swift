import ArgumentParser
import Control
import DBusKit
import DualCamCore

// Each command does one thing without output, or prints the new state as JSON.

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
        abstract: "Take the stream away from apps. A recording goes on."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.stop, options) }
}

struct Toggle: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop the stream, or start it if it is stopped."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.toggle, options) }
}

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop the stream, and ask your camera program to show its window again."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.restore, options) }
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
        try client.set(\SceneInterface.layout, to: layout.rawValue)
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
            try client.set(\SceneInterface.insetCorner, to: corner.rawValue)
        }
        if let size { try client.set(\SceneInterface.insetSize, to: size) }
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

struct Mirror: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Mirror a camera's picture left to right (default: the front camera)."
    )
    @Argument(help: "Turn it on or off; toggle switches from one to the other.")
    var value: Switch
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch(\CameraInterface.mirror, of: camera.role ?? .front, "mirror", options)
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
        try value.switch(\PrivacyInterface.enabled, "privacy", options)
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
        try client.set(\CameraInterface.rotation, at: role.path, to: angle.rawValue)
        report(
            options,
            [("camera", .string(role.rawValue)), ("rotation", .number("\(angle.rawValue)"))]
        )
    }
}
