import Control
import DBusKit
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("dualcamctl status and monitor", .timeLimit(.minutes(2)))
struct StatusTests {
    private let daemon: FakeDaemon

    init() throws { daemon = try FakeDaemon() }

    static let cases: [(String, [Interface: [String: Value]])] = [
        ("streaming", [:]),
        (
            "hostile",
            [
                .camera: [
                    "Name": .string("\u{1b}[2J\u{9b}0m\r\nCam\u{0}"), "State": .string("new"),
                ],
                .stream: [
                    "State": .string("\u{7}?"), "Problems": .strings(["a\nb\u{1b}]0;x\u{7}"]),
                ],
                .scene: ["InsetSize": .double(.infinity), "Layout": .string("\"\\")],
            ]
        ),
    ]

    @Test(arguments: cases)
    func textIsReadAtOneGlanceAndJSONIsOneLine(
        _ name: String,
        _ changes: [Interface: [String: Value]]
    ) throws {
        try daemon.appear(changing: changes)
        let status = try daemon.run("status")
        #expect(status.exit == .status(0), "\(status.errors)")
        let cameras = try daemon.run("cameras")
        try expectGolden(status.output + "---\n" + cameras.output, "status-\(name).txt")
        #expect(status.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
        let json = try daemon.run("status", "--json").output
        #expect(json.split(separator: "\n", omittingEmptySubsequences: false).count == 2)
        try expectGolden(json, "status-\(name).json")
        #expect(throws: Never.self) { try jsonObject(json) }
    }

    /// Returns `value` with each of its numbers and texts at an end of its type, the end `which`.
    private static func extreme(_ value: Value, _ which: Int) -> Value {
        let isHigh = which % 2 == 0
        return switch value {
        case .double: .double([.nan, -1e308, .infinity, -.infinity, 1e308, 0x1p63][which])
        case .byte: .byte(isHigh ? .max : .min)
        case .int32: .int32(isHigh ? .max : .min)
        case .uint32: .uint32(isHigh ? .max : .min)
        case .int64: .int64(isHigh ? .max : .min)
        case .uint64: .uint64(isHigh ? .max : .min)
        case .boolean: .boolean(isHigh)
        case .string(let text): .string(isHigh ? "" : String(repeating: text + "@", count: 999))
        case .variant(let inner): .variant(extreme(inner, which))
        case .structure(let fields): .structure(fields.map { extreme($0, which) })
        case .array(let elements, let type):
            .array(
                (0..<(isHigh ? 999 : 1)).flatMap { _ in elements.map { extreme($0, which) } },
                of: type
            )
        case .dictionary(let entries, let key, let type):
            .dictionary(entries.mapValues { extreme($0, which) }, key: key, value: type)
        default: value
        }
    }

    /// Each verb ends by itself, whatever numbers it gets.
    @Test(arguments: 0..<6)
    func noNumberIsTooMuch(_ which: Int) throws {
        daemon.distortion = { Self.extreme($0, which) }
        try daemon.appear()
        let numbers = [
            "status", "status --json", "status --waybar", "status --format {{json(cameras)}}",
            "lens list", "perspective", "perspective auto", "media list", "focus +0.1", "ev +1",
            "zoom +0.5", "inset --size +0.1",
        ]
        let others = [
            "cameras", "cameras --all", "cameras --json", "controls", "controls --json",
            "controls --set exposure_time_absolute=+5", "lens wide", "perspective auto --json",
            "record start", "record status", "record stop", "media list --json", "photo", "iso +1",
            "shutter +1", "shutter 1/60 --json", "focus +1", "wb +500K", "wb +1",
            "zoom 2 --json", "rotate +90", "rotate -90", "layout next", "dial up", "scene list",
            "scene show desk", "scene next", "scene export", "scene apply desk",
            "title --corner top-left", "lock", "doctor", "swap", "mirror toggle",
        ]
        // Only numbers with a fraction have more than two ends.
        for line in numbers + (which < 2 ? others : []) {
            let child = try daemon.run(line.split(separator: " ").map(String.init))
            guard case .status? = child.exit else {
                Issue.record("\(line): \(String(describing: child.exit))")
                continue
            }
        }
    }

    @Test func everyDeviceIsListedWithItsReason() throws {
        func device(
            _ id: String,
            _ path: String,
            _ role: String,
            _ reason: String,
            _ modes: [String]
        )
            -> [String: Value]
        {
            [
                "id": .string(id), "name": .string("Desk\u{7} Cam"), "path": .string(path),
                "role": .string(role), "chosen": .boolean(!role.isEmpty),
                "reason": .string(reason), "modes": .strings(modes), "names": .strings(["usb-1"]),
            ]
        }
        let devices = [
            device(
                "v4l2:usb-Desk",
                "/dev/video10",
                "back",
                "chosen as back: external, 1280x720 at 30",
                ["640x480@30/MJPG", "1280x720@30/MJPG", "640x480@30/YUYV", "odd", "9x9/X", "a@b/c"]
            ),
            device("v4l2:/dev/video1", "/dev/video1", "", "gives no pictures", []),
            [:],
        ]
        let none = try daemon.run("cameras", "--all")
        #expect(none.exit == .status(8) && none.output == "")
        try daemon.appear(changing: [.stream: ["Devices": .named(devices)]])
        let table = try daemon.run("cameras", "--all")
        let json = try daemon.run("cameras", "--all", "--json")
        try expectGolden(table.output + "---\n" + json.output, "cameras-all.txt")
        let doctor = try daemon.run("doctor").output
        #expect(
            doctor.contains(
                "✓ device         Desk\u{FFFD} Cam (/dev/video10): chosen as back: external, 1280x720"
            )
        )
        #expect(doctor.contains("(/dev/video1): gives no pictures\n"))
    }

    @Test func whatACameraDoesNotTellIsEmpty() throws {
        try daemon.appear(changing: [.controls: ["Iso": .uint32(0), "Shutter": .uint64(0)]])
        let format = "{{ default(cameras.main.iso, \"–\") }}{{ cameras.main.shutter }}"
        #expect(try daemon.run("status", "--format", format).output == "–\n")
    }

    @Test func followPrintsEachChangeAndOutlivesTheDaemon() throws {
        let child = try daemon.start("status", "--follow", "--json")
        func lines() -> [String] {
            child.output.split(separator: "\n").map {
                $0.contains(#""state":"off""#)
                    ? "off" : $0.contains(#""swapped":true"#) ? "swapped" : "plain"
            }
        }
        try daemon.wait(for: "off") { lines() == ["off"] }
        try daemon.appear()
        try daemon.wait(for: "the daemon") { lines() == ["off", "plain"] }
        daemon.set(["Swapped": .boolean(true)], of: .scene)
        try daemon.wait(for: "the swap") { lines() == ["off", "plain", "swapped"] }
        // An event that changes nothing prints nothing.
        daemon.set(["Swapped": .boolean(true)], of: .scene)
        daemon.emit("DidStart")
        daemon.vanish()
        try daemon.wait(for: "its end") { lines() == ["off", "plain", "swapped", "off"] }
        try daemon.appear()
        try daemon.wait(for: "its return") { lines().last == "plain" }
        child.signal(SIGTERM)
        #expect(try child.wait() == .status(0))
    }

    @Test func followIsTextForPeople() throws {
        try daemon.appear()
        let child = try daemon.start("status", "--follow")
        try daemon.wait(for: "the status") { child.output.contains("layout") }
        daemon.vanish()
        try daemon.wait(for: "off") {
            child.output.hasSuffix("○ off         dualcamd is not running\n")
        }
        child.signal(SIGINT)
        #expect(try child.wait() == .status(0))
        #expect(!child.output.contains("\u{1b}"))
    }

    @Test(arguments: ["status --follow", "status --follow --json", "monitor"])
    func itEndsWhenNobodyReads(_ command: String) throws {
        try daemon.appear()
        let script = "{ \(FakeDaemon.tool) \(command); echo $? >&2; } | head -n 1"
        let child = try daemon.session.run("sh", ["-c", script])
        try daemon.wait(for: "the end of \(command)") { child.exit != nil }
        #expect(child.errors == "0\n")
    }

    @Test func itEndsWithTheBus() throws {
        try daemon.appear()
        let child = try daemon.start("monitor")
        try daemon.wait(for: "the daemon") { child.output.contains("appeared") }
        daemon.session.kill(.bus)
        try daemon.wait(for: "the end") { child.exit != nil }
        #expect(child.exit == .status(8))
        #expect(child.errors == "dualcamctl: The session bus is gone.\n")
    }

    @Test func monitorPrintsALineForEachEvent() throws {
        let child = try daemon.start("monitor", "--json")
        let text = try daemon.start("monitor")
        try daemon.wait(for: "the first lines") { child.output != "" && text.output != "" }
        try daemon.appear()
        try daemon.wait(for: "the daemon") {
            child.output.contains("appeared") && text.output.contains("appeared")
        }
        // Signals arrive once the bus has processed the subscription.
        try daemon.wait(for: "a signal") {
            daemon.emit("WillStop")
            return child.output.contains("WillStop") && text.output.contains("WillStop")
        }
        daemon.set(["State": .string("stopped"), "Consumers": .uint32(0)], of: .stream)
        daemon.set(["Mirror": .boolean(true)], of: .camera, at: DualCam.backPath)
        try daemon.wait(for: "the changes") {
            child.output.contains("Mirror") && text.output.contains("Mirror")
        }
        daemon.vanish()
        try daemon.wait(for: "the end") { child.output.hasSuffix("\"vanished\"}\n") }
        // It is a matter of timing if its objects are still signalled after the daemon has its
        // name.
        let times = #/"time":"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ",/#
        let lines = Set(
            child.output.split(separator: "\n").filter { !$0.contains("Added") }
                .map { String($0.replacing(times, with: "")) }
        )
        #expect(
            lines == [
                #"{"version":1,"event":"vanished"}"#, #"{"version":1,"event":"appeared"}"#,
                #"{"version":1,"event":"WillStop"}"#,
                #"{"version":1,"event":"changed","interface":"Stream","changed":{"Consumers":0,"State":"stopped"}}"#,
                #"{"version":1,"event":"changed","camera":"back","interface":"Camera","changed":{"Mirror":true}}"#,
            ]
        )
        #expect(text.output.contains("  back     changed Mirror=true\n"))
        for child in [child, text] {
            child.signal(SIGTERM)
            #expect(try child.wait() == .status(0))
        }
    }
}
