import ArgumentParser
import Control
import DBusKit

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
            try client.call("SelectLens", of: .camera, at: role.path, [.string(lens)])
        }
        let lenses = try client.get("Lenses", of: .camera, at: role.path).array ?? []
        let now = try client.get("Lens", of: .camera, at: role.path)
        let isFallback = try client.get("LensFallback", of: .camera, at: role.path)
        let list = lenses.compactMap { lens -> (name: String, factor: Double)? in
            guard case .structure(let fields) = lens, fields.count == 2,
                let name = fields[0].string, let factor = fields[1].double
            else { return nil }
            return (name, factor)
        }
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
            if isFallback == .boolean(true) {
                Output.complain(
                    "dualcamctl: the lens cannot be used now; another one's picture is cut"
                )
            }
            return
        }
        let width = list.map(\.name.count).max() ?? 0
        for lens in list {
            let mark = lens.name == now.string ? "●" : "○"
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

    private func place() throws -> Value? {
        guard let at else { return nil }
        let parts = at.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let x = parts[0], let y = parts[1],
            (0...1).contains(x), (0...1).contains(y)
        else {
            let expected = "two numbers from 0 to 1, such as 0.3,0.5"
            throw ValidationError("Expected \(expected), not \"\(at)\".")
        }
        return .structure([.double(x), .double(y)])
    }

    func validate() throws {
        _ = try zoom()
        _ = try place()
    }

    func run() throws {
        let client = try Client()
        let role = camera.role ?? .back
        var with: [String: Value] = [:]
        if let ramp { with["ramp-ms"] = .uint32(ramp) }
        if let place = try place() { with["at"] = place }
        try client.call("SetZoom", of: .camera, at: role.path, [.double(try zoom())], options: with)
        guard options.json else { return }
        let now = try client.get("Zoom", of: .camera, at: role.path)
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
        try value.switch("Torch", of: .camera, of: camera.role ?? .back, "torch", options)
    }
}
