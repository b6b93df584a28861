import Capture
import DualCamCore
import Frames
import Testing

@testable import PipeWire

/// What `auto` chooses at desks that people have, from the facts that their devices give.
@Suite("At a desk with", .timeLimit(.minutes(5))) struct DeskTests {
    struct Desk: Sendable, CustomTestStringConvertible {
        let name: String
        /// The cameras that only PipeWire has.
        var nodes: [PipeWireObject.Camera] = []
        /// What is said of the devices, each of a kind once.
        let reasons: Set<String>
        let devices: @Sendable (DeviceTree) -> Void

        var testDescription: String { name }
    }

    /// A built-in camera as libcamera has it, at `location`.
    private static func builtIn(_ location: String) -> PipeWireObject.Camera {
        PipeWireObject.Camera(
            name: "libcamera_input.__SB_.\(location)",
            serial: "7",
            client: "3",
            title: "Built-in \(location)",
            role: "Camera",
            path: "libcamera:\\_SB_.PC00.\(location)",
            location: location
        )
    }

    private static let phone = PipeWireObject.Camera(
        name: "phone",
        serial: "8",
        client: "4",
        title: "Pixel",
        role: "Camera"
    )

    /// The nodes of an IPU6, of which none gives pictures by itself.
    private static func addIPU6(_ tree: DeviceTree) {
        for number in 0..<32 {
            tree.add(
                "video\(number)",
                platform: "isys",
                card: "ipu6",
                flags: [.capture, .streaming, .mediaController]
            )
        }
    }

    private static let webcam = "1920x1080@30/MJPG 1280x720@30/MJPG 640x480@30/YUYV"
    private static let laptop = "1280x720@30/MJPG 640x480@30/YUYV 340x340@30/YUYV"
    private static let face = "640x360@15/GREY 640x360@15/MJPG"

    /// A laptop's camera with the infrared one beside it, whose name was cut.
    private static func lid(_ tree: DeviceTree) {
        tree.add(
            "video0",
            port: "1-8",
            card: "Integrated Camera: Integrated C",
            isFixed: true,
            modes: laptop,
            descriptors: USBDescriptors.twoCameras
        )
        tree.add("video1", port: "1-8", index: 1, isCamera: false, isFixed: true)
        tree.add(
            "video2",
            port: "1-8",
            place: "pci-usb-0:8:1.2-video-index0",
            card: "Integrated Camera: Integrated I",
            number: 2,
            isFixed: true,
            modes: face,
            descriptors: USBDescriptors.twoCameras
        )
    }

    private static let desks: [Desk] = [
        Desk(
            name: "a laptop with an infrared camera",
            reasons: [
                "Camera 1-8: gives no pictures", "Integrated Camera: infrared camera",
                "Integrated Camera: chosen as front: built in, 1280x720 at 30",
            ]
        ) { lid($0) },
        Desk(
            name: "a laptop with an IPU6 and two webcams",
            reasons: [
                "Cheap: chosen as front: external, 640x480 at 30",
                "Studio: chosen as back: external, 1920x1080 at 30",
                "ipu6: belongs to a media controller, works only as pipewire:NODE",
            ]
        ) { tree in
            addIPU6(tree)
            tree.add("video32", port: "3-1", card: "Cheap", modes: "640x480@30/YUYV")
            tree.add("video34", port: "3-2", card: "Studio", modes: webcam)
        },
        Desk(
            name: "a laptop with an IPU6 alone",
            nodes: [builtIn("front")],
            reasons: [
                "Built-in front: chosen as front: faces you",
                "ipu6: belongs to a media controller, works only as pipewire:NODE",
            ]
        ) { addIPU6($0) },
        Desk(
            name: "an IPU6 that PipeWire has, and two webcams",
            nodes: [builtIn("front")],
            reasons: [
                "Built-in front: chosen as front: faces you", "Cheap: a better camera is chosen",
                "Studio: chosen as back: external, 1920x1080 at 30",
                "ipu6: belongs to a media controller, works only as pipewire:NODE",
            ]
        ) { tree in
            addIPU6(tree)
            tree.add("video32", port: "3-1", card: "Cheap", modes: "640x480@30/YUYV")
            tree.add("video34", port: "3-2", card: "Studio", modes: webcam)
        },
        Desk(
            name: "a tablet with two cameras",
            nodes: [builtIn("back"), builtIn("front")],
            reasons: [
                "Built-in back: chosen as back: faces away",
                "Built-in front: chosen as front: faces you",
            ]
        ) { _ in },
        Desk(
            name: "an IPU6 that v4l2-relayd copies, too",
            nodes: [builtIn("front")],
            reasons: [
                "Built-in front: chosen as front: faces you",
                "Intel MIPI Camera: shows the built-in camera, which PipeWire has",
            ]
        ) { $0.addRelay("video40", "Intel MIPI Camera") },
        Desk(
            name: "an IPU6 that only v4l2-relayd has",
            reasons: ["Intel MIPI Camera: chosen as back: fed by a program, 1920x1080 at 30"]
        ) { $0.addRelay("video40", "Intel MIPI Camera") },
        Desk(
            name: "a laptop and a phone through PipeWire",
            nodes: [phone],
            reasons: [
                "Lid: chosen as front: built in, 1280x720 at 30",
                "Pixel: chosen as back: from PipeWire",
            ]
        ) {
            $0.add("video0", port: "1-8", card: "Lid", isFixed: true, modes: laptop)
        },
        Desk(
            name: "a webcam, a laptop and a phone through PipeWire",
            nodes: [phone],
            reasons: [
                "Desk: chosen as back: external, 640x480 at 30",
                "Lid: chosen as front: built in, 1280x720 at 30",
                "Pixel: a better camera is chosen",
            ]
        ) {
            $0.add("video0", port: "1-8", card: "Lid", isFixed: true, modes: laptop)
            $0.add("video2", port: "1-1", card: "Desk", modes: "640x480@30/YUYV")
        },
        Desk(
            name: "twins",
            reasons: [
                "Twin: chosen as back: external, 1280x720 at 30",
                "Twin: chosen as front: external, 1280x720 at 30",
            ]
        ) { tree in
            for port in ["1-1", "1-2"] {
                tree.add("video\(port.suffix(1))", port: port, serial: "1", card: "Twin")
            }
        },
        Desk(
            name: "a laptop and an HDMI stick",
            reasons: [
                "Lid: chosen as front: built in, 1280x720 at 30",
                "USB Video: chosen as back: external, 1920x1080 at 30",
            ]
        ) { tree in
            tree.add("video0", port: "1-8", card: "Lid", isFixed: true, modes: laptop)
            tree.add("video2", port: "2-1", card: "USB Video: USB Video", modes: webcam)
        },
        Desk(
            name: "a laptop and a still camera through gphoto2",
            reasons: [
                "Lid: chosen as front: built in, 1280x720 at 30",
                "Nikon: chosen as back: fed by a program, 1024x680 at 25",
                "Spare: no program feeds it",
            ]
        ) {
            tree in
            tree.add("video0", port: "1-8", card: "Lid", isFixed: true, modes: laptop)
            tree.addRelay("video8", "Spare", modes: "")
            tree.addRelay("video9", "Nikon", modes: "1024x680@25/YU12")
        },
        Desk(
            name: "a webcam, a laptop, a phone through DroidCam and OBS",
            reasons: [
                "Desk: chosen as back: external, 640x480 at 30",
                "Droidcam: a better camera is chosen",
                "Lid: chosen as front: built in, 1280x720 at 30",
                "OBS Virtual Camera: may show DualCam's own stream",
            ]
        ) { tree in
            tree.add("video0", port: "1-8", card: "Lid", isFixed: true, modes: laptop)
            tree.add("video2", port: "1-1", card: "Desk", modes: "640x480@30/YUYV")
            tree.addRelay("video8", "OBS Virtual Camera")
            tree.addRelay("video9", "Droidcam")
        },
        Desk(
            name: "a Raspberry Pi with its own camera and a webcam",
            reasons: [
                "Desk: chosen as back: external, 1920x1080 at 30",
                "bcm2835-isp: belongs to a media controller, works only as pipewire:NODE",
                "unicam: belongs to a media controller, works only as pipewire:NODE",
                "video10: gives no pictures",
            ]
        ) { tree in
            tree.add("video0", platform: "unicam", modes: "3280x2464@30/pRAA 3280x2464@30/RG10")
            tree.add("video10", platform: "bcm2835-codec", flags: [.memoryToMemory, .streaming])
            tree.add(
                "video14",
                platform: "bcm2835-isp",
                modes: "1920x1080@0/YUYV",
                functions: [0x4005, 0x1_0001]
            )
            tree.add("video20", port: "1-1", card: "Desk", modes: webcam)
        },
        Desk(
            name: "one camera alone",
            reasons: [
                "Camera 1-1: gives no pictures", "Desk: chosen as back: external, 1920x1080 at 30",
            ]
        ) {
            $0.add("video0", port: "1-1", card: "Desk", modes: webcam)
            $0.add("video1", port: "1-1", index: 1, isCamera: false)
        },
        Desk(
            name: "a RealSense and a webcam",
            reasons: [
                "Desk: chosen as back: external, 1920x1080 at 30", "RealSense: depth camera",
                "RealSense: chosen as front: external, 1280x720 at 30",
            ]
        ) { tree in
            tree.add("video0", port: "2-1", card: "RealSense", modes: "1280x720@30/Z16")
            tree.add(
                "video2",
                port: "2-1",
                index: 2,
                place: "pci-usb-0:1:1.0-video-index2",
                card: "RealSense",
                modes: "1280x720@30/GREY 848x480@30/UYVY 1280x720@30/Y8I 1280x800@25/Y12I"
            )
            tree.add(
                "video4",
                port: "2-1",
                place: "pci-usb-0:1:1.3-video-index0",
                card: "RealSense",
                number: 3,
                modes: "1280x720@30/YUYV"
            )
            tree.add("video6", port: "1-2", card: "Desk", modes: webcam)
        },
        Desk(
            name: "drivers for tests and a webcam",
            reasons: [
                "Desk: chosen as back: external, 1920x1080 at 30", "vimc: a driver's test picture",
                "vivid: a driver's test picture",
            ]
        ) { tree in
            tree.add("video0", platform: "vivid", modes: webcam)
            tree.add(
                "video1",
                platform: "vimc",
                flags: [.capture, .streaming, .mediaController],
                modes: webcam
            )
            tree.add("video6", port: "1-2", card: "Desk", modes: webcam)
        },
        Desk(
            name: "a laptop in its dock",
            reasons: [
                "Camera 1-8: gives no pictures", "Integrated Camera: infrared camera",
                "Integrated Camera: chosen as front: built in, 1280x720 at 30",
                "Office: a better camera is chosen",
                "Studio 4K: chosen as back: external, 3840x2160 at 30",
            ]
        ) { tree in
            lid(tree)
            tree.add("video6", port: "3-2", card: "Office", modes: webcam)
            tree.add("video8", port: "3-4", card: "Studio 4K", modes: "3840x2160@30/MJPG " + webcam)
        },
        Desk(name: "an infrared camera alone", reasons: ["USB2.0 HD UVC WebCam: infrared camera"]) {
            $0.add("video0", port: "1-1", card: "USB2.0 HD UVC WebCam: USB2.0 IR", modes: webcam)
        },
    ]

    @Test(arguments: desks)
    func automatic(desk: Desk) throws {
        let tree = try DeviceTree()
        desk.devices(tree)
        let nodes = desk.nodes.compactMap(\.asDevice)
        let devices = tree.cameras + nodes
        let found = assign(tree.nodes + nodes, back: .auto, front: .auto)
        #expect(
            Set(found.standings.map { "\(Self.shortName($0.device)): \($0.reason)" })
                == desk.reasons
        )
        for role in Role.allCases {
            let chosen = found.standings.filter { $0.isChosen && $0.role == role }
            #expect(chosen.map(\.device) == [found[role]].compactMap { $0 })
        }
        #expect(found.back == nil || found.back?.identity != found.front?.identity)
        // Nothing comes out otherwise in another order.
        let turned = assign(devices.reversed(), back: .auto, front: .auto)
        #expect(turned.back == found.back && turned.front == found.front)
    }

    private static func shortName(_ device: CameraDevice) -> String {
        device.name.split(separator: ":").first.map(String.init) ?? ""
    }
}

/// The descriptors of USB devices with cameras, as sysfs has them.
enum USBDescriptors {
    private static func unit(_ number: UInt8, controls: UInt8) -> [UInt8] {
        [
            26, 0x24, 6, number, 0xdc, 0x95, 0x3f, 0x0f, 0x32, 0x26, 0x4e, 0x4c, 0x92, 0xc9, 0xa0,
            0x47, 0x82, 0xf4, 0x3b, 0xc8, 3, 1, 2, 1, controls, 0,
        ]
    }

    private static func interface(_ number: UInt8, subclass: UInt8) -> [UInt8] {
        [9, 4, number, 0, 1, 0x0e, subclass, 0, 0]
    }

    private static let parts: [[UInt8]] = [
        [18, 1, 1, 2, 0xef, 2, 1, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        [9, 2, 0, 0, 4, 1, 0, 0x80, 250],
        interface(0, subclass: 1), unit(8, controls: 0x06), interface(1, subclass: 2),
        interface(2, subclass: 1), unit(14, controls: 0x26), interface(3, subclass: 2),
    ]

    /// A camera in colour, whose control interface is 0, and one for faces, whose is 2.
    static let twoCameras = Array(parts.joined())
}
