import Control
import DBusKit
import DualCamCore
import Testing

@testable import DualCamTool

extension Snapshot {
    /// The daemon with two cameras in use, and `changes` of its properties: of all, and of its
    /// cameras.
    static func usual(
        _ changes: [String: [String: Value]] = [:],
        front: [String: [String: Value]] = [:],
        back: [String: [String: Value]] = [:]
    ) -> Snapshot {
        let main: [String: [String: Value]] = [
            StreamInterface.name: [
                "State": .string("streaming"), "Active": .boolean(true), "Width": .uint32(1280),
                "Height": .uint32(720), "FrameRate": .uint32(30), "PixelFormat": .string("YUY2"),
                "NodeId": .uint32(42), "Consumers": .uint32(1),
                "Viewers": [["name": Value.string("Firefox"), "pid": .uint32(7)]].dbus,
                "Problems": .strings([]),
            ],
            SceneInterface.name: [
                "Main": .objectPath(DualCam.backPath), "Inset": .objectPath(DualCam.frontPath),
                "Layout": .string("pip"), "InsetVisible": .boolean(true),
                "InsetCorner": .string("top-right"), "InsetSize": .double(0.255),
                "Swapped": .boolean(false),
            ],
            ProInterface.name: ["Enabled": .boolean(false)],
            CaptureInterface.name: ["Recording": .boolean(false)],
            PrivacyInterface.name: ["Enabled": .boolean(false)],
        ]
        let camera: [String: [String: Value]] = [
            CameraInterface.name: [
                "State": .string("streaming"), "Name": .string("Desk"), "Width": .uint32(1280),
                "Height": .uint32(720), "FrameRate": .uint32(30), "PixelFormat": .string("MJPG"),
                "Interruption": .string("none"), "Mirror": .boolean(false), "Rotation": .uint32(0),
                "Zoom": .double(1), "NodeId": .uint32(.max), "Delay": .uint32(0),
                "Source": .string("auto"),
            ],
            ControlsInterface.name: [
                "Iso": .uint32(400), "IsoAuto": .boolean(true), "ShutterText": .string("1/60"),
                "ExposureAuto": .boolean(false), "FocusText": .string("1 m"),
                "FocusAuto": .boolean(true), "WhiteBalance": .string("auto"),
                "Kelvin": .uint32(0), "Compensation": .double(0.5),
            ],
        ]
        func changed(
            _ values: [String: [String: Value]],
            _ changes: [String: [String: Value]]
        ) -> [String: [String: Value]] {
            values.merging(changes) { $0.merging($1) { $1 } }
        }
        return Snapshot(
            main: changed(main, changes),
            cameras: [.back: changed(camera, back), .front: changed(camera, front)]
        )
    }
}

@Suite("The status of dualcamctl") struct StatusTextTests {
    private func line(_ start: String, of snapshot: Snapshot) -> String? {
        StatusText.plainLines(snapshot).first { $0.hasPrefix(start) }
    }

    private func viewerLines(_ snapshot: Snapshot) -> [String] {
        StatusText.plainLines(snapshot).filter { $0.hasPrefix("  viewer") }
    }

    @Test("names the stream, its node and who takes it")
    func stream() {
        #expect(
            StatusText.plainLines(.usual()).first
                == "● streaming   1280×720 at 30 fps, YUY2 · node 42 · 1 consumer"
        )
        #expect(viewerLines(.usual()).count == 1)
        #expect(viewerLines(.usual()).first?.hasPrefix("  viewer  Firefox") == true)
        let idle = Snapshot.usual([
            StreamInterface.name: [
                "State": .string("idle"), "Consumers": .uint32(0), "NodeId": .uint32(.max),
            ],
            PrivacyInterface.name: ["Enabled": .boolean(true)],
        ])
        #expect(
            StatusText.plainLines(idle).first == "○ idle        1280×720 at 30 fps, YUY2 · privacy"
        )
        let viewers = [["name": Value.string("")], ["name": .string("OBS")]].dbus
        let two = Snapshot.usual([
            StreamInterface.name: ["Consumers": .uint32(2), "Viewers": viewers]
        ])
        #expect(StatusText.plainLines(two).first?.hasSuffix("· 2 consumers") == true)
        #expect(viewerLines(two) == ["  viewer  an app", "  viewer  OBS"])
    }

    @Test("says of each camera where it is shown, and what is amiss")
    func cameras() {
        #expect(line("  main", of: .usual()) == "  main    back    Desk  1280×720 at 30 fps, MJPG")
        let front = Snapshot.usual(front: [
            CameraInterface.name: [
                "State": .string("interrupted"), "Interruption": .string("no-signal"),
                "Mirror": .boolean(true), "Rotation": .uint32(90), "Zoom": .double(10 / 3),
                "Lens": .string("tele"), "LensFallback": .boolean(true), "Name": .string(""),
            ]
        ])
        #expect(
            line("  inset", of: front)
                == "  inset   front   –     interrupted: no signal · mirrored · turned 90° · 3.33× "
                + "· without tele"
        )
        let states: [(String, String, String)] = [
            ("unavailable", "none", "no camera"), ("unavailable", "not-found", "not found"),
            ("interrupted", "not-found", "not found"), ("closed", "none", "closed"),
        ]
        for (state, interruption, text) in states {
            let other = Snapshot.usual(front: [
                CameraInterface.name: [
                    "State": .string(state), "Interruption": .string(interruption),
                ]
            ])
            #expect(line("  inset", of: other) == "  inset   front   Desk  \(text)")
        }
        #expect(
            StatusText.cameraLines(.usual()).map { $0.replacing(/\u{1b}\[[0-9;]*m/, with: "") } == [
                "back    Desk  1280×720 at 30 fps, MJPG · auto",
                "front   Desk  1280×720 at 30 fps, MJPG · auto",
            ]
        )
    }

    @Test(
        "names the place of the other picture in each layout",
        arguments: [
            ("pip", true, "  inset "), ("pip", false, "  hidden"), ("single", true, "  hidden"),
            ("side-by-side", true, "  right "), ("stacked", true, "  below "),
            ("new", true, "  other "),
        ]
    )
    func places(_ layout: String, isVisible: Bool, label: String) {
        let snapshot = Snapshot.usual([
            SceneInterface.name: ["Layout": .string(layout), "InsetVisible": .boolean(isVisible)]
        ])
        #expect(line(label, of: snapshot)?.contains("front") == true)
        let text =
            layout == "pip"
            ? isVisible ? "pip · inset top-right, 26 %" : "pip · inset hidden" : layout
        #expect(line("  layout", of: snapshot) == "  layout  \(text)")
        let swapped = Snapshot.usual([SceneInterface.name: ["Swapped": .boolean(true)]])
        #expect(line("  layout", of: swapped)?.hasSuffix("26 % · swapped") == true)
    }

    @Test("shows the values of the main camera in Pro mode, and elsewhere what was set by hand")
    func values() {
        let pro = Snapshot.usual([ProInterface.name: ["Enabled": .boolean(true)]])
        #expect(line("  pro", of: pro) == "  pro     ISO 400 · 1/60 · auto · AF · +0.5 EV")
        #expect(line("  by hand", of: pro) == "  by hand front  1/60 · +0.5 EV")
        #expect(line("  by hand back", of: .usual()) == "  by hand back   1/60 · +0.5 EV")
        #expect(StatusText.proValues(pro) == ["ISO 400", "1/60", "auto", "AF", "+0.5 EV"])
        let automatic = Snapshot.usual(
            front: [
                ControlsInterface.name: [
                    "ExposureAuto": .boolean(true), "Compensation": .double(0),
                ]
            ]
        )
        #expect(line("  by hand front", of: automatic) == nil)
        let front = Snapshot.usual(front: [
            ControlsInterface.name: [
                "IsoAuto": .boolean(false), "IsoApproximate": .boolean(true),
                "ExposureAuto": .boolean(true), "FocusAuto": .boolean(false),
                "WhiteBalance": .string("custom"), "Kelvin": .uint32(5600),
                "Compensation": .double(-1), "Aperture": .double(2),
            ]
        ])
        #expect(
            line("  by hand front", of: front)
                == "  by hand front  ISO ≈400 · 5600 K · MF 1 m · -1 EV"
        )
    }

    @Test("ends with what is recorded and what is wrong")
    func ends() {
        let files = ["stream", "back"].map { ["picture": Value.string($0)] }.dbus
        let snapshot = Snapshot.usual([
            CaptureInterface.name: [
                "Recording": .boolean(true), "RecordingSeconds": .uint32(61),
                "RecordingFiles": files,
            ],
            StreamInterface.name: ["Problems": .strings(["One.", "Two\u{1b}[2J."])],
        ])
        #expect(
            StatusText.plainLines(snapshot).suffix(4) == [
                "  ● REC 1:01 · back, stream", "", "  ! One.", "  ! Two\u{fffd}[2J.",
            ]
        )
        #expect(StatusText.lines(nil).count == 1)
    }
}

@Suite("Bars of dualcamctl") struct BarTests {
    @Test func `have a text, a tooltip and classes for each state`() {
        #expect(Waybar.line(nil).contains("\"class\":[\"off\"]"))
        let plain = Waybar.line(.usual())
        #expect(plain.contains("\"text\":\"●\",\"alt\":\"streaming\""))
        #expect(plain.contains("\"class\":[\"streaming\"]") && plain.hasSuffix("}\n"))
        let all = Waybar.line(
            .usual([
                StreamInterface.name: ["State": .string("idle")],
                ProInterface.name: ["Enabled": .boolean(true)],
                PrivacyInterface.name: ["Enabled": .boolean(true)],
                SceneInterface.name: ["Swapped": .boolean(true)],
                CaptureInterface.name: [
                    "Recording": .boolean(true), "RecordingSeconds": .uint32(5),
                    "RecordingPaused": .boolean(true),
                ],
            ])
        )
        let classes = #""class":["idle","pro","privacy","swapped","recording","paused"]"#
        #expect(all.contains(classes))
        #expect(all.contains("\"text\":\"● REC 0:05 (paused)  ISO 400  1/60  auto  AF  +0.5 EV\""))
        for state in ["stopped", "idle"] {
            let line = Waybar.line(.usual([StreamInterface.name: ["State": .string(state)]]))
            #expect(line.contains("\"text\":\"○\",\"alt\":\"\(state)\""))
        }
    }

    @Test("take names with marks of markup as they are")
    func markup() {
        #expect("a<b>&\"c\"".escapedForMarkup == "a&lt;b&gt;&amp;\"c\"")
        let snapshot = Snapshot.usual(front: [CameraInterface.name: ["Name": .string("A & <b>")]])
        #expect(Waybar.line(snapshot).contains("A &amp; &lt;b&gt;"))
    }
}

@Suite("Snapshots of dualcamctl") struct SnapshotTests {
    private func value(_ path: String, _ snapshot: Snapshot?) throws -> String {
        try Template("{{json(\(path))}}").rendered(snapshot)
    }

    @Test(
        "have null for what is unknown, and all else as the daemon says it",
        arguments: [
            ("state", "\"streaming\""), ("main", "\"back\""), ("inset", "\"front\""),
            ("output.nodeId", "42"), ("output.width", "1280"), ("cameras.back.nodeId", "null"),
            ("cameras.front.name", "\"Desk\""), ("cameras.main.name", "\"Desk\""),
            ("cameras.back.delay", "null"), ("cameras.back.iso", "400"),
            ("cameras.back.kelvin", "null"), ("orientation", "null"), ("privacy", "false"),
            ("problems", "[]"),
            (
                "viewers",
                #"[{"name":"Firefox","applicationId":null,"pid":7,"since":null,"through":null}]"#
            ),
        ]
    )
    func members(_ path: String, _ text: String) throws {
        #expect(try value(path, .usual()) == text)
    }

    @Test("follow a swap, and know the daemon that is off")
    func swapped() throws {
        let snapshot = Snapshot.usual(
            [
                SceneInterface.name: [
                    "Main": .objectPath(DualCam.frontPath), "Inset": .objectPath(DualCam.backPath),
                ]
            ],
            front: [CameraInterface.name: ["Name": .string("Face")]]
        )
        #expect(try value("cameras.main.name", snapshot) == "\"Face\"")
        #expect(try value("cameras.inset.name", snapshot) == "\"Desk\"")
        #expect(try value("state", nil) == "\"off\"")
        #expect(try value("cameras.back.name", nil) == "null")
    }
}

@Suite("The tray's menu") struct TrayMenuTests {
    private func labels(_ value: Value?) -> [String] {
        guard case .array(let children, _)? = value?.structure?.last else { return [] }
        return children.compactMap { child in
            guard case .variant(let node) = child else { return nil }
            return node.structure?[1].named?["label"]?.string ?? "-"
        }
    }

    private let menu = TrayMenu(items: [
        .init(id: 1, label: "A_b", action: .swap),
        .init(
            id: 2,
            label: "More",
            children: [
                .init(
                    id: 3,
                    label: "One",
                    action: .privacy,
                    mark: .init(isOn: true, isOneOfSeveral: true)
                ),
                .init(id: 4, label: "Two", action: .photo, isEnabled: false),
            ]
        ), .init(id: 5, label: ""),
        .init(id: 6, label: "Last", action: .quit, mark: .init(isOn: false)),
    ])

    @Test("finds its items by their numbers, those of a submenu, too")
    func ids() {
        let ids = (0...6).map { menu.item($0)?.label }
        #expect(ids == [nil, "A_b", "More", "One", "Two", "", "Last"])
        #expect(menu.item(-1) == nil && menu.item(7) == nil && menu.item(.max) == nil)
        #expect(labels(menu.layout(of: 0, depth: -1)) == ["A__b", "More", "-", "Last"])
        #expect(labels(menu.layout(of: 2, depth: -1)) == ["One", "Two"])
        #expect(labels(menu.layout(of: 0, depth: 0)) == [])
        #expect(menu.layout(of: 9, depth: -1) == nil)
        guard case .array(let nodes, _)? = menu.layout(of: 0, depth: 1)?.structure?.last,
            nodes.count == 4, case .variant(let more) = nodes[1]
        else {
            Issue.record("no children")
            return
        }
        #expect(labels(more) == [], "one level was asked for")
        #expect(more.structure?.first == .int32(2))
    }

    @Test("numbers what an item does once and for all")
    func numbers() {
        var numbers = TrayMenu.Numbers()
        let (quit, start) = (numbers.number("quit"), numbers.number("start"))
        #expect(quit != start)
        #expect(numbers.number("quit") == quit && numbers.number("start") == start)
    }

    @Test("says of each item what it is")
    func properties() throws {
        let one = menu.properties(try #require(menu.item(3)))
        #expect(one["toggle-type"] == .string("radio") && one["toggle-state"] == .int32(1))
        let two = menu.properties(try #require(menu.item(4)))
        #expect(two["enabled"] == .boolean(false) && two["toggle-type"] == nil)
        let last = menu.properties(try #require(menu.item(6)))
        #expect(last["toggle-type"] == .string("checkmark") && last["toggle-state"] == .int32(0))
        #expect(menu.properties(.line) == ["type": .string("separator")])
        #expect(menu.properties(menu.items[1])["children-display"] == .string("submenu"))
    }
}

@Suite("Lists of dualcamctl") struct MediaListTests {
    /// A library of `total` files, of which a page has at most four.
    private func library(_ total: Int) -> (Int, Int) -> ([[String: Value]], Int) {
        { offset, count in
            let places = (0..<total).dropFirst(offset).prefix(min(count, 4))
            return (places.map { ["path": .string("\($0)")] }, total)
        }
    }

    private func paths(_ items: [[String: Value]]) -> [String] {
        items.map { $0["path"]?.string ?? "" }
    }

    @Test(
        "have what was asked for, page by page",
        arguments: [
            (9, 0, nil, 0..<9), (9, 2, nil, 2..<9), (9, 0, 5, 0..<5), (9, 7, 5, 7..<9),
            (9, 9, nil, 9..<9), (0, 0, nil, 0..<0), (9, 0, 0, 0..<0), (4, 0, 4, 0..<4),
        ] as [(Int, Int, Int?, Range<Int>)]
    )
    func pages(_ total: Int, _ offset: Int, _ count: Int?, _ range: Range<Int>) {
        let list = library(total)
        let found = Media.List.gather(from: offset, count: count, list)
        #expect(paths(found.items) == range.map { "\($0)" })
        #expect(found.total == total && found.isWhole)
    }

    @Test("are not whole if a file came or went between two pages, and have no file twice")
    func changed() {
        var calls = 0
        let found = Media.List.gather(from: 0, count: nil) { offset, count in
            calls += 1
            guard calls > 1 else { return self.library(6)(offset, count) }
            // A new file shifts the rest by one.
            let (items, total) = self.library(6)(offset - 1, count)
            return (items, total + 1)
        }
        #expect(!found.isWhole && found.total == 7)
        #expect(paths(found.items) == (0..<6).map { "\($0)" })
    }

    @Test(
        "have sizes as people read them",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1234, "1.2 kB"), (99_950, "100 kB"),
            (999_600, "1 MB"), (1_500_000_000, "1.5 GB"), (.max, "9223372 TB"),
        ] as [(Int, String)]
    )
    func sizes(_ bytes: Int, _ text: String) { #expect(bytes.asBytes == text) }

    @Test("of photos and movies have columns, and no commands for a terminal")
    func lines() {
        let items: [[String: Value]] = [
            [
                "kind": .string("photo"), "camera": .string("back"), "size": .uint64(123_456),
                "time": .int64(0), "path": .string("/a b/\u{1b}c.jpg"),
            ],
            [
                "kind": .string("movie"), "size": .uint64(9), "seconds": .double(61.4),
                "time": .int64(0), "path": .string("/d.mkv"),
            ], [:],
        ]
        let lines = Media.List.lines(of: items).split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("photo back   123 kB       - 19"))
        #expect(lines[0].hasSuffix(" /a b/\u{fffd}c.jpg"))
        #expect(lines[1].hasPrefix("movie -         9 B    1:01 19"))
        #expect(lines[2].contains(" -         0 B       - "))
    }
}
