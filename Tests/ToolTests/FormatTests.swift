import Control
import DBusKit
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("dualcamctl status --format", .timeLimit(.minutes(2)))
struct FormatTests {
    @Test(arguments: [
        ("plain", "plain"), ("{{ state }}", "streaming"), ("{{state}}{{main}}", "streamingback"),
        ("a {{ output.width }}x{{ output.height }} b", "a 1280x720 b"),
        ("{{ cameras.front.name }}", "Face <Cam> & 'co'"),
        ("{{ cameras.main.name }}|{{ cameras.inset.mirror }}", "Face <Cam> & 'co'|true"),
        ("{{ uc(main) }} {{ lc(\"ÄB\") }}", "BACK äb"),
        ("{{ trunc(cameras.main.name, 5) }}", "Face…"), ("{{ trunc(main, 9) }}", "back"),
        ("{{ default(statistics.none, \"none\") }}", "none"), ("{{ default(main, 1) }}", "back"),
        ("{{ choose(privacy, \"x\", \"y\") }}{{ choose(pro, \"P\", \"\") }}", "yP"),
        ("{{ emoji(state) }}{{ emoji(\"idle\") }}", "●○"),
        ("{{ markup_escape(cameras.main.name) }}", "Face &lt;Cam&gt; &amp; 'co'"),
        ("{{ shell_escape(cameras.main.name) }}", "'Face <Cam> & '\\''co'\\'''"),
        ("{{ json(cameras.main.name) }} {{ json(pro) }}", "\"Face <Cam> & 'co'\" true"),
        ("{{ problems }}", "one, two"), ("{{ statistics.framesPublished }}", "300"),
        ("{{ statistics.none }}", ""), ("{{ \"{{\" }}", "{{"),
    ])
    func namesHaveValues(_ format: String, _ line: String) throws {
        let daemon = try FakeDaemon()
        try daemon.appear(changing: [
            .camera: ["Name": .string("Face <Cam> & 'co'"), "Mirror": .boolean(true)],
            .stream: ["Problems": .strings(["one", "two"])],
            .pro: ["Enabled": .boolean(true)],
        ])
        let child = try daemon.run("status", "--format", format)
        #expect(child.exit == .status(0), "\(child.errors)")
        #expect(child.output == line + "\n")
    }

    @Test(arguments: [
        ("{{ mian }}", "There is no \"mian\"; expected one of state, "),
        ("{{ cameras.side.name }}", "expected one of cameras.back, cameras.front."),
        ("{{ state.x }}", "There is no \"state.x\"; expected state."),
        ("{{ state", "Expected }} at the end."), ("{{ state !", "Expected }} before \"!\"."),
        ("{{ }}", "Expected a name before"),
        ("{{ \"x }}", "Expected \" after"), ("{{ up(state) }}", "There is no function \"up\""),
        ("{{ uc(state }}", "Expected ) before"), ("{{ uc(state, main) }}", "uc takes 1, not 2"),
    ])
    func whatIsUnknownIsWrongUsage(_ format: String, _ message: String) throws {
        let child = try FakeDaemon().run("status", "--format", format)
        #expect(child.exit == .status(2))
        #expect(child.output == "" && child.errors.contains(message), "\(child.errors)")
    }

    @Test func oneFormAtATime() throws {
        let child = try FakeDaemon().run("status", "--format", "x", "--json")
        #expect(child.exit == .status(2))
    }

    @Test func aNameWithControlCharactersIsOneLine() throws {
        let daemon = try FakeDaemon()
        try daemon.appear(changing: [.camera: ["Name": .string("a\nb\u{1b}[2J")]])
        let child = try daemon.run("status", "--format", "{{ cameras.back.name }}")
        #expect(child.output == "a\u{fffd}b\u{fffd}[2J\n")
    }

    @Test func followPrintsChangesOfTheLineAlone() throws {
        let daemon = try FakeDaemon()
        let child = try daemon.start("status", "--follow", "--format", "{{ state }} {{ swapped }}")
        try daemon.wait(for: "off") { child.output == "off \n" }
        try daemon.appear()
        try daemon.wait(for: "the daemon") { child.output == "off \nstreaming false\n" }
        daemon.set(["Consumers": .uint32(7)], of: .stream)
        daemon.set(["Swapped": .boolean(true)], of: .scene)
        try daemon.wait(for: "the swap") {
            child.output == "off \nstreaming false\nstreaming true\n"
        }
        child.signal(SIGTERM)
        #expect(try child.wait() == .status(0))
    }
}
