import Control
import Testing

@testable import Doctor

@Suite("What doctor changes in files") struct FixEditTests {
    private static let entry = "enable-webrtc-pipewire-camera@1"

    private func fixed(_ text: String) throws -> String {
        String(decoding: try FileForm.chromiumFlags.fixed(Array(text.utf8)), as: UTF8.self)
    }

    @Test(
        "Chromium's file gets one entry, and keeps every other byte",
        arguments: [
            (#"{}"#, #"{"browser":{"L":["E"]}}"#),
            (#" { } \#n"#, #" {"browser":{"L":["E"]} } \#n"#),
            (
                #"{"a":1.50e+3,"ü":"\u00fc\""}"#,
                #"{"browser":{"L":["E"]},"a":1.50e+3,"ü":"\u00fc\""}"#
            ),
            (#"{"browser":{}}"#, #"{"browser":{"L":["E"]}}"#),
            (#"{"browser":{"x":null}}"#, #"{"browser":{"L":["E"],"x":null}}"#),
            (#"{"browser":{"L":[]}}"#, #"{"browser":{"L":["E"]}}"#),
            (#"{"browser":{"L":[ "other@2" ]}}"#, #"{"browser":{"L":["E", "other@2" ]}}"#),
            // Disabled before.
            (#"{"browser":{"L":["a","D" , "b"]}}"#, #"{"browser":{"L":["E","a","b"]}}"#),
            (#"{"browser":{"L":["a","D"]}}"#, #"{"browser":{"L":["E","a"]}}"#),
            // An experiment with a longer name is another one.
            (#"{"browser":{"L":["E-more"]}}"#, #"{"browser":{"L":["E","E-more"]}}"#),
            // Where others look for it, it is not.
            (
                #"{"x":{"browser":{"L":["E"]}}}"#,
                #"{"browser":{"L":["E"]},"x":{"browser":{"L":["E"]}}}"#
            ),
        ]
    )
    func chromium(_ before: String, _ after: String) throws {
        func full(_ text: String) -> String {
            text.replacing("\"L\"", with: "\"enabled_labs_experiments\"")
                .replacing("\"E\"", with: "\"\(Self.entry)\"")
                .replacing("\"E-more\"", with: "\"\(Self.entry.dropLast(2))-more@1\"")
                .replacing("\"D\"", with: "\"\(Self.entry.dropLast())2\"")
        }
        #expect(try fixed(full(before)) == full(after))
        // Twice does no more.
        #expect(try fixed(full(after)) == full(after))
    }

    @Test(arguments: [
        "", " ", "[]", "null", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":[1,]}", "{} {}",
        "{'a':1}",
        "{\"a\":01}",
        "{\"a\":1.}", "{\"a\":+1}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}", "{\"a\":\"\n\"}",
        "{\"a\":\"b",
        "{\"a\":tru}", "{\"browser\":[]}", "{\"browser\":1}", "{\"browser\":{},\"browser\":{}}",
        "{\"browser\":{\"enabled_labs_experiments\":{}}}", "{\"a\":NaN}", "// x\n{}",
    ])
    func `what Chromium did not write is left alone`(_ text: String) {
        #expect(throws: Failure.self) { try fixed(text) }
    }

    @Test func `neither bytes that are no text nor depth nor size end the program`() throws {
        let invalid: [UInt8] = Array("{\"a\":\"".utf8) + [0xff, 0xfe] + Array("\"}".utf8)
        #expect(throws: Failure.self) { try FileForm.chromiumFlags.fixed(invalid) }
        let deep = String(repeating: "[", count: 1_000_000)
        #expect(throws: Failure.self) { try fixed("{\"a\":" + deep) }
        let most = String(repeating: "[", count: 190) + String(repeating: "]", count: 190)
        #expect(try fixed("{\"a\":\(most)}").hasSuffix("\"a\":\(most)}"))
        let wide = "{\"a\":[" + String(repeating: "0,", count: 200_000) + "0]}"
        #expect(try fixed(wide).hasSuffix("\"]},\(wide.dropFirst())"))
        // Neighbours in a list have the same names.
        let alike = "\"x\":[{\"a\":1},{\"a\":2},{\"a\":3}]}}"
        #expect(try fixed("{\"browser\":{" + alike).hasSuffix(",\(alike)"))
    }

    @Test func `what is taken out of Chromium's file leaves the rest`() throws {
        func restored(_ now: String, _ before: String?) throws -> String? {
            let bytes = try FileForm.chromiumFlags.restored(
                Array(now.utf8),
                from: before.map { Array($0.utf8) }
            )
            return bytes.map { String(decoding: $0, as: UTF8.self) }
        }
        let now =
            "{\"browser\":{\"enabled_labs_experiments\":[\"a@1\",\"\(Self.entry)\",\"b@1\"]},\"n\":1}"
        #expect(
            try restored(now, "{}")
                == "{\"browser\":{\"enabled_labs_experiments\":[\"a@1\",\"b@1\"]},\"n\":1}"
        )
        let off = Self.entry.dropLast() + "2"
        let before = "{\"browser\":{\"enabled_labs_experiments\":[\"\(off)\"]}}"
        #expect(
            try restored(now, before)
                == "{\"browser\":{\"enabled_labs_experiments\":[\"\(off)\",\"a@1\",\"b@1\"]},\"n\":1}"
        )
        // Switched off or back to Default since, by a person.
        for now in [before, "{\"browser\":{\"enabled_labs_experiments\":[\"a@1\"]}}", "{}"] {
            #expect(try restored(now, "{\"a\":1}") == nil)
        }
    }

    @Test(
        "Firefox's file gets one preference, and keeps every other byte",
        arguments: [
            ("", "P(true);\n"), ("// mine", "// mine\nP(true);\n"), ("P(true);", "P(true);"),
            ("P(false);\n", "P(true);\n"), ("P( false ); // why\n", "P( true ); // why\n"),
            ("P(true);\nP(false);\n", "P(true);\nP(true);\n"), ("P(false);\nP(true);\n", nil),
            // What is in a comment or a string does not count.
            ("// P(true);\n", "// P(true);\nP(true);\n"),
            ("# P(true);\n", "# P(true);\nP(true);\n"),
            ("/* P(true);\n*/\n", "/* P(true);\n*/\nP(true);\n"),
            (
                "user_pref(\"a\", \"P(true);\\\"\");\n",
                "user_pref(\"a\", \"P(true);\\\"\");\nP(true);\n"
            ),
            ("user_pref(\"a\", 1);P(false);\n", "user_pref(\"a\", 1);P(true);\n"),
        ]
    )
    func firefox(_ before: String, _ after: String?) throws {
        func bytes(_ text: String) -> [UInt8] {
            Array(
                text.replacing("P(", with: "user_pref(\"media.webrtc.camera.allow-pipewire\", ")
                    .utf8
            )
        }
        #expect(try FileForm.firefoxPreferences.fixed(bytes(before)) == bytes(after ?? before))
    }

    @Test func `Firefox's file may have any bytes, but not a comment without an end`() throws {
        let latin: [UInt8] = Array("user_pref(\"a\", \"M".utf8) + [0xfc] + Array("ller\");\n".utf8)
        let fixed = try FileForm.firefoxPreferences.fixed(latin)
        #expect(fixed.starts(with: latin) && fixed.count > latin.count)
        #expect(try FileForm.firefoxPreferences.restored(fixed, from: latin) == latin)
        for text in ["/* ", "user_pref(\"a", "user_pref(\"a\", 'b", "\"\\", "user_pref(\"a\", \""] {
            #expect(throws: Failure.self) {
                try FileForm.firefoxPreferences.fixed(Array(text.utf8))
            }
        }
        // Incomplete statements are none.
        for text in [
            "user_pref", "user_pref(", "user_pref(\"a\"", "user_pref(\"a\",", "user_pref(\"a\", 1",
        ] {
            let bytes = Array(text.utf8)
            #expect(try FileForm.firefoxPreferences.fixed(bytes).starts(with: bytes))
        }
    }

    @Test func `a preference is taken out with its line, or set back`() throws {
        let form = FileForm.firefoxPreferences
        func line(_ value: String) -> String {
            "user_pref(\"\(FirefoxPreferences.camera)\", \(value));\n"
        }
        let now = Array("a\n\(line("true"))b // new\n".utf8)
        #expect(try form.restored(now, from: Array("a\nb\n".utf8)) == Array("a\nb // new\n".utf8))
        let before = Array("a\n\(line("false"))".utf8)
        #expect(try form.restored(now, from: before) == Array("a\n\(line("false"))b // new\n".utf8))
        #expect(try form.restored(now, from: nil) == Array("a\nb // new\n".utf8))
        for now in [line("false"), "a\n"] {
            #expect(try form.restored(Array(now.utf8), from: nil) == nil)
        }
    }

    @Test("the profiles in use are those of the installations, else the default, else all")
    func profiles() {
        let two = """
            [Profile1]\r
            Name=default
            Path=old.default
            Default=1

            [Profile0]
            Name=default-release
            IsRelative=1
            Path = new.default-release\u{20}
            """
        func used(_ profiles: String, _ installs: String = "") -> [String] {
            FirefoxProfiles.used(profiles: profiles, installs: installs)
        }
        #expect(used(two) == ["old.default"])
        #expect(
            used(two, "[4F96]\nDefault=new.default-release\nLocked=1\n") == ["new.default-release"]
        )
        #expect(
            used(two + "\n[Install4F96]\nDefault=new.default-release\n") == ["new.default-release"]
        )
        #expect(
            used(two.replacing("Default=1", with: "")) == ["old.default", "new.default-release"]
        )
        #expect(used("[Profile0]\nIsRelative=0\nPath=/mnt/p\n") == ["/mnt/p"])
        for text in [
            "", "Path=x", "[Profile0", "[Profile0]\nPath=\n", "[Profile0]\nPath\n", "[]=\n=",
        ] {
            #expect(used(text).isEmpty)
        }
    }

    @Test(
        "a camera is matched by its serial number, its port or its place on the bus",
        arguments: [
            ("v4l2:usb-Vendor_Desk_Cam_1234-video-index0", "device.serial", "Vendor_Desk_Cam_1234"),
            (
                "v4l2:pci-0000:00:14.0-usb-0:1:1.0-video-index0", "device.bus-path",
                "pci-0000:00:14.0-usb-0:1:1.0"
            ), ("v4l2:usb-~x-video-index0", nil, nil), ("v4l2:usb--video-index0", nil, nil),
            // Without a serial number, and alone on its port.
            ("v4l2:usb-0000:00:14.0-1", "api.v4l2.cap.bus_info", "usb-0000:00:14.0-1"),
            ("v4l2:platform:vivid-000", "api.v4l2.cap.bus_info", "platform:vivid-000"),
            ("v4l2:1-2:1.0#0", nil, nil), ("v4l2:/dev/video0", nil, nil), ("v4l2:", nil, nil),
            ("/dev/video0", nil, nil), ("test:bars", nil, nil),
            ("pipewire:x-video-index0", nil, nil),
        ] as [(String, String?, String?)]
    )
    func matches(_ id: String, _ property: String?, _ value: String?) {
        let match = WirePlumberRules.match(id)
        #expect(match?.property == property && match?.value == value)
    }

    @Test("no name of a camera gets out of its string in WirePlumber's rules")
    func rules() {
        let name = "a\"] }\\\n--\u{7f}ü"
        var rules = WirePlumberRules(form: .lua)
        rules.devices = [WirePlumberRules.Match(property: "device.serial", value: name)]
        rules.loopbacks = ["DualCam"]
        #expect(
            rules.text.contains(
                "{ \"device.serial\", \"equals\", \"a\\\"] }\\\\\\010--\\127\\195\\188\" } },"
            )
        )
        #expect(
            rules.text.contains(
                "\"v4l2 loopback\" }, { \"api.v4l2.cap.card\", \"equals\", \"DualCam\" } },"
            )
        )
        rules = WirePlumberRules(form: .json, devices: rules.devices, loopbacks: rules.loopbacks)
        #expect(rules.text.contains("{ device.serial = \"a\\\"] }\\\\\\n--\\u007fü\" }\n"))
    }

    @Test("WirePlumber 0.5 disables nodes and no device, and tells the devices apart")
    func nodes() {
        let rules = WirePlumberRules(
            form: .json,
            devices: ["A", "B"].map { .init(property: "device.serial", value: $0) },
            loopbacks: ["DualCam"]
        )
        func named(_ value: String, _ number: Int) -> String {
            """
              {
                matches = [
                  { device.serial = "\(value)" }
                ]
                actions = { update-props = { device.name = "v4l2_device.dualcam-hidden-\(number)" } }
              }

            """
        }
        let disabled = """
              {
                matches = [
                  { node.name = "~v4l2_input.dualcam-hidden-.*" }
                  { api.v4l2.cap.driver = "v4l2 loopback", api.v4l2.cap.card = "DualCam" }
                ]
                actions = { update-props = { node.disabled = true } }
              }
            ]

            """
        let text = "\nmonitor.v4l2.rules = [\n" + named("A", 1) + named("B", 2) + disabled
        #expect(rules.text.hasSuffix(text), "\(rules.text)")
        #expect(!rules.text.contains("device.disabled"))
        let none = WirePlumberRules(form: .json, loopbacks: ["DualCam"])
        #expect(!none.text.contains("dualcam-hidden"))
        let place = WirePlumberRules(
            form: .json,
            devices: [.init(property: "api.v4l2.cap.bus_info", value: "usb-1")]
        )
        #expect(place.text.contains("      { api.v4l2.cap.bus_info = \"usb-1\" }\n    ]\n"))
        #expect(place.text.contains("{ node.disabled = true }"))
        #expect(!place.text.contains("dualcam-hidden"))
    }

    @Test(
        "each command gets the switch, and loses it again",
        arguments: [
            ("Exec=/usr/bin/edge %U", "Exec=/usr/bin/edge S %U"), ("Exec = edge", "Exec = edge S"),
            ("Exec=\"/opt/a b\" --x", "Exec=\"/opt/a b\" S --x"),
            ("Exec=\"/opt/a \\\"b\" --x", "Exec=\"/opt/a \\\"b\" S --x"),
            ("Exec=env A=b C=d edge", "Exec=env A=b C=d edge S"),
            ("Exec=/usr/bin/env edge\nExec=e\n", "Exec=/usr/bin/env edge S\nExec=e S\n"),
            ("Exec=e --enable-features=A,B %U", "Exec=e S,A,B %U"),
            ("Exec=e \"--enable-features=A,B\" %U", "Exec=e \"S,A,B\" %U"),
            // The last list counts; a longer name is another one.
            (
                "Exec=e --enable-features=A --enable-features=FMore",
                "Exec=e --enable-features=A S,FMore"
            ), ("Exec=e\r\n# Exec=x\r\nName=Exec=y\r\n", "Exec=e S\r\n# Exec=x\r\nName=Exec=y\r\n"),
        ]
    )
    func entry(_ before: String, _ after: String) throws {
        let before = before.replacing("FMore", with: BrowserSwitch.feature + "More")
        let after = after.replacing("FMore", with: BrowserSwitch.feature + "More")
            .replacing("S", with: BrowserSwitch.word)
        let fixed = try FileForm.desktopEntry.fixed(Array(before.utf8))
        #expect(String(decoding: fixed, as: UTF8.self) == after)
        #expect(try FileForm.desktopEntry.fixed(fixed) == fixed)
        let restored = try FileForm.desktopEntry.restored(fixed, from: nil)
        #expect(restored.map { String(decoding: $0, as: UTF8.self) } == before)
        #expect(try FileForm.desktopEntry.restored(Array(before.utf8), from: nil) == nil)
    }

    @Test(arguments: [
        "", "[Desktop Entry]", "Exec=", "Exec=env", "Exec=env A=b", "Exec=env -u A edge",
    ])
    func `a command whose program is not found is left alone`(_ text: String) {
        #expect(throws: Failure.self) { try FileForm.desktopEntry.fixed(Array(text.utf8)) }
        #expect(throws: Failure.self) { try FileForm.desktopEntry.fixed([0xff, 0x0a]) }
    }

    @Test(
        "a Flatpak's switches get one more, and lose it again",
        arguments: [
            ("", "S\n"), ("--x\n", "--x\nS\n"), ("--enable-features=A\n--x", "S,A\n--x"),
            ("--x\n\n", "--x\n\nS\n"),
            ("# --enable-features=A\n", "# --enable-features=A\nS\n"),
        ]
    )
    func switches(_ before: String, _ after: String) throws {
        let fixed = try FileForm.switches.fixed(before.isEmpty ? nil : Array(before.utf8))
        let after = after.replacing("S", with: BrowserSwitch.word)
        #expect(String(decoding: fixed, as: UTF8.self) == after)
        #expect(try FileForm.switches.fixed(fixed) == fixed)
        #expect(try FileForm.switches.restored(fixed, from: nil) == Array(before.utf8))
    }

    @Test(
        "the portal's version says if it knows names",
        arguments: [
            ("xdg-desktop-portal 1.16.0\n", true), ("xdg-desktop-portal 1.12.1", false),
            ("xdg-desktop-portal 1.19.1", true), ("xdg-desktop-portal 1.19.2", false),
            ("xdg-desktop-portal 1.20.10", false), ("xdg-desktop-portal 1.21", true),
            ("xdg-desktop-portal 2.0.1", true), ("xdg-desktop-portal 1.x", nil), ("1.16.0", nil),
            ("", nil), ("xdg-desktop-portal 99999999999999999999.1", nil),
        ] as [(String, Bool?)]
    )
    func portal(_ words: String, _ knowsNames: Bool?) {
        #expect(PortalVersion(words)?.knowsNames == knowsNames)
    }
}
