import Control
import DBusKit
import DualCamCore

/// The state of the daemon at one moment.
struct Snapshot {
    /// The properties of the main object and of the cameras, by interface.
    var main: [String: [String: Value]] = [:]
    var cameras: [Role: [String: [String: Value]]] = [:]
    /// The reply of `Statistics`; `nil` if there is none.
    var statistics: Value?

    /// The properties of an interface of the main object, or of a camera.
    func values<Members: InterfaceMembers>(
        of interface: Members.Type,
        _ role: Role? = nil
    ) -> PropertyValues<Members> {
        PropertyValues((role.map { cameras[$0] ?? [:] } ?? main)[Members.name] ?? [:])
    }

    /// A property of the main object; `nil` if the daemon has none of this type.
    subscript<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>
    ) -> Content? {
        values(of: Members.self)[property]
    }

    /// The roles of the pictures' cameras; `nil` if the daemon has no scene.
    var mainRole: Role? { Role(self[\SceneInterface.main]) }
    var insetRole: Role? { Role(self[\SceneInterface.inset]) }

    /// Reads the state of the daemon without starting it. `completion` is called once, later.
    static func read(
        from connection: BusConnection,
        completion: @escaping (Result<Snapshot, DBusError>) -> Void
    ) {
        var (snapshot, failure, remaining) = (Snapshot(), DBusError?.none, 1)
        func conclude() {
            remaining -= 1
            if remaining == 0 { completion(failure.map { .failure($0) } ?? .success(snapshot)) }
        }
        func ask(
            _ member: String,
            of interface: String,
            _ arguments: [Value] = [],
            store: @escaping (inout Snapshot, Value) -> Void
        ) {
            let call = MethodCall(
                member,
                of: interface,
                at: DualCam.path,
                arguments,
                startsService: false
            )
            remaining += 1
            connection.ask(call) { answer in
                switch answer {
                case .success(let values): values.first.map { store(&snapshot, $0) }
                // A daemon of another version may have only some of them.
                case .failure(let error)
                where error.name.hasSuffix(".UnknownInterface")
                    || error.name.hasSuffix(".UnknownMethod"):
                    break
                case .failure(let error): failure = failure ?? error
                }
                conclude()
            }
        }
        let interfaces: [Interface] = [
            .stream, .scene, .pro, .orientation, .capture, .privacy, .phone, .scenes,
        ]
        for name in interfaces.map(\.name) {
            ask("GetAll", of: "org.freedesktop.DBus.Properties", [.string(name)]) {
                $0.main[name] = $1.named
            }
        }
        ask("GetManagedObjects", of: "org.freedesktop.DBus.ObjectManager") { snapshot, value in
            for role in Role.allCases { snapshot.cameras[role] = value.objects?[role.path] }
        }
        ask("Statistics", of: StreamInterface.name, [.named([:])]) { $0.statistics = $1 }
        conclude()
    }

    // MARK: - As JSON

    /// Returns the members of `status --json`: the properties. Without a daemon all but `state` are
    /// null.
    static func members(_ snapshot: Snapshot?) -> [(String, JSON)] {
        func own(_ interface: Interface, _ names: [String: String?] = [:]) -> [(String, JSON)] {
            members(snapshot?.main[interface.name], of: interface, names)
        }
        let output = ["Width", "Height", "FrameRate", "PixelFormat", "NodeId"]
        var stream: [String: String?] = ["Version": "daemonVersion"]
        for name in ["Devices", "ConfigurationFile", "Viewers"] + output {
            stream[name] = .some(nil)
        }
        let scene = ["HudConsumer", "Layouts", "InsetRoom", "Moving"].map { ($0, String?.none) }
        var all = own(.stream, stream) + own(.scene, Dictionary(uniqueKeysWithValues: scene))
        all += own(.scenes, ["Names": nil, "Current": "scene"])
        all += own(.pro, ["Enabled": "pro"])
        all += own(.orientation, ["Mode": "orientationMode", "Current": "orientation"])
        all += own(.capture) + own(.privacy, ["Enabled": "privacy"])
        all += own(.phone, ["State": nil, "Paired": nil])
        if snapshot == nil { all[0].1 = .string("off") }
        let names = ["name", "application-id", "pid", "since", "through"]
        let viewers = snapshot?[\StreamInterface.viewers].map { viewers in
            JSON.array(
                viewers.map { viewer in .object(names.map { ($0, JSON(viewer[$0])) }).camelCased }
            )
        }
        return all + [
            ("viewers", viewers ?? .null),
            ("output", .object(own(.stream).filter { output.map(\.memberKey).contains($0.0) })),
            ("cameras", cameras(snapshot)),
            ("statistics", JSON(snapshot?.statistics).camelCased),
        ]
    }

    /// Returns `values` of `interface` under their own keys, those of `names`, or not at all.
    private static func members(
        _ values: [String: Value]?,
        of interface: Interface,
        _ names: [String: String?] = [:]
    ) -> [(String, JSON)] {
        interface.properties.compactMap { property in
            guard let key = names[property.name, default: property.name.memberKey] else {
                return nil
            }
            let value = values?[property.name]
            // The largest number of a node means that there is none, and 0 that these are unknown.
            let isUnknown =
                property.name == "NodeId" && value == .uint32(.max)
                || ["Iso", "Shutter", "Kelvin", "Delay"].contains(property.name)
                    && value?.integer == 0
            return (key, isUnknown ? .null : .place(value))
        }
    }

    /// Returns the member `cameras`: both cameras, by role.
    static func cameras(_ snapshot: Snapshot?) -> JSON {
        .object(
            Role.allCases.map { role in
                let values = snapshot?.cameras[role]
                let all = [Interface.camera, .controls].flatMap { interface in
                    members(values?[interface.name], of: interface)
                }
                return (role.rawValue, .object(all))
            }
        )
    }
}
