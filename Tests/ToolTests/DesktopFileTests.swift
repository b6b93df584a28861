import Control
import Foundation
import TestSupport
import Testing

/// The files by which desktops and software centres know the window.
@Suite("The window's files for desktops")
struct DesktopFileTests {
    private static let id = "org.dualcam.View"

    private func path(_ name: String) -> String {
        repository.appending(path: "desktop/\(name)").path
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: path(name), encoding: .utf8)
    }

    private func values(of key: String, in text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("\(key)=") }
            .map { String($0.dropFirst(key.count + 1)) }
    }

    private func first(_ pattern: Regex<(Substring, Substring)>, in text: String) -> String? {
        text.firstMatch(of: pattern).map { String($0.1) }
    }

    private func check(
        _ program: String,
        _ arguments: [String],
        _ name: String
    ) throws -> (exit: Child.Exit, output: String) {
        let environment = ProcessInfo.processInfo.environment.merging(["LANG": "C.UTF-8"]) { $1 }
        let check = try Child(program, arguments + [path(name)], environment: environment)
        return (try check.wait(within: 20), check.output + check.errors)
    }

    @Test func `The desktop file is valid`() throws {
        let (exit, output) = try check("desktop-file-validate", [], "\(Self.id).desktop")
        #expect(exit == .status(0), "\(output)")
    }

    /// AppStream 1.0 warns of an application without a page of its own, which this one has not yet.
    @Test func `The metainfo is valid`() throws {
        let (_, output) = try check(
            "appstreamcli",
            ["validate", "--no-net"],
            "\(Self.id).metainfo.xml"
        )
        let complaints = output.split(separator: "\n").filter {
            ($0.hasPrefix("E:") || $0.hasPrefix("W:")) && !$0.contains("url-homepage-missing")
        }
        #expect(output.contains("alidation"), "\(output)")
        #expect(complaints.isEmpty, "\(output)")
    }

    @Test func theyNameTheSameProgram() throws {
        let entry = try text("\(Self.id).desktop")
        let service = try text("\(Self.id).service")
        let about = try text("\(Self.id).metainfo.xml")
        #expect(first(/<id>(.*)<\/id>/, in: about) == Self.id)
        #expect(
            first(/<launchable type="desktop-id">(.*)<\/launchable>/, in: about)
                == "\(Self.id).desktop"
        )
        #expect(first(/<dbus type="session">(.*)<\/dbus>/, in: about) == Self.id)
        #expect(values(of: "Name", in: service) == [Self.id])
        #expect(values(of: "DBusActivatable", in: entry) == ["true"])
        // Who started it on the bus gives it its task afterwards.
        let programs = values(of: "Exec", in: entry)
        #expect(values(of: "Exec", in: service) == programs.map { "\($0) --gapplication-service" })
        let name = first(/<binary>(.*)<\/binary>/, in: about)
        #expect(programs.map { URL(filePath: $0).lastPathComponent } == [name])
        #expect(values(of: "Name", in: entry).first == first(/<name>(.*)<\/name>/, in: about))
    }

    @Test func theIconIsThereInBothForms() throws {
        let icons = values(of: "Icon", in: try text("\(Self.id).desktop"))
        #expect(icons == [Self.id])
        for form in ["", "-symbolic"] {
            #expect(try text("\(Self.id)\(form).svg").contains("<svg"))
        }
    }

    @Test func theNewestReleaseIsThatOfTheNews() throws {
        let releases = try text("\(Self.id).metainfo.xml").matches(
            of: /<release version="([^"]*)"/
        )
        #expect(releases.first.map { String($0.1) } == DualCam.version)
    }
}
