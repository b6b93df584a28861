import ArgumentParser
import Control
import DBusKit
import DualCamCore

struct SelectLens: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lens",
        abstract:
            "List a camera's lenses, or choose one (default: the main camera)."
    )
    @Argument(help: "The name of a lens, or \"list\" to list them.")
    var lens: String
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        let client = try Client()
        let role = try camera.role(client)
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
                    "dualcamctl: the lens cannot be used now; another one's picture is cut"
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

struct SetZoom: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zoom",
        abstract: "Zoom a camera's picture (default: the back camera)."
    )
    @Argument(help: "How far to zoom, such as 2 or 1.5x.")
    var factor: String
    @Option(
        help: ArgumentHelp(
            "Zoom to this point: 0,0 is the top left, 1,1 the bottom right; by default the last.",
            valueName: "x,y"
        )
    )
    var at: String?
    @Option(help: ArgumentHelp("Take this many milliseconds (default: 250).", valueName: "ms"))
    var ramp: UInt32?
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func zoom() throws -> Double {
        let text = factor.hasSuffix("x") || factor.hasSuffix("×") ? factor.dropLast() : factor[...]
        guard let zoom = Double(text), zoom > 0, zoom.isFinite else {
            throw ValidationError("Expected a number such as 2 or 1.5x, not \"\(factor)\".")
        }
        return zoom
    }

    private func place() throws -> Pair<Double, Double>? {
        guard let at else { return nil }
        let parts = at.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let x = parts[0], let y = parts[1],
            (0...1).contains(x), (0...1).contains(y)
        else {
            let expected = "two numbers from 0 to 1, such as 0.3,0.5"
            throw ValidationError("Expected \(expected), not \"\(at)\".")
        }
        return Pair(x, y)
    }

    func validate() throws {
        _ = try zoom()
        _ = try place()
    }

    func run() throws {
        let client = try Client()
        let role = camera.role ?? .back
        var with = Options<CameraInterface.Zoom>()
        with.ramp = ramp
        with.at = try place()
        try client.call(\CameraInterface.setZoom, at: role.path, try zoom(), options: with)
        guard options.json else { return }
        let now = try client.get(\CameraInterface.zoom, at: role.path)
        Output.write(JSON.document([("camera", .string(role.rawValue)), ("zoom", JSON(now))]))
    }
}

struct Torch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Turn a camera's light on or off (default: the back camera)."
    )
    @Argument(help: "Turn it on or off; toggle switches from one to the other.")
    var value: Switch
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    func run() throws {
        try value.switch(\CameraInterface.torch, of: camera.role ?? .back, "torch", options)
    }
}
