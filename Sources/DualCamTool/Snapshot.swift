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

    /// Creates a snapshot of these properties by interface, those of each camera apart.
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

    /// Creates the state of a daemon with these properties of the stream, and no others.
    init(stream: [String: Value]) { main[StreamInterface.name] = stream }

    private init() {}

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

    /// Returns the members of `status --json`. Without a daemon all but `state` are null.
    static func members(_ snapshot: Snapshot?) -> [(String, JSON)] {
        func member<Members: InterfaceMembers, Content>(
            _ property: KeyPath<Members, PropertyMember<Content>>
        ) -> JSON {
            JSON(snapshot?[property])
        }
        func role(_ role: Role?) -> JSON { role.map { .string($0.rawValue) } ?? .null }
        return [
            ("state", snapshot == nil ? .string("off") : member(\StreamInterface.state)),
            ("active", member(\StreamInterface.active)),
            ("possible", member(\StreamInterface.possible)),
            ("problems", member(\StreamInterface.problems)),
            ("daemonVersion", member(\StreamInterface.version)),
            ("swapped", member(\SceneInterface.swapped)),
            ("layout", member(\SceneInterface.layout)),
            ("main", role(snapshot?.mainRole)),
            ("inset", role(snapshot?.insetRole)),
            ("insetVisible", member(\SceneInterface.insetVisible)),
            ("insetCorner", member(\SceneInterface.insetCorner)),
            ("insetSize", member(\SceneInterface.insetSize)),
            ("swapIcon", member(\SceneInterface.swapIcon)),
            ("hud", member(\SceneInterface.hud)),
            ("scene", member(\ScenesInterface.current)),
            ("title", member(\SceneInterface.title)),
            ("titleCorner", member(\SceneInterface.titleCorner)),
            ("pro", member(\ProInterface.enabled)),
            ("dial", member(\ProInterface.dial)),
            ("orientation", member(\OrientationInterface.current)),
            ("orientationMode", member(\OrientationInterface.mode)),
            ("livePhoto", member(\CaptureInterface.livePhoto)),
            ("recording", member(\CaptureInterface.recording)),
            ("recordingSeconds", member(\CaptureInterface.recordingSeconds)),
            ("privacy", member(\PrivacyInterface.enabled)),
            ("consumers", member(\StreamInterface.consumers)),
            ("viewers", viewers(snapshot?[\StreamInterface.viewers])),
            (
                "output",
                .object([
                    ("width", member(\StreamInterface.width)),
                    ("height", member(\StreamInterface.height)),
                    ("frameRate", member(\StreamInterface.frameRate)),
                    ("pixelFormat", member(\StreamInterface.pixelFormat)),
                    ("nodeId", node(snapshot?[\StreamInterface.nodeID])),
                ])
            ),
            ("cameras", cameras(snapshot)),
            ("statistics", JSON(snapshot?.statistics).camelCased),
        ]
    }

    /// Returns the programs that take the stream; null for `nil`.
    private static func viewers(_ viewers: [[String: Value]]?) -> JSON {
        guard let viewers else { return .null }
        let names = ["name", "application-id", "pid", "since", "through"]
        return .array(
            viewers.map { viewer in .object(names.map { ($0, JSON(viewer[$0])) }).camelCased }
        )
    }

    /// Returns the JSON form of a NodeId, whose largest value means that there is none.
    private static func node(_ id: UInt32?) -> JSON { id == .max ? .null : JSON(id) }

    /// Returns the member `cameras`: both cameras, by role.
    static func cameras(_ snapshot: Snapshot?) -> JSON {
        .object(Role.allCases.map { ($0.rawValue, camera(snapshot, $0)) })
    }

    private static func camera(_ snapshot: Snapshot?, _ role: Role) -> JSON {
        func member<Members: InterfaceMembers, Content>(
            _ property: KeyPath<Members, PropertyMember<Content>>
        ) -> (String, JSON) {
            (Members.members[keyPath: property].key, JSON(snapshot?[property, of: role]))
        }
        /// A number of which 0 means unknown on the bus.
        func known<Members: InterfaceMembers, Number: DBusType & FixedWidthInteger>(
            _ property: KeyPath<Members, PropertyMember<Number>>
        ) -> (String, JSON) {
            let (key, value) = member(property)
            return (key, snapshot?[property, of: role] == 0 ? .null : value)
        }
        return .object([
            member(\CameraInterface.state), member(\CameraInterface.interruption),
            member(\CameraInterface.name), member(\CameraInterface.source),
            member(\CameraInterface.width), member(\CameraInterface.height),
            member(\CameraInterface.frameRate), member(\CameraInterface.pixelFormat),
            member(\CameraInterface.mirror), member(\CameraInterface.rotation),
            member(\CameraInterface.framesCaptured), member(\CameraInterface.framesDropped),
            known(\CameraInterface.delay),
            member(\CameraInterface.lens), member(\CameraInterface.zoom),
            member(\CameraInterface.perspective), member(\CameraInterface.frozen),
            member(\CameraInterface.ink), member(\CameraInterface.torch),
            member(\ControlsInterface.locked),
            member(\CameraInterface.consumers),
            ("nodeId", node(snapshot?[\CameraInterface.nodeID, of: role])),
            known(\ControlsInterface.iso), member(\ControlsInterface.isoAuto),
            member(\ControlsInterface.isoApproximate),
            known(\ControlsInterface.shutter), member(\ControlsInterface.exposureAuto),
            member(\ControlsInterface.focus), member(\ControlsInterface.focusAuto),
            member(\ControlsInterface.whiteBalance), known(\ControlsInterface.kelvin),
            member(\ControlsInterface.compensation),
        ])
    }
}
