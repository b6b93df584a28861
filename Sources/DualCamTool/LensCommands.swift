import ArgumentParser
import Control
import DBusKit
import DualCamCore

struct SelectLens: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lens",
        abstract: "List a camera's lenses, or choose one."
    )
    @Argument(
        help: "The name of a lens; without one, or with list, they are listed.",
        completion: .lenses
    )
    var lens: String?
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: ChangeOptions

    func run() throws {
        let client = try Client()
        let isChoice = lens ?? "list" != "list"
        let role = try camera.role(client, startsService: isChoice)
        if let lens, isChoice {
            try client.call(\CameraInterface.selectLens, at: role.path, lens)
            try options.waitIfAsked(client)
        }
        let list = try client.get(\CameraInterface.lenses, at: role.path, startsService: isChoice)
            .map { (name: $0.first, factor: $0.second) }
        let now = try client.get(\CameraInterface.lens, at: role.path)
        let isFallback = try client.get(\CameraInterface.lensFallback, at: role.path)
        guard isChoice || options.common.json else {
            let width = list.map(\.name.printable.columns).max() ?? 0
            for (name, factor) in list {
                let line = "\(name.printable.padded(to: width))  \(factor.tidy)×"
                Output.write("\(name == now ? "●" : "○") \(line)\n")
            }
            return
        }
        let array = list.map { JSON.object([("name", .string($0)), ("factor", JSON($1))]) }
        options.answer(
            role,
            now,
            [("lens", JSON(now)), ("fallback", JSON(isFallback)), ("lenses", .array(array))]
        )
        if isFallback, !options.common.json {
            Output.complain(
                "dualcamctl: This lens cannot be used now. Another one shows its view, cropped."
            )
        }
    }
}

struct SetZoom: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zoom",
        abstract: "Zoom a camera's picture."
    )
    @Argument(
        help:
            "How far to zoom, such as 2 or 1.5x; with a sign, such as +0.5, relative to the current value."
    )
    var factor: String?
    @Option(
        help: ArgumentHelp(
            "Zoom to this point: 0,0 is the top left, 1,1 the bottom right (default: the last point).",
            valueName: "x,y"
        )
    )
    var at: String?
    @Option(help: ArgumentHelp("Take this many milliseconds (default: 250).", valueName: "ms"))
    var ramp: Int?
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: ChangeOptions

    private func zoom(_ factor: String) throws -> Amount {
        let zoom = Amount(factor, unit: "x") ?? Amount(factor, unit: "×")
        if case .to(let number)? = zoom, number <= 0 {} else if let zoom { return zoom }
        throw ValidationError(
            "Expected a number such as 2 or 1.5x, or a change such as +0.5, not \"\(factor)\"."
        )
    }

    func validate() throws {
        _ = try factor.map(zoom)
        try expect(
            factor != nil || at == nil && ramp == nil,
            "Expected how far to zoom, such as 2 or +0.5."
        )
        _ = try at.map(point)
        let ramp = ramp ?? 0
        try expect((0...60_000).contains(ramp), "Expected 0 to 60000 milliseconds, not \(ramp).")
    }

    func run() throws {
        let client = try Client()
        let role = try camera.role(client, startsService: factor != nil)
        if let factor {
            var with = Options<CameraInterface.Zoom>()
            with.ramp = ramp.map { UInt32($0) }
            with.at = try at.map(point)
            let amount = try zoom(factor)
            let (number, isChange): (Double, Bool) =
                switch amount {
                case .to(let zoom): (zoom, false)
                case .by(let change): (change, true)
                }
            if isChange { with.relative = true }
            try client.call(\CameraInterface.setZoom, at: role.path, number, options: with)
            if isChange { try sayIfItEnds(number, client, role) }
            try options.waitIfAsked(client)
            client.tellObstacles(to: ["Zoom"], role)
        }
        let now = try client.get(\CameraInterface.zoom, at: role.path, startsService: factor != nil)
        options.answer(role, "\(now.tidy)×", [("zoom", JSON(now))])
    }

    private func sayIfItEnds(_ change: Double, _ client: Client, _ role: Role) throws {
        let now = try client.get(\CameraInterface.zoom, at: role.path)
        let range = try client.get(\CameraInterface.zoomRange, at: role.path)
        guard now == (change < 0 ? range.first : range.second) else { return }
        Output.complain("dualcamctl: zoom ends at \(now.tidy)×.")
    }
}

struct SetPerspective: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "perspective",
        abstract: "Show a page or a desk as if seen from straight above.",
        discussion: """
            What is between the four corners is shown in its own shape, as large as fits. Give the \
            corners clockwise from the top left, as x,y: 0,0 is the top left of the whole picture, \
            1,1 the bottom right. A mirrored camera's corners are those of the picture before it is \
            mirrored.

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
    @OptionGroup var options: ChangeOptions

    private func points(_ action: Action) throws -> [Pair<Double, Double>] {
        try expect(
            corners.count == (action == .set ? 4 : 0),
            action == .set
                ? "Expected four corners such as 0.2,0.1, not \(corners.count)."
                : "Expected nothing after \(action.rawValue)."
        )
        return try corners.map(point)
    }

    func validate() throws { if let action { _ = try points(action) } }

    func run() throws {
        let client = try Client()
        let role = try camera.role(client, startsService: action != nil)
        guard let action else { return try show(client, role) }
        if action == .auto { return try find(client, role) }
        try client.set(\CameraInterface.perspective, at: role.path, to: try points(action))
        try options.waitIfAsked(client)
        client.tellObstacles(to: ["Perspective"], role)
        let text = action == .off ? "off" : corners.joined(separator: " ")
        options.answer(role, text, [("perspective", JSON.array(corners.map(JSON.string)))])
    }
}

extension SetPerspective {
    /// Prints the corners as the configuration file has them.
    private func show(_ client: Client, _ role: Role) throws {
        let perspective = \CameraInterface.perspective
        let corners = try client.get(perspective, at: role.path, startsService: false)
        let points = corners.map { "[\(Self.text($0.first)), \(Self.text($0.second))]" }
        options.common.answer(
            [("camera", .string(role.rawValue)), ("perspective", Self.json(corners))],
            text: "perspective = [\(points.joined(separator: ", "))]\n"
        )
    }

    private static func text(_ number: Double) -> String {
        ((number * 1000).rounded() / 1000).tidy
    }

    private static func json(_ corners: [Pair<Double, Double>]) -> JSON {
        .array(corners.map { .string("\(text($0.first)),\(text($0.second))") })
    }

    private func find(_ client: Client, _ role: Role) throws {
        let (corners, certainty) = try client.call(
            \CameraInterface.findPerspective,
            at: role.path,
            within: 20
        )
        try options.waitIfAsked(client)
        options.answer(
            role,
            "found a page (\((certainty * 100).whole) % sure)",
            [("perspective", Self.json(corners)), ("certainty", JSON(certainty))]
        )
    }
}

/// Returns the place in a picture that `text` gives, such as "0.3,0.5".
func point(_ text: String) throws(ValidationError) -> Pair<Double, Double> {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    guard parts.count == 2, let x = parts[0], let y = parts[1], (0...1).contains(x),
        (0...1).contains(y)
    else {
        throw ValidationError(
            "Expected two numbers from 0 to 1, such as 0.3,0.5, not \"\(text)\"."
        )
    }
    return Pair(x, y)
}
