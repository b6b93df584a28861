import ArgumentParser
import Control
import Doctor
import DualCamCore
import Frames
import Platform

extension Verbs {
    static let config: List = [Config.self]
}

struct Config: CommandFamily {
    static let configuration = CommandConfiguration(
        abstract: "Show or check the configuration.",
        subcommands: [Show.self, Check.self]
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
            Output.write(
                options.json
                    ? JSON.document([
                        ("path", reading.path.map { .string($0) } ?? .null),
                        ("configuration", .written(configuration.json)),
                    ]) : configuration.rendered
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
            if options.json {
                Output.write(
                    JSON.document([
                        ("path", reading.path.map { .string($0) } ?? .null),
                        ("valid", .boolean(reading.errors.isEmpty)),
                        ("error", reading.errors.first.map { .string("\($0)") } ?? .null),
                        ("errors", .array(reading.errors.map { .string("\($0)") })),
                        ("warnings", .array(warnings.map { .string($0) })),
                    ])
                )
            } else {
                for warning in warnings { Output.complain("warning: \(warning)".printable) }
            }
            if let failure = reading.failure() { throw failure }
            guard !options.json else { return }
            if let path = reading.path {
                let count = absences.count
                let sources = count == 1 ? "1 source was" : "\(count) sources were"
                Output.write(
                    count == 0
                        ? "\(path.printable) is valid\n"
                        : "\(path.printable) has no mistakes, but \(sources) not found\n"
                )
            } else {
                Output.write("there is no configuration file; every value is the default\n")
            }
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
