import Control
import DBusKit

/// The state of the daemon at one moment.
struct Snapshot {
    /// The properties by interface, without the prefix "org.dualcam.DualCam1.".
    private(set) var main: [String: [String: Value]] = [:]
    private(set) var cameras: [CameraRole: [String: [String: Value]]] = [:]
    /// The reply of `Statistics`; `nil` if there is none.
    private(set) var statistics: Value?

    /// The interfaces of the main object. A daemon may have only some of them.
    private static let interfaces = [
        "Stream", "Scene", "Pro", "Orientation", "Capture", "Privacy",
    ]

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
                [.string("\(DualCam.busName).\(name)")],
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
            "Statistics",
            of: "\(DualCam.busName).Stream",
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
            guard let role = CameraRole(path.objectPath),
                case .dictionary(let interfaces, .string, _) = interfaces
            else { continue }
            for (name, properties) in interfaces {
                let name = name.string?.dropFirst(DualCam.busName.count + 1) ?? ""
                cameras[role, default: [:]][String(name)] = properties.named
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
        func main(_ interface: String, _ property: String) -> JSON {
            JSON(snapshot?.main[interface]?[property])
        }
        func role(_ property: String) -> JSON {
            CameraRole(snapshot?.main["Scene"]?[property]?.objectPath).map { .string($0.rawValue) }
                ?? .null
        }
        let node = snapshot?.main["Stream"]?["NodeId"]
        return [
            ("state", snapshot == nil ? .string("off") : main("Stream", "State")),
            ("active", main("Stream", "Active")),
            ("possible", main("Stream", "Possible")),
            ("problems", main("Stream", "Problems")),
            ("daemonVersion", main("Stream", "Version")),
            ("swapped", main("Scene", "Swapped")),
            ("layout", main("Scene", "Layout")),
            ("main", role("Main")),
            ("inset", role("Inset")),
            ("insetVisible", main("Scene", "InsetVisible")),
            ("insetCorner", main("Scene", "InsetCorner")),
            ("insetSize", main("Scene", "InsetSize")),
            ("swapIcon", main("Scene", "SwapIcon")),
            ("pro", main("Pro", "Enabled")),
            ("orientation", main("Orientation", "Current")),
            ("livePhoto", main("Capture", "LivePhoto")),
            ("recording", main("Capture", "Recording")),
            ("recordingSeconds", main("Capture", "RecordingSeconds")),
            ("privacy", main("Privacy", "Enabled")),
            ("consumers", main("Stream", "Consumers")),
            (
                "output",
                .object([
                    ("width", main("Stream", "Width")),
                    ("height", main("Stream", "Height")),
                    ("frameRate", main("Stream", "FrameRate")),
                    ("pixelFormat", main("Stream", "PixelFormat")),
                    ("nodeId", node == .uint32(.max) ? .null : JSON(node)),
                ])
            ),
            ("cameras", cameras(snapshot)),
            ("statistics", JSON(snapshot?.statistics).camelCased),
        ]
    }

    /// Returns the member `cameras`: both cameras, by role.
    static func cameras(_ snapshot: Snapshot?) -> JSON {
        .object(CameraRole.allCases.map { ($0.rawValue, camera(snapshot?.cameras[$0])) })
    }

    private static func camera(_ interfaces: [String: [String: Value]]?) -> JSON {
        let own = [
            "State", "Interruption", "Name", "Source", "Width", "Height", "FrameRate",
            "PixelFormat", "Mirror", "Rotation", "FramesCaptured", "FramesDropped", "Lens", "Zoom",
            "Consumers",
        ]
        let node = interfaces?["Camera"]?["NodeId"]
        let controls = ["Iso", "Shutter", "Focus", "WhiteBalance", "Kelvin", "Compensation"]
        func member(_ interface: String, _ property: String) -> (String, JSON) {
            let key = property.prefix(1).lowercased() + property.dropFirst()
            let value = interfaces?[interface]?[property]
            // 0 means unknown on the bus.
            let isUnknown = ["Iso", "Shutter", "Kelvin"].contains(property) && value?.integer == 0
            return (key, isUnknown ? .null : JSON(value))
        }
        return .object(
            own.map { member("Camera", $0) }
                + [("nodeId", node == .uint32(.max) ? .null : JSON(node))]
                + controls.map { member("Camera.Controls", $0) }
        )
    }
}
