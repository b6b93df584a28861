import ArgumentParser
import Control
import DBusKit
import DualCamCore

struct Desk: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a page: straight, evenly white, and without pumping.",
        discussion: """
            Does what `perspective auto`, `ink on` and `lock` do, as far as the camera can, and says \
            what it could not. A closed camera opens for a moment. off takes all of it back.
            """
    )
    @Argument(
        help: "on, off or toggle.",
        completion: .list(Switch.allCases.map(\.rawValue))
    )
    var value: Switch?
    @OptionGroup var camera: CameraOption
    @OptionGroup var options: ChangeOptions

    /// The seconds that a camera may take to open and to find its exposure.
    private static let timeout = 20.0

    func run() throws {
        let client = try Client()
        let role = try camera.role(client, startsService: value != nil)
        let path = role.path
        func isInk() throws(Failure) -> Bool {
            try client.get(\CameraInterface.ink, at: path, startsService: value != nil)
        }
        if let value {
            var isOn = value == .on
            if value == .toggle {
                let ink = CameraInterface.members.ink.name
                let step = (CameraInterface.name, ink, Variant(.string("toggle")))
                isOn =
                    try client.call(\StepsInterface.step, at: path, step).0.value == .boolean(true)
            }
            // One is enough for the command to have done something.
            var failures: [Failure] = []
            func attempt(_ step: () throws(Failure) -> Void) {
                do throws(Failure) { try step() } catch { failures.append(error) }
            }
            attempt { () throws(Failure) in
                if isOn {
                    try client.call(
                        \CameraInterface.findPerspective,
                        at: path,
                        within: Self.timeout
                    )
                } else {
                    try client.set(\CameraInterface.perspective, at: path, to: [])
                }
            }
            if value != .toggle {
                attempt { () throws(Failure) in
                    try client.set(\CameraInterface.ink, at: path, to: isOn)
                }
            }
            attempt { () throws(Failure) in
                if isOn {
                    try client.call(\ControlsInterface.lock, at: path, [], within: Self.timeout)
                } else {
                    try client.call(\ControlsInterface.unlock, at: path)
                }
            }
            if let failure = failures.last, failures.count == 3 { throw failure }
            for failure in failures { Output.complain("dualcamctl: \(failure.message.printable)") }
            try options.waitIfAsked(client)
        }
        let locked = try client.get(
            \ControlsInterface.locked,
            at: path,
            startsService: value != nil
        )
        let corners = try client.get(\CameraInterface.perspective, at: path)
        let (isStraight, isInk) = (!corners.isEmpty, try isInk())
        var parts = isStraight ? ["straight"] : []
        if isInk { parts.append("ink") }
        if !locked.isEmpty { parts.append(locked.joined(separator: ", ") + " locked") }
        options.answer(
            role,
            parts.isEmpty ? "off" : parts.joined(separator: " · "),
            [
                ("straight", .boolean(isStraight)), ("ink", .boolean(isInk)),
                ("locked", .array(locked.map(JSON.string))),
            ]
        )
    }
}
