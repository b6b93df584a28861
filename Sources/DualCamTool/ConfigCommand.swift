import ArgumentParser
import Control
import DBusKit
import Doctor
import DualCamCore
import Frames
import Platform

struct Config: CommandFamily {
    static let configuration = CommandConfiguration(
        abstract: "Show, check or change the configuration.",
        subcommands: [Show.self, Check.self, Change.self]
    )

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print every value, defaults included, as a configuration file."
        )
        @OptionGroup var argument: ConfigurationArgument
        @OptionGroup var options: CommonOptions

        func run() throws {
            let reading = try argument.read()
            if let failure = reading.failure() { throw failure }
            let configuration = reading.configuration
            options.answer(
                [("path", JSON(reading.path)), ("configuration", .written(configuration.json))],
                text: configuration.rendered
            )
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check the configuration for mistakes, and for keys that have no effect."
        )
        @OptionGroup var argument: ConfigurationArgument
        @OptionGroup var options: CommonOptions

        func run() throws {
            let reading = try argument.read()
            let absences = SourceCheck.absences(in: reading.configuration).map { absence in
                reading.path.map { "\($0): \(absence.text)" } ?? absence.text
            }
            let warnings = reading.warnings.map(\.description) + absences
            let errors = reading.errors.map { "\($0)" }
            options.answer([
                ("path", JSON(reading.path)), ("valid", .boolean(errors.isEmpty)),
                ("error", JSON(errors.first)), ("errors", JSON(errors)),
                ("warnings", JSON(warnings)),
            ])
            for warning in options.json ? [] : warnings {
                Output.complain("warning: \(warning)".printable)
            }
            if let failure = reading.failure() { throw failure }
            guard !options.json else { return }
            let count = absences.count
            let sources = count == 1 ? "1 source was" : "\(count) sources were"
            let outcome = count == 0 ? "is valid" : "has no mistakes, but \(sources) not found"
            Output.write(
                reading.path.map { "\($0.printable) \(outcome)\n" }
                    ?? "there is no configuration file; every value is the default\n"
            )
        }
    }
}

extension Config {
    struct Change: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change a key of your configuration file, at once and for good.",
            discussion: "The file keeps its comments and its order."
        )
        @Argument(help: "The key, such as output.frame-rate.")
        var key: String
        @Argument(help: "What it is to be.")
        var value: String
        @OptionGroup var options: CommonOptions

        func run() throws {
            // A word of a key that has words may look like a number.
            let isText = DualCamCore.Configuration.facts(of: key)?.initial?.text != nil
            let number = UInt32(value).map { Value.uint32($0) } ?? Double(value).map { .double($0) }
            let other = Bool(value).map { Value.boolean($0) } ?? number
            let plain = isText ? nil : other
            try Client().call(\ConfigurationInterface.set, [key: plain ?? .string(value)])
            options.answer([("key", .string(key)), ("value", .string(value))])
        }
    }
}

struct ConfigurationArgument: ParsableArguments {
    @Argument(
        help: "The file to read (default: the one that the daemon reads).",
        completion: .file(extensions: ["toml"])
    )
    var file: String?

    func read() throws -> ConfigurationReading {
        try ConfigurationReading(file ?? Client.configurationFile)
    }
}

extension ConfigurationReading {
    /// The failure of a command that needs a file without errors. All but the last of them are
    /// printed.
    func failure() -> Failure? {
        for error in errors.dropLast() {
            Output.complain("dualcamctl: \("\(error)".printable.sentence)")
        }
        return errors.last.map { Failure(status: .failed, message: "\($0)".printable) }
    }
}
