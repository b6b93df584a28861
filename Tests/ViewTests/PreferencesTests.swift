import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

@testable import DualCamView

extension WindowTests {
    /// The window beside the rest of the desktop, of which mocks play a part.
    @Suite(.serialized) struct DesktopTests {
        private static let mocks = repository.appending(path: "Tests/Mocks").path

        private func isExchanged(_ daemon: Daemon) throws -> Bool {
            try daemon.front.get(\.source) == "test:bars"
        }

        private func wasExchanged(_ daemon: Daemon, within seconds: Double) throws -> Bool {
            do {
                try eventually("an exchange", within: seconds) { try isExchanged(daemon) }
                return true
            } catch is TimedOut {
                return false
            }
        }

        /// Presses the first button, which has the keyboard once the cameras are known.
        private func exchange(_ daemon: Daemon, _ desktop: Desktop) throws {
            for _ in 1...5 {
                try desktop.hand("key Return")
                if try wasExchanged(daemon, within: 4) { return }
            }
            Issue.record("the cameras were not exchanged")
        }

        @Test func `The first start is set up by the keyboard alone, once`() throws {
            try PrivateSession.with { session in
                let desktop = try Desktop(in: session)
                try FirstStart.isToCome(in: session)
                let configuration = """
                    [cameras.back]
                    source = "test:bars"  # mine
                    [cameras.front]
                    source = "test:ramp"

                    """
                let daemon = try Daemon(configuration, in: session)
                let program = try desktop.start("dualcam-view")
                try desktop.waitForFocus(of: "Set Up DualCam")
                try exchange(daemon, desktop)
                let file = "\(session.directory)/dualcam.toml"
                let exchanged = configuration.replacing("test:bars", with: "x")
                    .replacing("test:ramp", with: "test:bars").replacing("x", with: "test:ramp")
                try eventually("both sources in the file", within: 10) {
                    try String(contentsOfFile: file, encoding: .utf8) == exchanged
                }
                try desktop.hand("key Escape")
                try eventually("the end of the set-up", within: 5) {
                    let text = try? String(
                        contentsOfFile: FirstStart.file(session),
                        encoding: .utf8
                    )
                    return text?.contains("set-up = true") == true
                }
                try desktop.waitForFocus(of: "DualCam")
                try desktop.hand("key comma")
                try desktop.waitForFocus(of: "Preferences")
                #expect(program.exit == nil, "\(program.errors)")
                #expect(!program.errors.contains("CRITICAL"), "\(program.errors)")
            }
        }

        @Test func `Fix mends what is wrong, and the window goes on`() throws {
            try ShownWindow.with(hasScreenReader: true) { window in
                // Rules that doctor wrote, which the configuration does not want.
                let home = window.desktop.session.environment["HOME"] ?? ""
                let folder = "\(home)/.config/wireplumber/wireplumber.conf.d"
                let rules = "\(folder)/60-dualcam.conf"
                let files = FileManager.default
                try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try "# Written by \"dualcamctl doctor --fix hide-cameras\"\n"
                    .write(toFile: rules, atomically: true, encoding: .utf8)
                try window.desktop.hand("key comma")
                let reader = try ScreenReader(window.daemon)
                try reader.press("Apps")
                try reader.press("Fix Hidden cameras")
                try reader.press("Really Fix It?")
                try eventually("no such rules", within: 20) {
                    try #require(window.program.exit == nil, "\(window.program.errors)")
                    return !files.fileExists(atPath: rules)
                }
            }
        }

        @Test func `A virtual camera that could not be made is not passed over`() throws {
            let scratch = try ScratchDirectory()
            defer { scratch.remove() }
            // Nobody gives a password.
            let asking = "\(scratch.path)/pkexec"
            try "#!/bin/sh\nexit 126\n".write(toFile: asking, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: asking)
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            let look = ["PATH": "\(scratch.path):\(path)"]
            try ShownWindow.with(hasScreenReader: true, look: look) { window in
                try window.desktop.hand("key comma")
                let reader = try ScreenReader(window.daemon)
                try reader.press("Apps")
                try reader.press("Make…")
                try eventually("what came of it", within: 20) {
                    reader.named["The virtual camera could not be made."] != nil
                }
            }
        }

        /// Presses what is called so on a page of the preferences.
        private struct Press: Sendable, CustomTestStringConvertible {
            let page, name: String
            /// The property that it sets, and to what.
            let interface: Interface
            let property: String
            let value: Value
            var path = DualCam.path

            var testDescription: String { "\(page): \(name)" }
        }

        @Test func `The preferences set what they say`() throws {
            let presses = [
                Press(
                    page: "Cameras",
                    name: "Turn: Your view",
                    interface: .camera,
                    property: "Rotation",
                    value: .uint32(90),
                    path: DualCam.backPath
                ),
                Press(
                    page: "Picture",
                    name: "Circle",
                    interface: .scene,
                    property: "InsetShape",
                    value: .string("circle")
                ),
                Press(
                    page: "Picture",
                    name: "Side by Side",
                    interface: .scene,
                    property: "Layout",
                    value: .string("side-by-side")
                ),
                Press(
                    page: "Scenes",
                    name: "talk",
                    interface: .scenes,
                    property: "Current",
                    value: .string("talk")
                ),
            ]
            try ShownWindow.with(hasScreenReader: true) { window in
                try window.desktop.hand("key comma")
                try window.desktop.waitForFocus(of: "Preferences")
                let reader = try ScreenReader(window.daemon)
                for press in presses {
                    try reader.press(press.page)
                    try reader.press(press.name)
                    try eventually("\(press)", within: 10) {
                        let now = try window.daemon.get(
                            press.property,
                            of: press.interface,
                            at: press.path
                        )
                        return now == press.value
                    }
                }
            }
        }

        @Test func `The set-up waits for the daemon`() throws {
            try PrivateSession.with { session in
                let desktop = try Desktop(in: session)
                try FirstStart.isToCome(in: session)
                let program = try desktop.start("dualcam-view")
                try eventually("the button that starts it", within: 15) {
                    try desktop.colors(PixelRect(x: 1024, y: 514, width: 1, height: 270))
                        .contains([255, 255, 255])
                }
                let found = try desktop.run("xdotool", "search", "--name", "^Set Up DualCam$")
                #expect(found.isEmpty)
                _ = try Daemon(ShownWindow.configuration, in: session)
                try desktop.waitForFocus(of: "Set Up DualCam")
                #expect(program.exit == nil, "\(program.errors)")
            }
        }

        /// Returns `true` while the daemon sends small pictures of a camera.
        private func isPreviewing(_ daemon: Daemon) -> Bool {
            let tasks = "/proc/\(daemon.program.id)/task"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
            return names.contains { name in
                let thread = try? String(contentsOfFile: "\(tasks)/\(name)/comm", encoding: .utf8)
                return thread == "preview\n"
            }
        }

        /// Runs `body` with a window in its set-up, which shows a camera that is neither: "phone",
        /// all lime.
        private func withPhone(_ body: (Desktop, Daemon, Child) throws -> Void) throws {
            try PrivateSession.with { session in
                let desktop = try Desktop(in: session, hasScreenReader: true)
                try FirstStart.isToCome(in: session)
                let picture = "\(session.directory)/lime.jpg"
                try ffmpeg(["-f", "lavfi", "-i", "color=lime:s=640x360", "-frames:v", "1", picture])
                try session.run(Programs.path(of: "jpeg-node"), ["phone", "640", "360", picture])
                let configuration = """
                    [cameras.back]
                    source = "pipewire:nothing"
                    [cameras.front]
                    source = "test:ramp-plain"
                    """
                let daemon = try Daemon(configuration, in: session)
                let program = try desktop.start("dualcam-view")
                try desktop.waitForFocus(of: "Set Up DualCam")
                try eventually("the camera to be looked at; \(program.errors)", within: 20) {
                    isPreviewing(daemon)
                }
                try eventually("its picture", within: 20) { try isSeen(desktop) }
                try body(desktop, daemon, program)
                #expect(program.exit == nil && !program.errors.contains("CRITICAL"))
            }
        }

        /// Returns `true` while something lime is on the screen, where the set-up is.
        private func isSeen(_ desktop: Desktop) throws -> Bool {
            // Wherever it is, one of these columns goes through it.
            try stride(from: 800, to: 1264, by: 60).contains { x in
                try desktop.colors(PixelRect(x: x, y: 0, width: 1, height: 800))
                    .contains { $0[0] < 40 && $0[1] > 200 && $0[2] < 40 }
            }
        }

        @Test func `The set-up shows a camera that is neither, and a click makes it one`() throws {
            try withPhone { desktop, daemon, _ in
                let reader = try ScreenReader(daemon)
                try reader.press("phone")
                try daemon.front.wait(for: \.source, "pipewire:phone", within: 10)
                try eventually("the end of its preview", within: 10) { !isPreviewing(daemon) }
            }
        }

        @Test func `A phone is forgotten, and another camera takes its place`() throws {
            try PrivateSession.with { session in
                let desktop = try Desktop(in: session, hasScreenReader: true)
                let cameras =
                    "[cameras.back]\nsource = \"phone\"\n[cameras.front]\nsource = \"test\"\n"
                let daemon = try Daemon(cameras, in: session, network: true)
                let reply = try daemon.call("Pair", of: .phone, options: [:])
                let url = try #require(reply.first?.string.flatMap { URL(string: $0) })
                let host = try #require(url.host)
                let script = repository.appending(path: "Tests/Phone/phone.py").path
                let words =
                    PrivateNetwork.of(daemon.program.id)
                    + [
                        "python3", script, "\(host):\(url.port ?? 0)", "pair",
                        url.lastPathComponent,
                    ]
                _ = try session.run(words[0], Array(words.dropFirst())).wait()
                _ = try desktop.start("dualcam-view")
                try desktop.waitForFocus(of: "DualCam")
                try desktop.hand("key comma")
                try desktop.waitForFocus(of: "Preferences")
                let reader = try ScreenReader(daemon)
                try reader.press("Forget This Phone")
                try daemon.back.wait(for: \.source, "auto", within: 10)
                try eventually("no phone", within: 10) {
                    try daemon.get("Phones", of: .phone).array?.isEmpty == true
                }
            }
        }

        @Test func `With privacy no picture stays in the set-up, whose end closes the camera`()
            throws
        {
            try withPhone { desktop, daemon, _ in
                try daemon.privacy.set(\.enabled, true)
                try eventually("an empty place for it", within: 10) { try !isSeen(desktop) }
                try daemon.privacy.set(\.enabled, false)
                try eventually("its picture again", within: 20) { try isSeen(desktop) }
                try desktop.hand("key Escape")
                try eventually("the end of its preview", within: 10) { !isPreviewing(daemon) }
            }
        }

        @Test func `Keys of the portal work, dials are felt, and the HUD is back after a kill`()
            throws
        {
            try PrivateSession.with { session in
                let desktop = try Desktop(in: session)
                try FirstStart.isOver(in: session, "global-keys = true\n")
                let portal = try MockedService(
                    "org.freedesktop.portal.Desktop",
                    at: "/org/freedesktop/portal/desktop",
                    interface: "org.freedesktop.portal.GlobalShortcuts",
                    template: "\(Self.mocks)/global_shortcuts.py",
                    on: .session,
                    in: session
                )
                let feedback = try MockedService(
                    "org.sigxcpu.Feedback",
                    at: "/org/sigxcpu/Feedback",
                    interface: "org.sigxcpu.Feedback",
                    on: .session,
                    in: session
                )
                try feedback.define(
                    "TriggerFeedback",
                    of: "org.sigxcpu.Feedback",
                    takes: "ssa{sv}i",
                    gives: "u",
                    code: "ret = dbus.UInt32(1)"
                )
                let daemon = try Daemon(ShownWindow.configuration, in: session)
                let program = try desktop.start("dualcam-view")
                let bound = try eventually("keys", within: 15) {
                    let answer = try portal.call("Bound", of: GlobalKeysMock.interface)
                    let words = (answer.first?.array ?? []).compactMap(\.string)
                    return words.isEmpty ? nil : words
                }
                #expect(
                    Array(bound.dropFirst()) == [
                        "org.dualcam.View", "swap", "privacy", "photo", "record", "next-scene",
                    ]
                )
                let handle = try #require(bound.first.flatMap { ObjectPath($0) })
                // What the portal answered may still be on its way.
                try eventually("a swap", within: 10) {
                    if try daemon.scene.get(\.swapped) == true { return true }
                    try portal.emit(
                        "Activated",
                        of: GlobalKeysMock.interface,
                        "osta{sv}",
                        .objectPath(handle),
                        .string("swap"),
                        .uint64(0),
                        .named([:])
                    )
                    _ = try? eventually("it", within: 2) {
                        try daemon.scene.get(\.swapped) == true
                    }
                    return try daemon.scene.get(\.swapped) == true
                }
                try desktop.waitForFocus(of: "DualCam")
                try desktop.hand("key p")
                try eventually("the window's own HUD", within: 10) {
                    try daemon.get("HudConsumer", of: .scene) != .string("")
                }
                try desktop.hand("key Up")
                try eventually("a tick", within: 10) {
                    let calls = try feedback.call(
                        "GetMethodCalls",
                        of: "org.freedesktop.DBus.Mock",
                        [.string("TriggerFeedback")]
                    )
                    return !(calls.first?.array ?? []).isEmpty
                }
                program.signal(SIGKILL)
                try daemon.scene.wait(for: \.hudConsumer, "", within: 5)
                #expect(try daemon.scene.get(\.hud) == "pro")
            }
        }

        @Test func `Another program lets people choose a picture over D-Bus`() throws {
            try ShownWindow.with { window in
                func pick(_ options: String) throws -> Child {
                    try window.desktop.session.run(
                        "gdbus",
                        "call",
                        "--session",
                        "--dest",
                        "org.dualcam.View",
                        "--object-path",
                        "/org/dualcam/View",
                        "--method",
                        "org.dualcam.View.Pick",
                        "x11:\(String(Int(window.id) ?? 0, radix: 16))",
                        options
                    )
                }
                let wrong = try pick("{'type': <'song'>}")
                #expect(try wrong.wait(within: 10) != .status(0))
                #expect(wrong.errors.contains("must be photo or video"), "\(wrong.errors)")
                let picking = try pick("{'type': <'photo'>, 'multiple': <true>}")
                try window.desktop.waitForFocus(of: "Choose Pictures")
                let parent = try window.desktop.run(
                    "xprop",
                    "-id",
                    window.desktop.run("xdotool", "getactivewindow").filter(\.isNumber),
                    "WM_TRANSIENT_FOR"
                )
                let number = String(Int(window.id) ?? 0, radix: 16)
                #expect(parent.contains("0x\(number)"), "\(parent)")
                try window.desktop.hand("key Escape")
                #expect(try picking.wait(within: 10) == .status(0))
                #expect(picking.output == "(@as [],)\n")
            }
        }

        @Test func `KWin is asked to keep the window above the others`() throws {
            try PrivateSession.with([.bus]) { session in
                let kwin = try MockedService(
                    "org.kde.KWin",
                    at: "/Scripting",
                    interface: "org.kde.kwin.Scripting",
                    on: .session,
                    in: session
                )
                let scripting = "org.kde.kwin.Scripting"
                try kwin.define(
                    "loadScript",
                    of: scripting,
                    takes: "ss",
                    gives: "i",
                    code: "ret = 7"
                )
                try kwin.define(
                    "unloadScript",
                    of: scripting,
                    takes: "s",
                    gives: "b",
                    code: "ret = True"
                )
                // As in Plasma 5, whose scripts have another path than those of Plasma 6.
                try kwin.call(
                    "AddObject",
                    of: "org.freedesktop.DBus.Mock",
                    [
                        .string("/7"), .string("org.kde.kwin.Script"), .named([:]),
                        .array(
                            [.structure([.string("run"), .string(""), .string(""), .string("")])],
                            of: "(ssss)"
                        ),
                    ]
                )
                let loop = try EventLoop()
                let address = session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
                let bus = try BusConnection(to: .address(address), loop: loop)
                KWinScript.keepAbove(bus, folder: "\(session.directory)/dualcam")
                func calls(_ member: String, at path: ObjectPath) throws -> Int {
                    let answer = try kwin.call(
                        "GetMethodCalls",
                        of: "org.freedesktop.DBus.Mock",
                        at: path,
                        [.string(member)]
                    )
                    return answer.first?.array?.count ?? 0
                }
                try loop.wait(for: "the script to be unloaded", within: 10) {
                    try calls("unloadScript", at: "/Scripting") == 1
                }
                #expect(try calls("run", at: "/7") == 1)
                let script = try String(
                    contentsOfFile: "\(session.directory)/dualcam/keep-above.js",
                    encoding: .utf8
                )
                #expect(script.contains("keepAbove = true"))
            }
        }
    }
}

private enum GlobalKeysMock {
    static let interface = "org.freedesktop.portal.GlobalShortcuts"
}
