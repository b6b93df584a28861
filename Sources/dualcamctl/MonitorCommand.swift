import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Glibc

extension Verbs {
    static let monitor: List = [Monitor.self]
}

struct Monitor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print one line for each event, until interrupted.",
        discussion: "Does not start the daemon, and goes on when the daemon restarts."
    )
    @OptionGroup var options: CommonOptions

    func run() throws {
        let presence = try Presence()
        presence.onChange = { [self] isPresent in
            show(isPresent ? "appeared" : "vanished", subject: "dualcamd", [])
        }
        presence.onSignal = { [self] in show($0) }
        try presence.run()
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
            show(
                signal.member,
                subject: "cameras",
                [],
                camera: Role(arguments.first?.objectPath)
            )
        default:
            let interface = signal.interface.dropFirst(DualCam.busName.count + 1)
            let members =
                arguments.isEmpty ? [] : [("arguments", JSON.array(arguments.map { JSON($0) }))]
            show(signal.member, subject: String(interface), members, camera: role)
        }
    }

    /// Returns a property's value: as it is on D-Bus, but for people `null` where there is no node.
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
        guard !options.json else {
            var document = [("time", JSON.string(Monitor.moment)), ("event", .string(event))]
            if let camera { document.append(("camera", .string(camera.rawValue))) }
            if let interface {
                document.append(("interface", .string(interface)))
                document.append(("changed", .object(members)))
            } else {
                document += members
            }
            return Output.write(JSON.document(document))
        }
        let time = Colour.grey(Monitor.clock)
        let values = members.map { " \($0)=\($1.text)" }.joined()
        Output.write("\(time)  " + "\(subject.padded(to: 8)) \(event)\(values)".printable + "\n")
    }

    /// The local time of day in the form "14:03:22.123".
    private static var clock: String { text { localtime_r($0, $1) }.time }

    /// The time by RFC 3339, in the form "2026-11-21T14:03:22.123Z".
    private static var moment: String {
        let (date, time) = text { gmtime_r($0, $1) }
        return "\(date)T\(time)Z"
    }

    /// Returns the present date and time as `takeApart` converts them.
    private static func text(
        _ takeApart: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
    ) -> (date: String, time: String) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var parts = tm()
        _ = takeApart(&now.tv_sec, &parts)
        func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let thousandths = String(1000 + now.tv_nsec / 1_000_000).dropFirst()
        return (
            "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))",
            "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(thousandths)"
        )
    }
}
