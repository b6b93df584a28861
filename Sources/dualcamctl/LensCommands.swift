import ArgumentParser
import Control
import DBusKit

struct SetZoom: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zoom",
        abstract: "Magnify a camera's picture, the back one's unless told otherwise."
    )
    @Argument(help: "How much, such as 2 or 1.5x.")
    var factor: String
    @Option(
        help: ArgumentHelp(
            "Which place comes to the middle: 0,0 is the top left, 1,1 the bottom right.",
            valueName: "x,y"
        )
    )
    var at: String?
    @Option(help: ArgumentHelp("Within how many milliseconds.", valueName: "ms"))
    var ramp: UInt32?
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: CommonOptions

    private func zoom() throws -> Double {
        let text = factor.hasSuffix("x") || factor.hasSuffix("×") ? factor.dropLast() : factor[...]
        guard let zoom = Double(text), zoom > 0, zoom.isFinite else {
            throw ValidationError("The zoom is a number such as 2 or 1.5x.")
        }
        return zoom
    }

    private func place() throws -> Value? {
        guard let at else { return nil }
        let parts = at.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let x = parts[0], let y = parts[1],
            (0...1).contains(x), (0...1).contains(y)
        else { throw ValidationError("The place is two numbers from 0 to 1, such as 0.3,0.5.") }
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
