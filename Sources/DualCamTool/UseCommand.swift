import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Platform

struct UseDevice: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use",
        abstract: "Choose the device of a camera, now and after restarts.",
        discussion: """
            Writes it into your configuration file, keeping its comments and order. If the other \
            camera is configured to be that device, the two swap. dualcamctl cameras --all lists the \
            devices.
            """
    )
    @Argument(help: "The camera to choose a device for.")
    var role: Role?
    @Argument(
        help: "Any name of the device, its number, or a part of its name; or auto.",
        completion: .devices
    )
    var device: String?
    @Flag(help: "Restore the configuration file as it was before the last use.")
    var undo = false
    @OptionGroup var options: CommonOptions

    func validate() throws {
        try expect(
            undo ? role == nil : (role == nil) == (device == nil),
            "Expected back or front and a device, or --undo."
        )
    }

    func run() throws {
        let client = try Client()
        let isChange = undo || role != nil
        func sources() throws -> [Role: String] {
            let source = \CameraInterface.source
            return Dictionary(
                uniqueKeysWithValues: try Role.allCases.map {
                    ($0, try client.get(source, at: $0.path, startsService: isChange))
                }
            )
        }
        let before = try sources()
        if let role, let device {
            // The daemon may have another working directory.
            let source =
                device.hasPrefix("file:")
                ? "file:" + absolutePath(String(device.dropFirst(5))) : device
            try client.call(\CameraInterface.use, at: role.path, source)
        } else if undo {
            try client.call(\StreamInterface.undoUse)
        }
        let after = try sources()
        if options.json {
            let members = Role.allCases.map { ($0.rawValue, JSON(after[$0])) }
            return Output.write(JSON.document(members))
        }
        // Also the camera that was asked for: "Desk" may be short for something else.
        for other in Role.allCases
        where !isChange || other == role || before[other] != after[other] {
            let name = try client.get(\CameraInterface.name, at: other.path)
            let source = after[other] ?? ""
            let text = name.isEmpty ? source : "\(name) (\(source))"
            let lack = try client.get(\CameraInterface.interruption, at: other.path)
            let isAway = ["not-found", "unplugged"].contains(lack)
            guard isChange else {
                Output.write("\(other.rawValue): \(text.printable)\n")
                continue
            }
            Output.complain(
                "The \(other.rawValue) camera is now \(text.printable)."
                    + (isAway ? " It is not there now." : "")
            )
        }
    }
}
