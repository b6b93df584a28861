import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Glibc
import Platform

struct Monitor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print one line for each event, until interrupted.",
        discussion: "Does not start the daemon, and goes on when the daemon restarts."
    )
    @OptionGroup var options: CommonOptions

    func run() throws {
        try Client().follow { isPresent in
            show(isPresent ? "appeared" : "vanished", subject: "dualcamd", [])
        } onSignal: { signal in
            show(signal)
        }
    }

    private func show(_ signal: Signal) {
        let arguments = signal.arguments
        let role = Role(signal.path)
        switch signal.member {
        case "PropertiesChanged" where arguments.count == 3:
            let interface = arguments[0].string?.dropFirst(DualCam.busName.count + 1) ?? ""
            let changed = (arguments[1].named ?? [:]).sorted { $0.key < $1.key }
            show(
                "changed",
                subject: role?.rawValue ?? String(interface),
                changed.map { ($0.key, json($0.key, $0.value)) },
                camera: role,
                interface: String(interface)
            )
        case "InterfacesAdded", "InterfacesRemoved":
            let camera = Role(arguments.first?.objectPath)
            show(signal.member, subject: "cameras", [], camera: camera)
        default:
            let interface = signal.interface.dropFirst(DualCam.busName.count + 1)
            let members =
                arguments.isEmpty ? [] : [("arguments", JSON.array(arguments.map { JSON($0) }))]
            show(signal.member, subject: String(interface), members, camera: role)
        }
    }

    /// Returns a property's value as on D-Bus, but `null` where there is no node.
    private func json(_ property: String, _ value: Value) -> JSON {
        property == "NodeId" && value == .uint32(.max) && !options.json
            ? .null : JSON(value)
    }

    private func show(
        _ event: String,
        subject: String,
        _ members: [(String, JSON)],
        camera: Role? = nil,
        interface: String? = nil
    ) {
        let now = WallTime.now
        guard !options.json else {
            // By RFC 3339: "2026-11-21T14:03:22.123Z".
            let moment = now.text("%Y-%m-%dT%H:%M:%S", isLocal: false) + ".\(now.milliseconds)Z"
            var document = [("time", JSON.string(moment)), ("event", .string(event))]
            if let camera { document.append(("camera", .string(camera.rawValue))) }
            document +=
                interface.map {
                    [("interface", .string($0)), ("changed", .object(members))]
                } ?? members
            return Output.write(JSON.document(document))
        }
        let time = Colour.grey(now.text("%H:%M:%S") + "." + now.milliseconds)
        let values = members.map { " \($0)=\($1.text)" }.joined()
        Output.write("\(time)  " + "\(subject.padded(to: 8)) \(event)\(values)".printable + "\n")
    }
}
