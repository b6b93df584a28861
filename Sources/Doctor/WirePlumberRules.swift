import Control

/// The rules with which WirePlumber keeps cameras from apps: the cameras that DualCam uses, and the
/// copy of the stream on a loopback device.
package struct WirePlumberRules {
    enum Form: CaseIterable {
        /// Lua, up to 0.4.
        case lua
        /// SPA-JSON, from 0.5 on.
        case json

        /// The form of the installed WirePlumber, which has Lua files up to 0.4; `nil` without it.
        static func installed() -> Form? {
            let all = ["/usr/share", "/usr/local/share"].map { "\($0)/wireplumber" }.filter(isThere)
            return all.contains { isThere("\($0)/main.lua.d") } ? .lua : all.isEmpty ? nil : .json
        }
    }

    /// A device or a node that is hidden, by one of its properties.
    struct Match: Equatable {
        let property, value: String

        /// The property of a node that names its place on the bus, "usb-0000:00:14.0-1".
        static let place = "api.v4l2.cap.bus_info"
    }

    let form: Form
    /// The cameras, by a property of their devices or, with their place, of their nodes.
    var devices: [Match] = []
    /// The names (`card_label`) of loopback devices that carry the stream.
    var loopbacks: [String] = []

    /// The moment at which a change of the rules takes effect.
    package static let effect =
        "This takes effect at your next login, or after `systemctl --user restart wireplumber`, "
        + "which interrupts sound for a moment."

    /// Returns the match of the camera with the identity `id` ("v4l2:…"): by its serial number or
    /// its port as udev knows them, or by its place on the bus. `nil` for other names.
    static func match(_ id: String) -> Match? {
        guard id.hasPrefix("v4l2:") else { return nil }
        let name = id.dropFirst("v4l2:".count)
        let match: Match
        if let end = name.firstRange(of: "-video-index") {
            let name = name[..<end.lowerBound]
            match =
                name.hasPrefix("usb-")
                ? Match(property: "device.serial", value: String(name.dropFirst(4)))
                : Match(property: "device.bus-path", value: String(name))
        } else if name.hasPrefix("/") || name.contains("#") {
            // A node's path, or an interface and a number.
            return nil
        } else {
            match = Match(property: Match.place, value: String(name))
        }
        // These begin an expression of WirePlumber's.
        return match.value.isEmpty || "~!".contains(match.value.prefix(1)) ? nil : match
    }

    /// The path of the rules below the folder of WirePlumber's configuration. Those in Lua come
    /// after the file that makes the table of rules, and before the one that uses it.
    var file: String {
        form == .lua ? "main.lua.d/60-dualcam.lua" : "wireplumber.conf.d/60-dualcam.conf"
    }

    /// Returns the paths of the rules of either form, below the folder of the user's configuration.
    static func paths(in folder: String) -> [String] {
        Form.allCases.map { "\(folder)/wireplumber/\(WirePlumberRules(form: $0).file)" }
    }

    /// Returns the path of the rules below `folder`, that of the user's configuration; `nil` if
    /// there are none. Those that a WirePlumber of the form `installed` reads come first: an update
    /// of the system leaves the others.
    static func written(in folder: String, installed: Form?) -> String? {
        let paths = paths(in: folder)
        return (installed == .json ? paths.reversed() : paths).first(where: isThere)
    }

    /// The words by which the rules are known as ours.
    static let signature = "Written by \"dualcamctl doctor --fix hide-cameras\""

    var text: String {
        let head = [
            "\(Self.signature); \"dualcamctl doctor --undo",
            "hide-cameras\" removes it. Apps that use PipeWire list DualCam, and not the cameras",
            "that it uses, nor the copy of the stream on a loopback device.",
        ]
        let (begin, rules, end) = form == .lua ? lua : json
        let mark = form == .lua ? "--" : "#"
        return (head.map { "\(mark) \($0)" } + [begin] + rules + [end, ""]).joined(separator: "\n")
    }

    private var lua: (String, [String], String) {
        func equals(_ property: String, _ value: String) -> String {
            // As Lua quotes it: bytes other than those of ASCII by their numbers.
            let bytes = value.utf8.map { byte in
                byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                    ? "\\\(UnicodeScalar(byte))"
                    : (0x20..<0x7f).contains(byte)
                        ? "\(UnicodeScalar(byte))" : "\\\(String(1000 + Int(byte)).dropFirst())"
            }
            return "{ \"\(property)\", \"equals\", \"\(bytes.joined())\" }"
        }
        func rule(_ matches: [String], _ property: String) -> [String] {
            matches.isEmpty
                ? []
                : ["  table.insert(v4l2_monitor.rules, {", "    matches = {"]
                    + matches.map { "      { \($0) }," }
                    + ["    },", "    apply_properties = { [\"\(property)\"] = true },", "  })"]
        }
        let (cameras, nodes) = matches(equals)
        let rules = rule(cameras, "device.disabled") + rule(nodes, "node.disabled")
        return ("if v4l2_monitor and v4l2_monitor.rules then", rules, "end")
    }

    /// Devices keep working, and only their nodes are disabled: WirePlumber 0.5 may stop handling
    /// events, of sound too, once a device is, and libcamera then offers the camera. What names a
    /// camera for good is known of its device alone, so the device gets a name that its node takes.
    private var json: (String, [String], String) {
        func equals(_ property: String, _ value: String) -> String {
            "\(property) = \(JSON.string(value).text)"
        }
        func rule(_ matches: [String], _ property: String, _ value: String) -> [String] {
            ["  {", "    matches = ["] + matches.map { "      { \($0) }" }
                + ["    ]", "    actions = { update-props = { \(property) = \(value) } }", "  }"]
        }
        let mark = "dualcam-hidden"
        let (cameras, nodes) = matches(equals)
        var rules: [String] = []
        for (index, camera) in cameras.enumerated() {
            rules += rule([camera], "device.name", "\"v4l2_device.\(mark)-\(index + 1)\"")
        }
        let named = cameras.isEmpty ? [] : ["node.name = \"~v4l2_input.\(mark)-.*\""]
        let hidden = named + nodes
        if !hidden.isEmpty { rules += rule(hidden, "node.disabled", "true") }
        return ("monitor.v4l2.rules = [", rules, "]")
    }

    private func matches(
        _ equals: (String, String) -> String
    ) -> (devices: [String], nodes: [String]) {
        func texts(_ matches: [Match]) -> [String] { matches.map { equals($0.property, $0.value) } }
        let copies = loopbacks.map {
            equals("api.v4l2.cap.driver", "v4l2 loopback") + ", " + equals("api.v4l2.cap.card", $0)
        }
        return (
            texts(devices.filter { $0.property != Match.place }),
            texts(devices.filter { $0.property == Match.place }) + copies
        )
    }
}
