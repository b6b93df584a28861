import Frames
import Testing

@testable import DualCamCore

@Suite struct AssignmentTests {
    private static func device(
        _ number: Int,
        _ name: String,
        _ identity: String,
        aliases: Set<String> = [],
        isFixed: Bool = false,
        _ orientation: CameraDevice.Orientation? = nil,
        _ refusal: AutoRefusal? = nil
    ) -> CameraDevice {
        CameraDevice(
            path: "/dev/video\(number)",
            name: name,
            identity: "v4l2:" + identity,
            aliases: aliases,
            orientation: orientation,
            isFixed: isFixed,
            refusal: refusal
        )
    }

    private static let desk = device(0, "Desk", "a-desk")
    private static let doorAliases: Set = ["usb-2", "/dev/v4l/by-id/b-door"]
    private static let door = device(2, "Door", "b-door", aliases: doorAliases)
    private static let lid = device(4, "Lid", "0-lid", isFixed: true)
    private static let face = device(6, "Face", "z-face", .front)
    private static let rear = device(8, "Rear", "z-rear", .back)
    private static let infrared = device(10, "IR", "0-infrared", isFixed: true, nil, .infrared)

    /// Like some tablets' cameras: first by identity, but they look the wrong way, or see no
    /// colour.
    private static let selfie = device(12, "Selfie", "0-selfie", .front)
    private static let world = device(14, "World", "0-world", .back)
    private static let depth = device(16, "Depth", "0-depth", .front, .depth)

    typealias Row = (
        devices: [CameraDevice], back: SourceSpecification, front: SourceSpecification,
        expected: [String?]
    )

    private static let rows: [Row] = [
        // No camera, or one alone.
        ([], .auto, .auto, [nil, nil]),
        ([desk], .auto, .auto, ["Desk", nil]),
        ([lid], .auto, .auto, [nil, "Lid"]),
        ([face], .auto, .auto, [nil, "Face"]),
        ([rear], .auto, .auto, ["Rear", nil]),
        ([infrared], .auto, .auto, [nil, nil]),
        ([infrared], .v4l2("0-infrared"), .auto, ["IR", nil]),
        // Two, in any order.
        ([desk, door], .auto, .auto, ["Desk", "Door"]),
        ([door, desk], .auto, .auto, ["Desk", "Door"]),
        ([desk, lid], .auto, .auto, ["Desk", "Lid"]),
        ([rear, face], .auto, .auto, ["Rear", "Face"]),
        ([face, desk], .auto, .auto, ["Desk", "Face"]),
        ([rear, desk], .auto, .auto, ["Rear", "Desk"]),
        ([infrared, lid, desk], .auto, .auto, ["Desk", "Lid"]),
        // The driver's statement counts for more than the connection.
        ([lid, face, desk], .auto, .auto, ["Desk", "Face"]),
        // What looks the other way is the last resort of a role; what sees no colour is none.
        ([selfie, desk], .auto, .test(nil), ["Desk", nil]),
        ([lid, desk], .auto, .test(nil), ["Desk", nil]),
        ([selfie], .auto, .test(nil), ["Selfie", nil]),
        ([world, desk], .auto, .auto, ["World", "Desk"]),
        ([depth, desk], .test(nil), .auto, [nil, "Desk"]),
        ([depth, lid, desk], .auto, .auto, ["Desk", "Lid"]),
        ([infrared, desk], .auto, .auto, ["Desk", nil]),
        // One by name.
        ([desk, door], .v4l2("b-door"), .auto, ["Door", "Desk"]),
        ([desk, door], .auto, .v4l2("a-desk"), ["Door", "Desk"]),
        ([desk, door], .v4l2("usb-2"), .auto, ["Door", "Desk"]),
        ([desk, door], .v4l2("/dev/video2"), .auto, ["Door", "Desk"]),
        ([desk, door], .v4l2("/dev/v4l/by-id/b-door"), .auto, ["Door", "Desk"]),
        ([lid, desk], .v4l2("0-lid"), .auto, ["Lid", "Desk"]),
        ([desk], .v4l2("nobody"), .auto, [nil, "Desk"]),
        // Never the same camera twice.
        ([desk, door], .v4l2("a-desk"), .v4l2("/dev/video0"), ["Desk", nil]),
        ([desk], .v4l2("a-desk"), .auto, ["Desk", nil]),
        // A role with a source of another kind needs no device.
        ([desk, lid], .test(nil), .auto, [nil, "Lid"]),
        ([desk], .test("bars"), .auto, [nil, "Desk"]),
        ([lid], .auto, .file("/x.jpg"), ["Lid", nil]),
        ([desk, door], .test(nil), .test(nil), [nil, nil]),
    ]

    @Test(arguments: rows) func `every device finds its role`(row: Row) {
        let found = assign(row.devices, back: row.back, front: row.front)
        #expect([found.back?.name, found.front?.name] == row.expected)
    }

    @Test("no camera changes its role because another one comes or goes")
    func holding() {
        func names(
            _ devices: [CameraDevice],
            _ back: CameraDevice?,
            _ front: CameraDevice?
        )
            -> [String?]
        {
            let holding = PerRole(back: back?.identity, front: front?.identity)
            let found = assign(devices, back: .auto, front: .auto, holding: holding)
            return [found.back?.name, found.front?.name]
        }
        #expect(names([Self.desk, Self.door], nil, nil) == ["Desk", "Door"])
        #expect(names([Self.door], Self.desk, Self.door) == [nil, "Door"], "Desk was pulled out")
        #expect(names([Self.desk, Self.door], Self.desk, Self.door) == ["Desk", "Door"])
        #expect(names([Self.desk, Self.door], Self.door, Self.desk) == ["Door", "Desk"])
        let lens = CameraDevice(path: "/dev/video8", name: "Lens", identity: "v4l2:c-lens")
        #expect(names([Self.door, lens], Self.desk, Self.door) == ["Lens", "Door"], "a new one")
        let (face, rear) = (Self.face, Self.rear)
        #expect(names([face, Self.desk], face, Self.desk) == ["Face", "Desk"], "held, not faced")
        #expect(names([rear, face], face, rear) == ["Face", "Rear"], "held, not faced")
    }

    private static func camera(
        _ name: String,
        _ width: Int,
        rate: Double = 30,
        isFixed: Bool = false,
        isRelay: Bool = false
    ) -> CameraDevice {
        CameraDevice(
            path: "/dev/\(name)",
            name: name,
            identity: "v4l2:\(name)",
            isFixed: isFixed,
            isRelay: isRelay,
            bestMode: CaptureMode(
                size: Size(width: width, height: width * 9 / 16),
                rate: rate,
                format: .mjpg
            )
        )
    }

    private static func names(
        _ devices: [CameraDevice],
        holding back: String? = nil,
        _ front: String? = nil,
        by policy: AutoPolicy = AutoPolicy()
    ) -> [String?] {
        let holding = PerRole(back: back.map { "v4l2:\($0)" }, front: front.map { "v4l2:\($0)" })
        let found = assign(devices, back: .auto, front: .auto, holding: holding, by: policy)
        return [found.back?.name, found.front?.name]
    }

    @Test func `a role yields to a better device while nobody looks, and never to an equal one`() {
        let (small, large) = (Self.camera("a", 640), Self.camera("b", 1920))
        let (lid, twin) = (Self.camera("lid", 1280, isFixed: true), Self.camera("0", 640))
        let idle = AutoPolicy(isIdle: true)
        #expect(Self.names([small, large, lid], holding: "a", "lid") == ["a", "lid"])
        #expect(Self.names([small, large, lid], holding: "a", "lid", by: idle) == ["b", "lid"])
        #expect(Self.names([small, twin, lid], holding: "a", "lid", by: idle) == ["a", "lid"])
        #expect(Self.names([small, large, lid], holding: "a", "b", by: idle) == ["b", "lid"])
        let phone = Self.camera("phone", 3840, isRelay: true)
        #expect(Self.names([phone, small, lid], holding: "phone", "lid") == ["phone", "lid"])
        #expect(
            Self.names([phone, small, lid], holding: "phone", "lid", by: idle) == ["a", "lid"]
        )
        #expect(Self.names([phone, lid]) == ["phone", "lid"])
        let found = assign(
            [small, large],
            back: .v4l2("a"),
            front: .auto,
            holding: PerRole(back: "v4l2:a", front: nil),
            by: idle
        )
        #expect(found.back?.name == "a", "it was named")
    }

    @Test func `the better picture comes first, then the faster one`() {
        let cameras = [Self.camera("a", 1280), Self.camera("b", 1920), Self.camera("c", 640)]
        #expect(Self.names(cameras) == ["b", "a"])
        #expect(
            Self.names([Self.camera("a", 640), Self.camera("b", 640, rate: 60)]) == ["b", "a"]
        )
    }

    @Test("what is ignored is never taken by auto, under any of its names, and by name it is")
    func ignoring() {
        for name in ["b-door", "usb-2", "/dev/video2", "/dev/v4l/by-id/b-door"] {
            let policy = AutoPolicy(ignored: [name])
            #expect(policy.refusal(of: Self.door) == .ignored)
            let found = assign([Self.desk, Self.door], back: .auto, front: .auto, by: policy)
            #expect(found.back?.name == "Desk" && found.front == nil)
            let named = assign([Self.door], back: .v4l2("b-door"), front: .auto, by: policy)
            #expect(named.back?.name == "Door")
            let held = assign(
                [Self.door],
                back: .auto,
                front: .auto,
                holding: PerRole(back: "v4l2:b-door", front: nil),
                by: policy
            )
            #expect(held.back == nil)
        }
    }

    @Test("a device that fails is left for another one, and kept where there is none")
    func failing() {
        let policy = AutoPolicy(failing: ["v4l2:b"])
        let (small, large) = (Self.camera("a", 640), Self.camera("b", 1920))
        let phone = Self.camera("phone", 640, isRelay: true)
        #expect(Self.names([small, large], holding: "b", nil, by: policy) == ["a", "b"])
        #expect(Self.names([large], holding: "b", nil, by: policy) == ["b", nil])
        #expect(Self.names([large, phone], holding: "b", nil, by: policy) == ["phone", "b"])
    }

    @Test("each device is told why it was chosen or not")
    func reasons() {
        let (small, large) = (Self.camera("a", 640), Self.camera("b", 1920))
        let lid = Self.camera("lid", 1280, isFixed: true)
        var (denied, silent) = (lid, lid)
        (denied.answer, denied.bestMode) = (.denied, nil)
        (silent.answer, silent.bestMode) = (.missing, nil)
        func reasons(
            _ devices: [CameraDevice],
            back: SourceSpecification = .auto,
            front: SourceSpecification = .auto,
            holding: String? = nil,
            _ policy: AutoPolicy = AutoPolicy()
        ) -> [String] {
            let holding = PerRole(back: holding.map { "v4l2:\($0)" }, front: nil)
            return assign(devices, back: back, front: front, holding: holding, by: policy)
                .standings.map(\.reason)
        }
        let (best, front) = (
            "chosen as back: external, 1920x1080 at 30", "chosen as front: built in, 1280x720 at 30"
        )
        let (second, named) = ("a better camera is chosen", "the back camera, as configured")
        let failed = "failed again and again; to try it again, plug it in again"
        #expect(reasons([small, large, lid]) == [second, best, front])
        #expect(
            reasons([small, large, lid], holding: "a") == [
                "chosen as back: external, 640x360 at 30",
                "better than the present back camera: takes over once nothing uses it", front,
            ]
        )
        let idle = AutoPolicy(isIdle: true)
        #expect(reasons([small, large, lid], holding: "a", idle) == [second, best, front])
        let failing = AutoPolicy(failing: ["v4l2:b"])
        #expect(
            reasons([small, large, lid], holding: "b", failing)
                == ["chosen as back: external, 640x360 at 30", failed, front]
        )
        #expect(
            reasons([large], holding: "b", failing) == [
                best + ", although it fails again and again"
            ]
        )
        #expect(
            reasons([small, large], back: .v4l2("a"), front: .test(nil)).last?.hasPrefix("both")
                == true
        )
        #expect(reasons([small, large], back: .v4l2("a"), front: .test(nil)).first == named)
        #expect(reasons([large], AutoPolicy(ignored: ["b"])) == ["in [cameras] ignore"])
        let lenses = AutoPolicy(lenses: PerRole(back: ["b"], front: []))
        #expect(reasons([large, small], lenses).first == "a lens of the back camera")
        #expect(reasons([large, small], back: .v4l2("b"), lenses).first == named)
        #expect(reasons([denied]) == ["chosen as front: built in, no permission to open it"])
        #expect(reasons([silent]) == ["chosen as front: built in, does not answer"])
    }

    @Test("what gives no pictures is nobody's camera, even by its name")
    func noPictures() {
        let metadata = CameraDevice(
            path: "/dev/video1",
            name: "Desk",
            identity: "v4l2:/dev/video1",
            refusal: .noPictures
        )
        let found = assign([metadata], back: .v4l2("/dev/video1"), front: .auto)
        #expect(found.back == nil && found.front == nil)
        #expect(found.standings.map(\.reason) == ["gives no pictures"])
    }
}
