import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Glibc
import Platform

struct Scenes: CommandFamily {
    static let configuration = CommandConfiguration(
        commandName: "scene",
        abstract: "Save what you see under a name, and show it again.",
        discussion: """
            `scene NAME` shows one, `scene` lists them.

            A scene has the layout, the main camera, the inset, the title, and whether Pro mode is on \
            and its values are shown; and for each camera its zoom, perspective, ink, room, \
            rotation, mirroring, Pro values and what is locked.
            """,
        subcommands: [
            Save.self, Apply.self, Next.self, List.self, Show.self, Delete.self, Rename.self,
            Export.self, Import.self,
        ]
    )

    /// The option for parts of a scene.
    struct Parts: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "Only these parts, separated by commas: \(Parts.words.joined(separator: ", ")).",
                valueName: "parts"
            ),
            completion: .list(Parts.words)
        )
        var only: String?

        fileprivate static let words = ScenePart.allCases.map(\.rawValue)

        /// The parts that were named; `nil` for all.
        var list: [String]? {
            only.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        }

        func validate() throws {
            for word in list ?? [] {
                try expect(
                    Parts.words.contains(word),
                    "Expected parts such as layout,zoom, not \"\(word)\"."
                )
            }
        }
    }

    /// The options for how a scene is applied.
    struct Manner: ParsableArguments {
        @OptionGroup var parts: Parts
        @Flag(help: "Skip the transition.")
        var instant = false

        fileprivate var options: Options<ScenesInterface.Application> {
            var options = Options<ScenesInterface.Application>()
            options.only = parts.list
            if instant { options.instant = true }
            return options
        }
    }

    struct Save: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Save what you see now.",
            discussion: "A scene of the same name is replaced."
        )
        @Argument(help: "A name of up to 40 characters.", completion: .scenes)
        var name: String
        @OptionGroup var parts: Parts
        @OptionGroup var options: CommonOptions

        func run() throws {
            var with = Options<ScenesInterface.Parts>()
            with.only = parts.list
            try Client().call(\ScenesInterface.save, name, options: with, within: Scenes.timeout)
            options.answer([("scene", .string(name))])
        }
    }

    struct Apply: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a scene.",
            discussion:
                "Settings that a camera does not support are reported; the rest are applied."
        )
        @Argument(help: "The name of the scene.", completion: .scenes)
        var name: String
        @OptionGroup var manner: Manner
        @OptionGroup var options: CommonOptions

        func run() throws {
            let refused = try Client().call(
                \ScenesInterface.apply,
                name,
                options: manner.options,
                within: Scenes.timeout
            )
            Scenes.printApplied(name, refused, options)
        }
    }

    struct Next: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the next scene, for example with a key."
        )
        @OptionGroup var manner: Manner
        @OptionGroup var options: CommonOptions

        func run() throws {
            let (name, refused) = try Client().call(
                \ScenesInterface.next,
                options: manner.options,
                within: Scenes.timeout
            )
            Scenes.printApplied(name, refused, options)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the scenes. ● marks the current one."
        )
        @OptionGroup var options: CommonOptions

        func run() throws {
            let scenes = try Client().getAll(of: ScenesInterface.self, startsService: false)
            let names = scenes[\.names] ?? []
            let current = scenes[\.current] ?? ""
            options.answer(
                [("scenes", JSON(names)), ("current", .string(current))],
                text: names.map { "\($0 == current ? "●" : "○") \($0.printable)\n" }.joined()
            )
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what a scene sets."
        )
        @Argument(help: "The name of the scene.", completion: .scenes)
        var name: String
        @OptionGroup var options: CommonOptions

        func run() throws {
            let text = try Client().call(\ScenesInterface.export, [name], startsService: false)
            guard options.json else { return Output.write(Scenes.shown(text)) }
            let preset = try SceneBook(parsing: text).preset(name)
            let cameras: [(String, JSON)] = Role.allCases.map { role in
                let own = CameraSettings.scenes.entries(of: preset.cameras[role])
                return (role.rawValue, Scenes.object(own))
            }
            let all = Scenes.object(Settings.scenes.entries(of: preset.values))
            guard case .object(let values) = all else { return }
            Output.write(JSON.document([("name", .string(name))] + values + cameras))
        }
    }

    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a scene.",
            discussion: "If it replaced a built-in scene, that one returns."
        )
        @Argument(help: "The name of the scene.", completion: .scenes)
        var name: String
        @OptionGroup var options: CommonOptions

        func run() throws {
            try Client().call(\ScenesInterface.remove, name, within: Scenes.timeout)
            options.answer([("scene", .string(name))])
        }
    }

    struct Rename: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Give a scene another name.")
        @Argument(help: "The name of the scene.", completion: .scenes)
        var name: String
        @Argument(help: "Its new name.")
        var newName: String
        @OptionGroup var options: CommonOptions

        func run() throws {
            try Client().call(\ScenesInterface.rename, (name, newName), within: Scenes.timeout)
            options.answer([("scene", .string(newName))])
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print scenes as TOML, for another computer."
        )
        @Argument(help: "The scenes (default: all).", completion: .scenes)
        var names: [String] = []
        @Option(
            name: [.customShort("o"), .long],
            help: ArgumentHelp("Write into this file instead.", valueName: "file"),
            completion: .file()
        )
        var output: String?
        @OptionGroup var options: CommonOptions

        func run() throws {
            let text = try Client().call(\ScenesInterface.export, names, startsService: false)
            if let output, output != "-" {
                try Output.write(Array(text.utf8), to: output)
            } else {
                options.answer([("text", .string(text))], text: Scenes.shown(text))
            }
        }
    }

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add scenes from an exported file."
        )
        @Argument(help: "The file, or - for standard input.", completion: .file())
        var file: String
        @Flag(help: "Replace scenes that have the same name.")
        var replace = false
        @OptionGroup var options: CommonOptions

        func run() throws {
            var with = Options<ScenesInterface.Addition>()
            if replace { with.replace = true }
            let names = try Client().call(
                \ScenesInterface.importText,
                try text(),
                options: with,
                within: Scenes.timeout
            )
            options.answer(
                [("scenes", JSON(names))],
                text: names.map { "\($0.printable)\n" }.joined()
            )
        }

        private func text() throws -> String {
            var bytes = [UInt8](repeating: 0, count: Scenes.mostBytes + 1)
            if file == "-" {
                // A closed standard input can be written to alone: see `ProgramStart`.
                guard let input = fdopen(STDIN_FILENO, "r") else {
                    throw SystemError.last("read", "standard input")
                }
                let count = fread(&bytes, 1, bytes.count, input)
                bytes.removeLast(bytes.count - count)
            } else {
                bytes = try readFile(file, limit: Scenes.mostBytes)
            }
            guard bytes.count <= Scenes.mostBytes, !bytes.contains(0), let text = decodeUTF8(bytes)
            else { throw Failure("\(file.printable) does not contain scenes.") }
            return text
        }
    }

    /// The time that a slow disk or camera may take, in seconds.
    private static let timeout = 15.0
    /// The largest text that is sent, in bytes.
    private static let mostBytes = 262_144

    private static func printApplied(
        _ name: String,
        _ refused: [String: Value],
        _ options: CommonOptions
    ) {
        let refused = refused.sorted { $0.key < $1.key }
        let members = refused.map { ($0.key, JSON($0.value)) }
        options.answer([("scene", .string(name)), ("refused", .object(members))])
        for (key, reason) in refused where !options.json {
            Output.complain("dualcamctl: \("\(key): \(reason.string ?? "")".printable)")
        }
    }

    /// Returns TOML as it is, or without commands for a terminal.
    private static func shown(_ text: String) -> String {
        Output.isTerminal ? text.printableLines : text
    }

    /// Returns TOML values as JSON. The values that this version writes have the same form in both;
    /// those that it cannot read, `unread`, are strings.
    static func object(_ values: [(key: String, value: Plain)]) -> JSON {
        JSON.object(
            values.map { key, value in
                if case .other(let text) = value { return (key, .string(text)) }
                return (key, .written(value.toml()))
            }
        ).camelCased
    }
}

struct SetTitle: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "title",
        abstract: "Show your name or other text in a corner of the picture."
    )
    @Argument(
        help: "The text to show, or off.",
        completion: .list(["off"])
    )
    var text: String?
    @Argument(help: "A second line, smaller.")
    var second: String?
    @Option(help: "The corner of the picture (default: bottom-left).")
    var corner: Corner?
    @OptionGroup var options: ChangeOptions

    private var lines: [String] {
        text?.lowercased() == "off" && second == nil ? [] : [text, second].compactMap { $0 }
    }

    func validate() throws {
        do throws(UnreadableValue) { _ = try Title(lines: lines) } catch {
            throw ValidationError("Expected \(error.expected), not \(error.value).")
        }
    }

    func run() throws {
        let client = try Client()
        if let corner { try client.set(\SceneInterface.titleCorner, to: corner.rawValue) }
        if text != nil {
            try client.set(\SceneInterface.title, to: lines.joined(separator: "\n"))
        }
        let isChange = text != nil || corner != nil
        if isChange { try options.waitIfAsked(client) }
        if corner != nil { client.tellObstacles(to: ["TitleCorner"], nil) }
        let scene = try client.getAll(of: SceneInterface.self, startsService: isChange)
        let title = scene[\.title] ?? ""
        options.answer(
            nil,
            title.isEmpty ? "off" : title,
            [("title", JSON(title)), ("corner", JSON(scene[\.titleCorner]))]
        )
    }
}
