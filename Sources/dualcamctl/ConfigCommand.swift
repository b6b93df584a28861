import ArgumentParser
import DualCamCore
import Platform

struct Config: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show or check the configuration.",
        subcommands: [Show.self, Check.self]
    )

    func run() throws { throw ValidationError("Expected show or check.") }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print every value, defaults included, as a configuration file."
        )
        @Argument(
            help: "The file to read (default: the one that the daemon reads).",
            completion: .file(extensions: ["toml"])
        )
        var file: String?
        @OptionGroup var options: CommonOptions

        func run() throws {
            let reading = try ConfigurationReading(file ?? Client.configurationFile)
            if let error = reading.error {
                throw Failure(status: .failed, message: "\(error)".printable)
            }
            let text = reading.configuration.rendered
            Output.write(
                options.json
                    ? JSON.document([
                        ("path", reading.path.map { .string($0) } ?? .null),
                        ("toml", .string(text)),
                    ]) : text
            )
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check the configuration for mistakes, and for keys that have no effect."
        )
        @Argument(
            help: "The file to read (default: the one that the daemon reads).",
            completion: .file(extensions: ["toml"])
        )
        var file: String?
        @OptionGroup var options: CommonOptions

        func run() throws {
            let reading = try ConfigurationReading(file ?? Client.configurationFile)
            if options.json {
                Output.write(
                    JSON.document([
                        ("path", reading.path.map { .string($0) } ?? .null),
                        ("valid", .boolean(reading.error == nil)),
                        ("error", reading.error.map { .string("\($0)") } ?? .null),
                        ("warnings", .array(reading.warnings.map { .string("\($0)") })),
                    ])
                )
            } else {
                for warning in reading.warnings { Output.complain("warning: \(warning)".printable) }
            }
            if let error = reading.error {
                throw Failure(status: .failed, message: "\(error)".printable)
            }
            guard !options.json else { return }
            if let path = reading.path {
                Output.write("\(path.printable) is valid\n")
            } else {
                Output.write("there is no configuration file; every value is the default\n")
            }
        }
    }
}
