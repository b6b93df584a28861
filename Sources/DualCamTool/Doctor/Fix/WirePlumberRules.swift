import Glibc
import Platform

/// The rules with which WirePlumber keeps cameras from apps: the cameras that DualCam uses, and the
/// copy of the stream on a loopback device.
struct WirePlumberRules: Equatable {
    /// The form of WirePlumber's configuration.
    enum Form: Equatable {
        /// Lua, up to 0.4.
        case lua
        /// SPA-JSON, from 0.5 on.
        case json
    }

    /// A device or a node that is hidden, by one of its properties.
    struct Match: Equatable {
        let property: String
        let value: String

        /// The property of a node that names its place on the bus, "usb-0000:00:14.0-1".
        static let place = "api.v4l2.cap.bus_info"

        /// `true` for a property that is known of the node alone, and not of its device.
        var isOfNode: Bool { property == Self.place }
    }

    let form: Form
    /// The cameras, by a property of their devices or their nodes.
    var devices: [Match] = []
    /// The names (`card_label`) of loopback devices that carry the stream.
    var loopbacks: [String] = []

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

    /// The words by which the rules are known as ours.
    static let signature = "Written by \"dualcamctl doctor --fix hide-cameras\""

    /// The file's text.
    var text: String {
        let head = [
            "\(Self.signature); \"dualcamctl doctor --undo",
            "hide-cameras\" removes it. Apps that use PipeWire list DualCam, and not the cameras",
            "that it uses, nor the copy of the stream on a loopback device.",
        ]
        return form == .lua ? lua(head) : json(head)
    }

    private func lua(_ head: [String]) -> String {
        func rule(_ matches: [String], _ property: String) -> [String] {
            [
                "  table.insert(v4l2_monitor.rules, {", "    matches = {",
            ] + matches.map { "      { \($0) }," } + [
                "    },", "    apply_properties = { [\"\(property)\"] = true },", "  })",
            ]
        }
        var lines = head.map { "-- \($0)" } + ["if v4l2_monitor and v4l2_monitor.rules then"]
        func equals(_ match: Match) -> String {
            "{ \"\(match.property)\", \"equals\", \(Self.quoted(match.value)) }"
        }
        let cameras = devices.filter { !$0.isOfNode }.map(equals)
        if !cameras.isEmpty { lines += rule(cameras, "device.disabled") }
        let nodes =
            devices.filter(\.isOfNode).map(equals)
            + loopbacks.map {
                "{ \"api.v4l2.cap.driver\", \"equals\", \"v4l2 loopback\" }, "
                    + "{ \"api.v4l2.cap.card\", \"equals\", \(Self.quoted($0)) }"
            }
        if !nodes.isEmpty { lines += rule(nodes, "node.disabled") }
        return (lines + ["end", ""]).joined(separator: "\n")
    }

    /// Devices keep working, and only their nodes are disabled: WirePlumber 0.5 may stop handling
    /// events, of sound too, once a device is, and libcamera then offers the camera. What names a
    /// camera for good is known of its device alone, so the device gets a name that its node takes.
    private func json(_ head: [String]) -> String {
        func rule(_ matches: [String], _ property: String, _ value: String) -> [String] {
            ["  {", "    matches = ["] + matches.map { "      { \($0) }" } + [
                "    ]", "    actions = { update-props = { \(property) = \(value) } }", "  }",
            ]
        }
        var lines = head.map { "# \($0)" } + ["monitor.v4l2.rules = ["]
        func equals(_ match: Match) -> String {
            "\(match.property) = \(JSON.string(match.value).text)"
        }
        let named = devices.filter { !$0.isOfNode }
        for (index, device) in named.enumerated() {
            let name = "\"v4l2_device.\(Self.mark)-\(index + 1)\""
            lines += rule([equals(device)], "device.name", name)
        }
        var nodes = named.isEmpty ? [] : ["node.name = \"~v4l2_input.\(Self.mark)-.*\""]
        nodes += devices.filter(\.isOfNode).map(equals)
        nodes += loopbacks.map {
            "api.v4l2.cap.driver = \"v4l2 loopback\", "
                + "api.v4l2.cap.card = \(JSON.string($0).text)"
        }
        if !nodes.isEmpty { lines += rule(nodes, "node.disabled", "true") }
        return (lines + ["]", ""]).joined(separator: "\n")
    }

    /// The start of the names that hidden devices get.
    private static let mark = "dualcam-hidden"

    /// Returns `text` as a string of Lua.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                result += "\\" + String(UnicodeScalar(byte))
            case 0x20..<0x7f: result += String(UnicodeScalar(byte))
            default:
                let digits = "\(byte)"
                result += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
        }
        return result + "\""
    }
}

extension WirePlumberRules {
    /// When a change of the rules takes effect, as the end of a sentence.
    static let whenTheyCount =
        "at your next login, or after `systemctl --user restart wireplumber`, which interrupts "
        + "sound for a moment"

    /// Returns the path of the rules that DualCam wrote below `folder`, that of the user's
    /// configuration; `nil` if there are none. Those that a WirePlumber of the form `installed`
    /// reads come first: an update of the system leaves the others.
    static func written(in folder: String, installed: Form?) -> String? {
        (installed == .json ? [.json, .lua] : [.lua, .json] as [Form])
            .map { "\(folder)/wireplumber/\(WirePlumberRules(form: $0).file)" }
            .first { access($0, F_OK) == 0 }
    }
}

extension WirePlumberRules.Form {
    /// Returns the form that the installed WirePlumber reads; `nil` if none is installed. It brings
    /// files in Lua up to 0.4.
    static func installed(in folders: [String] = ["/usr/share", "/usr/local/share"]) -> Self? {
        let all: [String] = folders.map { "\($0)/wireplumber" }.filter { access($0, F_OK) == 0 }
        guard !all.isEmpty else { return nil }
        return all.contains { access("\($0)/main.lua.d", F_OK) == 0 } ? .lua : .json
    }
}
