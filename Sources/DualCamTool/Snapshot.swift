import Control
import DBusKit
import DualCamCore

/// The state of the daemon at one moment.
struct Snapshot {
    /// The properties of the main object and of the cameras, by interface.
    private var main: [String: [String: Value]] = [:]
    private var cameras: [Role: [String: [String: Value]]] = [:]
    /// The reply of `Statistics`; `nil` if there is none.
    private(set) var statistics: Value?

    init(
        main: [String: [String: Value]] = [:],
        cameras: [Role: [String: [String: Value]]] = [:],
        statistics: Value? = nil
    ) {
        self.main = main
        self.cameras = cameras
        self.statistics = statistics
    }

    /// The interfaces of the main object. A daemon may have only some of them.
    private static let interfaces = [
        StreamInterface.name, SceneInterface.name, ProInterface.name, OrientationInterface.name,
        CaptureInterface.name, PrivacyInterface.name, ScenesInterface.name,
    ]

    /// The properties of an interface of the main object.
    func values<Members: InterfaceMembers>(of interface: Members.Type) -> PropertyValues<Members> {
        PropertyValues(main[Members.name] ?? [:])
    }

    /// A property of the main object; `nil` if the daemon has none of this type.
    subscript<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>
    ) -> Content? {
        values(of: Members.self)[property]
    }

    /// A property of a camera; `nil` if the daemon has none of this type.
    subscript<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        of role: Role
    ) -> Content? {
        PropertyValues<Members>(cameras[role]?[Members.name] ?? [:])[property]
    }

    /// The role of the main picture's camera; `nil` if the daemon has no scene.
    var mainRole: Role? { Role(self[\SceneInterface.main]) }
    /// The role of the inset's camera; `nil` if the daemon has no scene.
    var insetRole: Role? { Role(self[\SceneInterface.inset]) }

    /// Reads the state of the daemon without starting it. `completion` is called once, later.
    static func read(
        from connection: BusConnection,
        completion: @escaping (Result<Snapshot, DBusError>) -> Void
    ) throws(DBusError) {
        let reading = Reading(remaining: interfaces.count + 2, completion: completion)
        for name in interfaces {
            let call = MethodCall(
                "GetAll",
                of: "org.freedesktop.DBus.Properties",
                at: DualCam.path,
                [.string(name)],
                startsService: false
            )
            try connection.call(call) { answer in
                reading.take(answer) { $0.main[name] = $1.named }
            }
        }
        let call = MethodCall(
            "GetManagedObjects",
            of: "org.freedesktop.DBus.ObjectManager",
            at: DualCam.path,
            startsService: false
        )
        try connection.call(call) { answer in
            reading.take(answer) { $0.take(objects: $1) }
        }
        let statistics = MethodCall(
            StreamInterface.members.statistics.name,
            of: StreamInterface.name,
            at: DualCam.path,
            [.named([:])],
            startsService: false
        )
        try connection.call(statistics) { answer in
            reading.take(answer) { $0.statistics = $1 }
        }
    }

    private mutating func take(objects: Value) {
        guard case .dictionary(let objects, .objectPath, _) = objects else { return }
        for (path, interfaces) in objects {
            guard let role = Role(path.objectPath),
                case .dictionary(let interfaces, .string, _) = interfaces
            else { continue }
            for (name, properties) in interfaces {
                cameras[role, default: [:]][name.string ?? ""] = properties.named
            }
        }
    }

    /// Collects the replies of one reading.
    private final class Reading {
        private var snapshot = Snapshot()
        private var remaining: Int
        private let completion: (Result<Snapshot, DBusError>) -> Void

        init(remaining: Int, completion: @escaping (Result<Snapshot, DBusError>) -> Void) {
            self.remaining = remaining
            self.completion = completion
        }

        func take(_ answer: Result<[Value], DBusError>, _ store: (inout Snapshot, Value) -> Void) {
            guard remaining > 0 else { return }
            remaining -= 1
            switch answer {
            case .success(let values):
                if let value = values.first { store(&snapshot, value) }
            case .failure(let error)
            where error.name.hasSuffix(".UnknownInterface")
                || error.name.hasSuffix(".UnknownMethod"):
                break
            case .failure(let error):
                remaining = 0
                return completion(.failure(error))
            }
            if remaining == 0 { completion(.success(snapshot)) }
        }
    }

    // MARK: - As JSON

    /// Returns the members of `status --json`: the properties. Without a daemon all but `state` are
    /// null.
    static func members(_ snapshot: Snapshot?) -> [(String, JSON)] {
        func own(_ interface: Interface, _ names: [String: String?] = [:]) -> [(String, JSON)] {
            members(snapshot?.main[interface.name], of: interface, names)
        }
        let output = ["Width", "Height", "FrameRate", "PixelFormat", "NodeId"]
        let hidden = ["Devices", "ConfigurationFile", "Viewers"] + output
        var stream: [String: String?] = ["Version": "daemonVersion"]
        for name in hidden { stream[name] = .some(nil) }
        var all =
            own(.stream, stream) + own(.scene, ["HudConsumer": nil, "Layouts": nil, "Moving": nil])
        all += own(.scenes, ["Names": nil, "Current": "scene"])
        all += own(.pro, ["Enabled": "pro"])
        all += own(.orientation, ["Mode": "orientationMode", "Current": "orientation"])
        all += own(.capture) + own(.privacy, ["Enabled": "privacy"])
        if snapshot == nil { all[0].1 = .string("off") }
        return all + [
            ("viewers", viewers(snapshot?[\StreamInterface.viewers])),
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

    /// Returns the programs that take the stream; null for `nil`.
    private static func viewers(_ viewers: [[String: Value]]?) -> JSON {
        guard let viewers else { return .null }
        let names = ["name", "application-id", "pid", "since", "through"]
        return .array(
            viewers.map { viewer in .object(names.map { ($0, JSON(viewer[$0])) }).camelCased }
        )
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
