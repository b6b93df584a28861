import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Foundation
import Testing

@testable import Doctor
@testable import DualCamTool

/// A page for people, in the root of the repository or in `docs`.
private struct Page: CustomTestStringConvertible {
    let name: String
    let text: String

    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    init(_ name: String) throws {
        self.name = name
        text = try String(contentsOf: Self.root.appending(path: name), encoding: .utf8)
    }

    static let all: [Page] = {
        let files = FileManager.default
        let names = ["", "docs/"].flatMap { folder in
            let found = try? files.contentsOfDirectory(atPath: root.appending(path: folder).path)
            return (found ?? []).filter { $0.hasSuffix(".md") }.map { folder + $0 }
        }
        return names.sorted().compactMap { try? Page($0) }
    }()

    var testDescription: String { name }

    /// The text without blocks of code.
    private var prose: String { text.replacing(/(?ms)^```.*?^```$/, with: "") }

    /// The blocks of code, fenced or indented, without their indentation.
    var blocks: [(language: String, text: String)] {
        let fenced = text.matches(of: /(?ms)^```(\w*)\n(.*?)^```$/).map {
            (String($0.1), String($0.2))
        }
        let indented = prose.matches(of: /(?m)(?:\n\n)((?: {4}.*\n|\n(?= {4}))+)/).map { match in
            let lines = match.1.split(separator: "\n", omittingEmptySubsequences: false)
            return ("", lines.map { String($0.dropFirst(4)) }.joined(separator: "\n"))
        }
        return fenced + indented
    }

    /// What is quoted as code within the text.
    var spans: [String] { prose.matches(of: /`([^`\n]+)`/).map { String($0.1) } }

    /// The targets of the links to other files of the repository, and to headings.
    var links: [String] {
        prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }.filter { !$0.contains("://") }
    }

    /// The names of the headings in links.
    var anchors: Set<String> {
        Set(
            prose.matches(of: /(?m)^#+ (.*)$/).map { match in
                let words = match.1.lowercased().replacing("`", with: "")
                return words.replacing(" ", with: "-").filter {
                    $0.isLetter || $0.isNumber || "-_".contains($0)
                }
            }
        )
    }
}

@Suite("Pages") struct PageTests {
    /// The commands of a line of a shell, each in its words, those of `dualcamctl` alone.
    private func commands(_ line: String) -> [[String]] {
        var commands: [[String]] = [[]]
        var (word, isWord): (String, Bool) = ("", false)
        var quote: Character?
        func end() {
            if isWord { commands[commands.count - 1].append(word) }
            (word, isWord) = ("", false)
        }
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "#", !isWord {
                break
            } else if "'\"".contains(character) {
                (quote, isWord) = (character, true)
            } else if "&|;()>".contains(character) {
                end()
                commands.append([])
            } else if character == " " {
                end()
            } else {
                word.append(character)
                isWord = true
            }
        }
        end()
        return commands.compactMap { words in
            let own = words.drop { $0 != "dualcamctl" }
            return own.isEmpty ? nil : Array(own.dropFirst())
        }
    }

    /// `true` if the words only name a command.
    private func isName(_ words: [String]) -> Bool {
        var known = Tool.configuration.subcommands
        return words.allSatisfy { word in
            let command = known.first { $0._commandName == word }
            known = command?.configuration.subcommands ?? []
            return command != nil
        }
    }

    /// Parses a command, as the program does.
    private func parse(_ words: [String], on page: Page) {
        do {
            let command = try Tool.parseAsRoot(Tool.separated(Tool.completed(words)))
            #expect(!(command is any CommandFamily), "\(page.name): \(words)")
        } catch {
            #expect(Tool.exitCode(for: error) == .success, "\(page.name): \(words): \(error)")
        }
    }

    @Test(arguments: Page.all)
    fileprivate func `A command can be copied and run`(_ page: Page) {
        let lines = page.blocks.filter { $0.language == "" }.flatMap {
            $0.text.replacing("\\\n", with: " ").split(separator: "\n").map(String.init)
        }
        for line in lines { for words in commands(line) { parse(words, on: page) } }
        // What was news may be old.
        guard page.name != "NEWS.md" else { return }
        // Within the text, a verb with more words is a command, too.
        let verbs = Tool.configuration.subcommands.map { $0._commandName }
        for span in page.spans {
            // A key of the configuration may be called like a verb.
            let isVerb = verbs.contains { span.hasPrefix($0 + " ") && !span.hasPrefix($0 + " =") }
            let start = isVerb ? "dualcamctl " : ""
            for words in commands(start + span) where !isName(words) { parse(words, on: page) }
        }
    }

    @Test(arguments: Page.all)
    fileprivate func `Configuration can be copied into an empty file`(_ page: Page) {
        for (language, text) in page.blocks
        where language == "toml" || text.contains(/(?m)^\[[a-z.]+\]$/) {
            let found = Configuration.check(text, file: page.name)
            #expect(found.errors.isEmpty && found.warnings.isEmpty, "\(text): \(found)")
        }
        // A single key belongs to one of the tables.
        let tables = [
            "output", "cameras", "cameras.back", "scene", "capture", "state", "access", "loopback",
            "desktop", "replay",
        ]
        for span in page.spans.filter({ $0.contains(/^[a-z]+(-[a-z]+)* = \S/) }) {
            let fits = tables.contains { table in
                let found = Configuration.check("[\(table)]\n\(span)\n", file: page.name)
                return found.errors.isEmpty && found.warnings.isEmpty
            }
            #expect(fits, "\(page.name): \(span)")
        }
    }

    @Test func `What a page calls on D-Bus is there`() throws {
        let lines = Page.all.filter { $0.name != "NEWS.md" }.flatMap { page in
            page.blocks.flatMap {
                $0.text.replacing("\\\n", with: " ").split(separator: "\n").map(String.init)
            }
        }
        let found = lines.compactMap {
            $0.firstMatch(of: /^busctl --user (\S+) +\S+ +\S+ +org\.dualcam\.(\S+) +(\S+)/)
        }
        #expect(found.count >= 2)
        for match in found {
            let interface = try #require(
                Interface.all.first { $0.name == "org.dualcam.\(match.2)" }
            )
            let names =
                match.1 == "call"
                ? interface.methods.map(\.name) : interface.properties.map(\.name)
            #expect(names.contains(String(match.3)), "\(match.0)")
        }
    }

    @Test(arguments: Page.all)
    fileprivate func `Each link leads to a file and its heading`(_ page: Page) throws {
        let folder = Page.root.appending(path: page.name).deletingLastPathComponent()
        for link in page.links {
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let path = parts[0].isEmpty ? page.name : String(parts[0])
            let file =
                parts[0].isEmpty
                ? Page.root.appending(path: path) : folder.appending(path: path)
            #expect(FileManager.default.fileExists(atPath: file.path), "\(page.name): \(link)")
            guard parts.count == 2,
                let other = Page.all.first(where: {
                    Page.root.appending(path: $0.name).standardizedFileURL
                        == file.standardizedFileURL
                })
            else { continue }
            #expect(other.anchors.contains(String(parts[1])), "\(page.name): \(link)")
        }
    }

    @Test(
        arguments: try FileManager.default.contentsOfDirectory(
            atPath: Page.root.appending(path: "examples").path
        )
    )
    func `Each example is on the page of scripts`(_ name: String) throws {
        let text = try Page("docs/scripts.md").text
        #expect(text.contains("`\(name)/") || text.contains("`\(name)`"))
    }

    @Test func `Every command but two prints JSON, as the page of scripts says`() throws {
        #expect(
            try Page("docs/scripts.md").text.replacing("\n", with: " ").contains(
                "Every command but `tray` and `view` takes `--json`."
            )
        )
        var rest: [any ParsableCommand.Type] = [Tool.self]
        var without: [String] = []
        while let command = rest.popLast() {
            rest += command.configuration.subcommands
            guard command.configuration.subcommands.isEmpty else { continue }
            if !Tool.helpMessage(for: command).contains("--json") {
                without.append(command._commandName)
            }
        }
        #expect(without.sorted() == ["tray", "view"])
    }

    // MARK: What is printed

    private func expect(_ lines: [String], on name: String) throws {
        let block = lines.map { $0.isEmpty ? "" : "    " + $0 }.joined(separator: "\n")
        #expect(try Page(name).text.contains("\n\n\(block)\n"), "write into \(name):\n\(block)")
    }

    @Test func `The devices are shown as they are printed`() throws {
        func device(
            _ name: String,
            _ role: String,
            _ reason: String,
            _ more: String...
        )
            -> [String: Value]
        {
            [
                "name": .string(name), "role": .string(role), "reason": .string(reason),
                "path": .string(more[0]), "id": .string(more[1]),
                "modes": .strings(Array(more[2...])),
            ]
        }
        let table = DeviceText.table([
            device(
                "Desk Cam",
                "back",
                "chosen as back: external, 1920x1080 at 30",
                "/dev/video2",
                "v4l2:usb-Vendor_Desk_Cam_1234-video-index0",
                "1920x1080@30/MJPG",
                "1280x720@10/YUYV"
            ),
            device(
                "Lid IR",
                "",
                "infrared camera",
                "/dev/video0",
                "v4l2:usb-Maker_Lid_IR_01-video-index0",
                "640x360@15/GREY"
            ),
        ])
        try expect(table.split(separator: "\n").map(String.init), on: "docs/use.md")
    }

    /// A daemon with two test pictures, as the pages show it.
    private var shown: Snapshot {
        func camera(_ role: String) -> [String: Value] {
            [
                "State": .string("closed"), "Name": .string("Test picture (\(role))"),
                "Mirror": .boolean(role == "front"),
            ]
        }
        return .usual(
            [
                StreamInterface.name: [
                    "State": .string("idle"), "NodeId": .uint32(36), "Consumers": .uint32(0),
                ],
                SceneInterface.name: ["InsetSize": .double(0.25)],
            ],
            front: [
                CameraInterface.name: camera("front"),
                ControlsInterface.name: [
                    "ExposureAuto": .boolean(true), "Compensation": .double(0),
                ],
            ],
            back: [
                CameraInterface.name: camera("back"),
                ControlsInterface.name: [
                    "ExposureAuto": .boolean(true), "Compensation": .double(0),
                ],
            ]
        )
    }

    @Test func `The status is shown as it is printed`() throws {
        try expect(StatusText.plainLines(shown), on: "docs/troubleshooting.md")
        let page = try Page("docs/scripts.md")
        let format = try #require(page.text.firstMatch(of: /--format '(.*)'\n/)).1
        let line = try Template(String(format)).rendered(shown)
        #expect(page.text.contains("The first prints, for example, `\(line)`."))
    }

    @Test func `What doctor finds is shown as it is printed`() throws {
        let finding = Finding(
            name: "pipewire",
            outcome: .bad,
            text: "nothing answers at /run/user/1000/pipewire-0",
            command: "systemctl --user enable --now pipewire.socket"
        )
        try expect(finding.lines, on: "docs/troubleshooting.md")
        let report = "agent Chrome/156.0\nframes 150\nmilliseconds 5000\nwidth 1280\nheight 720"
        let good = BrowserTrial(
            browser: .chromium,
            desktop: DesktopCheckup(home: "/none"),
            camera: "DualCam"
        ).finding(TrialReport(Array(report.utf8)), isOn: true)
        try expect(good.lines, on: "docs/troubleshooting.md")
    }
}
