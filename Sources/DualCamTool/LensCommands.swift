import ArgumentParser
import Control
import DBusKit
import DualCamCore

extension Verbs {
    static let lens: List = [
        SelectLens.self, SetZoom.self, SetPerspective.self, Torch.self, Freeze.self,
        SetInk.self,
    ]
}

struct SelectLens: CameraVerb {
    static let defaultCamera = DefaultCamera.main
    static let configuration = CommandConfiguration(
        commandName: "lens",
        abstract:
            "List a camera's lenses, or choose one \(defaultCamera)."
    )
    @Argument(help: "The name of a lens, or \"list\" to list them.", completion: .lenses)
    var lens: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        let client = try Client()
        let role = try role(client)
        if lens != "list" {
            try client.call(\CameraInterface.selectLens, at: role.path, lens)
        }
        let list = try client.get(\CameraInterface.lenses, at: role.path)
            .map { (name: $0.first, factor: $0.second) }
        let now = try client.get(\CameraInterface.lens, at: role.path)
        let isFallback = try client.get(\CameraInterface.lensFallback, at: role.path)
        if options.json {
            let array = list.map { lens in
                JSON.object([("name", .string(lens.name)), ("factor", .number("\(lens.factor)"))])
            }
            return Output.write(
                JSON.document([
                    ("camera", .string(role.rawValue)), ("lens", JSON(now)),
                    ("fallback", JSON(isFallback)), ("lenses", .array(array)),
                ])
            )
        }
        if lens != "list" {
            if isFallback {
                Output.complain(
                    "dualcamctl: This lens cannot be used now. Another one shows its view, cropped."
                )
            }
            return
        }
        let width = list.map(\.name.count).max() ?? 0
        for lens in list {
            let mark = lens.name == now ? "●" : "○"
            Output.write("\(mark) \(lens.name.printable.padded(to: width))  \(lens.factor)×\n")
        }
    }
}

struct SetZoom: CameraVerb {
    static let defaultCamera = DefaultCamera.back
    static let configuration = CommandConfiguration(
        commandName: "zoom",
        abstract: "Zoom a camera's picture \(defaultCamera)."
    )
    @Argument(
        help:
            "How far to zoom, such as 2 or 1.5x; with a sign, such as +0.5, relative to the current value."
    )
    var factor: String
    @Option(
        help: ArgumentHelp(
            "Zoom to this point: 0,0 is the top left, 1,1 the bottom right (default: the last point).",
            valueName: "x,y"
        )
    )
    var at: String?
    @Option(help: ArgumentHelp("Take this many milliseconds (default: 250).", valueName: "ms"))
    var ramp: Int?
    /// The longest time, in milliseconds.
    private static let longestRamp = 60_000
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func zoom() throws -> Amount {
        let text = factor.hasSuffix("x") || factor.hasSuffix("×") ? factor.dropLast() : factor[...]
        guard let zoom = Amount(argument: String(text)), zoom.isRelative || zoom.number > 0 else {
            throw ValidationError(
                "Expected a number such as 2 or 1.5x, or a change such as +0.5, not \"\(factor)\"."
            )
        }
        return zoom
    }

    private func place() throws -> Pair<Double, Double>? {
        guard let at else { return nil }
        guard let place = DualCamTool.place(at) else {
            let expected = "two numbers from 0 to 1, such as 0.3,0.5"
            throw ValidationError("Expected \(expected), not \"\(at)\".")
        }
        return place
    }

    func validate() throws {
        _ = try zoom()
        _ = try place()
        if let ramp, !(0...Self.longestRamp).contains(ramp) {
            throw ValidationError("Expected 0 to \(Self.longestRamp) milliseconds, not \(ramp).")
        }
    }

    func run() throws {
        let client = try Client()
        let role = try role(client)
        var with = Options<CameraInterface.Zoom>()
        with.ramp = ramp.map { UInt32($0) }
        with.at = try place()
        let zoom = try zoom()
        if zoom.isRelative { with.relative = true }
        let before = zoom.isRelative ? try client.get(\CameraInterface.zoom, at: role.path) : 0
        try client.call(\CameraInterface.setZoom, at: role.path, zoom.number, options: with)
        if try client.get(\CameraInterface.state, at: role.path) == "unavailable" {
            Output.complain("dualcamctl: There is no \(role.rawValue) camera now.")
        }
        guard options.json || zoom.isRelative else { return }
        let now = try client.get(\CameraInterface.zoom, at: role.path)
        if zoom.isRelative, abs(before + zoom.number - now) > 0.001 {
            Output.complain("dualcamctl: The zoom ends at \(now)×.")
        }
        guard options.json else { return }
        Output.write(JSON.document([("camera", .string(role.rawValue)), ("zoom", JSON(now))]))
    }
}

struct SetPerspective: CameraVerb {
    static let defaultCamera = DefaultCamera.back
    static let configuration = CommandConfiguration(
        commandName: "perspective",
        abstract:
            "Show a page or a desk as if seen from straight above \(defaultCamera).",
        discussion: """
            The four corners become the corners of the picture. Give them clockwise from the top \
            left, as x,y: 0,0 is the top left of the whole picture, 1,1 the bottom right. A \
            mirrored camera's corners are those of the picture before it is mirrored.

            auto finds the corners of a page that is brighter than the desk, and says how sure \
            it is. Without arguments, it prints the corners in the form of the configuration \
            file.
            """
    )

    enum Action: String, CaseIterable, ExpressibleByArgument {
        case set
        case auto
        case off
    }

    @Argument(help: "Set the corners, find the corners of a page, or show the whole picture.")
    var action: Action?
    @Argument(help: ArgumentHelp("Four corners.", valueName: "x,y"))
    var corners: [String] = []
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func points(_ action: Action) throws -> [Pair<Double, Double>] {
        guard corners.count == (action == .set ? 4 : 0) else {
            throw ValidationError(
                action == .set
                    ? "Expected four corners such as 0.2,0.1, not \(corners.count)."
                    : "Expected nothing after \(action.rawValue)."
            )
        }
        return try corners.map { corner in
            guard let point = place(corner) else {
                throw ValidationError(
                    "Expected two numbers from 0 to 1, such as 0.3,0.5, not \"\(corner)\"."
                )
            }
            return point
        }
    }

    func validate() throws { if let action { _ = try points(action) } }

    func run() throws {
        let client = try Client()
        let role = try role(client)
        guard let action else { return try show(client, role) }
        if action == .auto { return try find(client, role) }
        try client.set(\CameraInterface.perspective, at: role.path, to: try points(action))
        report(
            options,
            [
                ("camera", .string(role.rawValue)),
                ("perspective", JSON.array(corners.map(JSON.string))),
            ]
        )
    }
}

extension SetPerspective {
    /// Prints the corners as the configuration file has them.
    private func show(_ client: Client, _ role: Role) throws {
        let corners = try client.get(\CameraInterface.perspective, at: role.path)
        guard options.json else {
            let points = corners.map { "[\(Self.text($0.first)), \(Self.text($0.second))]" }
            return Output.write("perspective = [\(points.joined(separator: ", "))]\n")
        }
        let members = [("camera", JSON.string(role.rawValue)), ("perspective", Self.json(corners))]
        Output.write(JSON.document(members))
    }

    /// A coordinate, to a thousandth.
    private static func text(_ number: Double) -> String { "\((number * 1000).rounded() / 1000)" }

    private static func json(_ corners: [Pair<Double, Double>]) -> JSON {
        .array(corners.map { .string("\(text($0.first)),\(text($0.second))") })
    }

    /// Shows the page that the daemon finds.
    private func find(_ client: Client, _ role: Role) throws {
        let (corners, certainty) = try client.call(
            \CameraInterface.findPerspective,
            at: role.path
        )
        guard options.json else {
            return Output.write("Found a page (\(Int((certainty * 100).rounded())) % sure).\n")
        }
        Output.write(
            JSON.document([
                ("camera", .string(role.rawValue)),
                ("perspective", Self.json(corners)),
                ("certainty", .number(Self.text(certainty))),
            ])
        )
    }
}

/// Returns the place in a picture that `text` gives, such as "0.3,0.5"; `nil` if it is none.
private func place(_ text: String) -> Pair<Double, Double>? {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    guard parts.count == 2, let x = parts[0], let y = parts[1], (0...1).contains(x),
        (0...1).contains(y)
    else { return nil }
    return Pair(x, y)
}

struct Freeze: CameraVerb {
    static let defaultCamera = DefaultCamera.back
    static let configuration = CommandConfiguration(
        abstract: "Freeze a camera's picture, or show it live again \(defaultCamera).",
        discussion: """
            The camera stays open, so its live picture returns at once. Privacy unfreezes it, and \
            forgets the picture. Photos and recordings of the camera itself stay live.
            """
    )
    @Argument(help: Switch.help)
    var value: Switch
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch(\CameraInterface.frozen, of: self, "frozen", options)
    }
}

struct SetInk: CameraVerb {
    static let defaultCamera = DefaultCamera.back
    static let configuration = CommandConfiguration(
        commandName: "ink",
        abstract: "Make paper evenly white and ink dark \(defaultCamera)."
    )
    @Argument(help: Switch.help)
    var value: Switch
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch(\CameraInterface.ink, of: self, "ink", options)
    }
}

struct Torch: CameraVerb {
    static let defaultCamera = DefaultCamera.back
    static let configuration = CommandConfiguration(
        abstract: "Turn a camera's light on or off \(defaultCamera)."
    )
    @Argument(help: Switch.help)
    var value: Switch
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch(\CameraInterface.torch, of: self, "torch", options)
    }
}
