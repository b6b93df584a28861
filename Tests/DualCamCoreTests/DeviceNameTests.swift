import DualCamCore
import Testing

@Suite("A device by a name that a person gives") struct DeviceNameTests {
    private static func camera(
        _ number: Int,
        _ name: String,
        _ id: String,
        _ refusal: AutoRefusal? = nil
    ) -> CameraDevice {
        CameraDevice(
            path: "/dev/video\(number)",
            name: name,
            identity: "v4l2:\(id)",
            aliases: ["\(id)-alias", "/dev/v4l/by-id/\(id)", "usb-0000:00:14.0-\(number)"],
            refusal: refusal
        )
    }

    private static let devices = [
        camera(0, "Integrated Camera", "usb-Lid-video-index0"),
        camera(2, "Integrated Camera IR", "usb-Lid-video-index2", .infrared),
        camera(4, "Twin", "usb-1"), camera(6, "Twin", "usb-2"),
        camera(10, "Sensor", "platform-1", .needsPipeline),
        CameraDevice(
            path: "/dev/video1",
            name: "Twin",
            identity: "v4l2:/dev/video1",
            refusal: .noPictures
        ),
    ]

    @Test(arguments: [
        ("auto", "auto"), ("test:bars", "test:bars"), ("file:/a b.jpg", "file:/a b.jpg"),
        ("pipewire:x", "pipewire:x"), ("0", "v4l2:usb-Lid-video-index0"),
        ("video4", "v4l2:usb-1"), ("/dev/video6", "v4l2:usb-2"), ("usb-1", "v4l2:usb-1"),
        ("v4l2:usb-1-alias", "v4l2:usb-1"), ("/dev/v4l/by-id/usb-2", "v4l2:usb-2"),
        ("usb-0000:00:14.0-4", "v4l2:usb-1"), ("v4l2:0", "v4l2:usb-Lid-video-index0"),
        ("integrated", "v4l2:usb-Lid-video-index0"), ("lid", "v4l2:usb-Lid-video-index0"),
        ("INTEGRATED CAMERA IR", "v4l2:usb-Lid-video-index2"),
        ("era ir", "v4l2:usb-Lid-video-index2"),
    ])
    func isFound(word: String, expected: String) throws {
        #expect(try source(called: word, among: Self.devices).description == expected)
    }

    @Test("one to be shown is among those that are there")
    func shown() throws {
        let devices = Self.devices + [CameraDevice(path: "", name: "P", identity: "pipewire:x")]
        #expect(try shownDevice(called: "lid", among: devices).path == "/dev/video0")
        #expect(try shownDevice(called: "pipewire:x", among: devices).name == "P")
        for (word, code) in [
            ("pipewire:y", DeviceNameError.Code.notFound), ("auto", .unclear),
            ("test:bars", .unclear), ("file:/x.jpg", .unclear), ("twin", .unclear),
            ("10", .unusable),
        ] {
            let error = #expect(throws: DeviceNameError.self, "\(word)") {
                _ = try shownDevice(called: word, among: devices)
            }
            #expect(error?.code == code, "\(word)")
        }
    }

    @Test(
        arguments: [
            (
                "twin", .unclear,
                "“twin” may be Twin (usb-1) and Twin (usb-2). Use a name in brackets."
            ),
            ("", .unclear, "Name a device"), ("a\nb", .unclear, "Name a device"),
            ("file:x", .unclear, "must begin with /"),
            ("file:", .unclear, "Expected a file"), ("test:", .unclear, "as in test:bars"),
            ("url:ftp://x", .unclear, "or https, rtsp or srt"),
            ("url:nope", .unclear, "url:http://"),
            ("url:http://me:secret@x/", .unclear, "no user or password"),
            ("usb-Lib-video-index0", .notFound, "Did you mean usb-Lid-video-index0?"),
            ("7", .notFound, "There are Integrated Camera (usb-Lid-video-index0), Integrated"),
            ("1", .unusable, "Twin (/dev/video1) cannot be shown: gives no pictures."),
            ("sensor", .unusable, "belongs to a media controller"),
        ] as [(String, DeviceNameError.Code, String)]
    )
    func orIsTold(word: String, code: DeviceNameError.Code, message: String) {
        do {
            let found = try source(called: word, among: Self.devices)
            Issue.record("it is \(found)")
        } catch {
            #expect(error.code == code)
            #expect(error.message.contains(message), "\(error.message)")
        }
    }

    @Test func withoutACameraItSaysSo() {
        #expect(throws: DeviceNameError.self) { try source(called: "x", among: []) }
        #expect(whatIsThere([], insteadOf: "x") == "No camera is attached.")
    }

    @Test func `is never the source of both cameras: they swap what is configured`() throws {
        let twin = SourceSpecification.v4l2("usb-1")
        func changes(
            _ wanted: SourceSpecification,
            back: SourceSpecification,
            front: SourceSpecification
        ) throws -> [String] {
            var configuration = Configuration()
            configuration.cameras.back.source = back
            configuration.cameras.front.source = front
            return try configuration.changes(using: wanted, as: .front, among: Self.devices)
                .map { "\($0.role.rawValue) \($0.source)" }
        }
        #expect(try changes(twin, back: .auto, front: .auto) == ["front v4l2:usb-1"])
        let swapped = ["front v4l2:usb-1", "back v4l2:usb-2"]
        #expect(try changes(twin, back: twin, front: .v4l2("usb-2")) == swapped)
        #expect(try changes(twin, back: .v4l2("/dev/video4"), front: .v4l2("usb-2")) == swapped)
        #expect(try changes(twin, back: twin, front: .auto).last == "back auto")
        #expect(try changes(twin, back: twin, front: twin).last == "back auto")
        let node = SourceSpecification.pipewire("phone")
        #expect(try changes(node, back: node, front: .test(nil)).last == "back test")
        #expect(try changes(.test(nil), back: .test(nil), front: .auto) == ["front test"])
        for own in ["dualcam", "dualcam.back", "dualcam.front"] {
            let error = #expect(throws: DeviceNameError.self) {
                try changes(.pipewire(own), back: .auto, front: .auto)
            }
            #expect(error?.message == "\(own) is the picture that DualCam makes. Name a camera.")
        }
        var lenses = Configuration()
        lenses.cameras.back.lenses = [.init(name: "tele", factor: 2, source: .v4l2("usb-1-alias"))]
        let error = #expect(throws: DeviceNameError.self) {
            try lenses.changes(using: twin, as: .front, among: Self.devices)
        }
        #expect(error?.message.hasPrefix("Twin is a lens of the back camera.") == true)
        #expect(try lenses.changes(using: twin, as: .back, among: Self.devices).count == 1)
    }
}
