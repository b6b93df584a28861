import DualCamCore
import Frames
import Glibc
import Testing
import ViewCore

@Suite struct ReportTests {
    @Test func `What doctor writes is read, with every character`() throws {
        let json = """
            {"version":1,"ok":false,"checks":[
            {"name":"node","ok":null,"text":"there is none","command":null,"fix":false},
            {"name":"access","ok":false,"text":"\\u201cSnap\\"\\ud83d\\ude00\\n",\
            "command":"dualcamctl doctor --fix access","fix":true}]}
            """
        let report = try #require(DoctorReport(json: json))
        #expect(report.checks.map(\.name) == ["node", "access"])
        #expect(report.checks[0].isWell == nil && !report.checks[0].isFixable)
        #expect(report.checks[1].isWell == false && report.checks[1].isFixable)
        #expect(report.checks[1].text == "“Snap\"😀\n")
    }

    @Test func `A report of a problem has nothing personal`() {
        let text = """
            cameras: /home/ada/x, /home/bob/y and v4l2:usb-Cam_SN123-index0
            rtsp://192.0.2.7/live of ada on box
            """
        #expect(
            text.impersonal(without: ["ada", "/home/ada", "box"]) == """
                cameras: ~/x, ~/y and …
                … of … on …
                """
        )
    }

    @Test func `A scene looks as it says, and otherwise as the present one`() {
        var present = SceneLook()
        present.settings.scene.style.insetSize = 0.4
        let look = present.applying([
            "main": .text("front"), "inset-shape": .text("circle"), "privacy": .bool(true),
            "title": .list([.text("Back"), .text("soon")]), "layout": .text("of a later version"),
        ])
        let style = look.settings.scene.style
        #expect(look.main == .front && style.insetSize == 0.4 && style.layout == .pip)
        #expect(look.isPrivate && look.settings.title?.lines == ["Back", "soon"])
        let inset = look.areas(aspect: 2).other ?? .unit
        #expect(abs(inset.width * 2 - inset.height) < 1e-9 && abs(inset.maxX - 0.98) < 0.001)
        let middle = look.applying(["inset-position": .list([.double(0.5), .double(0.5)])])
        #expect(abs((middle.areas(aspect: 2).other?.midX ?? 0) - 0.5) < 0.001)
        let corner = middle.applying(["inset-corner": .text("top-left")]).settings.scene.style
        #expect(corner.insetPosition == nil && corner.insetCorner == .topLeft)
    }

    @Test(
        arguments: [
            "", "{", "[]", "{\"checks\":[}", "{\"checks\":[]} x", "{\"checks\":\"\\u12\"}",
            "{\"checks\":\"\\ud83d\"}", String(repeating: "[", count: 100_000),
        ]
    )
    func `What is no report is none`(text: String) {
        #expect(DoctorReport(json: text) == nil)
    }

    @Test func `Settings survive, and what is unknown does no harm`() {
        var settings = ViewSettings()
        #expect(ViewSettings(parsing: settings.text) == settings)
        settings.isSetUp = true
        settings.hasGlobalKeys = true
        #expect(ViewSettings(parsing: settings.text) == settings)
        #expect(ViewSettings(parsing: "set-up = true\nset-up\n= =\nnew = 1\n").isSetUp)
    }

    @Test func `A role can have each camera that is there, and keeps what is no camera`() {
        let devices = [("a", "Webcam", "back"), ("b", "Webcam", ""), ("c", "Phone", "front")]
            .map { (id: $0.0, name: $0.1, role: $0.2) }
        let back = DeviceChoice(.back, source: "auto", name: "Webcam", devices: devices)
        #expect(back.options.map(\.device) == ["a", "b", "c"] && back.present == 0)
        #expect(back.options.map(\.name) == ["Webcam", "Webcam (2)", "Phone"])
        #expect(back.others.map(\.name) == ["Webcam (2)"])
        let data = DeviceChoice(.back, source: "auto", name: "", devices: devices) { $0 != "b" }
        #expect(data.others.isEmpty)
        let test = DeviceChoice(.back, source: "test", name: "", devices: [devices[2]])
        #expect(test.options.map(\.device) == ["c", "test"] && test.present == 1)
        #expect(test.options.map(\.name) == ["Phone", "Test picture"])
    }

    @Test func `The window is found in Sway's tree, with the room on its output`() throws {
        func node(_ type: String, _ numbers: [Int], _ more: String = "") -> String {
            let rect = zip(["x", "y", "width", "height"], numbers).map { "\"\($0)\": \($1)" }
            return "{\"type\": \"\(type)\", \"rect\": {\(rect.joined(separator: ", "))}\(more)}"
        }
        func names(_ app: String, _ title: String) -> String {
            ", \"app_id\": \"\(app)\", \"name\": \"\(title)\", \"nodes\": []"
        }
        let windows = [
            node("con", [0, 0, 9, 9], names("org.dualcam.View", "Preferences")),
            node("con", [0, 0, 8, 8], names("other", "DualCam")),
            node("floating_con", [-5, 30, 480, 270], names("org.dualcam.View", "DualCam")),
        ]
        let workspace = node(
            "workspace",
            [0, 20, 1280, 700],
            ", \"nodes\": [], \"floating_nodes\": [\(windows.joined(separator: ", "))]"
        )
        let output = node("output", [0, 0, 1280, 720], ", \"nodes\": [\(workspace)]")
        let tree = node("root", [0, 0, 1280, 720], ", \"nodes\": [\(output)]")
        let place = try #require(SwayPlace(of: "org.dualcam.View", title: "DualCam", in: tree))
        #expect(place.window == Rect(x: -5, y: 30, width: 480, height: 270))
        #expect(place.area == Rect(x: 0, y: 20, width: 1280, height: 700))
        let endless = tree.replacing("\"x\": -5", with: "\"x\": 1e300")
        #expect(endless != tree)
        for text in ["", "[]", "{\"nodes\": 1}", String(tree.dropLast()), endless] {
            #expect(SwayPlace(of: "org.dualcam.View", title: "DualCam", in: text) == nil)
        }
    }

    @Test func `A meter shows ratios, and only what can be`() {
        #expect(SoundMeter.filled(1) == 1 && SoundMeter.filled(0) == 0)
        #expect(SoundMeter.filled(.nan) == 0 && SoundMeter.filled(7) == 1)
        let half = SoundMeter.filled(0.5), quarter = SoundMeter.filled(0.25)
        #expect(abs((1 - half) - (half - quarter)) < 0.01)
    }

    @Test(arguments: [1.0, 0.9, 0.75, 0.6, 0.5, 0.35, 0.1, 0.01])
    func `A meter is even in decibels, down to 48 of them`(level: Double) {
        #expect(abs(SoundMeter.filled(level) - (1 + 20 * log10(level) / 48)) < 0.02)
    }
}
